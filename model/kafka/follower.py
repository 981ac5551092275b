"""What a replica does as a follower: take a leader, truncate, fetch."""

from __future__ import annotations

from model.kafka import stories
from model.kafka.state import Epoch, Replica, State, follows, presumes_leadership
from model.kafka.synchrony import Synchrony, TruncationFencing
from model.kafka.truncation import Truncation, diverges
from model.language import action, minimum, require


@action(tells=stories.become_follower)
def become_follower(
    state: State,
    follower: Replica,
    leader: Replica,
    epoch: Epoch,
    *,
    truncation: Truncation,
    truncation_fencing: TruncationFencing,
) -> None:
    """A replica takes a request that names another leader, and truncates its log to where the policy says."""
    _hears_of(state, follower, leader, epoch)
    require(truncation_fencing(state, leader, epoch))
    replica = state.replicas[follower]
    point = truncation(replica, state.replicas[leader])
    require(point <= replica.log.length)
    replica.log.truncate(point)
    replica.high_watermark = minimum(point, replica.high_watermark)
    _adopt(state, follower, leader, epoch)


@action(tells=stories.adopt_leader)
def adopt_leader(state: State, follower: Replica, leader: Replica, epoch: Epoch) -> None:
    """A replica takes a request that names another leader, and keeps its log until it sees that it diverges."""
    _hears_of(state, follower, leader, epoch)
    _adopt(state, follower, leader, epoch)


@action(tells=stories.truncate)
def truncate(state: State, follower: Replica, leader: Replica, *, truncation: Truncation) -> None:
    """A follower whose end is not in the leader's log cuts its own."""
    require(follower != leader)
    require(presumes_leadership(state, leader))
    require(follows(state, follower, leader))
    replica = state.replicas[follower]
    require(diverges(replica, state.replicas[leader]))
    point = truncation(replica, state.replicas[leader])
    replica.log.truncate(point)
    replica.high_watermark = minimum(point, replica.high_watermark)


@action(tells=stories.replicate)
def replicate(state: State, follower: Replica, leader: Replica, *, synchrony: Synchrony) -> None:
    """A follower fetches one record, and the leader's high watermark with it."""
    require(follower != leader)
    require(presumes_leadership(state, leader))
    replica, source = state.replicas[follower], state.replicas[leader]
    offset = replica.log.length
    require(synchrony.caught_up(state, follower, leader, offset))
    require(source.log.has(offset))
    replica.log.append(source.log[offset])
    replica.high_watermark = minimum(source.high_watermark, replica.log.length)


def _hears_of(state: State, follower: Replica, leader: Replica, epoch: Epoch) -> None:
    require(follower != leader)
    require(state.requests[epoch].leader == leader)
    require(state.replicas[follower].leader_epoch < epoch)


def _adopt(state: State, follower: Replica, leader: Replica, epoch: Epoch) -> None:
    replica = state.replicas[follower]
    replica.leader_epoch = epoch
    replica.leader = leader
    replica.isr = state.requests[epoch].isr


ACTIONS_AT_ADOPTION = (replicate, become_follower)
ACTIONS_LAZILY = (replicate, adopt_leader, truncate)
