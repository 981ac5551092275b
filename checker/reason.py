"""Why an invariant fails in a state: the failing part of its formula, and what that part looks at.

The formula is walked from the top: of a conjunction the first false part, of an implication the false consequence, of
a disjunction (all parts false) as far down as it stays a single path. On the way the values of quantified variables
are collected: which replica, which offset. What the part reads for these values is told with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from model.errors import Place
from model.language.evaluate import evaluate
from model.language.expr import cells_read
from model.language.formula import Binding, Formula, Shape
from model.language.protocol import Predicate, Protocol, State
from model.language.show import show_state


@dataclass(frozen=True, slots=True)
class Reading:
    """A variable that is read where the invariant fails, with its value in the violating state."""

    path: str
    value: str


@dataclass(frozen=True, slots=True)
class Reason:
    """`where` is the line of the failing part (file relative to its package), `text` the line itself."""

    bindings: tuple[Binding, ...]
    where: str
    text: str
    readings: tuple[Reading, ...]


def reason_for(protocol: Protocol, predicate: Predicate, state: State) -> Reason:
    """Why `predicate` is false in `state`. Raises `ValueError` if it is true."""
    if evaluate(predicate.expr, state):
        raise ValueError(f"{predicate.name} holds in this state")
    bindings, scope, part = _descend(predicate.formula, state)
    place = _readable(scope, part, predicate.place)
    return Reason(
        bindings=bindings,
        where=place.portable if place else "",
        text=place.source() if place else "",
        readings=_readings(protocol, scope, state),
    )


def _descend(formula: Formula, state: State) -> tuple[tuple[Binding, ...], Formula, Formula]:
    """The bindings met on the way down, the part with the last of them, and the part where the way ends."""
    bindings, scope = list(formula.bindings), formula
    while (part := _failing_part(formula, state)) is not None:
        formula = part
        bindings += part.bindings
        scope = part if part.bindings else scope
    return tuple(bindings), scope if bindings else formula, formula


def _readable(scope: Formula, part: Formula, start: Place | None) -> Place | None:
    """The line of the part if it stands in the invariant's own file, else that of the scope: a line of a helper speaks
    of names that no reader has met."""
    is_own = part.place and start and part.place.file == start.file
    return part.place if is_own else scope.place or start


def _failing_part(formula: Formula, state: State) -> Formula | None:
    match formula.shape:
        case Shape.ALL:
            return next(part for part in formula.parts if not evaluate(part.expr, state))
        case Shape.IMPLIES:
            return formula.parts[1]
        case Shape.ANY:
            return formula.parts[0] if len(formula.parts) == 1 else None
        case Shape.NOT | Shape.ATOM:
            return None
        case _:
            assert_never(formula.shape)


def _readings(protocol: Protocol, part: Formula, state: State) -> tuple[Reading, ...]:
    """The variables that the part reads; of a sequence or set always the whole."""
    units = {_unit(protocol, cell) for cell in cells_read(part.expr)}
    return tuple(Reading(path, value) for path, value in show_state(protocol, state) if path in units)


def _unit(protocol: Protocol, number: int) -> str:
    """The path of the whole set or sequence that a cell belongs to, as `show_state` names it."""
    units = [path for path, _ in show_state(protocol, protocol.initial[0])]
    path = str(protocol.cells[number].path)
    return max((unit for unit in units if path == unit or path.startswith((f"{unit}[", f"{unit}."))), key=len)
