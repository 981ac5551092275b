"""Compiled functions as Python functions of states: for looking at single states, not for searching."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

from checker.compile.native import NativeProtocol
from checker.compile.packing import Words

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
