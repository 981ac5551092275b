"""What `canonical` has to do for a protocol and a group: worked out here, written as instructions in
native_canonical.py.

*Swaps.* Two members trade places: their cells, and the two names wherever a cell names one of them. Cells that go the
same way between the same words move together.

*Keys.* For each member a number that depends on the state and on nothing that a permutation of the group changes: if
the permutation turns member A into B, then A's key before is B's key after. The key gathers, for a member m:
- cells below m alone (its log, whether its set contains itself), at the places where the first member has them;
- of cells that may name a member: whether they name m, and for m's own whether they name nobody;
- of cells below m and other members, or below others and naming m: how many.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

from checker.compile.packing import WORD_BITS, Packing, Position, individual, named_by
from checker.prove.certificate import Component, Group, swap
from model.language.domains import Option, Part, Path
from model.language.protocol import Cell, Permutation

# Swaps


@dataclass(frozen=True, slots=True)
class Exchange:
    """The bits of `mask` in word `upper` trade places with the bits `distance` below them in word `lower`; across
    words the distance may be negative."""

    lower: int
    upper: int
    distance: int
    mask: int


@dataclass(frozen=True, slots=True)
class Fields:
    """Cells of one word that name members of one scalarset with the same coding. `lowest` has their lowest bits."""

    word: int
    bits: int
    low: int
    lowest: int

    def filled(self, member: int) -> int:
        """Every field holds the code of this member (none is -1)."""
        return self.lowest * (member - self.low)


@dataclass(frozen=True, slots=True)
class Swap:
    """How members `one` and `other` trade places."""

    one: int
    other: int
    exchanges: tuple[Exchange, ...]
    names: tuple[Fields, ...]


# Keys


@dataclass(frozen=True, slots=True)
class Naming:
    """Stands for a word that has the lowest bit of each field set that names `member` (-1: nobody)."""

    scalarset: str
    member: int
    word: int


#: Where the bits of a key come from: a word of the state, or a word of comparisons.
Source: TypeAlias = "int | Naming"


@dataclass(frozen=True, slots=True)
class Gathered:
    """The bits of `mask`, after moving the source up by `distance`, are part of the key."""

    source: Source
    distance: int
    mask: int


@dataclass(frozen=True, slots=True)
class Counted:
    """The number of bits set in the sources under their masks, moved up by `shift`, is part of the key."""

    sources: tuple[tuple[Source, int], ...]
    shift: int


@dataclass(frozen=True, slots=True)
class KeyWord:
    """64 bits of a member's key; the parts do not overlap."""

    gathered: tuple[Gathered, ...]
    counted: tuple[Counted, ...]


@dataclass(frozen=True, slots=True)
class Sorting:
    """One component: the swaps of consecutive members, and each member's key, alike in form."""

    members: tuple[int, ...]
    swaps: tuple[Swap, ...]
    keys: tuple[tuple[KeyWord, ...], ...]


@dataclass(frozen=True)
class Orbits:
    """Everything that the canonical form of one protocol under one group needs."""

    packing: Packing
    group: Group

    @cached_property
    def sortings(self) -> tuple[Sorting, ...]:
        return tuple(
            Sorting(component.members, tuple(self._swaps(component)), _Keys(self, number).planned())
            for number, component in enumerate(self.group.components)
        )

    @cached_property
    def fields(self) -> dict[str, tuple[Fields, ...]]:
        """The cells that may name a member, by scalarset."""
        lowest: dict[tuple[str, int, int, int], int] = defaultdict(int)
        for cell in self.packing.protocol.cells:
            position, named = self.packing.positions[cell.number], named_by(cell.domain)
            if named is not None and position.bits:
                lowest[named, position.word, position.bits, cell.domain.low] |= 1 << position.shift
        found: dict[str, list[Fields]] = defaultdict(list)
        for (named, word, bits, low), mask in lowest.items():
            found[named].append(Fields(word, bits, low, mask))
        return {named: tuple(fields) for named, fields in found.items()}

    def component_of(self, scalarset: str, member: int) -> int | None:
        """The number of the component that moves this member."""
        for number, component in enumerate(self.group.components):
            if component.scalarset == scalarset and member in component.members:
                return number
        return None

    def _swaps(self, component: Component) -> Iterator[Swap]:
        count = next(s.count for s in self.packing.protocol.scalarsets if s.name == component.scalarset)
        for one, other in pairwise(component.members):
            permutation = swap(component.scalarset, count, one, other)
            names = self.fields.get(component.scalarset, ())
            yield Swap(one, other, exchanges(self.packing, permutation), names)


#: Which word trades bits with which, and over what distance.
Way: TypeAlias = tuple[int, int, int]


