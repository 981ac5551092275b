"""The picture of a counterexample: well-formed, complete, escaped, and drawn by somebody else's program."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from browser import Browser, running_browser
from pictures import HOSTILE, climbing, hostile, truncated

from checker.export.frames import film
from checker.export.svg import columns_for, svg_of
from checker.trace import Trace

LENGTHS = (0, 1, 39)  # steps; one state more


def of(trace: Trace) -> str:
    return svg_of(film(trace, "some/spec"))


def texts(picture: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with running_browser(tmp_path_factory.mktemp("browser")) as browser:
        yield browser
        assert browser.complaints == []


@pytest.mark.parametrize("steps", LENGTHS)
def test_a_picture_has_every_state(steps: int) -> None:
    shown = texts(of(climbing(steps)))
    assert [text for text in shown if text.isdecimal()] == [
        number for step in range(steps + 1) for number in (str(step), str(step))
    ]  # the number of the frame, and the height that is its only variable


def test_a_picture_tells_what_happens() -> None:
    shown = texts(of(truncated()))
    assert shown[0] == "WeakIsr is violated in some/spec, in 8 steps."
    assert {"m0", "e0", "HW 1", "stale leader", "ISR", "Why WeakIsr fails here"} <= set(shown)
    assert "replicas[A].high_watermark = 1" in " ".join(shown)
    assert "Namely replicas[B].log.length > 0, which would be 0 > 0." in shown
    assert shown[-1] == "HW: high watermark; orange: new in this step; dashed and struck out: taken off in this step."


def test_a_picture_is_reproducible() -> None:
    assert of(truncated()) == of(truncated())


def test_markup_in_names_is_text() -> None:
    picture = svg_of(hostile())
    assert HOSTILE in texts(picture)
    assert "<script" not in picture


def test_control_characters_leave_the_picture_well_formed() -> None:
    picture = of(climbing(1, tells=lambda *_: "a\x07b\x1b[31mc"))
    assert r"a\u0007b\u001b[31mc" in texts(picture)


@pytest.mark.parametrize(("frames", "columns"), [(1, 1), (2, 1), (3, 2), (8, 2), (9, 3), (40, 3)])
def test_columns(frames: int, columns: int) -> None:
    assert columns_for(frames) == columns


@pytest.mark.parametrize("steps", [*LENGTHS, None])
def test_a_browser_draws_it_inside_its_edges(browser: Browser, tmp_path: Path, steps: int | None) -> None:
    path = tmp_path / "picture.svg"
    path.write_text(of(truncated() if steps is None else climbing(steps)), encoding="utf-8")
    browser.open(path)
    outside = """
        [...document.querySelectorAll("text")].filter((text) => {
            const box = text.getBBox(), page = document.documentElement.viewBox.baseVal;
            return box.x < 0 || box.y < 0 || box.x + box.width > page.width || box.y + box.height > page.height;
        }).map((text) => text.textContent)
    """
    assert browser.value(outside) == []
    browser.look(800)
    assert browser.screenshot(tmp_path / "picture.png")[0] >= 380
    assert (tmp_path / "picture.png").stat().st_size > 2_000, "so small a picture shows nothing"


def test_only_plain_attributes() -> None:
    assert not re.search(r"<style|style=|class=|<script|href", of(truncated()))
