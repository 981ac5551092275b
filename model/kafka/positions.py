"""What a leader remembers of its followers: how far each had come when it fetched last, in this epoch.

The published models look into the followers' logs instead. A real leader learns a follower's log end from the offset it
asks for, and so one fetch late.
"""

from __future__ import annotations

from typing import Any, Final

from model.kafka.mechanisms import Positions
from model.kafka.state import Replica, ReplicaState, State
from model.language import declares, none


def start_epoch(leader: ReplicaState) -> None:
    """Positions of an earlier epoch say nothing about this one; and this epoch starts here, for as long as it lives."""
    _forget_positions(leader)
    _forget_request(leader)
    leader.epoch_start = leader.log.length


def keep_positions(leader: ReplicaState) -> None:
    """A mutation: what followers had fetched in an earlier epoch still counts."""
    _forget_request(leader)
    leader.epoch_start = leader.log.length


def forget_followers(own: ReplicaState) -> None:
    """Whoever leads no more, or is down, remembers nothing of its followers."""
    _forget_positions(own)
    _forget_request(own)
    own.epoch_start = 0


def _forget_positions(own: ReplicaState) -> None:
    own.positions = own.positions.mapped(lambda _follower, _position: none)


def _forget_request(own: ReplicaState) -> None:
    """An AlterPartition request of an earlier epoch will be refused."""
    if declares(own, "pending"):
        own.pending = none


def fetched(state: State, leader: Replica, follower: Replica) -> None:
    state.replicas[leader].positions[follower] = state.replicas[follower].log.length


def _nothing(*_: Any) -> None:
    pass


OBSERVED: Final = Positions(start_epoch=_nothing, fetched=_nothing)
POSITIONS: Final[dict[str, Positions]] = {
    "reset": Positions(start_epoch=start_epoch, fetched=fetched),
    "kept": Positions(start_epoch=keep_positions, fetched=fetched),
}
