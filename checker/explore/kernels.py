"""The loops that must be fast, and the intrinsics they need: the only file that imports numba.

Everything numba compiles lives here, because its cache notices a change in the file that holds a kernel and in no other.
The kernels know nothing of limits, levels or memory: they fill arrays that `store.py` owns, and return when it must act.

How one state is looked up. Its hash has 64 bits. The top half, the *tag*, is kept in the slot beside the state's index:

    slot   63 ............ 32 | 31 ............ 0
             tag                index + 1           0 = empty slot

The home slot is the first bits of the tag, and the search goes on from there slot by slot. So a slot alone tells where
it belongs, and doubling the table is one orderly sweep over the old one that touches no state. The remaining bits of the
tag tell nearly all different states apart; an equal tag proves nothing, so the whole state is compared then.

Memory latency is the limit. A single look-up waits for one line of the table and, if the state is an old one, for one
line of states. `keep_new` therefore takes a batch: it asks for all lines of the first kind, then for all of the second
kind, and compares only then, when they have arrived.
"""

# Numba's decorators carry no types, so mypy cannot see through them.
# mypy: disallow-untyped-decorators=False, disallow-any-expr=False
from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

NO_PARENT: Final = 2**32 - 1
"""The parent of an initial state."""

# What made `advance` return.
DONE: Final = 0
CROWDED: Final = 1
FULL: Final = 2
FAULT: Final = 3

# Places in `Tally.registers`.
COUNT: Final = 0
CURSOR: Final = 1
SEEN: Final = 2
FAULT_STEP: Final = 3
REGISTERS: Final = 4

_HALF: Final = np.uint64(32)
_INDEX: Final = np.uint64(2**32 - 1)
_ONE: Final = np.uint64(1)
_EMPTY: Final = np.uint64(0)
# Odd constants with no pattern: the fractional digits of the golden ratio, and of the square roots of 3 and 5.
_SEED: Final = np.uint64(0x9E3779B97F4A7C15)
_MIX: Final = np.uint64(0xBB67AE8584CAA73B)
_LAST: Final = np.uint64(0x3C6EF372FE94F82B)


class Functions(NamedTuple):
    """Addresses of the native functions (0: absent), and as many zeros as a state has words.

    The length of a tuple is part of its type, so each width gets kernels of its own with their loops over words unrolled.
    """

    expand: int
    violated: int
    canonical: int
    width: tuple[int, ...]


class Rows(NamedTuple):
    """One row a state: its words, the row it was reached from, and by which step."""

    words: Any
    parents: Any
    steps: Any


class Table(NamedTuple):
    """The slots of the hash table, a power of two, and how far to shift a hash to get its home slot."""

    slots: Any
    shift: Any


class Batch(NamedTuple):
    """Candidates: successors that have been generated and not yet looked up."""

    words: Any
    parents: Any
    steps: Any
    hashes: Any


class Tally(NamedTuple):
    """What is counted: successors by step, the first state for each predicate, and the registers.

    The registers are an array and not results so that a Ctrl-C, wherever it strikes, finds them up to date.
    """

    steps: Any
    first: Any
    registers: Any


def _kernel(function: Callable[..., Any]) -> Any:
    """Compile on first use and keep the machine code, unless there is nowhere to keep it."""
    options = {"nogil": True, "error_model": "numpy"}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # "no locator available": neither the source folder nor the user's cache is writable
        return numba.njit(**options)(function)


def _call(builder: Any, result: ir.Type, address: Any, arguments: Any) -> Any:
    """Emit a call of the C function at an address; its arguments are addresses too."""
    word = ir.IntType(64)
    pointer = ir.FunctionType(result, [word] * len(arguments)).as_pointer()
    return builder.call(builder.inttoptr(address, pointer), arguments)


