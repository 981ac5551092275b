"""Two replicas with a flag each, and one mark for both: what little there is to a protocol, and checks of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, TypeAlias

from checker.outcome import Outcome
from checker.run import Options, check_protocol
from model.language import (
    Bool,
    Map,
    Member,
    Protocol,
    Scalarset,
    action,
    all_of,
    invariant,
    protocol,
    reachable,
    require,
)

Replica: TypeAlias = Member

UNCACHED: Final = Options(cache=False)
TWO_REPLICAS: Final = Scalarset("Replica", 2)


@action
def impossible(state: Any, replica: Replica) -> None:
    require(state.flags[replica])
    require(~state.flags[replica] | state.done)
    state.done = True


@action
def repeat(state: Any) -> None:
    state.done = state.done


@action
def raise_flag(state: Any, replica: Replica) -> None:
    state.flags[replica] = True


@action
def pass_on(state: Any, replica: Replica, other: Replica) -> None:
    """The flag changes hands: one orbit, two states."""
    require(replica != other)
    require(state.flags[replica])
    require(~state.flags[other])
    state.flags[replica] = False
    state.flags[other] = True


@action
def finish(state: Any, replica: Replica) -> None:
    state.flags[replica] = True
    state.done = True


@invariant
def not_done(state: Any) -> Any:
    return ~state.done


@reachable
def all_flags(state: Any) -> Any:
    return all_of(state.flags[replica] for replica in state.flags)


@reachable
def done(state: Any) -> Any:
    return state.done


def somebody_has_the_flag(state: Any, replica: Replica) -> None:
    state.flags[replica] = True


def flags(*actions: Any, **more: Any) -> Protocol:
    return protocol(
        "flags",
        variables={"flags": Map(TWO_REPLICAS, Bool()), "done": Bool()},
        domains={"Replica": TWO_REPLICAS},
        actions=actions,
        **{"invariants": [not_done], **more},
    )


def checked(model: Protocol, symmetry: str = "on", **options: Any) -> Outcome:
    return check_protocol(model, replace(UNCACHED, symmetry=symmetry, **options))
