"""Two protocols taking the same steps side by side, as one protocol: is there a step that one allows and the other
forbids?

A step of the pair is a step of each that has the same action and the same parameters as readers see them. A *shared*
cell is one that both have under the same path, with values that mean the same. The pair goes on as long as all shared
cells agree; `apart` says that the step just taken has made them differ. As steps are deterministic, a sequence of steps
leads to one pair, so what is found is exact: the three invariants below fall where the first difference is, and hold if
there is none.

    same_effect      shared cells agree
    second_allows    whatever step the first can take, the second can take
    first_allows     and the other way round
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

from model.errors import UsageError
from model.language import expr as ex
from model.language.domains import BOOL, Bool, Record, Scalar
from model.language.evaluate import enabled
from model.language.expr import Expr
from model.language.formula import Formula, Shape
from model.language.protocol import Action, Cell, Condition, Predicate, Protocol, State, Step, Update

#: An action and its parameters as readers see them, by name.
Label: TypeAlias = "tuple[str, tuple[tuple[str, Any], ...]]"

APART: Final = "apart"


@dataclass(frozen=True, slots=True)
class Halves:
    """The states of the two protocols in one state of the pair."""

    first: State
    second: State


@dataclass(frozen=True)
class Product:
    """The two protocols, and the pair that they make."""

    first: Protocol
    second: Protocol

    @cached_property
    def steps(self) -> tuple[dict[Label, Step], dict[Label, Step]]:
        """The steps of each protocol by label."""
        return _by_label(self.first), _by_label(self.second)

    @cached_property
    def shared(self) -> dict[int, int]:
        """The cells that are compared, from the first's number to the second's: those that both have, but for fields in
        which the two start differently, as they would not agree for a single step."""
        left_out = set(self.left_out)
        return {one: other for one, other in self._common if _field(self.first.cells[one]) not in left_out}

    @cached_property
    def left_out(self) -> tuple[str, ...]:
        """The fields in which the most similar initial states of the two differ."""
        apart = (
            tuple(
                dict.fromkeys(
                    _field(self.first.cells[one]) for one, other in self._common if mine[one] != theirs[other]
                )
            )
            for mine in self.first.initial
            for theirs in self.second.initial
        )
        return min(apart, key=len)

    def unmatched(self, which: int) -> int:
        """How many initial states one of the two (0, 1) has and the other has not."""
        matched = {pair[which] for pair in self._starts()}
        return len(set((self.first, self.second)[which].initial) - matched)

    @cached_property
    def _common(self) -> tuple[tuple[int, int], ...]:
        others = {str(cell.path): cell for cell in self.second.cells}
        return tuple(
            (cell.number, others[str(cell.path)].number)
            for cell in self.first.cells
            if str(cell.path) in others and _mean_the_same(cell.domain, others[str(cell.path)].domain)
        )

    @cached_property
    def protocol(self) -> Protocol:
        """The pair. Raises `UsageError` if initial states of the two cannot be told apart by shared cells."""
        first, second = self.steps
        common = [label for label in first if label in second]
        return Protocol(
            name=f"{self.first.name} beside {self.second.name}",
            variables={
                "first": Record(**self.first.variables),
                "second": Record(**self.second.variables),
                APART: Bool(),
            },
            actions=tuple(Action(str(number), (), True, None, "") for number in range(len(common))),
            steps=tuple(self._step(number, first[label], second[label]) for number, label in enumerate(common)),
            invariants=(self._same_effect(), self._allows("second_allows", 0), self._allows("first_allows", 1)),
            witnesses=(),
            initial=tuple((*mine, *theirs, 0) for mine, theirs in self._starts()),
        )

    @property
    def labels(self) -> tuple[Label, ...]:
        """Of the pair's steps, in their order."""
        first, second = self.steps
        return tuple(label for label in first if label in second)

    def disagreements(self, state: State) -> Iterator[tuple[Cell, int, int]]:
        """The shared cells that have two values in a state of the pair, each with the first's code and the second's."""
        halves = self.halves(state)
        for one, other in self.shared.items():
            if halves.first[one] != halves.second[other]:
                yield self.first.cells[one], halves.first[one], halves.second[other]

    def halves(self, state: State) -> Halves:
        size = len(self.first.cells)
        return Halves(state[:size], state[size:-1])

    def difference(self, state: State, which: int) -> Label | None:
        """The first step that one of the two can take in a state of the pair, and the other cannot."""
        halves = self.halves(state)
        mine, theirs = ((halves.first, halves.second), (halves.second, halves.first))[which]
        able, unable = self.steps[which], self.steps[1 - which]
        for label, step in able.items():
            if enabled(step, mine) and not (label in unable and enabled(unable[label], theirs)):
                return label
        return None

    # Making the pair

    def _starts(self) -> Iterator[tuple[State, State]]:
        """Pairs of initial states that agree. Raises `UsageError` if one agrees with several: it would have to go with
        all of them at once."""
        pairs = [
            (mine, theirs) for mine in self.first.initial for theirs in self.second.initial if self._agree(mine, theirs)
        ]
        if any(len({pair[which] for pair in pairs}) < len(pairs) for which in (0, 1)):
            raise UsageError(
                "an initial state of one agrees with several of the other, as far as they have the same variables"
            )
        return iter(pairs)

    def _agree(self, mine: State, theirs: State) -> bool:
        return all(mine[one] == theirs[other] for one, other in self.shared.items())

    @property
    def _apart(self) -> Expr:
        return ex.read(len(self.first.cells) + len(self.second.cells), BOOL, 0, 1)

    @cached_property
    def _moved(self) -> Mapping[Expr, Expr]:
        """Expressions of the second protocol over its cells in the pair."""
        parts = (part for step in self.second.steps for part in _parts(step))
        reads = (cell.read() for cell in self.second.cells)
        return ex.shifted((*parts, *reads), len(self.first.cells))

    def _step(self, number: int, mine: Step, theirs: Step) -> Step:
        size = len(self.first.cells)
        moved = [Condition(self._moved[condition.expr], condition.place) for condition in theirs.guard]
        updates = [Update(u.cell + size, self._moved[u.value], u.place, u.proved) for u in theirs.updates]
        differs = self._differs(mine, theirs)
        apart = [] if differs is ex.FALSE else [Update(self._apart.value, differs, None, proved=True)]
        together = Condition(ex.negate(self._apart), None)
        guard = (together, *mine.guard, *moved)
        return Step(number, str(number), (), guard, (*mine.updates, *updates, *apart))

    def _differs(self, mine: Step, theirs: Step) -> Expr:
        """Whether the two steps leave a shared cell with two values."""
        after_mine = {update.cell: update.value for update in mine.updates}
        after_theirs = {update.cell: self._moved[update.value] for update in theirs.updates}
        pairs = [
            (
                after_mine.get(one, self.first.cells[one].read()),
                after_theirs.get(other, self._moved[self.second.cells[other].read()]),
            )
            for one, other in self.shared.items()
            if one in after_mine or other in after_theirs
        ]
        return ex.disjunction(ex.negate(ex.equal(left, right)) for left, right in pairs)

    def _same_effect(self) -> Predicate:
        return _predicate("same_effect", ex.negate(self._apart))

    def _allows(self, name: str, which: int) -> Predicate:
        """Every step that one of the two (0, 1) can take can be taken by the other, as long as they are together."""
        able, unable = self.steps[which], self.steps[1 - which]
        parts = []
        for label, step in able.items():
            can = self._guard(step, which)
            also = self._guard(unable[label], 1 - which) if label in unable else ex.FALSE
            parts.append(ex.disjunction((self._apart, ex.negate(can), also)))
        return _predicate(name, ex.conjunction(parts))

    def _guard(self, step: Step, which: int) -> Expr:
        parts = [condition.expr for condition in step.guard]
        return ex.conjunction(self._moved[part] if which else part for part in parts)


def _by_label(protocol: Protocol) -> dict[Label, Step]:
    return {label_of(protocol, step): step for step in protocol.steps}


def label_of(protocol: Protocol, step: Step) -> Label:
    parameters = protocol.action_named[step.action].parameters
    shown = ((p.name, p.domain.to_json(code)) for p, code in zip(parameters, step.arguments, strict=True))
    return step.action, tuple(shown)


def _field(cell: Cell) -> str:
    """The name of a cell without its keys: all replicas' epoch caches have one."""
    return re.sub(r"\[[^]]*\]", "[]", str(cell.path))


def _mean_the_same(one: Scalar, other: Scalar) -> bool:
    """Whether equal codes are equal values."""
    codes = set(one.codes()) & set(other.codes())
    return one.sort == other.sort and all(one.to_json(code) == other.to_json(code) for code in codes)


def _parts(step: Step) -> Iterator[Expr]:
    yield from (condition.expr for condition in step.guard)
    yield from (update.value for update in step.updates)


def _predicate(name: str, expr: Expr) -> Predicate:
    return Predicate(name, Formula(Shape.ATOM, expr), None, "")
