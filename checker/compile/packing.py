"""How a state is laid out in 64-bit words: the fewest that first-fit packing finds, no cell across two words.

A cell is stored as its *code*, the value less the lowest value of its domain, in as many bits as its domain needs (none
for a domain of one member). Cells of one individual are kept together, and in the same order for every individual, so
that two individuals trade places by moving two blocks of bits; a set is kept together too, so that it is copied and
compared in one operation. Where whole blocks would cost a word more than scattered cells, they are cut into pieces.

    words = packing.pack(state)
    assert packing.unpack(words) == state
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from model.errors import ModelError
from model.language.domains import Bool, Key, Option, Part, Scalar, Scalarset
from model.language.protocol import Cell, Protocol, State

WORD_BITS = 64

#: A state in packed form: `Packing.words` integers of 64 bits.
Words: TypeAlias = tuple[int, ...]

#: Cells that stay side by side.
Chunk: TypeAlias = tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Position:
    """Where a cell's code stands: `bits` bits of word `word`, the lowest one being bit `shift`."""

    word: int
    shift: int
    bits: int

    @property
    def mask(self) -> int:
        """The cell's bits within its word."""
        return ((1 << self.bits) - 1) << self.shift


@dataclass(frozen=True, eq=False)
class Packing:
    """The layout of one protocol's states; depends on its variables only, and is the same in every run."""

    protocol: Protocol

    @cached_property
    def positions(self) -> tuple[Position, ...]:
        """One for each cell, in the order of the cells."""
        found: dict[int, Position] = {}
        for word, chunks in enumerate(_fewest_words(self.protocol.cells)):
            shift = 0
            for cell in itertools.chain.from_iterable(chunks):
                found[cell.number] = Position(word, shift, cell.domain.bits)
                shift += cell.domain.bits
        return tuple(found.get(cell.number, Position(0, 0, 0)) for cell in self.protocol.cells)

    @cached_property
    def words(self) -> int:
        """How many words a state takes; at least one."""
        return 1 + max((position.word for position in self.positions), default=0)

    @cached_property
    def bits(self) -> int:
        """How many bits of those words carry information."""
        return sum(position.bits for position in self.positions)

    def pack(self, state: State) -> Words:
        """The words of a state. Raises `ValueError` for a value outside its cell's domain."""
        words = [0] * self.words
        for cell, position, value in zip(self.protocol.cells, self.positions, state, strict=True):
            if value not in cell.domain.codes():
                raise ValueError(f"{cell.path} cannot be {value}: it ranges over {cell.domain}")
            words[position.word] |= (value - cell.domain.low) << position.shift
        return tuple(words)

    def unpack(self, words: Sequence[int]) -> State:
        """The state that `pack` made these words of."""
        return tuple(
            cell.domain.low + ((words[position.word] & position.mask) >> position.shift)
            for cell, position in zip(self.protocol.cells, self.positions, strict=True)
        )

    def table(self) -> str:
        """The layout as text, one line a cell: word, first and last bit, path, domain."""
        rows = sorted(zip(self.positions, self.protocol.cells, strict=True), key=_by_place)
        lines = [f"{position.word:>4}  {_span(position):>5}  {cell.path}: {cell.domain}" for position, cell in rows]
        return "\n".join(["word   bits  cell", *lines])


def _by_place(row: tuple[Position, Cell]) -> tuple[int, int, int]:
    position, cell = row
    return position.word, position.shift, cell.number


def _span(position: Position) -> str:
    last = position.shift + position.bits - 1
    if position.bits < 2:
        return str(position.shift) if position.bits else "-"
    return f"{position.shift}-{last}"


# Which cells share a word


def _fewest_words(cells: Sequence[Cell]) -> list[list[Chunk]]:
    """The chunks of each word. Whole groups if that costs no word, else pieces of them, else single cells."""
    groups = _groups(cells)
    least = -(-_bits(cells) // WORD_BITS)
    best: list[list[Chunk]] | None = None
    for pieces in range(1, max(map(len, groups), default=0) + 1):
        chunks = [piece for group in groups for piece in _cut(group, pieces)]
        words = _first_fit(chunks) if max(map(_bits, chunks)) <= WORD_BITS else None
        if words is not None and (best is None or len(words) < len(best)):
            best = words
        if best is not None and len(best) <= least:
            break
    return best or []


def _groups(cells: Sequence[Cell]) -> list[Chunk]:
    found: dict[object, list[Cell]] = {}
    for cell in cells:
        if cell.domain.bits > WORD_BITS:
            raise ModelError(f"{cell.path} has too many values for a machine word: {cell.domain}")
        if cell.domain.bits:
            found.setdefault(_group_of(cell), []).append(cell)
    return [tuple(group) for group in found.values()]


def _group_of(cell: Cell) -> object:
    """The individual that the cell belongs to, or the record it is a part of. A set stays whole."""
    parts: tuple[Part, ...] = cell.path.parts
    if isinstance(parts[-1], Key) and isinstance(cell.domain, Bool):
        parts = parts[:-1]
    return next(filter(None, map(individual, parts)), parts[:-1])


def individual(part: Part) -> tuple[str, int] | None:
    """The scalarset and member that a part of a path stands for, if it does."""
    named = named_by(part.domain) if isinstance(part, Key) else None
    return (named, part.code) if isinstance(part, Key) and named is not None and part.code >= 0 else None


def named_by(domain: Scalar) -> str | None:
    """The scalarset whose members a value of this domain may name."""
    inner = domain.inner if isinstance(domain, Option) else domain
    return inner.name if isinstance(inner, Scalarset) else None


def _cut(group: Chunk, pieces: int) -> Iterator[Chunk]:
    """The group in so many consecutive pieces of about the same number of cells."""
    size = -(-len(group) // pieces)
    for start in range(0, len(group), size):
        yield group[start : start + size]


def _first_fit(chunks: Sequence[Chunk]) -> list[list[Chunk]]:
    """Largest first, each into the first word with room for it; equal ones in the order given."""
    words: list[list[Chunk]] = []
    room: list[int] = []
    for chunk in sorted(chunks, key=_bits, reverse=True):
        size = _bits(chunk)
        word = next((number for number, free in enumerate(room) if free >= size), len(words))
        if word == len(words):
            words.append([])
            room.append(WORD_BITS)
        words[word].append(chunk)
        room[word] -= size
    return words


def _bits(cells: Iterable[Cell]) -> int:
    return sum(cell.domain.bits for cell in cells)
