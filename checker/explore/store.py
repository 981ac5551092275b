"""The visited store: every state that has been found, whole, and the step that led to it.

The search never looks inside; it asks for

    admit(states)              keep initial states
    advance(end)               expand stored states in order, up to an index, and keep the new successors
    grow(), growth             make room when `advance` says that it is crowded, and the bytes that takes
    len(), cursor, seen        states stored, the next one to expand, predicates that some state has met
    state(), origin(), …       what is stored

so this is where a store belongs that is partitioned by hash, spills to disk or writes checkpoints.

This one lives in memory. Three arrays hold one row a state: words, parent, step. Their addresses are reserved at the
start, as many as the machine could fill, and cost nothing until they are touched, so rows are only ever appended: no
copies, no peaks. The hash table alone is rebuilt, at a load of 3/4, into one of twice the size, and the old one gives
its memory back while it is being swept. So a state of two words takes 22 bytes of rows and 11 to 22 bytes of table.
"""

from __future__ import annotations

import contextlib
import enum
import mmap
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from checker.cache import NO_CACHE, Cache
from checker.explore import arrays
from checker.explore.arrays import Batch, Functions, Rows, Table, Tally, addresses
from checker.explore.search_loop import SearchLoop, search_loop

MOST_STATES: Final = 2**32 - 2
"""A slot has 32 bits for an index plus one, and a row has 32 bits for a parent, or for none."""

BATCH: Final = 256
"""Successors handled together: enough to hide the latency of memory, few enough to stay in the first-level cache."""

FIRST_SLOTS: Final = 2**14
SWEEP: Final = 2**19
"""Slots of an old table that are moved before their memory is given back."""

SLOTS_OF_A_LINE: Final = 8
HUGE_PAGE: Final = 2**21

_Scalar = TypeVar("_Scalar", bound=np.generic)


@dataclass(frozen=True, slots=True)
class NativeFunctions:
    """Addresses of a protocol's compiled functions, and what a caller must know to call them.

    `words`: 64-bit words of a packed state (at least 1). `steps`: how many there are, at most 65535, with ids from 0.
    `max_successors`: the most that `expand` writes. With u64 for uint64_t and so on, the functions are, in C,

        i64  expand(const u64 *state, u64 *successors, u16 *step_ids)   their number, or -(id + 1) of a faulty step
        u64  violated(const u64 *state)                                 one bit for each predicate that the state meets
        u64  violated_by_any(const u64 *states)                         the same of eight states together, in a row
        void canonical(const u64 *state, u64 *out)                      representative of the orbit; out may be state

    and address 0 means that there is no such function: nothing to look for, no symmetry.
    """

    words: int
    max_successors: int
    steps: int
    expand: int
    violated: int
    canonical: int
    violated_by_any: int = 0

    def __post_init__(self) -> None:
        if self.words < 1 or not 0 <= self.steps < 2**16:
            raise ValueError(f"need at least 1 word and at most 65535 steps, not {self.words} and {self.steps}")


class Pause(enum.Enum):
    """Why the store stopped advancing: there, out of table, out of rows, or at a state with a faulty step."""

    DONE = arrays.DONE
    CROWDED = arrays.CROWDED
    FULL = arrays.FULL
    FAULT = arrays.FAULT


