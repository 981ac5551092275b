"""Two members of a scalarset trade places in a packed state: blocks of bits move, names change."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from llvmlite import ir

from checker.compile.native_expressions import WORD, move, word
from checker.compile.native_orbits import Exchange, Fields, Sorting, Swap


def differing(builder: ir.IRBuilder, value: ir.Value, fields: Fields, member: int) -> ir.Value:
    """The lowest bit of each field that does not name the member."""
    difference = builder.xor(value, word(fields.filled(member)))
    any_bit = difference
    for bit in range(1, fields.bits):
        any_bit = builder.or_(any_bit, builder.lshr(difference, word(bit)))
    return builder.and_(any_bit, word(fields.lowest))


class SwapWriter:
    """Writes swaps of two members: always, or where a mask (all ones or zero) says so."""

    def __init__(self, builder: ir.IRBuilder) -> None:
        self.builder = builder

    def sort(self, words: Sequence[ir.Value], sorting: Sorting, keys: list[ir.Value]) -> list[ir.Value]:
        """Bubble sort, unrolled. Sorts `keys` in place and returns the words of the state with its members sorted."""
        result = list(words)
        for last in range(len(keys) - 1, 0, -1):
            for place in range(last):
                wrong = self.builder.icmp_unsigned(">", keys[place], keys[place + 1])
                result = self.swapped(result, sorting.swaps[place], self.builder.sext(wrong, WORD))
                pair = keys[place], keys[place + 1]
                keys[place] = self.builder.select(wrong, pair[1], pair[0])
                keys[place + 1] = self.builder.select(wrong, pair[0], pair[1])
        return result

    def swapped(self, words: Sequence[ir.Value], swap: Swap, when: ir.Value | None = None) -> list[ir.Value]:
        """The words of the state after the swap."""
        result = list(words)
        for exchange in swap.exchanges:
            self._exchange(result, exchange, when)
        for fields in swap.names:
            result[fields.word] = self._renamed(result[fields.word], fields, swap, when)
        return result

    def _exchange(self, words: list[ir.Value], exchange: Exchange, when: ir.Value | None) -> None:
        build, distance = self.builder, exchange.distance
        moved = move(build, words[exchange.lower], distance)
        difference = build.and_(build.xor(moved, words[exchange.upper]), word(exchange.mask))
        difference = self._where(difference, when)
        words[exchange.upper] = build.xor(words[exchange.upper], difference)
        words[exchange.lower] = build.xor(words[exchange.lower], move(build, difference, -distance))

    def _renamed(self, value: ir.Value, fields: Fields, swap: Swap, when: ir.Value | None) -> ir.Value:
        """Fields that name one of the two name the other."""
        build = self.builder
        neither = reduce(build.and_, (differing(build, value, fields, member) for member in (swap.one, swap.other)))
        either = self._where(build.xor(neither, word(fields.lowest)), when)
        change = (swap.one - fields.low) ^ (swap.other - fields.low)
        flips = (build.shl(either, word(bit)) for bit in range(fields.bits) if change >> bit & 1)
        return reduce(build.xor, flips, value)

    def _where(self, difference: ir.Value, when: ir.Value | None) -> ir.Value:
        return difference if when is None else self.builder.and_(difference, when)
