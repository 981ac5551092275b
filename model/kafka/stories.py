"""What each step says in a story: one plain sentence, from the state before and the state after.

States come as snapshots (`model.language.show.snapshot`): `before.replicas["A"].log` is a list of records.
"""

from __future__ import annotations

from typing import Any


def controller_shrinks_isr(before: Any, after: Any, replica: str) -> str:
    epoch = after.quorum.leader_epoch
    if before.quorum.leader == replica:
        is_last = replica in after.quorum.isr
        isr = f"{replica} stays the only ISR member" if is_last else f"the ISR is now {_set(after)}"
        return f"The controller gives up on leader {replica} and starts epoch {epoch} without a leader; {isr}."
    return f"The controller takes {replica} out of the ISR, which is now {_set(after)}, and starts epoch {epoch}."


def controller_elects(before: Any, after: Any, replica: str) -> str:
    return f"The controller elects {replica} leader of epoch {after.quorum.leader_epoch} with ISR {_set(after)}."


def become_leader(before: Any, after: Any, leader: str, epoch: int) -> str:
    replica = after.replicas[leader]
    end = len(replica.log)
    return f"{leader} becomes leader of epoch {epoch} with log end {end} and high watermark {replica.high_watermark}."


def write(before: Any, after: Any, leader: str) -> str:
    log = after.replicas[leader].log
    told = f"{leader} appends {log[-1].id} at offset {len(log) - 1} in epoch {log[-1].epoch}"
    return f"{told}, and acknowledges it at once." if _is_news(before, after, log[-1]) else f"{told}."


def leader_shrinks_isr(before: Any, after: Any, leader: str, follower: str) -> str:
    return f"{leader} has not seen {follower} catch up, and takes it out of the ISR, which is now {_set(after)}."


def leader_expands_isr(before: Any, after: Any, leader: str, follower: str) -> str:
    reached = after.replicas[leader].high_watermark
    return f"{leader} has seen {follower} reach high watermark {reached}, and takes it into the ISR, now {_set(after)}."


def advance_high_watermark(before: Any, after: Any, leader: str) -> str:
    replica = after.replicas[leader]
    committed = replica.log[replica.high_watermark - 1]
    isr = ", ".join(replica.isr)
    and_told = " and acknowledged" if _is_news(before, after, committed) else ""
    told = f"{leader} advances its high watermark to {replica.high_watermark}"
    return f"{told}: {committed.id} is committed{and_told} with ISR {{{isr}}}."


def _is_news(before: Any, after: Any, record: Any) -> bool:
    """Whether the step acknowledges the record; not all variants have acknowledgements."""
    ledgers = (getattr(state, "acknowledged", {}) for state in (before, after))
    old, new = (ledger.get(record.id) for ledger in ledgers)
    return old is None and new is not None


def become_follower(before: Any, after: Any, follower: str, leader: str, epoch: int) -> str:
    return f"{follower} becomes follower of {leader} in epoch {epoch} and {cut(before, after, follower)}."


def adopt_leader(before: Any, after: Any, follower: str, leader: str, epoch: int) -> str:
    return f"{follower} becomes follower of {leader} in epoch {epoch} and keeps its log."


def truncate(before: Any, after: Any, follower: str, leader: str) -> str:
    return f"{follower}, whose log diverges from {leader}'s, {cut(before, after, follower)}."


def replicate(before: Any, after: Any, follower: str, leader: str) -> str:
    replica = after.replicas[follower]
    record, offset = replica.log[-1], len(replica.log) - 1
    watermark = replica.high_watermark
    return f"{follower} fetches {record.id} at offset {offset} from {leader}; its high watermark is {watermark}."


def watermark(before: Any, after: Any, follower: str) -> str:
    """What the follower learns from the answer to its fetch."""
    old, new = (state.replicas[follower].high_watermark for state in (before, after))
    return f"{follower}'s high watermark stays {new}" if old == new else f"{follower} learns high watermark {new}"


def cut(before: Any, after: Any, follower: str) -> str:
    old, new = before.replicas[follower], after.replicas[follower]
    if len(old.log) == len(new.log):
        return f"truncates nothing (log end {len(new.log)})"
    dropped = old.log[len(new.log) :]
    names = " and ".join(record.id for record in dropped) + why_it_matters(before, dropped, follower)
    return f"truncates its log from {len(old.log)} to {len(new.log)}, dropping {names}"


