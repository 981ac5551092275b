"""The visited store: every state found so far, whole, with the step that led to it.

The search asks a store for six things and never looks inside:

    admit(states)      keep initial states
    advance(end)       expand stored states, in order, up to an index, and keep what is new
    grow()             make room, when `advance` says that it is crowded
    growth             bytes that the next `grow` will take
    len(store)         number of distinct states
    state, origin      the words of a state, and how it was first reached

That is the place to put a store that is partitioned by hash, spills to disk or writes checkpoints.

This one keeps everything in memory. Three arrays hold one row a state (words, parent, step). Their address space is
reserved at once, as much as could ever fit the machine, and costs nothing until it is touched: growing is just going on,
no copying, no spike. Only the hash table is ever rebuilt, at a load of 3/4 into one of twice the size; the old table's
memory is given back while it is being swept. So with two words a state takes 22 bytes, and 11 to 22 bytes of table.
"""

from __future__ import annotations

import enum
import mmap
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from checker.explore import kernels

Words: TypeAlias = tuple[int, ...]
"""A packed state: its 64-bit words."""

MOST_STATES: Final = 3 * 2**30
"""A slot has 32 bits for an index and no more than 32 for the home slot, and a quarter of the slots stays empty."""

BATCH: Final = 192
"""Successors that are looked up together: enough to hide the latency of memory, few enough to stay in the first cache."""

FIRST_SLOTS: Final = 2**14
SWEEP: Final = 2**19


@dataclass(frozen=True, slots=True)
class NativeFunctions:
    """Addresses of the compiled functions of a protocol, and the sizes that calling them takes.

    `words` is the number of 64-bit words of a packed state, `steps` the number of steps (at most 65535), and
    `max_successors` the most successors that `expand` writes. In C, with `u64` for `uint64_t`, the functions are

        i64  expand(u64 const *state, u64 *successors, u16 *step_ids)    count, or -(step + 1) for a fault of the model
        u64  violated(u64 const *state)                                  a bit for each predicate that was found
        void canonical(u64 const *state, u64 *out)                       representative of the orbit; may work in place

    Address 0 stands for a function that is absent: no predicates, no symmetry.
    """

    words: int
    max_successors: int
    steps: int
    expand: int
    violated: int
    canonical: int


class Pause(enum.Enum):
    """Why a store stopped advancing."""

    DONE = kernels.DONE
    CROWDED = kernels.CROWDED
    FULL = kernels.FULL
    FAULT = kernels.FAULT


class VisitedStore:
    """States in the order in which they were found; the index of a state is its place in that order."""

    def __init__(self, functions: NativeFunctions, predicates: int, most_states: int = MOST_STATES) -> None:
        """Make an empty store that never keeps more than `most_states` states."""
        width = (0,) * functions.words
        self._functions = kernels.Functions(functions.expand, functions.violated, functions.canonical, width)
        self._rows = _reserve_rows(functions.words, min(most_states, MOST_STATES))
        self._batch_size = BATCH
        self._batch = _batch(functions.words, BATCH + functions.max_successors)
        self._table = _table(_slots_for(self._batch.parents.size))
        self._root = functions.steps
        self._tally = kernels.Tally(
            steps=np.zeros(functions.steps + 1, np.int64),
            first=np.zeros(predicates, np.int64),
            registers=np.zeros(kernels.REGISTERS, np.uint64),
        )

    def admit(self, states: Sequence[Sequence[int]]) -> Pause:
        """Keep initial states, or their representatives; equal ones once. `FULL` if not all could be kept."""
        for start in range(0, len(states), self._batch_size):
            some = states[start : start + self._batch_size]
            if self._crowded():
                self.grow()
            self._batch.words[: len(some) * self._width] = np.array(some, np.uint64).ravel()
            self._batch.parents[: len(some)] = kernels.NO_PARENT
            self._batch.steps[: len(some)] = self._root
            if not kernels.keep_new(self._functions, self._table, self._rows, self._batch, len(some), self._tally):
                return Pause.FULL
        return Pause.DONE

    def advance(self, end: int) -> Pause:
        """Expand states from the cursor on, up to and not including index `end`; the cursor follows."""
        arguments = (self._functions, self._table, self._rows, self._batch, self._batch_size, self._tally, end)
        return Pause(kernels.advance(*arguments))

    def grow(self) -> None:
        """Double the table; MemoryError or OSError if the system has no memory for it."""
        old, area = self._table.slots, self._area
        ...
