"""What a replica does as a follower: take a leader, truncate, fetch."""

from __future__ import annotations

from typing import Any

from model.kafka import arrows, stories
from model.kafka import epoch_cache as caches
from model.kafka.mechanisms import Brokers, EpochCache, FetchFencing, Positions, Synchrony, TruncationFencing
from model.kafka.policy import FetchCheck, Policy
from model.kafka.positions import forget_followers
from model.kafka.state import Epoch, Replica, ReplicaState, State, follows, presumes_leadership
from model.kafka.truncation import Truncation, diverges
from model.language import action, declares, minimum, require, where


@action(tells=stories.become_follower, draws=arrows.follow)
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
    _truncate(replica, point)
    _adopt(state, follower, leader, epoch)


@action(tells=stories.adopt_leader, draws=arrows.follow)
def adopt_leader(state: State, follower: Replica, leader: Replica, epoch: Epoch) -> None:
    """A replica takes a request that names another leader, and keeps its log until it sees that it diverges."""
    _hears_of(state, follower, leader, epoch)
    _adopt(state, follower, leader, epoch)


@action(tells=stories.truncate, draws=arrows.truncate)
def truncate(state: State, follower: Replica, leader: Replica, *, truncation: Truncation) -> None:
    """A follower whose end is not in the leader's log cuts its own."""
    require(follower != leader)
    require(presumes_leadership(state, leader))
    require(follows(state, follower, leader))
    replica = state.replicas[follower]
    require(diverges(replica, state.replicas[leader]))
    _truncate(replica, truncation(replica, state.replicas[leader]))


@action(tells=stories.replicate, draws=arrows.fetch_record)
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


# With epoch caches: what a follower asks, how it cuts, what it fetches


@action(tells=stories.follow, draws=arrows.follow)
def follow(
    state: State, follower: Replica, leader: Replica, epoch: Epoch, *, brokers: Brokers, truncation_policy: Policy
) -> None:
    """A broker takes a request that names another leader. With nothing to ask, it cuts at once; else it must ask the
    leader before its log counts as truncated."""
    _hears_of(state, follower, leader, epoch)
    require(brokers.works(state, follower), brokers.accepts(state, follower, epoch))
    replica = state.replicas[follower]
    silent = truncation_policy.is_silent(replica)
    at_once = truncation_policy.without_answer(replica)
    _truncate(replica, where(silent, at_once.offset, replica.log.length))
    replica.truncating = where(silent, False, True)
    _adopt(state, follower, leader, epoch)
    forget_followers(replica)


@action(tells=stories.ask_and_truncate, draws=arrows.ask_and_truncate)
def ask_and_truncate(
    state: State,
    follower: Replica,
    leader: Replica,
    *,
    truncation_policy: Policy,
    truncation_fencing: TruncationFencing,
) -> None:
    """One round of OffsetsForLeaderEpoch: question, answer, cut. Not finished means: another round."""
    _asks(state, follower, leader)
    replica = state.replicas[follower]
    require(replica.truncating)
    require(truncation_fencing(state, leader, replica.leader_epoch))
    cut = truncation_policy.round(replica, state.replicas[leader])
    _truncate(replica, cut.offset)
    replica.truncating = where(cut.finished, False, True)


@action(tells=stories.fetch_record, draws=arrows.fetch_record)
def fetch_record(
    state: State,
    follower: Replica,
    leader: Replica,
    *,
    fetch_fencing: FetchFencing,
    positions: Positions,
    epoch_cache: EpochCache,
) -> None:
    """A follower fetches one record. The leader learns the offset it asked from, the follower the leader's high
    watermark as it was before."""
    _fetches(state, follower, leader, fetch_fencing)
    replica, source = state.replicas[follower], state.replicas[leader]
    offset = replica.log.length
    require(~replica.truncating)
    require(source.log.has(offset))
    positions.fetched(state, leader, follower)
    fetched = source.log[offset]
    replica.log.append(fetched)
    epoch_cache.appended(replica, fetched.epoch, offset)
    replica.high_watermark = minimum(source.high_watermark, replica.log.length)


@action(tells=stories.fetch_nothing, draws=arrows.fetch_nothing)
def fetch_nothing(
    state: State, follower: Replica, leader: Replica, *, fetch_fencing: FetchFencing, positions: Positions
) -> None:
    """A follower fetches from the leader's log end: only positions and high watermark travel."""
    _fetches(state, follower, leader, fetch_fencing)
    replica, source = state.replicas[follower], state.replicas[leader]
    require(~replica.truncating)
    require(replica.log.length == source.log.length)
    positions.fetched(state, leader, follower)
    replica.high_watermark = minimum(source.high_watermark, replica.log.length)


