"""The gate as Markdown, for the summary page of a CI job: a table of specs, then whatever is not as wished."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from checker.judgement import About, Finding, Gate, Judged
from checker.report.findings import Repository, place_in_spec, shown_place, status, time_text, totals

#: GitHub refuses a summary of more than a mebibyte; stories that would not fit are left out.
MOST_BYTES: Final = 900_000

_MARKS: Final = {"as wished": "✅", "not as wished": "❌", "inconclusive": "❔", "error": "❌"}


def markdown(gate: Gate, repository: Repository) -> str:
    """The text of the page."""
    stories = True
    text = "".join(f"{line}\n" for line in _lines(gate, repository, stories))
    if len(text.encode()) > MOST_BYTES:
        text = "".join(f"{line}\n" for line in _lines(gate, repository, not stories))
    return text


def _lines(gate: Gate, repository: Repository, stories: bool) -> Iterator[str]:
    yield from ("## tidegauge gate", "", totals(gate), "")
    yield from (f"{escaped(remark)}\n" for remark in gate.remarks)
    if gate.specs:
        yield from ("| | spec | result | time |", "|---|---|---|---|")
        yield from map(_row, gate.specs)
        yield ""
    for judged in gate.specs:
        yield from _details(judged, repository, stories)


def _row(judged: Judged) -> str:
    return f"| {_MARKS[status(judged)]} | {code(judged.name)} | {status(judged)} | {time_text(judged)} |"


def _details(judged: Judged, repository: Repository, stories: bool) -> Iterator[str]:
    if not judged.surprises:
        return
    yield from (f"### {_MARKS[status(judged)]} {code(judged.name)}", "")
    for found in judged.surprises:
        place = shown_place(place_in_spec(judged, found), repository)
        subject = "" if found.about is About.SPEC else f"{code(found.name)} "
        yield f"- **{found.kind.value}**: {subject}{escaped(found.text)} ({code(place)})"
    yield ""
    for found in judged.surprises if stories else ():
        yield from _story(judged, found)


def _story(judged: Judged, found: Finding) -> Iterator[str]:
    told = judged.told.get(found.name) if found.about is About.INVARIANT else None
    if told is not None:
        yield from (f"<details><summary>How {code_in_html(found.name)} is violated</summary>", "")
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", told.story)), default=0))
        yield from (f"{fence}text", told.story.rstrip("\n"), fence, "", "</details>", "")


def escaped(text: str) -> str:
    """Text in which nothing is markup."""
    return re.sub(r"([\\`*_{}\[\]<>()#+!|~&])", r"\\\1", " ".join(text.split()))


def code(text: str) -> str:
    """Text as code, in a table or outside: between more backquotes than it has in a row."""
    ticks = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    space = " " if text.startswith("`") or text.endswith("`") else ""
    shown = " ".join(text.split()).replace("|", "\\|")
    return f"{ticks}{space}{shown}{space}{ticks}"


def code_in_html(text: str) -> str:
    """Names of invariants are identifiers; anything else is escaped."""
    return f"<code>{text.replace('&', '&amp;').replace('<', '&lt;')}</code>"
