"""Three lowerings of the Kafka models agree: what the evaluator says, machine code computes and z3 believes.

Random expressions and random protocols are compared in test_native.py and test_smt.py; here it is the real ones, state
by state on random walks, and then all states at once: the plain search and the fast one, and orbits against states.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache

import pytest
from conformance import Model, every_rule, models, rules_of, searched, states_of, walk, whole_group
from native_calls import Calls

from checker.compile.smt import Proved, Solver, SymbolicState, Term, Terms
from checker.explore.breadth_first import Exploration
from checker.explore.reference import Found, orbit_under, predicates_met, search
from model.language.domains import BOOL
from model.language.evaluate import enabled, evaluate, successors
from model.language.protocol import Protocol, State

MODELS = models()
MOST_TELLING = [m for m in MODELS if m.name == "published/kip-320" or m.name.startswith("further-rules")]
FEW_STEPS, MANY_STEPS = 80, 400
BUDGET = 10_000_000

every_model = pytest.mark.parametrize("model", MODELS, ids=str)


def test_every_rule_of_every_feature_is_in_some_model() -> None:
    assert every_rule() == rules_of(model.variant for model in MODELS)
    assert len({model.name for model in MODELS}) == len(MODELS)


# State by state


@every_model
def test_two_replicas_on_a_walk(model: Model) -> None:
    agree_on_a_walk(model.at(2, 2, 2, 2), model.name, FEW_STEPS)


@pytest.mark.parametrize("model", MOST_TELLING, ids=str)
def test_three_replicas_on_a_walk(model: Model) -> None:
    agree_on_a_walk(model.at(3, 2, 2, 2), model.name, FEW_STEPS)


@pytest.mark.slow
@every_model
@pytest.mark.parametrize("bounds", [(2, 3, 3, 3), (3, 2, 2, 3), (4, 2, 2, 2)], ids=str)
def test_larger_bounds_on_a_long_walk(model: Model, bounds: tuple[int, int, int, int]) -> None:
    agree_on_a_walk(model.at(*bounds, crashes=2), model.name, MANY_STEPS)


def agree_on_a_walk(protocol: Protocol, seed: str, length: int) -> None:
    states, calls = walk(protocol, seed, length), Calls(protocol, whole_group(protocol))
    assert len(states) > length // 4, "the walk hardly moves"
    orbit = orbit_under(protocol, whole_group(protocol))
    for state in states:
        expected = Counter((step.number, after) for step, after in successors(protocol, state))
        found = calls.expand(state)
        assert not isinstance(found, int), "machine code sees a fault of the model where there is none"
        assert Counter(found) == expected
        assert calls.violated(state) == mask(protocol, state)
        check_canonical(calls, state, orbit(state))
    for state in states[-1 :: -(length // 3)]:
        assert_z3_agrees(protocol, state)


def mask(protocol: Protocol, state: State) -> int:
    names, met = (*protocol.invariant_names, *protocol.witness_names), predicates_met(protocol, state)
    return sum(1 << bit for bit, name in enumerate(names) if name in met)


def check_canonical(calls: Calls, state: State, orbit: set[State]) -> None:
    """A member of the orbit, and the same for all of it."""
    representative = calls.canonical(state)
    assert representative in orbit
    assert {calls.canonical(other, in_place=True) for other in orbit} == {representative}


def assert_z3_agrees(protocol: Protocol, state: State) -> None:
    """That the state is this one is an assumption, from which z3 has to conclude the rest."""
    terms = Terms(protocol)
    unknown = terms.arbitrary()
    this_one = terms.all_of(map(terms.same, unknown.cells, terms.concrete(state).cells))
    solver, claims = Solver(unknown, this_one, BUDGET), dict(claims_about(protocol, unknown, state))
    if solver.prove(terms.all_of(claims.values())) != Proved():
        pytest.fail(f"z3 denies {[what for what, claim in claims.items() if solver.prove(claim) != Proved()]}")


def claims_about(protocol: Protocol, symbolic: SymbolicState, state: State) -> Iterator[tuple[str, Term]]:
    """That guards, new values and predicates are as the evaluator says."""
    terms = symbolic.terms
    for step in protocol.steps:
        yield f"guard {step.number}", terms.same(symbolic.enabled(step), terms.constant(enabled(step, state), BOOL))
        values = symbolic.updates(step)
        for update in step.updates:
            value = terms.constant(evaluate(update.value, state), update.value.sort)
            yield f"update {step.number}, {update.cell}", terms.same(values[update.cell], value)
    for predicate in (*protocol.invariants, *protocol.witnesses):
        truth = terms.constant(evaluate(predicate.expr, state), BOOL)
        yield predicate.name, terms.same(symbolic.value(predicate.expr), truth)


# All states at once


def small(model: Model) -> Protocol:
    return model.at(2, 2, 2, 2) if model.name.startswith("published/") else model.at(2, 1, 1, 2)


@every_model
def test_the_plain_search_and_the_fast_one_find_the_same(model: Model) -> None:
    agree_on_all_states(small(model))


@pytest.mark.slow
@every_model
@pytest.mark.parametrize("bounds", [(1, 2, 2, 3), (2, 2, 2, 2), (3, 1, 1, 2)], ids=str)
def test_the_searches_find_the_same_at_larger_bounds(model: Model, bounds: tuple[int, int, int, int]) -> None:
    agree_on_all_states(model.at(*bounds, crashes=1 if bounds[0] < 3 else 0))


def agree_on_all_states(protocol: Protocol) -> None:
    group = whole_group(protocol)
    calls = Calls(protocol, group)
    plain, fast = search(protocol), searched(calls, symmetric=False)
    assert_same_counts(plain, fast)
    assert list(fast.steps_taken) == plain.steps_taken
    assert_same_states(plain, calls, fast)
    reduced, fast = search(protocol, group), searched(calls, symmetric=True)
    assert_same_counts(reduced, fast)
    assert_same_states(reduced, calls, fast)
    # The successors of a state and of its representative are taken by the same actions, though not by the same steps.
    assert by_action(protocol, list(fast.steps_taken)) == by_action(protocol, reduced.steps_taken)
    assert [reduced.depth_of(name) for name in reduced.first] == [plain.depth_of(name) for name in plain.first]
    assert reduced.depth == plain.depth


def assert_same_counts(plain: Found, fast: Exploration) -> None:
    assert fast.complete
    assert (fast.distinct, fast.generated, fast.depth) == (plain.distinct, plain.generated, plain.depth)
    assert fast.level_sizes == plain.level_sizes
    assert [seen and seen.depth for seen in fast.first] == [plain.depth_of(name) for name in plain.first]


def assert_same_states(plain: Found, calls: Calls, fast: Exploration) -> None:
    """On every level the same states, or the same orbits."""
    found = iter(states_of(calls, fast))
    for level in plain.levels:
        assert {plain.representative(next(found)) for _ in level} == set(level)


def by_action(protocol: Protocol, steps_taken: list[int]) -> Counter[str]:
    taken: Counter[str] = Counter()
    for step, count in zip(protocol.steps, steps_taken, strict=True):
        taken[step.action] += count
    return taken


# Orbits against states

ORBITS = [
    ("published/kip-320", (3, 1, 1, 2)),
    ("published/kip-101", (3, 1, 1, 2)),
    ("brokers/kip-320+crash=process", (2, 2, 2, 2)),
    ("brokers/kip-320+crash=power+flush=background", (2, 1, 1, 2)),
    ("published/kip-320", (1, 2, 2, 3)),
]
MORE_ORBITS = [
    ("published/kip-320", (3, 2, 2, 2)),
    ("published/kip-101", (3, 2, 2, 2)),
    ("published/kip-320", (4, 1, 1, 2)),
    ("brokers/truncate-on-fetch", (3, 1, 1, 2)),
    ("brokers/kip-320+crash=process", (3, 1, 1, 2)),
]


@pytest.mark.parametrize(("name", "bounds"), ORBITS, ids=str)
def test_the_orbits_found_are_all_states(name: str, bounds: tuple[int, int, int, int]) -> None:
    """Each exactly once: so their sizes add up to the number of states."""
    calls = calls_at(name, bounds)
    orbit = orbit_under(calls.protocol, whole_group(calls.protocol))
    orbits = [orbit(state) for state in states_of(calls, searched(calls, symmetric=True))]
    states = states_of(calls, searched(calls, symmetric=False))
    assert sum(map(len, orbits)) == len(states)
    assert set().union(*orbits) == set(states)


@pytest.mark.parametrize(
    ("name", "bounds"),
    [MORE_ORBITS[0], *(pytest.param(*row, marks=pytest.mark.slow) for row in MORE_ORBITS[1:])],
    ids=str,
)
def test_the_sizes_of_orbits_add_up(name: str, bounds: tuple[int, int, int, int]) -> None:
    calls = calls_at(name, bounds)
    orbit = orbit_under(calls.protocol, whole_group(calls.protocol))
    sizes = [len(orbit(state)) for state in states_of(calls, searched(calls, symmetric=True))]
    assert sum(sizes) == searched(calls, symmetric=False).distinct


@cache
def calls_at(name: str, bounds: tuple[int, int, int, int]) -> Calls:
    protocol = next(model for model in MODELS if model.name == name).at(*bounds)
    return Calls(protocol, whole_group(protocol))
