"""What domains hold, how permuting individuals changes a state, and what makes protocols the same."""

from __future__ import annotations

from typing import Any

import pytest
from playground import CLIENT, PHASE, SMALL, VARIABLES, Client, Slot, stage

from model.language import (
    Bool,
    Map,
    Option,
    Range,
    Record,
    Scalarset,
    Sequence,
    Set,
    record,
    require,
    successors,
)
from model.language.domains import Domain, Enum, Scalar, individual_name, leaves, slot_domain
from model.language.protocol import Permutation
from model.language.show import to_json


class TestDomains:
    @pytest.mark.parametrize(
        ("domain", "size", "bits", "low", "high"),
        [
            (Bool(), 2, 1, 0, 1),
            (Range(0, 3), 4, 2, 0, 3),
            (Range(-2, 2), 5, 3, -2, 2),
            (Range(7, 7), 1, 0, 7, 7),
            (Range(0, 4), 5, 3, 0, 4),
            (PHASE, 3, 2, 0, 2),
            (CLIENT, 3, 2, 0, 2),
            (Option(CLIENT), 4, 2, -1, 2),
            (Option(Range(1, 3)), 4, 2, 0, 3),
            (Scalarset("Replica", 1), 1, 0, 0, 0),
        ],
        ids=str,
    )
    def test_scalars(self, domain: Scalar, size: int, bits: int, low: int, high: int) -> None:
        assert (domain.size, domain.bits, domain.low, domain.high) == (size, bits, low, high)
        assert len(domain.codes()) == size

    @pytest.mark.parametrize(
        "domain",
        [Bool(), Range(-2, 2), Range(0, 2, label="m{}"), PHASE, CLIENT, Option(CLIENT), Option(SMALL)],
        ids=str,
    )
    def test_json_and_back(self, domain: Scalar) -> None:
        assert [domain.code_of(domain.to_json(code)) for code in domain.codes()] == list(domain.codes())
        assert len({domain.show(code) for code in domain.codes()}) == domain.size

    @pytest.mark.parametrize(
        ("domain", "wrong"),
        [
            (Bool(), 1),
            (Bool(), None),
            (SMALL, 4),
            (SMALL, -1),
            (SMALL, True),
            (SMALL, 1.0),
            (SMALL, "1"),
            (SMALL, None),
            (PHASE, "sleeping"),
            (PHASE, 0),
            (CLIENT, "D"),
            (CLIENT, []),
            (Option(SMALL), -1),
            (Option(CLIENT), "none"),
        ],
    )
    def test_what_is_no_member(self, domain: Scalar, wrong: Any) -> None:
        with pytest.raises(ValueError, match="is not"):
            domain.code_of(wrong)

    @pytest.mark.parametrize(
        ("domain", "paths"),
        [
            (SMALL, [""]),
            (Record(up=Bool(), at=SMALL), ["up", "at"]),
            (Map(CLIENT, Bool()), ["[A]", "[B]", "[C]"]),
            (Map(Range(1, 2), Record(up=Bool())), ["[1].up", "[2].up"]),
            (Set(Option(Scalarset("R", 1))), ["[none]", "[A]"]),
            (Sequence(Record(id=SMALL), 2), ["length", "[0].id", "[1].id"]),
            (Sequence(SMALL, 0), ["length"]),
            (Record(logs=Map(Scalarset("R", 1), Sequence(SMALL, 1))), ["logs[A].length", "logs[A][0]"]),
        ],
        ids=str,
    )
    def test_leaves(self, domain: Domain, paths: list[str]) -> None:
        assert [str(leaf.path) for leaf in leaves(domain)] == paths

    def test_an_unused_place_of_a_sequence_names_no_individual(self) -> None:
        """Else permuting the individuals would change a state that holds none of them."""
        inner = Record(by=CLIENT, at=Map(Bool(), CLIENT), phase=PHASE, gone=Option(CLIENT), seen=Set(CLIENT))
        for element in (CLIENT, inner, Sequence(inner, 1), Map(SMALL, inner)):
            for leaf in leaves(slot_domain(element)):
                lowest = leaf.domain.low
                assert Permutation("Client", (1, 2, 0)).code(leaf.domain, lowest) == lowest, str(leaf.path)

    def test_individuals(self) -> None:
        assert [individual_name(index) for index in (0, 25, 26, 51, 52)] == ["A", "Z", "A1", "Z1", "A2"]
        assert Scalarset("Replica", 3).members == ("A", "B", "C")

    def test_the_order_of_fields_is_part_of_a_record(self) -> None:
        one, other = Record(a=SMALL, b=Bool()), Record(b=Bool(), a=SMALL)
        assert one != other
        assert one == Record(a=SMALL, b=Bool()) == one.written("{a}")
        assert hash(one) == hash(one.written("{a}"))

    def test_members_may_be_given_as_a_list(self) -> None:
        assert Enum("Phase", ["idle", "busy"]).members == ("idle", "busy")  # type: ignore[arg-type]  # what people do

    def test_a_protocol_of_anything_lists_its_cells_in_order(self) -> None:
        cells = stage().cells
        assert [cell.number for cell in cells] == list(range(len(cells)))
        assert len({cell.path for cell in cells}) == len(cells) == sum(1 for _ in leaves(Record(**VARIABLES)))


