"""What there is: the controller's view of the partition, the requests it has sent, and the replicas.

The classes below are for readers and the type checker: they name what `variables` declares.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from model.kafka.variant import Bounds
from model.language import Map, Member, Number, Option, Range, Record, RecordValue, Scalarset, Sequence, Set, SetValue
from model.language import SequenceValue as Log
from model.language.domains import Domain, Scalar

Replica: TypeAlias = Member
Epoch: TypeAlias = Number


class LogRecord(RecordValue):
    """One record in a log: which one it is, and the leader epoch it was written in."""

    id: Number
    epoch: Epoch


class Request(RecordValue):
    """A LeaderAndIsr request. Its epoch is its key in `State.requests`."""

    leader: Replica
    isr: SetValue


class ReplicaState(RecordValue):
    """A replica: its log, and its view of the partition as of the last request it took (none before the first)."""

    log: Log
    high_watermark: Number
    leader_epoch: Epoch
    leader: Replica
    isr: SetValue


class Quorum(RecordValue):
    """What the controller decided last."""

    leader_epoch: Epoch
    leader: Replica
    isr: SetValue


class State(RecordValue):
    """The whole state.

    `requests` holds every LeaderAndIsr request sent so far: epochs are unique, so a map by epoch is the same as the
    set of them. A request that has not been sent names no leader. Requests stay: any of them may arrive at any time.
    """

    quorum: Quorum
    requests: Any  # epoch -> Request
    next_epoch: Number
    next_record: Number
    replicas: Any  # replica -> ReplicaState


def domains(bounds: Bounds) -> dict[str, Scalar]:
    """What parameters of actions range over."""
    return {"Replica": Scalarset("Replica", bounds.replicas), "Epoch": Range(0, bounds.epochs - 1)}


def variables(bounds: Bounds) -> dict[str, Domain]:
    replica, epoch = domains(bounds)["Replica"], domains(bounds)["Epoch"]
    record = Record(id=Range(0, bounds.records - 1, label="m{}"), epoch=epoch).written("{id}(e{epoch})")
    view: dict[str, Domain] = {"leader_epoch": Option(epoch), "leader": Option(replica), "isr": Set(replica)}
    return {
        "quorum": Record(**view),
        "requests": Map(epoch, Record(leader=Option(replica), isr=Set(replica))),
        "next_epoch": Range(0, bounds.epochs),
        "next_record": Range(0, bounds.records),
        "replicas": Map(
            replica,
            Record(log=Sequence(record, bounds.log_size), high_watermark=Range(0, bounds.log_size), **view),
        ),
    }


def everyone_in_sync(state: State) -> None:
    """The initial state: no leader yet, every replica in the ISR, all logs empty."""
    for replica in state.replicas:
        state.quorum.isr.add(replica)


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
