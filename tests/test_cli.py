"""The command line: what it prints, what it writes, how it ends. Its exit codes and documents are a contract."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from source_tree import ROOT
from syrupy.assertion import SnapshotAssertion

from checker.cache import DIRECTORY_VARIABLE
from checker.cli.application import run

SMALL = ("--replicas", "2", "--log-size", "1", "--records", "1", "--epochs", "2")
LARGE = ("--replicas", "3", "--log-size", "3", "--records", "3", "--epochs", "4")
FALLS = ("check", "published/truncate-to-high-watermark", *SMALL)
HOLDS = ("check", "published/kip-320", *SMALL)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder of its own, 80 columns wide, without colours, with a cache of its own."""
    monkeypatch.chdir(tmp_path)
    for name, value in {"COLUMNS": "80", "NO_COLOR": "1", DIRECTORY_VARIABLE: str(cache)}.items():
        monkeypatch.setenv(name, value)


class Ended:
    """How a command ended, in this process."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def tidegauge(capfd: pytest.CaptureFixture[str]) -> Callable[..., Ended]:
    def ended(*arguments: str) -> Ended:
        code = run(arguments)
        return Ended(code, *capfd.readouterr())

    return ended


def started(*arguments: str, **settings: Any) -> subprocess.Popen[str]:
    """The same in a process of its own."""
    command = [sys.executable, "-m", "checker.cli", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": environment}
    return subprocess.Popen(command, **{**pipes, **settings})


def schema(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / "docs" / f"{name}.schema.json").read_text(encoding="utf-8"))
    return found


def stable(text: str) -> str:
    """The text without times, rates, and the numbers of lines in the model."""
    text = re.sub(r"(?m)^  time .*\n(?:   .*\n)*", "", text)
    text = re.sub(r"Took [\d.]+ s", "Took … s", text)
    return re.sub(r"\.py:\d+$", ".py:…", text, flags=re.MULTILINE)


# Help, versions, mistakes


def test_help_lists_the_commands_in_the_order_of_use(tidegauge: Callable[..., Ended]) -> None:
    ended = tidegauge("--help")
    listed = re.findall(r"^  (\w+)  ", ended.out.partition("Commands:")[2], flags=re.MULTILINE)
    assert (ended.code, listed) == (0, ["list", "check", "compare", "explain", "replay", "prove"])


def test_version_names_the_engine_without_loading_it() -> None:
    code = "import sys; sys.argv = ['tidegauge', '--version']\nfrom checker.cli import main\n"
    code += "try:\n    main()\nfinally:\n    print(sorted({'numba', 'llvmlite', 'z3', 'numpy'} & set(sys.modules)))"
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    *versions, loaded = ended.stdout.splitlines()
    names = [line.split()[0] for line in versions]
    assert (ended.returncode, loaded) == (0, "[]")
    assert names == ["tidegauge", "python", "llvmlite", "numba", "numpy", "z3-solver"]


MISTAKES = {
    "unknown command": ["chek"],
    "unknown option": ["check", "kip-320", "--replica", "3"],
    "no spec": ["check"],
    "two specs": ["check", "kip-320", "kip-279"],
    "unknown spec": ["check", "kip-321"],
    "unknown invariant": ["check", "kip-320", "--invariant", "StrongISR"],
    "unknown feature": ["check", "kip-320", "--set", "truncaton=high-watermark"],
    "unknown rule": ["check", "kip-320", "--set", "truncation=high-watermarks"],
    "setting without a value": ["check", "kip-320", "--set", "truncation"],
    "setting twice": ["check", "kip-320", "--set", "truncates=lazily", "--set", "truncates=at-adoption"],
    "two workers": ["check", "kip-320", "--workers", "2"],
    "crashes where there are none": ["check", "kip-320", "--crashes", "1"],
    "no replicas": ["check", "kip-320", "--replicas", "0"],
    "very many replicas": ["check", "kip-320", "--replicas", "1000"],
    "replicas in words": ["check", "kip-320", "--replicas", "three"],
    "no states": ["check", "kip-320", "--max-states", "0"],
    "time without a unit": ["check", "kip-320", "--time-limit", "90"],
    "no time": ["check", "kip-320", "--time-limit", "0s"],
    "memory in another unit": ["check", "kip-320", "--memory-limit", "4GB"],
    "unknown symmetry": ["check", "kip-320", "--symmetry=maybe"],
    "symmetry on and off": ["check", "kip-320", "--no-symmetry", "--symmetry=audit"],
    "no such trace": ["explain", "nowhere.json"],
    "a spec for a trace": ["explain", str(ROOT / "pyproject.toml")],
    "a directory for a trace": ["replay", "."],
    "steps in words": ["explain", "nowhere.json", "--steps", "all"],
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_get_a_sentence(mistake: str, tidegauge: Callable[..., Ended], snapshot: SnapshotAssertion) -> None:
    ended = tidegauge(*MISTAKES[mistake])
    assert (ended.code, ended.out) == (2, "")
    assert len(ended.err.splitlines()) == 1
    assert ended.err.startswith("tidegauge: error: ")
    assert ended.err.replace(str(ROOT), "…") == snapshot
