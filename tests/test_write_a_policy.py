"""The exercise of docs/write-a-policy.md."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from exercise import STEP, at_a_desk, do, want_whole
from source_tree import ROOT

PAGE: Final = ROOT / "docs" / "write-a-policy.md"


def test_the_exercise(
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    at_a_desk(tmp_path, tmp_path_factory.getbasetemp() / "cache", monkeypatch)
    do(PAGE, accept=request.config.getoption("update_snapshots"))


def test_nothing_of_the_page_is_left_out() -> None:
    want_whole(PAGE)


def test_the_page_shows_no_more_than_ten_lines_of_code() -> None:
    """The exercise is one of ten lines: imports, functions and nothing hidden."""
    policies = [
        step["text"] for step in STEP.finditer(PAGE.read_text(encoding="utf-8")) if step["file"] == "my_policy.py"
    ]
    assert len(policies) == 4
    for policy in policies:
        lines = [line for line in policy.splitlines() if line and not line.startswith('"""')]
        assert len(lines) <= 10
