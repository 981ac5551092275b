"""KIP-279 as released in 2.0, before KAFKA-7415: an epoch older than the cache gets no answer.

Source: KIP-279, KAFKA-7415.
"""

from __future__ import annotations

from typing import Any

from model.kafka.epoch_cache import EpochEnd, end_offset_for_kip_279
from model.language import MapValue


def answer(cache: MapValue, log_end: Any, epoch: Any) -> EpochEnd:
    return end_offset_for_kip_279(cache, log_end, epoch)
