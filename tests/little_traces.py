"""Traces to report of: found by a search of three lines, in protocols small enough to follow by hand."""

from __future__ import annotations

from typing import Any

from checker.trace import Trace, replay
from model.language import Bool, Range, action, invariant, protocol, reachable, require
from model.language.evaluate import evaluate, successors
from model.language.protocol import Predicate, Protocol, State, Step


def shortest(model: Protocol, predicate: Predicate, wanted: bool = False) -> Trace:
    """The first trace that a breadth-first search finds to a state where the predicate is `wanted`."""
    paths: dict[State, tuple[Step, ...]] = dict.fromkeys(model.initial, ())
    for state in (frontier := list(model.initial)):
        if bool(evaluate(predicate.expr, state)) is wanted:
            return replay(model, predicate, model.initial[0], paths[state])
        for step, after in successors(model, state):
            if after not in paths:
                paths[after] = (*paths[state], step)
                frontier.append(after)
    raise AssertionError(f"{predicate.name} is nowhere {wanted}")


def counter(limit: int) -> Protocol:
    """Counts to five; the invariant gives up at `limit`."""

    @action
    def count(state: Any) -> None:
        require(state.count < 5)
        state.count = state.count + 1

    @action
    def wait(state: Any) -> None:
        require(state.count == 1)
        state.waited = state.waited

    @invariant
    def small(state: Any) -> Any:
        """The count stays small."""
        return state.count < limit

    @invariant
    def also_small(state: Any) -> Any:
        """The same in other words."""
        return ~(state.count >= limit)

    @reachable
    def counted(state: Any) -> Any:
        """Something was counted."""
        return state.count > 1

    variables = {"count": Range(0, 5), "waited": Bool()}
    return protocol(
        "counter", variables=variables, actions=[count, wait], invariants=[small, also_small], witnesses=[counted]
    )


def falling(limit: int) -> Trace:
    model = counter(limit)
    return shortest(model, model.invariants[0])
