"""The loops that must be fast, and the intrinsics they need: the one file that imports numba.

Everything that numba compiles lives here, because its cache notices a change in the file that holds a kernel and in no
other. The kernels know nothing of levels, limits or memory: they fill arrays that `store.py` owns, and return when
somebody else has to act.

How a state is looked up. Its hash has 64 bits. The upper half, the *tag*, is kept in the slot beside the state's index:

    slot   63 ........ 32 | 31 ........ 0
              tag           index + 1          a slot of 0 is empty

Eight slots are a line, 64 bytes: what memory delivers in one go, and what one vector instruction compares. The first
bits of the tag tell the home line; a full line passes on to the next. So a slot alone tells where it belongs, and
doubling the table is one orderly sweep that touches no state. The other bits of the tag tell nearly all different
states apart; an equal tag proves nothing, so then the whole states are compared.

Memory latency is what a look-up costs: it waits for a line of slots, and for the words of a state if the tag is there.
So look-ups are made in batches. As soon as a successor has been generated, `_announce` asks for its home line; once a
batch is full, `_approach` reads these lines and asks for the states that they point to; only then does `_keep_new`
compare, in the order in which the successors were generated. The batch changes when memory is read, and nothing else.
"""

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

# Why `advance` returned.
DONE: Final = 0
CROWDED: Final = 1
FULL: Final = 2
FAULT: Final = 3

# Places in `Tally.registers`: states stored; the next row to expand; predicates not yet found; the faulty step.
COUNT: Final = 0
CURSOR: Final = 1
UNSEEN: Final = 2
FAULTY: Final = 3
REGISTERS: Final = 4

# Typed, because numba, like numpy, makes a float of an unsigned and a signed integer.
_EMPTY: Final = np.uint64(0)
_ONE: Final = np.uint64(1)
_WORD: Final = np.uint64(8)
_HALF: Final = np.uint64(32)
_INDEX: Final = np.uint64(2**32 - 1)
_SLOTS: Final = np.uint64(8)  # of a line; so also bits of each half of what `_compare` says
_LINE: Final = np.uint64(64)
_TAGGED: Final = np.uint64(2**8 - 1)
# Odd numbers without a pattern: the fractions of the golden ratio, of the square root of 3 and of the square root of 5.
_SEED: Final = np.uint64(0x9E3779B97F4A7C15)
_MIX: Final = np.uint64(0xBB67AE8584CAA73B)
_LAST: Final = np.uint64(0x3C6EF372FE94F82B)

# With `_nrt` on, references to the arrays are counted for each single state, and the search is 4 times slower. Off,
# they are not counted at all: nothing is allocated in here, and `store.py` keeps the arrays alive. (Any: numba's
# annotations lack the options whose names start with an underscore.)
_OPTIONS: Final[dict[str, Any]] = {"error_model": "numpy", "_nrt": False}


class Functions(NamedTuple):
    """Addresses of the native functions, and a tuple of as many zeros as a state has words.

    The length of a tuple is part of its type: each width gets kernels of its own, with the loops over words unrolled.
    """

    expand: int
    violated: int
    canonical: int
    width: tuple[int, ...]


class Rows(NamedTuple):
    """One row a state: its words (flat), the row that it was reached from, and the step."""

    words: Any
    parents: Any
    steps: Any


class Table(NamedTuple):
    """The slots, a power of two of them, and by how much to shift a hash to get its home line."""

    slots: Any
    shift: Any


class Batch(NamedTuple):
    """Candidates, generated but not yet looked up; their hashes, and the lines at which looking up goes on."""

    words: Any
    parents: Any
    steps: Any
    hashes: Any
    lines: Any


class Tally(NamedTuple):
    """Successors counted by step, the first state of each predicate, and the registers.

    The registers are an array, not results, so that a Ctrl-C finds them up to date wherever it strikes.
    """

    steps: Any
    first: Any
    registers: Any


def _kernel(function: Callable[..., Any]) -> Any:
    """Compile on the first call and keep the machine code, unless there is nowhere to keep it."""
    try:
        return numba.njit(cache=True, nogil=True, **_OPTIONS)(function)
    except RuntimeError:  # "no locator available": neither this folder nor the user's cache can be written to
        return numba.njit(nogil=True, **_OPTIONS)(function)


def _part(function: Callable[..., Any]) -> Any:
    """Compile a piece of a kernel, always inlined: its arrays would make some sixty arguments of a real call."""
    return numba.njit(forceinline=True, **_OPTIONS)(function)


def _intrinsic(function: Callable[..., Any]) -> Any:
    """Let kernels call what `function` emits. (Numba's own annotation wants callers to pass the typing context.)"""
    return intrinsic(function)


def _call(builder: Any, result: ir.Type, arguments: Any) -> Any:
    """Emit a call of the C function at the first argument; the other arguments are addresses too."""
    word = ir.IntType(64)
    kind = ir.FunctionType(result, [word] * (len(arguments) - 1))
    return builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), arguments[1:])