class TestPermutations:
    def test_a_state_and_back(self) -> None:
        made = stage()
        state = tuple(max(cell.domain.codes()) for cell in made.cells)
        swap = Permutation("Client", (1, 0, 2))
        image = made.permuted(state, swap)
        assert made.permuted(image, swap) == state

    def test_values_keys_and_elements_change_names(self) -> None:
        def mark(state: Any, client: Client) -> None:
            require(client == "A")
            state.holder = client
            state.owner = client
            state.members = {"A"}
            state.table[client] = 3
            state.queue.append(record(id=1, by=client))

        made = stage(mark)
        [(_, marked)] = successors(made, made.initial[0])
        renamed = to_json(made, made.permuted(marked, Permutation("Client", (1, 2, 0))))
        assert renamed["holder"] == "B"
        assert renamed["owner"] == "B"
        assert renamed["members"] == ["B"]
        assert renamed["table"] == {"A": 0, "B": 3, "C": 0}
        assert renamed["queue"] == [{"id": 1, "by": "B"}]

    def test_a_permutation_of_something_else_changes_nothing(self) -> None:
        made = stage()
        state = tuple(max(cell.domain.codes()) for cell in made.cells)
        assert made.permuted(state, Permutation("Replica", (1, 0))) == state

    def test_a_step_for_the_renamed_members(self) -> None:
        def meet(state: Any, one: Client, other: Client, slot: Slot) -> None:
            require(one != other)
            state.slots[slot].by = one

        made = stage(meet)
        step = made.steps[made.step_numbers["meet", (0, 1, 1)]]
        moved = made.permuted_step(step, Permutation("Client", (2, 0, 1)))
        assert moved is not None
        assert made.arguments(moved) == {"one": "C", "other": "A", "slot": "1"}


class TestIdentity:
    @staticmethod
    def with_step(name: str, number: int) -> str:
        def act(state: Any) -> None:
            state.number = number

        act.__name__ = name
        return stage(act).content_hash

    def test_lines_and_comments_do_not_count(self) -> None:
        def act(state: Any) -> None:
            # a comment, and a line of its own
            state.number = 1

        assert stage(act).content_hash == self.with_step("act", 1)

    def test_what_happens_counts(self) -> None:
        hashes = {self.with_step("act", 1), self.with_step("act", 2), self.with_step("other", 1), stage().content_hash}
        assert len(hashes) == 4

    def test_names_of_parameters_count(self) -> None:
        """Stored traces give arguments by name."""

        def take(state: Any, client: Client) -> None:
            state.holder = client

        by_one_name = stage(take).content_hash

        def renamed(state: Any, taker: Client) -> None:
            state.holder = taker

        renamed.__name__ = "take"
        assert stage(renamed).content_hash != by_one_name

    def test_initial_states_and_invariants_count(self) -> None:
        def start(state: Any) -> None:
            state.number = 1

        def small(state: Any) -> Any:
            return state.number < 2

        hashes = {stage().content_hash, stage(initial=start).content_hash, stage(invariants=(small,)).content_hash}
        assert len(hashes) == 3
