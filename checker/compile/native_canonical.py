"""The function `canonical`: one representative for all states that permutations of the group turn into one another.

    canonical(state, out)    reads `state`, then writes `out`; they may be the same

1. Each member gets a key that no permutation changes (native_orbits.py).
2. Members are sorted by key, with swaps of neighbours.
3. Where keys tie, the order is open. If no swap of tied neighbours changes the state, none of the orders does.
   Else every order of the tied members is visited, one swap from each to the next, and the smallest state wins.

Two states of one orbit have the same keys, in another order; after step 2 they differ by an order of tied members at
most, after step 3 not at all. Keys that tie by chance cost time only.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import pairwise

from llvmlite import ir

from checker.compile.native_arrangements import Arrangements
from checker.compile.native_expressions import load_words, move, word
from checker.compile.native_orbits import Counted, KeyWord, Naming, Orbits, Source
from checker.compile.native_swaps import SwapWriter, differing

NAME = "canonical"

# Odd numbers without a pattern (fractional digits of the square roots of 2, 3, 5, 7 and 11): a key of several words is
# the sum of their products with these.
_MIX = (0x6A09E667F3BCC909, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1, 0x510E527FADE682D1)


def emit_canonical(module: ir.Module, orbits: Orbits) -> None:
    """Add the function to the module."""
    pointer = ir.PointerType()
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [pointer, pointer]), NAME)
    state, out = function.args
    state.name, out.name = "state", "out"
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    words = load_words(builder, state, orbits.packing.words)
    writer = SwapWriter(builder)
    ties: list[ir.Value] = []
    # All keys first: they are keys of the state as it is given.
    keys = KeyWriter(builder, orbits, words)
    keyed = [(sorting, [keys.key(key) for key in sorting.keys]) for sorting in orbits.sortings]
    for sorting, values in keyed:
        words = writer.sort(words, sorting, values)
        ties += [builder.icmp_unsigned("==", *pair) for pair in pairwise(values)]
    Arrangements(writer, orbits.sortings, words).emit(ties, out)


class KeyWriter:
    """Writes the keys of members of one state."""

    def __init__(self, builder: ir.IRBuilder, orbits: Orbits, words: Sequence[ir.Value]) -> None:
        self.builder = builder
        self.orbits = orbits
        self.words = words
        self._namings: dict[Naming, ir.Value] = {}

    def key(self, parts: Sequence[KeyWord]) -> ir.Value:
        values = [self._key_word(part) for part in parts]
        if len(values) < 2:
            return values[0] if values else word(0)
        mixed = [self.builder.mul(value, word(_MIX[i % len(_MIX)] + 2 * i)) for i, value in enumerate(values)]
        return reduce(self.builder.add, mixed)

    def _key_word(self, part: KeyWord) -> ir.Value:
        build = self.builder
        gathered = [build.and_(move(build, self._source(g.source), g.distance), word(g.mask)) for g in part.gathered]
        counted = [build.shl(self._count(counted), word(counted.shift)) for counted in part.counted]
        return reduce(build.or_, [*gathered, *counted])

    def _count(self, counted: Counted) -> ir.Value:
        build = self.builder
        bits = (build.ctpop(build.and_(self._source(source), word(mask))) for source, mask in counted.sources)
        return reduce(build.add, bits)

    def _source(self, source: Source) -> ir.Value:
        if not isinstance(source, Naming):
            return self.words[source]
        if source not in self._namings:
            self._namings[source] = self._naming(source)
        return self._namings[source]

    def _naming(self, naming: Naming) -> ir.Value:
        """The lowest bit of each field of the word that does name the member."""
        fields = [f for f in self.orbits.fields[naming.scalarset] if f.word == naming.word and f.low <= naming.member]
        value = self.words[naming.word]
        others = [differing(self.builder, value, each, naming.member) for each in fields]
        return self.builder.xor(reduce(self.builder.or_, others), word(sum(each.lowest for each in fields)))
