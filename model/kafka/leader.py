"""What a replica does while it presumes leadership: append, look after the ISR, advance the high watermark."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from model.kafka import arrows, stories
from model.kafka.mechanisms import (
    Brokers,
    Commitment,
    EpochCache,
    IsrExpansion,
    Membership,
    Positions,
    Producer,
    Synchrony,
)
from model.kafka.state import Epoch, Replica, State, is_true_leader, nobody_elected, presumes_leadership
from model.language import action, none, record, require, where


@action(tells=stories.become_leader, draws=arrows.become_leader)
def become_leader(
    state: State, leader: Replica, epoch: Epoch, *, brokers: Brokers, positions: Positions, epoch_cache: EpochCache
) -> None:
    """A replica takes a request that names it as the leader. Log and high watermark stay as they are."""
    request, replica = state.requests[epoch], state.replicas[leader]
    require(request.leader == leader)
    require(replica.leader_epoch < epoch)
    require(brokers.works(state, leader), brokers.accepts(state, leader, epoch))
    replica.leader_epoch = epoch
    replica.leader = leader
    replica.isr = request.isr
    epoch_cache.elected(replica, epoch)
    positions.start_epoch(replica)


@action(tells=stories.write, draws=arrows.write)
def write(
    state: State, leader: Replica, *, records: int, min_insync: int, producer: Producer, epoch_cache: EpochCache
) -> None:
    """A producer's record is appended, stamped with the epoch that the leader believes in."""
    replica = state.replicas[leader]
    offset, written = replica.log.length, state.next_record
    require(presumes_leadership(state, leader))
    require(~replica.log.is_full)
    require(written < records)
    require(producer.admits(state, replica.isr, min_insync))
    replica.log.append(record(id=written, epoch=replica.leader_epoch))
    epoch_cache.appended(replica, replica.leader_epoch, offset)
    producer.appended(state, written, offset)
    state.next_record = written + 1


@action(tells=stories.advance_high_watermark, draws=arrows.advance_high_watermark)
def advance_high_watermark(
    state: State, leader: Replica, *, synchrony: Synchrony, commitment: Commitment, producer: Producer, min_insync: int
) -> None:
    """One more record is on every replica that the leader waits for."""
    require(presumes_leadership(state, leader))
    replica = state.replicas[leader]
    offset = replica.high_watermark
    require(offset < replica.log.length)
    require(commitment.allowed(replica, min_insync))
    waits_for = commitment.waits_for(replica)
    require(waits_for.all(lambda follower: synchrony.caught_up(state, follower, leader, offset + 1)))
    producer.committed(state, replica.log[offset].id, offset, waits_for.size >= min_insync)
    replica.high_watermark = offset + 1


# The ISR, changed at the leader and the controller in one step


@action(tells=stories.leader_shrinks_isr, draws=arrows.leader_changes_isr)
def leader_shrinks_isr(
    state: State, leader: Replica, follower: Replica, *, synchrony: Synchrony, membership: Membership
) -> None:
    """The leader takes a follower that is not caught up to its log end out of the ISR."""
    require(follower != leader)
    require(is_true_leader(state, leader))
    replica = state.replicas[leader]
    require(may_leave(state, leader, follower, synchrony))
    replica.isr.remove(follower)
    membership.store(state, replica.isr)


@action(tells=stories.leader_expands_isr, draws=arrows.leader_changes_isr)
def leader_expands_isr(
    state: State,
    leader: Replica,
    follower: Replica,
    *,
    synchrony: Synchrony,
    isr_expansion: IsrExpansion,
    membership: Membership,
) -> None:
    """The leader takes a follower that has reached its high watermark into the ISR."""
    require(follower != leader)
    require(is_true_leader(state, leader))
    replica = state.replicas[leader]
    require(may_join(state, leader, follower, synchrony, isr_expansion))
    replica.isr.add(follower)
    membership.store(state, replica.isr)


