"""The exercise of docs/write-a-policy.md, done from top to bottom: files are written, commands run, in their order.

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
from source_tree import ROOT

PAGE: Final = ROOT / "docs" / "write-a-policy.md"

#: A file to be written, or a command with what it prints. Commands are not run alone, so their remark says so.
STEP: Final = re.compile(
    r"^<!-- (?:file (?P<file>\S+)|not run: alone; exit (?P<code>\d)) -->\n"
    r"```\w+\n(?:\$ tidegauge (?P<command>[^\n]*)\n)?"
    r"(?P<text>.*?)^```\n",
    re.DOTALL | re.MULTILINE,
)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere(tmp_path, tmp_path_factory.getbasetemp() / "cache", monkeypatch)
    monkeypatch.setenv("COLUMNS", "100")


def done(step: re.Match[str]) -> str:
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


def test_the_exercise(request: pytest.FixtureRequest) -> None:
    text = PAGE.read_text(encoding="utf-8")
    today = STEP.sub(done, text)
    if request.config.getoption("update_snapshots"):
        PAGE.write_text(today, encoding="utf-8")
    assert today == PAGE.read_text(encoding="utf-8"), "make accept, then read the difference"


def test_nothing_of_the_page_is_left_out() -> None:
    text = PAGE.read_text(encoding="utf-8")
    steps = list(STEP.finditer(text))
    assert len(steps) == text.count("\n```\n")
    assert len(re.findall(r"^\$ ", text, flags=re.MULTILINE)) == len([step for step in steps if step["code"]])


def test_the_page_shows_no_more_than_ten_lines_of_code() -> None:
    """The exercise is one of ten lines: imports, functions and nothing hidden."""
    policies = [
        step["text"] for step in STEP.finditer(PAGE.read_text(encoding="utf-8")) if step["file"] == "my_policy.py"
    ]
    assert len(policies) == 4
    for policy in policies:
        lines = [line for line in policy.splitlines() if line and not line.startswith('"""')]
        assert len(lines) <= 10
