"""What there is: the controller's view of the partition, the requests it has sent, and the replicas.

The classes below are for readers and the type checker: they name what `variables` declares.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from model.kafka.variant import Bounds, Variant
from model.language import (
    Bool,
    Map,
    MapValue,
    Member,
    Number,
    Option,
    Range,
    Record,
    RecordValue,
    Scalarset,
    Sequence,
    Set,
    declares,
)
from model.language import SequenceValue as Log
from model.language.domains import Domain, Scalar

Replica: TypeAlias = Member
Epoch: TypeAlias = Number
Offset: TypeAlias = Number

# Fields read as what their name says, and may also be assigned plain Python values (0, none, a set): no type says both.
EpochField: TypeAlias = Any
ReplicaField: TypeAlias = Any
NumberField: TypeAlias = Any
SetField: TypeAlias = Any


class LogRecord(RecordValue):
    """One record in a log: which one it is, and the leader epoch it was written in."""

    id: NumberField
    epoch: EpochField


class Request(RecordValue):
    """A LeaderAndIsr request. Its epoch is its key in `State.requests`."""

    leader: ReplicaField
    isr: SetField


class ReplicaState(RecordValue):
    """A replica: its log, and its view of the partition as of the last request it took (none before the first).

    What stands below the line is there only if the variant needs it.
    """

    log: Log
    high_watermark: NumberField
    leader_epoch: EpochField
    leader: ReplicaField
    isr: SetField
    # ---
    up: Any  # the broker runs
    registration: EpochField  # the epoch in force when the broker came back; older requests were for an earlier life
    flushed: NumberField  # the log below this offset survives the loss of power
    epoch_cache: MapValue  # epoch -> start offset or none
    truncating: Any  # has adopted its leader epoch, but not finished its truncation
    positions: MapValue  # of a leader: follower -> the offset it fetched from last in this epoch, or none
    epoch_start: NumberField  # of a leader: its log end when its epoch began
    pending: ReplicaField  # of a leader: whom an AlterPartition request in flight adds or removes


class Quorum(RecordValue):
    """What the controller decided last."""

    leader_epoch: EpochField
    leader: ReplicaField
    isr: SetField
    # ---
    eligible: SetField  # outside the ISR, yet known to hold everything committed (KIP-966)
    shutting_down: SetField  # in controlled shutdown, or stopped after one (KIP-841)


class State(RecordValue):
    """The whole state.

    `requests` holds every LeaderAndIsr request sent so far: epochs are unique, so a map by epoch is the same as the
    set of them. A request that has not been sent names no leader. Requests stay: any of them may arrive at any time.
    """

    quorum: Quorum
    requests: Any  # epoch -> Request
    next_epoch: NumberField
    next_record: NumberField
    replicas: Any  # replica -> ReplicaState
    # ---
    crashes_left: NumberField
    acknowledged: MapValue  # record -> the offset at which its producer was told that it is safe, or none
    visible: MapValue  # offset -> the record that a consumer could read there first, or none


def domains(bounds: Bounds) -> dict[str, Scalar]:
    """What parameters of actions range over."""
    return {
        "Replica": Scalarset("Replica", bounds.replicas),
        "Epoch": Range(0, bounds.epochs - 1),
        "Offset": Range(0, bounds.log_size),
    }


def variables(variant: Variant, bounds: Bounds) -> dict[str, Domain]:
    """The variables that a variant needs."""
    replica, epoch, _ = domains(bounds).values()
    view: dict[str, Domain] = {"leader_epoch": Option(epoch), "leader": Option(replica), "isr": Set(replica)}
    quorum = dict(view)
    if variant.election == "eligible":
        quorum["eligible"] = Set(replica)
    if variant.shutdown == "controlled":
        quorum["shutting_down"] = Set(replica)
    return {
        "quorum": Record(**quorum),
        "requests": Map(epoch, Record(leader=Option(replica), isr=Set(replica))),
        "next_epoch": Range(0, bounds.epochs),
        "next_record": Range(0, bounds.records),
        "replicas": Map(replica, Record(**_log(bounds), **view, **_broker(variant, bounds))),
        **_history(variant, bounds),
    }


def _record_id(bounds: Bounds) -> Range:
    return Range(0, bounds.records - 1, label="m{}")


def _log(bounds: Bounds) -> dict[str, Domain]:
    record = Record(id=_record_id(bounds), epoch=domains(bounds)["Epoch"]).written("{id}(e{epoch})")
    return {"log": Sequence(record, bounds.log_size), "high_watermark": Range(0, bounds.log_size)}


def _broker(variant: Variant, bounds: Bounds) -> dict[str, Domain]:
    """What a replica has beyond the published models."""
    replica, epoch, offset = domains(bounds).values()
    fields: dict[str, Domain] = {}
    if variant.crash != "none":
        fields["up"] = Bool()
        if variant.request_fencing == "registration":
            fields["registration"] = Option(epoch)
    if variant.flush == "background":
        fields["flushed"] = offset
    if variant.uses_epoch_caches:
        fields["epoch_cache"] = Map(epoch, Option(offset))
        fields["truncating"] = Bool()
    if variant.synchrony == "position":
        fields["positions"] = Map(replica, Option(offset))
        fields["epoch_start"] = offset
    if variant.isr_change == "in-flight":
        fields["pending"] = Option(replica)
    return fields


def _history(variant: Variant, bounds: Bounds) -> dict[str, Domain]:
    """Budgets, and the ledger that promises are judged by."""
    record, slot = _record_id(bounds), Range(0, bounds.log_size - 1)
    fields: dict[str, Domain] = {}
    if variant.crash != "none":
        fields["crashes_left"] = Range(0, bounds.crashes)
    if variant.acks != "unobserved":
        fields["acknowledged"] = Map(record, Option(slot))
        fields["visible"] = Map(slot, Option(record))
    return fields


def nobody_elected(state: State, *, crashes: int) -> None:
    """The published initial state: no leader yet, every replica in the ISR, all logs empty, all brokers up."""
    for replica in state.replicas:
        state.quorum.isr.add(replica)
        if declares(state.replicas[replica], "up"):
            state.replicas[replica].up = True
    if declares(state, "crashes_left"):
        state.crashes_left = crashes


def presumes_leadership(state: State, replica: Replica) -> Any:
    """The replica's own view names it as the leader; others may know better."""
    return state.replicas[replica].leader == replica


def is_true_leader(state: State, replica: Replica) -> Any:
    """The controller agrees: same leader, same epoch."""
    same_epoch = state.quorum.leader_epoch == state.replicas[replica].leader_epoch
    return (state.quorum.leader == replica) & presumes_leadership(state, replica) & same_epoch


def follows(state: State, follower: Replica, leader: Replica) -> Any:
    """The follower's view names this leader. A leader follows itself."""
    return state.replicas[follower].leader == leader
