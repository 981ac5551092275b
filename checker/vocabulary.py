"""The names that a spec may use with a variant of the Kafka protocol: invariants, witnesses, actions.

They are read off the protocol itself, staged at the smallest bounds, so that there is no second list to keep.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Final

from checker.origin import Vocabulary, vocabulary_of
from model.kafka import Bounds, Variant, kafka
from model.kafka.policy import DEFAULT
from model.kafka.policy_file import SUFFIX

SMALLEST: Final = Bounds(replicas=1, log_size=1, records=1, epochs=1)


def vocabulary(variant: Variant) -> Vocabulary:
    """What the protocol of this variant has; parameters have their domains at the smallest bounds. Cost: about ten
    milliseconds the first time.

    A truncation policy of the user's own is not asked: it adds no names, and what its file says may change.
    """
    is_own = variant.truncation.endswith(SUFFIX)
    return _vocabulary(replace(variant, truncation=DEFAULT) if is_own else variant)


@cache
def _vocabulary(variant: Variant) -> Vocabulary:
    return vocabulary_of(kafka(variant, SMALLEST))
