"""Mutants of a protocol: each rule weakened alone. Which there are, and one protocol that holds them all.

A mutant changes one place of the source, in every step of one action that comes from it:

- a requirement is dropped: one condition of a conjunction, quantifiers as a whole;
- a comparison is loosened: `<=` for `<`;
- an assignment is forgotten.

`family` puts all of them into one protocol with one cell more, which never changes: in the initial states where it is 0
the protocol is what it was, where it is `n` it is the n-th mutant. So machine code is made once for all of them.
"""

from __future__ import annotations

import enum
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, TypeAlias

from model.errors import Place
from model.language import expr as ex
from model.language.domains import INT, Range
from model.language.expr import Expr, Op
from model.language.formula import Formula, Shape
from model.language.protocol import Condition, Protocol, State, Step, Update
from model.language.show import show_expr

_HEAD: Final = re.compile(r"(?P<indent> *)(?:async )?def (?P<name>\w+)\(")

#: The variable that says which mutant it is.
SELECTOR: Final = "mutant"


class Change(enum.Enum):
    """How a mutant differs from the model."""

    DROPPED = "requirement dropped"
    LOOSENED = "< becomes <="
    FORGOTTEN = "assignment forgotten"


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change at one place of one action. `part` counts the conditions that stand on that line, from 1; `shown` is
    the condition in the first step that has it, and `is_one_of_several` says that it is not the only one there."""

    action: str
    place: Place
    change: Change
    part: int = 1
    shown: str = field(default="", compare=False)
    is_one_of_several: bool = field(default=False, compare=False)

    @property
    def source(self) -> str:
        """The line that is changed."""
        return self.place.source()

    @property
    def function(self) -> str:
        """The name of the function that the line stands in; empty if the file cannot be read."""
        try:
            lines = Path(self.place.file).read_text(encoding="utf-8").splitlines()[: self.place.line]
        except (OSError, UnicodeDecodeError):
            return ""
        depth = len(lines[-1]) - len(lines[-1].lstrip()) if lines else 0
        heads = (_HEAD.match(each) for each in reversed(lines[:-1]))
        return next((head["name"] for head in heads if head and len(head["indent"]) < depth), "")


#: The part of a guard, or the assignment, that a mutant of an action changes.
_Spot: TypeAlias = "tuple[Place, Change, int]"

#: A part of a guard, its place, and its number among the parts on that line.
_Numbered: TypeAlias = "tuple[Expr, Place, int]"


def mutants_of(protocol: Protocol) -> tuple[Mutant, ...]:
    """Every mutant of a protocol, in the order of its steps and their lines."""
    found: dict[Mutant, None] = {}
    for step in protocol.steps:
        for mutant in _mutants_of_step(protocol, step):
            found.setdefault(mutant)
    on_line = Counter((mutant.action, mutant.place, mutant.change) for mutant in found)
    return tuple(
        replace(mutant, is_one_of_several=on_line[mutant.action, mutant.place, mutant.change] > 1) for mutant in found
    )


def _mutants_of_step(protocol: Protocol, step: Step) -> Iterator[Mutant]:
    for _, parts in numbered_parts(step):
        for part, place, number in parts:
            shown = show_expr(protocol, part)
            yield Mutant(step.action, place, Change.DROPPED, number, shown)
            if part.op is Op.LESS:
                yield Mutant(step.action, place, Change.LOOSENED, number, shown)
    for update in step.updates:
        if update.place is not None:
            yield Mutant(step.action, update.place, Change.FORGOTTEN)


def numbered_parts(step: Step) -> Iterator[tuple[Condition, list[_Numbered]]]:
    """The conditions that have a place, each with its parts, their places, and numbers among those of one line.

    Parts that these parameters make true are counted, so that numbers mean the same in every step, but left out. What
    is required a second time goes by the place of the first: dropping only one of the two would change nothing.
    """
    counts: Counter[Place] = Counter()
    known: dict[Expr, tuple[Place, int]] = {}
    for condition in step.guard:
        if condition.place is None:
            continue
        parts = []
        for part in _parts(condition.formula or Formula(Shape.ATOM, condition.expr)):
            place = part.place or condition.place
            counts[place] += 1
            if part.expr is not ex.TRUE:
                parts.append((part.expr, *known.setdefault(part.expr, (place, counts[place]))))
        yield condition, parts


def _parts(formula: Formula) -> Iterator[Formula]:
    """The conditions of a conjunction; what a quantifier makes of its values stays together."""
    if formula.shape is Shape.ALL and not any(part.bindings for part in formula.parts):
        for part in formula.parts:
            yield from _parts(part)
    else:
        yield formula


# One protocol for all


def family(protocol: Protocol, mutants: Sequence[Mutant]) -> Protocol:
    """The protocol and its mutants in one. `member` says where each of them starts."""
    selector = ex.read(len(protocol.cells), INT, 0, len(mutants))
    by_action: dict[str, dict[_Spot, Expr]] = {}
    for number, mutant in enumerate(mutants, start=1):
        spots = by_action.setdefault(mutant.action, {})
        spots[mutant.place, mutant.change, mutant.part] = ex.equal(selector, ex.constant(number))
    steps = (_with_mutants(protocol, step, by_action.get(step.action, {})) for step in protocol.steps)
    return replace(
        protocol,
        variables={**protocol.variables, SELECTOR: Range(0, len(mutants))},
        steps=tuple(steps),
        initial=tuple((*state, number) for number in range(len(mutants) + 1) for state in protocol.initial),
    )


def member(whole: Protocol, number: int) -> tuple[State, ...]:
    """The initial states of one member of a family: 0 is the protocol itself, then come the mutants in order."""
    return tuple(state for state in whole.initial if state[-1] == number)


def _with_mutants(protocol: Protocol, step: Step, spots: Mapping[_Spot, Expr]) -> Step:
    if not spots:
        return step
    changed = {id(condition): _guarded(condition, parts, spots) for condition, parts in numbered_parts(step)}
    # Ranges were proved with the whole guard, so with less of it every assignment has to be checked again.
    return replace(
        step,
        guard=tuple(changed.get(id(condition), condition) for condition in step.guard),
        updates=tuple(_assigned(protocol, update, spots) for update in step.updates),
    )


def _guarded(condition: Condition, parts: Sequence[_Numbered], spots: Mapping[_Spot, Expr]) -> Condition:
    weakened = [_weakened(part, place, number, spots) for part, place, number in parts]
    if all(new is part for new, (part, _, _) in zip(weakened, parts, strict=True)):
        return condition
    return Condition(ex.conjunction(weakened), condition.place)


def _weakened(part: Expr, place: Place, number: int, spots: Mapping[_Spot, Expr]) -> Expr:
    dropped = spots.get((place, Change.DROPPED, number), ex.FALSE)
    loosened = spots.get((place, Change.LOOSENED, number), ex.FALSE)
    if loosened is not ex.FALSE and part.op is Op.LESS:
        part = ex.choose(loosened, ex.at_most(part.args[0], part.args[1]), part)
    return ex.disjunction((dropped, part))


def _assigned(protocol: Protocol, update: Update, spots: Mapping[_Spot, Expr]) -> Update:
    if update.place is None:
        return replace(update, proved=False)
    forgotten = spots.get((update.place, Change.FORGOTTEN, 1), ex.FALSE)
    value = ex.choose(forgotten, protocol.cells[update.cell].read(), update.value)
    return replace(update, value=value, proved=False)
