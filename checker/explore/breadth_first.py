"""Breadth-first search over compiled functions: every reachable state, level by level.

The initial states are level 1; the new successors of a level are the next one. A state is stored the first time it is
generated, so its path back to an initial state is a shortest one, and the first state to meet a predicate is as near as
any. The order is fixed: states in the order in which they were found, and the steps of each in the order in which the
compiled code tries them. What is found, and where, does not depend on the clock, on the size of slices and batches, or
on memory.

The search runs in slices of some 50 ms and looks up in between: at the clock, at the memory, at whoever wants to know
how far it is, and at the keyboard (Python sees a Ctrl-C only when compiled code returns).
"""

from __future__ import annotations

import enum
import resource
import sys
import time
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Final

from checker.cache import NO_CACHE, Cache
from checker.explore.store import MOST_STATES, NativeFunctions, Pause, VisitedStore

__all__ = ["Exploration", "Fault", "Limits", "NativeFunctions", "Progress", "Sighting", "Stopped", "explore"]

SLICE_SECONDS: Final = 0.05
FIRST_SLICE: Final = 1024
PROGRESS_SECONDS: Final = 0.1
MEMORY_OF_A_SLICE: Final = 16 * 2**20
"""Bytes by which a slice may well add to the resident memory."""


class Stopped(enum.Enum):
    """Why a search ended before everything was explored."""

    MAX_STATES = "max-states"
    TIME_LIMIT = "time-limit"
    MEMORY_LIMIT = "memory-limit"
    INTERRUPTED = "interrupted"
    FAIL_FAST = "fail-fast"
    FAULT = "fault"


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a search may go: states stored (at least 1), seconds, bytes of resident memory; None for no limit."""

    max_states: int | None = None
    time_limit: float | None = None
    memory_limit: int | None = None


NO_LIMITS: Final = Limits()


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a search is: level being expanded, states of it yet to expand, new states a second since last time."""

    level: int
    distinct: int
    generated: int
    frontier: int
    rate: float
    resident: int
    elapsed: float


@dataclass(frozen=True, slots=True)
class Sighting:
    """The first state that met a predicate: its index, and its depth (1 for an initial state)."""

    index: int
    depth: int


@dataclass(frozen=True, slots=True)
class Fault:
    """A step that is enabled in a state and assigns a value outside its domain."""

    index: int
    step: int


@dataclass(frozen=True, slots=True)
class Exploration:
    """What a search found.

    `level_sizes`: new states of each level; if the search was stopped, the last one may be unfinished. `steps_taken`:
    how many successors each step generated, new or not. `first`: for each predicate where it was met first, None if
    nowhere. `seconds`: the search alone, without compiling. Under symmetry a state is the representative of its orbit.
    """

    level_sizes: tuple[int, ...]
    steps_taken: tuple[int, ...]
    first: tuple[Sighting | None, ...]
    stopped: Stopped | None
    fault: Fault | None
    seconds: float
    store: VisitedStore = field(repr=False)

    @property
    def complete(self) -> bool:
        """Whether every reachable state was found and expanded."""
        return self.stopped is None

    @property
    def distinct(self) -> int:
        """Number of states found."""
        return sum(self.level_sizes)

    @property
    def generated(self) -> int:
        """Number of successors, new or not; the initial states do not count."""
        return sum(self.steps_taken)

    @property
    def depth(self) -> int:
        """Number of levels; an initial state alone has depth 1."""
        return len(self.level_sizes)

    def path(self, index: int) -> list[tuple[tuple[int, ...], int | None]]:
        """A shortest way from an initial state to a state: each state with the step that led to it, None at first."""
        states: list[tuple[tuple[int, ...], int | None]] = []
        while (origin := self.store.origin(index)) is not None:
            states.append((self.store.state(index), origin[1]))
            index = origin[0]
        states.append((self.store.state(index), None))
        return states[::-1]


def explore(
    functions: NativeFunctions,
    initial_states: Sequence[Sequence[int]],
    *,
    predicates: int = 0,
    stop_mask: int = 0,
    limits: Limits = NO_LIMITS,
    progress: Callable[[Progress], None] | None = None,
    interrupted: Callable[[], bool] | None = None,
    cache: Cache = NO_CACHE,
) -> Exploration:
    """Find every state that can be reached from packed initial states, unless something ends the search before.

    `predicates` (0 to 64) is how many bits of `violated` count. Once a predicate of the bit mask `stop_mask` is met,
    the search ends with the level that is being generated. `progress` is called at most ten times a second,
    `interrupted` before each slice; a Ctrl-C ends the search just as a true answer of the latter does, and loses
    nothing. The search loop is taken from the cache, or compiled and kept there. ValueError if `max_states` or the
    number of predicates is out of range.
    """
    most_states = MOST_STATES if limits.max_states is None else limits.max_states
    if most_states < 1:
        raise ValueError(f"max_states must be at least 1, not {most_states}")
    if not 0 <= predicates <= 64 or stop_mask >> predicates:
        raise ValueError(f"stop_mask {stop_mask:#x} does not fit {predicates} predicates, of which there may be 64")
    store = VisitedStore(functions, predicates, most_states, cache)
    search = _Search(store, limits, stop_mask, _Watch(store, progress), interrupted or (lambda: False))
    return search.run(initial_states)


