"""z3 formulas mean what the evaluator says."""

from __future__ import annotations

import os
import signal
import threading
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DataObject
from strategies import expression_pools, protocol_of, protocols, states, update

from checker.compile.smt import Answer, Proved, Refuted, Solver, SymbolicState, Term, Terms, Unknown, bit_width
from checker.prove.certificate import Finding, Kind
from checker.prove.equivariance import Equivariance
from checker.prove.refutation import Renaming
from checker.prove.symmetry import prove_symmetry
from checker.prove.type_correct import TypeCorrect
from model.errors import InternalError
from model.kafka.protocol import kafka
from model.kafka.variant import NAMED_VARIANTS, Bounds
from model.language import expr as ex
from model.language.domains import BOOL, Option, Range, Record, Scalarset, Sequence
from model.language.evaluate import enabled, evaluate
from model.language.expr import Expr
from model.language.protocol import Condition, Permutation, Protocol, State, Step

BUDGET = 10_000_000

few = settings(max_examples=50, deadline=None)  # a solver's first question in a process takes its time


def proof(state: SymbolicState, claim: Term, assuming: Term | None = None) -> Answer:
    return Solver(state, state.terms.true if assuming is None else assuming, BUDGET).prove(claim)


def is_state(state: SymbolicState, values: State) -> Term:
    """That a symbolic state is this one."""
    pairs = zip(state.cells, state.terms.concrete(values).cells, strict=True)
    return state.terms.all_of(state.terms.same(cell, value) for cell, value in pairs)


def all_states(protocol: Protocol) -> list[State]:
    return list(product(*(cell.domain.codes() for cell in protocol.cells)))


@few
@given(protocols(), st.data())
def test_expressions_have_the_evaluators_value(protocol: Protocol, data: DataObject) -> None:
    """Once with constants for cells, which z3 folds, and once with variables, which it has to search."""
    pools = data.draw(expression_pools(protocol.cells))
    values = data.draw(states(protocol))
    exprs = [expr for pool in pools.values() for expr in pool]
    terms = Terms(protocol, exprs)
    for state in (terms.concrete(values), terms.arbitrary()):
        expected = (terms.constant(evaluate(expr, values), expr.sort) for expr in exprs)
        claims = (terms.same(state.value(expr), value) for expr, value in zip(exprs, expected, strict=True))
        assert proof(state, terms.all_of(claims), is_state(state, values)) == Proved()


@few
@given(protocols(), st.data())
def test_steps_do_what_the_evaluator_says(protocol: Protocol, data: DataObject) -> None:
    values = data.draw(states(protocol))
    terms = Terms(protocol)
    state = terms.concrete(values)
    for step in protocol.steps:
        may = terms.constant(enabled(step, values), BOOL)
        assert proof(state, terms.same(state.enabled(step), may)) == Proved()
        for cell, value in state.updates(step).items():
            expr = next(each.value for each in step.updates if each.cell == cell)
            assert proof(state, terms.same(value, terms.constant(evaluate(expr, values), expr.sort))) == Proved()


@few
@given(protocols(), st.data())
def test_a_claim_is_proved_or_refuted_by_a_state_that_refutes_it(protocol: Protocol, data: DataObject) -> None:
    values = data.draw(states(protocol))
    every = TypeCorrect(protocol, BUDGET)
    solver = every.solver(BUDGET)
    for predicate in protocol.invariants:
        match solver.prove(every.state.value(predicate.expr)):
            case Proved():
                assert evaluate(predicate.expr, values) or not every.admits(values)
            case Refuted(found):
                assert every.admits(found)
                assert not evaluate(predicate.expr, found)
            case Unknown(reason):
                pytest.fail(reason)


@few
@given(protocols(), st.data())
def test_states_are_renamed_as_the_protocol_says(protocol: Protocol, data: DataObject) -> None:
    values = data.draw(states(protocol))
    terms = Terms(protocol)
    for scalarset in protocol.scalarsets:
        image_of = data.draw(st.permutations(range(scalarset.count)))
        permutation = Permutation(scalarset.name, tuple(image_of))
        for state in (terms.arbitrary(), terms.concrete(values)):
            image = state.permuted(permutation)
            claim = is_state(image, protocol.permuted(values, permutation))
            assert proof(state, claim, is_state(state, values)) == Proved()


# Type-correct states

OWNER = Scalarset("Replica", 2)
NESTED = protocol_of({"outer": Sequence(Record(inner=Sequence(Range(2, 3), 1), owner=OWNER), 2)})


def test_type_correct_states_are_within_domains_and_keep_unused_places_lowest() -> None:
    every = TypeCorrect(NESTED, BUDGET)
    terms, admitted = every.terms, []
    for values in all_states(NESTED):
        state = terms.concrete(values)
        claim = terms.all_of((state.in_domains(), state.in_normal_form()))
        assert (proof(state, claim) == Proved()) == every.admits(values)
        if every.admits(values):
            admitted.append(values)
    # A place is empty or holds one of two; and belongs to nobody, A or B. No place, one, or two are in use.
    place = (1 + 2) * 3
    assert len(admitted) == 1 + place + place * place


@pytest.mark.parametrize("value", [-2, 2])
def test_a_value_outside_its_domain_is_not_type_correct(value: int) -> None:
    protocol = protocol_of({"x": Option(Range(0, 1))})
    assert not TypeCorrect(protocol, BUDGET).admits((value,))
    state = Terms(protocol, [ex.constant(value)]).concrete((value,))
    assert isinstance(proof(state, state.in_domains()), Refuted)


