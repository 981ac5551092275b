"""The JSON Schema of spec files, for editors that complete and check TOML.

It is made from the code, so that the two cannot differ: `python -m checker.spec_schema > docs/spec.schema.json`.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import Field, asdict, fields, replace
from typing import Any, Final, TypeAlias

from checker.data import EXAMPLES, shipped_specs
from checker.data import SUFFIX as SPEC_SUFFIX
from checker.kafka_origin import FEATURES, VARIANT
from checker.origin import Vocabulary
from checker.own_invariants import OWN_INVARIANTS
from checker.own_origin import LARGEST, PROTOCOL, REFERENCE
from checker.spec import EXACT, HOLDS, KEYS, LEAST_COUNT, SWEEP, VIOLATED
from checker.spec_file import COUNTS, EXPECT, EXTENDS, INVARIANTS
from checker.vocabulary import vocabulary
from model.errors import ModelError, UsageError
from model.kafka import NAMED_VARIANTS, Bounds, Variant
from model.kafka.policy_file import SUFFIX
from model.kafka.variant import LARGEST_BOUND

Schema: TypeAlias = dict[str, Any]

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

_COUNTED: Final = {
    "distinct": "States, without any reduction.",
    "orbits": "Orbits of states: those that permutations of the replicas turn into one another count once.",
    "depth": "Breadth-first levels; the initial state is at depth 1.",
    "generated": "Successors, the initial state not included.",
}
_BOUNDED: Final = {
    "replicas": "How many replicas there are.",
    "log_size": "How many records one log can hold.",
    "records": "How many records producers may write.",
    "epochs": "How many leader epochs there are: 0, 1, and so on.",
    "crashes": "How often brokers may go down, all together. Only for variants with crashes.",
    "min_insync": "min.insync.replicas. Only for variants that observe producers.",
}


def spec_schema() -> Schema:
    """The whole schema. Names of invariants, witnesses and actions are those of every variant together; which of them
    a spec may use depends on its variant, and that only loading can tell."""
    known = _every_vocabulary()
    keys = _keys()
    return {
        "$schema": DIALECT,
        "title": "tidegauge spec",
        "description": "A variant of the protocol, bounds, what is checked, and what is expected of it.",
        "type": "object",
        "properties": {key: keys[key] for key in KEYS},
        "additionalProperties": False,
        # A spec that extends another may take any key from there.
        "anyOf": [
            {"required": [EXTENDS]},
            {"required": ["title", VARIANT, INVARIANTS]},
            {"required": ["title", PROTOCOL, INVARIANTS]},
        ],
        # Names and bounds of a protocol of one's own are known to its file only.
        "if": {"anyOf": [{"required": [PROTOCOL]}, _perhaps_inherited()]},
        "then": {"not": {"required": [PROTOCOL], "anyOf": [{"required": [key]} for key in (VARIANT, FEATURES)]}},
        "else": {
            "properties": _bounds_of_kafka(known),
            "if": {"required": [OWN_INVARIANTS]},
            "else": {"properties": _promises_of_kafka(known)},
        },
    }


def render() -> str:
    """The text of the schema's file."""
    return json.dumps(spec_schema(), indent=2, ensure_ascii=False) + "\n"


def _keys() -> dict[str, Schema]:
    line = {"type": "string", "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f]*$"}
    return {
        "title": line | {"minLength": 1, "description": "What the spec is, in one line."},
        "source": line | {"description": "Where the rule comes from: a KIP, an issue, a paper."},
        "notes": {"type": "string", "description": "Whatever else a reader should know; several lines are fine."},
        EXTENDS: {
            "type": "string",
            "minLength": 1,
            "description": "Another spec, whose keys count unless this one gives them: a shipped name, or the path of "
            "a .toml file relative to this one. If the protocol or bounds differ, [expect] is not inherited.",
        },
        VARIANT: {"enum": list(NAMED_VARIANTS), "description": "A named combination of rules of the Kafka protocol."},
        PROTOCOL: {
            "type": "string",
            "pattern": REFERENCE,
            "description": "Instead of a variant, a protocol of your own: a Python file beside the spec or below its "
            "folder, and the function in it that returns the protocol, whose parameters are the bounds.",
        },
        OWN_INVARIANTS: {
            "type": "string",
            "pattern": f"{re.escape(SUFFIX)}$",
            "description": "A Python file beside the spec or below its folder, with invariants of your own.",
        },
        INVARIANTS: _names("The promises to check.") | {"minItems": 1},
        "reachable": _names("What must be able to happen, or the result means nothing."),
        "never_enabled": _names("Actions that may stay disabled at these bounds."),
        "bounds": _own_bounds("How large the model is."),
        FEATURES: _table("Single rules in which the spec differs from its variant.", _features()),
        EXPECT: _expect(),
        "gate": _table("What `tidegauge gate` is to do beyond the rule.", {COUNTS: _exact()}),
        "quick": _own_bounds("Smaller bounds for overviews, where they differ from [bounds]."),
        SWEEP: {
            "type": "object",
            "description": "Bounds with several values each: check goes through all combinations.",
            "additionalProperties": {"type": "array", "items": _whole(0), "minItems": 1, "uniqueItems": True},
            "minProperties": 1,
        },
    }


