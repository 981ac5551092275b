"""Compiled functions as Python functions of states: for looking at single states, not for searching."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

from checker.compile.native import NativeProtocol
from checker.compile.packing import Packing
from model.language.protocol import State

_CANONICAL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


def representative_of(native: NativeProtocol, packing: Packing) -> Callable[[State], State]:
    """The function that turns a state into the one that the search stores for its orbit."""
    if not native.canonical:
        return lambda state: state
    canonical = _CANONICAL(native.canonical)

    def representative(state: State) -> State:
        words = (ctypes.c_uint64 * packing.words)(*packing.pack(state))
        canonical(words, words)
        assert native.loaded is not None  # keeps the code alive as long as this function
        return packing.unpack(tuple(words))

    return representative
