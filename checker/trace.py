"""A trace: steps and states that the evaluator has replayed, in the replicas' own names.

`replay` is the only way to make one, so a trace cannot be inconsistent, and whatever is shown, stored or exported has
been confirmed by the protocol's meaning and not only by the engine that found it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from checker.reason import Reason, reason_for
from model.errors import InternalError, StaleTraceError
from model.language.evaluate import apply, enabled, evaluate, step_text, successors
from model.language.protocol import Predicate, Protocol, State, Step
from model.language.show import sentence


@dataclass(frozen=True, slots=True)
class Trace:
    """`states` has one more element than `steps`. `predicate` is false in the last state if it is an invariant, true
    if it is a witness."""

    protocol: Protocol
    predicate: Predicate
    steps: tuple[Step, ...]
    states: tuple[State, ...]

    @property
    def model_hash(self) -> str:
        """The content hash of the model restricted to what the trace is about."""
        return model_hash(self.protocol, self.predicate.name)

    @property
    def is_counterexample(self) -> bool:
        return not evaluate(self.predicate.expr, self.states[-1])

    def reason(self) -> Reason:
        """Why the invariant fails in the last state."""
        return reason_for(self.protocol, self.predicate, self.states[-1])

    def sentences(self) -> tuple[str, ...]:
        """One for each step."""
        return tuple(
            sentence(self.protocol, step, before, after)
            for step, before, after in zip(self.steps, self.states, self.states[1:], strict=False)
        )


def model_hash(protocol: Protocol, invariant: str) -> str:
    selected = protocol.selecting([invariant], witnesses=()) if invariant in protocol.invariant_names else protocol
    return selected.content_hash


def replay(protocol: Protocol, predicate: Predicate, initial: State, steps: Sequence[Step]) -> Trace:
    """Take the steps one by one from an initial state. Raises `StaleTraceError` at the first that does not apply."""
    if initial not in protocol.initial:
        raise StaleTraceError("the trace does not start in an initial state of the model")
    states = [initial]
    for position, step in enumerate(steps, start=1):
        if not enabled(step, states[-1]):
            name = step_text(protocol, step)
            raise StaleTraceError(f"step {position}, {name}, is not enabled in the state before it")
        states.append(apply(protocol, step, states[-1]))
    return Trace(protocol, predicate, tuple(steps), tuple(states))


def unpermuted(protocol: Protocol, path: Sequence[State], representative: Callable[[State], State]) -> list[Step]:
    """The steps of a path of representatives, as one replica's own history.

    `path` holds the states that the search stored; each is a representative of its orbit. Starting from a real initial
    state, the next state is the first successor whose representative is the next on the path: such a successor exists
    because the group was proved to map steps to steps. Raises `InternalError` if the evaluator finds none.
    """
    state = next((s for s in protocol.initial if representative(s) == path[0]), None)
    if state is None:
        raise InternalError("the search started from a state that is not initial")
    steps = []
    for stored in path[1:]:
        found = next(
            ((step, after) for step, after in successors(protocol, state) if representative(after) == stored), None
        )
        if found is None:
            raise InternalError("the search took a step that the evaluator does not know")
        steps.append(found[0])
        state = found[1]
    return steps
