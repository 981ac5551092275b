"""KIP-279 with KAFKA-7415, today's rule: the leader says which epoch its answer is about; a follower that does not know
that epoch cuts to the end of its own largest smaller one, and asks again.

Source: KIP-279, KAFKA-6361, KAFKA-7415; AbstractFetcherThread.getOffsetTruncationState.
"""

from __future__ import annotations

from typing import Any

from model.kafka.epoch_cache import UNDEFINED, EpochEnd, end_offset_for, latest
from model.kafka.policy import Cut, either_cut
from model.language import MapValue, Number, minimum


def asked(own_cache: MapValue) -> Number:
    """The epoch of the follower's last entry."""
    return latest(own_cache)


def answer(cache: MapValue, log_end: Any, epoch: Any) -> EpochEnd:
    return end_offset_for(cache, log_end, epoch)


def cut(own_cache: MapValue, log_end: Any, high_watermark: Any, answer: EpochEnd) -> Cut:
    own = end_offset_for(own_cache, log_end, answer.epoch)
    agreed = Cut(minimum(own.end_offset, answer.end_offset, log_end), finished=True)
    another_round = Cut(minimum(own.end_offset, log_end), finished=False)
    at_answer = Cut(minimum(answer.end_offset, log_end), finished=True)
    known = either_cut(own.epoch == answer.epoch, agreed, another_round)
    found = either_cut((answer.epoch == UNDEFINED) | (own.end_offset == UNDEFINED), at_answer, known)
    return either_cut(answer.end_offset == UNDEFINED, Cut(high_watermark, finished=True), found)
