"""Stories: read as their readers will, at two widths, and everything that can be asked of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from little_traces import counter, falling, shortest
from syrupy.assertion import SnapshotAssertion

from checker.report.story import Line, Style, Telling, heading, listed, same_story, tell, text_of, wrap
from checker.trace import Trace, replay
from model.errors import UsageError
from model.kafka import NAMED_VARIANTS, Bounds, kafka
from model.language import (
    Member,
    Range,
    Record,
    Scalarset,
    Sequence,
    action,
    invariant,
    protocol,
    record,
    require,
)
from model.language.show import show_state

WITHIN = "2 replicas, log size 1, 1 record, 2 epochs"


@pytest.fixture(scope="module")
def truncated() -> Trace:
    """The oldest rule loses a committed record: two replicas and two epochs are enough."""
    model = kafka(NAMED_VARIANTS["published/truncate-to-high-watermark"], Bounds(2, 1, 1, 2))
    return shortest(model, next(each for each in model.invariants if each.name == "WeakIsr"))


def stable(lines: Iterable[Line]) -> str:
    """The text without the numbers of lines in somebody's source."""
    return re.sub(r"\.py:\d+$", ".py:…", text_of(lines), flags=re.MULTILINE)


# Read these as a user would


@pytest.mark.parametrize("width", [80, 120])
def test_a_story(truncated: Trace, width: int, snapshot: SnapshotAssertion) -> None:
    assert stable(tell([truncated], "published/truncate-to-high-watermark", WITHIN, Telling(width))) == snapshot


def test_a_story_with_whole_states(truncated: Trace, snapshot: SnapshotAssertion) -> None:
    telling = Telling(full=True, steps=(7, 8), show=("replicas*",), hide=("*.isr",))
    assert stable(tell([truncated], "published/truncate-to-high-watermark", WITHIN, telling)) == snapshot


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_short_stories(steps: int, snapshot: SnapshotAssertion) -> None:
    assert stable(tell([falling(steps)], "counter")) == snapshot


def test_a_story_of_two_invariants(snapshot: SnapshotAssertion) -> None:
    one = falling(2)
    other = replace(one, predicate=one.protocol.invariants[1])
    assert stable(tell([one, other], "counter")) == snapshot


def test_a_story_that_reaches_something(snapshot: SnapshotAssertion) -> None:
    model = counter(5)
    assert stable(tell([shortest(model, model.witnesses[0], wanted=True)], "counter")) == snapshot


def test_values_too_wide_for_the_line_go_on_below(snapshot: SnapshotAssertion) -> None:
    entry = Record(owner=Scalarset("Node", 2), number=Range(1_000, 1_001))

    @action
    def append(state: Any, owner: Member) -> None:
        require(~state.journal_of_everything.is_full)
        state.journal_of_everything.append(record(owner=owner, number=1_001))

    @invariant
    def roomy(state: Any) -> Any:
        """There is room left."""
        return state.journal_of_everything.length < 3

    model = protocol(
        "journal",
        variables={"journal_of_everything": Sequence(entry, 3)},
        domains={"Member": Scalarset("Node", 2)},
        actions=[append],
        invariants=[roomy],
    )
    assert stable(tell([shortest(model, model.invariants[0])], "journal")) == snapshot


@pytest.mark.parametrize("width", [20, 60, 80, 100, 120, 200])
def test_nothing_is_wider_than_the_screen(truncated: Trace, width: int) -> None:
    widest = max(width, 60)  # paths and values are not broken
    assert all(len(each.text) <= widest for each in tell([truncated], "published/kip", WITHIN, Telling(width)))


# Parts of a story


def numbers(trace: Trace, telling: Telling) -> list[int]:
    told = [each.text.split()[0] for each in tell([trace], "x", "", telling) if each.text[:2].strip().isdigit()]
    return [int(number) for number in told]


@pytest.mark.parametrize(
    ("steps", "told"), [((1, 8), 8), ((3, 6), 4), ((8, 8), 1), ((1, 1), 1), ((7, 2_000_000_000), 2)]
)
def test_a_range_of_steps(truncated: Trace, steps: tuple[int, int], told: int) -> None:
    assert numbers(truncated, Telling(steps=steps)) == list(range(steps[0], steps[0] + told))


