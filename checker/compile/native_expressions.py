"""Expressions become instructions. Truth is one bit, a number a machine integer holding the real value, not the code.

A node is computed where it is first needed and known from there on in every block that this block dominates: whoever
opens a branch calls `branch()` and drops what was learnt inside when it closes.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import assert_never

from llvmlite import ir

from checker.compile.native_comparisons import Bits, Conjunction, Copies, conjunction_of, test_of
from checker.compile.packing import WORD_BITS, Packing
from model.errors import ModelError
from model.language.domains import BOOL, Scalar
from model.language.expr import Expr, Op, negate, walk

WORD = ir.IntType(WORD_BITS)
BIT = ir.IntType(1)


def word(value: int) -> ir.Constant:
    return ir.Constant(WORD, value)


def constant(kind: ir.Type, value: int) -> ir.Constant:
    """A number, or a vector of equal ones."""
    return ir.Constant(kind, [value] * kind.count if isinstance(kind, ir.VectorType) else value)


def number_type(roots: Iterable[Expr], assigned: Iterable[Scalar] = ()) -> ir.IntType:
    """The machine integer in which nothing overflows: no node below the roots, no code of a cell assigned to."""
    bounds = [(0, 0), *((node.low, node.high) for node in walk(roots)), *((each.low, each.high) for each in assigned)]
    low, high = min(low for low, _ in bounds), max(high for _, high in bounds)
    for bits in (32, 64):
        if high - low < 1 << bits - 1:
            return ir.IntType(bits)
    raise ModelError(f"numbers range over {low}..{high}, more than a machine integer holds")


def load_words(builder: ir.IRBuilder, state: ir.Value, count: int) -> list[ir.Value]:
    """The words of the state at an address."""
    places = (builder.gep(state, [word(number)], source_etype=WORD) for number in range(count))
    return [builder.load(place, typ=WORD) for place in places]


def store_words(builder: ir.IRBuilder, target: ir.Value, words: Sequence[ir.Value]) -> None:
    """Write the words of a state to an address."""
    for number, value in enumerate(words):
        builder.store(value, builder.gep(target, [word(number)], source_etype=WORD))


class Emitter:
    """Writes instructions that compute expressions over one packed state, or over several at once.

    Of several states, each word is a vector, and so is everything computed from them.
    """

    def __init__(self, builder: ir.IRBuilder, packing: Packing, number: ir.IntType, words: list[ir.Value]) -> None:
        self.builder = builder
        self.packing = packing
        self.words = words
        self.word = words[0].type
        self.bit, self.number = self._lanes(BIT), self._lanes(number)
        self._known: ChainMap[Expr, ir.Value] = ChainMap()

    def _lanes(self, kind: ir.IntType) -> ir.Type:
        return ir.VectorType(kind, self.word.count) if isinstance(self.word, ir.VectorType) else kind

    @contextmanager
    def branch(self) -> Iterator[None]:
        """What is computed inside is forgotten afterwards."""
        outer = self._known
        self._known = outer.new_child()
        yield
        self._known = outer

    def value(self, expr: Expr) -> ir.Value:
        """One bit for a truth, else the number."""
        known = self._known.get(expr)
        if known is None:
            known = self._known[expr] = self._computed(expr)
        return known

    def all_of(self, conjuncts: Iterable[Expr]) -> ir.Value:
        """One bit: every conjunct holds."""
        return self._junction(conjunction_of(conjuncts, self.packing), "and")

    def shifted(self, source: int, distance: int) -> ir.Value:
        """Word number `source`, moved up by `distance` bits, or down if that is negative."""
        return move(self.builder, self.words[source], distance)

    # One node

    def _computed(self, expr: Expr) -> ir.Value:
        build = self.builder
        match expr.op:
            case Op.CONSTANT:
                return constant(self.bit if expr.sort == BOOL else self.number, expr.value)
            case Op.READ:
                return self._read(expr)
            case Op.NOT:
                return build.not_(self.value(expr.args[0]))
            case Op.AND:
                return self.all_of([expr])
            case Op.OR:
                return self._junction(conjunction_of([negate(expr)], self.packing), "or")
            case Op.EQUAL:
                return self._equal(expr)
            case Op.LESS:
                return build.icmp_signed("<", *map(self.value, expr.args))
            case Op.ADD:
                return build.add(*map(self.value, expr.args), flags=["nsw"])
            case Op.SUBTRACT:
                return build.sub(*map(self.value, expr.args), flags=["nsw"])
            case Op.MULTIPLY:
                return build.mul(*map(self.value, expr.args), flags=["nsw"])
            case Op.IF:
                return build.select(*map(self.value, expr.args))
            case _:
                assert_never(expr.op)

    def _read(self, expr: Expr) -> ir.Value:
        position = self.packing.positions[expr.value]
        if expr.sort == BOOL:
            return self._bits(Bits(position.word, position.mask, position.mask))
        low = self.packing.protocol.cells[expr.value].domain.low
        moved = move(self.builder, self.words[position.word], -position.shift)
        if self.number != self.word:
            moved = self.builder.trunc(moved, self.number)
        code = self.builder.and_(moved, constant(self.number, (1 << position.bits) - 1))
        return self.builder.add(code, constant(self.number, low), flags=["nsw"]) if low else code

    def _equal(self, expr: Expr) -> ir.Value:
        match test_of(expr, self.packing):
            case Bits() as bits:
                return self._bits(bits)
            case _:
                return self.builder.icmp_signed("==", *map(self.value, expr.args))

    # Conjunctions and disjunctions

    def _junction(self, parts: Conjunction, kind: str) -> ir.Value:
        """All parts hold (`and`), or some part does not (`or`)."""
        same = "==" if kind == "and" else "!="
        found = [self._bits(bits, same) for bits in parts.bits]
        found += [self._copies(copies, same) for copies in parts.copies]
        found += [self.value(part if kind == "and" else negate(part)) for part in parts.others]
        join = self.builder.and_ if kind == "and" else self.builder.or_
        result = found[0] if found else constant(self.bit, kind == "and")
        for part in found[1:]:
            result = join(result, part)
        return result

    def _bits(self, bits: Bits, same: str = "==") -> ir.Value:
        masked = self.builder.and_(self.words[bits.word], constant(self.word, bits.mask))
        return self.builder.icmp_unsigned(same, masked, constant(self.word, bits.bits))

    def _copies(self, copies: Copies, same: str = "==") -> ir.Value:
        moved = self.shifted(copies.source, copies.distance)
        difference = self.builder.xor(moved, self.words[copies.word])
        masked = self.builder.and_(difference, constant(self.word, copies.mask))
        return self.builder.icmp_unsigned(same, masked, constant(self.word, 0))


def move(builder: ir.IRBuilder, value: ir.Value, distance: int) -> ir.Value:
    """A word moved up by `distance` bits, or down if that is negative."""
    if distance == 0:
        return value
    places = constant(value.type, abs(distance))
    return builder.shl(value, places) if distance > 0 else builder.lshr(value, places)


def joined(builder: ir.IRBuilder, values: Mapping[ir.Block, ir.Value]) -> ir.Value:
    """The value that belongs to the block from which control comes."""
    phi = builder.phi(next(iter(values.values())).type)
    for block, value in values.items():
        phi.add_incoming(value, block)
    return phi
