"""KIP-101: cut to the end, at the leader, of the epoch of the follower's last entry; without an answer, to the high
watermark.

Source: KIP-101; releases 0.11.0 to 1.1.
"""

from __future__ import annotations

from typing import Any

from model.kafka.epoch_cache import UNDEFINED, EpochEnd, end_offset_for_kip_101
from model.kafka.policy import Cut, either_cut
from model.language import MapValue, minimum


def answer(cache: MapValue, log_end: Any, epoch: Any) -> EpochEnd:
    """Only an offset: the epoch that it belongs to is not part of the answer."""
    return end_offset_for_kip_101(cache, log_end, epoch)


def cut(own_cache: MapValue, log_end: Any, high_watermark: Any, answer: EpochEnd) -> Cut:
    at_answer = Cut(minimum(answer.end_offset, log_end), finished=True)
    return either_cut(answer.end_offset == UNDEFINED, Cut(high_watermark, finished=True), at_answer)
