"""What other programs read: documents in JSON that fit their schemas, and nothing beside them on standard output."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from command_line import FALLS, HOLDS, SMALL, elsewhere, schema, tidegauge


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere(tmp_path, tmp_path_factory.getbasetemp() / "cache", monkeypatch)


def test_json_on_standard_output_is_all_there_is() -> None:
    ended = tidegauge(*FALLS, "--json", "-")
    document = json.loads(ended.out)
    jsonschema.validate(document, schema("result"))
    assert (ended.code, document["verdict"]) == (1, "violated")
    assert document["explored"]["complete"] is True
    assert document["invariants"]["WeakIsr"] == {
        "verdict": "violated",
        "steps": 8,
        "trace": "tidegauge-out/published-truncate-to-high-watermark-WeakIsr.json",
    }
    assert document["invariants"]["LeaderInIsr"] == {"verdict": "holds", "steps": None, "trace": None}


def test_json_in_a_file_leaves_the_report() -> None:
    ended = tidegauge(*HOLDS, "--json", "new/result.json")
    assert "HOLDS" in ended.out
    jsonschema.validate(json.loads(Path("new/result.json").read_text(encoding="utf-8")), schema("result"))


def test_stored_traces_fit_their_schema() -> None:
    tidegauge(*FALLS, "--quiet")
    for path in Path("tidegauge-out").iterdir():
        document = json.loads(path.read_text(encoding="utf-8"))
        jsonschema.validate(document, schema("trace"))
        assert len(document["states"]) == len(document["steps"]) + 1


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        (("list",), "list"),
        (("prove", "kip-320", *SMALL), "proof"),
        ((*HOLDS, "--max-states", "20"), "result"),
        (("compare", "kip-320", "truncate-to-high-watermark", *SMALL), "comparison"),
    ],
)
def test_documents_fit_their_schema(arguments: tuple[str, ...], kind: str) -> None:
    document = json.loads(tidegauge(*arguments, "--json", "-").out)
    jsonschema.validate(document, schema("result"))
    assert document["schema"] == f"tidegauge/{kind}/1"


def test_documents_are_the_same_on_every_run() -> None:
    one, other = (json.loads(tidegauge(*FALLS, "--json", "-").out) for _ in range(2))
    for document in (one, other):
        del document["explored"]["seconds"], document["explored"]["states_per_second"]
    assert json.dumps(one) == json.dumps(other)


@pytest.mark.parametrize("name", ["result", "trace"])
def test_the_schemas_are_schemas(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema(name))


def test_the_schema_refuses_what_is_no_result() -> None:
    document = json.loads(tidegauge(*FALLS, "--json", "-").out)
    document["invariants"]["LeaderInIsr"]["steps"] = 3
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, schema("result"))
