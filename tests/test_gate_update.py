"""`gate --update`: what was found takes the place of what was expected, once somebody agrees. Nothing else changes."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import termios
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_line import started
from gate_specs import (
    CASES,
    COUNTS,
    ENDLESS,
    FALLING,
    REPORTS,
    by_itself,
    code_of,
    gate,
    require_whole_reports,
    spec_text,
    written,
)

import checker.gate
from checker.gate import load_all, run_gate
from checker.spec_search import find_specs
from checker.spec_update import rewritten
from model.errors import SpecError


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    by_itself(tmp_path, tmp_path_factory.getbasetemp() / "cache", monkeypatch)


MESSY = """\
# The head.
title = 'A spec of the tests'
variant = "published/truncate-to-high-watermark"
invariants = ["LeaderInIsr", "WeakIsr", "StrongIsr"]
bounds = { replicas = 2, log_size = 1, records = 1, epochs = 2 }   # small

[ expect ]   # facts
"WeakIsr" = {violated=3}    # three?
StrongIsr   =   "holds"   # a hope
LeaderInIsr.violated = 4
counts = { orbits = 1_000, depth = 0x3 } # wrong
"""
MENDED = (
    MESSY.replace("{violated=3}", "{violated=8}")
    .replace('"holds"   # a hope', "{ violated = 9 }   # a hope")
    .replace("1_000", "177")
    .replace("0x3", "12")
    .replace("LeaderInIsr.violated = 4", 'LeaderInIsr = "holds"')
)


def test_an_update_keeps_comments_and_layout() -> None:
    text = MESSY.replace("LeaderInIsr.violated = 4", "LeaderInIsr = { violated = 4 }")
    path = written("mine.toml", text.replace("\n", "\r\n"))
    ended = gate("mine.toml", "--update", "--yes", "--output", "new", *REPORTS)
    assert ended.code == 0
    assert '-StrongIsr   =   "holds"   # a hope' in ended.out
    assert "+StrongIsr   =   { violated = 9 }   # a hope" in ended.out
    assert "5 expectations updated in 1 file." in ended.out
    assert path.read_bytes().decode() == MENDED.replace("\n", "\r\n")
    assert sorted(each.name for each in Path("new").iterdir()) == ["mine-StrongIsr.json", "mine-WeakIsr.json"]
    assert require_whole_reports()["exit_code"] == 0
    assert gate("mine.toml").code == 0
    again = gate("mine.toml", "--update", "--yes")
    assert (again.code, "There is nothing to update." in again.out) == (0, True)


def test_what_cannot_be_rewritten_with_care_is_left_alone() -> None:
    path = written("mine.toml", MESSY)
    ended = gate("mine.toml", "--update", "--yes")
    assert ended.code == 2
    assert ended.err == (
        "tidegauge: error: mine.toml:10: LeaderInIsr is written in a way that cannot be rewritten. "
        'Write LeaderInIsr = "holds" by hand.\n'
    )
    assert path.read_text(encoding="utf-8") == MESSY


def test_a_length_in_a_dotted_key_is_rewritten() -> None:
    text = spec_text("WeakIsr.violated = 3 # dotted\n", FALLING)
    written("mine.toml", text)
    assert gate("mine.toml", "--update", "--yes").code == 0
    assert Path("mine.toml").read_text(encoding="utf-8") == text.replace("= 3", "= 8")


def test_an_inherited_expectation_is_changed_where_it_stands() -> None:
    base = spec_text(f"WeakIsr = {{ violated = 7 }}\n{COUNTS}orbits = 5_0\n", FALLING)
    written("base.toml", base)
    child = written("child.toml", 'extends = "base.toml"\ntitle = "mine"\n')
    ended = gate("base.toml", "child.toml", "--update", "--yes")
    assert (ended.code, "4 expectations updated in 1 file." in ended.out) == (0, True)
    assert Path("base.toml").read_text(encoding="utf-8") == base.replace("7", "8").replace("5_0", "177")
    assert child.read_text(encoding="utf-8") == 'extends = "base.toml"\ntitle = "mine"\n'


def test_two_specs_that_share_a_line_and_differ() -> None:
    written("mine.toml", spec_text(f'WeakIsr = "holds"\n{COUNTS}orbits = 1\n'))
    (loaded,) = load_all(find_specs(["mine.toml"]).specs)
    (judged,) = run_gate([loaded]).specs
    other = replace(judged, counted={"orbits": 2})
    assert [each.new.splitlines()[-1] for each in rewritten([judged, judged])] == ["orbits = 139"]
    with pytest.raises(SpecError, match=r"mine.toml:14: two specs take orbits from this line, and found different"):
        rewritten([judged, other])


def test_what_is_inconclusive_is_never_accepted() -> None:
    text = spec_text(f'WeakIsr = "holds"\n{COUNTS}orbits = 1\n', bounds=ENDLESS)
    written("mine.toml", text)
    ended = gate("mine.toml", "--update", "--yes", "--max-states", "1000")
    assert (ended.code, "There is nothing to update." in ended.out) == (3, True)
    assert Path("mine.toml").read_text(encoding="utf-8") == text


def test_witnesses_and_idle_actions_are_left_to_the_author() -> None:
    text = CASES["witness-not-reached"].text.replace('"holds"', "{ violated = 3 }")
    written("mine.toml", text)
    ended = gate("mine.toml", "--update", "--yes")
    assert ended.code == 1
    assert Path("mine.toml").read_text(encoding="utf-8") == text.replace("{ violated = 3 }", '"holds"')


@pytest.mark.parametrize(("answer", "code", "steps"), [("y\n", 0, "8"), ("n\n", 1, "7"), ("\x03", 1, "7")])
def test_on_a_terminal_it_asks(answer: str, code: int, steps: str) -> None:
    written("mine.toml", spec_text("WeakIsr = { violated = 7 }\n", FALLING))
    ours, theirs = pty.openpty()
    streams = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
    with started("gate", "mine.toml", "--update", "--quiet", **streams, preexec_fn=_at_the_terminal) as process:
        os.close(theirs)
        shown = ""
        while "Write this? [y/N]" not in shown:
            shown += os.read(ours, 4096).decode()
        assert "+WeakIsr = { violated = 8 }" in shown
        time.sleep(0.5)  # a Ctrl-C in the very moment before it reads would be noticed with the next key only
        os.write(ours, answer.encode())
        assert code_of(process) == code
    os.close(ours)
    assert f"violated = {steps}" in Path("mine.toml").read_text(encoding="utf-8")


def _at_the_terminal() -> None:
    """In a session of its own, with the terminal as its own: Ctrl-C becomes a signal."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def test_a_file_that_changed_meanwhile_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    path = written("mine.toml", spec_text("WeakIsr = { violated = 7 }\n", FALLING))
    honest = checker.gate.run_gate
    changed = path.read_text(encoding="utf-8").replace("7", "6")

    def slow(*given: Any) -> Any:
        found = honest(*given)
        written("mine.toml", changed)
        return found

    monkeypatch.setattr("checker.gate.run_gate", slow)
    ended = gate("mine.toml", "--update", "--yes")
    assert (ended.code, "this has changed while the spec was checked" in ended.err) == (2, True)
    assert path.read_text(encoding="utf-8") == changed
