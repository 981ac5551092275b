"""Why an invariant fails: the whole condition as it was written, and the comparison in it that is false."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from little_traces import shortest

from checker.data import counterexamples_folder
from checker.reason import Reason
from checker.trace_file import load
from model.language import Bool, Enum, Map, Option, Range, Set, all_of, any_of, implies, invariant, protocol, where
from model.language.domains import Domain

PLACE = Range(0, 1)
VARIABLES: dict[str, Domain] = {
    "low": Range(0, 3),
    "high": Range(0, 3),
    "late": Option(Range(0, 3)),
    "phase": Enum("Phase", ("idle", "busy")),
    "done": Bool(),
    "table": Map(PLACE, Range(0, 3)),
    "members": Set(PLACE),
}


def why(condition: Callable[[Any], Any]) -> Reason:
    """Why the condition fails in a state in which everything is 0, none, idle or empty."""

    @invariant
    def promised(state: Any) -> Any:
        return condition(state)

    model = protocol("still", variables=VARIABLES, actions=[], invariants=[promised])
    return shortest(model, model.invariants[0]).reason()


@pytest.mark.parametrize(
    ("condition", "comparison"),
    [
        (lambda state: state.low > 0, "low > 0, which would be 0 > 0"),
        (lambda state: state.low >= 2, "low ≥ 2, which would be 0 ≥ 2"),
        (lambda state: ~(state.low < 1), "low ≥ 1, which would be 0 ≥ 1"),
        (lambda state: state.low < state.high, "low < high, which would be 0 < 0"),
        (lambda state: state.low != state.high, "low ≠ high, which would be 0 ≠ 0"),
        (lambda state: state.phase == "busy", "phase = busy, which would be idle = busy"),
        (lambda state: state.late == state.low, "late = low, which would be none = 0"),
        (lambda state: state.low + 1 == state.high, "(low + 1) = high, which would be 1 = 0"),
        (lambda state: (state.low == 0) & (state.high == 2), "high = 2, which would be 0 = 2"),
        (lambda state: ~((state.low == 0) | state.done), "low ≠ 0, which would be 0 ≠ 0"),
        (lambda state: where(state.done, state.low, state.table[1]) == 3, "table[1] = 3, which would be 0 = 3"),
    ],
)
def test_the_comparison_that_is_false(condition: Callable[[Any], Any], comparison: str) -> None:
    assert why(condition).comparison == comparison


@pytest.mark.parametrize(
    "condition",
    [
        lambda state: state.done,
        lambda state: state.members.has(1),
        lambda state: (state.low > 0) | (state.high > 0),
        lambda state: ~((state.low == 0) & (state.high == 0)),
    ],
)
def test_where_no_comparison_is_to_blame_alone_none_is_named(condition: Callable[[Any], Any]) -> None:
    assert why(condition).comparison == ""


def several_lines(state: Any) -> Any:
    return all_of(
        implies(
            state.table[place] == 0,
            any_of(
                # The remark is no part of the condition.
                [state.low > place, state.high > place],
            ),
        )
        for place in (0, 1)
    )


def test_a_condition_of_several_lines_is_quoted_whole() -> None:
    found = why(several_lines)
    assert found.text == "any_of("
    assert found.condition == "any_of([state.low > place, state.high > place])"


def returned(state: Any) -> Any:
    return (
        state.low
        > state.high
    )  # fmt: skip


def test_of_a_statement_the_value_is_quoted() -> None:
    assert why(returned).condition == "state.low > state.high"


@pytest.mark.parametrize("path", sorted(counterexamples_folder().glob("*.json"))[::7], ids=lambda path: path.stem)
def test_shipped_counterexamples_say_what_is_false(path: Path) -> None:
    reason = load(path).trace.reason()
    assert reason.condition.count("(") == reason.condition.count(")")
    assert "would be" in reason.comparison
