"""A process for each piece of work: whatever becomes of one, the others are done, and it is told."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from process_work import dying, eventually, squared, waiting
from source_tree import ROOT

from checker.processes import Ended, each_in_its_own


def results(
    work: Callable[..., object], arguments: list[tuple[object, ...]], stopped: Callable[[], bool] = lambda: False
) -> list[Ended]:
    found: dict[int, Ended] = {}
    each_in_its_own(work, arguments, stopped, found.__setitem__)
    return [found[number] for number in range(len(arguments))]


def is_alive(process: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except OSError:
        return False


def test_results_are_by_number() -> None:
    assert results(squared, [(number,) for number in range(5)]) == [Ended(number**2) for number in range(5)]


def test_no_work_starts_nothing() -> None:
    assert results(squared, []) == []


def test_a_death_is_told_and_hurts_no_other() -> None:
    deaths = ["", f"signal {signal.SIGKILL.value}", "exit 7", "exit 0", f"signal {signal.SIGSEGV.value}", ""]
    found = results(dying, list(enumerate(deaths)))
    assert found == [Ended(0), Ended(exit=-9), Ended(exit=7), Ended(exit=0), Ended(exit=-11), Ended(5)]


def test_stopping_asks_first(tmp_path: Path) -> None:
    sign = tmp_path / "sign"
    arguments: list[tuple[object, ...]] = [
        (str(sign), True),
        *[(str(tmp_path / str(number)), True) for number in range(8)],
    ]
    found = results(waiting, arguments, sign.exists)
    assert found[0] in (Ended("asked to end"), Ended())
    assert found[-1] == Ended()  # it was never started
    assert len(list(tmp_path.iterdir())) < len(arguments)


def test_stopping_ends_what_does_not_listen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("checker.processes.SECONDS_TO_STOP", 0.2)
    sign = tmp_path / "sign"
    assert results(waiting, [(str(sign), False)], lambda: bool(sign.exists() and sign.read_text())) == [Ended()]
    assert eventually(lambda: not is_alive(int(sign.read_text())))


def test_signals_to_the_whole_group_reach_the_parent_alone(tmp_path: Path) -> None:
    """As a Ctrl-C does, and a CI runner that gives up."""
    sign = tmp_path / "sign"
    command = [sys.executable, str(ROOT / "tests" / "process_work.py"), str(sign)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, env=environment, start_new_session=True, stderr=subprocess.DEVNULL) as parent:
        assert eventually(lambda: sign.exists() and bool(sign.read_text()))
        child = int(sign.read_text())
        os.kill(child, signal.SIGINT)
        os.kill(child, signal.SIGTERM)
        time.sleep(0.3)
        assert is_alive(child)
        parent.kill()
    assert eventually(lambda: not is_alive(child))  # nobody waits for it any more