def _perhaps_inherited() -> Schema:
    """Specs that may have a protocol of somebody's own from the one that they extend: a file, or a shipped example."""
    examples = [name for name in shipped_specs() if name.startswith(EXAMPLES)]
    short = [name.rpartition("/")[2] for name in examples]
    base = "|".join([rf".*{re.escape(SPEC_SUFFIX)}", *map(re.escape, (*examples, *short))])
    return {
        "required": [EXTENDS],
        "properties": {EXTENDS: {"pattern": f"^(?:{base})$"}},
        "not": {"required": [VARIANT]},
    }


def _bounds_of_kafka(known: Vocabulary) -> dict[str, Schema]:
    """What is known of bounds and actions in specs of the Kafka protocol."""
    swept = {"propertyNames": {"enum": list(asdict(Bounds()))}}
    actions = {"items": {"enum": list(known.actions)}}
    return {"never_enabled": actions, "bounds": _bounds(), "quick": _bounds(defaults=False), SWEEP: swept}


def _promises_of_kafka(known: Vocabulary) -> dict[str, Schema]:
    """What is known of promises in specs of the Kafka protocol, if they have none of their own."""
    return {
        INVARIANTS: {"items": {"enum": list(known.invariants)}},
        "reachable": {"items": {"enum": list(known.witnesses)}},
        EXPECT: {"propertyNames": {"enum": [*known.invariants, COUNTS]}},
    }


def _table(description: str, properties: dict[str, Schema]) -> Schema:
    return {
        "type": "object",
        "description": description,
        "properties": properties,
        "additionalProperties": False,
    }


def _names(description: str) -> Schema:
    return {"type": "array", "items": {"type": "string"}, "uniqueItems": True, "description": description}


def _own_bounds(description: str) -> Schema:
    return {"type": "object", "description": description, "additionalProperties": _whole(0) | {"maximum": LARGEST}}


def _bounds(defaults: bool = True) -> Schema:
    properties: dict[str, Schema] = {}
    for name, default in asdict(Bounds()).items():
        whole = _whole(_least_bound(name)) | {"maximum": LARGEST_BOUND, "description": _BOUNDED[name]}
        properties[name] = whole | ({"default": default} if defaults else {})
    return {"properties": properties, "additionalProperties": False}


def _least_bound(name: str) -> int:
    try:
        replace(Bounds(), **{name: 0})
    except UsageError:
        return 1
    return 0


def _features() -> dict[str, Schema]:
    return {rule.name: _feature(rule) for rule in fields(Variant)}


def _feature(rule: Field[Any]) -> Schema:
    doc = rule.metadata["doc"]
    choices = {"enum": list(rule.metadata["choices"])}
    own = {"type": "string", "pattern": f"{re.escape(SUFFIX)}$"}
    allowed = {"anyOf": [choices, own]} if rule.name == "truncation" else choices
    return {**allowed, "default": rule.default, "description": f"{doc[:1].upper()}{doc[1:]}."}


def _expect() -> Schema:
    counts = {name: _whole(least) | {"description": _COUNTED[name]} for name, least in LEAST_COUNT.items()}
    table = _table("Exact sizes of the state space.", counts) | {"minProperties": 1}
    return {
        "type": "object",
        "description": "What is expected of each invariant at these bounds.",
        "properties": {COUNTS: table},
        "minProperties": 1,
        "additionalProperties": _expectation(),
    }


def _expectation() -> Schema:
    violated = _table("Violated; the shortest violation has so many steps.", {VIOLATED: _whole(1)})
    return {"oneOf": [{"const": HOLDS}, violated | {"required": [VIOLATED]}]}


def _exact() -> Schema:
    return {"const": EXACT, "description": "Judge every count given, by a second search if need be."}


def _whole(least: int) -> Schema:
    return {"type": "integer", "minimum": least}


def _every_vocabulary() -> Vocabulary:
    """The names of all variants that differ from a named one in one rule and what it needs: no rule goes unseen."""
    found = list(_vocabularies())
    return Vocabulary(
        tuple(dict.fromkeys(name for each in found for name in each.invariants)),
        tuple(dict.fromkeys(name for each in found for name in each.witnesses)),
        {name: parameters for each in found for name, parameters in each.actions.items()},
    )


def _vocabularies() -> Iterator[Vocabulary]:
    for named, change in itertools.product(NAMED_VARIANTS.values(), list(_changes())):
        with contextlib.suppress(UsageError, ModelError):  # these rules do not go together
            yield vocabulary(named.changed(change))


def _changes() -> Iterator[dict[str, str]]:
    """Each choice of each rule, alone and with each of the rules that may have to be there for it."""
    for rule in fields(Variant):
        needs = [_pair(need) for need in rule.metadata["needs"]]
        for choice, needed in itertools.product(rule.metadata["choices"], [{}, *needs]):
            also = rule.metadata["choice_needs"].get(choice)
            yield {**needed, **(_pair(also) if also else {}), rule.name: choice}


def _pair(need: str) -> dict[str, str]:
    feature, _, choice = need.partition("=")
    return {feature: choice}


if __name__ == "__main__":
    sys.stdout.write(render())
