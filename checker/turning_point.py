"""The turning point of a counterexample: the step after which there was no way back.

Computed where it is cheap: a state has a way out if some continuation ends, or goes round in circles, without ever
violating the invariant. What cannot be computed is not claimed; then it is the last step that changed a value that the
failing part looks at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from checker.trace import Trace
from model.errors import ModelFault
from model.language.evaluate import evaluate, successors
from model.language.protocol import State
from model.language.show import show_state

#: How many states may be looked at, for all states of the trace together: nobody waits long for a story.
MOST_STATES: Final = 20_000


@dataclass(frozen=True, slots=True)
class TurningPoint:
    """`step` counts from 1; `is_computed` says whether it is known that the violation could be avoided until then, and
    no longer after it."""

    step: int
    is_computed: bool


def turning_point(trace: Trace, most_states: int = MOST_STATES) -> TurningPoint | None:
    """Where the trace turns; none if there is no step to name: it violates in the initial state or whatever is done,
    or nothing that the failing part looks at was ever changed."""
    if not trace.is_counterexample or not trace.steps:
        return None
    try:
        computed = _computed(trace, most_states)
    except (_TooMany, ModelFault):  # a fault off the trace is not what is asked about here
        changed = _last_change(trace)
        return TurningPoint(changed, False) if changed else None
    return TurningPoint(computed, True) if computed else None


class _TooMany(Exception):
    """More states than may be looked at."""


def _computed(trace: Trace, most_states: int) -> int:
    """The first step after which no way out is left, 0 if there never was one. From the back: what cannot be avoided
    after a step cannot be avoided after the next."""
    search = _Search(trace, most_states)
    for number in range(len(trace.steps) - 1, -1, -1):
        if search.has_way_out(trace.states[number]):
            return number + 1
    return 0


class _Search:
    """Depth-first, since most ways out are near. States found to be lost stay known from one question to the next."""

    def __init__(self, trace: Trace, most_states: int) -> None:
        self._protocol = trace.protocol
        self._invariant = trace.predicate.expr
        self._lost: set[State] = set()
        self._left = most_states

    def has_way_out(self, start: State) -> bool:
        """Whether some continuation of `start` never violates. Raises `_TooMany`."""
        if self._is_lost(start):
            return False
        path: list[tuple[State, Iterator[State]]] = [self._opened(start)]
        on_path = {start}
        while path:
            state, later = path[-1]
            after = next((each for each in later if not self._is_lost(each)), None)
            if after is None:
                self._lost.add(state)
                on_path.discard(state)
                path.pop()
            elif after in on_path or not self._can_go_on(after):
                return True
            else:
                on_path.add(after)
                path.append(self._opened(after))
        return False

    def _is_lost(self, state: State) -> bool:
        return state in self._lost or not evaluate(self._invariant, state)

    def _opened(self, state: State) -> tuple[State, Iterator[State]]:
        if not self._left:
            raise _TooMany
        self._left -= 1
        return state, self._later(state)

    def _can_go_on(self, state: State) -> bool:
        return next(self._later(state), None) is not None

    def _later(self, state: State) -> Iterator[State]:
        """The states one step on. A step that changes nothing leads nowhere, and so is no way out."""
        return (after for _, after in successors(self._protocol, state) if after != state)


def _last_change(trace: Trace) -> int:
    """The last step that changed a value the failing part looks at; 0 if none did."""
    paths = {reading.path for reading in trace.reason().readings}
    looks = [[value for path, value in show_state(trace.protocol, state) if path in paths] for state in trace.states]
    return max((number for number in range(1, len(looks)) if looks[number] != looks[number - 1]), default=0)
