"""Mermaid: what the diagram says, and that Mermaid itself, in a browser, reads and draws it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from browser import Browser, running_browser
from exports import CLERK, LENGTHS, ODD, needed, trace_of
from little_traces import falling, shortest
from pictures import truncated
from source_tree import ROOT

from checker.export.labels import printable
from checker.export.mermaid import mermaid
from checker.trace import Trace
from model.language import Range, Scalarset, action, invariant, protocol, require
from model.language.sequence_diagram import Message, Note

TITLE = 'A title of <b>; "quotes" #1 and – 数'
#: One file of the package `mermaid` of npm.
MERMAID = Path(os.environ.get("TIDEGAUGE_MERMAID", ROOT / ".tools" / "package" / "dist" / "mermaid.min.js"))

REPLICAS = Scalarset("Replica", 2)
CLIENTS = Scalarset("Client", 2)
Replica: TypeAlias = Any  # names of domains; for the type checker they are types
Client: TypeAlias = Any


def one_step(*drawn: Message | Note, name: str = "act", sets: int = 1) -> Trace:
    """A single step of an action with a replica, and a client if there are two sets, for parameters."""
    draws: Callable[..., Any] | None = (lambda *_, **__: drawn) if drawn else None

    def act(state: Any, replica: Replica) -> None:
        require(state.count < 1)
        require(replica == "B")
        state.count = 1

    def act_for(state: Any, replica: Replica, client: Client) -> None:
        act(state, replica)
        require(client == "A")

    @invariant
    def none_done(state: Any) -> Any:
        return state.count < 1

    chosen = (act, act_for)[sets - 1]
    chosen.__name__ = name
    model = protocol(
        "acting",
        variables={"count": Range(0, 1)},
        domains={"Replica": REPLICAS, "Client": CLIENTS},
        actions=[action(draws=draws)(chosen)],
        invariants=[none_done],
    )
    return shortest(model, model.invariants[0])


def body(trace: Trace) -> list[str]:
    """The lines of the steps."""
    lines = [line.strip() for line in mermaid(trace, "T").splitlines()]
    start = next(place for place, line in enumerate(lines) if line.endswith(": T") and line.startswith("Note"))
    return lines[start + 1 : lines.index("rect rgba(200, 40, 30, 0.2)")]


def participants(trace: Trace) -> list[str]:
    lines = mermaid(trace, "T").splitlines()
    return [line.strip().removeprefix("participant ") for line in lines if line.strip().startswith("participant ")]


# What it says


def test_an_action_that_draws_nothing_is_a_note_over_whom_it_names() -> None:
    assert body(one_step()) == ["Note over B: 1. act(replica=B)"]
    assert participants(one_step()) == ["A", "B"]


def test_with_several_sets_individuals_have_the_sets_name() -> None:
    trace = one_step(sets=2, name="act_for")
    assert participants(trace) == ["p_0 as Client A", "p_1 as Client B", "p_2 as Replica A", "p_3 as Replica B"]
    assert body(trace) == ["Note over p_0,p_3: 1. act_for(replica=B, client=A)"]


def test_messages_answers_and_notes() -> None:
    trace = one_step(
        Message("B", "Disk", "store"),
        Message("Disk", "B", "done", is_answer=True),
        Note((), "all"),
        Note(("B",), "B's"),
    )
    assert participants(trace) == ["Disk", "A", "B"]
    assert body(trace) == ["B->>Disk: 1. store", "Disk-->>B: done", "Note over Disk,B: all", "Note over B: B's"]


@pytest.mark.parametrize("name", ["end", "Loop", "Note", "two words", "naïve", ""])
def test_names_that_mermaid_would_misread_get_another(name: str) -> None:
    assert participants(one_step(Note((name,), "x")))[0].startswith("p_0 as ")


def test_a_protocol_without_individuals_has_a_place_for_notes() -> None:
    assert participants(falling(2)) == ["state"]
    assert body(falling(2)) == ["Note over state: 1. count()", "Note over state: 2. count()"]


def test_the_end_says_what_is_violated_and_for_whom() -> None:
    *_, note, end = mermaid(truncated(), "T").splitlines()
    assert note.startswith("    Note over Controller,B: WeakIsr is violated<br/>not for ")
    assert end == "    end"


def test_kafka_speaks_of_requests_and_fetches() -> None:
    text = mermaid(truncated(), "T")
    assert participants(truncated()) == ["Controller", "A", "B"]
    for expected in (
        "Controller->>A: ",
        "LeaderAndIsr: epoch",
        ": 6. fetch from offset 0",
        "-->>",
        "truncates its log",
    ):
        assert expected in text


# What Mermaid makes of it


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    script = needed(MERMAID if MERMAID.exists() else None, f"there is no Mermaid: {MERMAID.name} of its npm package")
    folder = tmp_path_factory.mktemp("browser")
    with running_browser(folder) as browser:
        page = folder / "page.html"
        page.write_text(f'<!doctype html><meta charset="utf-8"><script src="{Path(script).as_uri()}"></script>')
        browser.open(page)
        browser.value(
            "new Promise(done => { const ask = () => window.mermaid ? done() : setTimeout(ask, 20); ask(); })"
        )
        browser.value("mermaid.initialize({startOnLoad: false})")
        yield browser
        assert browser.complaints == []


def rendered(browser: Browser, text: str) -> str:
    """The words of the picture that Mermaid draws; an error of its parser fails the test."""
    code = """(async text => {
        await mermaid.parse(text);
        const place = document.createElement("div");
        place.innerHTML = (await mermaid.render("picture", text)).svg;
        document.body.replaceChildren(place);
        if (place.querySelector("script, b, img")) throw new Error("names have become elements");
        return [...place.querySelectorAll("text")].map(each => each.textContent).join(" ");
    })"""
    words: str = browser.value(f"{code}({json.dumps(text)})")
    return words


@pytest.mark.parametrize("states", LENGTHS)
def test_mermaid_draws_every_step(states: int, browser: Browser) -> None:
    words = rendered(browser, mermaid(trace_of(states), TITLE))
    assert TITLE in words
    assert "Few is violated" in words
    for number in range(1, states):
        assert f"{number}. " in words


def test_mermaid_shows_odd_names_as_they_are(browser: Browser) -> None:
    words = " ".join(rendered(browser, mermaid(trace_of(40), TITLE)).split())
    for name in (*ODD, CLERK):
        assert " ".join(printable(name).split()) in words


@pytest.mark.parametrize(
    "text",
    [
        "end",
        "loop",
        "wrap: it",
        "nowrap:it",
        "a:b",
        ": x",
        "%% comment",
        "-x",
        "+",
        "$$x$$",
        "**bold**",
        "`code`",
        "a\nb",
    ],
)
def test_mermaid_takes_no_text_for_a_command(text: str, browser: Browser) -> None:
    trace = one_step(Message("B", "A", text), Message("A", "B", text, is_answer=True), Note(("A",), text))
    words = " ".join(rendered(browser, mermaid(trace, text)).split())
    assert words.count(" ".join(text.split())) >= 3


@pytest.mark.parametrize(
    "name", ["end", "Loop", "Note", "two words", "naïve", "a,b", "A->>B", "participant", "1", "x:y"]
)
def test_mermaid_takes_any_name_for_a_participant(name: str, browser: Browser) -> None:
    words = rendered(
        browser, mermaid(one_step(Message(name, "B", "x"), Note((name,), "y"), Note((name, "B"), "z")), "T")
    )
    assert name in words


@pytest.mark.parametrize("trace", [truncated(), falling(2), falling(0)], ids=["kafka", "no individuals", "one state"])
def test_mermaid_draws_others_too(trace: Trace, browser: Browser) -> None:
    assert "violated" in rendered(browser, mermaid(trace, "T"))
