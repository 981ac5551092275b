"""The names that a spec may use with a variant: invariants, witnesses, actions.

They are read off the protocol itself, staged at the smallest bounds, so that there is no second list to keep.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from model.kafka import Bounds, Variant, kafka
from model.language.protocol import Parameter

SMALLEST: Final = Bounds(replicas=1, log_size=1, records=1, epochs=1)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """`actions` maps each action to its parameters, with their domains at the smallest bounds."""

    invariants: tuple[str, ...]
    witnesses: tuple[str, ...]
    actions: dict[str, tuple[Parameter, ...]]


@cache
def vocabulary(variant: Variant) -> Vocabulary:
    """What the protocol of this variant has. Cost: about ten milliseconds the first time."""
    smallest = kafka(variant, SMALLEST)
    return Vocabulary(
        tuple(invariant.name for invariant in smallest.invariants),
        tuple(witness.name for witness in smallest.witnesses),
        {action.name: action.parameters for action in smallest.actions},
    )
