"""The loops that must be fast, and the intrinsics they need.

The kernels know nothing of levels, limits or memory: they fill arrays that `store.py` owns, and return when somebody
else has to act. They are given the arrays' addresses: numba then has no arrays to take apart, and needs half the time.
What `functions`, `table`, `rows`, `batch` and `tally` are made of is told in `arrays.py`. This file is imported only if
there is no machine code of it in the cache (`search_loop.py`), as it brings numba with it.

How a state is looked up. Its hash has 64 bits. The upper half, the *tag*, is kept in the slot beside the state's index:

    slot   63 ........ 32 | 31 ........ 0
              tag           index + 1          a slot of 0 is empty

Eight slots are a line, 64 bytes: what memory delivers in one go, and what one vector instruction compares. The first
bits of the tag tell the home line; a full line passes on to the next. So a slot alone tells where it belongs, and
doubling the table is one orderly sweep that touches no state. The other bits of the tag tell nearly all different
states apart; an equal tag proves nothing, so then the whole states are compared.

Memory latency is what a look-up costs: it waits for a line of slots, and for the words of a state if the tag is there.
Two things are done about it. First, most successors that are not new were met a moment ago, because steps that do not
touch each other can be taken in either order: a small *recent* memory, which stays in the processor's cache, recognises
these, and only the others become candidates. Then, candidates are looked up in batches. `_announce` asks for all lines
of slots, `_approach` for all states that they point to, and only then does `_sift` compare, and `_find` look again for
what is left, in the order in which the candidates were generated. Neither changes what is found, only when memory is
read; and where a processor cannot guess which way a comparison goes, the code computes both ways instead of branching.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from llvmlite import ir
from numba.core import types

from checker.explore.arrays import (
    COUNT,
    CROWDED,
    CURSOR,
    DONE,
    FAULT,
    FAULTY,
    FULL,
    NO_PARENT,
    RECENT_BITS,
    UNSEEN,
    Batch,
    Functions,
    Rows,
    Table,
    Tally,
)
from checker.explore.front_end import intrinsic, kernel, part, text_of

# Typed, because numba, like numpy, makes a float of an unsigned and a signed integer.
_EMPTY: Final = np.uint64(0)
_ONE: Final = np.uint64(1)
_HALF: Final = np.uint64(32)
_INDEX: Final = np.uint64(2**32 - 1)
_SLOTS: Final = np.uint64(8)  # of a line; so also bits of each half of what `_compare` says
_TOGETHER: Final = np.uint64(8)  # rows judged by `violated_by_any`
_BYTE: Final = np.uint64(2**8 - 1)
_LAST_SLOT: Final = np.uint64(2**7)
_RECENT: Final = np.uint64(64 - RECENT_BITS)
# Of the same types as what they are in place of, or numba would compile `_announce` twice.
_NONE: Final = np.int64(0)
_NO_PARENT: Final = np.int64(NO_PARENT)
# Odd numbers without a pattern: the fractions of the golden ratio, of the square root of 3 and of the square root of 5.
_SEED: Final = np.uint64(0x9E3779B97F4A7C15)
_MIX: Final = np.uint64(0xBB67AE8584CAA73B)
_LAST: Final = np.uint64(0x3C6EF372FE94F82B)

_WORD: Final = ir.IntType(64)


# Intrinsics. An address is an int64, as Python's numbers are, and with an index, which is a uint64, it makes an array.


def _pointer(builder: Any, array: Any, index: Any, kind: ir.Type) -> Any:
    return builder.gep(builder.inttoptr(array, kind.as_pointer()), [index])


def _memory(bits: int) -> tuple[Any, Any]:
    """How to read and to write an item of an array of unsigned numbers."""
    number, kind = getattr(types, f"uint{bits}"), ir.IntType(bits)

    @intrinsic(number(types.int64, types.uint64))
    def read(_context: Any, builder: Any, array: Any, index: Any) -> Any:
        return builder.load(_pointer(builder, array, index, kind))

    @intrinsic(types.none(types.int64, types.uint64, number))
    def write(_context: Any, builder: Any, array: Any, index: Any, value: Any) -> Any:
        builder.store(value, _pointer(builder, array, index, kind))

    return read, write


_read, _write = _memory(64)
_read_32, _write_32 = _memory(32)
_read_16, _write_16 = _memory(16)


def _call(builder: Any, result: ir.Type, function: Any, *pointers: Any) -> Any:
    """Emit a call of the C function at an address."""
    kind = ir.FunctionType(result, [pointer.type for pointer in pointers])
    return builder.call(builder.inttoptr(function, kind.as_pointer()), pointers)


@intrinsic(types.int64(types.int64, types.int64, types.int64, types.int64))
def _call_expand(_context: Any, builder: Any, expand: Any, state: Any, successors: Any, steps: Any) -> Any:
    return _call(builder, _WORD, expand, state, successors, steps)


@intrinsic(types.uint64(types.int64, types.int64, types.uint64))
def _call_violated(_context: Any, builder: Any, violated: Any, words: Any, start: Any) -> Any:
    """Call it for the state that starts at an index of the words."""
    return _call(builder, _WORD, violated, _pointer(builder, words, start, _WORD))


@intrinsic(types.none(types.int64, types.int64, types.uint64, types.uint64))
def _call_canonical(_context: Any, builder: Any, canonical: Any, words: Any, source: Any, target: Any) -> Any:
    """Call it for the state that starts at index `source` of the words; the result starts at `target`."""
    _call(builder, ir.VoidType(), canonical, *(_pointer(builder, words, start, _WORD) for start in (source, target)))


@intrinsic(types.none(types.int64, types.uint64))
def _prefetch(_context: Any, builder: Any, words: Any, index: Any) -> Any:
    """Ask for the line of memory that a word is in, to be read soon; an address that does not exist does no harm."""
    byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
    prefetch = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
    address = builder.bitcast(_pointer(builder, words, index, _WORD), byte)
    builder.call(prefetch, [address, number(0), number(3), number(1)])


@intrinsic(types.uint64(types.int64, types.uint64, types.uint64))
def _compare(_context: Any, builder: Any, slots: Any, line: Any, hashed: Any) -> Any:
    """Compare a line of slots with a hash: bits 0 to 7 tell which have its tag, bits 8 to 15 which are empty."""
    vector, number = ir.VectorType(_WORD, 8), ir.IntType(32)
    loaded = builder.load(_pointer(builder, slots, line, vector), align=64)
    first = builder.insert_element(vector(ir.Undefined), hashed, number(0))
    hashes = builder.shuffle_vector(first, vector(ir.Undefined), ir.VectorType(number, 8)([0] * 8))
    empty = builder.icmp_unsigned("==", loaded, vector([0] * 8))
    equal = builder.icmp_unsigned("<", builder.xor(loaded, hashes), vector([2**32] * 8))
    tagged = builder.and_(equal, builder.not_(empty))
    bits = [builder.zext(builder.bitcast(each, ir.IntType(8)), _WORD) for each in (tagged, empty)]
    return builder.or_(bits[0], builder.shl(bits[1], _WORD(8)))


@intrinsic(types.uint64(types.uint64))
def _lowest(_context: Any, builder: Any, bits: Any) -> Any:
    """The place of the lowest bit that is set."""
    return builder.cttz(bits, ir.IntType(1)(1))


# States, each `width` words from a start on


@part
def _hash(words: Any, start: Any, width: Any) -> Any:
    """Mix the words of a state so that each bit of them reaches the upper half."""
    mixed = _SEED
    for word in range(len(width)):
        mixed = (mixed ^ _read(words, start + np.uint64(word))) * _MIX
        mixed ^= mixed >> _HALF
    return mixed * _LAST


@part
def _equal(some: Any, start: Any, others: Any, other_start: Any, width: Any) -> Any:
    """Whether two states are the same, word for word."""
    difference = _EMPTY
    for word in range(len(width)):
        difference |= _read(some, start + np.uint64(word)) ^ _read(others, other_start + np.uint64(word))
    return difference == _EMPTY


@part
def _copy(words: Any, source: Any, others: Any, target: Any, width: Any) -> None:
    """Write a state elsewhere."""
    for word in range(len(width)):
        _write(others, target + np.uint64(word), _read(words, source + np.uint64(word)))


# From a state to its candidates


@part
def _met(batch: Any, hashed: Any, start: Any, width: Any) -> Any:
    """Whether the recent memory has a state of the batch; if not, it has it from now on.

    A place is for all hashes that begin with its number, and holds one state: its hash, then its words but for the last
    one. With these equal the last words are equal too, because each step of hashing can be undone.
    """
    place = (hashed >> _RECENT) * np.uint64(len(width))
    difference = _read(batch.recent, place) ^ hashed
    _write(batch.recent, place, hashed)
    for word in range(len(width) - 1):
        value = _read(batch.words, start + np.uint64(word))
        difference |= _read(batch.recent, place + np.uint64(word + 1)) ^ value
        _write(batch.recent, place + np.uint64(word + 1), value)
    return difference == _EMPTY


@part
def _announce(functions: Any, table: Any, batch: Any, size: Any, place: Any, more: Any, parent: Any) -> Any:
    """Turn successors into candidates: canonicalise and hash them, leave out those just met, ask for home lines.

    There are `size` candidates and `place` successors already; the words of `more` successors, all of one parent, stand
    behind the candidates. Returns the number of candidates. One that was just met is overwritten by the next.
    """
    width, words = functions.width, np.uint64(len(functions.width))
    last = np.uint64(size)
    source = last * words
    for i in range(more):
        target = last * words
        if functions.canonical != 0:
            _call_canonical(functions.canonical, batch.words, source, target)
        else:
            _copy(batch.words, source, batch.words, target, width)
        hashed = _hash(batch.words, target, width)
        _write(batch.hashes, last, hashed)
        _write(batch.places, last, place + i)
        _write_32(batch.parents, last, parent)
        _prefetch(table.slots, (hashed >> table.shift) * _SLOTS)
        last += _ONE - np.uint64(_met(batch, hashed, target, width))
        source += words
    return np.int64(last)


@part
def _fill(
    functions: Any, table: Any, rows: Any, batch: Any, size: Any, place: Any, cursor: Any, end: Any, most: Any
) -> Any:
    """Expand rows from the cursor on until there are `most` successors; the row expanded last may add more.

    Returns the numbers of candidates and successors, the next row to expand, and -1 or the step at fault in that row.
    """
    size_of_state = len(functions.width) * 8
    while cursor < end and place < most:
        state, successors = rows.words + cursor * size_of_state, batch.words + size * size_of_state
        more = _call_expand(functions.expand, state, successors, batch.steps + place * 2)
        if more < 0:
            return size, place, cursor, -more - 1
        size = _announce(functions, table, batch, size, place, more, cursor)
        place += more
        cursor += 1
    return size, place, cursor, -1


# From candidates to new states


@part
def _approach(table: Any, rows: Any, batch: Any, size: Any, width: Any) -> None:
    """Find the lines where looking up goes on, and ask for the states that they point to.

    Such a line is the first one, from the home line on, that has the candidate's tag or an empty slot. It stays right
    while the batch is stored: slots are filled once and never emptied. A candidate whose tag is not there is given
    row 0, so as to need no branch.
    """
    for i in range(size):
        hashed = _read(batch.hashes, i)
        line = hashed >> table.shift
        found = _compare(table.slots, line, hashed)
        while found == _EMPTY:
            line = (line + _ONE) & table.last
            found = _compare(table.slots, line, hashed)
        tags = found & _BYTE
        tagged = np.uint64(tags != _EMPTY)
        slot = _read(table.slots, line * _SLOTS + _lowest(tags | _LAST_SLOT))
        row = (slot & _INDEX & (_EMPTY - tagged)) - tagged
        _write(batch.lines, i, line)
        _write(batch.rows, i, row)
        _write(batch.tagged, i, tagged)
        _prefetch(rows.words, row * np.uint64(len(width)))


@part
def _sift(rows: Any, batch: Any, size: Any, width: Any) -> Any:
    """List the candidates that are not in the rows found for them; returns their number."""
    words, fresh = np.uint64(len(width)), _EMPTY
    for i in range(size):
        candidate = np.uint64(i)
        same = _equal(rows.words, _read(batch.rows, i) * words, batch.words, candidate * words, width)
        _write(batch.fresh, fresh, candidate)
        fresh += _ONE - (_read(batch.tagged, i) & np.uint64(same))
    return np.int64(fresh)


@part
def _find(table: Any, rows: Any, batch: Any, candidate: Any, width: Any) -> Any:
    """The slot that holds a candidate, or the empty slot where it belongs."""
    line, hashed, words = _read(batch.lines, candidate), _read(batch.hashes, candidate), np.uint64(len(width))
    while True:
        found = _compare(table.slots, line, hashed)
        tagged = found & _BYTE
        while tagged != _EMPTY:
            place = line * _SLOTS + _lowest(tagged)
            row = (_read(table.slots, place) & _INDEX) - _ONE
            if _equal(rows.words, row * words, batch.words, candidate * words, width):
                return place
            tagged &= tagged - _ONE
        if found >> _SLOTS != _EMPTY:
            return line * _SLOTS + _lowest(found >> _SLOTS)
        line = (line + _ONE) & table.last


@part
def _keep_new(table: Any, rows: Any, batch: Any, size: Any, width: Any, tally: Any) -> Any:
    """Store those of the first `size` candidates that are new, in order; returns the one that finds no row left, or -1.

    The table must have more than `size` empty slots.
    """
    _approach(table, rows, batch, size, width)
    words, count = np.uint64(len(width)), _read(tally.registers, COUNT)
    for i in range(_sift(rows, batch, size, width)):
        candidate = _read(batch.fresh, i)
        place = _find(table, rows, batch, candidate, width)
        if _read(table.slots, place) == _EMPTY:
            if count == rows.most:
                return np.int64(candidate)
            _copy(batch.words, candidate * words, rows.words, count * words, width)
            _write_32(rows.parents, count, _read_32(batch.parents, candidate))
            _write_16(rows.steps, count, _read_16(batch.steps, _read(batch.places, candidate)))
            count += _ONE
            _write(table.slots, place, (_read(batch.hashes, candidate) & ~_INDEX) | count)
            _write(tally.registers, COUNT, count)
    return -1


@part
def _judge(functions: Any, rows: Any, first: Any, end: Any, tally: Any) -> None:
    """Record, in order, rows from `first` up to `end` as the first ones for the predicates that they are first to meet.

    Rows are judged eight at a time as long as there is nothing to record.
    """
    unseen, words = _read(tally.registers, UNSEEN), np.uint64(len(functions.width))
    if unseen == _EMPTY:
        return
    while first < end:
        together = functions.violated_by_any != 0 and end - first >= _TOGETHER
        if together and _call_violated(functions.violated_by_any, rows.words, first * words) & unseen == _EMPTY:
            first += _TOGETHER
            continue
        found = _call_violated(functions.violated, rows.words, first * words) & unseen
        unseen ^= found
        while found != _EMPTY:
            _write(tally.first, _lowest(found), first)
            found &= found - _ONE
        first += _ONE
    _write(tally.registers, UNSEEN, unseen)


@part
def _settle(functions: Any, table: Any, rows: Any, batch: Any, size: Any, place: Any, tally: Any) -> Any:
    """Look up `size` candidates, made of `place` successors; False if a new one finds no row left.

    Every successor up to there counts for its step, new or not.
    """
    first = _read(tally.registers, COUNT)
    failed = _keep_new(table, rows, batch, size, functions.width, tally)
    _judge(functions, rows, first, _read(tally.registers, COUNT), tally)
    if failed >= 0:
        place = np.int64(_read(batch.places, failed))
    for i in range(place):
        step = _read_16(batch.steps, i)
        _write(tally.steps, step, _read(tally.steps, step) + _ONE)
    return failed < 0


@kernel
def advance(functions: Any, table: Any, rows: Any, batch: Any, given: Any, most: Any, tally: Any, end: Any) -> Any:
    """Expand the rows from the cursor up to, and not including, row `end`; returns why it stopped.

    The batch starts with `given` states that came from elsewhere: initial states. Its arrays are longer than `most`,
    the successors that make a batch, by the most successors that a state can have.
    """
    cursor = np.int64(_read(tally.registers, CURSOR))
    while given > 0 or cursor < end:
        if np.int64(_read(tally.registers, COUNT)) + batch.longest > table.most:
            return CROWDED
        size = _announce(functions, table, batch, _NONE, _NONE, given, _NO_PARENT)
        size, place, cursor, faulty = _fill(functions, table, rows, batch, size, given, cursor, end, most)
        if not _settle(functions, table, rows, batch, size, place, tally):
            return FULL
        _write(tally.registers, CURSOR, cursor)
        if faulty >= 0:
            _write(tally.registers, FAULTY, faulty)
            return FAULT
        given = 0
    return DONE


# A larger table


@part
def _taken(slots: Any, line: Any) -> Any:
    """How many slots of a line are taken; they are filled in order."""
    return _lowest(_compare(slots, line, _EMPTY) >> _SLOTS | (_BYTE + _ONE))


@part
def _taken_in_pair(table: Any, line: Any) -> Any:
    """The same of a line and of the one after it, in a byte each."""
    return _taken(table.slots, line) | _taken(table.slots, line + _ONE) << _SLOTS


@part
def _enter(table: Any, slot: Any) -> None:
    """Put a slot into the first line, from its home line on, that is not full."""
    line = slot >> table.shift
    used = _taken(table.slots, line)
    while used == _SLOTS:
        line = (line + _ONE) & table.last
        used = _taken(table.slots, line)
    _write(table.slots, line * _SLOTS + used, slot)


@kernel
def move(old: Any, first: Any, end: Any, table: Any) -> None:
    """Enter lines `first` to `end`, not included, of an old table's slots into a table of twice the size.

    Slots at home in a line go to one of two new lines. How many slots of these are taken is counted in two bytes of a
    word. What had been passed on by another line, and what finds its new line full, is entered like anything else.
    """
    for i in range(first, end):
        line = np.uint64(i)
        home = line + line
        taken = _taken_in_pair(table, home)
        for j in range(np.int64(_taken(old, line))):
            slot = _read(old, line * _SLOTS + np.uint64(j))
            side = (slot >> table.shift) - home
            used = taken >> side * _SLOTS & _BYTE
            if side > _ONE or used == _SLOTS:
                _enter(table, slot)
                taken = _taken_in_pair(table, home)
            else:
                _write(table.slots, (home + side) * _SLOTS + used, slot)
                taken += _ONE << side * _SLOTS


def source(words: int) -> str:
    """The kernels in LLVM's language, for states of so many words."""
    functions, table, rows = Functions(0, 0, 0, 0, (0,) * words), Table(0, _EMPTY, _EMPTY, 0), Rows(0, 0, 0, _EMPTY)
    batch, tally = Batch(*[0] * len(Batch._fields)), Tally(0, 0, 0)
    return text_of({advance: (functions, table, rows, batch, 0, 0, tally, 0), move: (0, 0, 0, table)})
