"""Every order of members whose keys tie, visited by swaps of neighbours; the smallest state wins.

Plain changes (Knuth, The Art of Computer Programming 4A, 7.2.1.2, algorithm P), for several runs of tied members at
once. Each run of r members contributes the digits of radix 2 to r of a reflected mixed-radix count, largest first; one
step of the count changes one digit by one, and that is a swap of two neighbours. When a run has been through all its
orders, its digits have turned round: it goes back the same way after the next run has made one step.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TypeAlias

from llvmlite import ir

from checker.compile.native_expressions import BIT, WORD, load_words, store_words, word
from checker.compile.native_orbits import Sorting, Swap
from checker.compile.native_swaps import SwapWriter

#: The words of a state, or one bit for each swap.
Values: TypeAlias = Sequence[ir.Value]


class Arrangements:
    """The end of `canonical`: from a sorted state and the ties of neighbours' keys to the state to be written.

    What the loop remembers lies on the stack: it is rare, and nothing in it is worth a register elsewhere.
    """

    def __init__(self, writer: SwapWriter, sortings: Sequence[Sorting], words: Values) -> None:
        self.writer = writer
        self.build = writer.builder
        self.sortings = sortings
        self.swaps: list[Swap] = [swap for sorting in sortings for swap in sorting.swaps]
        self.words = words
        # A digit: the first swap of its run, its radix, its value, and the direction in which it counts.
        self.first, self.radix, self.value, self.direction = (self._array(len(self.swaps)) for _ in range(4))
        self.current, self.best = self._array(len(words)), self._array(len(words))
        self.count, self.digit, self.offset = self._array(1), self._array(1), self._array(1)

    def emit(self, ties: Values, out: ir.Value) -> None:
        """`ties` has one bit for each swap: the two members that it swaps have equal keys."""
        build = self.build
        tied, arrange, unchanged, end = self._blocks("tied", "arrange", "unchanged", "end")
        build.cbranch(reduce(build.or_, ties), tied, unchanged)
        build.position_at_end(tied)
        build.cbranch(self._matters(ties), arrange, unchanged)
        build.position_at_end(unchanged)
        self._leave(self.words, out)
        build.position_at_end(arrange)
        self._start(ties)
        self._loop(end)
        build.position_at_end(end)
        self._leave(self._read(self.best), out)

    def _leave(self, words: Values, out: ir.Value) -> None:
        store_words(self.build, out, words)
        self.build.ret_void()

    def _matters(self, ties: Values) -> ir.Value:
        """Whether the swap of some tied neighbours changes the state."""
        build, matters = self.build, ir.Constant(BIT, 0)
        for swap, tie in zip(self.swaps, ties, strict=True):
            pairs = zip(self.words, self.writer.swapped(self.words, swap), strict=True)
            difference = reduce(build.or_, (build.xor(*pair) for pair in pairs))
            changes = build.icmp_unsigned("!=", difference, word(0))
            matters = build.or_(matters, build.and_(tie, changes))
        return matters

    def _start(self, ties: Values) -> None:
        """The first order is the one at hand; every run of ties gets its digits."""
        store_words(self.build, self.current, self.words)
        store_words(self.build, self.best, self.words)
        count, number, remaining = word(0), 0, iter(ties)
        for sorting in self.sortings:
            run = word(0)  # ties in a row, up to here
            for _ in sorting.swaps:
                tie = next(remaining)
                number += 1
                run = self.build.select(tie, self.build.add(run, word(1)), word(0))
                self._put(self.first, count, self.build.sub(word(number), run))
                self._put(self.radix, count, self.build.add(run, word(1)))
                self._put(self.value, count, word(0))
                self._put(self.direction, count, word(1))
                count = self.build.add(count, self.build.zext(tie, WORD))
        self._put(self.count, word(0), count)

    # The loop: each of these methods fills one block

    def _loop(self, end: ir.Block) -> None:
        build = self.build
        visit, pick, consider, turn, step = self._blocks("visit", "pick", "consider", "turn", "step")
        build.branch(visit)
        build.position_at_end(visit)
        self._put(self.digit, word(0), self._get(self.count, word(0)))
        self._put(self.offset, word(0), word(0))
        build.branch(pick)
        build.position_at_end(pick)
        build.cbranch(build.icmp_unsigned("==", self._get(self.digit, word(0)), word(0)), end, consider)
        build.position_at_end(consider)
        self._consider(turn, step)
        build.position_at_end(turn)
        self._turn(pick)
        build.position_at_end(step)
        self._step(visit)

    def _place(self) -> ir.Value:
        return self.build.sub(self._get(self.digit, word(0)), word(1))

    def _next(self) -> ir.Value:
        """The value of the current digit if it made one more step."""
        place = self._place()
        return self.build.add(self._get(self.value, place), self._get(self.direction, place))

    def _consider(self, turn: ir.Block, step: ir.Block) -> None:
        """A digit that is at an end turns round instead, and the next one is asked. (-1 unsigned is large.)"""
        at_end = self.build.icmp_unsigned(">=", self._next(), self._get(self.radix, self._place()))
        self.build.cbranch(at_end, turn, step)

    def _turn(self, pick: ir.Block) -> None:
        """A member that waits at the left end of its run moves the places of the smaller ones by one."""
        build, place = self.build, self._place()
        radix, direction = self._get(self.radix, place), self._get(self.direction, place)
        offset = self._get(self.offset, word(0))
        left = build.icmp_unsigned("==", self._next(), radix)
        offset = build.add(offset, build.zext(left, WORD))
        run_ends = build.icmp_unsigned("==", radix, word(2))
        self._put(self.offset, word(0), build.select(run_ends, word(0), offset))
        self._put(self.direction, place, build.neg(direction))
        self._put(self.digit, word(0), place)
        build.branch(pick)

    def _step(self, visit: ir.Block) -> None:
        """The digit steps, two neighbours trade places, and the smaller state is kept."""
        build, place = self.build, self._place()
        old, new = self._get(self.value, place), self._next()
        self._put(self.value, place, new)
        larger = build.select(build.icmp_unsigned(">", old, new), old, new)
        moved = build.sub(build.add(self._get(self.radix, place), self._get(self.offset, word(0))), larger)
        swap = build.sub(build.add(self._get(self.first, place), moved), word(1))
        compare, impossible = self._blocks("compare", "impossible")
        chosen = build.switch(swap, impossible)
        for number, each in enumerate(self.swaps):
            (block,) = self._blocks(f"swap{number}")
            chosen.add_case(word(number), block)
            build.position_at_end(block)
            store_words(build, self.current, self.writer.swapped(self._read(self.current), each))
            build.branch(compare)
        build.position_at_end(impossible)
        build.unreachable()
        build.position_at_end(compare)
        self._keep_smaller()
        build.branch(visit)

    def _keep_smaller(self) -> None:
        build, current, best = self.build, self._read(self.current), self._read(self.best)
        smaller = ir.Constant(BIT, 0)
        for new, old in zip(reversed(current), reversed(best), strict=True):
            same = build.icmp_unsigned("==", new, old)
            smaller = build.select(same, smaller, build.icmp_unsigned("<", new, old))
        store_words(build, self.best, [build.select(smaller, *pair) for pair in zip(current, best, strict=True)])

    # Blocks and memory

    def _blocks(self, *names: str) -> list[ir.Block]:
        return [self.build.append_basic_block(name) for name in names]

    def _array(self, size: int) -> ir.Value:
        with self.build.goto_entry_block():
            return self.build.alloca(WORD, size)

    def _read(self, array: ir.Value) -> list[ir.Value]:
        return load_words(self.build, array, len(self.words))

    def _get(self, array: ir.Value, place: ir.Value) -> ir.Value:
        return self.build.load(self.build.gep(array, [place], source_etype=WORD), typ=WORD)

    def _put(self, array: ir.Value, place: ir.Value, value: ir.Value) -> None:
        self.build.store(value, self.build.gep(array, [place], source_etype=WORD))
