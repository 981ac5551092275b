"""The gate as SARIF 2.1.0: what is not as wished, at the lines of the specs, with counterexamples as code flows.

There is a rule for each promise, and one each for counts, witnesses, idle actions, and specs that could not be judged.
Files of the user's repository have paths relative to it (`%SRCROOT%`); the model's, where they are not part of it,
relative to the installed tidegauge (`TIDEGAUGE`).
"""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote

from checker.cache import key_of
from checker.files import readable
from checker.judgement import About, Finding, Gate, Judged
from checker.report.findings import Repository, place_in_spec, title
from model.errors import Place

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
VERSION: Final = "2.1.0"
USERS: Final = "%SRCROOT%"
OURS: Final = "TIDEGAUGE"

Json = dict[str, Any]

_HELP: Final = {
    About.COUNT: ("counts", "The sizes of the state space are those that the spec gives under [expect.counts]."),
    About.WITNESS: ("witnesses", "Whatever the spec names under reachable does happen within its bounds."),
    About.ACTION: ("never-enabled", "Every action is enabled somewhere, but for those named under never_enabled."),
    About.SPEC: ("spec", "The spec can be judged: it is well formed, and its whole state space was searched."),
}


def sarif(gate: Gate, repository: Repository) -> str:
    """The text of the file."""
    rules = _rules(gate)
    numbers = {rule["id"]: number for number, rule in enumerate(rules)}
    results = [_result(judged, found, numbers, repository) for judged in gate.specs for found in judged.surprises]
    run = {
        "tool": {"driver": _driver(rules)},
        "originalUriBaseIds": _bases(),
        "invocations": [{"executionSuccessful": gate.exit_code in (0, 1), "exitCode": gate.exit_code}],
        "results": results,
        "columnKind": "unicodeCodePoints",
    }
    return json.dumps({"$schema": SCHEMA, "version": VERSION, "runs": [run]}, indent=1, ensure_ascii=False) + "\n"


def _driver(rules: list[Json]) -> Json:
    version = importlib.metadata.version("tidegauge")
    return {"name": "tidegauge", "semanticVersion": version, "rules": rules}


def _bases() -> Json:
    return {
        USERS: {"description": {"text": "The repository that the specs are in."}},
        OURS: {"description": {"text": "Where tidegauge is installed."}},
    }


# Rules


def _rules(gate: Gate) -> list[Json]:
    """A rule for each promise of each spec, whether it is kept or not, and the others."""
    found: dict[str, Json] = {}
    for judged in gate.specs:
        for name in judged.spec.invariants if judged.spec else ():
            predicate = judged.predicates.get(name)
            found.setdefault(name, _rule(name, predicate.summary if predicate else ""))
    others = {name: _rule(name, text) for name, text in _HELP.values()}
    return [*dict(sorted(found.items())).values(), *others.values()]


def _rule(name: str, text: str) -> Json:
    told = text or f"The promise {name} is kept as the spec expects."
    return {
        "id": name,
        "name": name,
        "shortDescription": {"text": told},
        "fullDescription": {"text": told},
        "help": {"text": told},
        "defaultConfiguration": {"level": "error"},
    }


def _rule_of(found: Finding) -> str:
    return found.name if found.about is About.INVARIANT else _HELP[found.about][0]


# Results


def _result(judged: Judged, found: Finding, numbers: Mapping[str, int], repository: Repository) -> Json:
    rule = _rule_of(found)
    result = {
        "ruleId": rule,
        "ruleIndex": numbers[rule],
        "level": "warning" if found.is_inconclusive else "error",
        "message": {"text": f"{judged.name}: {found.sentence}"},
        "locations": [_location(place_in_spec(judged, found), repository)],
        "partialFingerprints": {"tidegauge/1": key_of(judged.name, found.about.value, found.name)[:32]},
        "properties": {"spec": judged.name, "kind": found.kind.value, "title": title(judged, found)},
    }
    if found.about is About.INVARIANT:
        related = list(_related(judged, found, repository))
        result |= {"relatedLocations": related} if related else {}
        result |= {"codeFlows": [_flow(judged, found, repository)]} if _has_steps(judged, found) else {}
    return result


def _related(judged: Judged, found: Finding, repository: Repository) -> Iterator[Json]:
    """The line of the promise, and the file of the user's own policy."""
    predicate = judged.predicates.get(found.name)
    told = [(predicate.place if predicate else None, f"The promise {found.name}")]
    policy = judged.spec.policy if judged.spec else None
    told.append((None if policy is None else Place(str(policy), 0), "The truncation policy"))
    places = [(place, text) for place, text in told if place is not None]
    for number, (place, text) in enumerate(places, start=1):
        yield {"id": number, **_location(place, repository), "message": {"text": text}}


def _has_steps(judged: Judged, found: Finding) -> bool:
    return found.name in judged.told and bool(judged.told[found.name].sentences)


def _flow(judged: Judged, found: Finding, repository: Repository) -> Json:
    """One location for each step: the line of its action, with the sentence that the step says."""
    told = judged.told[found.name]
    steps = zip(told.sentences, told.places, strict=True)
    locations = []
    for number, (sentence, place) in enumerate(steps, start=1):
        location = _location(place or place_in_spec(judged, found), repository)
        locations.append({"location": {**location, "message": {"text": sentence}}, "executionOrder": number})
    return {"message": {"text": told.failing or found.sentence}, "threadFlows": [{"locations": locations}]}


def _location(place: Place, repository: Repository) -> Json:
    path = repository.path(place.file)
    base, uri = (USERS, path) if path is not None else (OURS, place.portable.rpartition(":")[0])
    physical: Json = {"artifactLocation": {"uri": quote(readable(uri)), "uriBaseId": base}}
    if place.line:
        physical["region"] = {"startLine": place.line}
    return {"physicalLocation": physical}