def written_to(protocol: Protocol, path: str, value: Expr, *guard: Expr) -> Protocol:
    """The protocol with one step that assigns to one cell."""
    cell = next(each for each in protocol.cells if str(each.path) == path)
    step = Step(0, "write", (), tuple(Condition(each, None) for each in guard), (update(cell, value),))
    return protocol_of(protocol.variables, [step])


def test_the_normal_form_is_shown_before_it_is_assumed() -> None:
    length = next(cell for cell in NESTED.cells if str(cell.path) == "outer.length").read()
    second = next(cell for cell in NESTED.cells if str(cell.path) == "outer[1].owner").read()
    owner = ex.constant(1, "Replica")
    full, unowned = ex.equal(length, ex.constant(2)), ex.equal(second, ex.constant(-1, "Replica"))
    assert TypeCorrect(written_to(NESTED, "outer[1].owner", owner, full), BUDGET).normal_form
    assert not TypeCorrect(written_to(NESTED, "outer[1].owner", owner), BUDGET).normal_form
    assert not TypeCorrect(written_to(NESTED, "outer.length", ex.constant(1), full), BUDGET).normal_form
    assert not TypeCorrect(written_to(NESTED, "outer.length", ex.constant(1), full, unowned), BUDGET).normal_form
    # The place beyond the capacity: a fault, and a fault has no state after it.
    assert TypeCorrect(written_to(NESTED, "outer.length", ex.constant(3), full), BUDGET).normal_form
    assert not TypeCorrect(written_to(NESTED, "outer[1].owner", owner, full), 1).normal_form


def test_an_initial_state_may_lack_the_normal_form() -> None:
    odd = (*NESTED.initial[0][:-1], 1)
    assert not TypeCorrect(protocol_of(NESTED.variables, initial=[odd]), BUDGET).normal_form


# Widths


def test_the_width_holds_every_value() -> None:
    def width(low: int, high: int) -> int:
        return bit_width(protocol_of({"x": Range(low, high)}))

    assert [width(0, 1), width(-1, 0), width(0, 127), width(0, 128), width(-128, 0), width(-129, 0)] == [
        2,
        1,
        8,
        9,
        8,
        9,
    ]


def test_an_expression_that_would_wrap_is_refused() -> None:
    protocol = protocol_of({"x": Range(0, 3)})
    square = ex.multiply(protocol.cells[0].read(), protocol.cells[0].read())
    with pytest.raises(InternalError, match="needs more than 3 bits"):
        Terms(protocol).arbitrary().value(square)
    state = Terms(protocol, [square]).arbitrary()
    assert proof(state, state.value(ex.less(square, ex.constant(9))), state.in_domains()) == Refuted((3,))


# Budget, Ctrl-C


def factorisation() -> tuple[SymbolicState, Term]:
    """A claim that takes z3 far longer than any test should last: a product has no such divisors."""
    protocol = protocol_of({name: Range(2, 2**24) for name in ("a", "b")})
    a, b = (cell.read() for cell in protocol.cells)
    product_of_primes = ex.constant(15_485_863 * 15_485_867)
    claim = ex.negate(ex.conjunction((ex.equal(ex.multiply(a, b), product_of_primes), ex.less(a, b))))
    state = Terms(protocol, [claim]).arbitrary()
    return state, state.value(claim)


def test_a_spent_budget_is_unknown_and_stays_so() -> None:
    state, claim = factorisation()
    solver = Solver(state, state.in_domains(), 200_000)
    assert [solver.prove(claim) for _ in range(2)] == [Unknown("the budget is spent")] * 2
    assert solver.prove(state.terms.true) == Unknown("the budget is spent")


def test_ctrl_c_is_not_swallowed() -> None:
    state, claim = factorisation()
    solver = Solver(state, state.in_domains(), 10**11)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        solver.prove(claim)
    timer.join()


# What z3 proves of random and of shipped protocols


@few
@given(protocols(individuals=(Scalarset("Replica", 2), Scalarset("Client", 3)), largest=8), st.data())
def test_findings_about_symmetry_agree_with_states(protocol: Protocol, data: DataObject) -> None:
    """Refutations are confirmed while they are made; here, what is proved has no counterexample."""
    values = data.draw(states(protocol))
    every = Equivariance(protocol, BUDGET)
    for permutation in [attempt.permutation for attempt in prove_symmetry(protocol).certificate.attempts]:
        renaming = Renaming(protocol, permutation)
        for part in every.attempt(permutation).obligations:
            assert part.finding is not Finding.UNKNOWN
            if part.finding is Finding.PROVED and every.states.admits(values) and part.kind is not Kind.INITIAL:
                assert not any(renaming.harms_step(s, values) for s in protocol.steps if s.action == part.name)
                named = (p for p in (*protocol.invariants, *protocol.witnesses) if p.name == part.name)
                assert not any(renaming.harms_predicate(predicate, values) for predicate in named)


@pytest.mark.parametrize("variant", NAMED_VARIANTS)
def test_assignments_that_staging_calls_proved_are(variant: str) -> None:
    """Ranges and z3 agree: no step assigns outside a domain unless it is checked whenever it is taken."""
    protocol = kafka(NAMED_VARIANTS[variant], Bounds(3, 2, 2, 3))
    every = TypeCorrect(protocol, BUDGET)
    solver = every.solver(BUDGET)
    for step in protocol.steps:
        values = every.state.updates(step)
        cells = [protocol.cells[each.cell] for each in step.updates if each.proved]
        fits = every.terms.all_of(every.terms.within(cell.domain, values[cell.number]) for cell in cells)
        assert solver.prove(every.terms.implies(every.state.enabled(step), fits)) == Proved()
