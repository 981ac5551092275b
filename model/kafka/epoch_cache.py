"""The leader epoch cache: for each epoch that the log knows, the offset at which it starts.

Kafka keeps it as a short ascending list, in memory and in the file `leader-epoch-checkpoint`. Here it is a map from
every epoch to a start offset or none: the same content, without an order to keep. Offsets and epochs that are undefined
are -1, as on the wire, which is also how `none` compares: below everything.

Source: LeaderEpochFileCache (assign, truncateFromEnd, endOffsetFor); releases as in KAFKA-6857, KIP-279, KAFKA-7415.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from model.kafka.mechanisms import EpochCache
from model.kafka.state import ReplicaState
from model.language import MapValue, Number, all_of, first, maximum, none, where

UNDEFINED: Final = -1


@dataclass(frozen=True, slots=True)
class EpochEnd:
    """An answer to OffsetsForLeaderEpoch: an epoch, and the offset past its last record. Either may be UNDEFINED."""

    epoch: Any
    end_offset: Any


NOT_KNOWN: Final = EpochEnd(UNDEFINED, UNDEFINED)


def either(condition: Any, then: EpochEnd, otherwise: EpochEnd) -> EpochEnd:
    """`where` for answers."""
    return EpochEnd(
        where(condition, then.epoch, otherwise.epoch), where(condition, then.end_offset, otherwise.end_offset)
    )


# What is in the cache


def is_empty(cache: MapValue) -> Any:
    return all_of(cache[epoch].is_none for epoch in cache)


def latest(cache: MapValue) -> Number:
    """The largest epoch with an entry, or UNDEFINED."""
    return floor(cache, len(list(cache)))


def floor(cache: MapValue, epoch: Any) -> Number:
    """The largest epoch with an entry that is not above `epoch`, or UNDEFINED."""
    return maximum(UNDEFINED, *(where(cache[known].is_some & (known <= epoch), known, UNDEFINED) for known in cache))


def next_start(cache: MapValue, epoch: Any) -> Any:
    """Where the first epoch above `epoch` starts, or UNDEFINED."""
    return first(((cache[known].is_some & (known > epoch), cache[known]) for known in cache), otherwise=UNDEFINED)


# The leader's answer, by release


def end_offset_for(cache: MapValue, log_end: Any, epoch: Any) -> EpochEnd:
    """Since KAFKA-7415 (2.1): an epoch older than the cache is answered with the start of the first one."""
    older = EpochEnd(epoch, next_start(cache, UNDEFINED))
    return _answer(cache, log_end, epoch, older)


def end_offset_for_kip_279(cache: MapValue, log_end: Any, epoch: Any) -> EpochEnd:
    """KIP-279 (2.0): the largest epoch not above the one asked about, and its end."""
    return _answer(cache, log_end, epoch, older=NOT_KNOWN)


def end_offset_for_kip_101(cache: MapValue, log_end: Any, epoch: Any) -> EpochEnd:
    """KIP-101 with KAFKA-6857: the same offset, but the epoch it belongs to is not told."""
    return EpochEnd(UNDEFINED, end_offset_for_kip_279(cache, log_end, epoch).end_offset)


def end_offset_for_kip_101_first_form(cache: MapValue, log_end: Any, epoch: Any) -> EpochEnd:
    """KIP-101 as released in 0.11.0 (KAFKA-6857): an undefined epoch equals the latest of an empty cache."""
    known = end_offset_for_kip_101(cache, log_end, epoch)
    return either((epoch == UNDEFINED) & is_empty(cache), EpochEnd(UNDEFINED, log_end), known)


def _answer(cache: MapValue, log_end: Any, epoch: Any, older: EpochEnd) -> EpochEnd:
    newest, below = latest(cache), floor(cache, epoch)
    inside = EpochEnd(below, next_start(cache, epoch))
    answered = either(below == UNDEFINED, older, inside)
    known = either(epoch == newest, EpochEnd(epoch, log_end), either(epoch > newest, NOT_KNOWN, answered))
    return either(epoch == UNDEFINED, NOT_KNOWN, known)


# How it changes


def assigned(cache: MapValue, epoch: Any, offset: Any) -> Any:
    """An epoch starts at an offset: what contradicts that is dropped (`assign`). Nothing changes if it is known."""
    newest = latest(cache)
    is_known = all_of(
        newest == epoch, first(((known == epoch, cache[known]) for known in cache), otherwise=0) <= offset
    )

    def entry(known: Number, start: Any) -> Any:
        contradicts = (known > epoch) | (start >= offset)
        return where(known == epoch, offset, where(start.is_some & contradicts, none, start))

    return where(is_known, cache, cache.mapped(entry))


def assigned_if_newer(cache: MapValue, epoch: Any, offset: Any) -> Any:
    """Before KAFKA-7415: accepted only if the epoch is above the latest and the offset not below its start."""
    newest = latest(cache)
    start_of_newest = first(((known == newest, cache[known]) for known in cache), otherwise=UNDEFINED)
    accepted = all_of(epoch > newest, offset >= start_of_newest)
    return where(accepted, cache.mapped(lambda known, start: where(known == epoch, offset, start)), cache)


def truncated(cache: MapValue, log_end: Any) -> MapValue:
    """Entries at or beyond the log end go, records or not (`truncateFromEnd`, KAFKA-10706)."""
    return cache.mapped(lambda _, start: where(start.is_some & (start >= log_end), none, start))


def of_log(cache: MapValue, log: Any) -> MapValue:
    """What a scan of the log finds: for each epoch the offset of its first record."""

    def entry(epoch: Number, _start: Any) -> Any:
        first_record = ((log.has(offset) & (log[offset].epoch == epoch), offset) for offset in log.offsets)
        return first(first_record, otherwise=none)

    return cache.mapped(entry)


# When it is told of an epoch: the rules that variants choose among


def enter(replica: ReplicaState, epoch: Any) -> None:
    """KAFKA-7415: the new leader's epoch starts at its log end, before anything is written in it."""
    replica.epoch_cache = assigned(replica.epoch_cache, epoch, replica.log.length)


def enter_record(replica: ReplicaState, epoch: Any, offset: Any) -> None:
    replica.epoch_cache = assigned(replica.epoch_cache, epoch, offset)


def enter_first_record(replica: ReplicaState, epoch: Any, offset: Any) -> None:
    """Before KAFKA-7415: an entry is made by the first record, and only if it is above everything known."""
    replica.epoch_cache = assigned_if_newer(replica.epoch_cache, epoch, offset)


def ignore(*_: Any) -> None:
    """Nothing is cached: records without epochs (message formats before 0.11), or a model without caches."""


EPOCH_CACHES: Final[dict[str, EpochCache]] = {
    "at-election": EpochCache(elected=enter, appended=enter_record),
    "at-first-append": EpochCache(elected=ignore, appended=enter_first_record),
    "none": EpochCache(elected=ignore, appended=ignore),
}
