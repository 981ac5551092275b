"""How a leader may conclude that a follower's log matches its own: the rules that variants choose among.

`caught_up(state, follower, leader, offset)` says that the follower is known to hold the leader's log up to `offset`
(exclusive). Everything the leader does with followers rests on it: serving a fetch, advancing the high watermark,
shrinking and growing the ISR.
"""

from __future__ import annotations

from typing import Any, Final

from model.kafka.mechanisms import Commitment, FetchFencing, IsrExpansion, Synchrony, TruncationFencing
from model.kafka.state import Epoch, Replica, ReplicaState, State, follows, presumes_leadership
from model.language import Number, none


def by_leader(state: State, follower: Replica, leader: Replica, offset: Any) -> Any:
    """Before KIP-320: the follower names this leader, in whatever epoch, and both logs are long enough."""
    return follows(state, follower, leader) & _both_reach(state, follower, leader, offset)


def by_leader_epoch(state: State, follower: Replica, leader: Replica, offset: Any) -> Any:
    """KIP-320: fetches carry the current leader epoch, and the leader refuses every other."""
    return in_epoch_of(state, follower, leader) & (state.replicas[follower].log.length >= offset)


def by_record_epoch(state: State, follower: Replica, leader: Replica, offset: Any) -> Any:
    """KIP-320, first try: the last records below `offset` were written in the same epoch; the follower's current epoch
    is not compared."""
    same = _ends_in_same_epoch(state, follower, leader, offset)
    return presumes_leadership(state, leader) & follows(state, follower, leader) & same


def _ends_in_same_epoch(state: State, follower: Replica, leader: Replica, offset: Any) -> Any:
    own, other = state.replicas[follower].log, state.replicas[leader].log
    reached = (own.length >= offset) & (other.length >= offset)
    return (offset == 0) | (reached & (own[offset - 1].epoch == other[offset - 1].epoch))


def in_epoch_of(state: State, follower: Replica, leader: Replica) -> Any:
    """The follower has adopted the very epoch that this leader leads."""
    same_epoch = state.replicas[follower].leader_epoch == state.replicas[leader].leader_epoch
    return presumes_leadership(state, leader) & follows(state, follower, leader) & same_epoch


def _both_reach(state: State, follower: Replica, leader: Replica, offset: Any) -> Any:
    reached = (state.replicas[follower].log.length >= offset) & (state.replicas[leader].log.length >= offset)
    return (offset == 0) | reached


def by_position(state: State, follower: Replica, leader: Replica, offset: Any) -> Any:
    """What brokers do: the leader remembers from which offset the follower fetched last, in this epoch."""
    if follower == leader:
        return state.replicas[leader].log.length >= offset
    position = state.replicas[leader].positions[follower]
    return (position != none) & (position >= offset)


# What else it takes to join the ISR


def at_high_watermark(_state: State, _leader: Replica, _follower: Replica) -> Any:
    """Before KAFKA-7128: the follower's reaching the high watermark is enough."""
    return True


def at_start_of_leader_epoch(state: State, leader: Replica, _follower: Replica) -> Any:
    """KAFKA-7128: the high watermark must have reached the leader's own epoch, so that it is not a stale one."""
    replica = state.replicas[leader]
    high_watermark: Number = replica.high_watermark
    in_own_epoch = replica.log[high_watermark].epoch == replica.leader_epoch
    return (high_watermark == replica.log.length) | (replica.log.has(high_watermark) & in_own_epoch)


def at_fetched_epoch_start(state: State, leader: Replica, follower: Replica) -> Any:
    """KAFKA-7128 as brokers do it: the follower has fetched from where the leader's epoch starts, or beyond."""
    position = state.replicas[leader].positions[follower]
    return (position != none) & (position >= state.replicas[leader].epoch_start)


def only_running(rule: IsrExpansion) -> IsrExpansion:
    """KIP-841: beside what `rule` asks, the follower must not be shutting down."""

    def expansion(state: State, leader: Replica, follower: Replica) -> Any:
        return rule(state, leader, follower) & ~state.quorum.shutting_down.has(follower)

    return expansion


# What fences requests


def truncation_unfenced(_state: State, _leader: Replica, _epoch: Epoch) -> Any:
    """Before KIP-320: whoever is asked for a truncation point answers."""
    return True


def truncation_in_epoch(state: State, leader: Replica, epoch: Epoch) -> Any:
    """KIP-320: the one asked must lead, in the epoch that the follower acts in."""
    return presumes_leadership(state, leader) & (state.replicas[leader].leader_epoch == epoch)


def truncation_not_older(state: State, leader: Replica, epoch: Epoch) -> Any:
    """A mutation: a leader of a newer epoch than the follower's answers too."""
    return presumes_leadership(state, leader) & (state.replicas[leader].leader_epoch >= epoch)


def fetch_unfenced(_state: State, _follower: Replica, _leader: Replica) -> Any:
    """Before KIP-320: whoever presumes leadership answers whoever asks."""
    return True


# What the high watermark waits for


def always_allowed(_replica: ReplicaState, _min_insync: int) -> Any:
    return True


def enough_in_sync(replica: ReplicaState, min_insync: int) -> Any:
    """KAFKA-15583: below min.insync.replicas, judged on the committed ISR, the high watermark does not move."""
    return replica.isr.size >= min_insync


def the_isr(replica: ReplicaState) -> Any:
    return replica.isr


def maximal_isr(replica: ReplicaState) -> Any:
    """KIP-497: the ISR, and whoever may be in it already without the leader's knowing."""
    return replica.isr.including(replica.pending)


SYNCHRONY: Final[dict[str, Synchrony]] = {
    "leader": Synchrony(by_leader),
    "leader-epoch": Synchrony(by_leader_epoch),
    "record-epoch": Synchrony(by_record_epoch),
    "position": Synchrony(by_position),
}
ISR_EXPANSION: Final[dict[str, IsrExpansion]] = {
    "high-watermark": at_high_watermark,
    "leader-epoch-start": at_start_of_leader_epoch,
    "fetched-epoch-start": at_fetched_epoch_start,
}
TRUNCATION_FENCING: Final[dict[str, TruncationFencing]] = {
    "none": truncation_unfenced,
    "leader-epoch": truncation_in_epoch,
    "not-older": truncation_not_older,
}
FETCH_FENCING: Final[dict[str, FetchFencing]] = {"none": fetch_unfenced, "leader-epoch": in_epoch_of}
COMMITMENT_ALLOWED: Final = {"always": always_allowed, "min-insync": enough_in_sync}
COMMITMENT_WAITS_FOR: Final = {"isr": the_isr, "maximal-isr": maximal_isr}


def commitment(allowed: str, waits_for: str) -> Commitment:
    return Commitment(COMMITMENT_ALLOWED[allowed], COMMITMENT_WAITS_FOR[waits_for])
