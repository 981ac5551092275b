"""What producers were promised and what consumers could see: history, kept to judge the protocol by.

`acknowledged` says at which offset a record was when its producer was told that it is safe; `visible` says which record
a consumer could read at an offset first. Neither influences any step.

Source: KIP-679 (acks), min.insync.replicas; KAFKA-15583 (the high watermark frozen below it).
"""

from __future__ import annotations

from typing import Any, Final

from model.kafka.mechanisms import Producer
from model.kafka.state import State
from model.language import Number, SetValue, none, where


def _always(*_: Any) -> bool:
    return True


def _nothing(*_: Any) -> None:
    pass


def in_sync_enough(_state: State, isr: SetValue, min_insync: int) -> Any:
    """acks=all: NOT_ENOUGH_REPLICAS while the ISR is below min.insync.replicas."""
    return isr.size >= min_insync


def acknowledge(state: State, record: Number, offset: Any) -> None:
    """acks=1: safe as soon as the leader has it, by contract."""
    state.acknowledged[record] = offset


def see(state: State, record: Number, offset: Any, _enough: Any) -> None:
    """Consumers may read it; who saw something else there before, saw it first."""
    state.visible[offset] = where(state.visible[offset] == none, record, state.visible[offset])


def see_and_acknowledge(state: State, record: Number, offset: Any, enough: Any) -> None:
    """acks=all: safe when the high watermark passes it while enough replicas are in sync."""
    see(state, record, offset, enough)
    state.acknowledged[record] = where(enough, offset, state.acknowledged[record])


NO_LEDGER: Final = Producer(admits=_always, appended=_nothing, committed=_nothing)
PRODUCERS: Final[dict[str, Producer]] = {
    "unobserved": NO_LEDGER,
    "all": Producer(admits=in_sync_enough, appended=_nothing, committed=see_and_acknowledge),
    "1": Producer(admits=_always, appended=acknowledge, committed=see),
}
