"""What each step is in a sequence diagram: requests, fetches and answers as arrows, everything else as a note.

A control request is drawn when it arrives, which may be long after the controller has sent it. States come as
snapshots, as in `stories`.
"""

from __future__ import annotations

from typing import Any, Final

from model.kafka import stories
from model.language.sequence_diagram import Drawn, Message, Note

CONTROLLER: Final = "Controller"


# The controller decides


def controller_shrinks_isr(before: Any, after: Any, replica: str) -> tuple[Drawn, ...]:
    what = "gives up on leader" if before.quorum.leader == replica else "takes out of the ISR"
    return _decides(after, f"{what} {replica}")


def controller_elects(before: Any, after: Any, replica: str) -> tuple[Drawn, ...]:
    return _decides(after, f"elects {replica}")


def controller_elects_unclean(before: Any, after: Any, replica: str) -> tuple[Drawn, ...]:
    return _decides(after, f"elects {replica} uncleanly")


def controller_elects_eligible(before: Any, after: Any, replica: str) -> tuple[Drawn, ...]:
    return _decides(after, f"elects {replica}, which is eligible")


def _decides(after: Any, what: str) -> tuple[Drawn, ...]:
    quorum = after.quorum
    return (Note((CONTROLLER,), f"{what}: {_terms(quorum.leader_epoch, quorum.leader, quorum.isr)}"),)


def _terms(epoch: int, leader: str | None, isr: list[str]) -> str:
    who = "no leader" if leader is None else f"leader {leader}"
    return f"epoch {epoch}, {who}, ISR {_set(isr)}"


def _set(members: list[str]) -> str:
    return "{" + ", ".join(members) + "}"


# Replicas hear of it


def become_leader(before: Any, after: Any, leader: str, epoch: int) -> tuple[Drawn, ...]:
    own = after.replicas[leader]
    text = f"leads epoch {epoch}: log end {len(own.log)}, high watermark {own.high_watermark}"
    return _request(after, leader, epoch), Note((leader,), text)


def follow(before: Any, after: Any, follower: str, leader: str, epoch: int) -> tuple[Drawn, ...]:
    return _request(after, follower, epoch), *_cuts(before, after, follower)


def _request(after: Any, replica: str, epoch: int) -> Message:
    request = after.requests[str(epoch)]
    return Message(CONTROLLER, replica, f"LeaderAndIsr: {_terms(epoch, request.leader, request.isr)}")


def _cuts(before: Any, after: Any, follower: str) -> tuple[Drawn, ...]:
    """A note on what the follower loses, if it loses anything."""
    if len(before.replicas[follower].log) == len(after.replicas[follower].log):
        return ()
    return (Note((follower,), stories.cut(before, after, follower)),)


def truncate(before: Any, after: Any, follower: str, leader: str) -> tuple[Drawn, ...]:
    return (Note((follower,), f"diverges from {leader}, {stories.cut(before, after, follower)}"),)


def ask_and_truncate(before: Any, after: Any, follower: str, leader: str) -> tuple[Drawn, ...]:
    question = Message(follower, leader, "OffsetsForLeaderEpoch")
    answer = Message(leader, follower, "EpochEndOffset", is_answer=True)
    again = (Note((follower,), "must ask again"),) if after.replicas[follower].truncating else ()
    return question, answer, *_cuts(before, after, follower), *again


# Fetches


def fetch_record(before: Any, after: Any, follower: str, leader: str) -> tuple[Drawn, ...]:
    record = after.replicas[follower].log[-1]
    return _fetch(before, follower, leader, f"{record.id} of epoch {record.epoch}, {_watermark(before, leader)}")


def fetch_nothing(before: Any, after: Any, follower: str, leader: str) -> tuple[Drawn, ...]:
    return _fetch(before, follower, leader, f"no record, {_watermark(before, leader)}")


def fetch_out_of_range(before: Any, after: Any, follower: str, leader: str) -> tuple[Drawn, ...]:
    answer = f"out of range: log end {len(before.replicas[leader].log)}"
    return *_fetch(before, follower, leader, answer), *_cuts(before, after, follower)


def fetch_diverging(before: Any, after: Any, follower: str, leader: str) -> tuple[Drawn, ...]:
    return *_fetch(before, follower, leader, "diverging epoch"), *_cuts(before, after, follower)


def _fetch(before: Any, follower: str, leader: str, answer: str) -> tuple[Drawn, ...]:
    question = f"fetch from offset {len(before.replicas[follower].log)}"
    return Message(follower, leader, question), Message(leader, follower, answer, is_answer=True)


def _watermark(before: Any, leader: str) -> str:
    """The leader answers with what it knew before the fetch."""
    return f"high watermark {before.replicas[leader].high_watermark}"


# Leaders


def write(before: Any, after: Any, leader: str) -> tuple[Drawn, ...]:
    log = after.replicas[leader].log
    return (Note((leader,), f"appends {log[-1].id} at offset {len(log) - 1} in epoch {log[-1].epoch}"),)


def advance_high_watermark(before: Any, after: Any, leader: str) -> tuple[Drawn, ...]:
    own = after.replicas[leader]
    committed = own.log[own.high_watermark - 1].id
    return (Note((leader,), f"advances its high watermark to {own.high_watermark}: {committed} is committed"),)


def leader_changes_isr(before: Any, after: Any, leader: str, follower: str) -> tuple[Drawn, ...]:
    verb = "add" if follower in after.quorum.isr else "remove"
    return (Message(leader, CONTROLLER, f"{verb} {follower}: ISR {_set(after.quorum.isr)}"),)


def propose_isr(before: Any, after: Any, leader: str, follower: str) -> tuple[Drawn, ...]:
    verb = "remove" if follower in before.replicas[leader].isr else "add"
    return (Message(leader, CONTROLLER, f"AlterPartition: {verb} {follower}"),)


def controller_alters_isr(before: Any, after: Any, leader: str) -> tuple[Drawn, ...]:
    return (Note((CONTROLLER,), f"applies {leader}'s request: ISR {_set(after.quorum.isr)}"),)


def leader_learns_isr(before: Any, after: Any, leader: str) -> tuple[Drawn, ...]:
    return (Message(CONTROLLER, leader, f"ISR {_set(after.quorum.isr)}", is_answer=True),)


# Brokers go and come


def crash(before: Any, after: Any, replica: str) -> tuple[Drawn, ...]:
    return (Note((replica,), f"crashes (log end {len(after.replicas[replica].log)})"),)


def lose_power(before: Any, after: Any, replica: str, kept: int) -> tuple[Drawn, ...]:
    lost = before.replicas[replica].log[kept:]
    names = " and ".join(record.id for record in lost)
    what = f", and with it {names}{stories.why_it_matters(before, lost)}" if lost else ", but no record"
    return (Note((replica,), f"loses power{what}"),)


def restart(before: Any, after: Any, replica: str) -> tuple[Drawn, ...]:
    own = after.replicas[replica]
    return (Note((replica,), f"comes back: log end {len(own.log)}, high watermark {own.high_watermark}"),)


def begin_shutdown(before: Any, after: Any, replica: str) -> tuple[Drawn, ...]:
    return Message(replica, CONTROLLER, "controlled shutdown"), Note((CONTROLLER,), f"ISR {_set(after.quorum.isr)}")


def stop(before: Any, after: Any, replica: str) -> tuple[Drawn, ...]:
    return (Note((replica,), f"stops in good order (log end {len(after.replicas[replica].log)})"),)
