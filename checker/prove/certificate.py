"""What has been proved about permutations, and the group that follows from it.

A `SymmetryCertificate` can be made by the prover only (`checker.prove.symmetry`); whoever prunes takes one as an
argument. It holds the permutations tried and what came out for each part of the protocol; the group is *computed* from
that, so a certificate cannot claim more than was proved.

    >>> group = Group((Component("Replica", (1, 2)),), (Scalarset("Replica", 3),))
    >>> group.name, group.order, [permutation.image for permutation in group.transpositions()]
    ('Sym(B, C)', 2, [(0, 2, 1)])
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import InitVar, dataclass, field
from functools import cached_property
from itertools import combinations, pairwise, permutations, product
from math import factorial, prod
from typing import Any, Final

from model.errors import InternalError
from model.language.domains import Scalarset
from model.language.protocol import Permutation, Protocol, State


@dataclass(frozen=True, slots=True)
class Component:
    """Members of one scalarset, ascending, at least two, that may be permuted in every way."""

    scalarset: str
    members: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.members) < 2 or list(self.members) != sorted(set(self.members)):
            raise InternalError(f"{self.members} are not the members of a component")


@dataclass(frozen=True)
class Group:
    """The product of the full permutation groups of disjoint components.

    `scalarsets` are those of the protocol; without them, each is taken to end with its last member mentioned here.
    """

    components: tuple[Component, ...] = ()
    scalarsets: tuple[Scalarset, ...] = ()

    def __post_init__(self) -> None:
        tied = [(part.scalarset, member) for part in self.components for member in part.members]
        if len(set(tied)) != len(tied):
            raise InternalError(f"the components {self.components} overlap")
        if any(part.members[-1] >= self._count(part.scalarset) for part in self.components):
            raise InternalError(f"the components {self.components} name strangers")

    @property
    def is_trivial(self) -> bool:
        return not self.components

    @property
    def order(self) -> int:
        return prod(factorial(len(part.members)) for part in self.components)

    @property
    def name(self) -> str:
        """`Sym(3)` for the one scalarset as a whole; `Sym(B, C)`; `Sym(Replica: A, B) x Sym(Client)`; `trivial`."""
        return " x ".join(f"Sym({self._part_name(part)})" for part in self.components) or "trivial"

    def _part_name(self, part: Component) -> str:
        alone = len(self.scalarsets or {each.scalarset for each in self.components}) == 1
        whole = len(part.members) == self._count(part.scalarset)
        if whole:
            return str(len(part.members)) if alone else part.scalarset
        members = Scalarset(part.scalarset, self._count(part.scalarset)).members
        names = ", ".join(members[member] for member in part.members)
        return names if alone else f"{part.scalarset}: {names}"

    def __contains__(self, permutation: Permutation) -> bool:
        """Whether it moves members within components only."""
        places = {
            m: part.members for part in self.components if part.scalarset == permutation.scalarset for m in part.members
        }
        moves = ((member, image) for member, image in enumerate(permutation.image) if member != image)
        return all(image in places.get(member, ()) for member, image in moves)

    def transpositions(self) -> tuple[Permutation, ...]:
        """Swaps of consecutive members of each component: they generate the group."""
        return tuple(
            swap(part.scalarset, self._count(part.scalarset), one, other)
            for part in self.components
            for one, other in pairwise(part.members)
        )

    def elements(self) -> Iterator[tuple[Permutation, ...]]:
        """Every element, the identity first, as permutations to be applied in any order: one for each component."""
        return product(*(self._arrangements(part) for part in self.components))

    def _arrangements(self, part: Component) -> Iterator[Permutation]:
        for arrangement in permutations(part.members):
            image = list(range(self._count(part.scalarset)))
            for member, target in zip(part.members, arrangement, strict=True):
                image[member] = target
            yield Permutation(part.scalarset, tuple(image))

    def _count(self, scalarset: str) -> int:
        known = [each.count for each in self.scalarsets if each.name == scalarset]
        named = [part.members[-1] + 1 for part in self.components if part.scalarset == scalarset]
        return known[0] if known else 0 if self.scalarsets else max(named)


def swap(scalarset: str, count: int, one: int, other: int) -> Permutation:
    """Two members change places."""
    image = list(range(count))
    image[one], image[other] = other, one
    return Permutation(scalarset, tuple(image))


def rotation(scalarset: str, count: int) -> Permutation:
    """Every member takes the name of the next, the last that of the first."""
    return Permutation(scalarset, (*range(1, count), 0))


class Finding(enum.Enum):
    """What came of a question. Only `PROVED` licenses anything."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNKNOWN = "unknown"


class Kind(enum.Enum):
    """What must not notice a permutation."""

    INITIAL = "initial states"
    ACTION = "action"
    INVARIANT = "invariant"
    WITNESS = "witness"


