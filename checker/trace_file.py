"""Traces as JSON files (schema `tidegauge/trace/1`): stored, loaded, and replayed against today's model.

A file says which model it is about (a variant and features, or a protocol of somebody's own; and bounds) and carries
that model's content hash. Loading stages today's model and replays the steps; the states in the file are compared with
what the replay gives. So a trace from an older model is either confirmed, with a warning, or refused at the first step
that no longer applies.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from checker.files import write_text
from checker.origin import NOTHING_ADMITTED, Admitted
from checker.own_origin import PROTOCOL
from checker.spec import Spec, spec_for_trace
from checker.trace import Trace, replay
from model.errors import ModelError, ModelFault, Place, StaleTraceError, TidegaugeError, TraceError, nearest
from model.language.protocol import Predicate, Protocol, State, Step
from model.language.show import from_json, to_json

SCHEMA = "tidegauge/trace/1"
_KEYS = ("schema", "model_hash", "spec", "bounds", "invariant", "steps", "states")
_OF_KAFKA = ("variant", "features")  # or else `protocol`
LARGEST_FILE = 64 * 2**20


@dataclass(frozen=True, slots=True)
class StoredTrace:
    """A trace that today's model confirms. `warning` is empty if the model is the one that the trace was found in."""

    trace: Trace
    spec: Spec
    warning: str


def file_name(spec: Spec, invariant: str) -> str:
    """`published-kip-279-WeakIsr.json`."""
    return f"{spec.name}-{invariant}.json".replace("/", "-")


def to_document(trace: Trace, spec: Spec) -> dict[str, Any]:
    """The JSON document of a trace."""
    reason = trace.reason()
    return {
        "schema": SCHEMA,
        "model_hash": trace.model_hash,
        "spec": spec.name,
        **spec.model_document(),
        "bounds": spec.all_bounds(),
        "invariant": trace.predicate.name,
        "steps": [{"action": s.action, "parameters": _parameters(trace.protocol, s)} for s in trace.steps],
        "states": [to_json(trace.protocol, state) for state in trace.states],
        "failing": {
            "where": reason.where,
            "text": reason.text,
            "bindings": {binding.name: binding.shown for binding in reason.bindings},
            "values": {reading.path: reading.value for reading in reason.readings},
        },
    }


def _parameters(protocol: Protocol, step: Step) -> dict[str, Any]:
    parameters = protocol.action_named[step.action].parameters
    return {p.name: p.domain.to_json(code) for p, code in zip(parameters, step.arguments, strict=True)}


def render(trace: Trace, spec: Spec) -> str:
    """The text of a trace file; the same bytes for the same trace, everywhere."""
    return json.dumps(to_document(trace, spec), indent=1, ensure_ascii=False) + "\n"


def crashes_told(text: str) -> int:
    """How many of the crashes that the bounds allow happen in a trace, by the text of its file."""
    told = json.loads(text)
    allowed, left = told["bounds"].get("crashes"), told["states"][-1].get("crashes_left")
    return allowed - left if isinstance(allowed, int) and isinstance(left, int) else 0


def save(trace: Trace, spec: Spec, directory: Path) -> Path:
    """Store a trace. Raises `OutputError`; nothing half-written is left behind."""
    path = directory / file_name(spec, trace.predicate.name)
    write_text(path, render(trace, spec))
    return path


def load(path: Path, admitted: Admitted = NOTHING_ADMITTED) -> StoredTrace:
    """Read a trace and replay it. `admitted` are the files of the user's own that it tells of. Raises `TraceError` with
    the trace's name for whatever does not fit, `ModelError` for a mistake in such a file.
    """
    document = _read(path)
    try:
        return _replayed(document, spec_for_trace(document, admitted))
    except TidegaugeError as error:
        if admitted != NOTHING_ADMITTED and isinstance(error, ModelError):
            raise  # it knows its own line
        kind = StaleTraceError if isinstance(error, StaleTraceError | ModelFault) else TraceError
        raise kind(error.what, where=Place(str(path), 0), why=error.why, instead=error.instead) from error