@action(tells=stories.fetch_out_of_range, draws=arrows.fetch_out_of_range)
def fetch_out_of_range(state: State, follower: Replica, leader: Replica, *, fetch_fencing: FetchFencing) -> None:
    """OFFSET_OUT_OF_RANGE: the leader's log ends before the offset asked for; the follower cuts to the leader's end."""
    _fetches(state, follower, leader, fetch_fencing)
    replica, source = state.replicas[follower], state.replicas[leader]
    require(~replica.truncating)
    require(source.log.length < replica.log.length)
    _truncate(replica, source.log.length)


# Truncate-on-fetch: the fetch itself carries the last fetched epoch (Kafka 2.7)


@action(tells=stories.fetch_record, draws=arrows.fetch_record)
def fetch_record_if_matching(
    state: State,
    follower: Replica,
    leader: Replica,
    *,
    fetch_fencing: FetchFencing,
    positions: Positions,
    epoch_cache: EpochCache,
    truncation_policy: Policy,
) -> None:
    """As `fetch_record`, but the leader first compares the follower's last epoch with its own cache."""
    require(_checked(state, follower, leader, truncation_policy).served)
    state.replicas[follower].truncating = False
    fetch_record.function(
        state, follower, leader, fetch_fencing=fetch_fencing, positions=positions, epoch_cache=epoch_cache
    )


@action(tells=stories.fetch_nothing, draws=arrows.fetch_nothing)
def fetch_nothing_if_matching(
    state: State,
    follower: Replica,
    leader: Replica,
    *,
    fetch_fencing: FetchFencing,
    positions: Positions,
    truncation_policy: Policy,
) -> None:
    """As `fetch_nothing`, with the same comparison."""
    require(_checked(state, follower, leader, truncation_policy).served)
    state.replicas[follower].truncating = False
    fetch_nothing.function(state, follower, leader, fetch_fencing=fetch_fencing, positions=positions)


@action(tells=stories.fetch_diverging, draws=arrows.fetch_diverging)
def fetch_diverging(
    state: State, follower: Replica, leader: Replica, *, fetch_fencing: FetchFencing, truncation_policy: Policy
) -> None:
    """The answer is a diverging epoch instead of records: the follower cuts, and fetches again."""
    _fetches(state, follower, leader, fetch_fencing)
    require(_checked(state, follower, leader, truncation_policy).diverging)
    replica = state.replicas[follower]
    _truncate(replica, truncation_policy.round(replica, state.replicas[leader]).offset)


def _checked(state: State, follower: Replica, leader: Replica, policy: Policy) -> FetchCheck:
    """The leader's comparison of the follower's last epoch and log end with its own cache."""
    replica, source = state.replicas[follower], state.replicas[leader]
    last_epoch = policy.epoch_asked_by(replica)
    return policy.fetch_check(source.epoch_cache, source.log.length, last_epoch, replica.log.length)


def _asks(state: State, follower: Replica, leader: Replica) -> None:
    require(follower != leader)
    require(presumes_leadership(state, leader))
    require(follows(state, follower, leader))


def _fetches(state: State, follower: Replica, leader: Replica, fetch_fencing: FetchFencing) -> None:
    _asks(state, follower, leader)
    require(fetch_fencing(state, follower, leader))


def _truncate(replica: ReplicaState, to: Any) -> None:
    """Cut the log, and with it whatever describes its end: high watermark, epoch cache, flushed part."""
    replica.log.truncate(to)
    replica.high_watermark = minimum(to, replica.high_watermark)
    if declares(replica, "epoch_cache"):
        replica.epoch_cache = caches.truncated(replica.epoch_cache, replica.log.length)
    if declares(replica, "flushed"):
        replica.flushed = minimum(replica.flushed, replica.log.length)


def _hears_of(state: State, follower: Replica, leader: Replica, epoch: Epoch) -> None:
    require(follower != leader)
    require(state.requests[epoch].leader == leader)
    require(state.replicas[follower].leader_epoch < epoch)


def _adopt(state: State, follower: Replica, leader: Replica, epoch: Epoch) -> None:
    replica = state.replicas[follower]
    replica.leader_epoch = epoch
    replica.leader = leader
    replica.isr = state.requests[epoch].isr


FOLLOWING = {
    "at-adoption": (replicate, become_follower),
    "lazily": (replicate, adopt_leader, truncate),
    "by-asking": (fetch_record, fetch_nothing, fetch_out_of_range, follow, ask_and_truncate),
    "on-fetch": (fetch_record_if_matching, fetch_nothing_if_matching, fetch_diverging, fetch_out_of_range, follow),
}
