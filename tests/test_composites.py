"""Maps, sets and sequences: what they say and how they change."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from playground import CLIENT, SMALL, Client, after, holds, is_enabled, stage, state_with

from model.errors import ModelError
from model.language import (
    Bool,
    Map,
    Record,
    Scalarset,
    Sequence,
    all_of,
    empty_set,
    full_set,
    implies,
    none,
    record,
    require,
    successors,
    where,
)
from model.language.show import to_json


class TestMaps:
    def test_a_parameter_as_the_key(self) -> None:
        def act(state: Any, client: Client) -> None:
            require(client == "B")
            state.table[client] = state.table[client] + 2

        assert after(act, table={"A": 1, "B": 1, "C": 1}) == {"table": {"A": 1, "B": 3, "C": 1}}

    def test_a_variable_as_the_key(self) -> None:
        def act(state: Any) -> None:
            state.number = state.table[state.owner]
            state.table[state.owner] = 0

        assert after(act, owner="C", table={"A": 1, "B": 2, "C": 3}) == {
            "number": 3,
            "table": {"A": 1, "B": 2, "C": 0},
        }

    def test_parts_of_an_entry(self) -> None:
        def act(state: Any) -> None:
            require(state.number < 2)
            state.slots[state.number].by = "B"
            state.other = state.slots[1 - state.number].value

        slots = {"0": {"value": 3, "by": None}, "1": {"value": 2, "by": None}}
        assert after(act, number=1, slots=slots) == {
            "slots": {"0": slots["0"], "1": {"value": 2, "by": "B"}},
            "other": 3,
        }
        assert not is_enabled(act, number=2)

    def test_a_key_that_fits_none_reads_as_the_lowest_value(self) -> None:
        assert holds(lambda state: state.table[state.holder] == 0, table={"A": 1, "B": 2, "C": 3}, holder=None)
        assert holds(lambda state: state.slots[state.number].by == none, number=3)

    def test_a_key_that_may_fit_none_needs_a_guard_to_assign(self) -> None:
        def unguarded(state: Any) -> None:
            state.table[state.holder] = 1

        def guarded(state: Any) -> None:
            require(state.holder.is_some)
            state.table[state.holder] = 1

        assert after(guarded, holder="B") == {"table": {"A": 0, "B": 1, "C": 0}}
        with pytest.raises(ModelError, match="the key of this assignment may be none"):
            stage(unguarded)

    def test_iterating_gives_the_keys(self) -> None:
        assert holds(
            lambda state: all_of(state.table[client] == 2 for client in state.table), table=dict.fromkeys("ABC", 2)
        )

    def test_a_computed_map(self) -> None:
        def act(state: Any) -> None:
            state.table = state.table.mapped(lambda client, value: where(state.members.has(client), value + 1, 0))

        assert after(act, table={"A": 1, "B": 1, "C": 0}, members=["B", "C"]) == {"table": {"A": 0, "B": 2, "C": 1}}


class TestSets:
    @pytest.mark.parametrize("members", [[], ["A"], ["B"], ["A", "C"], ["A", "B", "C"]])
    def test_what_is_in_it(self, members: list[str]) -> None:
        def check(state: Any) -> Any:
            group = state.members
            return all_of(
                all_of(
                    group.has(client) == (shown in members)
                    for client, shown in zip(group.members(), "ABC", strict=True)
                ),
                group.size == len(members),
                group.is_empty == (not members),
                group.is_just("A") == (members == ["A"]),
                group.has(state.owner) == ("B" in members),
                group.has(state.holder) == False,  # noqa: E712  # none is in no set
                group.all(lambda client: client == "A") == (set(members) <= {"A"}),
                group.any(lambda client: client == "A") == ("A" in members),
                (group == full_set(CLIENT)) == (len(members) == 3),
            )

        assert holds(check, members=members, owner="B", holder=None)

    def test_other_sets_computed_from_it(self) -> None:
        def act(state: Any) -> None:
            state.guests = state.members.including(state.owner).without("A")

        assert after(act, members=["A"], owner="B") == {"guests": ["B"]}
        assert after(act, members=["A"], owner="A") == {}

    def test_members_come_and_go(self) -> None:
        def act(state: Any, client: Client) -> None:
            require(client == "C")
            state.members.add(client)
            state.members.remove(state.owner)

        assert after(act, members=["A"], owner="A") == {"members": ["C"]}
        assert after(act, members=["A"], owner="C") == {}

    def test_only_what_can_be_a_member_is_added(self) -> None:
        def unguarded(state: Any) -> None:
            state.members.add(state.holder)

        def guarded(state: Any) -> None:
            require(state.holder.is_some)
            state.members.add(state.holder)

        assert after(guarded, holder="B") == {"members": ["B"]}
        with pytest.raises(ModelError, match="what is added here may be none, which is outside Client"):
            stage(unguarded)

    def test_unions_and_differences(self) -> None:
        assert holds(lambda s: s.members.union(s.guests) == {"A", "B"}, members=["A"], guests=["B", "A"])
        assert holds(lambda s: s.guests.minus(s.members) == {"B"}, members=["A"], guests=["B", "A"])
        assert holds(lambda s: s.members.union({"C"}).minus({"A"}) == {"C"}, members=["A"])
        with pytest.raises(ModelError, match="cannot be compared with or assigned to a set of Client"):
            holds(lambda s: s.members.union(empty_set(Scalarset("Replica", 3))).is_empty)


class TestSequences:
    TWO = ({"id": 1, "by": "A"}, {"id": 2, "by": "C"})

    @pytest.mark.parametrize("length", [0, 1, 2])
    def test_what_is_in_it(self, length: int) -> None:
        last = self.TWO[length - 1] if length else {"id": 0, "by": None}

        def check(state: Any) -> Any:
            queue = state.queue
            return all_of(
                queue.length == length,
                queue.is_empty == (length == 0),
                queue.is_full == (length == 2),
                queue.has(0) == (length > 0),
                queue.has(queue.length) == False,  # noqa: E712  # symbolic
                queue.has(-1) == False,  # noqa: E712  # symbolic
                queue.last.id == last["id"],
                queue.last.by == (last["by"] or none),
                implies(state.number < queue.length, queue[state.number].id == state.number + 1),
            )

        for number in range(4):
            assert holds(check, queue=list(self.TWO[:length]), number=number)

    def test_beyond_the_end_there_are_the_lowest_values(self) -> None:
        assert holds(lambda state: state.queue[state.number] == state.spare[0], queue=list(self.TWO), number=2)
        assert holds(lambda state: state.queue[state.number - 1].by == none, queue=list(self.TWO), number=0)

    @pytest.mark.parametrize(("to", "left"), [(0, 0), (1, 1), (2, 2), (3, 2)])
    def test_truncating_keeps_what_is_below(self, to: int, left: int) -> None:
        def cut(state: Any) -> None:
            state.queue.truncate(state.number)

        changed = after(cut, number=to, queue=list(self.TWO))
        assert changed == ({} if left == 2 else {"queue": list(self.TWO[:left])})

    def test_equal_sequences_are_equal_states(self) -> None:
        """However they came about: what was cut off leaves no trace."""

        def put_and_cut(state: Any) -> None:
            state.queue.append(record(id=3, by=state.owner))
            state.queue.truncate(state.queue.length - 1)

        made = stage(put_and_cut)
        before = state_with(made, queue=[self.TWO[0]], owner="B")
        assert made.steps[0].updates != ()
        assert [reached for _, reached in successors(made, before)] == [before]

    def test_appending_twice(self) -> None:
        def act(state: Any) -> None:
            state.queue.append(record(id=1, by="A"))
            state.queue.append(record(id=state.queue[0].id + 1, by="B"))

        assert after(act) == {"queue": [{"id": 1, "by": "A"}, {"id": 2, "by": "B"}]}

    def test_an_element_of_another_sequence(self) -> None:
        def move(state: Any) -> None:
            require(state.queue.has(state.number))
            state.spare.append(state.queue[state.number])

        def move_known(state: Any) -> None:
            require(state.queue[state.number].by.is_some)
            move(state)

        queue = list(self.TWO)
        assert after(move_known, queue=queue, number=1) == {"spare": [queue[1]]}
        with pytest.raises(ModelError, match="what is appended here may be none, which is outside Client"):
            stage(move)

    def test_a_part_of_an_element_cannot_be_assigned(self) -> None:
        def act(state: Any) -> None:
            state.queue[0].id = 1

        with pytest.raises(ModelError, match="an element of a sequence cannot be assigned to"):
            stage(act)


class TestComposites:
    """Composites in composites, by keys that are variables."""

    LOGS = Map(CLIENT, Record(log=Sequence(SMALL, 2), seen=Map(SMALL, Bool())))

    def test_a_sequence_of_numbers_in_a_map(self) -> None:
        def act(state: Any) -> None:
            log = state.logs[state.owner].log
            require(~log.is_full)
            log.append(state.number)
            state.other = log.last

        made = stage(act, extra={"logs": self.LOGS})
        [(_, reached)] = successors(made, state_with(made, owner="B", number=3))
        after_it: Any = to_json(made, reached)
        assert [after_it["logs"][name]["log"] for name in "ABC"] == [[], [3], []]
        assert after_it["other"] == 3

    def test_a_map_in_a_map(self) -> None:
        def act(state: Any) -> None:
            require(state.holder.is_some)
            entry = state.logs[state.holder]
            entry.seen[state.number] = True
            state.flag = state.logs["C"].seen[2]

        made = stage(act, extra={"logs": self.LOGS})
        for holder, number in itertools.product("ABC", range(4)):
            [(_, reached)] = successors(made, state_with(made, holder=holder, number=number))
            after_it: Any = to_json(made, reached)
            marked = [
                (name, int(key)) for name in "ABC" for key, mark in after_it["logs"][name]["seen"].items() if mark
            ]
            assert marked == [(holder, number)]
            assert after_it["flag"] == (marked == [("C", 2)])
        assert not list(successors(made, state_with(made, holder=None)))

    def test_cutting_a_sequence_in_a_map(self) -> None:
        def act(state: Any) -> None:
            state.logs[state.owner].log.truncate(1)

        made = stage(act, extra={"logs": self.LOGS})
        entry = {"log": [3, 2], "seen": dict.fromkeys("0123", False)}
        [(_, reached)] = successors(made, state_with(made, owner="C", logs=dict.fromkeys("ABC", entry)))
        after_it: Any = to_json(made, reached)
        assert [after_it["logs"][name]["log"] for name in "ABC"] == [[3, 2], [3, 2], [3]]
