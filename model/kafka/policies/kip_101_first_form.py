"""KIP-101 as released in 0.11.0, before KAFKA-6857 and KAFKA-6859: a follower without epochs asks nevertheless, and a
leader without epochs answers with its log end.
"""

from __future__ import annotations

from typing import Any

from model.kafka.epoch_cache import EpochEnd, end_offset_for_kip_101_first_form
from model.kafka.policies.kip_101 import cut
from model.language import MapValue

ASKS_WITHOUT_EPOCH = True


def answer(cache: MapValue, log_end: Any, epoch: Any) -> EpochEnd:
    return end_offset_for_kip_101_first_form(cache, log_end, epoch)


__all__ = ["ASKS_WITHOUT_EPOCH", "answer", "cut"]
