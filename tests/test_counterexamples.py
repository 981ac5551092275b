"""The stored counterexamples: complete, replayed, and the very files that checking writes today."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.data import counterexamples_folder
from checker.run import check
from checker.spec import Spec, load_shipped
from checker.trace_file import file_name, load, render

#: Specs that are checked again in the ordinary tests; the others are among the slow ones.
SOON = 30_000

SPECS = [spec for spec in load_shipped() if not spec.name.startswith("slow/")]
BROKEN = [spec for spec in SPECS if any(expected.steps is not None for expected in spec.expect.values())]


def orbits(spec: Spec) -> int:
    assert spec.counts is not None
    return spec.counts.orbits or 0


def stored(spec: Spec, invariant: str) -> Path:
    return counterexamples_folder() / file_name(spec, invariant)


def test_there_is_one_for_every_promise_that_a_spec_expects_to_be_broken() -> None:
    expected = {
        file_name(spec, name) for spec in BROKEN for name, wanted in spec.expect.items() if wanted.steps is not None
    }
    assert {path.name for path in counterexamples_folder().glob("*.json")} == expected


@pytest.mark.parametrize("path", sorted(counterexamples_folder().glob("*.json")), ids=lambda path: path.stem)
def test_each_is_confirmed_by_the_model_of_today(path: Path) -> None:
    found = load(path)
    assert found.warning == ""
    assert found.trace.is_counterexample


@pytest.mark.parametrize(
    "spec",
    [pytest.param(spec, marks=() if orbits(spec) < SOON else pytest.mark.slow, id=spec.name) for spec in BROKEN],
)
def test_checking_writes_the_same_files_again(spec: Spec) -> None:
    for found in check(spec).invariants:
        if found.trace is not None:
            assert render(found.trace, spec) == stored(spec, found.name).read_text(encoding="utf-8")
