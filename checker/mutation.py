"""Mutations of a model: each rule weakened alone, to see whether some spec notices.

A mutant changes one place of the source, in every step that comes from it:

- a requirement is dropped;
- a comparison is loosened: `<=` for `<`;
- an assignment is forgotten.

A spec *catches* a mutant if something it expects to hold is violated, or a witness is no longer reached, or an action
is never enabled, or a step leaves its domain. A mutant that no spec catches is either equivalent, as far as the
invariants go, or asks for a spec that nobody has written.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from checker.outcome import Outcome, Verdict
from checker.run import DEFAULTS, NOBODY, Options, Watch, check_protocol
from checker.spec import Spec
from model.errors import ModelFault, Place
from model.language import expr as ex
from model.language.expr import Expr, Op
from model.language.protocol import Condition, Protocol, Step


class Change(enum.Enum):
    """How a mutant differs from the model."""

    DROPPED = "requirement dropped"
    LOOSENED = "< becomes <="
    FORGOTTEN = "assignment forgotten"


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change at one place of one action. `ordinal` counts the conjuncts of a requirement on that line."""

    action: str
    place: Place
    change: Change
    ordinal: int = 0

    @property
    def text(self) -> str:
        return f"{self.action}, {self.change.value}: {self.place.source()}"


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a mutant: the spec that catches it and how, or neither."""

    mutant: Mutant
    spec: str | None
    how: str

    @property
    def survived(self) -> bool:
        return self.spec is None


def mutants_of(protocol: Protocol) -> tuple[Mutant, ...]:
    """Every mutant of a protocol, in the order of its steps and their lines."""
    found: dict[Mutant, None] = {}
    for step in protocol.steps:
        for mutant in _mutants_of_step(step):
            found.setdefault(mutant)
    return tuple(found)


def _mutants_of_step(step: Step) -> Iterator[Mutant]:
    for place, ordinal, part in _conjuncts(step):
        yield Mutant(step.action, place, Change.DROPPED, ordinal)
        if part.op is Op.LESS:
            yield Mutant(step.action, place, Change.LOOSENED, ordinal)
    for update in step.updates:
        if update.place is not None:
            yield Mutant(step.action, update.place, Change.FORGOTTEN)


def _conjuncts(step: Step) -> Iterator[tuple[Place, int, Expr]]:
    """The conjuncts of a guard, numbered among those that stand on the same line."""
    counts: dict[Place, int] = {}
    for condition in step.guard:
        if condition.place is not None:
            for part in _parts(condition.expr):
                ordinal = counts[condition.place] = counts.get(condition.place, -1) + 1
                yield condition.place, ordinal, part


def _parts(expr: Expr) -> tuple[Expr, ...]:
    return expr.args if expr.op is Op.AND else (expr,)


def mutated(protocol: Protocol, mutant: Mutant) -> Protocol:
    """The protocol with one mutant's change in every step of its action."""
    return replace(protocol, steps=tuple(_mutated_step(step, mutant) for step in protocol.steps))


def _mutated_step(step: Step, mutant: Mutant) -> Step:
    if step.action != mutant.action:
        return step
    if mutant.change is Change.FORGOTTEN:
        return replace(step, updates=tuple(update for update in step.updates if update.place != mutant.place))
    guard = tuple(
        Condition(weakened, place)
        for place, ordinal, part in _conjuncts(step)
        for weakened in [_weakened(part, mutant) if (place, ordinal) == (mutant.place, mutant.ordinal) else part]
        if weakened is not ex.TRUE
    )
    # Ranges were proved with the whole guard, so with less of it every assignment has to be checked again.
    return replace(step, guard=guard, updates=tuple(replace(update, proved=False) for update in step.updates))


def _weakened(part: Expr, mutant: Mutant) -> Expr:
    if mutant.change is Change.LOOSENED and part.op is Op.LESS:
        return ex.at_most(part.args[0], part.args[1])
    return ex.TRUE


def mutate(
    specs: Sequence[Spec], options: Options = DEFAULTS, watch: Watch = NOBODY, told: Callable[[Fate], None] = print
) -> tuple[Fate, ...]:
    """The fate of every mutant of every spec's protocol; equal mutants of several specs are one."""
    protocols = [(spec, spec.protocol()) for spec in specs]
    mutants = dict.fromkeys(mutant for _, protocol in protocols for mutant in mutants_of(protocol))
    fates = []
    for mutant in mutants:
        fates.append(_fate(mutant, protocols, options, watch))
        told(fates[-1])
    return tuple(fates)


def _fate(mutant: Mutant, protocols: Sequence[tuple[Spec, Protocol]], options: Options, watch: Watch) -> Fate:
    for spec, protocol in protocols:
        changed = mutated(protocol, mutant)
        if changed.steps != protocol.steps:
            how = _caught(spec, changed, options, watch)
            if how:
                return Fate(mutant, spec.name, how)
    return Fate(mutant, None, "survives")


def _caught(spec: Spec, protocol: Protocol, options: Options, watch: Watch) -> str:
    """How a spec notices that its protocol was changed; empty if it does not."""
    try:
        outcome = check_protocol(protocol, options, watch, spec.never_enabled)
    except ModelFault:
        return "a step leaves its domain"
    return _surprise(spec, outcome)


def _surprise(spec: Spec, outcome: Outcome) -> str:
    for found in outcome.invariants:
        expected = spec.expect.get(found.name)
        if found.verdict is Verdict.VIOLATED and (expected is None or expected.verdict is Verdict.HOLDS):
            return f"{found.name} falls in {found.steps} steps"
    if outcome.doubts and outcome.explored.complete:
        return outcome.doubts[0]
    return f"never enabled: {', '.join(outcome.never_enabled)}" if outcome.never_enabled else ""
