"""z3's word on a permutation: what of a protocol it leaves as it is.

Each action, invariant and witness is one question about every type-correct state. What z3 refutes is put to the
evaluator before it is believed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial

from checker.compile.smt import Proved, Refuted, Solver, SymbolicState, Term, Unknown
from checker.prove.certificate import Attempt, Finding, Kind, Obligation
from checker.prove.refutation import Renaming, Test, plainest
from checker.prove.type_correct import TypeCorrect
from model.errors import InternalError
from model.language.protocol import Permutation, Predicate, Protocol, State, Step


class Equivariance:
    """Tries permutations of one protocol. `budget`, in z3's resource units, is for each of them."""

    def __init__(self, protocol: Protocol, budget: int) -> None:
        self.protocol = protocol
        self.states = TypeCorrect(protocol, budget)
        self._budget = budget

    def attempt(self, permutation: Permutation) -> Attempt:
        """What comes out for each part of the protocol."""
        start = time.perf_counter()
        trial = _Trial(self.states, Renaming(self.protocol, permutation), self.states.solver(self._budget))
        obligations = tuple(trial.obligations())
        return Attempt(permutation, obligations, time.perf_counter() - start)


class _Trial:
    """One permutation."""

    def __init__(self, states: TypeCorrect, renaming: Renaming, solver: Solver) -> None:
        self._states = states
        self._protocol = states.protocol
        self._terms = states.terms
        self._renaming = renaming
        self._solver = solver
        self._here = states.state
        self._there: SymbolicState = self._here.permuted(renaming.permutation)
        self._source = {target: cell for cell, target in enumerate(renaming.moved)}

    def obligations(self) -> Iterator[Obligation]:
        yield self._initial()
        for action in self._protocol.actions:
            yield self._action(action.name, tuple(s for s in self._protocol.steps if s.action == action.name))
        for kind, predicates in ((Kind.INVARIANT, self._protocol.invariants), (Kind.WITNESS, self._protocol.witnesses)):
            for predicate in predicates:
                yield self._predicate(kind, predicate)

    def _initial(self) -> Obligation:
        """Concrete, as there are few. A permutation is one to one: if no state leaves the set, none is missing."""
        initial = self._protocol.initial
        leaving = next(filter(self._renaming.harms_initial, initial), None)
        finding = Finding.PROVED if leaving is None else Finding.REFUTED
        return Obligation(Kind.INITIAL, "", len(initial), finding, leaving)

    def _action(self, name: str, steps: tuple[Step, ...]) -> Obligation:
        answer = self._solver.prove(self._terms.all_of(map(self._same_step, steps)))
        match answer:
            case Proved():
                return Obligation(Kind.ACTION, name, len(steps), Finding.PROVED)
            case Unknown(reason):
                return Obligation(Kind.ACTION, name, len(steps), Finding.UNKNOWN, reason=reason)
            case Refuted(state):
                return self._refuted_action(name, steps, state)

    def _refuted_action(self, name: str, steps: tuple[Step, ...], state: State) -> Obligation:
        step = next((step for step in steps if self._renaming.harms_step(step, state)), None)
        if step is None:
            raise InternalError(f"z3 refutes {name} with the state {state}, and the evaluator does not agree")
        shown = self._plainest(partial(self._renaming.harms_step, step), state)
        return Obligation(Kind.ACTION, name, len(steps), Finding.REFUTED, shown, step.number)

    def _predicate(self, kind: Kind, predicate: Predicate) -> Obligation:
        claim = self._terms.same(self._here.value(predicate.expr), self._there.value(predicate.expr))
        match self._solver.prove(claim):
            case Proved():
                return Obligation(kind, predicate.name, 1, Finding.PROVED)
            case Unknown(reason):
                return Obligation(kind, predicate.name, 1, Finding.UNKNOWN, reason=reason)
            case Refuted(state):
                shown = self._plainest(partial(self._renaming.harms_predicate, predicate), state)
                return Obligation(kind, predicate.name, 1, Finding.REFUTED, shown)

    def _plainest(self, harms: Test, state: State) -> State:
        return plainest(harms, self._states.admits, state, self._protocol.initial[0])

    def _same_step(self, step: Step) -> Term:
        """That the step here and its twin there are enabled together and lead to the same state but for names."""
        twin, enabled = self._renaming.twin(step), self._here.enabled(step)
        if twin is None:
            return self._terms.negated(enabled)
        both = self._terms.same(enabled, self._there.enabled(twin))
        return self._terms.all_of((both, self._terms.implies(enabled, self._same_successor(step, twin))))

    def _same_successor(self, step: Step, twin: Step) -> Term:
        """Only cells that one of the two writes are compared: of all others, both states hold the same but for names.

        Values outside a domain are compared too, so that a fault of the model is a fault in every renamed state.
        """
        expected = {self._renaming.moved[cell]: value for cell, value in self._here.updates(step).items()}
        actual = self._there.updates(twin)
        terms = []
        for cell in sorted({*expected, *actual}):
            value = self._renamed(cell, expected[cell]) if cell in expected else self._there.cells[cell]
            terms.append(self._terms.same(value, actual.get(cell, self._there.cells[cell])))
        return self._terms.all_of(terms)

    def _renamed(self, target: int, value: Term) -> Term:
        domain = self._protocol.cells[self._source[target]].domain
        return self._terms.renamed(self._renaming.permutation, domain, value)
