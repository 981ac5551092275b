"""How a state of the replication protocol is drawn: the controller as a line of text, and a lane for each replica.

Logs are blocks coloured by leader epoch. Like the stories, this reads snapshots (`model.language.show.snapshot`).
"""

from __future__ import annotations

from typing import Any

from model.language.drawing import Badge, CellText, Fact, Lane, Mark, Role


def lanes(state: Any) -> tuple[Lane, ...]:
    """The controller first, then the replicas."""
    return (_controller(state), *(_replica(state, name) for name in state.replicas))


# The controller


def _controller(state: Any) -> Lane:
    quorum = state.quorum
    facts = [Fact("ISR", _set(quorum.isr))]
    facts += [Fact(name, _set(getattr(quorum, field))) for name, field in _SETS.items() if hasattr(quorum, field)]
    if hasattr(state, "acknowledged"):
        facts.append(Fact("acknowledged", _promises(state.acknowledged)))
    if hasattr(state, "crashes_left"):
        facts.append(Fact("crashes left", str(state.crashes_left)))
    return Lane("controller", badges=_decision(quorum), facts=tuple(facts))


_SETS = {"eligible": "eligible", "shutting down": "shutting_down"}


def _decision(quorum: Any) -> tuple[Badge, ...]:
    if quorum.leader_epoch is None:
        return (Badge("no leader yet"),)
    who = Badge("no leader") if quorum.leader is None else Badge(f"leader {quorum.leader}", Role.LEADER)
    return (who, Badge(f"epoch {quorum.leader_epoch}"))


def _promises(acknowledged: dict[str, int | None]) -> str:
    return ", ".join(f"{record} at {offset}" for record, offset in acknowledged.items() if offset is not None) or "none"


# Replicas


def _replica(state: Any, name: str) -> Lane:
    replica = state.replicas[name]
    return Lane(
        name,
        cells=tuple(_cell(state, offset, record) for offset, record in enumerate(replica.log)),
        marks=_marks(replica),
        badges=tuple(_badges(state, name)),
        facts=tuple(_facts(state, name)),
        dimmed=not _is_up(replica),
    )


def _is_up(replica: Any) -> bool:
    return bool(getattr(replica, "up", True))


def _cell(state: Any, offset: int, record: Any) -> CellText:
    is_promised = getattr(state, "acknowledged", {}).get(record.id) == offset
    mark, meaning = ("✓", "acknowledged") if is_promised else ("", "")
    return CellText(record.id, record.epoch, f"e{record.epoch}", mark, meaning)


def _marks(replica: Any) -> tuple[Mark, ...]:
    marks = [Mark(replica.high_watermark, "high watermark", "HW")]
    if hasattr(replica, "flushed"):
        marks.append(Mark(replica.flushed, "flushed", "flushed"))
    return tuple(marks)


def _badges(state: Any, name: str) -> list[Badge]:
    replica, quorum = state.replicas[name], state.quorum
    badges = [] if _is_up(replica) else [Badge("down", Role.DOWN)]
    if replica.leader == name:
        is_current = (quorum.leader, quorum.leader_epoch) == (name, replica.leader_epoch)
        badges.append(Badge("leader", Role.LEADER) if is_current else Badge("stale leader", Role.STALE))
    elif replica.leader is not None:
        badges.append(Badge(f"follows {replica.leader}"))
    if replica.leader_epoch is not None:
        badges.append(Badge(f"epoch {replica.leader_epoch}"))
    if name in quorum.isr:
        badges.append(Badge("ISR", Role.MEMBER))
    if getattr(replica, "truncating", False):
        badges.append(Badge("truncating"))
    return badges


def _facts(state: Any, name: str) -> list[Fact]:
    replica = state.replicas[name]
    facts = [Fact("on its way", text)] if (text := _requests(state, replica)) else []
    if getattr(replica, "pending", None) is not None:
        facts.append(Fact("asked the controller", f"to change the ISR by {replica.pending}"))
    if hasattr(replica, "epoch_cache"):
        facts.append(Fact("epoch cache", _starts(replica.epoch_cache)))
    if replica.leader == name:
        facts.append(Fact("its ISR", _set(replica.isr)))
        facts += [Fact("has seen fetch", _fetched(replica.positions))] if hasattr(replica, "positions") else []
    return facts


def _requests(state: Any, replica: Any) -> str:
    """The LeaderAndIsr requests that the replica may still take: those of epochs after its own."""
    known = -1 if replica.leader_epoch is None else replica.leader_epoch
    since = getattr(replica, "registration", None) or 0
    sent = [
        f"e{epoch} (leader {request.leader})"
        for epoch, request in state.requests.items()
        if request.leader is not None and int(epoch) > known and int(epoch) >= since
    ]
    return f"LeaderAndIsr of {', '.join(sent)}" if sent else ""


def _starts(cache: dict[str, int | None]) -> str:
    return ", ".join(f"e{epoch} from {start}" for epoch, start in cache.items() if start is not None) or "empty"


def _fetched(positions: dict[str, int | None]) -> str:
    return ", ".join(f"{name} at {offset}" for name, offset in positions.items() if offset is not None) or "none"


def _set(names: list[str]) -> str:
    return "{" + ", ".join(names) + "}"
