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
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import TypeAlias

from checker.cache import NO_CACHE, Cache, key_of, source_hash
from checker.prove.certificate import (
    _SEAL,
    Attempt,
    Finding,
    Kind,
    SymmetryCertificate,
    attempts_from_json,
    attempts_to_json,
    components,
    rotation,
    swap,
)
from checker.prove.refutation import Refutation, Renaming, is_harm, told
from model.language.domains import Scalarset
from model.language.protocol import Permutation, Protocol

#: z3's resource units for each permutation tried; kip-320 with five replicas takes less than one million,
#: and thirty million last about ten seconds.
BUDGET = 30_000_000

#: Told, in words, which permutation is tried next.
Progress: TypeAlias = Callable[[str], None]


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

    `budget` (at least 1) is in z3's resource units, for each permutation tried; what does not fit into it counts as not
    proved. Raises `InternalError` if z3 refutes something and the evaluator does not agree, `KeyboardInterrupt` on
    Ctrl-C; nothing is stored then.
    """
    key = _key(protocol, budget)
    stored = _loaded(protocol, cache.load("symmetry", key))
    certificate = stored or _proved(protocol, budget, progress)
    if stored is None:
        cache.store("symmetry", key, _stored_form(certificate))
    return _report(protocol, certificate, from_cache=stored is not None)


def _report(protocol: Protocol, certificate: SymmetryCertificate, from_cache: bool) -> SymmetryReport:
    missing = (each for each in certificate.attempts if each.permutation not in certificate.group)
    parts = [(attempt.permutation, part) for attempt in missing for part in attempt.obligations]
    refuted = (told(protocol, permutation, part) for permutation, part in parts if part.finding is Finding.REFUTED)
    unknown = (
        f"{Renaming(protocol, permutation).doing}: not known for {part.kind.value} {part.name}, {part.reason}"
        for permutation, part in parts
        if part.finding is Finding.UNKNOWN
    )
    return SymmetryReport(certificate, tuple(refuted), tuple(unknown), from_cache)


def _proved(protocol: Protocol, budget: int, progress: Progress | None) -> SymmetryCertificate:
    """Loads z3 only if there is something to permute."""
    if all(scalarset.count < 2 for scalarset in protocol.scalarsets):
        return _issued(protocol, normal_form=False, attempts=())
    from checker.prove.equivariance import Equivariance

    equivariance = Equivariance(protocol, budget)

    def attempt(permutation: Permutation) -> Attempt:
        if progress is not None:
            progress(Renaming(protocol, permutation).doing)
        return equivariance.attempt(permutation)

    attempts = tuple(made for scalarset in protocol.scalarsets for made in _attempts(scalarset, attempt))
    return _issued(protocol, equivariance.states.normal_form, attempts)


def _attempts(scalarset: Scalarset, attempt: Callable[[Permutation], Attempt]) -> Iterator[Attempt]:
    """The generators until one is not proved; then the swaps that do not follow from those proved so far."""
    tried: dict[Permutation, Finding] = {}
    for permutation in _plan(scalarset, tried):
        made = attempt(permutation)
        tried[permutation] = made.finding
        yield made


def _plan(scalarset: Scalarset, tried: dict[Permutation, Finding]) -> Iterator[Permutation]:
    """What to try next, given what came out of what was tried before."""
    name, count = scalarset.name, scalarset.count
    generators = [swap(name, count, 0, 1), rotation(name, count)] if count > 2 else [swap(name, 2, 0, 1)][: count - 1]
    for generator in generators:
        yield generator
        if tried[generator] is not Finding.PROVED:
            break
    for pair in combinations(range(count), 2):
        if swap(name, count, *pair) not in tried and not _tied(scalarset, tried, pair):
            yield swap(name, count, *pair)


def _tied(scalarset: Scalarset, tried: dict[Permutation, Finding], pair: tuple[int, int]) -> bool:
    """Whether swapping the two already follows."""
    proved = [permutation for permutation, finding in tried.items() if finding is Finding.PROVED]
    return any(set(pair) <= set(part.members) for part in components(scalarset, proved))


def _issued(protocol: Protocol, normal_form: bool, attempts: tuple[Attempt, ...]) -> SymmetryCertificate:
    return SymmetryCertificate(protocol.content_hash, protocol.scalarsets, normal_form, attempts, _SEAL)


# Certificates kept between runs. Anything odd about a stored one, and it is proved afresh.


def _key(protocol: Protocol, budget: int) -> str:
    """Depends on the protocol, on what its actions' parameters range over, on this tool's sources and on z3."""
    domains = [str((action.name, action.parameters)) for action in protocol.actions]
    z3_version = importlib.metadata.version("z3-solver")
    return key_of(protocol.content_hash, str(protocol.scalarsets), *domains, source_hash(), z3_version, str(budget))


def _stored_form(certificate: SymmetryCertificate) -> bytes:
    attempts = attempts_to_json(certificate.attempts)
    return json.dumps({"normal_form": certificate.normal_form, "attempts": attempts}).encode()


def _loaded(protocol: Protocol, content: bytes | None) -> SymmetryCertificate | None:
    if content is None:
        return None
    try:
        stored = json.loads(content)
        certificate = _issued(protocol, bool(stored["normal_form"]), attempts_from_json(stored["attempts"]))
        return certificate if _fits(protocol, certificate.attempts) else None
    except (IndexError, KeyError, TypeError, ValueError):
        return None


def _fits(protocol: Protocol, attempts: tuple[Attempt, ...]) -> bool:
    """Whether the attempts are those that would be made, cover the whole protocol, and refute what they say."""
    stored = {attempt.permutation: attempt for attempt in attempts}
    planned = [made for scalarset in protocol.scalarsets for made in _attempts(scalarset, stored.__getitem__)]
    return planned == list(attempts) and all(_covers(protocol, attempt) for attempt in attempts)


def _covers(protocol: Protocol, attempt: Attempt) -> bool:
    covered = [(part.kind, part.name, part.count) for part in attempt.obligations]
    refuted = [part for part in attempt.obligations if part.finding is Finding.REFUTED]
    renaming = Renaming(protocol, attempt.permutation)
    return covered == list(_parts(protocol)) and all(is_harm(renaming, part) for part in refuted)


def _parts(protocol: Protocol) -> Iterator[tuple[Kind, str, int]]:
    """Everything that must not notice a permutation."""
    yield Kind.INITIAL, "", len(protocol.initial)
    for action in protocol.actions:
        yield Kind.ACTION, action.name, sum(step.action == action.name for step in protocol.steps)
    yield from ((Kind.INVARIANT, predicate.name, 1) for predicate in protocol.invariants)
    yield from ((Kind.WITNESS, predicate.name, 1) for predicate in protocol.witnesses)