def test_why_is_told_only_with_the_last_step(truncated: Trace) -> None:
    assert "Why" not in text_of(tell([truncated], "x", "", Telling(steps=(1, 7))))
    assert "Why" in text_of(tell([truncated], "x", "", Telling(steps=(8, 8))))


def test_what_is_left_out_is_said(truncated: Trace) -> None:
    text = text_of(tell([truncated], "x", "", Telling(steps=(3, 7))))
    assert "(steps 1 to 2 are left out)" in text
    assert "(step 8 is left out)" in text


@pytest.mark.parametrize("steps", [(9, 9), (0, 3), (5, 4)])
def test_steps_that_do_not_exist(truncated: Trace, steps: tuple[int, int]) -> None:
    with pytest.raises(UsageError, match="it has 8"):
        tell([truncated], "x", "", Telling(steps=steps))


def paths(trace: Trace, **telling: Any) -> set[str]:
    words = {
        word
        for each in tell([trace], "x", "", Telling(full=True, steps=(1, 7), **telling))
        for word in each.text.split()
    }
    return {path for path, _ in show_state(trace.protocol, trace.states[0]) if path in words}


def test_globs_take_brackets_as_they_stand(truncated: Trace) -> None:
    assert {path.partition("]")[0] for path in paths(truncated, show=("replicas[A].*",))} == {"replicas[A"}


def test_a_variable_stands_for_its_parts(truncated: Trace) -> None:
    assert paths(truncated, show=("replicas[B]",)) == paths(truncated, show=("replicas[B].*",))
    assert paths(truncated, hide=("replicas", "requests")) == paths(truncated, show=("quorum", "next_*"))


def test_a_variable_does_not_stand_for_one_with_a_longer_name(truncated: Trace) -> None:
    assert "replicas[A].leader_epoch" not in paths(truncated, show=("replicas[A].leader",))


def test_hidden_changes_are_counted(truncated: Trace) -> None:
    text = text_of(tell([truncated], "x", "", Telling(hide=("quorum",), steps=(1, 1))))
    assert "quorum" not in text
    assert "(2 more not shown)" in text


def test_a_glob_that_fits_nothing_is_an_error(truncated: Trace) -> None:
    with pytest.raises(UsageError, match=r"no variable matches 'replica'.*Did you mean 'replicas'"):
        tell([truncated], "x", "", Telling(hide=("replica",)))


def test_a_step_without_a_change_says_so() -> None:
    model = counter(3)
    count, wait = model.steps
    trace = replay(model, model.invariants[0], model.initial[0], [count, wait, count, count])
    assert "(nothing changes)" in text_of(tell([trace], "counter"))


# Pieces


def test_the_reason_names_a_variable_once(truncated: Trace) -> None:
    told = next(each.text for each in tell([truncated], "x") if "not for" in each.text)
    assert told.split("for")[1].split() == ["leader", "=", "A,", "member", "=", "B,", "offset", "=", "0"]


def test_changes_and_faint_parts_are_marked(truncated: Trace) -> None:
    styles = {style for each in tell([truncated], "x", WITHIN) for _, style in each.pieces}
    assert styles == {Style.HEADING, Style.FAINT, Style.PLAIN, Style.CHANGED}


def test_same_story_looks_at_the_steps_and_not_at_the_invariant() -> None:
    one = falling(2)
    assert same_story(one, replace(one, predicate=one.protocol.invariants[1]))
    assert not same_story(one, falling(1))


def test_headings() -> None:
    one = falling(2)
    other = replace(one, predicate=one.protocol.invariants[1])
    assert heading([one], "counter") == "Small is violated in counter, in 2 steps."
    assert heading([one, other], "counter") == "Small and AlsoSmall are violated in counter, by the same 2 steps."
    assert heading([falling(0)], "counter") == "Small is violated in the initial state of counter."


@pytest.mark.parametrize(
    ("names", "text"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_lists(names: list[str], text: str) -> None:
    assert listed(names) == text


def test_sets_and_sequences_are_not_broken() -> None:
    assert wrap("the ISR is now {A, B, C}.", 20, "  ") == ["  the ISR is now", "  {A, B, C}."]
    assert wrap("log [m0(e0), m1(e1)] of A", 12) == ["log", "[m0(e0), m1(e1)]", "of A"]
