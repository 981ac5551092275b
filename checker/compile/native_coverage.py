"""The function that counts, over stored states, how often each conjunct of a guard decides; and one for each swap.

coverage(states, count, counters)    adds to the counters of `checker.coverage.coverage_of`
swap_0(states, count), swap_1, …     two members trade places in each of the states

Eight states at a time, in the lanes of vectors: a condition is true in some of them, which is eight bits. What the last
eight have too many is masked, but read: the array goes on to a multiple of eight.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Final

from llvmlite import ir

from checker.cache import Cache, key_of, source_hash
from checker.compile.native_expressions import WORD, Emitter, load_words, number_type, store_words, word
from checker.compile.native_objects import LoadedObject, compile_object, load_object, machine
from checker.compile.native_orbits import Orbits, Swap
from checker.compile.native_predicates import LANES, words_of_many
from checker.compile.native_swaps import SwapWriter
from checker.compile.packing import Packing
from checker.coverage import ActionGuards
from checker.prove.certificate import Group
from model.language.expr import Expr

CACHE_KIND: Final = "coverage"
NAME: Final = "coverage"

_EIGHT: Final = ir.IntType(LANES)


@dataclass(frozen=True, slots=True)
class NativeCoverage:
    """Addresses of the functions, callable as long as this object lives. `swaps` has for each component of the group
    the swaps of its consecutive members. `seconds` is what making or finding the code took."""

    words: int
    count: int
    swaps: tuple[tuple[int, ...], ...]
    seconds: float
    loaded: LoadedObject = field(repr=False)


def compile_coverage(packing: Packing, guards: Sequence[ActionGuards], group: Group, cache: Cache) -> NativeCoverage:
    """Machine code that counts, and that turns a state into all states of its orbit under a group."""
    start = time.perf_counter()
    swaps = [sorting.swaps for sorting in Orbits(packing, group).sortings]
    names = [[f"swap_{part}_{number}" for number in range(len(each))] for part, each in enumerate(swaps)]
    flat = [name for each in names for name in each]
    text = _source(packing, guards, dict(zip(flat, (swap for each in swaps for swap in each), strict=True)))
    key = key_of(text, source_hash(), machine())
    content = cache.load(CACHE_KIND, key)
    if content is None:
        content = compile_object(text)
        cache.store(CACHE_KIND, key, content)
    loaded = load_object(content, [NAME, *flat])
    addresses = tuple(tuple(loaded.addresses[name] for name in each) for each in names)
    return NativeCoverage(packing.words, loaded.addresses[NAME], addresses, time.perf_counter() - start, loaded)


def _source(packing: Packing, guards: Sequence[ActionGuards], swaps: dict[str, Swap]) -> str:
    module = ir.Module("coverage")
    _emit_count(module, packing, guards)
    for name, swap in swaps.items():
        _emit_swap(module, name, swap, packing.words)
    return str(module)


def _loop(function: ir.Function, stride: int, body: Callable[[ir.IRBuilder, ir.Value], None]) -> None:
    """`body` for every `stride`-th number below the function's second argument, which is at least 1."""
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    entry, loop, done = builder.block, function.append_basic_block("loop"), function.append_basic_block("done")
    builder.branch(loop)
    builder.position_at_end(loop)
    index = builder.phi(WORD)
    index.add_incoming(word(0), entry)
    body(builder, index)
    following = builder.add(index, word(stride))
    index.add_incoming(following, builder.block)
    builder.cbranch(builder.icmp_unsigned("<", following, function.args[1]), loop, done)
    builder.position_at_end(done)
    builder.ret_void()


def _emit_swap(module: ir.Module, name: str, swap: Swap, words: int) -> None:
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [ir.PointerType(), WORD]), name)

    def body(builder: ir.IRBuilder, index: ir.Value) -> None:
        place = _state_at(builder, function.args[0], index, words)
        store_words(builder, place, SwapWriter(builder).swapped(load_words(builder, place, words), swap))

    _loop(function, 1, body)


def _state_at(builder: ir.IRBuilder, states: ir.Value, index: ir.Value, words: int) -> ir.Value:
    return builder.gep(states, [builder.mul(index, word(words))], source_etype=WORD)


def _emit_count(module: ir.Module, packing: Packing, guards: Sequence[ActionGuards]) -> None:
    arguments = [ir.PointerType(), WORD, ir.PointerType()]
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), arguments), NAME)
    states, count, counters = function.args

    def body(builder: ir.IRBuilder, index: ir.Value) -> None:
        words = words_of_many(builder, _state_at(builder, states, index, packing.words), packing.words)
        roots = [expr for each in guards for step in each.steps for expr in step.values()]
        emitter = Emitter(builder, packing, number_type(roots), words)
        _Count(builder, emitter, _lanes_in_use(builder, index, count), counters).emit(guards)

    _loop(function, LANES, body)


def _lanes_in_use(builder: ir.IRBuilder, index: ir.Value, count: ir.Value) -> ir.Value:
    """A bit for each of the eight states from `index` on that is below `count`."""
    left = builder.sub(count, index)
    some = builder.sub(builder.shl(word(1), left), word(1))
    all_of_them = builder.icmp_unsigned(">=", left, word(LANES))
    return builder.trunc(builder.select(all_of_them, word((1 << LANES) - 1), some), _EIGHT)


class _Count:
    """Adds to the counters what eight states have to say."""

    def __init__(self, builder: ir.IRBuilder, emitter: Emitter, lanes: ir.Value, counters: ir.Value) -> None:
        self.builder = builder
        self.emitter = emitter
        self.lanes = lanes
        self.counters = counters
        self.next = 0

    def emit(self, guards: Sequence[ActionGuards]) -> None:
        for each in guards:
            self._action(each)

    def _action(self, guards: ActionGuards) -> None:
        build = self.builder
        enabled: list[ir.Value] = []
        false: list[list[ir.Value]] = [[] for _ in guards.conjuncts]
        alone: list[list[ir.Value]] = [[] for _ in guards.conjuncts]
        for step in guards.steps:
            truths = {number: self._truth(expr) for number, expr in step.items()}
            all_true, one_false = self._judged(list(truths.values()))
            enabled.append(all_true)
            for number, true in truths.items():
                untrue = build.not_(true)
                false[number].append(build.and_(self.lanes, untrue))
                alone[number].append(build.and_(one_false, untrue))
        self._add(self._number([reduce(build.or_, enabled)] if enabled else []))
        self._add(self._number(enabled))
        for one, other in zip(false, alone, strict=True):
            self._add(self._number(one))
            self._add(self._number(other))

    def _truth(self, expr: Expr) -> ir.Value:
        return self.builder.bitcast(self.emitter.value(expr), _EIGHT)

    def _judged(self, truths: Sequence[ir.Value]) -> tuple[ir.Value, ir.Value]:
        """The states in which all are true, and those in which exactly one is not."""
        build = self.builder
        all_true, one_false = self.lanes, _EIGHT(0)
        for true in truths:
            newly = build.and_(all_true, build.not_(true))
            one_false = build.or_(build.and_(one_false, true), newly)
            all_true = build.and_(all_true, true)
        return all_true, one_false

    def _number(self, bits: Sequence[ir.Value]) -> ir.Value:
        """How many bits are set in all of them together."""
        counts = (self.builder.zext(self.builder.ctpop(each), WORD) for each in bits)
        return reduce(self.builder.add, counts, word(0))

    def _add(self, number: ir.Value) -> None:
        place = self.builder.gep(self.counters, [word(self.next)], source_etype=WORD)
        self.builder.store(self.builder.add(self.builder.load(place, typ=WORD), number), place)
        self.next += 1
