"""Machine code against the evaluator, which is the meaning; and the canonical form against its definition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import permutations, product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from native_calls import Calls
from strategies import (
    elements,
    expression_pools,
    groups,
    permuted,
    predicate,
    protocol_of,
    protocols,
    scalarsets,
    states,
    update,
    variables,
)

from checker.cache import Cache
from checker.compile.native import CACHE_KIND, compile_native
from checker.compile.packing import Packing
from checker.prove.certificate import Component, Group
from model.errors import ModelError, ModelFault
from model.language import expr as ex
from model.language.domains import BOOL, Bool, Domain, Map, Option, Range, Record, Scalarset, Set
from model.language.domains import Sequence as SequenceDomain
from model.language.evaluate import apply, enabled, evaluate, successors
from model.language.expr import Expr
from model.language.protocol import Condition, Protocol, State, Step

# Each example is compiled, which takes about 20 ms; how long one takes says nothing.
compiled = settings(deadline=None, max_examples=60)


# Expressions, guards, updates, predicates


@compiled
@given(st.data())
def test_truths_equal_the_evaluators(data: st.DataObject) -> None:
    found = data.draw(variables(data.draw(scalarsets()), largest=20))
    pools = data.draw(expression_pools(protocol_of(found).cells, size=40))
    witnesses = [predicate(f"P{number}", expr) for number, expr in enumerate(pools[BOOL][-64:])]
    calls = Calls(protocol_of(found, witnesses=witnesses))
    for state in data.draw(st.lists(states(calls.protocol), min_size=5, max_size=5)):
        expected = [evaluate(witness.expr, state) for witness in witnesses]
        assert [calls.violated(state) >> bit & 1 for bit in range(len(witnesses))] == expected


@compiled
@given(st.data())
def test_values_equal_the_evaluators(data: st.DataObject) -> None:
    found = data.draw(variables(data.draw(scalarsets()), largest=20))
    pools = data.draw(expression_pools(protocol_of(found).cells, size=40))
    values = pools["int"][-10:]
    results: dict[str, Domain] = {f"result{number}": Range(v.low, v.high) for number, v in enumerate(values)}
    cells = protocol_of(found | results).cells[-len(values) :]
    step = Step(0, "compute", (), (), tuple(map(update, cells, values)))
    calls = Calls(protocol_of(found | results, [step]))
    for state in data.draw(st.lists(states(calls.protocol), min_size=5, max_size=5)):
        assert calls.expand(state) == [(0, apply(calls.protocol, step, state))]


@compiled
@given(protocols(), st.data())
def test_successors_equal_the_evaluators(protocol: Protocol, data: st.DataObject) -> None:
    calls = Calls(protocol)
    for state in data.draw(st.lists(states(protocol), min_size=5, max_size=5)):
        found = calls.expand(state)
        if isinstance(found, int):
            with pytest.raises(ModelFault):
                apply(protocol, protocol.steps[found], state)
            assert enabled(protocol.steps[found], state)
        else:
            assert Counter(found) == Counter((step.number, after) for step, after in successors(protocol, state))


@compiled
@given(protocols(), st.data())
def test_masks_have_false_invariants_then_true_witnesses(protocol: Protocol, data: st.DataObject) -> None:
    calls = Calls(protocol)
    for state in data.draw(st.lists(states(protocol), min_size=3, max_size=3)):
        expected = [not evaluate(invariant.expr, state) for invariant in protocol.invariants]
        expected += [bool(evaluate(witness.expr, state)) for witness in protocol.witnesses]
        assert calls.violated(state) == sum(1 << bit for bit, seen in enumerate(expected) if seen)


def stepping(found: dict[str, Domain], *steps: tuple[list[Expr], dict[int, Expr]]) -> Calls:
    """A protocol with these variables and steps (guard, new values by cell)."""
    cells = protocol_of(found).cells
    made = [
        Step(
            number,
            f"step{number}",
            (),
            tuple(Condition(conjunct, None) for conjunct in guard),
            tuple(update(cells[cell], value) for cell, value in values.items()),
        )
        for number, (guard, values) in enumerate(steps)
    ]
    return Calls(protocol_of(found, made))


def all_states(protocol: Protocol) -> list[State]:
    return list(product(*(cell.domain.codes() for cell in protocol.cells)))


def test_words_are_compared_whole_only_where_that_means_the_same() -> None:
    """Cells coded from another lowest value, contradictions over one cell, sets beside numbers."""
    found: dict[str, Domain] = {"a": Range(0, 3), "b": Range(1, 4), "c": Range(0, 3), "d": Range(-1, 1), "e": Bool()}
    a, b, c, d, e = (cell.read() for cell in protocol_of(found).cells)
    two, three = ex.constant(2), ex.constant(3)
    truths = [
        ex.equal(a, b),
        ex.conjunction([ex.equal(a, b), ex.equal(a, c)]),
        ex.conjunction([ex.equal(a, c), ex.equal(c, a), e]),
        ex.conjunction([ex.equal(a, two), ex.equal(a, three)]),
        ex.disjunction([ex.negate(ex.equal(a, two)), ex.negate(ex.equal(a, three))]),
        ex.disjunction([ex.negate(ex.equal(a, two)), ex.negate(ex.equal(b, two)), ex.negate(e)]),
        ex.disjunction([ex.negate(ex.equal(a, c)), ex.equal(d, a), ex.less(d, ex.constant(0))]),
        ex.negate(ex.disjunction([ex.conjunction([e, ex.equal(b, three)]), ex.equal(d, ex.constant(-1))])),
    ]
    calls = Calls(protocol_of(found, witnesses=[predicate(f"P{n}", truth) for n, truth in enumerate(truths)]))
    for state in all_states(calls.protocol):
        expected = [evaluate(truth, state) for truth in truths]
        assert [calls.violated(state) >> bit & 1 for bit in range(len(truths))] == expected


def test_cells_are_copied_as_values_not_as_bits() -> None:
    found: dict[str, Domain] = {"a": Range(0, 3), "b": Range(1, 4), "c": Range(-1, 4), "d": Range(0, 3)}
    a, b, c, d = (cell.read() for cell in protocol_of(found).cells)
    fits = [ex.less(b, ex.constant(4)), ex.less(ex.constant(0), c)]
    calls = stepping(found, ([], {2: b, 0: d, 3: a}), (fits, {0: b, 1: c, 3: a}), ([], {2: ex.choose(fits[0], a, b)}))
    for state in all_states(calls.protocol):
        found_here = calls.expand(state)
        assert isinstance(found_here, list)
        assert Counter(found_here) == Counter((s.number, after) for s, after in successors(calls.protocol, state))


def test_steps_keep_their_numbers_and_their_order() -> None:
    x, y = (cell.read() for cell in protocol_of({"x": Range(0, 3), "y": Range(0, 3)}).cells)
    small, large = ex.less(x, ex.constant(2)), ex.less(ex.constant(2), y)
    calls = stepping(
        {"x": Range(0, 3), "y": Range(0, 3)},
        ([small], {0: ex.constant(3)}),
        ([large], {1: ex.constant(0)}),
        ([small, large], {0: y, 1: x}),
    )
    any_order = [(0, (3, 3)), (1, (1, 0)), (2, (3, 1))]
    assert calls.expand((1, 3)) in [list(each) for each in permutations(any_order)]
    assert calls.expand((1, 3)) == Calls(calls.protocol).expand((1, 3))
    assert calls.expand((1, 1)) == [(0, (3, 1))]
    assert calls.expand((2, 2)) == []


@compiled
@given(st.lists(st.sets(st.integers(0, 6), max_size=4), min_size=1, max_size=12))
def test_guards_that_share_conjuncts(guards: list[set[int]]) -> None:
    """Tests of shared conjuncts stand above the steps that need them, dear ones below cheap ones."""
    found: dict[str, Domain] = {"x": Range(0, 2), "y": Range(0, 2), "z": Range(0, 2)}
    x, y, z = (cell.read() for cell in protocol_of(found).cells)
    dear = ex.add(ex.multiply(ex.add(x, y), ex.subtract(z, y)), ex.multiply(ex.subtract(x, z), ex.add(y, z)))
    conjuncts = [
        ex.equal(x, ex.constant(1)),
        ex.negate(ex.equal(y, ex.constant(0))),
        ex.less(y, z),
        ex.equal(x, z),
        ex.disjunction([ex.equal(z, ex.constant(2)), ex.less(x, y)]),
        ex.less(dear, ex.constant(2)),
        ex.negate(ex.equal(dear, ex.multiply(dear, x))),
    ]
    calls = stepping(found, *(([conjuncts[index] for index in sorted(guard)], {0: z, 2: x}) for guard in guards))
    for state in all_states(calls.protocol):
        found_here = calls.expand(state)
        assert isinstance(found_here, list)
        assert Counter(found_here) == Counter((s.number, after) for s, after in successors(calls.protocol, state))


def test_an_assignment_outside_the_domain_is_a_fault_of_the_enabled_step_only() -> None:
    (x,) = (cell.read() for cell in protocol_of({"x": Range(-1, 2)}).cells)
    more, less = ex.add(x, ex.constant(1)), ex.subtract(x, ex.constant(1))
    calls = stepping({"x": Range(-1, 2)}, ([], {}), ([ex.less(ex.constant(0), x)], {0: more}), ([], {0: less}))
    assert calls.expand((2,)) == 1
    assert calls.expand((1,)) == [(0, (1,)), (1, (2,)), (2, (0,))]
    assert calls.expand((0,)) == [(0, (0,)), (2, (-1,))]
    assert calls.expand((-1,)) == 2


def test_assigning_to_a_cell_of_one_value_is_checked_too() -> None:
    (x, _) = protocol_of({"x": Range(0, 2), "one": Range(1, 1)}).cells
    calls = stepping({"x": Range(0, 2), "one": Range(1, 1)}, ([], {1: x.read()}))
    assert calls.expand((1, 1)) == [(0, (1, 1))]
    assert (calls.expand((0, 1)), calls.expand((2, 1))) == (0, 0)


def test_numbers_beyond_32_bits_are_exact_and_beyond_64_refused() -> None:
    (x, _) = (cell.read() for cell in protocol_of({"x": Range(0, 9), "y": Range(0, 9**12)}).cells)
    power = x
    for _ in range(11):
        power = ex.multiply(power, x)
    assert stepping({"x": Range(0, 9), "y": Range(0, 9**12)}, ([], {1: power})).expand((7, 0)) == [(0, (7, 7**12))]
    for _ in range(11):
        power = ex.multiply(power, x)
    large = ex.less(power, ex.add(x, ex.constant(1)))
    with pytest.raises(ModelError, match="more than a machine integer holds"):
        stepping({"x": Range(0, 9)}, ([large], {})).expand((0,))


def test_a_protocol_without_steps_or_predicates_compiles() -> None:
    calls = Calls(protocol_of({"x": Bool()}))
    assert (calls.expand((1,)), calls.violated((1,)), calls.native.canonical) == ([], 0, 0)


# The canonical form


def orbit(protocol: Protocol, group: Group, state: State) -> set[State]:
    return {permuted(protocol, state, element) for element in group.elements()}


@compiled
@given(st.data())
def test_orbits_have_one_representative(data: st.DataObject) -> None:
    protocol = protocol_of(data.draw(variables(data.draw(scalarsets()))))
    group = data.draw(groups(protocol))
    calls = Calls(protocol, group)
    if group.is_trivial:
        assert calls.native.canonical == 0
        return
    for state in data.draw(st.lists(states(protocol), min_size=5, max_size=5)):
        check_canonical(calls, group, state, permuted(protocol, state, data.draw(elements(group))))


def check_canonical(calls: Calls, group: Group, state: State, other: State) -> None:
    """`other` is in the orbit of `state`."""
    representative = calls.canonical(state)
    assert representative in orbit(calls.protocol, group, state)
    assert calls.canonical(other) == representative
    assert calls.canonical(representative) == representative
    assert calls.canonical(other, in_place=True) == representative


def replicated(count: int) -> Protocol:
    """Logs, views that name other members, sets of members in records in maps, sequences of members."""
    replica = Scalarset("Replica", count)
    view = Record(leader=Option(replica), isr=Set(replica), heard=Map(replica, Range(0, 2)))
    return protocol_of(
        {
            "log": Map(replica, SequenceDomain(Record(author=replica, epoch=Range(0, 1)), 2)),
            "view": Map(replica, view),
            "requests": Map(Range(0, 1), Record(leader=Option(replica), isr=Set(replica))),
            "controller": replica,
        }
    )


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
@settings(deadline=None, max_examples=25)
@given(data=st.data())
def test_replicas_with_cross_references(count: int, data: st.DataObject) -> None:
    calls = replicated_calls(count)
    group = calls.group
    assert group is not None
    if group.is_trivial:
        return
    state = data.draw(states(calls.protocol))
    check_canonical(calls, group, state, permuted(calls.protocol, state, data.draw(elements(group))))


@cache
def replicated_calls(count: int) -> Calls:
    protocol = replicated(count)
    members = tuple(range(count))
    return Calls(protocol, Group((Component("Replica", members),) if count > 1 else (), protocol.scalarsets))


@cache
def chained(replicas: int, clients: int, ballast: int) -> Calls:
    """Every individual has a successor and a colour: hardly anything for a key to go by. Ballast makes more words."""
    found: dict[str, Domain] = {}
    components = []
    for scalarset in (Scalarset("Replica", replicas), Scalarset("Client", clients)):
        found[scalarset.name.lower()] = Map(scalarset, Record(next=scalarset, colour=Bool(), ballast=Range(0, ballast)))
        if scalarset.count > 1:
            components.append(Component(scalarset.name, tuple(range(scalarset.count))))
    protocol = protocol_of(found)
    return Calls(protocol, Group(tuple(components), protocol.scalarsets))


@pytest.mark.parametrize("counts", [(2, 1), (3, 3), (4, 2), (6, 4), (7, 1)])
@pytest.mark.parametrize("ballast", [0, 2**30])
@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_members_in_rings_tie_and_are_told_apart_by_trying(
    counts: tuple[int, int], ballast: int, data: st.DataObject
) -> None:
    calls = chained(*counts, ballast)
    assert calls.group is not None
    state: list[int] = []
    for count in counts:
        following = data.draw(st.permutations(range(count)))
        colours = data.draw(st.sampled_from([[0] * count, [0, 1, 0, 0, 1, 1, 0][:count]]))
        state += [part for pair in zip(following, colours, strict=True) for part in (*pair, ballast)]
    representative = calls.canonical(tuple(state))
    other = permuted(calls.protocol, tuple(state), data.draw(elements(calls.group)))
    assert calls.canonical(other) == calls.canonical(representative) == representative
    assert rings(representative, counts) == rings(tuple(state), counts)


def rings(state: State, counts: Sequence[int]) -> list[Counter[tuple[int, ...]]]:
    """What no permutation changes and nothing else leaves alone: the colours round each ring."""
    found, start = [], 0
    for count in counts:
        end = start + 3 * count
        following, colours = state[start:end:3], state[start + 1 : end : 3]
        found.append(Counter(min(turns) for turns in map(turned, cycles(following, colours))))
        start = end
    return found


def cycles(following: State, colours: State) -> Iterator[list[int]]:
    unseen = set(range(len(following)))
    while unseen:
        at, ring = min(unseen), []
        while at in unseen:
            unseen.remove(at)
            ring.append(colours[at])
            at = following[at]
        yield ring


def turned(ring: list[int]) -> list[tuple[int, ...]]:
    return [tuple(ring[start:] + ring[:start]) for start in range(len(ring))]


def test_runs_of_ties_in_two_components_are_tried_together() -> None:
    """Replicas and clients point at each other crosswise: neither component can be settled alone."""
    replica, client = Scalarset("Replica", 3), Scalarset("Client", 3)
    protocol = protocol_of({"serves": Map(replica, Set(client)), "talks": Map(client, Set(replica))})
    group = Group((Component("Client", (0, 1, 2)), Component("Replica", (0, 1, 2))), protocol.scalarsets)
    calls = Calls(protocol, group)
    matching = [(s, (s + 1) % 3, (s + 2) % 3) for s in range(3)]
    for serves in matching:
        for talks in matching:
            state = [0] * 18
            for member in range(3):
                state[3 * member + serves[member]] = 1
                state[9 + 3 * talks[member] + member] = 1
            for element in group.elements():
                assert calls.canonical(permuted(protocol, tuple(state), element)) == calls.canonical(tuple(state))


def test_members_outside_every_component_keep_their_names() -> None:
    protocol = protocol_of({"value": Map(Scalarset("Replica", 4), Range(0, 9))})
    calls = Calls(protocol, Group((Component("Replica", (1, 3)),), protocol.scalarsets))
    assert calls.canonical((9, 8, 7, 6)) == (9, 6, 7, 8)


# The cache


@pytest.fixture
def protocol() -> Protocol:
    return replicated(2)


def test_code_from_the_cache_is_the_same(tmp_path: Path, protocol: Protocol) -> None:
    cache, packing = Cache(tmp_path), Packing(protocol)
    first = compile_native(protocol, packing, None, cache)
    second = compile_native(protocol, packing, None, cache)
    assert (first.cached, second.cached) == (False, True)
    assert len(list((tmp_path / CACHE_KIND).iterdir())) == 1


def test_each_group_has_an_entry_of_its_own(tmp_path: Path, protocol: Protocol) -> None:
    group = Group((Component("Replica", (0, 1)),), protocol.scalarsets)
    with_group = compile_native(protocol, Packing(protocol), group, Cache(tmp_path))
    without = compile_native(protocol, Packing(protocol), None, Cache(tmp_path))
    assert with_group.canonical
    assert (without.canonical, without.cached) == (0, False)


def test_a_damaged_entry_is_made_again(tmp_path: Path, protocol: Protocol) -> None:
    cache, packing = Cache(tmp_path), Packing(protocol)
    compile_native(protocol, packing, None, cache)
    (entry,) = (tmp_path / CACHE_KIND).iterdir()
    content = bytearray(entry.read_bytes())
    content[len(content) // 2] ^= 1
    entry.write_bytes(content)
    assert not compile_native(protocol, packing, None, cache).cached
    assert compile_native(protocol, packing, None, cache).cached
