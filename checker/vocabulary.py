"""The names that a spec may use with a variant: invariants, witnesses, actions.

They are read off the protocol itself, staged at the smallest bounds, so that there is no second list to keep.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from typing import Final

from model.kafka import Bounds, Variant, kafka
from model.kafka.policy import DEFAULT
from model.kafka.policy_file import SUFFIX
from model.language.protocol import Parameter, Predicate

SMALLEST: Final = Bounds(replicas=1, log_size=1, records=1, epochs=1)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """`actions` maps each action to its parameters, with their domains at the smallest bounds; `predicates` has the
    summaries and lines of invariants and witnesses."""

    invariants: tuple[str, ...]
    witnesses: tuple[str, ...]
    actions: dict[str, tuple[Parameter, ...]]
    predicates: dict[str, Predicate] = field(default_factory=dict)


def vocabulary(variant: Variant) -> Vocabulary:
    """What the protocol of this variant has. Cost: about ten milliseconds the first time.

    A truncation policy of the user's own is not asked: it adds no names, and what its file says may change.
    """
    is_own = variant.truncation.endswith(SUFFIX)
    return _vocabulary(replace(variant, truncation=DEFAULT) if is_own else variant)


@cache
def _vocabulary(variant: Variant) -> Vocabulary:
    smallest = kafka(variant, SMALLEST)
    return Vocabulary(
        tuple(invariant.name for invariant in smallest.invariants),
        tuple(witness.name for witness in smallest.witnesses),
        {action.name: action.parameters for action in smallest.actions},
        {predicate.name: predicate for predicate in (*smallest.invariants, *smallest.witnesses)},
    )
