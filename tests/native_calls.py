"""Machine code called from Python, one state at a time, in terms of unpacked states."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from checker.cache import NO_CACHE
from checker.compile.native import NativeProtocol, compile_native
from checker.compile.packing import Packing
from checker.prove.certificate import Group
from model.language.protocol import Protocol, State

_EXPAND = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_VIOLATED = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)
_CANONICAL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
_GUARD = 0xA5A5_5A5A_C3C3_3C3C


@dataclass(frozen=True)
class Calls:
    """The functions of one protocol."""

    protocol: Protocol
    group: Group | None = None
    packing: Packing = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "packing", Packing(self.protocol))

    @cached_property
    def native(self) -> NativeProtocol:
        return compile_native(self.protocol, self.packing, self.group, NO_CACHE)

    def expand(self, state: State) -> list[tuple[int, State]] | int:
        """Step numbers with successors in the order given, or the number of the step that is at fault."""
        words, room = self.native.words, self.native.max_successors
        successors, steps = _words([0] * words * room + [_GUARD]), (ctypes.c_uint16 * (room + 1))()
        steps[room] = 0xBEEF
        before = self._packed(state)
        count = _EXPAND(self.native.expand)(before, successors, steps)
        assert (successors[words * room], steps[room], list(before)) == (_GUARD, 0xBEEF, list(self._packed(state)))
        if count < 0:
            return -int(count) - 1
        found = (successors[number * words : (number + 1) * words] for number in range(count))
        return [(steps[number], self.packing.unpack(each)) for number, each in enumerate(found)]

    def violated(self, state: State) -> int:
        return int(_VIOLATED(self.native.violated)(self._packed(state)))

    def canonical(self, state: State, in_place: bool = False) -> State:
        packed = self._packed(state)
        out = packed if in_place else _words([0] * self.native.words)
        _CANONICAL(self.native.canonical)(packed, out)
        return self.packing.unpack(list(out))

    def _packed(self, state: State) -> Any:
        return _words(list(self.packing.pack(state)))


def _words(values: list[int]) -> Any:
    return (ctypes.c_uint64 * len(values))(*values)