@_intrinsic
def _call_expand(_typing: Any, expand: Any, state: Any, successors: Any, steps: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return _call(builder, ir.IntType(64), arguments)

    return types.int64(types.int64, types.uintp, types.uintp, types.uintp), generate


@_intrinsic
def _call_violated(_typing: Any, violated: Any, state: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return _call(builder, ir.IntType(64), arguments)

    return types.uint64(types.int64, types.uintp), generate


@_intrinsic
def _call_canonical(_typing: Any, canonical: Any, state: Any, representative: Any) -> Any:
    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        _call(builder, ir.VoidType(), arguments)
        return context.get_dummy_value()

    return types.none(types.int64, types.uintp, types.uintp), generate


@_intrinsic
def _prefetch(_typing: Any, address: Any) -> Any:
    """Ask for the line of memory at an address, to be read soon; an address that does not exist does no harm."""

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        builder.call(prefetch, [builder.inttoptr(arguments[0], byte), number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.none(types.uintp), generate


@_intrinsic
def _compare(_typing: Any, line: Any, hashed: Any) -> Any:
    """Compare a line of slots with a hash: bits 0 to 7 tell which have its tag, bits 8 to 15 which are empty."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        number, word, vector = ir.IntType(32), ir.IntType(64), ir.VectorType(ir.IntType(64), 8)
        slots = builder.load(builder.inttoptr(arguments[0], vector.as_pointer()), align=64)
        first = builder.insert_element(vector(ir.Undefined), arguments[1], number(0))
        hashes = builder.shuffle_vector(first, vector(ir.Undefined), ir.VectorType(number, 8)([0] * 8))
        empty = builder.icmp_unsigned("==", slots, vector([0] * 8))
        equal = builder.icmp_unsigned("<", builder.xor(slots, hashes), vector([2**32] * 8))
        tagged = builder.and_(equal, builder.not_(empty))
        bits = [builder.zext(builder.bitcast(each, ir.IntType(8)), word) for each in (tagged, empty)]
        return builder.or_(bits[0], builder.shl(bits[1], word(8)))

    return types.uint64(types.uintp, types.uint64), generate


@_intrinsic
def _lowest(_typing: Any, bits: Any) -> Any:
    """The place of the lowest bit that is set."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.IntType(1)(1))

    return types.uint64(types.uint64), generate


@_part
def _hash(words: Any, start: Any, width: Any) -> Any:
    """Mix the words of a state so that each bit of them reaches the upper half."""
    mixed = _SEED
    for word in range(len(width)):
        mixed = (mixed ^ words[start + np.uint64(word)]) * _MIX
        mixed ^= mixed >> _HALF
    return mixed * _LAST


@_part
def _equal(some: Any, start: Any, others: Any, other_start: Any, width: Any) -> Any:
    """Whether two states are the same, word for word."""
    difference = _EMPTY
    for word in range(len(width)):
        difference |= some[start + np.uint64(word)] ^ others[other_start + np.uint64(word)]
    return difference == _EMPTY


@_part
def _row(slot: Any, width: Any) -> Any:
    """Where the words of the state in a slot start."""
    return ((slot & _INDEX) - _ONE) * np.uint64(len(width))


@_part
def _next_line(table: Any, line: Any) -> Any:
    return (line + _ONE) & np.uint64(table.slots.size // 8 - 1)


@_part
def _promising(table: Any, hashed: Any) -> Any:
    """The first line, from the home line of a hash on, that has its tag or an empty slot; and what `_compare` says."""
    line, slots = hashed >> table.shift, table.slots.ctypes.data
    found = _compare(slots + line * _LINE, hashed)
    while found == _EMPTY:
        line = _next_line(table, line)
        found = _compare(slots + line * _LINE, hashed)
    return line, found


@_part
def _find(table: Any, rows: Any, batch: Any, i: Any, width: Any) -> Any:
    """The slot that holds candidate i, or the empty slot where it belongs."""
    line, hashed, start = batch.lines[i], batch.hashes[i], np.uint64(i) * np.uint64(len(width))
    while True:
        found = _compare(table.slots.ctypes.data + line * _LINE, hashed)
        tagged = found & _TAGGED
        while tagged != _EMPTY:
            place = line * _SLOTS + _lowest(tagged)
            if _equal(rows.words, _row(table.slots[place], width), batch.words, start, width):
                return place
            tagged &= tagged - _ONE
        if found >> _SLOTS != _EMPTY:
            return line * _SLOTS + _lowest(found >> _SLOTS)
        line = _next_line(table, line)


@_part
def _announce(functions: Any, table: Any, batch: Any, first: Any, end: Any) -> None:
    """Canonicalise and hash the candidates from `first` up to `end`, and ask for their home lines."""
    width = functions.width
    for i in range(first, end):
        start = np.uint64(i) * np.uint64(len(width))
        if functions.canonical != 0:
            state = batch.words.ctypes.data + start * _WORD
            _call_canonical(functions.canonical, state, state)
        batch.hashes[i] = _hash(batch.words, start, width)
        _prefetch(table.slots.ctypes.data + (batch.hashes[i] >> table.shift) * _LINE)


@_part
def _approach(functions: Any, table: Any, rows: Any, batch: Any, size: Any) -> None:
    """Find the lines where looking up goes on, and ask for the states that they point to.

    A line found here stays right while the batch is stored: slots are filled once and never emptied.
    """
    width = functions.width
    for i in range(size):
        line, found = _promising(table, batch.hashes[i])
        batch.lines[i] = line
        if found & _TAGGED != _EMPTY:
            row = _row(table.slots[line * _SLOTS + _lowest(found)], width)
            _prefetch(rows.words.ctypes.data + row * _WORD)


@_part
def _append(rows: Any, count: Any, batch: Any, i: Any, width: Any) -> None:
    """Copy candidate i into the row after the last."""
    words = np.uint64(len(width))
    for word in range(len(width)):
        rows.words[count * words + np.uint64(word)] = batch.words[np.uint64(i) * words + np.uint64(word)]
    rows.parents[count] = batch.parents[i]
    rows.steps[count] = batch.steps[i]


@_part
def _judge(functions: Any, rows: Any, index: Any, tally: Any) -> None:
    """Record a new state as the first one for the predicates that it is the first to meet."""
    unseen = tally.registers[UNSEEN]
    if unseen == _EMPTY:
        return
    state = rows.words.ctypes.data + index * np.uint64(len(functions.width)) * _WORD
    found = _call_violated(functions.violated, state) & unseen
    if found != _EMPTY:
        for bit in range(tally.first.size):
            if (found >> np.uint64(bit)) & _ONE != _EMPTY:
                tally.first[bit] = index
        tally.registers[UNSEEN] = unseen ^ found


@_part
def _keep_new(functions: Any, table: Any, rows: Any, batch: Any, size: Any, tally: Any) -> Any:
    """Store those of the first `size` candidates that are new, in order; False if a new one finds no row left.

    Every candidate up to there counts for its step, new or not. The table must have more than `size` empty slots.
    """
    width = functions.width
    _approach(functions, table, rows, batch, size)
    for i in range(size):
        place = _find(table, rows, batch, i, width)
        if table.slots[place] == _EMPTY:
            count = tally.registers[COUNT]
            if count == np.uint64(rows.parents.size):
                return False
            _append(rows, count, batch, i, width)
            table.slots[place] = (batch.hashes[i] & ~_INDEX) | (count + _ONE)
            tally.registers[COUNT] = count + _ONE
            _judge(functions, rows, count, tally)
        tally.steps[batch.steps[i]] += 1
    return True


@_part
def _fill(functions: Any, table: Any, rows: Any, batch: Any, size: Any, batch_size: Any, cursor: Any, end: Any) -> Any:
    """Expand rows from the cursor on until there are `batch_size` candidates; the row expanded last may add more.

    Returns the number of candidates, the next row to expand, and -1 or the step that is at fault in that row.
    """
    bytes_a_state = len(functions.width) * 8
    states, successors, steps = rows.words.ctypes.data, batch.words.ctypes.data, batch.steps.ctypes.data
    while cursor < end and size < batch_size:
        state = states + cursor * bytes_a_state
        more = _call_expand(functions.expand, state, successors + size * bytes_a_state, steps + size * 2)
        if more < 0:
            return size, cursor, -more - 1
        for i in range(size, size + more):
            batch.parents[i] = cursor
        _announce(functions, table, batch, size, size + more)
        size += more
        cursor += 1
    return size, cursor, -1


@_kernel
def advance(functions: Any, table: Any, rows: Any, batch: Any, size: Any, batch_size: Any, tally: Any, end: Any) -> Any:
    """Expand the rows from the cursor up to, and not including, row `end`; returns why it stopped.

    The batch starts with `size` candidates that came from elsewhere: initial states. Its arrays are longer than
    `batch_size` by the most successors that a state can have.
    """
    room = table.slots.size // 4 * 3 - batch.parents.size
    cursor = np.int64(tally.registers[CURSOR])
    _announce(functions, table, batch, 0, size)
    while size > 0 or cursor < end:
        if np.int64(tally.registers[COUNT]) > room:
            return CROWDED
        size, cursor, faulty = _fill(functions, table, rows, batch, size, batch_size, cursor, end)
        if not _keep_new(functions, table, rows, batch, size, tally):
            return FULL
        tally.registers[CURSOR] = cursor
        if faulty >= 0:
            tally.registers[FAULTY] = faulty
            return FAULT
        size = 0
    return DONE


@_kernel
def move(old: Any, first: Any, end: Any, table: Any) -> None:
    """Enter slots `first` to `end` of an old table into a larger one."""
    last = np.uint64(table.slots.size - 1)
    for i in range(first, end):
        if old[i] != _EMPTY:
            place = (old[i] >> table.shift) * _SLOTS
            while table.slots[place] != _EMPTY:
                place = (place + _ONE) & last
            table.slots[place] = old[i]
