"""Counting over everything that a search has stored, by a protocol's compiled functions.

Where a search has stored orbits, every state of every orbit is counted, and once: what is proved harmless is to permute
the members, and nothing is said of the single conditions of a guard, which only together need to mean the same. The
states of an orbit are the images of the stored one under the whole group, and each of them comes up as often as there
are permutations that leave the stored state as it is. So states are sorted by that number, and what is counted over all
images is divided by it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from checker.compile.native_coverage import NativeCoverage
from checker.compile.native_predicates import LANES

CHUNK: Final = 4_096
"""States at a time: a moment's work, even with all their images."""

_States: TypeAlias = NDArray[np.uint64]

_COUNT: Final = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p)
_SWAP: Final = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint64)


class Cover:
    """Counters under way; each is right at any time for the states that were counted so far."""

    def __init__(self, native: NativeCoverage, counters: int) -> None:
        self._native = native
        self._length = counters
        self._count: Callable[..., Any] = _COUNT(native.count)
        self._swaps = [[_SWAP(address) for address in part] for part in native.swaps]
        self._by_repetition: dict[int, _States] = {}
        self._images: dict[int, int] = {}

    def add(self, states: _States) -> Iterator[None]:
        """Count over these stored states, pausing now and then."""
        for first in range(0, len(states), CHUNK):
            self._add(states[first : first + CHUNK])
            yield

    @property
    def states(self) -> int:
        """How many states were counted over: those of all orbits."""
        return sum(images // repetition for repetition, images in self._images.items())

    @property
    def counters(self) -> list[int]:
        """What was counted over them."""
        sums = [0] * self._length
        for repetition, found in self._by_repetition.items():
            for number, value in enumerate(found.tolist()):
                whole, rest = divmod(value, repetition)
                assert rest == 0, "the images of an orbit do not come up equally often"
                sums[number] += whole
        return sums

    def _add(self, states: _States) -> None:
        images = self._all_images(states)
        repetitions = sum((image == images[0]).all(axis=1).astype(np.int64) for image in images)
        for repetition in np.unique(repetitions).tolist():
            counters = self._by_repetition.setdefault(repetition, np.zeros(self._length, np.uint64))
            for image in images:
                self._add_to(counters, image[repetitions == repetition])
            chosen = int((repetitions == repetition).sum())
            self._images[repetition] = self._images.get(repetition, 0) + chosen * len(images)

    def _add_to(self, counters: _States, states: _States) -> None:
        length = len(states)
        whole = np.zeros((-(-length // LANES) * LANES, self._native.words), np.uint64)
        whole[:length] = states
        self._count(whole.ctypes.data, length, counters.ctypes.data)

    def _all_images(self, states: _States) -> list[_States]:
        """The states under each permutation of the group, beginning with the one that changes nothing."""
        images = [np.array(states)]
        for swaps in self._swaps:
            for last in range(len(swaps)):
                images += [image for layer in self._layers(images, swaps[: last + 1]) for image in layer]
        return images

    def _layers(self, images: list[_States], swaps: Sequence[Callable[..., Any]]) -> Iterator[list[_States]]:
        """From the arrangements of some first members to those of one more: that one stays where it is, which gives
        nothing new, or it moves on to each place below, one swap after the other."""
        for swap in reversed(swaps):
            images = [self._swapped(image, swap) for image in images]
            yield images

    def _swapped(self, states: _States, swap: Callable[..., Any]) -> _States:
        after = states.copy()
        swap(after.ctypes.data, len(after))
        return after