class VisitedStore:
    """Distinct states by index, in the order in which breadth-first search finds them."""

    def __init__(
        self, functions: NativeFunctions, predicates: int, most_states: int = MOST_STATES, cache: Cache = NO_CACHE
    ) -> None:
        """Make an empty store for at most `most_states` states; MemoryError if not even one can be reserved."""
        self._cache = cache
        self._words = functions.words
        self._initial = functions.steps
        self._functions = _addresses_of(functions)
        self._rows = _reserve_rows(functions.words, min(most_states, MOST_STATES))
        self._batch_size = BATCH
        self._batch = _empty_batch(functions.words, BATCH + functions.max_successors)
        self._table, self._area = _empty_table(_slots_for(self._batch.longest))
        self._tally = _empty_tally(functions.steps, predicates)

    def compile(self) -> None:
        """Have the search loop compiled, or loaded, before anybody looks at the clock."""
        self._loop  # noqa: B018  # asking for it is enough

    def admit(self, states: Sequence[Sequence[int]]) -> Pause:
        """Keep initial states, or their representatives; equal ones once. FULL if one finds no row left, else DONE."""
        for first in range(0, len(states), self._batch_size):
            some = np.array(states[first : first + self._batch_size], np.uint64)
            self._batch.words[: some.size] = some.ravel()
            self._batch.steps[: len(some)] = self._initial
            while (pause := self._advance(len(some), 0)) is Pause.CROWDED:
                for _ in self.grow():
                    pass
            if pause is Pause.FULL:
                return pause
        return Pause.DONE

    def advance(self, end: int) -> Pause:
        """Expand states from the cursor on, up to and not including index `end`, and move the cursor along.

        After FAULT the cursor is at the faulty state. Its successors, and the new state that met FULL, are not counted.
        """
        return self._advance(0, end)

    def _advance(self, given: int, end: int) -> Pause:
        table, rows, tally = addresses(self._table), addresses(self._rows), addresses(self._tally)
        batch = addresses(self._batch)
        return Pause(self._loop.advance(self._functions, table, rows, batch, given, self._batch_size, tally, end))

    @cached_property
    def _loop(self) -> SearchLoop:
        return search_loop(self._words, self._cache)

    @property
    def growth(self) -> int:
        """Bytes by which `grow` makes the table larger."""
        return int(self._table.slots.nbytes)

    def grow(self) -> Iterator[None]:
        """Double the table, pausing now and then; OSError if the system refuses.

        Needs to be iterated to the end. Left halfway, the store can still be read, but not advanced.
        """
        old, old_area = self._table.slots, self._area
        table, self._area = _empty_table(2 * old.size)
        for first in range(0, old.size, SWEEP):
            end = min(first + SWEEP, old.size)
            self._loop.move(old.ctypes.data, first // SLOTS_OF_A_LINE, end // SLOTS_OF_A_LINE, addresses(table))
            _give_back(old_area, first * old.itemsize, SWEEP * old.itemsize)
            yield
        self._table = table

    def __len__(self) -> int:
        return int(self._tally.registers[arrays.COUNT])

    @property
    def capacity(self) -> int:
        """The most states that can be stored."""
        return len(self._rows.parents)

    @property
    def predicates(self) -> int:
        """How many predicates are looked for."""
        return len(self._tally.first)

    @property
    def cursor(self) -> int:
        """Index of the next state to expand."""
        return int(self._tally.registers[arrays.CURSOR])

    @property
    def seen(self) -> int:
        """Bit mask of the predicates that some state has met."""
        return (1 << self.predicates) - 1 & ~int(self._tally.registers[arrays.UNSEEN])

    @property
    def faulty_step(self) -> int:
        """After FAULT: the step that is enabled in the state at the cursor and leaves the domains."""
        return int(self._tally.registers[arrays.FAULTY])

    @property
    def steps_taken(self) -> NDArray[np.int64]:
        """How often each step was taken: successors generated by it, new or not."""
        return _frozen(self._tally.steps[: self._initial])

    def first(self, predicate: int) -> int | None:
        """Index of the first state that met a predicate, None if there is none."""
        return int(self._tally.first[predicate]) if self.seen >> predicate & 1 else None

    def state(self, index: int) -> tuple[int, ...]:
        """The words of a state."""
        return tuple(self.states[index].tolist())

    def origin(self, index: int) -> tuple[int, int] | None:
        """The index of the state that a state was first reached from, and the step; None for an initial state."""
        parent = int(self.parents[index])
        return None if parent == arrays.NO_PARENT else (parent, int(self.steps[index]))

    @property
    def states(self) -> NDArray[np.uint64]:
        """All states: one row a state, one column a word. Read-only, no copy."""
        return _frozen(self._rows.words[: len(self) * self._words].reshape(-1, self._words))

    @property
    def parents(self) -> NDArray[np.uint32]:
        """The state that each state was first reached from, 2**32 - 1 for an initial state. Read-only, no copy."""
        return _frozen(self._rows.parents[: len(self)])

    @property
    def steps(self) -> NDArray[np.uint16]:
        """The step by which each state was first reached, `NativeFunctions.steps` for an initial state. Read-only."""
        return _frozen(self._rows.steps[: len(self)])


def _addresses_of(functions: NativeFunctions) -> Functions:
    return Functions(
        functions.expand,
        functions.violated,
        functions.violated_by_any,
        functions.canonical,
        width=(0,) * functions.words,
    )


def _slots_for(states: int) -> int:
    """The smallest table for some more states than one batch."""
    return max(FIRST_SLOTS, 1 << (2 * states).bit_length())


def _empty_batch(words: int, length: int) -> Batch:
    recent = np.zeros(words << arrays.RECENT_BITS, np.uint64)
    recent[0] = 2**64 - 1  # as for zeros in the other places, a hash that does not belong there
    return Batch(
        steps=np.zeros(length, np.uint16),
        words=np.zeros(length * words, np.uint64),
        parents=np.zeros(length, np.uint32),
        places=np.zeros(length, np.uint64),
        hashes=np.zeros(length, np.uint64),
        lines=np.zeros(length, np.uint64),
        rows=np.zeros(length, np.uint64),
        tagged=np.zeros(length, np.uint64),
        fresh=np.zeros(length, np.uint64),
        recent=recent,
        longest=length,
    )


def _empty_tally(steps: int, predicates: int) -> Tally:
    registers = np.zeros(arrays.REGISTERS, np.uint64)
    registers[arrays.UNSEEN] = (1 << predicates) - 1
    # One more step than there are: the one that "leads" to the initial states.
    return Tally(np.zeros(steps + 1, np.int64), np.zeros(predicates, np.int64), registers)


def _empty_table(slots: int) -> tuple[Table, mmap.mmap]:
    area = _reserve(slots * 8)
    lines = slots // SLOTS_OF_A_LINE
    shift, last = 65 - lines.bit_length(), lines - 1
    return Table(np.frombuffer(area, np.uint64), shift, last, slots // 4 * 3), area


def _reserve_rows(words: int, most: int) -> Rows:
    """Reserve rows for as many states as there may be and the machine has memory for."""
    rows = max(1, min(most, _memory_of_machine() // (8 * words + 6)))
    while rows:
        try:
            return Rows(
                words=np.frombuffer(_reserve(rows * words * 8), np.uint64),
                parents=np.frombuffer(_reserve(rows * 4), np.uint32),
                steps=np.frombuffer(_reserve(rows * 2), np.uint16),
                most=rows,
            )
        except OSError:  # the process may not have that many addresses (ulimit -v)
            rows //= 2
    raise MemoryError


def _memory_of_machine() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _reserve(size: int) -> mmap.mmap:
    """Zeros at new addresses, which take memory page by page as they are touched."""
    area = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if size >= HUGE_PAGE and hasattr(mmap, "MADV_HUGEPAGE"):
        _advise(area, mmap.MADV_HUGEPAGE, 0, size)
    return area


def _give_back(area: mmap.mmap, start: int, size: int) -> None:
    """Let go of memory that will not be read again."""
    if hasattr(mmap, "MADV_DONTNEED"):
        _advise(area, mmap.MADV_DONTNEED, start, min(size, len(area) - start))


def _advise(area: mmap.mmap, advice: int, start: int, size: int) -> None:
    with contextlib.suppress(OSError):  # it is advice, and the system may not know it
        area.madvise(advice, start, size)


def _frozen(array: NDArray[_Scalar]) -> NDArray[_Scalar]:
    """A view that cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view
