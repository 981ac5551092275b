"""Small systems with known numbers as C functions, such as protocols are compiled to, and a plain search over them.

The plain search calls the same functions, one state at a time: what differs from it is the fast search's fault.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import Any

import numba
import numpy as np

from checker.cache import user_cache
from checker.explore.breadth_first import Exploration, NativeFunctions, Sighting, explore

# Signed words, where the numbers are small: numba makes a float of an unsigned number plus a literal one.
EXPAND = "int64(CPointer(int64), CPointer(int64), CPointer(uint16))"
EXPAND_UNSIGNED = "int64(CPointer(uint64), CPointer(uint64), CPointer(uint16))"
VIOLATED = "uint64(CPointer(int64))"
CANONICAL = "void(CPointer(int64), CPointer(int64))"

_CALL_EXPAND = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_CALL_VIOLATED = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)
_CALL_CANONICAL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)

State = tuple[int, ...]


@dataclass(frozen=True)
class System:
    """Functions of C, kept alive here, and what goes with them."""

    words: int
    steps: int
    expand: Any
    violated: Any = None
    canonical: Any = None
    predicates: int = 0
    initial: tuple[State, ...] = ((0,),)

    @property
    def functions(self) -> NativeFunctions:
        addresses = [each.address if each else 0 for each in (self.expand, self.violated, self.canonical)]
        return NativeFunctions(self.words, self.steps, self.steps, *addresses)

    def explored(self, **options: Any) -> Exploration:
        return explore(self.functions, self.initial, predicates=self.predicates, cache=user_cache(), **options)

    def successors(self, state: State) -> list[tuple[int, State]]:
        """Each step with its successor."""
        successors, steps = (ctypes.c_uint64 * (self.words * self.steps))(), (ctypes.c_uint16 * self.steps)()
        count = _CALL_EXPAND(self.expand.address)(self._packed(state), successors, steps)
        return [(steps[i], tuple(successors[i * self.words : (i + 1) * self.words])) for i in range(count)]

    def mask(self, state: State) -> int:
        """The predicates that a state meets."""
        return int(_CALL_VIOLATED(self.violated.address)(self._packed(state))) if self.violated else 0

    def representative(self, state: State) -> State:
        """What is stored for a state."""
        packed = self._packed(state)
        if self.canonical:
            _CALL_CANONICAL(self.canonical.address)(packed, packed)
        return tuple(packed)

    def _packed(self, state: State) -> Any:
        return (ctypes.c_uint64 * self.words)(*state)


@dataclass
class PlainSearch:
    """What a plain breadth-first search finds, in its order; at most `most` states."""

    system: System
    most: int | None = None
    states: list[State] = field(default_factory=list)
    origins: list[tuple[int, int] | None] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)
    steps_taken: list[int] = field(default_factory=list)
    first: list[Sighting | None] = field(default_factory=list)
    complete: bool = True

    def __post_init__(self) -> None:
        self._index: dict[State, int] = {}
        self.steps_taken = [0] * self.system.steps
        self.first = [None] * self.system.predicates
        self.complete = self._search()

    def _search(self) -> bool:
        if not all(self._keep(state, None, 1) for state in self.system.initial):
            return False
        for index, state in enumerate(self.states):  # grows meanwhile
            for step, successor in self.system.successors(state):
                if not self._keep(successor, (index, step), self.depths[index] + 1):
                    return False
                self.steps_taken[step] += 1
        return True

    def _keep(self, found: State, origin: tuple[int, int] | None, depth: int) -> bool:
        state, index = self.system.representative(found), len(self.states)
        if state in self._index:
            return True
        if index == self.most:
            return False
        self._index[state] = index
        self.states.append(state)
        self.origins.append(origin)
        self.depths.append(depth)
        met = self.system.mask(state)
        for bit in range(self.system.predicates):
            if met >> bit & 1 and self.first[bit] is None:
                self.first[bit] = Sighting(index, depth)
        return True

    @property
    def level_sizes(self) -> list[int]:
        return [self.depths.count(depth) for depth in range(1, max(self.depths, default=0) + 1)]


def counters(words: int, limit: int) -> System:
    """A counter in each word, from 0 to `limit`; step i adds one to counter i. Predicate i: their sum is 3 * i."""

    @numba.cfunc(EXPAND)
    def expand(state: Any, successors: Any, steps: Any) -> int:
        count = 0
        for step in range(words):
            if state[step] < limit:
                for word in range(words):
                    successors[count * words + word] = state[word]
                successors[count * words + step] += 1
                steps[count] = step
                count += 1
        return count

    @numba.cfunc(VIOLATED)
    def violated(state: Any) -> int:
        total = 0
        for word in range(words):
            total += state[word]
        return 1 << (total // 3) if total % 3 == 0 and total < 3 * 64 else 0

    return System(words, words, expand, violated, predicates=64, initial=((0,) * words,))


def pancakes(size: int, words: int) -> System:
    """A stack of pancakes; step i turns the upper i + 2 of them over. Predicate 0: the stack is upside down."""
    share = -(-size // words)

    @numba.cfunc(EXPAND)
    def expand(state: Any, successors: Any, steps: Any) -> int:
        for step in range(size - 1):
            for word in range(words):
                successors[step * words + word] = 0
            for place in range(size):
                source = step + 1 - place if place < step + 2 else place
                pancake = state[source // share] >> (4 * (source % share)) & 15
                successors[step * words + place // share] |= pancake << (4 * (place % share))
            steps[step] = step
        return size - 1

    def packed(order: range) -> State:
        parts = [order[first : first + share] for first in range(0, size, share)]
        return tuple(sum(pancake << 4 * place for place, pancake in enumerate(part)) for part in parts)

    last = np.array(packed(range(size - 1, -1, -1)), np.int64)

    @numba.cfunc(VIOLATED)
    def violated(state: Any) -> int:
        for word in range(words):
            if state[word] != last[word]:
                return 0
        return 1

    return System(words, size - 1, expand, violated, predicates=1, initial=(packed(range(size)),))


def necklaces(beads: int) -> System:
    """Black beads are put on a ring of white ones; step i puts one at place i. Rotations make no difference.

    Predicate 0: all beads are black. Predicate 1: the first bead of the representative is white and the last one black.
    """
    whole = 2**beads - 1

    @numba.cfunc(EXPAND)
    def expand(state: Any, successors: Any, steps: Any) -> int:
        count = 0
        for step in range(beads):
            if not state[0] >> step & 1:
                successors[count] = state[0] | 1 << step
                steps[count] = step
                count += 1
        return count

    @numba.cfunc(CANONICAL)
    def canonical(state: Any, representative: Any) -> None:
        rotated, least = state[0], state[0]
        for _ in range(beads):
            rotated = (rotated << 1 & whole) | rotated >> (beads - 1)
            least = min(least, rotated)
        representative[0] = least

    @numba.cfunc(VIOLATED)
    def violated(state: Any) -> int:
        return (1 if state[0] == whole else 0) | (2 if not state[0] & 1 and state[0] >> (beads - 1) else 0)

    return System(1, beads, expand, violated, canonical, predicates=2, initial=((1 << beads // 2,),))


def scattered(words: int, nodes: int) -> System:
    """A random graph; each bit of each word of a state may be set. Predicate i: bit i + 50 of the last word is set."""
    spread, back = np.uint64(0x9E3779B97F4A7C15), np.uint64(pow(0x9E3779B97F4A7C15, -1, 2**64))
    stir, half, size, one = np.uint64(0xD6E8FEB86659FD93), np.uint64(32), np.uint64(nodes), np.uint64(1)

    @numba.cfunc(EXPAND_UNSIGNED)
    def expand(state: Any, successors: Any, steps: Any) -> int:
        mixed, count = state[0] * back, 0
        for step in range(8):
            mixed = (mixed + one) * stir
            mixed ^= mixed >> half
            if mixed & np.uint64(7) < np.uint64(3):
                word = (mixed >> np.uint64(20)) % size * spread
                for place in range(words):
                    successors[count * words + place] = word
                    word = (word ^ word >> half) * stir
                steps[count] = step
                count += 1
        return count

    @numba.cfunc("uint64(CPointer(uint64))")
    def violated(state: Any) -> Any:
        return state[words - 1] >> np.uint64(50)

    return System(words, 8, expand, violated, predicates=14, initial=((0,) * words,))


def endless(words: int = 2) -> System:
    """A tree without end: from n to 2n + 1 and to 2n + 2."""

    @numba.cfunc(EXPAND)
    def expand(state: Any, successors: Any, steps: Any) -> int:
        for step in range(2):
            for word in range(words):
                successors[step * words + word] = (2 * state[0] + 1 + step) << word
            steps[step] = step
        return 2

    return System(words, 2, expand, initial=((0,) * words,))


def faulty(limit: int) -> System:
    """A counter; step 0 adds one, step 1 adds two, and getting above `limit` is a fault. Predicate 0: it is 10."""

    @numba.cfunc(EXPAND)
    def expand(state: Any, successors: Any, steps: Any) -> int:
        if state[0] + 2 > limit:
            return -2
        for step in range(2):
            successors[step] = state[0] + step + 1
            steps[step] = step
        return 2

    @numba.cfunc(VIOLATED)
    def violated(state: Any) -> int:
        return 1 if state[0] == 10 else 0

    return System(1, 2, expand, violated, predicates=1)


def still(words: int = 1) -> System:
    """Nothing happens."""

    @numba.cfunc(EXPAND)
    def expand(state: Any, successors: Any, steps: Any) -> int:  # noqa: ARG001 - the functions of C have these arguments
        return 0

    return System(words, 0, expand, initial=((0,) * words,))
