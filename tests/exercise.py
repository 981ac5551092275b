"""Exercises of docs/, done from top to bottom: files are written, commands run, in their order.

`make accept` writes today's output into examples that are shown in full; abridged ones are mended by hand.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Final

import pytest
from command_line import elsewhere, tidegauge
from pages import Example, stable

#: A file to be written, or a command with what it prints. Commands are not run alone, so their remark says so.
STEP: Final = re.compile(
    r"^<!-- (?:file (?P<file>\S+)|not run: alone; exit (?P<code>\d)) -->\n"
    r"```\w+\n(?:\$ tidegauge (?P<command>[^\n]*)\n)?"
    r"(?P<text>.*?)^```\n",
    re.DOTALL | re.MULTILINE,
)


def at_a_desk(folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder of its own, with a screen as wide as the pages."""
    elsewhere(folder, cache, monkeypatch)
    monkeypatch.setenv("COLUMNS", "100")


def do(page: Path, accept: bool) -> None:
    """Do the exercise; fails the test if the page shows anything else. `accept` writes what is shown today first."""
    today = STEP.sub(_done, page.read_text(encoding="utf-8"))
    if accept:
        page.write_text(today, encoding="utf-8")
    assert today == page.read_text(encoding="utf-8"), "make accept, then read the difference"


def want_whole(page: Path) -> None:
    """Nothing of the page is left out."""
    text = page.read_text(encoding="utf-8")
    steps = list(STEP.finditer(text))
    assert len(steps) == text.count("\n```\n")
    assert len(re.findall(r"^\$ ", text, flags=re.MULTILINE)) == len([step for step in steps if step["code"]])


def _done(step: re.Match[str]) -> str:
    """The step as it would have to be shown today; abridged output is left as it is, if it fits."""
    if step["file"]:
        Path(step["file"]).write_text(step["text"], encoding="utf-8")
        return step[0]
    ended = tidegauge(*shlex.split(step["command"]))
    assert ended.code == int(step["code"]), ended.err
    printed = ended.out + ended.err
    example = Example((), step["text"], ended.code)
    if example.is_abridged or example.matches(printed):
        assert example.matches(printed), stable(printed)
        return step[0]
    start, end = step.start("text") - step.start(), step.end("text") - step.start()
    return f"{step[0][:start]}{printed}{step[0][end:]}"