@intrinsic
def _call_expand(_typing: Any, function: Any, state: Any, successors: Any, steps: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return _call(builder, ir.IntType(64), arguments[0], arguments[1:])

    return types.int64(types.int64, types.uintp, types.uintp, types.uintp), generate


@intrinsic
def _call_violated(_typing: Any, function: Any, state: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return _call(builder, ir.IntType(64), arguments[0], arguments[1:])

    return types.uint64(types.int64, types.uintp), generate


@intrinsic
def _call_canonical(_typing: Any, function: Any, state: Any, representative: Any) -> Any:
    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        _call(builder, ir.VoidType(), arguments[0], arguments[1:])
        return context.get_dummy_value()

    return types.none(types.int64, types.uintp, types.uintp), generate


@intrinsic
def _prefetch(_typing: Any, address: Any) -> Any:
    """Ask for the cache line at an address; reading it, wanted soon and often."""

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        builder.call(prefetch, [builder.inttoptr(arguments[0], byte), number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.none(types.uintp), generate


@_kernel
def _hash(words: Any, start: Any, width: Any) -> Any:
    """Mix the words of a state so that the top bits depend on every bit of it."""
    mixed = _SEED
    for place in range(len(width)):
        mixed = (mixed ^ words[start + np.uint64(place)]) * _MIX
        mixed ^= mixed >> _HALF
    return mixed * _LAST


@_kernel
def _equal(some: Any, start: Any, others: Any, other_start: Any, width: Any) -> Any:
    """Whether two states are the same in every word."""
    different = _EMPTY
    for place in range(len(width)):
        different |= some[start + np.uint64(place)] ^ others[other_start + np.uint64(place)]
    return different == _EMPTY


@_kernel
def _find(table: Any, hashed: Any, rows: Any, batch: Any, start: Any, width: Any) -> Any:
    """The slot that holds the state which starts at a place of the batch, or the empty slot where it belongs."""
    last, words = np.uint64(table.slots.size - 1), np.uint64(len(width))
    place = hashed >> table.shift
    while True:
        slot = table.slots[place]
        if slot == _EMPTY:
            return place
        if (slot ^ hashed) >> _HALF == _EMPTY:
            if _equal(rows.words, ((slot & _INDEX) - _ONE) * words, batch.words, start, width):
                return place
        place = (place + _ONE) & last


@_kernel
def _note(found: Any, index: Any, tally: Any) -> None:
    """Record a state as the first one for each predicate in the bit mask `found`."""
    for bit in range(tally.first.size):
        if (found >> np.uint64(bit)) & _ONE:
            tally.first[bit] = index
    tally.registers[SEEN] |= found


@_kernel
def _prepare(functions: Any, table: Any, rows: Any, batch: Any, size: Any) -> None:
    """Canonicalise and hash a batch, and ask for every line of memory that `keep_new` will read."""
    width = functions.width
    words = np.uint64(len(width))
    address, slots, states = batch.words.ctypes.data, table.slots.ctypes.data, rows.words.ctypes.data
    for i in range(size):
        if functions.canonical != 0:
            state = address + np.uint64(i) * words * np.uint64(8)
            _call_canonical(functions.canonical, state, state)
        hashed = _hash(batch.words, np.uint64(i) * words, width)
        batch.hashes[i] = hashed
        _prefetch(slots + (hashed >> table.shift) * np.uint64(8))
    for i in range(size):
        hashed = batch.hashes[i]
        slot = table.slots[hashed >> table.shift]
        if (slot ^ hashed) >> _HALF == _EMPTY:
            _prefetch(states + ((slot & _INDEX) - _ONE) * words * np.uint64(8))


@_kernel
def keep_new(functions: Any, table: Any, rows: Any, batch: Any, size: Any, tally: Any) -> Any:
    """Store those of the first `size` candidates that are new, in their order; False if the rows ran out.

    Needs a table with at least `size` empty slots to spare. Each candidate counts for its step, new or not.
    """
    width = functions.width
    words = np.uint64(len(width))
    unseen = ~tally.registers[SEEN] & ((_ONE << np.uint64(tally.first.size)) - _ONE if tally.first.size < 64 else ~_EMPTY)
    count, states = tally.registers[COUNT], rows.words.ctypes.data
    _prepare(functions, table, rows, batch, size)
    for i in range(size):
        start = np.uint64(i) * words
        place = _find(table, batch.hashes[i], rows, batch, start, width)
        if table.slots[place] == _EMPTY:
            if count == np.uint64(rows.parents.size):
                return False
            for j in range(len(width)):
                rows.words[count * words + np.uint64(j)] = batch.words[start + np.uint64(j)]
            rows.parents[count] = batch.parents[i]
            rows.steps[count] = batch.steps[i]
            if unseen != _EMPTY:
                found = _call_violated(functions.violated, states + count * words * np.uint64(8)) & unseen
                if found != _EMPTY:
                    _note(found, count, tally)
                    unseen &= ~found
            count += _ONE
            table.slots[place] = (batch.hashes[i] >> _HALF) << _HALF | count
            tally.registers[COUNT] = count
        tally.steps[batch.steps[i]] += 1
    return True


@_kernel
def advance(functions: Any, table: Any, rows: Any, batch: Any, batch_size: Any, tally: Any, end: Any) -> Any:
    """Expand the rows from the cursor up to and not including `end`, batch by batch; tells why it returned.

    The batch has room for the successors of one more row than it takes to reach `batch_size`.
    """
    words, room = len(functions.width), table.slots.size // 4 * 3
    states, successors, steps = rows.words.ctypes.data, batch.words.ctypes.data, batch.steps.ctypes.data
    cursor = np.int64(tally.registers[CURSOR])
    while cursor < end:
        if np.int64(tally.registers[COUNT]) + batch.parents.size > room:
            return CROWDED
        size, more = 0, 0
        while cursor < end and size < batch_size:
            more = _call_expand(
                functions.expand, states + cursor * words * 8, successors + size * words * 8, steps + size * 2
            )
            if more < 0:
                break
            for i in range(size, size + more):
                batch.parents[i] = cursor
            size += more
            cursor += 1
        if not keep_new(functions, table, rows, batch, size, tally):
            return FULL
        tally.registers[CURSOR] = cursor
        if more < 0:
            tally.registers[FAULT_STEP] = -more - 1
            return FAULT
    return DONE


@_kernel
def move(old: Any, first: Any, end: Any, table: Any) -> None:
    """Put the entries in slots `first` to `end` of an old table into a larger one."""
    last = np.uint64(table.slots.size - 1)
    for i in range(first, end):
        slot = old[i]
        if slot != _EMPTY:
            place = slot >> table.shift
            while table.slots[place] != _EMPTY:
                place = (place + _ONE) & last
            table.slots[place] = slot
