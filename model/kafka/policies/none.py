"""No truncation at all: a follower keeps whatever it has. The negative control."""

from __future__ import annotations

from typing import Any

from model.kafka.epoch_cache import UNDEFINED, EpochEnd
from model.kafka.policy import Cut
from model.language import MapValue


def asked(own_cache: MapValue) -> int:
    """Nothing is asked."""
    return UNDEFINED


def cut(own_cache: MapValue, log_end: Any, high_watermark: Any, answer: EpochEnd) -> Cut:
    return Cut(log_end, finished=True)
