"""Turning points, in protocols small enough to see where they must be."""

from __future__ import annotations

from typing import Any

import pytest
from little_traces import falling, shortest
from pictures import climbing, truncated

from checker.trace import Trace, replay
from checker.turning_point import TurningPoint, turning_point
from model.language import Range, action, invariant, protocol, require


def slope(circles: bool = False, stays: bool = False) -> Trace:
    """From 0 one may go to 1 or, with that the way ends, to 9; from 1 down to 4 there is nothing but one's way, unless
    it is possible to go round in circles (1, 2, 1, …) or to stay."""

    @action
    def enter(state: Any) -> None:
        require(state.place == 0)
        state.place = 1

    @action
    def leave(state: Any) -> None:
        require(state.place == 0)
        state.place = 9

    @action
    def slide(state: Any) -> None:
        require((state.place >= 1) & (state.place < 4))
        state.place = state.place + 1

    @action
    def climb(state: Any) -> None:
        require(state.place == 2)
        state.place = 1

    @action
    def stay(state: Any) -> None:
        require(state.place == 2)
        state.place = 2

    @invariant
    def above(state: Any) -> Any:
        """Nobody comes to 4."""
        return state.place != 4

    extra = [each for each, wanted in ((climb, circles), (stay, stays)) if wanted]
    actions = [enter, leave, slide, *extra]
    model = protocol("slope", variables={"place": Range(0, 9)}, actions=actions, invariants=[above])
    return shortest(model, model.invariants[0])


def test_the_way_out_is_before_the_slope() -> None:
    assert turning_point(slope()) == TurningPoint(1, True)


def test_going_round_in_circles_is_a_way_out() -> None:
    assert turning_point(slope(circles=True)) == TurningPoint(3, True)


def test_staying_where_one_is_is_none() -> None:
    assert turning_point(slope(stays=True)) == TurningPoint(1, True)


def test_there_is_none_if_there_never_was_a_way_out() -> None:
    assert turning_point(climbing(3)) is None


def test_there_is_none_without_steps() -> None:
    assert turning_point(falling(0)) is None


@pytest.mark.parametrize("most_states", [0, 1, 2])
def test_what_is_not_computed_is_not_claimed(most_states: int) -> None:
    assert turning_point(slope(), most_states) == TurningPoint(4, False)


def test_a_fault_off_the_trace_is_no_answer() -> None:
    @action
    def rise(state: Any) -> None:
        require(state.level < 3)
        state.level = state.level + 1

    @action
    def leap(state: Any) -> None:
        state.level = state.level + 3

    @invariant
    def never_two(state: Any) -> Any:
        """It is never 2."""
        return state.level != 2

    model = protocol("levels", variables={"level": Range(0, 3)}, actions=[rise, leap], invariants=[never_two])
    rising = next(step for step in model.steps if step.action == "rise")
    trace = replay(model, model.invariants[0], model.initial[0], [rising, rising])
    assert turning_point(trace) == TurningPoint(2, False)


def test_a_real_one() -> None:
    assert turning_point(truncated()) == TurningPoint(8, True)
