"""A protocol becomes machine code: `expand`, `violated`, `canonical`, called by address.

    expand(state, successors, step_ids) -> count, or -(step + 1) for a fault    native_expand.py
    violated(state) -> mask, one bit for each invariant, then each witness      native_predicates.py
    violated_by_any(states) -> mask of eight states together                    native_predicates.py
    canonical(state, out): the representative of the state's orbit              native_canonical.py

All take packed states (packing.py), follow the C calling convention and keep no state of their own, so that any number
of threads may call them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from llvmlite import ir

from checker.cache import Cache, key_of, source_hash
from checker.compile import native_canonical, native_expand, native_predicates
from checker.compile.native_objects import LoadedObject, compile_object, load_object, machine
from checker.compile.native_orbits import Orbits
from checker.compile.packing import Packing
from checker.prove.certificate import Group
from model.language.protocol import Protocol

CACHE_KIND = "native"


@dataclass(frozen=True, slots=True)
class NativeProtocol:
    """The functions, callable as long as this object lives.

    `expand`, `violated`, `violated_by_any` and `canonical` are addresses; `canonical` is 0 without symmetry. A state is
    `words` words of 64 bits, and has at most `max_successors` successors. `seconds` is what making or finding the code
    took; `cached` tells which of the two.
    """

    words: int
    max_successors: int
    expand: int
    violated: int
    violated_by_any: int
    canonical: int
    seconds: float
    cached: bool
    loaded: LoadedObject = field(repr=False)


def compile_native(protocol: Protocol, packing: Packing, group: Group | None, cache: Cache) -> NativeProtocol:
    """Machine code for a protocol and, unless there is no symmetry, a group of permutations.

    Which permutations are harmless is not decided here: searches take a certificate and pass on its group.
    """
    start = time.perf_counter()
    orbits = None if group is None or group.is_trivial else Orbits(packing, group)
    key = key_of(*_identity(protocol, packing, orbits))
    content = cache.load(CACHE_KIND, key)
    cached = content is not None
    if content is None:
        content = compile_object(source(protocol, packing, orbits))
        cache.store(CACHE_KIND, key, content)
    names = [native_expand.NAME, native_predicates.NAME, native_predicates.NAME_OF_MANY]
    names += [native_canonical.NAME] if orbits else []
    loaded = load_object(content, names)
    return NativeProtocol(
        words=packing.words,
        max_successors=len(protocol.steps),
        expand=loaded.addresses[native_expand.NAME],
        violated=loaded.addresses[native_predicates.NAME],
        violated_by_any=loaded.addresses[native_predicates.NAME_OF_MANY],
        canonical=loaded.addresses.get(native_canonical.NAME, 0),
        seconds=time.perf_counter() - start,
        cached=cached,
        loaded=loaded,
    )


def source(protocol: Protocol, packing: Packing, orbits: Orbits | None) -> str:
    """The functions in LLVM's language."""
    module = ir.Module("tidegauge")
    native_expand.emit_expand(module, protocol, packing)
    native_predicates.emit_predicates(module, protocol, packing)
    if orbits is not None:
        native_canonical.emit_canonical(module, orbits)
    return str(module)


def _identity(protocol: Protocol, packing: Packing, orbits: Orbits | None) -> Iterator[str]:
    """Everything that the machine code depends on."""
    yield from (protocol.content_hash, source_hash(), machine(), repr(packing.positions))
    yield str([(step.number, [update.proved for update in step.updates]) for step in protocol.steps])
    if orbits is not None:
        yield repr(orbits.sortings)