def why_it_matters(before: Any, dropped: list[Any], own: str = "") -> str:
    """Whoever counts a dropped record as committed; the replica that drops it only if nobody else does."""
    for name, replica in sorted(before.replicas.items(), key=lambda item: item[0] == own):
        committed = replica.log[: replica.high_watermark]
        lost = [record.id for record in dropped if record in committed]
        who = f"{name} counts" if name != own else "it had counted"
        if lost and len(lost) == len(dropped):
            return f", which {who} as committed"
        if lost:
            return f", of which {who} {' and '.join(lost)} as committed"
    return ""


def _set(state: Any) -> str:
    return "{" + ", ".join(state.quorum.isr) + "}"


def controller_elects_unclean(before: Any, after: Any, replica: str) -> str:
    epoch = after.quorum.leader_epoch
    told = f"the controller elects {replica}, which is outside it, leader of epoch {epoch}"
    return f"No member of the ISR is up, so {told} (unclean election)."


def controller_elects_eligible(before: Any, after: Any, replica: str) -> str:
    epoch = after.quorum.leader_epoch
    return f"The ISR is empty, so the controller elects the eligible replica {replica} leader of epoch {epoch}."


def follow(before: Any, after: Any, follower: str, leader: str, epoch: int) -> str:
    told = f"{follower} becomes follower of {leader} in epoch {epoch}"
    if after.replicas[follower].truncating:
        return f"{told}; it has yet to ask where to truncate."
    return f"{told} and {cut(before, after, follower)}."


def ask_and_truncate(before: Any, after: Any, follower: str, leader: str) -> str:
    more = " and must ask again" if after.replicas[follower].truncating else ""
    return f"{follower} asks {leader} where {follower}'s last epoch ends, and {cut(before, after, follower)}{more}."


def fetch_record(before: Any, after: Any, follower: str, leader: str) -> str:
    replica = after.replicas[follower]
    fetched = f"{replica.log[-1].id} at offset {len(replica.log) - 1}"
    return f"{follower} fetches {fetched} from {leader}; {watermark(before, after, follower)}."


def fetch_nothing(before: Any, after: Any, follower: str, leader: str) -> str:
    told = f"{follower} fetches from {leader} at log end {len(after.replicas[follower].log)}"
    return f"{told}, so {leader} knows that {follower} has come so far; {watermark(before, after, follower)}."


def fetch_out_of_range(before: Any, after: Any, follower: str, leader: str) -> str:
    return f"{follower} fetches beyond {leader}'s log end, and {cut(before, after, follower)}."


def fetch_diverging(before: Any, after: Any, follower: str, leader: str) -> str:
    return f"{follower} fetches, {leader} answers that the logs diverge, and {follower} {cut(before, after, follower)}."


def propose_isr(before: Any, after: Any, leader: str, follower: str) -> str:
    verb = "take {} out of" if follower in before.replicas[leader].isr else "take {} into"
    return f"{leader} asks the controller to {verb.format(follower)} the ISR."


def controller_alters_isr(before: Any, after: Any, leader: str) -> str:
    return f"The controller applies {leader}'s request: the ISR is now {_set(after)}. The answer is on its way."


def leader_learns_isr(before: Any, after: Any, leader: str) -> str:
    return f"{leader} learns that the ISR is now {_set(after)}."


def crash(before: Any, after: Any, replica: str) -> str:
    return f"{replica} crashes; its log stays (log end {len(after.replicas[replica].log)})."


def lose_power(before: Any, after: Any, replica: str, kept: int) -> str:
    lost = before.replicas[replica].log[kept:]
    if not lost:
        return f"{replica} loses power, but no record (log end {kept})."
    names = " and ".join(record.id for record in lost) + why_it_matters(before, lost, replica)
    return f"{replica} loses power, and with it {names}: its log now ends at {kept}."


def flush(before: Any, after: Any, replica: str) -> str:
    return f"{replica} flushes its log up to {after.replicas[replica].flushed}."


def restart(before: Any, after: Any, replica: str) -> str:
    own = after.replicas[replica]
    isr = "still in the ISR" if replica in after.quorum.isr else "outside the ISR"
    return f"{replica} comes back, {isr}, with log end {len(own.log)} and high watermark {own.high_watermark}."


def begin_shutdown(before: Any, after: Any, replica: str) -> str:
    return f"{replica} is to be shut down, and the controller takes it out of the ISR, which is now {_set(after)}."


def stop(before: Any, after: Any, replica: str) -> str:
    return f"{replica} stops in good order (log end {len(after.replicas[replica].log)})."
