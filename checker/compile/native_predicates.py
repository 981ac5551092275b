"""The predicates that states settle: one bit for each, invariants that are false, then witnesses that are true.

violated(state) -> mask
violated_by_any(states) -> mask, every bit that any of eight states sets, which stand one after the other

A search judges every new state, and nearly always there is nothing to say. Eight states at once, in the lanes of
vectors, take about as long as one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from llvmlite import ir

from checker.compile.native_expressions import WORD, Emitter, load_words, number_type, store_words, word
from checker.compile.packing import WORD_BITS, Packing
from model.language.expr import Expr, negate
from model.language.protocol import Protocol

NAME: Final = "violated"
NAME_OF_MANY: Final = "violated_by_any"

LANES: Final = 8
"""How many states are judged at once."""


def emit_predicates(module: ir.Module, protocol: Protocol, packing: Packing) -> None:
    """Add both functions to the module."""
    kind = ir.FunctionType(WORD, [ir.PointerType()])
    many, one = ir.Function(module, kind, NAME_OF_MANY), ir.Function(module, kind, NAME)
    _emit_many(many, protocol, packing)
    _emit_one(one, many, packing.words)


def _emit_many(function: ir.Function, protocol: Protocol, packing: Packing) -> None:
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    conditions, lanes, mask = list(_noteworthy(protocol)), ir.IntType(LANES), word(0)
    words = words_of_many(builder, function.args[0], packing.words)
    emitter = Emitter(builder, packing, number_type(conditions), words)
    for bit, condition in enumerate(conditions):
        some = builder.icmp_unsigned("!=", builder.bitcast(emitter.value(condition), lanes), lanes(0))
        mask = builder.or_(mask, builder.shl(builder.zext(some, WORD), word(bit)))
    builder.ret(mask)


def words_of_many(builder: ir.IRBuilder, states: ir.Value, count: int) -> list[ir.Value]:
    """Each word of the eight states at an address, as a vector with one lane a state."""
    kind, places = ir.VectorType(WORD, LANES * count), ir.VectorType(ir.IntType(32), LANES)
    loaded, nothing = builder.load(states, typ=kind, align=WORD_BITS // 8), ir.Constant(kind, ir.Undefined)
    orders = (range(number, LANES * count, count) for number in range(count))
    return [builder.shuffle_vector(loaded, nothing, ir.Constant(places, list(order))) for order in orders]


def _emit_one(function: ir.Function, many: ir.Function, count: int) -> None:
    """For a single state: eight times the same."""
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    states, words = builder.alloca(WORD, LANES * count), load_words(builder, function.args[0], count)
    store_words(builder, states, words * LANES)
    builder.ret(builder.call(many, [states]))


def _noteworthy(protocol: Protocol) -> Iterator[Expr]:
    yield from (negate(invariant.expr) for invariant in protocol.invariants)
    yield from (witness.expr for witness in protocol.witnesses)
