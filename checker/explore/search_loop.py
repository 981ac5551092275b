"""The kernels as machine code, from the cache or made anew; numba is imported only if they have to be made."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib.metadata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache

from checker.cache import Cache, key_of, source_hash
from checker.compile.native_objects import LoadedObject, compile_object, load_object, machine
from checker.explore.arrays import leaves

CACHE_KIND = "loop"

#: Of LLVM's standard pipeline. A third level compiles for longer to no effect that could be measured.
SPEED_LEVEL = 2

#: Calls through ctypes let go of Python's lock, so that other threads run meanwhile.
_ENTRY = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)


@dataclass(frozen=True, slots=True)
class SearchLoop:
    """The kernels, for states of so many words; callable as long as this object lives. See `kernels.py`."""

    advance: Callable[..., int]
    move: Callable[..., int]
    loaded: LoadedObject = field(repr=False)


@cache
def search_loop(words: int, kept: Cache) -> SearchLoop:
    """The loop for states of so many words, loaded once in a process."""
    key = key_of(source_hash(), machine(), importlib.metadata.version("numba"), str(words))
    content = kept.load(CACHE_KIND, key)
    if content is None:
        content = compiled(words)
        kept.store(CACHE_KIND, key, content)
    loaded = load_object(content, ["advance", "move"])
    return SearchLoop(_called(loaded.addresses["advance"]), _called(loaded.addresses["move"]), loaded)


def compiled(words: int) -> bytes:
    """The kernels as an object file."""
    with _garbage_left_alone():
        from checker.explore.kernels import source

        text = source(words)
    return compile_object(text, speed_level=SPEED_LEVEL)


@contextlib.contextmanager
def _garbage_left_alone() -> Iterator[None]:
    """numba makes very many objects that stay; to look for garbage among them takes a tenth of its time."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _called(address: int) -> Callable[..., int]:
    """An entry as a Python function of its kernel's arguments."""
    entry = _ENTRY(address)

    def call(*arguments: object) -> int:
        words = list(leaves(arguments))
        return int(entry((ctypes.c_uint64 * len(words))(*words)))

    return call
