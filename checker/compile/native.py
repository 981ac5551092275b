"""A protocol becomes machine code: `expand`, `violated`, `canonical`, called by address.

    expand(state, successors, step_ids) -> count, or -(step + 1) for a fault    (native_expand.py)
    violated(state) -> mask: invariants that are false, then witnesses that are true, lowest bit first
    canonical(state, out): the representative of the state's orbit              (native_canonical.py)

All three take packed states (packing.py), follow the C calling convention and keep no state of their own.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from llvmlite import ir

from checker.compile.native_expand import emit_expand
from checker.compile.native_predicates import emit_violated
from checker.compile.native_objects import compile_object, load_object
from checker.compile.packing import Packing
from model.language.protocol import Protocol


@dataclass(frozen=True, slots=True)
class NativeProtocol:
    """Addresses of the functions, callable as long as this object lives (`canonical` is 0 without symmetry)."""

    words: int
    max_successors: int
    expand: int
    violated: int
    canonical: int
    seconds: float
    cached: bool
    engine: Any


def compile_native(protocol: Protocol, packing: Packing, group=None, cache=None) -> NativeProtocol:
    t0 = time.perf_counter()
    module = ir.Module("tidegauge")
    emit_expand(module, protocol, packing)
    emit_violated(module, protocol, packing)
    text = str(module)
    t1 = time.perf_counter()
    obj = compile_object(text)
    t2 = time.perf_counter()
    loaded = load_object(obj, ("expand", "violated"))
    t3 = time.perf_counter()
    print(f"ir {t1-t0:.3f} compile {t2-t1:.3f} load {t3-t2:.3f} {len(text)} {len(obj)}")
    open('/tmp/tg/last.o','wb').write(obj); open('/tmp/tg/last.ll','w').write(text)
    return NativeProtocol(packing.words, len(protocol.steps), loaded.addresses["expand"], loaded.addresses["violated"], 0, t3 - t0, False, loaded)
