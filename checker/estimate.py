"""How large a protocol would be, computed without making it, so that impossible bounds are refused at once.

>>> from model.kafka import Bounds, Variant
>>> estimate(Variant(), Bounds(3, 2, 2, 3)).bits
77
>>> estimate(Variant(), Bounds(50, 2, 2, 900)).problems[0]
'50 replicas (at most 8)'
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Final

from checker.vocabulary import SMALLEST, vocabulary
from model.kafka import Bounds, Variant
from model.kafka.state import domains, variables
from model.language.domains import Domain, Map, Record, Scalar, Sequence, Set, slot_domain
from model.language.protocol import STEP_LIMIT, Parameter

#: Symmetry sorts the replicas, but tries every order of those that look alike: 8! is 40,320 orders for one state.
MOST_REPLICAS: Final = 8

#: A packed state fits a cache line: eight words of 64 bits. (5 replicas with logs of 4, 4 records and 5 epochs take 242
#: bits in the published models, and 493 with most mechanisms of the crash model switched on.)
MOST_BITS: Final = 512


@dataclass(frozen=True, slots=True)
class Estimate:
    """`bits` of one packed state; `steps` is an upper bound, as some choices of parameters turn out impossible."""

    replicas: int
    cells: int
    bits: int
    steps: int

    @property
    def problems(self) -> tuple[str, ...]:
        """What is beyond a limit, with the limit; empty if the protocol can be checked."""
        found = (
            (self.replicas, MOST_REPLICAS, "replicas"),
            (self.bits, MOST_BITS, "bits a state"),
            (self.steps, STEP_LIMIT, "steps"),
        )
        return tuple(f"{size:,} {what} (at most {most:,})" for size, most, what in found if size > most)


def estimate(variant: Variant, bounds: Bounds) -> Estimate:
    """The size of `kafka(variant, bounds)`. Takes the same time for any bounds."""
    cells, bits = _size(Record(**variables(variant, bounds)))
    actions = vocabulary(variant).actions.values()
    steps = sum(prod(_choices(parameter, bounds) for parameter in parameters) for parameters in actions)
    return Estimate(bounds.replicas, cells, bits, steps)


def _size(domain: Domain) -> tuple[int, int]:
    """The number of cells of a domain, and their bits together."""
    match domain:
        case Map(key, value):
            return _times(key.size, _size(value))
        case Set(element):
            return element.size, element.size
        case Sequence(element, capacity):
            cells, bits = _times(capacity, _size(slot_domain(element)))
            return cells + 1, bits + capacity.bit_length()
        case Record(fields=fields):
            parts = [_size(part) for part in fields.values()]
            return sum(cells for cells, _ in parts), sum(bits for _, bits in parts)
        case Scalar():
            return 1, domain.bits


def _times(count: int, size: tuple[int, int]) -> tuple[int, int]:
    return count * size[0], count * size[1]


def _choices(parameter: Parameter, bounds: Bounds) -> int:
    """How many values the parameter has at these bounds. Where two named domains are the same at the smallest bounds,
    the larger one is taken: too many steps are a safe estimate."""
    now = domains(bounds)
    sizes = [now[name].size for name, domain in domains(SMALLEST).items() if domain == parameter.domain]
    return max(sizes, default=parameter.domain.size)
