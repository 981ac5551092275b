"""Which permutations of a scalarset's members a protocol cannot notice: proved by z3, never taken on trust.

A permutation is harmless if renaming the members of any state by it changes nothing but names:

- the initial states, as a set, become themselves;
- a step is enabled in a type-correct state exactly if the same action for the renamed members is enabled in the renamed
  state, and then the renamed successor is the successor of the renamed state;
- every invariant and every witness has the same truth.

Then the reachable states are closed under renaming and one of each orbit is enough. (Every permutation has a finite
order, so this direction implies the other: what a step of the renamed state can do, some power of the permutation turns
back into what the original can do.)

For each scalarset, two permutations generate all: swapping the first two members and rotating all. If one of them is
not proved, every swap of two members is tried, and the group shrinks to what those generate.
"""

from __future__ import annotations

import importlib.metadata
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias, assert_never

from checker.cache import NO_CACHE, Cache, key_of, source_hash
from checker.prove.certificate import (
    _SEAL,
    Attempt,
    Finding,
    Kind,
    Obligation,
    SymmetryCertificate,
    attempts_from_json,
    attempts_to_json,
    components,
    rotation,
    swap,
)
from checker.prove.refutation import Refutation, Renaming, Test, plainest, told
from model.language.domains import Scalarset
from model.language.protocol import Permutation, Predicate, Protocol, State, Step

if TYPE_CHECKING:  # z3 is loaded when there is something to prove, not when this is imported
    from checker.compile.smt import Solver, SymbolicState, Term

#: z3's resource units for each permutation tried; kip-320 with five replicas takes about one million.
BUDGET = 100_000_000

#: Told which permutation is being tried.
Progress: TypeAlias = Callable[[Renaming], None]


@dataclass(frozen=True, slots=True)
class SymmetryReport:
    """The certificate and, in words, what stands in the way of a larger group."""

    certificate: SymmetryCertificate
    refutations: tuple[Refutation, ...]
    unknowns: tuple[str, ...]
    from_cache: bool = field(default=False, compare=False)


def prove_symmetry(
    protocol: Protocol, budget: int = BUDGET, cache: Cache = NO_CACHE, progress: Progress | None = None
) -> SymmetryReport:
    """The largest group that can be proved, and why it is not larger.

    `budget` is in z3's resource units, for each permutation tried; what does not fit into it counts as not proved.
    Raises `InternalError` if z3 refutes something and the evaluator does not agree, `KeyboardInterrupt` on Ctrl-C;
    nothing is stored then.
    """
    key = _key(protocol, budget)
    stored = _read(protocol, cache.load("symmetry", key))
    certificate = stored or _Prover(protocol, budget, progress).certificate()
    if stored is None:
        cache.store("symmetry", key, _written(certificate))
    return _report(protocol, certificate, from_cache=stored is not None)


def _report(protocol: Protocol, certificate: SymmetryCertificate, from_cache: bool) -> SymmetryReport:
    parts = [(attempt.permutation, part) for attempt in certificate.attempts for part in attempt.obligations]
    refuted = (told(protocol, moved, part) for moved, part in parts if part.finding is Finding.REFUTED)
    unknown = (
        f"Not known with {Renaming(protocol, moved).text}: {part.kind.value} {part.name} ({part.reason})"
        for moved, part in parts
        if part.finding is Finding.UNKNOWN
    )
    return SymmetryReport(certificate, tuple(refuted), tuple(unknown), from_cache)


class _Prover:
    """One run for one protocol."""

    def __init__(self, protocol: Protocol, budget: int, progress: Progress | None) -> None:
        from checker.compile import smt

        self.protocol = protocol
        self._budget = budget
        self._progress = progress
        self._solver_for = smt.Solver
        self._is_normal = smt.is_normal
        self.state = smt.Terms(protocol).arbitrary()
        self.terms = self.state.terms
        self.normal_form = self._keeps_normal_form()

    def certificate(self) -> SymmetryCertificate:
        protocol = self.protocol
        attempts = tuple(attempt for scalarset in protocol.scalarsets for attempt in self._attempts(scalarset))
        return SymmetryCertificate(protocol.content_hash, protocol.scalarsets, self.normal_form, attempts, _SEAL)

    def _attempts(self, scalarset: Scalarset) -> Iterator[Attempt]:
        """The two generators; if one of them is not proved, all swaps that do not follow from proved ones."""
        name, count = scalarset.name, scalarset.count
        tried: dict[Permutation, Attempt] = {}
        for permutation in _generators(name, count):
            yield self._attempt(permutation)
