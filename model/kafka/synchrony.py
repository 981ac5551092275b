"""How a leader may conclude that a follower's log matches its own: the rules that variants choose among.

`caught_up(state, follower, leader, offset)` says that the follower is known to hold the leader's log up to `offset`
(exclusive). Everything the leader does with followers rests on it: serving a fetch, advancing the high watermark,
shrinking and growing the ISR.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from model.kafka.state import Epoch, Replica, State, follows, presumes_leadership
from model.language import Number

CaughtUp: TypeAlias = Callable[[State, Replica, Replica, Any], Any]
IsrExpansion: TypeAlias = Callable[[State, Replica], Any]
TruncationFencing: TypeAlias = Callable[[State, Replica, Epoch], Any]


@dataclass(frozen=True, slots=True)
class Synchrony:
    caught_up: CaughtUp


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


def at_high_watermark(state: State, leader: Replica) -> Any:
    """Before KAFKA-7128: the follower's reaching the high watermark is enough."""
    return True


def at_start_of_leader_epoch(state: State, leader: Replica) -> Any:
    """KAFKA-7128: the high watermark must have reached the leader's own epoch, so that it is not a stale one."""
    replica = state.replicas[leader]
    high_watermark: Number = replica.high_watermark
    in_own_epoch = replica.log[high_watermark].epoch == replica.leader_epoch
    return (high_watermark == replica.log.length) | (replica.log.has(high_watermark) & in_own_epoch)


def unfenced(state: State, leader: Replica, epoch: Epoch) -> Any:
    """Before KIP-320: whoever is asked for a truncation point answers."""
    return True


def leader_is_in_epoch(state: State, leader: Replica, epoch: Epoch) -> Any:
    """KIP-320: the one asked must lead, in the epoch of the request that the follower acts on."""
    return presumes_leadership(state, leader) & (state.replicas[leader].leader_epoch == epoch)


SYNCHRONY: Final[dict[str, Synchrony]] = {
    "leader": Synchrony(by_leader),
    "leader-epoch": Synchrony(by_leader_epoch),
    "record-epoch": Synchrony(by_record_epoch),
}
ISR_EXPANSION: Final[dict[str, IsrExpansion]] = {
    "high-watermark": at_high_watermark,
    "leader-epoch-start": at_start_of_leader_epoch,
}
TRUNCATION_FENCING: Final[dict[str, TruncationFencing]] = {
    "none": unfenced,
    "leader-epoch": leader_is_in_epoch,
}
