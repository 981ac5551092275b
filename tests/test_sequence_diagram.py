"""What steps are in a sequence diagram: declared with actions, and for Kafka every step of every variant."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import islice
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from exports import CLERK, counting

from model.kafka import NAMED_VARIANTS, Bounds, Variant, arrows, kafka
from model.language.evaluate import step_text, successors
from model.language.protocol import Protocol, State, Step
from model.language.sequence_diagram import Message, Note
from model.language.show import drawn_step, individuals

BROKERS = Variant(
    truncation="kip-279",
    truncates="by-asking",
    synchrony="position",
    isr_expansion="fetched-epoch-start",
    acks="all",
    crash="power",
    shutdown="controlled",
    isr_change="in-flight",
    flush="background",
)
VARIANTS = {
    **{name: variant for name, variant in NAMED_VARIANTS.items() if name.startswith("published/")},
    "brokers": BROKERS,
    "unclean": replace(BROKERS, election="unclean", crash="process", flush="never"),
    "eligible": replace(BROKERS, election="eligible", restart="leaves-isr-and-elr"),
    "on fetch": replace(BROKERS, truncates="on-fetch"),
}


def steps(made: Protocol, walks: int = 40) -> list[tuple[Step, State, State]]:
    """Steps with the states before and after them, from walks that prefer actions which were seldom taken before."""
    chance, taken, found = Random(0), Counter[str](), list[tuple[Step, State, State]]()
    for _ in range(walks):
        state = made.initial[0]
        for _ in range(30):
            choices = list(successors(made, state))
            if not choices:
                break
            step, after = min(choices, key=lambda choice: (taken[choice[0].action], chance.random()))
            taken[step.action] += 1
            found.append((step, state, after))
            state = after
    return found


@pytest.mark.parametrize("name", VARIANTS)
def test_every_step_of_kafka_can_be_drawn(name: str) -> None:
    made = kafka(VARIANTS[name], Bounds(2, 2, 2, 3, crashes=1))
    known = {"Controller", *individuals(made, made.scalarsets[0])}
    taken = steps(made)
    for step, before, after in taken:
        drawn = drawn_step(made, step, before, after)
        assert drawn
        for one in drawn:
            assert {*one.over} <= known if isinstance(one, Note) else {one.sender, one.receiver} <= known
            assert one.text
            assert "\n" not in one.text
            assert not one.text.endswith(".") or made.action_named[step.action].draws is None
    assert len({step.action for step, _, _ in taken}) > 6


def snapshot_with(log_of_b: str) -> Any:
    """A leads with one record; B has the records named, in epoch 0."""
    logs = {"A": "0", "B": log_of_b}
    replicas = {
        name: SimpleNamespace(
            log=[SimpleNamespace(id=f"m{each}", epoch=0) for each in log], high_watermark=0, truncating=False
        )
        for name, log in logs.items()
    }
    return SimpleNamespace(replicas=replicas)


@pytest.mark.parametrize(
    ("draws", "expected"),
    [
        (arrows.fetch_out_of_range, ["fetch from offset 2", "out of range: log end 1"]),
        (arrows.fetch_diverging, ["fetch from offset 2", "diverging epoch"]),
        (arrows.ask_and_truncate, ["OffsetsForLeaderEpoch", "EpochEndOffset"]),
        (arrows.truncate, []),
    ],
)
def test_seldom_steps_tell_what_is_cut(draws: Any, expected: list[str]) -> None:
    drawn = list(draws(snapshot_with("01"), snapshot_with("0"), "B", "A"))
    assert [one.text for one in drawn[:-1]] == expected
    assert drawn[-1].over == ("B",)
    assert "truncates its log from 2 to 1, dropping m1" in drawn[-1].text


def test_requests_and_fetches_are_messages() -> None:
    made = kafka(NAMED_VARIANTS["published/kip-320"], Bounds(2, 2, 2, 3))
    drawn = [one for step, before, after in steps(made) for one in drawn_step(made, step, before, after)]
    messages = [one for one in drawn if isinstance(one, Message)]
    assert Message("Controller", "B", "LeaderAndIsr: epoch 0, leader A, ISR {A, B}") in messages
    assert Message("B", "A", "fetch from offset 0") in messages
    assert Message("A", "B", "m0 of epoch 0, high watermark 0", is_answer=True) in messages


def test_an_action_draws_what_it_declares() -> None:
    made = counting(3)
    step, after = next(islice(successors(made, made.initial[0]), 1, None))
    assert drawn_step(made, step, made.initial[0], after) == (
        Message("A", CLERK, "say a<b>&amp;c"),
        Message(CLERK, "A", "a<b>&amp;c", is_answer=True),
        Note(("A", CLERK), "number 1"),
    )


def test_by_default_a_step_is_a_note_over_whom_it_names() -> None:
    made = counting(3)
    state = next(after for _, after in successors(made, made.initial[0]))
    step, after = next((step, after) for step, after in successors(made, state) if step.action == "note")
    assert drawn_step(made, step, state, after) == (Note(("A",), step_text(made, step)),)


def test_drawing_does_not_change_what_a_protocol_is() -> None:
    made = counting(3)
    plain = replace(made, actions=tuple(replace(action, draws=None) for action in made.actions))
    assert plain == made
    assert plain.content_hash == made.content_hash
