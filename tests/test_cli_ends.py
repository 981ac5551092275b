"""Ends that nobody wishes for: output that cannot be written, Ctrl-C, faults. No traceback, the right exit code."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import FALLS, HOLDS, LARGE, SMALL, driven, elsewhere, started, tidegauge, without_progress
from source_tree import ROOT

from model.errors import OutputError


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere(tmp_path, tmp_path_factory.getbasetemp() / "cache", monkeypatch)


# Output that cannot be written


def test_a_directory_is_no_place_for_a_document(tmp_path: Path) -> None:
    ended = tidegauge(*HOLDS, "--json", str(tmp_path))
    assert (ended.code, ended.out) == (2, "")
    assert "is a directory" in ended.err


def test_a_file_is_no_place_for_traces(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    ended = tidegauge(*HOLDS, "--output", "file/traces")
    assert (ended.code, ended.out) == (2, "")
    assert "file is not a directory" in ended.err


def test_what_was_found_is_reported_even_if_it_cannot_be_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OutputError("the disk is gone")

    monkeypatch.setattr("checker.files.write_text", fail)
    for command in (FALLS, ("compare", "truncate-to-high-watermark", *SMALL)):
        ended = tidegauge(*command)
        assert (ended.code, ended.err) == (2, "tidegauge: error: the disk is gone.\n")
        assert re.search(r"violated in 8 steps|truncate-to-high-watermark +holds +8 ", ended.out)
        assert "tidegauge explain" not in ended.out


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("arguments", [HOLDS, (*HOLDS, "--json", "-"), ("list",), ("--help",)])
def test_a_full_disk_is_told(arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full, started(*arguments, stdout=full) as process:
        _, err = process.communicate()
    assert process.returncode == 2
    assert "No space left on device" in err
    assert len(without_progress(err).splitlines()) == 1


@pytest.mark.parametrize("arguments", [FALLS, (*FALLS, "--json", "-")])
def test_a_closed_pipe_changes_nothing(arguments: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with started(*arguments, stdout=writing) as process:
        os.close(writing)
        _, err = process.communicate()
    assert (process.returncode, without_progress(err)) == (1, "")


def test_a_closed_standard_output_changes_nothing() -> None:
    ended = subprocess.run(
        ["sh", "-c", '"$@" >&-', "sh", sys.executable, "-m", "checker.cli", *FALLS],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert (ended.returncode, without_progress(ended.stderr)) == (1, "")


# Interruption and faults


def test_interrupting_a_search_gives_what_was_found() -> None:
    interrupt = "console.ProgressLine.progress = lambda line, found: os.kill(os.getpid(), signal.SIGINT)"
    ended = driven(interrupt, "check", "published/kip-320", *LARGE)
    assert ended.code == 3
    assert "INCONCLUSIVE" in ended.out.splitlines()[0]
    assert "it was interrupted" in ended.unwrapped
    assert without_progress(ended.err) == ""


def test_interrupting_before_the_search_is_inconclusive_too() -> None:
    interrupt = "console.ProgressLine.phase = lambda line, name: os.kill(os.getpid(), signal.SIGINT)"
    ended = driven(interrupt, *HOLDS)
    assert (ended.code, ended.out) == (3, "")
    assert without_progress(ended.err).strip() == "tidegauge: interrupted before there was a result"


def test_interrupting_a_comparison_keeps_what_there_is() -> None:
    """The first spec is done when the keyboard is hit, the second has far to go."""
    bounds = "[bounds]\nreplicas = 3\nlog_size = 4\nrecords = 4\nepochs = 5\n"
    Path("mine.toml").write_text(f'extends = "published/kip-320"\n{bounds}', encoding="utf-8")
    interrupt = "console.ProgressLine.spec = lambda line, name: os.kill(os.getpid(), signal.SIGINT)"
    ended = driven(interrupt, "compare", "published/kip-101", "mine.toml")
    assert ended.code == 3
    assert "it was interrupted" in ended.unwrapped


def test_progress_is_a_line_now_and_then_where_there_is_no_terminal() -> None:
    often = "console.HEARTBEAT_SECONDS = 0.01"
    ended = driven(often, "check", "published/kip-320", *LARGE, "--time-limit", "1s", "--json", "-")
    assert json.loads(ended.out)["verdict"] == "inconclusive"
    told = ended.err.splitlines()
    assert any("searching; level" in line for line in told)
    assert all(line.startswith("tidegauge: ") for line in told)
    assert driven(often, *HOLDS, "--quiet").err == ""


def test_an_unexpected_exception_is_an_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise RuntimeError("something\nunforeseen")

    monkeypatch.setattr("checker.spec.load_shipped", fail)
    ended = tidegauge("list")
    assert (ended.code, ended.out) == (70, "")
    assert ended.err.startswith("tidegauge: internal error: RuntimeError: something unforeseen\n")
    assert "Traceback" not in ended.err
    monkeypatch.setenv("TIDEGAUGE_DEBUG", "1")
    assert "Traceback" in tidegauge("list").err


@pytest.mark.parametrize(
    ("exception", "code"), [(MemoryError(), 3), (KeyboardInterrupt(), 3), (OSError(5, "Input/output error"), 2)]
)
def test_other_ends(exception: BaseException, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise exception

    monkeypatch.setattr("checker.spec.load_shipped", fail)
    ended = tidegauge("list")
    assert (ended.code, ended.out) == (code, "")
    assert ended.err.lstrip().startswith("tidegauge: ")  # a ^C on the screen gets a line of its own
    assert "Traceback" not in ended.err
