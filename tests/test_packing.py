"""States in 64-bit words: nothing is lost, no word is wasted, individuals stay together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import protocol_of, scalarsets, states, variables

from checker.compile.packing import WORD_BITS, Packing
from model.errors import ModelError
from model.language.domains import Bool, Domain, Map, Option, Range, Record, Scalarset, Sequence, Set


def packing_of(**domains: Domain) -> Packing:
    return Packing(protocol_of(domains))


@given(st.data())
def test_unpacking_undoes_packing(data: st.DataObject) -> None:
    protocol = protocol_of(data.draw(variables(data.draw(scalarsets()))))
    packing, state = Packing(protocol), data.draw(states(protocol))
    words = packing.pack(state)
    assert len(words) == packing.words
    assert all(0 <= word < 1 << WORD_BITS for word in words)
    assert packing.unpack(words) == state


@given(st.data())
def test_cells_share_no_bit_and_cross_no_word(data: st.DataObject) -> None:
    packing = Packing(protocol_of(data.draw(variables(data.draw(scalarsets())))))
    used = [0] * packing.words
    for position in packing.positions:
        assert position.shift + position.bits <= WORD_BITS
        assert not used[position.word] & position.mask
        used[position.word] |= position.mask
    assert sum(mask.bit_count() for mask in used) == packing.bits


@given(st.lists(st.integers(0, 12), max_size=40))
def test_words_are_few(bits: list[int]) -> None:
    packing = packing_of(**{f"v{number}": Range(0, 2**size - 1) for number, size in enumerate(bits)})
    least = max(1, -(-sum(bits) // WORD_BITS))
    assert least <= packing.words <= least + 1


def test_a_state_without_information_takes_one_word() -> None:
    packing = packing_of(only=Range(7, 7), nothing=Sequence(Bool(), 0))
    assert (packing.words, packing.bits, packing.pack((7, 0)), packing.unpack((0,))) == (1, 0, (0,), (7, 0))


def test_members_have_blocks_of_the_same_shape() -> None:
    replica = Scalarset("Replica", 3)
    packing = packing_of(
        log=Map(replica, Sequence(Range(0, 4), 3)),
        turn=Option(replica),
        view=Map(replica, Record(leader=Option(replica), isr=Set(replica))),
    )
    shifts: dict[str, list[int]] = {member: [] for member in replica.members}
    for cell, position in zip(packing.protocol.cells, packing.positions, strict=True):
        if cell.path.parts[1:]:
            shifts[str(cell.path).partition("[")[2][0]].append(position.shift)
    first, second, third = (sorted(each) for each in shifts.values())
    assert [shift - second[0] for shift in second] == [shift - first[0] for shift in first]
    assert [shift - third[0] for shift in third] == [shift - first[0] for shift in first]
    assert max(first) < min(second) < max(second) < min(third)


def test_a_word_counts_more_than_whole_blocks() -> None:
    packing = packing_of(parts=Map(Scalarset("Replica", 4), Record(**{f"v{i}": Range(0, 63) for i in range(8)})))
    assert (packing.bits, packing.words) == (4 * 48, 4), "blocks of 48 bits: six bits each can be had from 64"
    packing = packing_of(parts=Map(Scalarset("Replica", 4), Record(**{f"v{i}": Range(0, 15) for i in range(12)})))
    assert (packing.bits, packing.words) == (4 * 48, 3)


def test_a_set_stays_together() -> None:
    replica = Scalarset("Replica", 5)
    packing = packing_of(busy=Bool(), isr=Set(replica), term=Range(0, 5))
    shifts = [p.shift for p, c in zip(packing.positions, packing.protocol.cells, strict=True) if "isr" in str(c.path)]
    assert shifts == list(range(shifts[0], shifts[0] + 5))


def test_a_value_outside_its_domain_is_refused() -> None:
    with pytest.raises(ValueError, match=r"term cannot be 6: it ranges over 0\.\.5"):
        packing_of(term=Range(0, 5)).pack((6,))


def test_a_cell_too_large_for_a_word_is_refused() -> None:
    with pytest.raises(ModelError, match="huge has too many values for a machine word"):
        packing_of(huge=Range(0, 2**64)).pack((0,))
    assert packing_of(huge=Range(0, 2**64 - 1)).pack((2**64 - 1,)) == (2**64 - 1,)


def test_the_table_shows_every_cell() -> None:
    packing = packing_of(term=Range(0, 5), up=Bool(), always=Range(3, 3))
    assert packing.table().splitlines() == [
        "word   bits  cell",
        "   0    0-2  term: 0..5",
        "   0      -  always: 3..3",
        "   0      3  up: boolean",
    ]
