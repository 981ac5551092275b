"""The page of a counterexample: what is in the file, and what a reader with a browser gets from it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from browser import Browser, running_browser
from pictures import HOSTILE, climbing, hostile, truncated

from checker.export.frames import film
from checker.export.page import page_of
from checker.trace import Trace

LENGTHS = (0, 1, 39)  # steps; one state more
LARGEST = 150_000  # bytes
VOID = {"meta", "link", "input", "wbr"}


class Outline(HTMLParser):
    """The elements of a page, the contents of its scripts, and all other text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.text = ""
        self.pieces: list[str] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)
        else:
            self.text += data
            self.pieces.append(data)


def of(trace: Trace) -> str:
    return page_of(film(trace, "some/spec"))


def data(page: str) -> Any:
    return json.loads(Outline(page).scripts[0])


# The file


@pytest.mark.parametrize("steps", LENGTHS)
def test_a_page_has_every_step(steps: int) -> None:
    page = of(climbing(steps))
    outline = Outline(page)
    assert outline.open == []
    assert [attributes["href"] for tag, attributes in outline.elements if tag == "a"] == [
        f"#{number}" for number in range(steps + 1)
    ]
    assert len(data(page)["frames"]) == steps + 1
    assert len(page.encode()) < LARGEST


def test_a_page_is_reproducible_and_small() -> None:
    assert of(truncated()) == of(truncated())
    assert len(of(truncated()).encode()) < LARGEST


def test_a_page_fetches_nothing() -> None:
    page = of(truncated())
    links = {attributes.get("src") or attributes.get("href") for _, attributes in Outline(page).elements}
    assert {link for link in links if link and not link.startswith("#")} == {"data:,"}
    assert "default-src 'none'" in page
    assert not re.search(r"https?://|@import|url\(", page)


def test_markup_in_names_is_text() -> None:
    page = page_of(hostile(), [HOSTILE])
    outline = Outline(page)
    assert outline.open == []
    assert sum(tag == "script" for tag, _ in outline.elements) == 2
    assert outline.text.count(HOSTILE) >= 4
    assert data(page)["frames"][1]["lanes"][0]["name"] == HOSTILE


def test_control_characters_are_told_in_letters() -> None:
    page = page_of(film(climbing(1, tells=lambda *_: "a\x07b\x1b[31mc\u202ed"), "some\x08spec"), ["a\x85title"])
    assert {char for char in page if not char.isprintable()} == {"\n"}
    assert data(page)["frames"][1]["sentence"] == r"a\u0007b\u001b[31mc\u202ed"
    text = Outline(page).text
    assert r"a\u0007b\u001b[31mc\u202ed" in text
    assert r"some\u0008spec" in text
    assert r"a\u0085title" in text


def test_the_failing_part_is_readable_without_scripts() -> None:
    text = Outline(of(truncated())).text
    assert "Why WeakIsr fails here" in text
    assert "replicas[A].high_watermark" in text


def test_signs_are_explained_where_they_occur() -> None:
    legend = {"e0", "HW: high watermark", "new in this step", "taken off in this step"}
    assert legend <= set(Outline(of(truncated())).pieces)
    assert not legend & set(Outline(of(climbing(0))).pieces)


def test_a_long_name_can_be_broken_between_its_words() -> None:
    assert "<h1>Weak<wbr>Isr is violated" in of(truncated())


# The reader


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with running_browser(tmp_path_factory.mktemp("browser")) as browser:
        yield browser
        assert browser.complaints == []


@pytest.fixture
def story(browser: Browser, tmp_path: Path) -> Path:
    browser.look(1280)
    path = tmp_path / "story.html"
    path.write_text(of(truncated()), encoding="utf-8")
    return path


def shown(browser: Browser) -> str:
    return browser.text("#sentence")


def shown_lanes(browser: Browser) -> list[str]:
    """What a screen reader says of the tracks in the frame that is shown."""
    said: list[str] = browser.value(
        "[...document.querySelectorAll('.frame')].filter((frame) => frame.offsetParent)"
        ".flatMap((frame) => [...frame.querySelectorAll('[role=img]')].map((track) => track.ariaLabel))"
    )
    return said


