"""Comparisons that packed states answer without taking cells out: a word against a mask, a word against itself.

A conjunction of `cell = constant` over cells of one word is `(word & mask) == bits`. A conjunction of `cell = cell`
over cells at one distance is `((word >> distance) ^ word) & mask == 0`. A disjunction is the opposite of the
conjunction of the opposites. What fits neither form stays an expression.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from checker.compile.packing import Packing
from model.language.expr import Expr, Op, negate


@dataclass(frozen=True, slots=True)
class Bits:
    """The bits of `mask` in word `word` are `bits`."""

    word: int
    mask: int
    bits: int

    def fits(self, other: Bits) -> bool:
        """Whether both can be asked at once: same word, no contradiction."""
        both = self.mask & other.mask
        return self.word == other.word and self.bits & both == other.bits & both

    def __or__(self, other: Bits) -> Bits:
        return Bits(self.word, self.mask | other.mask, self.bits | other.bits)


@dataclass(frozen=True, slots=True)
class Copies:
    """Two runs of bits are the same: word `source`, moved up by `distance` (down if negative), and word `word`."""

    word: int
    source: int
    distance: int
    mask: int

    def fits(self, other: Copies) -> bool:
        return (self.word, self.source, self.distance) == (other.word, other.source, other.distance)

    def __or__(self, other: Copies) -> Copies:
        return Copies(self.word, self.source, self.distance, self.mask | other.mask)


_Asked = TypeVar("_Asked", Bits, Copies)

Test: TypeAlias = "Bits | Copies | Expr"


@dataclass(slots=True)
class Conjunction:
    """The tests that a conjunction amounts to."""

    bits: list[Bits] = field(default_factory=list)
    copies: list[Copies] = field(default_factory=list)
    others: list[Expr] = field(default_factory=list)

    def add(self, test: Test) -> None:
        match test:
            case Bits():
                _merge(self.bits, test)
            case Copies():
                _merge(self.copies, test)
            case Expr():
                self.others.append(test)


def _merge(known: list[_Asked], new: _Asked) -> None:
    for index, old in enumerate(known):
        if old.fits(new):
            known[index] = old | new
            return
    known.append(new)


def conjunction_of(conjuncts: Iterable[Expr], packing: Packing) -> Conjunction:
    """Sort the conjuncts by how they are best tested."""
    found = Conjunction()
    for conjunct in conjuncts:
        for part in conjuncts_of(conjunct):
            found.add(test_of(part, packing))
    return found


def conjuncts_of(expr: Expr) -> Iterator[Expr]:
    """The parts that must all hold, negated disjunctions included."""
    if expr.op is Op.AND:
        for arg in expr.args:
            yield from conjuncts_of(arg)
    elif expr.op is Op.NOT and expr.args[0].op is Op.OR:
        for arg in expr.args[0].args:
            yield from conjuncts_of(negate(arg))
    else:
        yield expr


def test_of(expr: Expr, packing: Packing) -> Test:
    match expr.op:
        case Op.READ:
            position = packing.positions[expr.value]
            return Bits(position.word, position.mask, position.mask)
        case Op.NOT:
            return _opposite(test_of(expr.args[0], packing), expr)
        case Op.EQUAL if expr.args[0].op is Op.READ:
            return _equal(expr, packing)
        case _:
            return expr


def _opposite(test: Test, expr: Expr) -> Test:
    """Of a single bit, the other value."""
    if isinstance(test, Bits) and test.mask.bit_count() == 1:
        return Bits(test.word, test.mask, test.mask ^ test.bits)
    return expr


def _equal(expr: Expr, packing: Packing) -> Test:
    left, right = expr.args
    position, low = packing.positions[left.value], packing.protocol.cells[left.value].domain.low
    if right.op is Op.CONSTANT:
        code = right.value - low
        return Bits(position.word, position.mask, code << position.shift) if 0 <= code < 1 << position.bits else expr
    if right.op is Op.READ and same_coding(left.value, right.value, packing):
        return copy_of(right.value, left.value, packing)
    return expr


def same_coding(one: int, other: int, packing: Packing) -> bool:
    """Whether two cells code every value alike and take the same number of bits."""
    domains = [packing.protocol.cells[cell].domain for cell in (one, other)]
    return domains[0].low == domains[1].low and domains[0].bits == domains[1].bits


def copy_of(source: int, target: int, packing: Packing) -> Copies:
    """The bits of cell `source` at the place of cell `target`."""
    origin, place = packing.positions[source], packing.positions[target]
    return Copies(place.word, origin.word, place.shift - origin.shift, place.mask)
