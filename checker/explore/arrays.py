"""What the store and the kernels hand each other: arrays by address, registers, and reasons to stop."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np

NO_PARENT: Final = 2**32 - 1
"""The parent of an initial state."""

# Why `advance` returned.
DONE: Final = 0
CROWDED: Final = 1
FULL: Final = 2
FAULT: Final = 3

# Places in `Tally.registers`: states stored; the next row to expand; predicates not yet found; the faulty step.
COUNT: Final = 0
CURSOR: Final = 1
UNSEEN: Final = 2
FAULTY: Final = 3
REGISTERS: Final = 4

RECENT_BITS: Final = 12
"""The recent memory has 2**12 places: with two words a state it takes 64 KiB of the second-level cache."""


class Functions(NamedTuple):
    """Addresses of the native functions, and a tuple of as many zeros as a state has words.

    The length of a tuple is part of its type: each width gets kernels of its own, with the loops over words unrolled.
    """

    expand: int
    violated: int
    violated_by_any: int
    canonical: int
    width: tuple[int, ...]


# The arrays, as kernels take them: with addresses instead (see `addresses`).


class Rows(NamedTuple):
    """One row a state: its words (64 bits each), the row that it was reached from (32), the step (16). And how many."""

    words: Any
    parents: Any
    steps: Any
    most: Any


class Table(NamedTuple):
    """The slots (64 bits); by how much to shift a hash to get its home line; the last line; the most states."""

    slots: Any
    shift: Any
    last: Any
    most: Any


class Batch(NamedTuple):
    """Successors, by the step that led to them, and candidates: those that were not met a moment ago.

    Of each candidate: its words, its parent (32 bits), its place among the successors, its hash; the line at which
    looking it up goes on, the row to compare it with, and 1 if that row has its tag, else 0. `fresh` are the candidates
    that are not in that row. `recent` outlasts the batch; see `_met`. All have 64 bits, but for steps (16) and parents.
    `longest` is how many successors there may be.
    """

    steps: Any
    words: Any
    parents: Any
    places: Any
    hashes: Any
    lines: Any
    rows: Any
    tagged: Any
    fresh: Any
    recent: Any
    longest: int


class Tally(NamedTuple):
    """Successors counted by step, the first state of each predicate, and the registers; 64 bits each.

    The registers are an array, not results, so that a Ctrl-C finds them up to date wherever it strikes.
    """

    steps: Any
    first: Any
    registers: Any


Arrays = TypeVar("Arrays", Rows, Table, Batch, Tally)


def addresses(arrays: Arrays) -> Arrays:
    """The same with addresses instead of arrays, as kernels take it; the arrays must outlive the call."""
    fields = (each.ctypes.data if isinstance(each, np.ndarray) else each for each in arrays)
    return type(arrays)(*fields)


def leaves(arguments: Iterable[Any]) -> Iterator[int]:
    """Arguments one by one, those in tuples too."""
    for each in arguments:
        if isinstance(each, tuple):
            yield from leaves(each)
        else:
            yield int(each)
