"""How often each action of a protocol can be taken, and how often each condition of a guard decides that it cannot.

A *conjunct* is one condition of what an action requires, as it stands on a line of the source. It *decides alone* where
it is false and everything else that the step requires is true: only there does the conjunct keep the step from being
enabled. One that never decides alone could be left out, and the same steps would be enabled in the same states.

What is counted are pairs of a reachable state and a step. This file says what there is to count; the counting is done
by machine code, over all states.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from checker.mutants import Mutant, numbered_parts
from model.errors import Place
from model.language.expr import Expr
from model.language.protocol import Action, Protocol, Step
from model.language.show import show_expr


@dataclass(frozen=True, slots=True)
class Conjunct:
    """One condition that an action requires. `part` counts the conditions that stand on its line, from 1; `shown` is
    the condition in the first step that has it, and `is_one_of_several` says that it is not the only one there. There
    is no place for what was required by code without a file."""

    action: str
    place: Place | None
    part: int
    shown: str = field(default="", compare=False)
    is_one_of_several: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class ActionGuards:
    """What the steps of one action require: for each step its conditions, by the number of their conjunct."""

    action: Action
    conjuncts: tuple[Conjunct, ...]
    steps: tuple[dict[int, Expr], ...]


def guards_of(protocol: Protocol) -> tuple[ActionGuards, ...]:
    """What there is to count of a protocol, action by action. What the parameters of a step settle by themselves is
    not among it: the step does not ask."""
    return tuple(_guards_of(protocol, action) for action in protocol.actions)


def _guards_of(protocol: Protocol, action: Action) -> ActionGuards:
    numbers: dict[Conjunct, int] = {}
    steps: list[dict[int, Expr]] = []
    for step in protocol.steps:
        if step.action == action.name:
            parts = {_conjunct(protocol, step, key, expr): expr for key, expr in _parts(step).items()}
            steps.append({numbers.setdefault(conjunct, len(numbers)): expr for conjunct, expr in parts.items()})
    on_line = Counter(conjunct.place for conjunct in numbers)
    conjuncts = (replace(each, is_one_of_several=on_line[each.place] > 1) for each in numbers)
    return ActionGuards(action, tuple(conjuncts), tuple(steps))


_Key: TypeAlias = "tuple[Place | None, int]"


def _parts(step: Step) -> dict[_Key, Expr]:
    """The conditions of a guard, each once, by place and number on the line."""
    found: dict[_Key, Expr] = {
        (place, number): expr for _, parts in numbered_parts(step) for expr, place, number in parts
    }
    known = set(found.values())
    nowhere = dict.fromkeys(each.expr for each in step.guard if each.place is None and each.expr not in known)
    return {**found, **{(None, number): expr for number, expr in enumerate(nowhere, start=1)}}


def _conjunct(protocol: Protocol, step: Step, key: _Key, expr: Expr) -> Conjunct:
    return Conjunct(step.action, *key, show_expr(protocol, expr))


# What was counted


@dataclass(frozen=True, slots=True)
class ConjunctCount:
    """Pairs of a state and a step: in which the conjunct was asked, in which it was false, and in which it was false
    and nothing else was."""

    conjunct: Conjunct
    asked: int
    false: int
    alone: int


@dataclass(frozen=True, slots=True)
class ActionCount:
    """In how many states some step of the action is enabled, and how many steps can be taken in all states together;
    `steps` is how many the action has."""

    action: str
    place: Place | None
    steps: int
    enabled: int
    taken: int
    conjuncts: tuple[ConjunctCount, ...]


@dataclass(frozen=True, slots=True)
class Coverage:
    """`states` is how many states were counted over: every state of every orbit, where the search stored orbits. Unless
    it is `complete`, there may be further states."""

    states: int
    actions: tuple[ActionCount, ...]
    complete: bool

    @property
    def undecided(self) -> tuple[ConjunctCount, ...]:
        """The conjuncts that never decide anything, of actions with any step enabled; known only of all states.

        Where no step of an action is enabled, all the rest of its guard hangs on what keeps it so.
        """
        counts = (count for action in self.actions if action.taken for count in action.conjuncts)
        return tuple(count for count in counts if count.alone == 0) if self.complete else ()

    @property
    def never_enabled(self) -> tuple[str, ...]:
        """Actions with steps of which none is ever enabled; known only of all states."""
        return tuple(each.action for each in self.actions if each.steps and not each.taken and self.complete)


def counters_of(guards: Sequence[ActionGuards]) -> int:
    """How many numbers `coverage_of` wants."""
    return sum(2 + 2 * len(each.conjuncts) for each in guards)


def coverage_of(guards: Sequence[ActionGuards], counters: Sequence[int], states: int, complete: bool) -> Coverage:
    """Read the counters: of each action the states in which it is enabled and the steps that can be taken, then of each
    of its conjuncts how often it is false, and how often alone."""
    numbers = iter(counters)
    return Coverage(states, tuple(_action_count(each, numbers, states) for each in guards), complete)


def _action_count(guards: ActionGuards, numbers: Iterator[int], states: int) -> ActionCount:
    enabled, taken = next(numbers), next(numbers)
    asked = Counter(number for step in guards.steps for number in step)
    conjuncts = tuple(
        ConjunctCount(conjunct, states * asked[number], next(numbers), next(numbers))
        for number, conjunct in enumerate(guards.conjuncts)
    )
    action = guards.action
    return ActionCount(action.name, action.place, len(guards.steps), enabled, taken, conjuncts)


# Promises and mutations


@dataclass(frozen=True, slots=True)
class Threats:
    """For each invariant that holds a mutant that breaks it. `safe` are those that none of the `tried` mutants breaks,
    `unknown` those of which some search met a limit before it could tell."""

    threatened: Mapping[str, Mutant]
    safe: tuple[str, ...]
    unknown: tuple[str, ...]
    fallen: tuple[str, ...]
    tried: int
