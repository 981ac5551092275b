"""Compiled functions as Python functions of states: for looking at single states, not for searching."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

from checker.compile.native import NativeProtocol
from checker.compile.packing import Words

_EXPAND = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_VIOLATED = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)
_CANONICAL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


def representative_of(native: NativeProtocol) -> Callable[[Words], Words]:
    """The function that turns a packed state into the one that the search stores for its orbit."""
    if not native.canonical:
        return lambda state: state
    canonical, words = _CANONICAL(native.canonical), ctypes.c_uint64 * native.words

    def representative(state: Words) -> Words:
        packed = words(*state)
        canonical(packed, packed)
        assert native.loaded is not None  # keeps the code alive as long as this function
        return tuple(packed)

    return representative


def successors_of(native: NativeProtocol) -> Callable[[Words], list[Words]]:
    """The function that gives a packed state's successors, one for each enabled step, and not their representatives.
    It is for states that a search has expanded already: a step at fault gives none."""
    expand, words, room = _EXPAND(native.expand), native.words, native.max_successors
    packed, after, steps = ctypes.c_uint64 * words, (ctypes.c_uint64 * (words * room))(), (ctypes.c_uint16 * room)()

    def successors(state: Words) -> list[Words]:
        count = expand(packed(*state), after, steps)
        assert native.loaded is not None  # keeps the code alive as long as this function
        return [tuple(after[first : first + words]) for first in range(0, count * words, words)]

    return successors


def mask_of(native: NativeProtocol) -> Callable[[Words], int]:
    """The function that gives the predicates which a packed state meets, one bit each."""
    violated, words = _VIOLATED(native.violated), ctypes.c_uint64 * native.words

    def mask(state: Words) -> int:
        assert native.loaded is not None  # keeps the code alive as long as this function
        return int(violated(words(*state)))

    return mask
