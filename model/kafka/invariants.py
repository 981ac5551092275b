"""What is promised (invariants), and what must be able to happen for a promise to mean anything (witnesses)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from model.kafka.state import Replica, State, presumes_leadership
from model.kafka.truncation import holds_the_same
from model.language import SetValue, all_of, any_of, implies, invariant, reachable


@invariant
def weak_isr(state: State) -> Any:
    """Whoever presumes leadership agrees, below its high watermark, with every member of the ISR it knows."""
    return all_of(
        implies(presumes_leadership(state, leader), _agrees_with(state, leader, state.replicas[leader].isr))
        for leader in state.replicas
    )


@invariant
def strong_isr(state: State) -> Any:
    """Whoever presumes leadership agrees, below its high watermark, with every member of the controller's ISR."""
    return all_of(
        implies(presumes_leadership(state, leader), _agrees_with(state, leader, state.quorum.isr))
        for leader in state.replicas
    )


@invariant
def leader_in_isr(state: State) -> Any:
    """The leader that the controller names, if any, is in the ISR."""
    return implies(state.quorum.leader.is_some, state.quorum.isr.has(state.quorum.leader))


def _agrees_with(state: State, leader: Replica, isr: SetValue) -> Any:
    """Every member holds what the leader counts as committed."""
    replica = state.replicas[leader]
    return isr.all(
        lambda member: all_of(
            implies(offset < replica.high_watermark, holds_the_same(replica, state.replicas[member], offset))
            for offset in replica.log.offsets
        )
    )


@reachable
def record_below_high_watermark(state: State) -> Any:
    """Something was committed."""
    return any_of(state.replicas[replica].high_watermark > 0 for replica in state.replicas)


@reachable
def second_election(state: State) -> Any:
    """A leader was elected after another, so that truncation has something to decide."""
    epochs = list(state.requests)
    return any_of(
        state.requests[later].leader.is_some
        & (state.requests[later].leader != state.requests[before].leader)
        & any_of(state.requests[epoch].leader.is_some for epoch in epochs if epoch <= before)
        for before, later in pairwise(epochs)
    )


INVARIANTS = (leader_in_isr, weak_isr, strong_isr)
WITNESSES = (record_below_high_watermark, second_election)
