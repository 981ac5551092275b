"""What people read when a function of theirs goes wrong: the line, what is wrong, why, and what to write instead.

Every function marked `@in_action` or `@in_condition` makes one mistake. The messages are in __snapshots__, each under
the source line that it points at.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, TypeAlias

import pytest
from playground import Client, Small, stage, told
from syrupy.assertion import SnapshotAssertion

from model.errors import ModelError
from model.language import (
    Option,
    Range,
    all_of,
    any_of,
    count,
    invariant,
    maximum,
    none,
    record,
    require,
    where,
)

Mistake: TypeAlias = Callable[[Any], object]

IN_ACTIONS: list[Mistake] = []
IN_CONDITIONS: list[Mistake] = []


def in_action(body: Mistake) -> Mistake:
    IN_ACTIONS.append(body)
    return body


def in_condition(body: Mistake) -> Mistake:
    IN_CONDITIONS.append(body)
    return body


def name_of(case: Any) -> str:
    return str(case.__name__)


# A symbolic value where Python wants a plain one


@in_action
def if_on_a_condition(state: Any) -> None:
    if state.number > 2:
        state.number = 0


@in_action
def if_on_a_variable(state: Any) -> None:
    if state.flag:
        state.number = 0


@in_action
def if_on_a_set(state: Any) -> None:
    if state.members:
        state.number = 0


@in_condition
def and_between_conditions(state: Any) -> Any:
    return state.number > 2 and state.flag


@in_condition
def not_of_a_condition(state: Any) -> Any:
    return not state.flag


@in_condition
def chained_comparison(state: Any) -> Any:
    return 0 < state.number < 3


@in_condition
def in_a_set(state: Any) -> Any:
    return state.owner in state.members


@in_condition
def in_a_tuple(state: Any) -> Any:
    return state.number in (1, 2)


@in_condition
def in_a_sequence(state: Any) -> Any:
    return 1 in state.queue


@in_action
def range_of_a_variable(state: Any) -> None:
    for _ in range(state.number):
        state.other = state.other + 1


@in_action
def index_of_a_list(state: Any) -> None:
    state.other = [3, 2, 1, 0][state.number]


@in_condition
def loop_over_a_set(state: Any) -> Any:
    return all_of(state.table[client] > 0 for client in state.members)


@in_condition
def loop_over_a_sequence(state: Any) -> Any:
    return all_of(element.id > 0 for element in state.queue)


@in_condition
def length_of_a_set(state: Any) -> Any:
    return len(state.members) < 2


@in_condition
def length_of_a_sequence(state: Any) -> Any:
    return len(state.queue) < 2


@in_action
def symbolic_members_in_a_python_set(state: Any) -> None:
    state.members = {state.owner}


@in_condition
def position_of_a_variable(state: Any) -> Any:
    return state.owner.position == 0


# Names


@in_action
def unknown_variable(state: Any) -> None:
    state.nubmer = 1


@in_condition
def unknown_field(state: Any) -> Any:
    return state.pair.lft == 1


@in_action
def unknown_field_of_a_new_record(state: Any) -> None:
    state.pair = record(left=1, rihgt=2)


@in_action
def record_that_lacks_a_field(state: Any) -> None:
    state.pair = record(left=1)


@in_action
def unknown_member(state: Any) -> None:
    state.phase = "bussy"


@in_condition
def unknown_individual(state: Any) -> Any:
    return state.owner == "D"


@in_condition
def unknown_property(state: Any) -> Any:
    return state.queue.size == 0


# Types


@in_action
def number_for_a_member(state: Any) -> None:
    state.phase = 1


@in_action
def truth_for_a_number(state: Any) -> None:
    state.number = state.flag


@in_action
def member_of_something_else(state: Any) -> None:
    state.phase = state.owner


@in_condition
def comparing_a_member_with_a_number(state: Any) -> Any:
    return state.owner == state.number


@in_condition
def ordering_members(state: Any) -> Any:
    return state.owner < state.holder


@in_condition
def adding_a_truth(state: Any) -> Any:
    return state.number + state.flag == 1


@in_action
def none_for_what_is_no_option(state: Any) -> None:
    state.owner = none


@in_condition
def asking_whether_no_option_is_none(state: Any) -> Any:
    return state.owner.is_none


@in_action
def python_none(state: Any) -> None:
    state.holder = None


@in_action
def scalar_for_a_record(state: Any) -> None:
    state.pair = state.number


@in_action
def record_for_a_scalar(state: Any) -> None:
    state.number = state.pair


@in_action
def list_for_a_sequence(state: Any) -> None:
    state.queue = []


@in_action
def set_for_a_sequence(state: Any) -> None:
    state.queue = state.members


@in_action
def slice_of_a_sequence(state: Any) -> None:
    state.spare = state.queue[0:1]


@in_action
def none_in_a_sequence_of_members(state: Any) -> None:
    state.queue.append(record(id=1, by=none))


@in_condition
def alternatives_of_two_kinds(state: Any) -> Any:
    return where(state.flag, 1, "one") == 1


@in_condition
def number_as_a_condition(state: Any) -> Any:
    return all_of(state.flag, state.number)


@in_condition
def number_in_a_conjunction(state: Any) -> Any:
    return state.flag & 1


@in_condition
def extreme_of_nothing(state: Any) -> Any:
    return maximum([]) == state.number


@in_condition
def counting_a_number(state: Any) -> Any:
    return count(state.flag, state.number) == 1


@in_action
def options_with_different_nones(state: Any) -> None:
    state.early = state.late


# Assignments


@in_action
def assigned_twice(state: Any) -> None:
    state.number = 1  # the first
    state.number = 2


@in_action
def never_fits(state: Any) -> None:
    require(state.number >= 2)
    state.other = state.number + 2


@in_action
def constant_that_does_not_fit(state: Any) -> None:
    state.number = 4


@in_action
def key_that_may_not_exist(state: Any) -> None:
    state.slots[state.number].value = 1


@in_action
def key_that_does_not_exist(state: Any) -> None:
    state.slots[2].value = 1


@in_action
def element_in_place(state: Any) -> None:
    state.queue[0].id = 1


@in_action
def whole_element_in_place(state: Any) -> None:
    state.queue[0] = record(id=1, by="A")


@in_action
def part_of_a_computed_value(state: Any) -> None:
    where(state.flag, state.pair, record(left=0, right=0)).left = 1


@in_action
def adding_to_a_computed_set(state: Any) -> None:
    state.members.without("B").add("A")


@in_action
def method_assigned_to(state: Any) -> None:
    state.members.size = 1


# Exceptions in people's functions


@in_action
def key_error(state: Any) -> None:
    state.number = {"one": 1}["two"]


@in_action
def error_inside_the_standard_library(state: Any) -> None:
    state.number = json.loads("{")


@in_action
def wrong_number_of_arguments(state: Any) -> None:
    state.queue.truncate()


# Conditions


@in_condition
def condition_that_assigns(state: Any) -> Any:
    state.number = 1
    return state.flag


@in_condition
def condition_that_requires(state: Any) -> Any:
    require(state.flag)
    return state.number > 1


@in_condition
def condition_that_requires_the_impossible(state: Any) -> Any:
    require(state.number > 5)
    return state.number > 1


@in_condition
def condition_without_return(state: Any) -> Any:
    all_of(state.flag, state.number > 1)


@in_condition
def condition_that_returns_a_number(state: Any) -> Any:
    return state.number


# Python's own collections


@in_condition
def dictionary_by_symbolic_keys(state: Any) -> Any:
    return {state.owner: True}[state.owner]


@in_action
def element_beyond_the_capacity(state: Any) -> None:
    state.queue[5].id = 1


@in_action
def list_for_a_set(state: Any) -> None:
    state.members = ["A"]


@in_action
def dictionary_for_a_map(state: Any) -> None:
    state.table = {"A": 1, "B": 2, "C": 3}


@pytest.mark.parametrize("body", IN_ACTIONS, ids=name_of)
def test_mistakes_in_actions(body: Mistake, snapshot: SnapshotAssertion) -> None:
    assert told(lambda: stage(body, extra={"early": Option(Range(1, 3))})) == snapshot


@pytest.mark.parametrize("body", IN_CONDITIONS, ids=name_of)
def test_mistakes_in_conditions(body: Mistake, snapshot: SnapshotAssertion) -> None:
    assert told(lambda: stage(invariants=(body,))) == snapshot


def test_both_assignments_are_named() -> None:
    """The second by the place of the error, the first by its text."""
    with pytest.raises(ModelError) as raised:
        stage(assigned_twice)
    second, first = raised.value.where, re.search(r"first assignment is at (.+):(\d+)", raised.value.why)
    assert second is not None
    assert first is not None
    assert (first[1], int(first[2])) == (second.file, second.line - 1)


def test_an_error_in_a_helper_points_into_the_helper() -> None:
    def helper(state: Any) -> Any:
        return state.number.missing

    def condition(state: Any) -> Any:
        return helper(state) == 1

    with pytest.raises(ModelError, match=r"condition raised AttributeError while it was staged") as raised:
        stage(invariants=(condition,))
    assert raised.value.where is not None
    assert raised.value.where.source() == "return state.number.missing"
    assert isinstance(raised.value.__cause__, AttributeError)


def test_conditions_of_parameters_alone_are_plain_truths() -> None:
    """They are known while staging, so `if` may look at them."""

    def act(state: Any, client: Client, small: Small) -> None:
        if client == "A" and 1 < small < 3:
            state.number = [7, 7, 2][small]
        elif client != "A" and any_of(small == 0, small == 3):
            state.holder = client
        else:
            require(False)

    assert [step.arguments for step in stage(act).steps] == [(0, 2), (1, 0), (1, 3), (2, 0), (2, 3)]


def test_nothing_is_left_behind_by_a_mistake() -> None:
    """The next protocol is staged as if nothing had happened."""
    with pytest.raises(ModelError):
        stage(if_on_a_condition)
    with pytest.raises(ModelError, match="works only inside an action"):
        require(True)

    def act(state: Any) -> None:
        state.number = 1

    assert stage(act).steps


def test_invariants_are_named_after_their_functions() -> None:
    def weak_isr(_state: Any) -> Any:
        return True

    def StrongISR(_state: Any) -> Any:
        return True

    assert [invariant(function).name for function in (weak_isr, StrongISR)] == ["WeakIsr", "StrongISR"]
