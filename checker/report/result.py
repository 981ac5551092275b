"""The documents that other programs read: of one check, of a comparison, of a proof, of the shipped specs.

Their form is fixed by `docs/result.schema.json` and by the name and number under `schema`; keys may be added to a
version, never changed or removed. All but the times are the same on every run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from checker.outcome import InvariantOutcome, Outcome
from checker.prove.certificate import Attempt, Finding, Obligation
from checker.report.coverage import coverage_document, threats_document
from checker.report.proof import Proof
from checker.report.subject import Expected, Subject, surprise
from checker.report.table import Compared
from model.language.protocol import Permutation

RESULT: Final = "tidegauge/result/1"
COMPARISON: Final = "tidegauge/comparison/1"
PROOF: Final = "tidegauge/proof/1"
LIST: Final = "tidegauge/list/1"


def render(document: Mapping[str, Any]) -> str:
    """The text of a document."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def result_document(subject: Subject, outcome: Outcome, stored: Mapping[str, Path]) -> dict[str, Any]:
    """What `check` found. `stored` says where the trace of each violated invariant is."""
    vacuity = {**coverage_document(outcome.coverage), **threats_document(outcome.threats)}
    return {"schema": RESULT, **_result(subject, outcome, stored), **vacuity}


def comparison_document(rows: Sequence[Compared], stored: Mapping[str, Mapping[str, Path]]) -> dict[str, Any]:
    """What `compare` found: a result for each spec, with what was expected. `stored` is by spec and invariant."""
    return {
        "schema": COMPARISON,
        "invariants": list(dict.fromkeys(found.name for row in rows for found in row.outcome.invariants)),
        "results": [compared_document(row, stored.get(row.spec.name, {})) for row in rows],
    }


def proof_document(subject: Subject, proof: Proof, naming: Callable[[Permutation], str]) -> dict[str, Any]:
    """What `prove` found; `naming` puts a permutation into words."""
    certificate = proof.certificate
    return {
        "schema": PROOF,
        **_model(subject),
        "symmetry": {"group": certificate.group.name, "order": certificate.group.order},
        "permutations": [_attempt(attempt, naming) for attempt in certificate.attempts],
        "refuted": [str(refutation) for refutation in proof.refutations],
        "unknown": list(proof.unknowns),
    }


def list_document(subjects: Sequence[Subject]) -> dict[str, Any]:
    """The specs that `list` names."""
    return {
        "schema": LIST,
        "specs": [
            {
                **_model(subject),
                "title": subject.title,
                "invariants": list(subject.invariants),
                "expect": {name: _expected(expected) for name, expected in subject.expect.items()},
            }
            for subject in subjects
        ],
    }


def _model(subject: Subject) -> dict[str, Any]:
    return {
        "spec": subject.name,
        **subject.model_document(),
        "bounds": subject.all_bounds(),
    }


def _result(subject: Subject, outcome: Outcome, stored: Mapping[str, Path]) -> dict[str, Any]:
    return {
        **_model(subject),
        "verdict": outcome.verdict.value,
        "explored": _explored(outcome),
        "symmetry": {
            "group": outcome.symmetry.group,
            "order": outcome.symmetry.order,
            "proved": outcome.symmetry.proved,
            "notes": list(outcome.symmetry.notes),
        },
        "reductions": [],
        "invariants": {found.name: _invariant(found, stored.get(found.name)) for found in outcome.invariants},
        "witnesses": dict(outcome.witnesses),
        "never_enabled": list(outcome.never_enabled),
        "doubts": list(outcome.doubts),
    }


def _explored(outcome: Outcome) -> dict[str, Any]:
    explored = outcome.explored
    return {
        "distinct": explored.distinct,
        "generated": explored.generated,
        "depth": explored.depth,
        "complete": explored.complete,
        "stopped": explored.stopped,
        "seconds": round(explored.seconds, 6),
        "states_per_second": explored.states_per_second,
    }


def _invariant(found: InvariantOutcome, path: Path | None) -> dict[str, Any]:
    return {
        "verdict": found.verdict.value,
        "steps": found.steps,
        "trace": None if path is None else path.as_posix(),
    }


def compared_document(row: Compared, stored: Mapping[str, Path]) -> dict[str, Any]:
    return {
        **_result(row.spec, row.outcome, stored),
        "expect": {name: _expected(expected) for name, expected in row.spec.expect.items()},
        "as_expected": not any(surprise(row.spec, found) for found in row.outcome.invariants),
    }


def _expected(expected: Expected) -> dict[str, Any]:
    return {"verdict": expected.verdict.value, "steps": expected.steps}


def _attempt(attempt: Attempt, naming: Callable[[Permutation], str]) -> dict[str, Any]:
    return {
        "permutation": naming(attempt.permutation),
        "scalarset": attempt.permutation.scalarset,
        "image": list(attempt.permutation.image),
        "finding": attempt.finding.value,
        "seconds": round(attempt.seconds, 3),
        "obligations": [_obligation(obligation) for obligation in attempt.obligations],
    }


def _obligation(obligation: Obligation) -> dict[str, Any]:
    reason = {"reason": obligation.reason} if obligation.finding is Finding.UNKNOWN else {}
    return {
        "kind": obligation.kind.value,
        "name": obligation.name,
        "count": obligation.count,
        "finding": obligation.finding.value,
        **reason,
    }