def reread(text: str, spec: Spec) -> StoredTrace:
    """The trace that was just found in `spec`, from the text of its file: a process hands on text only."""
    return _replayed(json.loads(text), spec)


def _read(path: Path) -> dict[str, Any]:
    where = Place(str(path), 0)
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise TraceError("the file is far too large for a trace", where=where)
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TraceError(f"the trace cannot be read: {error.strerror or error}", where=where) from error
    except UnicodeDecodeError as error:
        raise TraceError("the file is not UTF-8 text, so it is no trace", where=where) from error
    except json.JSONDecodeError as error:
        raise TraceError(f"the file is not JSON: {error.msg}", where=Place(str(path), error.lineno)) from error
    except (RecursionError, ValueError) as error:
        raise TraceError("the file is not a trace: its JSON cannot be read", where=where) from error
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise TraceError(f"the file is not a trace of schema {SCHEMA}", where=where)
    wanted = _KEYS if PROTOCOL in document else (*_KEYS[:3], *_OF_KAFKA, *_KEYS[3:])
    missing = [key for key in wanted if key not in document]
    if missing:
        raise TraceError(f"the trace lacks {', '.join(missing)}", where=where, instead="Store it again with check")
    return document


def _replayed(document: dict[str, Any], spec: Spec) -> StoredTrace:
    protocol = spec.full_protocol()
    predicate = _predicate(protocol, document["invariant"])
    states = _states(protocol, document["states"])
    steps = [_step(protocol, position, item) for position, item in enumerate(_list(document, "steps"), start=1)]
    trace = replay(protocol, predicate, states[0], steps)
    warning = _compared(document, trace, states)
    if not trace.is_counterexample:
        raise StaleTraceError(f"the steps still apply, but {predicate.name} holds at their end in today's model")
    return StoredTrace(trace, spec, warning)


def _compared(document: dict[str, Any], trace: Trace, states: list[State]) -> str:
    same_model = document["model_hash"] == trace.model_hash
    if tuple(states) == trace.states:
        return "" if same_model else "The model has changed since this trace was stored; its steps still apply."
    if same_model:
        raise TraceError("the states in the file are not what its steps lead to: the file was altered")
    return "The model has changed since this trace was stored; its steps still apply, but lead to other states."


def _predicate(protocol: Protocol, name: Any) -> Predicate:
    for invariant in protocol.invariants:
        if invariant.name == name:
            return invariant
    raise StaleTraceError(f"there is no invariant {name!r}", instead=nearest(str(name), protocol.invariant_names))


def _list(document: dict[str, Any], key: str) -> list[Any]:
    items = document[key]
    if not isinstance(items, list):
        raise TraceError(f"{key} is not a list")
    return items


def _states(protocol: Protocol, items: Any) -> list[State]:
    if not isinstance(items, list) or not items:
        raise TraceError("states is not a list of at least one state")
    found = []
    for position, data in enumerate(items):
        try:
            found.append(from_json(protocol, data))
        except ValueError as error:
            raise StaleTraceError(f"state {position} does not fit today's model: {error}") from error
    return found


def _step(protocol: Protocol, position: int, item: Any) -> Step:
    """The step that an entry of the file names."""
    if not isinstance(item, dict) or set(item) != {"action", "parameters"} or not isinstance(item["parameters"], dict):
        raise TraceError(f"step {position} needs exactly action and parameters")
    action = protocol.action_named.get(item["action"]) if isinstance(item["action"], str) else None
    if action is None:
        known = nearest(str(item["action"]), protocol.action_named)
        what = f"step {position} takes an action {item['action']!r} that today's model lacks"
        raise StaleTraceError(what, instead=known)
    if set(item["parameters"]) != {parameter.name for parameter in action.parameters}:
        raise StaleTraceError(f"step {position}: {action.name} has other parameters today")
    try:
        arguments = tuple(p.domain.code_of(item["parameters"][p.name]) for p in action.parameters)
    except ValueError as error:
        raise StaleTraceError(f"step {position}: {error}") from error
    number = protocol.step_numbers.get((action.name, arguments))
    if number is None:
        raise StaleTraceError(f"step {position}: {action.name} is impossible with these parameters in today's model")
    return protocol.steps[number]
