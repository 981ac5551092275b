"""A small state with one variable of every kind, and ways to try a function of the language on it.

after(lambda state: state.queue.append(record(id=1, by="A")))     what one step changes
holds(lambda state: state.queue.is_empty)                         whether a condition is true
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

import pytest

from model.errors import ModelError
from model.language import (
    Bool,
    Enum,
    Map,
    Option,
    Protocol,
    Range,
    Record,
    Scalarset,
    Sequence,
    Set,
    action,
    evaluate,
    invariant,
    protocol,
    successors,
)
from model.language.domains import Domain, Scalar
from model.language.protocol import State
from model.language.show import from_json, to_json

Function: TypeAlias = Callable[..., Any]

CLIENT: Final = Scalarset("Client", 3)
SMALL: Final = Range(0, 3)
PHASE: Final = Enum("Phase", ("idle", "busy", "done"))

#: What annotations of parameters may name. For the type checker they are types.
DOMAINS: Final[dict[str, Scalar]] = {"Client": CLIENT, "Small": SMALL, "Slot": Range(0, 1)}
Client: TypeAlias = Any
Small: TypeAlias = Any
Slot: TypeAlias = Any

VARIABLES: Final[dict[str, Domain]] = {
    "number": SMALL,
    "other": SMALL,
    "late": Option(SMALL),
    "flag": Bool(),
    "phase": PHASE,
    "owner": CLIENT,
    "holder": Option(CLIENT),
    "members": Set(CLIENT),
    "guests": Set(CLIENT),
    "table": Map(CLIENT, SMALL),
    "slots": Map(Range(0, 1), Record(value=SMALL, by=Option(CLIENT))),
    "pair": Record(left=SMALL, right=SMALL),
    "queue": Sequence(Record(id=SMALL, by=CLIENT), 2),
    "spare": Sequence(Record(id=SMALL, by=CLIENT), 2),
}


def stage(
    *actions: Function, invariants: tuple[Function, ...] = (), extra: Mapping[str, Domain] | None = None, **more: Any
) -> Protocol:
    """A protocol over the variables above and `extra` ones. Functions need no marks here."""
    return protocol(
        "playground",
        variables={**VARIABLES, **(extra or {})},
        domains=DOMAINS,
        actions=[action(function) for function in actions],
        invariants=[invariant(function) for function in invariants],
        **more,
    )


def state_with(made: Protocol, **values: Any) -> State:
    """The initial state with other values for some variables, given as JSON."""
    return from_json(made, {**to_json(made, made.initial[0]), **values})


def steps_of(function: Function, **values: Any) -> Iterator[tuple[tuple[int, ...], dict[str, Any]]]:
    """For each enabled step of an action its arguments and the variables it changes, as JSON."""
    made = stage(function)
    state = state_with(made, **values)
    before = to_json(made, state)
    for step, reached in successors(made, state):
        changed = to_json(made, reached)
        yield step.arguments, {name: value for name, value in changed.items() if value != before[name]}


def after(function: Function, **values: Any) -> dict[str, Any]:
    """What the only step of an action changes."""
    [(_, changed)] = steps_of(function, **values)
    return changed


def is_enabled(function: Function, **values: Any) -> bool:
    """Whether an action has a step."""
    return any(True for _ in steps_of(function, **values))


def holds(condition: Function, **values: Any) -> bool:
    """Whether a condition is true in a state."""
    made = stage(invariants=(condition,))
    return bool(evaluate(made.invariants[0].expr, state_with(made, **values)))


def told(case: Callable[[], object]) -> str:
    """The message as people read it, but for the folder and the line; above it that line."""
    with pytest.raises(ModelError) as raised:
        case()
    message = re.sub(r"\S*?(\w+\.py):\d+", r"\1:LINE", str(raised.value))
    place = raised.value.where
    return f"{place.source() or place}\n{message}" if place else message
