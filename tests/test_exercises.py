"""The exercises of docs/, done from top to bottom."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from exercise import STEP, at_a_desk, do, want_whole
from source_tree import ROOT

POLICY: Final = ROOT / "docs" / "write-a-policy.md"
PAGES: Final = (POLICY, ROOT / "docs" / "own-protocol.md")

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


@every_page
def test_the_exercise(
    page: Path,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    at_a_desk(tmp_path, tmp_path_factory.getbasetemp() / "cache", monkeypatch)
    do(page, accept=request.config.getoption("update_snapshots"))


@every_page
def test_nothing_of_the_page_is_left_out(page: Path) -> None:
    want_whole(page)


def test_the_policy_has_no_more_than_ten_lines() -> None:
    """The exercise is one of ten lines: imports, functions and nothing hidden."""
    policies = [
        step["text"] for step in STEP.finditer(POLICY.read_text(encoding="utf-8")) if step["file"] == "my_policy.py"
    ]
    assert len(policies) == 4
    for policy in policies:
        lines = [line for line in policy.splitlines() if line and not line.startswith('"""')]
        assert len(lines) <= 10
