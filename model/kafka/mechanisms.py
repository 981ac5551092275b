"""The mechanisms that variants choose rules for: what an action may ask for as a keyword-only parameter.

Each is a small bundle of functions. The rules themselves stand where they belong (`synchrony`, `truncation`, `broker`,
`epoch_cache`, `ledger`, …); `protocol` picks one for each mechanism, as the variant says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from model.kafka.state import Epoch, Replica, ReplicaState, State
from model.language import Number, SetValue

#: The follower is known to hold the leader's log up to an offset (exclusive).
CaughtUp: TypeAlias = Callable[[State, Replica, Replica, Any], Any]
#: The leader may take the follower into the ISR, provided that it has reached the high watermark.
IsrExpansion: TypeAlias = Callable[[State, Replica, Replica], Any]
#: The leader may tell a follower that acts in an epoch where to truncate.
TruncationFencing: TypeAlias = Callable[[State, Replica, Epoch], Any]
#: The leader may answer the follower's fetch.
FetchFencing: TypeAlias = Callable[[State, Replica, Replica], Any]
#: What an unclean stop leaves of a replica's epoch cache.
Recovery: TypeAlias = Callable[[ReplicaState], None]
#: The high watermark that a broker finds on disk when it comes back.
Checkpoint: TypeAlias = Callable[[ReplicaState], Any]


@dataclass(frozen=True, slots=True)
class Brokers:
    """`works`: the broker is up. `electable`: it may become leader. `accepts`: it takes a control request of that
    epoch. `registered` is told that it has come back."""

    works: Callable[[State, Replica], Any]
    electable: Callable[[State, Replica], Any]
    accepts: Callable[[State, Replica, Epoch], Any]
    registered: Callable[[State, Replica], None]


@dataclass(frozen=True, slots=True)
class Membership:
    """`store` makes a set the controller's ISR. `last_stays`: the ISR is never emptied by the loss of its leader."""

    store: Callable[[State, SetValue], None]
    last_stays: bool


@dataclass(frozen=True, slots=True)
class Synchrony:
    """How a leader concludes that a follower is caught up."""

    caught_up: CaughtUp


@dataclass(frozen=True, slots=True)
class Commitment:
    """`allowed`: the high watermark may move at all. `waits_for`: the replicas that must hold a record first."""

    allowed: Callable[[ReplicaState, int], Any]
    waits_for: Callable[[ReplicaState], SetValue]


@dataclass(frozen=True, slots=True)
class Positions:
    """`start_epoch` is told when a replica becomes leader of an epoch, `fetched` of every fetch it answers."""

    start_epoch: Callable[[ReplicaState], None]
    fetched: Callable[[State, Replica, Replica], None]


@dataclass(frozen=True, slots=True)
class EpochCache:
    """`elected` is told when a replica becomes leader of an epoch, `appended` when a record is in the log."""

    elected: Callable[[ReplicaState, Any], None]
    appended: Callable[[ReplicaState, Any, Any], None]


@dataclass(frozen=True, slots=True)
class Producer:
    """`admits`: the leader takes a new record. `appended` and `committed` write the ledger: a record is in the leader's
    log at an offset; the high watermark passes it, with enough replicas in sync or not."""

    admits: Callable[[State, SetValue, int], Any]
    appended: Callable[[State, Number, Any], None]
    committed: Callable[[State, Number, Any, Any], None]
