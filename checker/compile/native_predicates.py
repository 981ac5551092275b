"""The function `violated`: one bit for each predicate that a state settles.

violated(state) -> mask: invariants that are false, then witnesses that are true, lowest bit first
"""

from __future__ import annotations

from collections.abc import Iterator

from llvmlite import ir

from checker.compile.native_expressions import WORD, Emitter, load_words, number_type, word
from checker.compile.packing import Packing
from model.language.expr import Expr, negate
from model.language.protocol import Protocol

NAME = "violated"


def emit_violated(module: ir.Module, protocol: Protocol, packing: Packing) -> None:
    """Add the function to the module."""
    function = ir.Function(module, ir.FunctionType(WORD, [ir.PointerType()]), NAME)
    function.args[0].name = "state"
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    conditions = list(_noteworthy(protocol))
    words = load_words(builder, function.args[0], packing.words)
    emitter = Emitter(builder, packing, number_type(conditions), words)
    mask = word(0)
    for bit, condition in enumerate(conditions):
        found = builder.zext(emitter.value(condition), WORD)
        mask = builder.or_(mask, builder.shl(found, word(bit)))
    builder.ret(mask)


def _noteworthy(protocol: Protocol) -> Iterator[Expr]:
    yield from (negate(invariant.expr) for invariant in protocol.invariants)
    yield from (witness.expr for witness in protocol.witnesses)
