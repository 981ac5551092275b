"""What is written about the format of specs is true: the JSON Schema in docs/, and the README beside the specs."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import jsonschema
import pytest
from source_tree import ROOT
from spec_files import MISTAKES, broken, written

from checker import data
from checker.spec import Expectation, load_spec
from checker.spec_schema import render
from model.kafka import Bounds

SCHEMA_FILE = ROOT / "docs" / "spec.schema.json"
SCHEMA = jsonschema.Draft202012Validator(json.loads(SCHEMA_FILE.read_text(encoding="utf-8")))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test works in a directory of its own, so that messages name files without their folders."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_schema_in_the_documentation_is_todays() -> None:
    assert SCHEMA_FILE.read_text(encoding="utf-8") == render(), "python -m checker.spec_schema > docs/spec.schema.json"


def test_the_schema_is_one() -> None:
    SCHEMA.check_schema(SCHEMA.schema)


@pytest.mark.parametrize("path", data.shipped_specs().values(), ids=data.shipped_specs())
def test_shipped_specs_satisfy_the_schema(path: Path) -> None:
    SCHEMA.validate(tomllib.loads(path.read_text(encoding="utf-8")))


NOT_IN_THE_SCHEMA = {
    "action of another variant",  # known to some variant
    "expected but not checked",  # keys that depend on others
    "title of spaces",
    "fraction as a bound",  # to JSON, 2.0 is a whole number
    "rules that do not go together",
    "bound without use",
}


@pytest.mark.parametrize("mistake", sorted(MISTAKES.keys() - NOT_IN_THE_SCHEMA))
def test_the_schema_finds_what_loading_refuses(mistake: str) -> None:
    assert not SCHEMA.is_valid(tomllib.loads(broken(mistake)))


def test_the_format_in_the_readme_loads() -> None:
    readme = (ROOT / "specs" / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", readme, re.DOTALL)
    spec = load_spec(written(example))
    assert (spec.expect["WeakIsr"], spec.quick) == (Expectation(13), Bounds(epochs=2))
    assert {*tomllib.loads(example), "protocol", "own_invariants", "sweep"} == set(SCHEMA.schema["properties"])


def test_the_table_in_the_readme_is_true() -> None:
    readme = (ROOT / "specs" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[`(.*?)`\]\((published/.*?)\) \| .*? \| (.*?) \| (.*?) \| (.*?) \|$", readme, re.MULTILINE)
    published = {path for name, path in data.shipped_specs().items() if name.startswith("published/")}
    assert {data.specs_folder() / path for _, path, *_ in rows} == published
    for name, _, weak, strong, states in rows:
        spec = load_spec(name)
        assert [spec.expect[invariant].text.removeprefix("violated in ") for invariant in ("WeakIsr", "StrongIsr")] == [
            weak,
            strong,
        ]
        assert spec.counts is not None
        assert f"{spec.counts.distinct:,}" == states
