"""What people read when a protocol is not well formed: the line, what is wrong, why, and what to write instead.

Every function marked `@mistake` makes one. The messages are in __snapshots__, each under the source line it points at.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, TypeAlias

import pytest
from playground import CLIENT, PHASE, SMALL, Client, Small, stage
from syrupy.assertion import SnapshotAssertion

from model.errors import ModelError
from model.language import (
    Bool,
    Enum,
    Map,
    Option,
    Range,
    Record,
    Scalarset,
    Sequence,
    Set,
    action,
    all_of,
    any_of,
    count,
    empty_set,
    invariant,
    maximum,
    none,
    protocol,
    reachable,
    record,
    require,
    where,
)

Mistake: TypeAlias = Callable[[Any], object]

IN_ACTIONS: list[Mistake] = []
IN_CONDITIONS: list[Mistake] = []
ELSEWHERE: list[Callable[[], object]] = []


def in_action(body: Mistake) -> Mistake:
    IN_ACTIONS.append(body)
    return body


def in_condition(body: Mistake) -> Mistake:
    IN_CONDITIONS.append(body)
    return body


def elsewhere(case: Callable[[], object]) -> Callable[[], object]:
    ELSEWHERE.append(case)
    return case


def told(case: Callable[[], object]) -> str:
    """The message as people read it, but for the folder and the line; above it that line."""
    with pytest.raises(ModelError) as raised:
        case()
    message = re.sub(r"\S*?(\w+\.py):\d+", r"\1:LINE", str(raised.value))
    place = raised.value.where
    return f"{place.source() or place}\n{message}" if place else message


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
    empty_set(CLIENT).add("A")


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


# Declarations


@elsewhere
def action_without_a_mark() -> object:
    def act(state: Any) -> None:
        state.number = 1

    return protocol("p", variables={"number": SMALL}, actions=[act])  # type: ignore[list-item]  # the mistake


@elsewhere
def invariant_without_a_mark() -> object:
    def positive(state: Any) -> Any:
        return state.number > 0

    return protocol("p", variables={"number": SMALL}, actions=[], invariants=[positive])  # type: ignore[list-item]  # same


@elsewhere
def action_among_the_witnesses() -> object:
    @action
    def act(state: Any) -> None:
        state.number = 1

    return protocol("p", variables={"number": SMALL}, actions=[], witnesses=[act])  # type: ignore[list-item]  # same


@elsewhere
def parameter_without_annotation() -> object:
    def act(state, client):  # type: ignore[no-untyped-def]  # the mistake
        state.holder = client

    return stage(act)


@elsewhere
def parameter_of_an_unknown_domain() -> object:
    def act(state: Any, client: Clinet) -> None:  # type: ignore[name-defined]  # noqa: F821  # the mistake
        state.holder = client

    return stage(act)


@elsewhere
def parameter_of_a_python_type() -> object:
    @action
    def act(state: Any, number: int) -> None:
        state.number = number

    return protocol("p", variables={"number": SMALL}, actions=[act])


@elsewhere
def parameter_with_too_many_values() -> object:
    def act(state: Any, one: Wide, other: Wide) -> None:
        state.number = one - other

    return protocol("p", variables={"number": SMALL}, actions=[action(act)], domains={"Wide": Range(0, 299)})


Wide: TypeAlias = Any


@elsewhere
def action_without_the_state() -> object:
    def act() -> None: ...

    return stage(act)


@elsewhere
def invariant_with_a_parameter() -> object:
    def condition(state: Any, client: Client) -> Any:
        return state.owner == client

    return stage(invariants=(condition,))


@elsewhere
def missing_mechanism() -> object:
    def act(state: Any, *, limit: int) -> None:
        state.number = limit

    return stage(act, mechanisms={"limits": 3})


@elsewhere
def two_actions_of_one_name() -> object:
    def act(state: Any) -> None:
        state.number = 1

    return stage(act, act)


@elsewhere
def invariant_and_witness_of_one_name() -> object:
    def small(state: Any) -> Any:
        return state.number < 2

    return stage(invariants=(small,), witnesses=[reachable(small)])


@elsewhere
def two_scalarsets_of_one_name() -> object:
    return protocol("p", variables={"one": CLIENT, "other": Set(Scalarset("Client", 2))}, actions=[])


@elsewhere
def scalarset_and_parameter_of_one_name() -> object:
    @action
    def act(state: Any, client: Client) -> None:
        state.number = 1

    variables = {"one": CLIENT, "number": SMALL}
    return protocol("p", variables=variables, actions=[act], domains={"Client": Enum("Client", ("A", "B"))})


@elsewhere
def domain_that_is_none() -> object:
    return protocol("p", variables={"number": int}, actions=[])  # type: ignore[dict-item]  # the mistake


@elsewhere
def domain_that_is_none_inside() -> object:
    return protocol("p", variables={"table": Map(CLIENT, Record(at=bool))}, actions=[])  # type: ignore[arg-type]  # same


@elsewhere
def key_that_is_no_scalar() -> object:
    return Map(Set(CLIENT), SMALL)  # type: ignore[arg-type]  # the mistake


@elsewhere
def element_that_is_no_scalar() -> object:
    return Set(Record(a=SMALL))  # type: ignore[arg-type]  # the mistake


@elsewhere
def empty_range() -> object:
    return Range(3, 2)


@elsewhere
def empty_scalarset() -> object:
    return Scalarset("Client", 0)


@elsewhere
def option_of_an_option() -> object:
    return Option(Option(CLIENT))


@elsewhere
def option_of_a_truth() -> object:
    return Option(Bool())


@elsewhere
def negative_capacity() -> object:
    return Sequence(SMALL, -1)


@elsewhere
def label_without_a_number() -> object:
    return Range(0, 2, label="m")


@elsewhere
def domain_named_like_a_type() -> object:
    return Enum("int", ("one", "two"))


@elsewhere
def member_named_twice() -> object:
    return Enum("Phase", ("idle", "idle"))


@elsewhere
def field_with_an_underscore() -> object:
    return Record(_base=SMALL)


@elsewhere
def initial_value_that_does_not_fit() -> object:
    def start(state: Any) -> None:
        state.number = 7

    return stage(initial=start)


@elsewhere
def no_initial_state() -> object:
    def start(state: Any, small: Small) -> None:
        require(small > 3)

    return stage(initial=start)


@elsewhere
def unknown_invariant() -> object:
    def small(state: Any) -> Any:
        return state.number < 2

    return stage(invariants=(small,)).selecting(["Smal"])


# What escapes


@elsewhere
def state_kept_for_another_action() -> object:
    kept: list[Any] = []

    def keep(state: Any) -> None:
        kept.append(state)

    def use(state: Any) -> None:
        state.number = kept[0].number

    return stage(keep, use)


@elsewhere
def state_assigned_to_after_its_action() -> object:
    kept: list[Any] = []

    def keep(state: Any) -> None:
        kept.append(state.pair)

    def use(_state: Any) -> None:
        kept[0].left = 1

    return stage(keep, use)


@elsewhere
def value_of_another_protocol() -> object:
    kept: list[Any] = []

    def keep(state: Any) -> None:
        kept.append(state.number)

    @action
    def use(state: Any) -> None:
        state.phase = where(kept[0] == 1, state.phase, "idle")

    stage(keep)
    return protocol("p", variables={"phase": PHASE}, actions=[use])


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


@elsewhere
def require_outside() -> object:
    return require(True)


@pytest.mark.parametrize("body", IN_ACTIONS, ids=name_of)
def test_mistakes_in_actions(body: Mistake, snapshot: SnapshotAssertion) -> None:
    assert told(lambda: stage(body, extra={"early": Option(Range(1, 3))})) == snapshot


@pytest.mark.parametrize("body", IN_CONDITIONS, ids=name_of)
def test_mistakes_in_conditions(body: Mistake, snapshot: SnapshotAssertion) -> None:
    assert told(lambda: stage(invariants=(body,))) == snapshot


@pytest.mark.parametrize("case", ELSEWHERE, ids=name_of)
def test_other_mistakes(case: Callable[[], object], snapshot: SnapshotAssertion) -> None:
    assert told(case) == snapshot


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
    assert stage(initial_value_free).steps


def initial_value_free(state: Any) -> None:
    state.number = 1


def test_invariants_are_named_after_their_functions() -> None:
    def weak_isr(_state: Any) -> Any:
        return True

    def StrongISR(_state: Any) -> Any:
        return True

    assert [invariant(function).name for function in (weak_isr, StrongISR)] == ["WeakIsr", "StrongISR"]
