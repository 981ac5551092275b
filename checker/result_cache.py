"""Results kept between runs, for `gate`: what did not change need not be checked again.

There are two keys. The *cheap* one is made of everything that a result could depend on: the spec, the file of the
user's own policy, and every source of tidegauge. It leads to the content hash of the staged protocol, which costs a
tenth of a second to find out otherwise. The *exact* one is made of that hash and of the engine's sources, without the
Kafka protocol's: so a change of one truncation policy has every spec staged again, and only those searched again whose
protocol it changes.

Only results of complete searches are kept. What comes back is plain data; anything odd about it counts as absent.
"""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from typing import Any, Final

from checker.cache import Cache, engine_hash, key_of, source_hash
from checker.outcome import Explored, InvariantOutcome, Outcome, SymmetryUsed, Verdict
from checker.spec import Spec

_STAGED: Final = "staged"
_RESULTS: Final = "results"
_LIBRARIES: Final = ("llvmlite", "numba", "numpy", "z3-solver")


@dataclass(frozen=True, slots=True)
class Result:
    """What a check found, as plain data: an outcome without traces, and the texts of the traces by invariant.
    `unreduced` is what a second search without symmetry walked, if there was one."""

    outcome: Outcome
    traces: Mapping[str, str] = field(default_factory=dict)
    unreduced: Explored | None = None

    @property
    def is_complete(self) -> bool:
        second = self.unreduced is None or self.unreduced.complete
        return self.outcome.explored.complete and second and not self.outcome.reservations


def identity(spec: Spec) -> str:
    """What is checked, as text: names and numbers, whatever file they come from. Expectations are no part of it."""
    what = [spec.name, spec.model_document(), spec.all_bounds()]
    return json.dumps([*what, spec.invariants, spec.reachable, spec.exact_counts], sort_keys=True)


def cheap_key(spec: Spec, symmetry: str) -> str | None:
    """The key of everything that the staged protocol depends on; none if a file of it cannot be read."""
    try:
        code = [path.read_text(encoding="utf-8") for path in spec.origin.code]
    except (OSError, UnicodeDecodeError):
        return None
    return key_of(source_hash(), _versions(), identity(spec), symmetry, *code)


def exact_key(spec: Spec, symmetry: str, content_hash: str) -> str:
    """The key of everything that the result depends on."""
    return key_of(engine_hash(), _versions(), identity(spec), symmetry, content_hash)


@cache
def _versions() -> str:
    return " ".join(importlib.metadata.version(library) for library in _LIBRARIES)


def known(spec: Spec, symmetry: str, store: Cache) -> Result | None:
    """The result of an earlier run, if nothing at all has changed since. Stages nothing."""
    key = cheap_key(spec, symmetry)
    staged = None if key is None else store.load(_STAGED, key)
    if staged is None:
        return None
    return load(exact_key(spec, symmetry, staged.decode("ascii", "replace")), store)


def keep_hash(key: str, content_hash: str, store: Cache) -> None:
    """Remember which protocol the cheap key leads to."""
    store.store(_STAGED, key, content_hash.encode("ascii"))


def load(key: str, store: Cache) -> Result | None:
    """The result under an exact key."""
    entry = store.load(_RESULTS, key)
    if entry is None:
        return None
    try:
        return _decoded(json.loads(entry))
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def keep(key: str, result: Result, store: Cache) -> None:
    """Keep a result that is complete; others are worth nothing to the next run."""
    if result.is_complete:
        store.store(_RESULTS, key, json.dumps(_encoded(result)).encode("utf-8"))


def _encoded(result: Result) -> dict[str, Any]:
    outcome = result.outcome.without_traces()
    return {
        "explored": asdict(outcome.explored),
        "symmetry": asdict(outcome.symmetry),
        "invariants": [[found.name, found.verdict.value, found.steps] for found in outcome.invariants],
        "witnesses": dict(outcome.witnesses),
        "never_enabled": list(outcome.never_enabled),
        "traces": dict(result.traces),
        "unreduced": None if result.unreduced is None else asdict(result.unreduced),
    }


def _decoded(data: dict[str, Any]) -> Result:
    symmetry = SymmetryUsed(**data["symmetry"])
    outcome = Outcome(
        explored=Explored(**data["explored"]),
        symmetry=replace(symmetry, notes=tuple(symmetry.notes)),
        invariants=tuple(
            InvariantOutcome(name, Verdict(word), None, steps) for name, word, steps in data["invariants"]
        ),
        witnesses=dict(data["witnesses"]),
        never_enabled=tuple(data["never_enabled"]),
    )
    unreduced = None if data["unreduced"] is None else Explored(**data["unreduced"])
    return Result(outcome, dict(data["traces"]), unreduced)
