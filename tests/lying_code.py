"""Machine code that does not do what the protocol says, to see who notices.

lie(monkeypatch, computing("violated", lambda state: 1))
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, TypeAlias

import pytest

from checker.cache import NO_CACHE
from checker.compile import native
from checker.compile.native import NativeProtocol
from checker.compile.packing import Packing
from model.language.protocol import Protocol

#: What is done to the machine code of a protocol.
Change: TypeAlias = Callable[[NativeProtocol], NativeProtocol]

_WORDS: Final = ctypes.POINTER(ctypes.c_uint64)
SIGNATURES: Final[dict[str, Any]] = {
    "expand": ctypes.CFUNCTYPE(ctypes.c_int64, _WORDS, _WORDS, ctypes.POINTER(ctypes.c_uint16)),
    "violated": ctypes.CFUNCTYPE(ctypes.c_uint64, _WORDS),
    "canonical": ctypes.CFUNCTYPE(None, _WORDS, _WORDS),
}

_kept: Final[list[object]] = []  # functions that machine code may still call


def computing(name: str, function: Callable[..., Any]) -> Change:
    """One of the functions, where there is one, is replaced by one in Python that has the same arguments."""
    callback = SIGNATURES[name](function)
    _kept.append(callback)
    return _with(name, int(ctypes.cast(callback, ctypes.c_void_p).value or 0))


def compiled_from(protocol: Protocol, name: str) -> Change:
    """One of the functions is that of another protocol with the same variables."""
    other = native.compile_native(protocol, Packing(protocol), None, NO_CACHE)
    _kept.append(other)
    return _with(name, getattr(other, name))


def _with(name: str, address: int) -> Change:
    change: dict[str, Any] = {name: address}
    return lambda made: replace(made, **change) if getattr(made, name) else made


def lie(monkeypatch: pytest.MonkeyPatch, change: Change) -> None:
    """Change whatever is compiled from now on."""
    honest = native.compile_native
    monkeypatch.setattr(native, "compile_native", lambda *given: change(honest(*given)))
