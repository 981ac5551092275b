"""Brokers crash, lose what they had not flushed, and come back.

A broker that is down does nothing. It has forgotten its leader epoch, its leader and the ISR; its log, its epoch cache
and its high watermark checkpoint are what the crash left. After a restart any request may reach it again.

Source: KAFKA-1120, KIP-380 (broker epochs), KAFKA-10432 (recovery), KIP-101 (checkpointed high watermark).
"""

from __future__ import annotations

from typing import Any, Final

from model.kafka import arrows, epoch_cache, stories
from model.kafka.controller import decide
from model.kafka.mechanisms import Brokers, Checkpoint, Membership, Recovery
from model.kafka.positions import forget_followers
from model.kafka.state import Epoch, Offset, Replica, ReplicaState, State, is_true_leader
from model.language import action, declares, minimum, none, require, where


def _always(*_: Any) -> bool:
    return True


def _nothing(*_: Any) -> None:
    pass


def is_up(state: State, replica: Replica) -> Any:
    return state.replicas[replica].up


def may_lead(state: State, replica: Replica) -> Any:
    """The controller elects brokers that are up and not about to stop."""
    stays = ~state.quorum.shutting_down.has(replica) if declares(state.quorum, "shutting_down") else True
    return is_up(state, replica) & stays


def of_this_life(state: State, replica: Replica, epoch: Epoch) -> Any:
    """KIP-380: requests older than the broker's registration are for an earlier life of it. The one in force is sent
    to it again."""
    return epoch >= state.replicas[replica].registration


def forget_positions_of(state: State, replica: Replica) -> None:
    """KIP-903: what leaders remember of a follower's earlier life no longer counts once it has registered again."""
    for leader in state.replicas:
        state.replicas[leader].positions[replica] = none


def brokers(crash: str, request_fencing: str, admission: str) -> Brokers:
    """The rules for brokers that may go down, and for those that never do."""
    accepts = of_this_life if crash != "none" and request_fencing == "registration" else _always
    registered = forget_positions_of if admission == "this-life" else _nothing
    works, electable = (_always, _always) if crash == "none" else (is_up, may_lead)
    return Brokers(works, electable, accepts, registered)


# Going down


@action(tells=stories.crash, draws=arrows.crash)
def crash(state: State, replica: Replica, *, recovery: Recovery, checkpoint: Checkpoint) -> None:
    """The process dies. What it had written to the log stays, and is scanned when it comes back."""
    recovery(state.replicas[replica])
    _crash(state, replica, checkpoint)


@action(tells=stories.lose_power, draws=arrows.lose_power)
def lose_power(
    state: State, replica: Replica, kept: Offset, *, recovery: Recovery, flushing: bool, checkpoint: Checkpoint
) -> None:
    """The machine dies, and any suffix of the log that was not flushed is gone."""
    own = state.replicas[replica]
    require(kept <= own.log.length)
    if flushing:
        require(own.flushed <= kept)
        own.flushed = kept
    own.log.truncate(kept)
    recovery(own)
    _crash(state, replica, checkpoint)


@action(tells=stories.flush)
def flush(state: State, replica: Replica) -> None:
    """Everything in the log reaches the disk."""
    own = state.replicas[replica]
    require(own.up, own.flushed < own.log.length)
    own.flushed = own.log.length


def _crash(state: State, replica: Replica, checkpoint: Checkpoint) -> None:
    require(state.crashes_left > 0)
    state.crashes_left = state.crashes_left - 1
    _go_down(state, replica, checkpoint)


def _go_down(state: State, replica: Replica, checkpoint: Checkpoint) -> None:
    own = state.replicas[replica]
    require(own.up)
    own.up = False
    own.high_watermark = minimum(checkpoint(own), own.log.length)
    forget_view(own)


def exact_checkpoint(own: ReplicaState) -> Any:
    return own.high_watermark


def no_checkpoint(_own: ReplicaState) -> int:
    """The file replication-offset-checkpoint is lost: the broker starts from nothing committed."""
    return 0


# Going down in good order (KIP-841)


@action(tells=stories.begin_shutdown, draws=arrows.begin_shutdown)
def begin_shutdown(state: State, replica: Replica) -> None:
    """The controller takes a broker that wants to stop out of the ISR, without a new leader epoch. Whoever has not yet
    taken the request for this epoch gets it with the ISR of now."""
    quorum = state.quorum
    require(state.replicas[replica].up)
    require(~quorum.shutting_down.has(replica))
    require(quorum.leader != replica)
    require(~quorum.isr.is_just(replica))
    require(quorum.leader_epoch != none)
    quorum.shutting_down.add(replica)
    quorum.isr.remove(replica)
    state.requests[quorum.leader_epoch].isr = quorum.isr
    for leader in state.replicas:
        own = state.replicas[leader]
        own.isr = where(is_true_leader(state, leader), own.isr.without(replica), own.isr)