class _Watch:
    """The clock of a search, and its reports."""

    def __init__(self, store: VisitedStore, progress: Callable[[Progress], None] | None) -> None:
        self._store = store
        self._progress = progress
        self.start()

    def start(self) -> None:
        self._started = time.perf_counter()
        self._last, self._distinct = 0.0, 0

    @property
    def elapsed(self) -> float:
        """Seconds since the search began."""
        return time.perf_counter() - self._started

    def report(self, level: int, frontier: int) -> None:
        """Say how far the search is, if somebody listens and it is time."""
        elapsed, distinct = self.elapsed, len(self._store)
        if self._progress is None or elapsed - self._last < PROGRESS_SECONDS:
            return
        rate = (distinct - self._distinct) / (elapsed - self._last)
        self._last, self._distinct = elapsed, distinct
        generated = int(self._store.steps_taken.sum())
        self._progress(Progress(level, distinct, generated, frontier, rate, resident_memory(), elapsed))


class _Search:
    """A search under way."""

    def __init__(
        self,
        store: VisitedStore,
        limits: Limits,
        stop_mask: int,
        watch: _Watch,
        interrupted: Callable[[], bool],
    ) -> None:
        self._store = store
        self._limits = limits
        self._stop_mask = stop_mask
        self._watch = watch
        self._interrupted = interrupted
        self._slice = FIRST_SLICE
        # Where each level starts among the states. The last entry is the level being generated.
        self._levels = [0]

    def run(self, initial_states: Sequence[Sequence[int]]) -> Exploration:
        """Search to the end, whichever it is."""
        try:
            self._store.compile()
            self._watch.start()
            stopped = self._search(initial_states)
        except KeyboardInterrupt:
            stopped = Stopped.INTERRUPTED
        return self._exploration(stopped)

    def _search(self, initial_states: Sequence[Sequence[int]]) -> Stopped | None:
        if self._store.admit(initial_states) is Pause.FULL:
            return self._out_of_rows()
        while self._store.cursor < len(self._store):
            stopped = Stopped.FAIL_FAST if self._store.seen & self._stop_mask else self._expand_level()
            if stopped is not None:
                return stopped
        return None

    def _expand_level(self) -> Stopped | None:
        end = len(self._store)
        self._levels.append(end)
        while self._store.cursor < end:
            stopped = self._ended() or self._expand_slice(end)
            if stopped is not None:
                return stopped
            self._watch.report(len(self._levels) - 1, end - self._store.cursor)
        return None

    def _ended(self) -> Stopped | None:
        """Whether somebody or a limit ends the search here."""
        if self._interrupted():
            return Stopped.INTERRUPTED
        if self._limits.time_limit is not None and self._watch.elapsed >= self._limits.time_limit:
            return Stopped.TIME_LIMIT
        return self._out_of_memory(MEMORY_OF_A_SLICE)

    def _out_of_memory(self, wanted: int) -> Stopped | None:
        limit = self._limits.memory_limit
        return Stopped.MEMORY_LIMIT if limit is not None and resident_memory() + wanted > limit else None

    def _out_of_rows(self) -> Stopped:
        """The store is full: by the user's limit or its own, or because the machine's memory allows no more rows."""
        most = MOST_STATES if self._limits.max_states is None else min(self._limits.max_states, MOST_STATES)
        return Stopped.MAX_STATES if len(self._store) == most else Stopped.MEMORY_LIMIT

    def _expand_slice(self, end: int) -> Stopped | None:
        first, started = self._store.cursor, time.perf_counter()
        pause = self._store.advance(min(end, first + self._slice))
        self._set_pace(self._store.cursor - first, time.perf_counter() - started)
        match pause:
            case Pause.CROWDED:
                return self._grow()
            case Pause.FULL:
                return self._out_of_rows()
            case Pause.FAULT:
                return Stopped.FAULT
            case Pause.DONE:
                return None

    def _set_pace(self, expanded: int, seconds: float) -> None:
        """Choose how many states make a slice, careful when it gets longer: one measurement may mislead."""
        if expanded:
            self._slice = max(1, min(2 * self._slice, int(expanded * SLICE_SECONDS / max(seconds, 1e-9))))

    def _grow(self) -> Stopped | None:
        if stopped := self._out_of_memory(self._store.growth + MEMORY_OF_A_SLICE):
            return stopped
        try:
            for _ in self._store.grow():
                if stopped := self._ended():
                    return stopped
        except (MemoryError, OSError):
            return Stopped.MEMORY_LIMIT
        return None

    def _exploration(self, stopped: Stopped | None) -> Exploration:
        store = self._store
        starts = pairwise([*self._levels, len(store)])
        return Exploration(
            level_sizes=tuple(after - start for start, after in starts if after > start),
            steps_taken=tuple(store.steps_taken.tolist()),
            first=tuple(self._sighting(store.first(predicate)) for predicate in range(store.predicates)),
            stopped=stopped,
            fault=Fault(store.cursor, store.faulty_step) if stopped is Stopped.FAULT else None,
            seconds=self._watch.elapsed,
            store=store,
        )

    def _sighting(self, index: int | None) -> Sighting | None:
        return None if index is None else Sighting(index, bisect_right(self._levels, index))


def resident_memory() -> int:
    """Bytes of memory that this process has in use; at its peak, where the system does not tell for now."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * resource.getpagesize()
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
