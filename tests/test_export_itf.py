"""ITF: read by `itf-py`, which knows nothing of us, and then equal to the trace."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import itf_py
import pytest
from exports import LENGTHS, trace_of
from little_traces import falling
from pictures import truncated

from checker.export.itf import PICKS, TAKEN, itf
from checker.trace import Trace
from model.language.domains import Domain, Map, Record, Scalar, Sequence, Set, slot_domain
from model.language.evaluate import step_text

DESCRIPTION = 'Something & "something" <else>'

TRACES = {**{f"{states} states": trace_of(states) for states in LENGTHS}, "kafka": truncated()}
each_trace = pytest.mark.parametrize("trace", TRACES.values(), ids=TRACES)


def document(trace: Trace, mbt: bool = False) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(itf(trace, "some/spec", DESCRIPTION, mbt))
    return found


def value(domain: Domain, codes: Iterator[int]) -> Any:
    """The value that a reader should get; a record equals the tuple of its fields."""
    match domain:
        case Record(fields=fields):
            return tuple(value(part, codes) for part in fields.values())
        case Map(key, inner):
            return {scalar(key, code): value(inner, codes) for code in key.codes()}
        case Set(element):
            return frozenset(scalar(element, code) for code in element.codes() if next(codes))
        case Sequence(element, capacity):
            length = next(codes)
            return [value(slot_domain(element), codes) for _ in range(capacity)][:length]
        case Scalar():
            return scalar(domain, next(codes))


def scalar(domain: Scalar, code: int) -> Any:
    if domain.sort == "int":
        return code
    found = domain.to_json(code)
    return "none" if found is None else found


@each_trace
def test_itf_py_reads_the_same_trace(trace: Trace) -> None:
    read = itf_py.trace_from_json(document(trace))
    variables = trace.protocol.variables
    assert read.vars == list(variables)
    for state, found in zip(trace.states, read.states, strict=True):
        codes = iter(state)
        assert found.values == {name: value(domain, codes) for name, domain in variables.items()}


@each_trace
def test_itf_py_writes_it_as_it_was(trace: Trace) -> None:
    for state in document(trace)["states"]:
        for name in trace.protocol.variables:
            again = itf_py.value_to_json(itf_py.value_from_json(state[name]))
            assert in_order(again) == in_order(state[name])


def in_order(value: Any) -> Any:
    """With the elements of every set sorted."""
    if isinstance(value, list):
        return [in_order(each) for each in value]
    if isinstance(value, dict):
        parts = {name: in_order(each) for name, each in value.items()}
        return {"#set": sorted(parts["#set"], key=json.dumps)} if "#set" in parts else parts
    return value


@each_trace
def test_steps_are_told_where_they_lead(trace: Trace) -> None:
    first, *later = document(trace)["states"]
    assert first["#meta"] == {"index": 0}
    for index, (step, sentence, state) in enumerate(zip(trace.steps, trace.sentences(), later, strict=True), start=1):
        meta = state["#meta"]
        assert (meta["index"], meta["action"], meta["sentence"]) == (index, step.action, sentence)
        chosen = {name: itf_py.value_from_json(each) for name, each in meta["parameters"].items()}
        assert step_text(trace.protocol, step) == f"{step.action}({', '.join(f'{k}={v}' for k, v in chosen.items())})"


@each_trace
@pytest.mark.parametrize("mbt", [False, True])
def test_no_number_is_plain(trace: Trace, mbt: bool) -> None:
    for state in document(trace, mbt)["states"]:
        values = [state[name] for name in state if name != "#meta"]
        assert not [leaf for leaf in leaves(values) if isinstance(leaf, int) and not isinstance(leaf, bool)]


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for each in value.values():
            yield from leaves(each)
    elif isinstance(value, list):
        for each in value:
            yield from leaves(each)
    else:
        yield value


def test_what_the_file_is_stands_at_its_head() -> None:
    meta = document(trace_of(2))["#meta"]
    assert meta.pop("varTypes") == {
        "count": "Int",
        "last": "Str",
        "callers": "Set(Str)",
        "table": "(Str -> Int)",
        "ages": "(Int -> Bool)",
        "pair": "{ by: Str, flag: Bool }",
        "log": "Seq({ by: Str, word: Str })",
    }
    assert meta.pop("format-description").startswith("https://")
    assert meta == {"format": "ITF", "source": "some/spec", "status": "violation", "description": DESCRIPTION}


def test_every_kind_of_value() -> None:
    *_, last = document(trace_of(2))["states"]
    assert last["count"] == {"#bigint": "1"}
    assert last["last"] == 'quo"te'
    assert last["callers"] == {"#set": ["A"]}
    assert last["table"] == {"#map": [["A", {"#bigint": "1"}], ["B", {"#bigint": "0"}]]}
    assert last["ages"] == {"#map": [[{"#bigint": str(age)}, False] for age in (-1, 0, 1)]}
    assert last["pair"] == {"by": "A", "flag": True}
    assert last["log"] == []


def test_for_model_based_testing_it_is_written_as_quint_does() -> None:
    first, second = document(trace_of(2), mbt=True)["states"]
    none = {"tag": "None", "value": {"#tup": []}}
    assert (first[TAKEN], first[PICKS]) == ("init", {"client": none, "word": none})
    assert (second[TAKEN], second[PICKS]) == (
        "say",
        {"client": {"tag": "Some", "value": "A"}, "word": {"tag": "Some", "value": 'quo"te'}},
    )
    assert (first["last"], second["last"]) == (none, {"tag": "Some", "value": 'quo"te'})
    assert document(trace_of(2), mbt=True)["vars"][-2:] == [TAKEN, PICKS]


def test_actions_without_parameters_pick_nothing() -> None:
    read = itf_py.trace_from_json(document(falling(2), mbt=True))
    assert [state.values[TAKEN] for state in read.states] == ["init", "count", "count"]
    assert [state.values[PICKS] for state in read.states] == [()] * 3
