"""Where a follower cuts its log: one small function a policy.

A policy gets the follower's and the leader's replica state and returns the offset to cut at. The published models
abstract from epoch caches: these policies look at whole logs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from model.kafka.state import ReplicaState
from model.language import Number, first, maximum, where

Truncation: TypeAlias = Callable[[ReplicaState, ReplicaState], Any]


def to_high_watermark(follower: ReplicaState, leader: ReplicaState) -> Any:
    """Before KIP-101: the follower's own high watermark, which may lag behind what was committed."""
    return follower.high_watermark


def published_kip_101(follower: ReplicaState, leader: ReplicaState) -> Any:
    """KIP-101 as published: the end, in the leader's log, of the epoch of the follower's last record."""
    epoch = follower.log.last.epoch
    newer = first(
        ((leader.log.has(offset) & (leader.log[offset].epoch > epoch), offset) for offset in leader.log.offsets),
        otherwise=follower.high_watermark,
    )
    asked = where(leader.log.last.epoch == epoch, leader.log.length, newer)
    answered = where(leader.log.is_empty, follower.high_watermark, asked)
    return where(follower.log.is_empty, 0, answered)


def matching_prefix(follower: ReplicaState, leader: ReplicaState) -> Number:
    """KIP-279 as published: one past the last offset at which both logs hold the identical record."""
    return maximum(
        0,
        *(where(holds_the_same(follower, leader, offset), offset + 1, 0) for offset in follower.log.offsets),
    )


def holds_the_same(one: ReplicaState, other: ReplicaState, offset: Any) -> Any:
    """Both logs have a record at `offset`, and it is the same record."""
    return one.log.has(offset) & other.log.has(offset) & (one.log[offset] == other.log[offset])


def diverges(follower: ReplicaState, leader: ReplicaState) -> Any:
    """The follower's last record is not in the leader's log: it ends too late, or in another epoch."""
    last = follower.log.length - 1
    other_epoch = leader.log.has(last) & (leader.log[last].epoch != follower.log.last.epoch)
    return (follower.log.length > leader.log.length) | other_epoch


TRUNCATION: Final[dict[str, Truncation]] = {
    "high-watermark": to_high_watermark,
    "published-kip-101": published_kip_101,
    "matching-prefix": matching_prefix,
}
