"""The states that a proof speaks of: all that fit the types, whether or not they can be reached.

Every reachable state is within its domains, as an assignment outside a domain is a fault that ends the search. That
sequences keep the lowest value in their unused places is *shown* before it is used: initially, and by every step. If it
cannot be shown, because an action writes beyond a length, nothing is assumed of unused places.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from checker.compile.smt import Proved, Solver, SymbolicState, Term, Terms
from model.language.expr import Expr
from model.language.protocol import Protocol, State, Step


class TypeCorrect:
    """The type-correct states of a protocol: `state` stands for any one of them.

    `budget`, in z3's resource units, is for showing the normal form of sequences. `further` are expressions outside the
    protocol that claims will speak of.
    """

    def __init__(self, protocol: Protocol, budget: int, further: Iterable[Expr] = ()) -> None:
        self.protocol = protocol
        self.state: SymbolicState = Terms(protocol, further).arbitrary()
        self.terms = self.state.terms
        self._budget = budget

    def solver(self, budget: int) -> Solver:
        """A solver whose claims are about all type-correct states."""
        return Solver(self.state, self._assumed, budget)

    def admits(self, state: State) -> bool:
        """Whether a concrete state is type-correct."""
        cells = zip(self.protocol.cells, state, strict=True)
        within = all(cell.domain.low <= value <= cell.domain.high for cell, value in cells)
        return within and (self._is_normal(state) or not self.normal_form)

    @cached_property
    def normal_form(self) -> bool:
        """Whether unused places of sequences provably hold the lowest value in every reachable state."""
        if not all(self._is_normal(state) for state in self.protocol.initial):
            return False
        if not self.terms.places:
            return True
        claim = self.terms.all_of(map(self._kept_by, self.protocol.steps))
        return isinstance(Solver(self.state, self._normal, self._budget).prove(claim), Proved)

    @cached_property
    def _assumed(self) -> Term:
        return self._normal if self.normal_form else self.state.in_domains()

    @cached_property
    def _normal(self) -> Term:
        return self.terms.all_of((self.state.in_domains(), self.state.in_normal_form()))

    def _kept_by(self, step: Step) -> Term:
        """That the step, taken without a fault, leads from normal form to normal form."""
        updates = self.state.updates(step)
        after = self.state.with_cells(updates)
        taken = self.terms.all_of((self.state.enabled(step), after.in_domains(updates)))
        return self.terms.implies(taken, after.in_normal_form(updates))

    def _is_normal(self, state: State) -> bool:
        cells = self.protocol.cells
        return all(
            place.index < state[place.length] or state[place.cell] == cells[place.cell].domain.low
            for place in self.terms.places
        )