def test_keys_lead_to_the_last_step(browser: Browser, story: Path) -> None:
    sentences = truncated().sentences()
    browser.open(story)
    assert shown(browser) == "Initially."
    assert not browser.value("document.querySelector('#reason').offsetParent")
    for sentence in sentences:
        browser.press("ArrowRight")
        assert shown(browser) == sentence
    assert browser.value("location.hash") == f"#{len(sentences)}"
    assert "Why WeakIsr fails here" in browser.text("#reason")
    assert browser.text("#timeline [aria-current]").endswith(sentences[-1])
    browser.press("ArrowRight", "ArrowLeft")
    assert shown(browser) == sentences[-2]
    browser.press("Home")
    assert shown(browser) == "Initially."
    browser.press("End")
    assert shown(browser) == sentences[-1]


@pytest.mark.parametrize(("fragment", "number"), [("#3", 3), ("#0", 0), ("#999", -1), ("#nonsense", 0), ("", 0)])
def test_an_address_leads_to_a_state(browser: Browser, story: Path, fragment: str, number: int) -> None:
    browser.open(story, fragment)
    assert shown(browser) == ("Initially.", *truncated().sentences())[number]


def test_the_slider_the_list_and_the_buttons_lead_there_too(browser: Browser, story: Path) -> None:
    sentences = ("Initially.", *truncated().sentences())
    browser.open(story)
    browser.value("document.querySelector('#slider').focus()")
    browser.press("ArrowRight", "ArrowRight")
    assert shown(browser) == sentences[2]
    assert browser.value("document.querySelector('#slider').value") == "2"
    browser.value("document.querySelector('#next').click()")
    assert shown(browser) == sentences[3]
    browser.value("new Promise((done) => { addEventListener('hashchange', done); links = document.links[5].click() })")
    assert shown(browser) == sentences[5]


def test_play_and_pause(browser: Browser, story: Path) -> None:
    browser.open(story)
    browser.press(" ")
    assert browser.text("#play") == "❚❚ Pause"
    browser.value("new Promise((done) => setTimeout(done, 2500))")
    browser.press(" ")
    assert browser.text("#play") == "▶ Play"
    assert shown(browser) != "Initially."


def test_lanes_are_told_to_those_who_cannot_see_them(browser: Browser, story: Path) -> None:
    browser.open(story, "#999")
    lanes = shown_lanes(browser)
    assert len(lanes) == 2
    assert any("offset 0 holds m0 e0; high watermark 1" in lane for lane in lanes)
    unnamed = "[...document.querySelectorAll('button, input')].filter((control) => !control.ariaLabel).length"
    assert browser.value(unnamed) == 0


@pytest.mark.parametrize("width", [1280, 768, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_width_in_light_and_dark(browser: Browser, story: Path, tmp_path: Path, width: int, scheme: str) -> None:
    browser.look(width, scheme=scheme)
    browser.open(story, "#999")
    assert browser.screenshot(tmp_path / "page.png")[0] == width
    assert (tmp_path / "page.png").stat().st_size > 10_000, "so small a picture shows nothing"
    assert browser.value("document.documentElement.scrollWidth") <= width
    paper = [int(part) for part in re.findall(r"\d+", browser.value("getComputedStyle(document.body).backgroundColor"))]
    assert (sum(paper) > 3 * 128) is (scheme == "light")


def test_print_lists_every_step(browser: Browser, story: Path) -> None:
    browser.open(story, "#2")
    browser.call("Emulation.setEmulatedMedia", media="print")
    try:
        visible = "[...document.querySelectorAll('.frame')].filter((frame) => frame.offsetParent).length"
        assert browser.value(visible) == len(truncated().states)
        assert browser.printed().startswith(b"%PDF")
    finally:
        browser.call("Emulation.setEmulatedMedia", media="")


def test_hostile_names_are_shown_and_not_run(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "hostile.html"
    path.write_text(page_of(hostile(), [HOSTILE]), encoding="utf-8")
    browser.open(path, "#2")
    assert HOSTILE in browser.text("h1")
    assert shown(browser) == HOSTILE
    assert HOSTILE in browser.text(".frame.current .name")
    assert browser.value("document.scripts.length") == 2


@pytest.mark.parametrize("steps", LENGTHS)
def test_traces_of_any_length_can_be_walked(browser: Browser, tmp_path: Path, steps: int) -> None:
    path = tmp_path / "climbing.html"
    path.write_text(of(climbing(steps)), encoding="utf-8")
    browser.open(path)
    browser.press(*["ArrowRight"] * (steps + 1))
    assert browser.text("#position") == f"{steps} of {steps}"
    assert f"height: {steps}" in browser.text(".frame.current")


def test_nothing_but_the_file_is_asked_for(browser: Browser, story: Path) -> None:
    browser.requests.clear()
    browser.open(story)
    assert {request.partition("#")[0] for request in browser.requests} <= {story.resolve().as_uri(), "data:,"}
