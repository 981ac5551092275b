"""The smallest protocol there can be goes through every command: no bounds, no parameters, no conditions, nobody to
rename."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import elsewhere, tidegauge

PROTOCOL = '''\
from model.language import Bool, action, invariant, protocol


@action
def set_it(state):
    state.it = True


@invariant
def never(state):
    """It stays false."""
    return ~state.it


def made():
    return protocol("smallest", variables={"it": Bool()}, actions=[set_it], invariants=[never])
'''
SPEC = """\
title = "The smallest"
protocol = "mine.py:made"
invariants = ["Never"]

[expect]
Never = { violated = 1 }
"""
TRACE = "tidegauge-out/mine-Never.json"
ADMITTED = ("--protocol", "mine.py:made")
COMMANDS = [
    (1, ("check", "mine.toml")),
    (1, ("check", "mine.toml", "--coverage", "--threats")),
    (1, ("check", "mine.toml", "--no-symmetry")),
    (0, ("compare", "mine.toml", "--report", "report")),
    (0, ("gate", "mine.toml", "--junit", "junit.xml", "--sarif", "sarif.json", "--report", "pages")),
    (0, ("prove", "mine.toml")),
    (0, ("diff", "mine.toml", "mine.toml")),
    (0, ("shrink", "mine.toml")),
    (0, ("graph", "mine.toml", "--format", "dot", "-o", "-")),
    (0, ("explain", TRACE, *ADMITTED)),
    (0, ("replay", TRACE, *ADMITTED)),
    *((0, ("export", TRACE, "--format", name, "-o", "-", *ADMITTED)) for name in ("dot", "graphml", "mermaid", "itf")),
    *((0, ("export", TRACE, "--format", name, "-o", "-", *ADMITTED)) for name in ("json", "svg", "html")),
]


@pytest.fixture(autouse=True)
def _desk(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere(tmp_path, tmp_path_factory.getbasetemp() / "cache", monkeypatch)
    Path("mine.py").write_text(PROTOCOL, encoding="utf-8")
    Path("mine.toml").write_text(SPEC, encoding="utf-8")
    assert tidegauge("check", "mine.toml", "--quiet").code == 1


@pytest.mark.parametrize(("code", "arguments"), COMMANDS)
def test_every_command(code: int, arguments: tuple[str, ...]) -> None:
    ended = tidegauge(*arguments)
    assert (ended.code, ended.err) == (code, "")
    assert ended.out


def test_what_it_prints_does_not_get_into_results() -> None:
    file = Path("mine.py")
    text = file.read_text(encoding="utf-8")
    text = text.replace("@action\n", "print('loaded')\n\n\n@action\n").replace(
        "    state.it =", "    print('staged')\n    state.it ="
    )
    file.write_text(text, encoding="utf-8")
    ended = tidegauge("check", "mine.toml", "--json", "-")
    assert json.loads(ended.out)["verdict"] == "violated"
    assert {"loaded", "staged"} <= set(ended.err.splitlines())
