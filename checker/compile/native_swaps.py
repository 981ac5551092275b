"""Two members of a scalarset trade places in a packed state: blocks of bits move, names change."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from llvmlite import ir

from checker.compile.native_expressions import joined, move, word
from checker.compile.native_orbits import Exchange, Fields, Sorting, Swap


def differing(builder: ir.IRBuilder, value: ir.Value, fields: Fields, member: int) -> ir.Value:
    """The lowest bit of each field that does not name the member."""
    difference = builder.xor(value, word(fields.filled(member)))
    any_bit = difference
    for bit in range(1, fields.bits):
        any_bit = builder.or_(any_bit, builder.lshr(difference, word(bit)))
    return builder.and_(any_bit, word(fields.lowest))


class SwapWriter:
    """Writes swaps of two members."""

    def __init__(self, builder: ir.IRBuilder) -> None:
        self.builder = builder

    def sort(self, words: Sequence[ir.Value], sorting: Sorting, keys: list[ir.Value]) -> list[ir.Value]:
        """Bubble sort, unrolled. Sorts `keys` in place and returns the words of the state with its members sorted.

        Each swap is a branch. A search asks for successors of sorted states, and a step changes one or two members: the
        branches are mostly guessed right, while swaps under a mask would have to wait for one another every time.
        """
        result = list(words)
        for last in range(len(keys) - 1, 0, -1):
            for place in range(last):
                result = self._sort_two(result, sorting.swaps[place], keys, place)
        return result

    def _sort_two(self, words: Sequence[ir.Value], swap: Swap, keys: list[ir.Value], place: int) -> list[ir.Value]:
        build, before = self.builder, self.builder.block
        wrong, right = (build.append_basic_block(name) for name in ("wrong", "right"))
        one, other = keys[place : place + 2]
        build.cbranch(build.icmp_unsigned(">", one, other), wrong, right)
        build.position_at_end(wrong)
        swapped = self.swapped(words, swap)
        build.branch(right)
        build.position_at_end(right)
        keys[place : place + 2] = [
            joined(build, {before: one, wrong: other}),
            joined(build, {before: other, wrong: one}),
        ]
        pairs = zip(words, swapped, strict=True)
        return [joined(build, {before: old, wrong: new}) for old, new in pairs]

    def swapped(self, words: Sequence[ir.Value], swap: Swap) -> list[ir.Value]:
        """The words of the state after the swap."""
        result = list(words)
        for exchange in swap.exchanges:
            self._exchange(result, exchange)
        for fields in swap.names:
            result[fields.word] = self._renamed(result[fields.word], fields, swap)
        return result

    def _exchange(self, words: list[ir.Value], exchange: Exchange) -> None:
        build, distance = self.builder, exchange.distance
        moved = move(build, words[exchange.lower], distance)
        difference = build.and_(build.xor(moved, words[exchange.upper]), word(exchange.mask))
        words[exchange.upper] = build.xor(words[exchange.upper], difference)
        words[exchange.lower] = build.xor(words[exchange.lower], move(build, difference, -distance))

    def _renamed(self, value: ir.Value, fields: Fields, swap: Swap) -> ir.Value:
        """Fields that name one of the two name the other."""
        build = self.builder
        neither = reduce(build.and_, (differing(build, value, fields, member) for member in (swap.one, swap.other)))
        either = build.xor(neither, word(fields.lowest))
        change = (swap.one - fields.low) ^ (swap.other - fields.low)
        flips = (build.shl(either, word(bit)) for bit in range(fields.bits) if change >> bit & 1)
        return reduce(build.xor, flips, value)
