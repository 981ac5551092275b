"""What people read when a protocol, a domain or a mark is wrong, or a symbolic value turns up where it does not belong.

Every function marked `@mistake` makes one mistake. The messages are in __snapshots__, each under the line it points at.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest
from playground import CLIENT, PHASE, SMALL, Client, Small, stage, told
from syrupy.assertion import SnapshotAssertion

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
    protocol,
    reachable,
    require,
    where,
)

Mistake: TypeAlias = Callable[[], object]

MISTAKES: list[Mistake] = []


def mistake(case: Mistake) -> Mistake:
    MISTAKES.append(case)
    return case


def name_of(case: Any) -> str:
    return str(case.__name__)


# Declarations


@mistake
def action_without_a_mark() -> object:
    def act(state: Any) -> None:
        state.number = 1

    return protocol("p", variables={"number": SMALL}, actions=[act])  # type: ignore[list-item]  # the mistake


@mistake
def invariant_without_a_mark() -> object:
    def positive(state: Any) -> Any:
        return state.number > 0

    return protocol("p", variables={"number": SMALL}, actions=[], invariants=[positive])  # type: ignore[list-item]  # same


@mistake
def action_among_the_witnesses() -> object:
    @action
    def act(state: Any) -> None:
        state.number = 1

    return protocol("p", variables={"number": SMALL}, actions=[], witnesses=[act])  # type: ignore[list-item]  # same


@mistake
def parameter_without_annotation() -> object:
    def act(state, client):  # type: ignore[no-untyped-def]  # the mistake
        state.holder = client

    return stage(act)


@mistake
def parameter_of_an_unknown_domain() -> object:
    def act(state: Any, client: Clinet) -> None:  # type: ignore[name-defined]  # noqa: F821  # the mistake
        state.holder = client

    return stage(act)


@mistake
def parameter_of_a_python_type() -> object:
    @action
    def act(state: Any, number: int) -> None:
        state.number = number

    return protocol("p", variables={"number": SMALL}, actions=[act])


@mistake
def parameter_with_too_many_values() -> object:
    def act(state: Any, one: Wide, other: Wide) -> None:
        state.number = one - other

    return protocol("p", variables={"number": SMALL}, actions=[action(act)], domains={"Wide": Range(0, 299)})


Wide: TypeAlias = Any


@mistake
def action_without_the_state() -> object:
    def act() -> None: ...

    return stage(act)


@mistake
def invariant_with_a_parameter() -> object:
    def condition(state: Any, client: Client) -> Any:
        return state.owner == client

    return stage(invariants=(condition,))


@mistake
def missing_mechanism() -> object:
    def act(state: Any, *, limit: int) -> None:
        state.number = limit

    return stage(act, mechanisms={"limits": 3})


@mistake
def two_actions_of_one_name() -> object:
    def act(state: Any) -> None:
        state.number = 1

    return stage(act, act)


@mistake
def invariant_and_witness_of_one_name() -> object:
    def small(state: Any) -> Any:
        return state.number < 2

    return stage(invariants=(small,), witnesses=[reachable(small)])


@mistake
def two_scalarsets_of_one_name() -> object:
    return protocol("p", variables={"one": CLIENT, "other": Set(Scalarset("Client", 2))}, actions=[])


@mistake
def scalarset_and_parameter_of_one_name() -> object:
    @action
    def act(state: Any, client: Client) -> None:
        state.number = client.position

    variables = {"one": CLIENT, "number": SMALL}
    return protocol("p", variables=variables, actions=[act], domains={"Client": Enum("Client", ("A", "B"))})


@mistake
def domain_that_is_none() -> object:
    return protocol("p", variables={"number": int}, actions=[])  # type: ignore[dict-item]  # the mistake


@mistake
def domain_that_is_none_inside() -> object:
    return protocol("p", variables={"table": Map(CLIENT, Record(at=bool))}, actions=[])  # type: ignore[arg-type]  # same


@mistake
def key_that_is_no_scalar() -> object:
    return Map(Set(CLIENT), SMALL)  # type: ignore[arg-type]  # the mistake


@mistake
def element_that_is_no_scalar() -> object:
    return Set(Record(a=SMALL))  # type: ignore[arg-type]  # the mistake


@mistake
def empty_range() -> object:
    return Range(3, 2)


@mistake
def empty_scalarset() -> object:
    return Scalarset("Client", 0)


@mistake
def option_of_an_option() -> object:
    return Option(Option(CLIENT))


@mistake
def option_of_a_truth() -> object:
    return Option(Bool())


@mistake
def negative_capacity() -> object:
    return Sequence(SMALL, -1)


@mistake
def label_without_a_number() -> object:
    return Range(0, 2, label="m")


@mistake
def domain_named_like_a_type() -> object:
    return Enum("int", ("one", "two"))


@mistake
def member_named_twice() -> object:
    return Enum("Phase", ("idle", "idle"))


@mistake
def field_with_an_underscore() -> object:
    return Record(_base=SMALL)


@mistake
def initial_value_that_does_not_fit() -> object:
    def start(state: Any) -> None:
        state.number = 7

    return stage(initial=start)


@mistake
def no_initial_state() -> object:
    def start(_state: Any, small: Small) -> None:
        require(small > 3)

    return stage(initial=start)


@mistake
def unknown_invariant() -> object:
    def small(state: Any) -> Any:
        return state.number < 2

    return stage(invariants=(small,)).selecting(["Smal"])


# What escapes


@mistake
def state_kept_for_another_action() -> object:
    kept: list[Any] = []

    def keep(state: Any) -> None:
        kept.append(state)

    def use(state: Any) -> None:
        state.number = kept[0].number

    return stage(keep, use)


@mistake
def state_assigned_to_after_its_action() -> object:
    kept: list[Any] = []

    def keep(state: Any) -> None:
        kept.append(state.pair)

    def use(_state: Any) -> None:
        kept[0].left = 1

    return stage(keep, use)


@mistake
def value_of_another_protocol() -> object:
    kept: list[Any] = []

    def keep(state: Any) -> None:
        kept.append(state.number)

    @action
    def use(state: Any) -> None:
        state.phase = where(kept[0] == 1, state.phase, "idle")

    stage(keep)
    return protocol("p", variables={"phase": PHASE}, actions=[use])


@mistake
def require_outside() -> None:
    require(True)


@pytest.mark.parametrize("case", MISTAKES, ids=name_of)
def test_mistakes(case: Mistake, snapshot: SnapshotAssertion) -> None:
    assert told(case) == snapshot
