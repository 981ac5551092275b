"""States, steps and expressions as people and JSON see them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playground import CLIENT, SMALL, Client, Small, stage, state_with
from strategies import protocol_of, scalarsets, states, variables

from model.language import Bool, Map, Option, Protocol, Range, Record, Scalarset, Sequence, Set, action, protocol
from model.language import expr as ex
from model.language.domains import Slot
from model.language.evaluate import step_text, successors
from model.language.protocol import State
from model.language.show import (
    Change,
    differences,
    from_json,
    sentence,
    show_expr,
    show_state,
    snapshot,
    to_json,
)

REPLICA = Scalarset("Replica", 2)
LOG = Sequence(Record(id=Range(0, 9, label="m{}"), epoch=SMALL).written("{id}(e{epoch})"), 3)
LOGS = protocol_of(
    {
        "leader": Option(REPLICA),
        "next": Range(0, 9, label="m{}"),
        "replicas": Map(REPLICA, Record(log=LOG, up=Bool(), isr=Set(REPLICA))),
        "sent": Sequence(Record(to=REPLICA, epoch=Option(SMALL)), 2),
    }
)
JSON: dict[str, Any] = {
    "leader": "B",
    "next": 2,
    "replicas": {
        "A": {"log": [{"id": 0, "epoch": 0}, {"id": 1, "epoch": 2}], "up": True, "isr": ["A", "B"]},
        "B": {"log": [], "up": False, "isr": []},
    },
    "sent": [{"to": "A", "epoch": None}],
}
STATE = from_json(LOGS, JSON)

#: Protocols with random variables in which nothing happens.
DECLARED = scalarsets().flatmap(lambda found: variables(found, largest=24)).map(protocol_of)


class TestJson:
    @given(st.data())
    def test_there_and_back(self, data: st.DataObject) -> None:
        made = data.draw(DECLARED)
        state = canonical(made, data.draw(states(made)))
        document = json.loads(json.dumps(to_json(made, state)))
        assert from_json(made, document) == state

    @given(st.data())
    def test_only_unused_places_of_sequences_are_not_told(self, data: st.DataObject) -> None:
        made = data.draw(DECLARED)
        state = data.draw(states(made))
        for cell, before, after in zip(made.cells, state, canonical(made, state), strict=True):
            in_a_sequence = any(isinstance(part, Slot) for part in cell.path.parts)
            assert before == after or (in_a_sequence and after == cell.domain.low)

    def test_what_it_looks_like(self) -> None:
        assert to_json(LOGS, STATE) == JSON
        assert list(to_json(LOGS, STATE)) == list(LOGS.variables)

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ([], "the state needs exactly the keys leader, next, replicas, sent"),
            ({}, "the state needs exactly the keys leader, next, replicas, sent"),
            ({**JSON, "more": 1}, "the state needs exactly the keys leader, next, replicas, sent"),
            ({**JSON, "leader": "C"}, "leader: 'C' is not one of A, B"),
            ({**JSON, "leader": ["A"]}, "leader: ['A'] is not one of A, B"),
            ({**JSON, "next": 10}, "next: 10 is not in 0..9"),
            ({**JSON, "next": "m2"}, "next: 'm2' is not in 0..9"),
            ({**JSON, "next": True}, "next: True is not in 0..9"),
            ({**JSON, "replicas": {"A": {}}}, "replicas needs exactly the keys A, B"),
            ({**JSON, "replicas": {"A": {}, "B": {}}}, "replicas.A needs exactly the keys log, up, isr"),
            ({**JSON, "sent": [{"to": "A", "epoch": 1}] * 3}, "sent needs a list of at most 2"),
            ({**JSON, "sent": [{"to": "A", "epoch": 4}]}, "sent[0].epoch: 4 is not in 0..3"),
            ({**JSON, "sent": {"to": "A"}}, "sent needs a list of at most 2"),
        ],
    )
    def test_what_is_no_state(self, wrong: Any, message: str) -> None:
        with pytest.raises(ValueError, match=r"needs|is not") as raised:
            from_json(LOGS, wrong)
        assert str(raised.value) == message


def canonical(made: Protocol, state: State) -> State:
    """The same state with unused places of sequences at their lowest."""
    return from_json(made, to_json(made, state))


class TestText:
    def test_a_whole_state(self) -> None:
        assert show_state(LOGS, STATE) == [
            ("leader", "B"),
            ("next", "m2"),
            ("replicas[A].log", "[m0(e0), m1(e2)]"),
            ("replicas[A].up", "yes"),
            ("replicas[A].isr", "{A, B}"),
            ("replicas[B].log", "[]"),
            ("replicas[B].up", "no"),
            ("replicas[B].isr", "{}"),
            ("sent", "[{to: A, epoch: none}]"),
        ]

    def test_what_changed(self) -> None:
        replicas = {**JSON["replicas"], "B": {"log": [{"id": 0, "epoch": 0}], "up": True, "isr": []}}
        after = from_json(LOGS, {**JSON, "leader": None, "replicas": replicas})
        assert differences(LOGS, STATE, after) == (
            Change("leader", "B", "none"),
            Change("replicas[B].log", "[]", "[m0(e0)]"),
            Change("replicas[B].up", "no", "yes"),
        )
        assert differences(LOGS, STATE, STATE) == ()

    @given(st.data())
    def test_states_differ_where_their_text_does(self, data: st.DataObject) -> None:
        made = data.draw(DECLARED)
        one, other = (canonical(made, data.draw(states(made))) for _ in range(2))
        told = {change.path for change in differences(made, one, other)}
        before, after = dict(show_state(made, one)), dict(show_state(made, other))
        assert told == {path for path in before if before[path] != after[path]}
        assert (one == other) == (not told)

    def test_a_step(self) -> None:
        def meet(state: Any, one: Client, other: Client) -> None:
            state.holder = one
            state.owner = other

        made = stage(meet)
        assert step_text(made, made.steps[5]) == "meet(one=B, other=C)"

    def test_expressions(self) -> None:
        leader, number = LOGS.cells[0].read(), LOGS.cells[1].read()
        flag = next(cell.read() for cell in LOGS.cells if cell.domain == Bool())
        expr = ex.choose(
            ex.conjunction([flag, ex.negate(ex.equal(leader, ex.constant(1, "Replica")))]),
            ex.multiply(ex.add(number, ex.constant(1)), number),
            ex.subtract(ex.constant(3), number),
        )
        assert show_expr(LOGS, expr) == ("where((replicas[A].up & ~(leader = B)), ((next + 1) * next), (3 - next))")
        assert (
            show_expr(LOGS, ex.disjunction([ex.less(number, ex.constant(3)), flag])) == "((next < 3) | replicas[A].up)"
        )
        assert show_expr(LOGS, ex.equal(leader, ex.constant(-1, "Replica"))) == "(leader = none)"
        assert [show_expr(LOGS, truth) for truth in (ex.TRUE, ex.FALSE)] == ["true", "false"]


class TestStories:
    def test_a_snapshot_reads_like_the_state(self) -> None:
        seen = snapshot(LOGS, STATE)
        assert seen.leader == "B"
        assert seen.next == "m2"
        assert seen.replicas["A"].log[1].id == "m1"
        assert seen.replicas["A"].log[1].epoch == 2
        assert seen.replicas["A"].isr == ["A", "B"]
        assert seen.replicas["B"].up is False
        assert seen.sent[0].epoch is None

    def test_a_step_is_told_as_the_action_says(self) -> None:
        def told(before: Any, after: Any, client: str, small: int) -> str:
            return f"{client} adds {small} to {before.total}, which makes {after.total}."

        def add(state: Any, client: Client, small: Small) -> None:
            state.total = state.total + small
            state.by = client

        made = protocol(
            "sum",
            variables={"total": Range(0, 9), "by": Option(CLIENT)},
            domains={"Client": CLIENT, "Small": Range(1, 3)},
            actions=[action(tells=told)(add)],
        )
        [*_, (step, after)] = successors(made, (2, -1))
        assert sentence(made, step, (2, -1), after) == "C adds 3 to 2, which makes 5."

    def test_without_words_a_step_is_its_name(self) -> None:
        def take(state: Any, client: Client) -> None:
            state.holder = client

        made = stage(take)
        before = state_with(made)
        [(step, after), *_] = successors(made, before)
        assert sentence(made, step, before, after) == "take(client=A)"
