"""Every count and verdict that TLC has for the published models, reproduced by the search itself.

`tests/data/published-tlc.csv` says what TLC found: states and depth, with and without its SYMMETRY, and for each
invariant whether it holds or how many states its shortest counterexample has. There is nothing to tune here.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path
from typing import TypeAlias

import pytest

from checker.outcome import Outcome
from checker.run import Options, check
from checker.spec import load_spec

Model: TypeAlias = tuple[str, int, int, int, int]  # the spec, replicas, log size, records, epochs
Row: TypeAlias = dict[str, str]

TABLE = Path(__file__).parent / "data" / "published-tlc.csv"
MODES = {"plain": "off", "symmetry": "on"}


def rows_by_model() -> dict[Model, list[Row]]:
    found: dict[Model, list[Row]] = defaultdict(list)
    with TABLE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            bounds = (int(row[name]) for name in ("replicas", "log_size", "records", "epochs"))
            found[(row["model"], *bounds)].append(row)  # type: ignore[index]  # four bounds
    return found


ROWS = rows_by_model()


def explored(model: Model, symmetry: str) -> Outcome:
    name, replicas, log_size, records, epochs = model
    bounds = {"replicas": replicas, "log_size": log_size, "records": records, "epochs": epochs}
    return check(load_spec(f"published/{name}").changed(bounds=bounds), Options(symmetry=symmetry))


def counted(outcome: Outcome) -> tuple[int, int]:
    assert outcome.explored.complete
    return outcome.explored.distinct, outcome.explored.depth


def judged(outcome: Outcome) -> dict[str, tuple[str, int | None]]:
    """Verdict and number of states of the counterexample, as TLC counts them."""
    return {
        found.name: (found.verdict.value, None if found.trace is None else len(found.trace.states))
        for found in outcome.invariants
    }


def test_the_table_is_the_whole_table() -> None:
    assert sum(len(rows) for rows in ROWS.values()) == 247
    assert {mode for rows in ROWS.values() for mode in (row["mode"] for row in rows)} == {*MODES, "invariant"}


@pytest.mark.parametrize("model", ROWS, ids=lambda model: "-".join(map(str, model)))
def test_counts_and_verdicts_are_those_of_tlc(model: Model) -> None:
    """Both modes are run for every model, so that verdicts are compared with and without symmetry as well."""
    for mode, symmetry in MODES.items():
        outcome = explored(model, symmetry)
        for row in ROWS[model]:
            if row["mode"] == mode:
                assert counted(outcome) == (int(row["distinct"]), int(row["depth"]))
            elif row["mode"] == "invariant":
                expected = (row["verdict"], int(row["counterexample_states"] or 0) or None)
                assert judged(outcome)[row["invariant"]] == expected