def may_leave(state: State, leader: Replica, follower: Replica, synchrony: Synchrony) -> Any:
    replica = state.replicas[leader]
    return replica.isr.has(follower) & ~synchrony.caught_up(state, follower, leader, replica.log.length)


def may_join(
    state: State, leader: Replica, follower: Replica, synchrony: Synchrony, isr_expansion: IsrExpansion
) -> Any:
    replica = state.replicas[leader]
    reached = synchrony.caught_up(state, follower, leader, replica.high_watermark)
    return ~replica.isr.has(follower) & reached & isr_expansion(state, leader, follower)


# The ISR, changed by an AlterPartition request that takes its time (KIP-497)


@action(tells=stories.propose_isr, draws=arrows.propose_isr)
def propose_shrink(state: State, leader: Replica, follower: Replica, *, synchrony: Synchrony) -> None:
    """The leader asks the controller to take a follower out of the ISR; one request at a time."""
    require(follower != leader)
    require(presumes_leadership(state, leader))
    require(state.replicas[leader].pending == none)
    require(may_leave(state, leader, follower, synchrony))
    state.replicas[leader].pending = follower


@action(tells=stories.propose_isr, draws=arrows.propose_isr)
def propose_expansion(
    state: State, leader: Replica, follower: Replica, *, synchrony: Synchrony, isr_expansion: IsrExpansion
) -> None:
    """The leader asks the controller to take a follower into the ISR."""
    require(follower != leader)
    require(presumes_leadership(state, leader))
    require(state.replicas[leader].pending == none)
    require(may_join(state, leader, follower, synchrony, isr_expansion))
    state.replicas[leader].pending = follower


@action(tells=stories.controller_alters_isr, draws=arrows.controller_alters_isr)
def controller_alters_isr(state: State, leader: Replica, *, membership: Membership) -> None:
    """The controller applies the request, if it still comes from the leader of its epoch; the answer is on its way."""
    replica = state.replicas[leader]
    require(is_true_leader(state, leader))
    require(replica.pending != none)
    require(state.quorum.isr.has(replica.pending) == replica.isr.has(replica.pending))
    removed, added = replica.isr.without(replica.pending), replica.isr.including(replica.pending)
    membership.store(state, where(replica.isr.has(replica.pending), removed, added))


@action(tells=stories.leader_learns_isr, draws=arrows.leader_learns_isr)
def leader_learns_isr(state: State, leader: Replica) -> None:
    """The answer arrives: the leader's ISR is the controller's again."""
    replica = state.replicas[leader]
    require(is_true_leader(state, leader))
    require(replica.pending != none)
    require(state.quorum.isr.has(replica.pending) != replica.isr.has(replica.pending))
    replica.isr = state.quorum.isr
    replica.pending = none


def epoch_zero_led(state: State, leader: Replica, *, crashes: int, epoch_cache: EpochCache) -> None:
    """An initial state for each leader: everybody has adopted epoch 0, with all replicas in the ISR and empty logs."""
    nobody_elected(state, crashes=crashes)
    everyone = state.quorum.isr
    state.quorum.leader_epoch = 0
    state.quorum.leader = leader
    state.requests[0] = record(leader=leader, isr=everyone)
    state.next_epoch = 1
    for name in state.replicas:
        replica = state.replicas[name]
        replica.leader_epoch = 0
        replica.leader = leader
        replica.isr = everyone
    epoch_cache.elected(state.replicas[leader], state.quorum.leader_epoch)


STARTS: Final[dict[str, Callable[..., None]]] = {"nobody-elected": nobody_elected, "epoch-0-led": epoch_zero_led}
ACTIONS = (become_leader, write)
ISR_CHANGES = {
    "instant": (leader_shrinks_isr, leader_expands_isr),
    "in-flight": (propose_shrink, propose_expansion, controller_alters_isr, leader_learns_isr),
}
