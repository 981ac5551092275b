"""What a replica does while it presumes leadership: append, look after the ISR, advance the high watermark.

Positions of followers are read from their logs: a fetch and its answer are one step here.
"""

from __future__ import annotations

from model.kafka import stories
from model.kafka.state import Epoch, Replica, State, is_true_leader, presumes_leadership
from model.kafka.synchrony import IsrExpansion, Synchrony
from model.language import action, record, require


@action(tells=stories.become_leader)
def become_leader(state: State, leader: Replica, epoch: Epoch) -> None:
    """A replica takes a request that names it as the leader. Log and high watermark stay as they are."""
    request, replica = state.requests[epoch], state.replicas[leader]
    require(request.leader == leader)
    require(replica.leader_epoch < epoch)
    replica.leader_epoch = epoch
    replica.leader = leader
    replica.isr = request.isr


@action(tells=stories.write)
def write(state: State, leader: Replica, *, records: int) -> None:
    """A producer's record is appended, stamped with the epoch that the leader believes in."""
    replica = state.replicas[leader]
    require(presumes_leadership(state, leader))
    require(~replica.log.is_full)
    require(state.next_record < records)
    replica.log.append(record(id=state.next_record, epoch=replica.leader_epoch))
    state.next_record = state.next_record + 1


@action(tells=stories.leader_shrinks_isr)
def leader_shrinks_isr(state: State, leader: Replica, follower: Replica, *, synchrony: Synchrony) -> None:
    """The leader takes a follower that is not caught up to its log end out of the ISR."""
    require(follower != leader)
    require(is_true_leader(state, leader))
    replica = state.replicas[leader]
    require(replica.isr.has(follower))
    require(~synchrony.caught_up(state, follower, leader, replica.log.length))
    replica.isr.remove(follower)
    state.quorum.isr = replica.isr


@action(tells=stories.leader_expands_isr)
def leader_expands_isr(
    state: State, leader: Replica, follower: Replica, *, synchrony: Synchrony, isr_expansion: IsrExpansion
) -> None:
    """The leader takes a follower that has reached its high watermark into the ISR."""
    require(follower != leader)
    require(is_true_leader(state, leader))
    replica = state.replicas[leader]
    require(~replica.isr.has(follower))
    require(synchrony.caught_up(state, follower, leader, replica.high_watermark))
    require(isr_expansion(state, leader))
    replica.isr.add(follower)
    state.quorum.isr = replica.isr


@action(tells=stories.advance_high_watermark)
def advance_high_watermark(state: State, leader: Replica, *, synchrony: Synchrony) -> None:
    """One more record is on every member of the leader's ISR."""
    require(presumes_leadership(state, leader))
    replica = state.replicas[leader]
    next_offset = replica.high_watermark + 1
    require(replica.high_watermark < replica.log.length)
    require(replica.isr.all(lambda follower: synchrony.caught_up(state, follower, leader, next_offset)))
    replica.high_watermark = next_offset


ACTIONS = (become_leader, write, leader_shrinks_isr, leader_expands_isr, advance_high_watermark)
