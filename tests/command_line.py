"""Running the command line in tests: in this process, or in one of its own where that matters."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from source_tree import ROOT

from checker.cache import DIRECTORY_VARIABLE
from checker.cli.application import run

SMALL = ("--replicas", "2", "--log-size", "1", "--records", "1", "--epochs", "2")
LARGE = ("--replicas", "3", "--log-size", "3", "--records", "3", "--epochs", "4")
BOUNDS = "2 replicas, log size 1, 1 record, 2 epochs"
FALLS = ("check", "published/truncate-to-high-watermark", *SMALL)
HOLDS = ("check", "published/kip-320", *SMALL)


@dataclass(frozen=True)
class Ended:
    """How a command ended, and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def unwrapped(self) -> str:
        """Standard output as one line, for sentences that a narrow screen breaks."""
        return " ".join(self.out.split())


def elsewhere(folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder of its own, 80 columns wide, without colours, with a cache that only tests use."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr("checker.report.console.HEARTBEAT_SECONDS", 3_600)  # however slow the machine is
    for name, value in {"COLUMNS": "80", "NO_COLOR": "1", DIRECTORY_VARIABLE: str(cache)}.items():
        monkeypatch.setenv(name, value)


def tidegauge(*arguments: str) -> Ended:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(arguments)
    return Ended(code, out.getvalue(), err.getvalue())


def started(*arguments: str, **settings: Any) -> subprocess.Popen[str]:
    """The same in a process of its own."""
    command = [sys.executable, "-m", "checker.cli", *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": _environment()}
    settings = {"preexec_fn": _heed_the_keyboard, **pipes, **settings}
    return subprocess.Popen(command, **settings)


def driven(change: str, *arguments: str) -> Ended:
    """A process of its own in which something about the console has been changed first."""
    code = (
        f"import os, signal, sys\nfrom checker.report import console\n{change}\n"
        f"sys.argv = {['tidegauge', *arguments]!r}\nfrom checker.cli import main\nmain()"
    )
    command = [sys.executable, "-c", code]
    ended = subprocess.run(
        command, env=_environment(), capture_output=True, text=True, timeout=300, preexec_fn=_heed_the_keyboard
    )
    return Ended(ended.returncode, ended.stdout, ended.stderr)


def without_progress(errors: str) -> str:
    """What a process of its own wrote on the error stream but for the lines that say how far it is."""
    phases = "starting|staging|proving symmetry|compiling|searching|replaying|auditing"
    return re.sub(rf"(?m)^tidegauge: (\S+: )?({phases})[,;] .*\n", "", errors)


def _heed_the_keyboard() -> None:
    """Tests that run in the background of a shell start with Ctrl-C ignored, and hand that on."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def schema(name: str) -> dict[str, Any]:
    """A JSON Schema of docs/."""
    found: dict[str, Any] = json.loads((ROOT / "docs" / f"{name}.schema.json").read_text(encoding="utf-8"))
    return found