@action(tells=stories.stop, draws=arrows.stop)
def stop(state: State, replica: Replica, *, checkpoint: Checkpoint) -> None:
    """The broker stops, having written everything to disk."""
    require(state.quorum.shutting_down.has(replica))
    _go_down(state, replica, checkpoint)


def forget_view(own: ReplicaState) -> None:
    """What lives in memory only."""
    own.leader_epoch = none
    own.leader = none
    own.isr = set()
    own.truncating = False
    forget_followers(own)


# Coming back


@action(tells=stories.restart, draws=arrows.restart)
def restart_unnoticed(state: State, replica: Replica, *, brokers: Brokers) -> None:
    """KAFKA-1120: the broker is back before the controller has seen that it was gone."""
    _come_up(state, replica, brokers)


@action(tells=stories.restart, draws=arrows.restart)
def restart_in_new_epoch(
    state: State, replica: Replica, *, epochs: int, membership: Membership, brokers: Brokers
) -> None:
    """The controller sees a new registration: the old leadership ends, but the broker stays in the ISR."""
    leads = state.quorum.leader == replica
    decide(state, epochs, where(leads, none, state.quorum.leader), state.quorum.isr, membership)
    _come_up(state, replica, brokers)


@action(tells=stories.restart, draws=arrows.restart)
def restart_after_fencing(state: State, replica: Replica, *, brokers: Brokers) -> None:
    """A registration waits until the controller has fenced the earlier life: no longer leader, no longer in the ISR,
    unless it is the only member."""
    require(state.quorum.leader != replica)
    require(~state.quorum.isr.has(replica) | state.quorum.isr.is_just(replica))
    _come_up(state, replica, brokers)


@action(tells=stories.restart, draws=arrows.restart)
def restart_uncleanly(state: State, replica: Replica, *, brokers: Brokers) -> None:
    """KIP-966: an unclean restart costs the membership in the ISR and among the eligible leader replicas."""
    require(state.quorum.leader != replica)
    require(~state.quorum.isr.has(replica))
    state.quorum.eligible.remove(replica)
    _come_up(state, replica, brokers)


def _come_up(state: State, replica: Replica, brokers: Brokers) -> None:
    own = state.replicas[replica]
    require(~own.up)
    own.up = True
    brokers.registered(state, replica)
    if declares(state.quorum, "shutting_down"):
        state.quorum.shutting_down.remove(replica)
    if declares(own, "registration"):
        own.registration = state.quorum.leader_epoch


# What an unclean stop leaves of the epoch cache


def drop_beyond_end(own: ReplicaState) -> None:
    """Loading the cache drops entries at or beyond the recovered log end."""
    own.epoch_cache = epoch_cache.truncated(own.epoch_cache, own.log.length)


def keep_everything(_own: ReplicaState) -> None:
    """A mutation: the file is believed as it is, ahead of the log or not."""


def rebuild_from_log(own: ReplicaState) -> None:
    """The segments are scanned; the cache holds the epochs of the records that are left."""
    own.epoch_cache = epoch_cache.of_log(own.epoch_cache, own.log)


def rebuild_skipping_epoch_zero(own: ReplicaState) -> None:
    """KAFKA-10432: the scan took epoch 0 for no epoch at all."""
    rebuilt = epoch_cache.of_log(own.epoch_cache, own.log)
    own.epoch_cache = rebuilt.mapped(lambda epoch, start: where(epoch == 0, none, start))


RECOVERY: Final[dict[str, Recovery]] = {
    "drop-beyond-end": drop_beyond_end,
    "keep-everything": keep_everything,
    "rebuild": rebuild_from_log,
    "rebuild-skipping-epoch-zero": rebuild_skipping_epoch_zero,
}
CHECKPOINTS: Final[dict[str, Checkpoint]] = {"exact": exact_checkpoint, "lost": no_checkpoint}
RESTARTS: Final = {
    "unnoticed": restart_unnoticed,
    "new-epoch": restart_in_new_epoch,
    "leaves-isr": restart_after_fencing,
    "leaves-isr-and-elr": restart_uncleanly,
}
