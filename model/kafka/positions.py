"""What a leader remembers of its followers: how far each had come when it fetched last, in this epoch.

The published models look into the followers' logs instead. A real leader learns a follower's log end from the offset it
asks for, and so one fetch late.
"""

from __future__ import annotations

from typing import Any, Final

from model.kafka.mechanisms import Positions
from model.kafka.state import Replica, ReplicaState, State
from model.language import none


def start_epoch(leader: ReplicaState) -> None:
    """Positions of an earlier epoch say nothing about this one; and this epoch starts here, for as long as it lives."""
    leader.positions = leader.positions.mapped(lambda _follower, _position: none)
    leader.epoch_start = leader.log.length


def keep_positions(leader: ReplicaState) -> None:
    """A mutation: what followers had fetched in an earlier epoch still counts."""
    leader.epoch_start = leader.log.length


def fetched(state: State, leader: Replica, follower: Replica) -> None:
    state.replicas[leader].positions[follower] = state.replicas[follower].log.length


def _nothing(*_: Any) -> None:
    pass


OBSERVED: Final = Positions(start_epoch=_nothing, fetched=_nothing)
POSITIONS: Final[dict[str, Positions]] = {
    "reset": Positions(start_epoch=start_epoch, fetched=fetched),
    "kept": Positions(start_epoch=keep_positions, fetched=fetched),
}
