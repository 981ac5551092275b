"""Three lowerings of the Kafka models agree: what the evaluator says, machine code computes and z3 believes.

Random expressions and random protocols are compared in test_native.py and test_smt.py; here it is the real ones, state
by state on random walks, and then all states at once: the plain search and the fast one, and orbits against states.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product

import pytest
from conformance import (
    COMBINATIONS,
    Model,
    changed_model,
    every_rule,
    few_of,
    models,
    named_model,
    rules_of,
    searched,
    states_of,
    walk,
    whole_group,
)
from native_calls import Calls
from strategies import permuted
from symmetry_models import answer, locks, mail, send

from checker.compile.smt import Proved, Solver, SymbolicState, Term, Terms
from checker.explore.breadth_first import Exploration
from checker.explore.reference import Found, orbit_under, predicates_met, search
from checker.prove.certificate import Group
from model.language.domains import BOOL
from model.language.evaluate import enabled, evaluate, successors
from model.language.protocol import Protocol, State

MODELS = models()
FEW = few_of(MODELS)
PUBLISHED = [model for model in MODELS if model.name.startswith("published/")]
FEW_STEPS, MANY_STEPS = 60, 200
ENOUGH = 1_000  # states for the plain search
BUDGET = 10_000_000

every_model = pytest.mark.parametrize("model", MODELS, ids=str)
a_few_models = pytest.mark.parametrize("model", dict.fromkeys((*PUBLISHED, *FEW)), ids=str)


def test_every_rule_of_every_feature_is_in_some_model() -> None:
    for found in (MODELS, FEW):
        assert every_rule() == rules_of(model.variant for model in found)
        assert len({model.name for model in found}) == len(found)


# State by state


@every_model
def test_a_walk_with_two_replicas(model: Model) -> None:
    agree_on_a_walk(model.at(2, 2, 2, 2), model.name, FEW_STEPS)


@pytest.mark.parametrize("model", [named_model("published/kip-320"), *map(changed_model, COMBINATIONS)], ids=str)
def test_a_walk_with_three_replicas(model: Model) -> None:
    agree_on_a_walk(model.at(3, 2, 2, 2), model.name, FEW_STEPS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "bounds"),
    [*product(MODELS, [(3, 2, 2, 3)]), *product(FEW, [(2, 3, 3, 3), (4, 2, 2, 2)])],
    ids=str,
)
def test_a_long_walk_at_larger_bounds(model: Model, bounds: tuple[int, int, int, int]) -> None:
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
    assert_z3_agrees(protocol, [states[0], states[-1]])


def mask(protocol: Protocol, state: State) -> int:
    names, met = (*protocol.invariant_names, *protocol.witness_names), predicates_met(protocol, state)
    return sum(1 << bit for bit, name in enumerate(names) if name in met)


def check_canonical(calls: Calls, state: State, orbit: set[State]) -> None:
    """A member of the orbit, and the same for all of it."""
    representative = calls.canonical(state)
    assert representative in orbit
    assert {calls.canonical(other, in_place=True) for other in orbit} == {representative}


def assert_z3_agrees(protocol: Protocol, states: list[State]) -> None:
    """That the state is a certain one is an assumption, from which z3 has to conclude the rest."""
    terms = Terms(protocol)
    unknown = terms.arbitrary()
    for state in states:
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


@a_few_models
def test_the_plain_search_and_the_fast_one_find_the_same(model: Model) -> None:
    agree_on_all_states(model.at(2, 2, 2, 2) if model in PUBLISHED else model.at(2, 1, 1, 2), ENOUGH)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "bounds"),
    [*product(MODELS, [(2, 1, 1, 2)]), *product(FEW, [(1, 2, 2, 3), (2, 2, 2, 2), (3, 1, 1, 2)])],
    ids=str,
)
def test_the_searches_find_the_same_at_larger_bounds(model: Model, bounds: tuple[int, int, int, int]) -> None:
    # The fast search has no limit here, and crashes of three replicas make tens of millions of states.
    agree_on_all_states(model.at(*bounds, crashes=1 if bounds[0] < 3 else 0), 4 * ENOUGH)


def agree_on_all_states(protocol: Protocol, enough: int) -> None:
    """The plain search ends at the level where it has `enough` states, and is compared up to there."""
    group = whole_group(protocol)
    calls = Calls(protocol, group)
    plain, full = search(protocol, enough=enough), searched(calls, symmetric=False)
    assert_same(plain, calls, full)
    if plain.complete:
        assert plain.steps_taken == list(full.steps_taken)
    orbits, reduced = search(protocol, group, enough // group.order), searched(calls, symmetric=True)
    assert_same(orbits, calls, reduced)
    assert (reduced.depth, depths(reduced)) == (full.depth, depths(full))
    if orbits.complete:
        # The successors of a state and of its representative are taken by the same actions, if not by the same steps.
        assert by_action(protocol, orbits.steps_taken) == by_action(protocol, list(reduced.steps_taken))


def assert_same(plain: Found, calls: Calls, fast: Exploration) -> None:
    assert fast.complete
    assert fast.level_sizes[: plain.depth] == plain.level_sizes
    seen = [depth if depth is not None and depth <= plain.depth else None for depth in depths(fast)]
    assert seen == [plain.depth_of(name) for name in plain.first]
    assert_same_states(plain, calls, fast)
    if plain.complete:
        assert (fast.distinct, fast.generated, fast.depth) == (plain.distinct, plain.generated, plain.depth)


def depths(found: Exploration) -> list[int | None]:
    """Where each predicate was met first."""
    return [seen.depth if seen else None for seen in found.first]


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


@pytest.mark.parametrize("protocol", [locks(), mail(send, answer), named_model("published/kip-320").at(3, 1, 1, 2)])
def test_an_orbit_is_what_renaming_makes_of_a_state(protocol: Protocol) -> None:
    group = whole_group(protocol)
    orbit = orbit_under(protocol, group)
    for state in walk(protocol, "orbits", FEW_STEPS):
        assert orbit(state) == {permuted(protocol, state, element) for element in group.elements()}


ORBITS = [
    (named_model("published/kip-320"), (3, 1, 1, 2)),
    (named_model("published/kip-101"), (3, 1, 1, 2)),
    (changed_model({"crash": "process"}), (2, 2, 2, 2)),
    (changed_model({"crash": "power", "flush": "background"}), (2, 1, 1, 2)),
    (named_model("published/kip-320"), (1, 2, 2, 3)),
]
MORE_ORBITS = [
    (named_model("published/kip-320"), (3, 2, 2, 2)),
    (named_model("published/kip-101"), (3, 2, 2, 2)),
    (named_model("published/kip-320"), (4, 1, 1, 2)),
    (named_model("brokers/truncate-on-fetch"), (3, 1, 1, 2)),
    (changed_model({"crash": "process"}), (3, 1, 1, 2)),
]


@pytest.mark.parametrize(("model", "bounds"), ORBITS, ids=str)
def test_the_orbits_found_are_all_states(model: Model, bounds: tuple[int, int, int, int]) -> None:
    """Each exactly once: so their sizes add up to the number of states."""
    calls, found = orbits_at(model, bounds)
    orbits = list(found)
    states = states_of(calls, searched(calls, symmetric=False))
    assert sum(map(len, orbits)) == len(states)
    assert set().union(*orbits) == set(states)


@pytest.mark.parametrize(
    ("model", "bounds"),
    [MORE_ORBITS[0], *(pytest.param(*row, marks=pytest.mark.slow) for row in MORE_ORBITS[1:])],
    ids=str,
)
def test_the_sizes_of_orbits_add_up(model: Model, bounds: tuple[int, int, int, int]) -> None:
    calls, orbits = orbits_at(model, bounds)
    assert sum(map(len, orbits)) == searched(calls, symmetric=False).distinct


def orbits_at(model: Model, bounds: tuple[int, int, int, int]) -> tuple[Calls, Iterator[set[State]]]:
    """The orbits that the fast search finds, one after the other."""
    protocol = model.at(*bounds)
    calls = Calls(protocol, whole_group(protocol))
    orbit = orbit_under(protocol, calls.group or Group())
    return calls, (orbit(state) for state in states_of(calls, searched(calls, symmetric=True)))