def exchanges(packing: Packing, permutation: Permutation) -> tuple[Exchange, ...]:
    """How the cells move: at once, or one part of their paths after the other, whichever takes fewer exchanges.

    In turn, `view[A].isr[B]` goes to `view[B].isr[B]` and then to `view[B].isr[A]`: the first turn moves whole blocks,
    the second neighbouring bits of all sets alike.
    """
    mover = _Mover(packing, permutation)
    at_once, in_turn = mover.at_once(), mover.in_turn()
    return tuple(at_once if len(at_once) <= len(in_turn) else in_turn)


class _Mover:
    """Plans the exchanges for a permutation that swaps two members."""

    def __init__(self, packing: Packing, permutation: Permutation) -> None:
        self.packing = packing
        self.permutation = permutation
        self.cells = packing.protocol.cells
        self.numbers = {cell.path: cell.number for cell in self.cells}

    def at_once(self) -> list[Exchange]:
        return self._exchanges({cell.number: self.permutation.path(cell.path) for cell in self.cells})

    def in_turn(self) -> list[Exchange]:
        """A cell with one part to change may do so in any turn: it goes where others go the same way."""
        turns: list[dict[int, Path]] = [{} for _ in range(max((len(self._places(c)) for c in self.cells), default=0))]
        for cell in self.cells:
            if len(self._places(cell)) > 1:
                for turn, image in enumerate(self._single_changes(cell)):
                    turns[turn][cell.number] = image
        ways = [{self._way(number, image) for number, image in turn.items()} for turn in turns]
        for cell in self.cells:
            for image in self._single_changes(cell) if len(self._places(cell)) == 1 else ():
                way = self._way(cell.number, image)
                turns[next((turn for turn, known in enumerate(ways) if way in known), 0)][cell.number] = image
        return [exchange for turn in turns for exchange in self._exchanges(turn)]

    def _exchanges(self, images: Mapping[int, Path]) -> list[Exchange]:
        """Cells trade places with their images, all at once; others stay."""
        masks: dict[Way, int] = defaultdict(int)
        for number, image in images.items():
            way = self._way(number, image)
            if way is not None:
                masks[way] |= self._target(image).mask
        return [Exchange(*way, mask) for way, mask in masks.items()]

    def _way(self, number: int, image: Path) -> Way | None:
        """None for the upper one of the two cells, which the lower one takes care of, and for a cell that stays."""
        here, there = self.packing.positions[number], self._target(image)
        moves_up = here.bits and (here.word, here.shift) < (there.word, there.shift)
        return (here.word, there.word, there.shift - here.shift) if moves_up else None

    def _target(self, image: Path) -> Position:
        return self.packing.positions[self.numbers[image]]

    def _places(self, cell: Cell) -> list[int]:
        """Which parts of the cell's path stand for members of the permuted scalarset."""
        found = ((place, individual(part)) for place, part in enumerate(cell.path.parts))
        return [place for place, who in found if who is not None and who[0] == self.permutation.scalarset]

    def _single_changes(self, cell: Cell) -> Iterator[Path]:
        """The cell's path with one of those parts permuted, for each of them."""
        parts = cell.path.parts
        image = self.permutation.path(cell.path).parts
        for place in self._places(cell):
            yield Path((*parts[:place], image[place], *parts[place + 1 :]))


# Keys in detail


@dataclass(frozen=True, slots=True)
class Anyone:
    """In a pattern of paths, stands for a member that a component moves: the one a key is for, or any other."""

    component: int
    itself: bool


#: A path with the members that the group moves left open.
Pattern: TypeAlias = "tuple[Part | Anyone, ...]"