@dataclass(frozen=True, slots=True)
class Obligation:
    """One part of the protocol under one permutation.

    `count` is how many initial states or steps it stands for. A refutation that the evaluator has confirmed has the
    `state` in which it shows and, for an action, the number of the `step`; an unknown has a `reason`.
    """

    kind: Kind
    name: str
    count: int
    finding: Finding
    state: State | None = None
    step: int | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One permutation and what came out for each part. `seconds` is for people; nothing may depend on it."""

    permutation: Permutation
    obligations: tuple[Obligation, ...]
    seconds: float = field(default=0.0, compare=False)

    @property
    def finding(self) -> Finding:
        found = {obligation.finding for obligation in self.obligations}
        return next((worst for worst in (Finding.REFUTED, Finding.UNKNOWN) if worst in found), Finding.PROVED)

    def count(self, kind: Kind, finding: Finding = Finding.PROVED) -> int:
        """How many initial states, steps, invariants or witnesses came out so."""
        return sum(each.count for each in self.obligations if each.kind is kind and each.finding is finding)


#: The key to making certificates. Only `checker.prove.symmetry` uses it, and a test sees to that.
_SEAL: Final = object()


@dataclass(frozen=True)
class SymmetryCertificate:
    """The permutations tried for the protocol with this content hash. `normal_form` says that the proofs assume, and
    that it was shown, that sequences keep the lowest value in their unused places."""

    model_hash: str
    scalarsets: tuple[Scalarset, ...]
    normal_form: bool
    attempts: tuple[Attempt, ...]
    seal: InitVar[object]

    def __post_init__(self, seal: object) -> None:
        if seal is not _SEAL:
            raise InternalError("a symmetry certificate was made by something other than the prover")

    @cached_property
    def group(self) -> Group:
        """What the proved permutations generate, restricted to products of full permutation groups."""
        proved = [attempt.permutation for attempt in self.attempts if attempt.finding is Finding.PROVED]
        parts = (part for scalarset in self.scalarsets for part in components(scalarset, proved))
        return Group(tuple(parts), self.scalarsets)

    @property
    def generators(self) -> tuple[Attempt, ...]:
        """The proved permutations."""
        return tuple(attempt for attempt in self.attempts if attempt.finding is Finding.PROVED)

    def require_for(self, protocol: Protocol) -> None:
        """Raise `InternalError` if this certificate speaks of another protocol."""
        if (self.model_hash, self.scalarsets) != (protocol.content_hash, protocol.scalarsets):
            raise InternalError(f"the symmetry certificate was made for another protocol than {protocol.name}")


def components(scalarset: Scalarset, proved: Iterable[Permutation]) -> Iterator[Component]:
    """The sets of members within which the proved permutations reach every arrangement.

    A swap together with the rotation of all generates everything. Otherwise only swaps count: a connected component of
    the graph that has the proved swaps as edges can be arranged in every way.
    """
    images = {permutation.image for permutation in proved if permutation.scalarset == scalarset.name}
    name, count = scalarset.name, scalarset.count
    if count > 1 and {swap(name, count, 0, 1).image, rotation(name, count).image} <= images:
        yield Component(name, tuple(range(count)))
        return
    tied = [pair for pair in combinations(range(count), 2) if swap(name, count, *pair).image in images]
    yield from (Component(name, members) for members in connected(count, tied) if len(members) > 1)


def connected(count: int, edges: Iterable[tuple[int, int]]) -> tuple[tuple[int, ...], ...]:
    """The connected components of a graph on 0..count-1, each ascending, in the order of their first members."""
    label = list(range(count))
    for one, other in edges:
        kept, dropped = sorted((label[one], label[other]))
        label = [kept if each == dropped else each for each in label]
    return tuple(tuple(m for m in range(count) if label[m] == kept) for kept in sorted(set(label)))


# The stored form. Reading raises KeyError, TypeError or ValueError for anything that is not one.


def attempts_to_json(attempts: Iterable[Attempt]) -> list[dict[str, Any]]:
    return [
        {
            "scalarset": attempt.permutation.scalarset,
            "image": list(attempt.permutation.image),
            "obligations": [_obligation_to_json(obligation) for obligation in attempt.obligations],
            "seconds": round(attempt.seconds, 3),
        }
        for attempt in attempts
    ]


def attempts_from_json(data: Any) -> tuple[Attempt, ...]:
    return tuple(
        Attempt(
            Permutation(str(each["scalarset"]), tuple(map(int, each["image"]))),
            tuple(map(_obligation_from_json, each["obligations"])),
            float(each["seconds"]),
        )
        for each in data
    )


def _obligation_to_json(obligation: Obligation) -> dict[str, Any]:
    stored = {
        "kind": obligation.kind.value,
        "name": obligation.name,
        "count": obligation.count,
        "finding": obligation.finding.value,
    }
    optional = {"state": obligation.state, "step": obligation.step, "reason": obligation.reason or None}
    return stored | {key: value for key, value in optional.items() if value is not None}


def _obligation_from_json(data: Mapping[str, Any]) -> Obligation:
    return Obligation(
        Kind(data["kind"]),
        str(data["name"]),
        int(data["count"]),
        Finding(data["finding"]),
        tuple(map(int, data["state"])) if "state" in data else None,
        data.get("step"),
        str(data.get("reason", "")),
    )
