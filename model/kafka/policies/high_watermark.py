"""Before KIP-101: a follower cuts to its own high watermark, whatever the leader has.

Source: KIP-101, "Motivation"; releases up to 0.10.2.
"""

from __future__ import annotations

from typing import Any

from model.kafka.epoch_cache import UNDEFINED, EpochEnd
from model.kafka.policy import Cut
from model.language import MapValue


def asked(own_cache: MapValue) -> int:
    """Nothing is asked."""
    return UNDEFINED


def cut(own_cache: MapValue, log_end: Any, high_watermark: Any, answer: EpochEnd) -> Cut:
    return Cut(high_watermark, finished=True)
