"""The exercise of docs/own-protocol.md."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from exercise import at_a_desk, do, want_whole
from source_tree import ROOT

PAGE: Final = ROOT / "docs" / "own-protocol.md"


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
