"""What is promised (invariants), and what must be able to happen for a promise to mean anything (witnesses)."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

from model.kafka.mechanisms import Brokers
from model.kafka.state import Replica, ReplicaState, State, is_true_leader, presumes_leadership
from model.kafka.truncation import holds_the_same
from model.kafka.variant import Variant
from model.language import SequenceValue as Log
from model.language import SetValue, all_of, any_of, implies, invariant, reachable


@invariant
def weak_isr(state: State, *, brokers: Brokers) -> Any:
    """Whoever presumes leadership agrees, below its high watermark, with every member of the ISR it knows."""
    return all_of(
        implies(presumes_leadership(state, leader), _agrees_with(state, leader, state.replicas[leader].isr, brokers))
        for leader in state.replicas
    )


@invariant
def strong_isr(state: State, *, brokers: Brokers) -> Any:
    """Whoever presumes leadership agrees, below its high watermark, with every member of the controller's ISR."""
    return all_of(
        implies(presumes_leadership(state, leader), _agrees_with(state, leader, state.quorum.isr, brokers))
        for leader in state.replicas
    )


@invariant
def leader_in_isr(state: State) -> Any:
    """The leader that the controller names, if any, is in the ISR."""
    return implies(state.quorum.leader.is_some, state.quorum.isr.has(state.quorum.leader))


def _agrees_with(state: State, leader: Replica, isr: SetValue, brokers: Brokers) -> Any:
    """Every member that is up holds what the leader counts as committed."""
    replica = state.replicas[leader]
    return isr.all(
        lambda member: implies(
            brokers.works(state, member),
            all_of(
                implies(offset < replica.high_watermark, holds_the_same(replica, state.replicas[member], offset))
                for offset in replica.log.offsets
            ),
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


# With epoch caches, crashes and a ledger


@invariant
def no_acknowledged_loss(state: State) -> Any:
    """What was acknowledged is in the log of every later true leader, at its offset."""
    return all_of(
        implies(
            is_true_leader(state, leader) & state.acknowledged[record].is_some,
            _holds(state.replicas[leader], state.acknowledged[record], record),
        )
        for leader in state.replicas
        for record in state.acknowledged
    )


@invariant
def no_divergence_below_high_watermark(state: State) -> Any:
    """Two replicas that follow the same leader epoch, and have truncated for it, agree below both high watermarks."""
    return all_of(
        implies(
            _in_same_epoch(state, one, other),
            implies(
                (offset < state.replicas[one].high_watermark) & (offset < state.replicas[other].high_watermark),
                holds_the_same(state.replicas[one], state.replicas[other], offset),
            ),
        )
        for one, other in combinations(state.replicas, 2)
        for offset in state.replicas[one].log.offsets
    )


@invariant
def no_visible_rollback(state: State) -> Any:
    """What a consumer could read stays there: in the log of every later true leader, and below the high watermark of
    every replica that has truncated for its epoch."""
    return all_of(
        implies(
            state.visible[offset].is_some & _must_show(state, replica, offset),
            _holds(state.replicas[replica], offset, state.visible[offset]),
        )
        for replica in state.replicas
        for offset in state.visible
    )


@invariant
def offset_epoch_identifies_record(state: State) -> Any:
    """The same offset and epoch never hold two different records."""
    return all_of(
        implies(
            _same_epoch_at(state.replicas[one].log, state.replicas[other].log, offset),
            state.replicas[one].log[offset].id == state.replicas[other].log[offset].id,
        )
        for one, other in combinations(state.replicas, 2)
        for offset in state.replicas[one].log.offsets
    )


@invariant
def no_epoch_ahead_of_replica(state: State) -> Any:
    """No record was written in an epoch that its replica has not reached; a replica without an assignment is exempt."""
    return all_of(
        implies(
            state.replicas[replica].leader_epoch.is_some & state.replicas[replica].log.has(offset),
            state.replicas[replica].log[offset].epoch <= state.replicas[replica].leader_epoch,
        )
        for replica in state.replicas
        for offset in state.replicas[replica].log.offsets
    )


@invariant
def isr_is_running(state: State) -> Any:
    """KIP-841: nobody in the controller's ISR is shutting down or has stopped in good order."""
    return state.quorum.isr.all(lambda member: ~state.quorum.shutting_down.has(member))


def _holds(replica: ReplicaState, offset: Any, record: Any) -> Any:
    return replica.log.has(offset) & (replica.log[offset].id == record)


def _in_same_epoch(state: State, one: Replica, other: Replica) -> Any:
    left, right = state.replicas[one], state.replicas[other]
    same = left.leader_epoch.is_some & (left.leader_epoch == right.leader_epoch)
    return same & ~left.truncating & ~right.truncating


def _must_show(state: State, replica: Replica, offset: Any) -> Any:
    own = state.replicas[replica]
    readable = own.leader_epoch.is_some & ~own.truncating & (offset < own.high_watermark)
    return is_true_leader(state, replica) | readable


def _same_epoch_at(one: Log, other: Log, offset: Any) -> Any:
    """Both logs have a record at `offset`, written in the same epoch."""
    return one.has(offset) & other.has(offset) & (one[offset].epoch == other[offset].epoch)


@reachable
def record_acknowledged(state: State) -> Any:
    """A producer was told that its record is safe."""
    return any_of(state.acknowledged[record].is_some for record in state.acknowledged)


@reachable
def record_visible(state: State) -> Any:
    """A consumer could read something."""
    return any_of(state.visible[offset].is_some for offset in state.visible)


@reachable
def epochs_used_up(state: State) -> Any:
    """The last leader epoch was reached by a broker."""
    last = list(state.requests)[-1]
    return any_of(state.replicas[replica].leader_epoch == last for replica in state.replicas)


@reachable
def crash_happened(state: State) -> Any:
    """Some broker is down."""
    return any_of(~state.replicas[replica].up for replica in state.replicas)


@reachable
def truncation_pending(state: State) -> Any:
    """A follower has adopted a leader and must still ask where to truncate."""
    return any_of(state.replicas[replica].truncating for replica in state.replicas)


PUBLISHED = (leader_in_isr, weak_isr, strong_isr)
ON_BROKERS = (
    no_acknowledged_loss,
    no_divergence_below_high_watermark,
    no_visible_rollback,
    offset_epoch_identifies_record,
    no_epoch_ahead_of_replica,
)


def invariants(variant: Variant) -> tuple[Any, ...]:
    """Every invariant that can be stated of a variant."""
    on_brokers = ON_BROKERS if variant.uses_epoch_caches and variant.acks != "unobserved" else ()
    on_shutdown = (isr_is_running,) if variant.shutdown == "controlled" else ()
    return (*PUBLISHED, *on_brokers, *on_shutdown)


def witnesses(variant: Variant) -> tuple[Any, ...]:
    """Every witness that can be stated of a variant."""
    found = [record_below_high_watermark, second_election, epochs_used_up]
    if variant.acks != "unobserved":
        found += [record_acknowledged, record_visible]
    if variant.crash != "none":
        found.append(crash_happened)
    if variant.uses_epoch_caches:
        found.append(truncation_pending)
    return tuple(found)