class _Keys:
    """Plans the keys of one component's members."""

    def __init__(self, orbits: Orbits, component: int) -> None:
        self.orbits = orbits
        self.component = component
        self.scalarset = orbits.group.components[component].scalarset
        self.members = orbits.group.components[component].members
        self.patterns = {member: self._by_pattern(member) for member in self.members}

    def planned(self) -> tuple[tuple[KeyWord, ...], ...]:
        gathered = [self._gathered(member) for member in self.members]
        used: dict[int, int] = defaultdict(int)
        for place, part in gathered[0]:
            used[place] |= part.mask
        counted = [self._counted(member) for member in self.members]
        places = [_claimed(_counter_bits(sources), used) for sources in counted[0]]
        return tuple(_key_words(g, list(zip(places, c, strict=True))) for g, c in zip(gathered, counted, strict=True))

    def _by_pattern(self, member: int) -> dict[Pattern, list[Cell]]:
        found: dict[Pattern, list[Cell]] = defaultdict(list)
        for cell in self.orbits.packing.protocol.cells:
            if self._position(cell).bits:
                found[self._pattern(cell.path, member)].append(cell)
        return found

    def _pattern(self, path: Path, member: int) -> Pattern:
        return tuple(self._opened(part, member) for part in path.parts)

    def _opened(self, part: Part, member: int) -> Part | Anyone:
        who = individual(part)
        moved_by = None if who is None else self.orbits.component_of(*who)
        if who is None or moved_by is None:
            return part
        return Anyone(moved_by, who == (self.scalarset, member))

    def _position(self, cell: Cell) -> Position:
        return self.orbits.packing.positions[cell.number]

    # Cells that are one of a kind for each member

    def _gathered(self, member: int) -> list[tuple[int, Gathered]]:
        """By word of the key. The place of a bit is where the first member has it."""
        masks: dict[tuple[int, Source, int], int] = defaultdict(int)
        for pattern, (model, *_) in self.patterns[self.members[0]].items():
            if _is_single(pattern):
                (cell,) = self.patterns[member][pattern]
                for source, here, there in self._bits_of(cell, pattern, member, self._position(model)):
                    masks[there.word, source, there.shift - here.shift] |= there.mask
        return [(word, Gathered(source, distance, mask)) for (word, source, distance), mask in masks.items()]

    def _bits_of(
        self, cell: Cell, pattern: Pattern, member: int, first: Position
    ) -> Iterator[tuple[Source, Position, Position]]:
        """What a cell tells about a member: source, place there, place in the key."""
        here, named, own = self._position(cell), named_by(cell.domain), _is_own(pattern)
        lowest = Position(here.word, here.shift, 1)
        if named is None or not self._is_moved(named):
            if own:
                yield here.word, here, first
            return
        if named == self.scalarset:
            yield Naming(named, member, here.word), lowest, Position(first.word, first.shift, 1)
        if own and isinstance(cell.domain, Option):
            yield Naming(named, -1, here.word), lowest, Position(first.word, first.shift + 1, 1)

    def _is_moved(self, scalarset: str) -> bool:
        return any(component.scalarset == scalarset for component in self.orbits.group.components)

    # Cells of which there are several

    def _counted(self, member: int) -> list[tuple[tuple[Source, int], ...]]:
        found = []
        for pattern in self.patterns[self.members[0]]:
            if not _is_single(pattern):
                cells = self.patterns[member][pattern]
                found += [tuple(sources.items()) for sources in self._counts(cells, pattern, member)]
        return found

    def _counts(self, cells: Sequence[Cell], pattern: Pattern, member: int) -> Iterator[dict[Source, int]]:
        """What is counted over cells of one pattern: how many name the member, else each bit of their codes."""
        named = named_by(cells[0].domain)
        if named == self.scalarset:
            yield _masks((Naming(named, member, p.word), 1 << p.shift) for p in map(self._position, cells))
        elif _is_own(pattern) and not (named and self._is_moved(named)):
            for bit in range(cells[0].domain.bits):
                yield _masks((p.word, 1 << p.shift + bit) for p in map(self._position, cells))


def _is_single(pattern: Pattern) -> bool:
    """Whether only one cell can fit, once the member is fixed."""
    return all(part.itself for part in pattern if isinstance(part, Anyone))


def _is_own(pattern: Pattern) -> bool:
    return any(part.itself for part in pattern if isinstance(part, Anyone))


def _masks(bits: Iterable[tuple[Source, int]]) -> dict[Source, int]:
    found: dict[Source, int] = defaultdict(int)
    for source, mask in bits:
        found[source] |= mask
    return found


def _counter_bits(sources: Iterable[tuple[Source, int]]) -> int:
    return sum(mask.bit_count() for _, mask in sources).bit_length()


def _claimed(size: int, used: dict[int, int]) -> tuple[int, int]:
    """A word of the key and a shift where so many bits are free; they no longer are then."""
    for word in [*sorted(used), max(used, default=-1) + 1]:
        for shift in range(WORD_BITS - size + 1):
            mask = (1 << size) - 1 << shift
            if not used[word] & mask:
                used[word] |= mask
                return word, shift
    raise AssertionError("an empty word has room for a counter")


def _key_words(
    gathered: Iterable[tuple[int, Gathered]],
    counted: Iterable[tuple[tuple[int, int], tuple[tuple[Source, int], ...]]],
) -> tuple[KeyWord, ...]:
    parts: dict[int, tuple[list[Gathered], list[Counted]]] = defaultdict(lambda: ([], []))
    for word, part in gathered:
        parts[word][0].append(part)
    for (word, shift), sources in counted:
        parts[word][1].append(Counted(sources, shift))
    return tuple(KeyWord(tuple(parts[word][0]), tuple(parts[word][1])) for word in sorted(parts))
