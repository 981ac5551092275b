"""What `new` says."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from checker.report.layout import faint, grid, plain
from checker.report.story import BLANK, Line, Style, wrapped

_WHAT = {
    ".toml": "a spec: rules, bounds, promises, what is expected",
    "-older.toml": "the same with an older rule, which must be refuted",
    "policy.py": "your truncation policy",
    "invariants.py": "your promises",
    ".yml": "a job for GitHub",
    "README.md": "what is here",
    ".gitignore": "what the commands leave behind",
}


def started(folder: Path, names: Sequence[str], width: int) -> tuple[Line, ...]:
    return tuple(_lines(folder, names, width))


def _lines(folder: Path, names: Sequence[str], width: int) -> Iterator[Line]:
    yield from wrapped(f"{folder} is ready:", width, Style.HEADING)
    yield BLANK
    yield from grid([[plain(name), faint(_meaning(name))] for name in names])
    yield BLANK
    yield from wrapped("Next:", width, Style.FAINT)
    spec = next(name for name in names if name.endswith(".toml"))
    yield Line((plain(f"  cd {shlex.quote(str(folder))}"),))
    for command in (f"tidegauge check {spec}", "tidegauge gate ."):
        yield Line((plain(f"  {command}"),))


def _meaning(name: str) -> str:
    endings = sorted((ending for ending in _WHAT if name.endswith(ending)), key=len)
    return _WHAT[endings[-1]] if endings else "a test for pytest"
