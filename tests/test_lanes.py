"""Lanes in the terminal: read as their readers will, at two widths, with colours and without."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable

import pytest
from little_traces import falling
from pictures import HOSTILE, climbing, hostile_lanes, truncated
from rich.console import Console as RichConsole
from syrupy.assertion import SnapshotAssertion

from checker.export.frames import film
from checker.report import console as console_module
from checker.report.lanes import Lanes, followed, turning_lines
from checker.report.story import Line, Style, Telling, tell, text_of
from checker.trace import Trace
from checker.turning_point import TurningPoint
from model.language.drawing import Badge, CellText, Lane, Mark, Role


@pytest.fixture(scope="module")
def trace() -> Trace:
    return truncated()


def told(trace: Trace, width: int = 80, full: bool = False) -> tuple[Line, ...]:
    return tell([trace], "some/spec", "", Telling(width, full), Lanes(trace, width, full))


def stable(lines: Iterable[Line]) -> str:
    """The text without the numbers of lines in somebody's source."""
    return re.sub(r"\.py:\d+$", ".py:…", text_of(lines), flags=re.MULTILINE)


def lanes_only(trace: Trace, width: int = 80, full: bool = False) -> list[Line]:
    """The lanes after the last step."""
    return list(Lanes(trace, width, full)(len(trace.steps), "      "))


@pytest.mark.parametrize("width", [80, 120])
def test_a_story_with_lanes(trace: Trace, width: int, snapshot: SnapshotAssertion) -> None:
    assert stable(told(trace, width)) == snapshot


def test_whole_states_have_all_lanes(trace: Trace) -> None:
    for number in range(1, len(trace.steps) + 1):
        drawn = [each.text.split()[0] for each in Lanes(trace, 80, full=True)(number, "")]
        assert drawn == ["A", "B"]


def test_a_story_in_colours(trace: Trace, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion) -> None:
    out = io.StringIO()
    rich = RichConsole(
        file=out, force_terminal=True, color_system="standard", width=80, soft_wrap=True, highlight=False
    )
    console = console_module.Console()
    monkeypatch.setattr(console, "_rich", rich)
    console.show(lanes_only(trace))
    assert out.getvalue().replace("\x1b", "^") == snapshot


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_nothing_is_wider_than_the_screen(trace: Trace, width: int) -> None:
    for number in range(1, len(trace.steps) + 1):
        assert all(len(each.text) <= width for each in Lanes(trace, width)(number, "      "))


def test_no_line_ends_in_blanks(trace: Trace) -> None:
    assert all(each.text == each.text.rstrip() for each in told(trace, full=True))


# The record


def test_the_lost_record_is_followed_from_its_write_to_its_loss(trace: Trace) -> None:
    assert followed(film(trace, "")) == {"m0 e0"}
    drawn = [text_of(Lanes(trace, 80)(number, "")) for number in range(1, len(trace.steps) + 1)]
    written = next(number for number, text in enumerate(drawn) if "[+m0 e0]" in text)
    assert "m0" not in "".join(drawn[:written])
    assert "[-m0 e0]" in drawn[-1]
    assert any(style is Style.FOLLOWED for each in lanes_only(trace) for _, style in each.pieces)


def test_nothing_is_followed_where_nothing_is_named() -> None:
    assert followed(film(falling(2), "")) == set()


# Other protocols


def test_a_protocol_without_tracks_has_no_lanes() -> None:
    assert text_of(told(falling(2))) == text_of(tell([falling(2)], "some/spec"))


def long_lanes(state: object) -> tuple[Lane, ...]:
    height = getattr(state, "height", 0)
    cells = tuple(CellText(f"record{n}", n % 7, f"e{n % 7}") for n in range(height))
    marks = (Mark(height, "high watermark", "HW"), Mark(1, "flushed", "flushed"))
    badges = (Badge("down", Role.DOWN), Badge("stale leader", Role.STALE), Badge("ISR", Role.MEMBER))
    return (Lane("first", cells, marks, badges, dimmed=True), Lane("next", (CellText("x"),)), Lane("text"))


def test_long_logs_go_on_below(snapshot: SnapshotAssertion) -> None:
    assert text_of(lanes_only(climbing(9, draws=long_lanes), 80)) == snapshot


def test_what_is_down_is_dimmed() -> None:
    first = lanes_only(climbing(2, draws=long_lanes))[0]
    blocks = {style for text, style in first.pieces if "record" in text}
    assert blocks == {Style.FAINT}


def test_odd_names_stay_text() -> None:
    assert HOSTILE in text_of(lanes_only(climbing(1, draws=hostile_lanes), 400))


def test_a_trace_of_one_state_is_drawn() -> None:
    assert "first" in text_of(Lanes(climbing(0, draws=long_lanes), 80)(0, ""))


# Where it turns


@pytest.mark.parametrize(
    ("turning", "said"),
    [
        (TurningPoint(2, True), "step 2. Before it there was still a way out"),
        (TurningPoint(8, True), "step 8, the last: until then WeakIsr could still be kept."),
        (TurningPoint(7, False), "step 7, the last that changed a value in the failing part."),
    ],
)
def test_the_turning_point_is_told_as_it_is_known(trace: Trace, turning: TurningPoint, said: str) -> None:
    text = " ".join(each.text for each in turning_lines(turning, trace, 80))
    assert text.startswith("Turning point: ")
    assert said in text
    assert ("not computed" in text) is not turning.is_computed
