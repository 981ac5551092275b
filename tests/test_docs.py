"""The tutorial's blocks run, and print what stands under them; the toy checker finds what the real one finds.

After a change, `make accept` writes today's output into the page; read the difference.
"""

from __future__ import annotations

import importlib.util
import sys
from itertools import pairwise
from types import ModuleType
from typing import Any

import pytest
from pages import Page
from source_tree import ROOT

from model.kafka import NAMED_VARIANTS, Bounds, kafka
from model.language import Protocol

DOCS = ROOT / "docs"
TUTORIAL = DOCS / "language.md"


@pytest.fixture
def toy_checker(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module in docs/, importable under its name for the time of one test."""
    spec = importlib.util.spec_from_file_location("toy_checker", DOCS / "toy_checker.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "toy_checker", module)
    spec.loader.exec_module(module)
    return module


def test_the_tutorial_prints_what_it_says(request: pytest.FixtureRequest, toy_checker: ModuleType) -> None:
    page = Page(TUTORIAL)
    today = page.with_output()
    if request.config.getoption("update_snapshots"):
        TUTORIAL.write_text(today, encoding="utf-8")
    assert toy_checker.__name__ in page.text
    assert today == TUTORIAL.read_text(encoding="utf-8"), "make accept, then read the difference"


def test_the_tutorial_shows_its_errors() -> None:
    """So that a block which is meant to fail cannot start to succeed unnoticed."""
    text = TUTORIAL.read_text(encoding="utf-8")
    errors = text.partition("## What mistakes look like")[2]
    assert errors.count("```python") == errors.count("```text") == 6
    assert errors.count("\nModelError: ") == 5
    assert errors.count("\nModelFault: ") == 1
    assert "Error: " not in text.partition("## What mistakes look like")[0]


@pytest.fixture
def page(toy_checker: ModuleType) -> dict[str, Any]:
    """What the tutorial has defined in the end."""
    tutorial = Page(TUTORIAL)
    assert toy_checker.__name__ in tutorial.text
    tutorial.with_output()
    return tutorial.namespace


def test_the_toy_checker_on_the_locks_of_the_tutorial(toy_checker: ModuleType, page: dict[str, Any]) -> None:
    patient: Protocol = page["lock"]
    hasty: Protocol = page["hasty"]
    assert list(toy_checker.report(patient)) == ["3 states, 2 levels.", "OneBeliever holds."]
    result = toy_checker.explore(hasty)
    path = toy_checker.path_to(result.broken["OneBeliever"], result.parents)
    assert [step.action for step, _, _ in path] == ["acquire", "expire", "acquire"]


def test_the_toy_checker_on_kip_101(toy_checker: ModuleType) -> None:
    made = kafka(NAMED_VARIANTS["published/kip-101"], Bounds(2, 2, 2, 3))
    result = toy_checker.explore(made)
    assert (result.distinct, result.depth) == (9045, 18)
    assert {name: len(toy_checker.path_to(state, result.parents)) for name, state in result.broken.items()} == {
        "WeakIsr": 11,
        "StrongIsr": 11,
    }
    path = toy_checker.path_to(result.broken["WeakIsr"], result.parents)
    assert path[0][1] in made.initial
    assert all(before == after for (_, _, before), (_, after, _) in pairwise(path))


def test_the_toy_checker_tells_a_story(toy_checker: ModuleType) -> None:
    made = kafka(NAMED_VARIANTS["published/truncate-to-high-watermark"], Bounds(2, 1, 1, 2))
    told = list(toy_checker.report(made))
    assert told[:2] == ["353 states, 12 levels.", "LeaderInIsr holds."]
    assert told[2] == "WeakIsr is violated in 8 steps:"
    assert "StrongIsr is violated in 9 steps:" in told
    assert "  1. The controller elects A leader of epoch 0 with ISR {A, B}." in told


def test_the_toy_checker_is_short() -> None:
    assert len((DOCS / "toy_checker.py").read_text(encoding="utf-8").splitlines()) <= 120
