"""The gate as a command: what it takes, where its reports go, and what it refuses."""

from __future__ import annotations

import json
import os
from pathlib import Path

import jsonschema
import pytest
from command_line import schema, tidegauge
from gate_specs import (
    CASES,
    FALLING,
    annotations_of,
    by_itself,
    gate,
    junit_of,
    sarif_of,
    write_cases,
    written,
)

from checker.data import shipped_specs
from checker.spec_search import find_specs


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    by_itself(tmp_path, tmp_path_factory.getbasetemp() / "cache", monkeypatch)
    write_cases("specs", ("holds", "unexpectedly-violated", "different-length"))


def test_a_file_name_that_is_not_utf_8(tmp_path: Path) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    for name, text in ((b"a\xff.toml", CASES["malformed"].text), (b"b\xfe.toml", CASES["different-length"].text)):
        (folder / os.fsdecode(name)).write_text(text, encoding="utf-8")
    reports = ("--junit", "o/j.xml", "--sarif", "o/s.sarif", "--summary", "o/s.md", "--json", "o/g.json")
    ended = gate(str(folder), *reports, "--annotations", "github", "--report", "o/odd-pages")
    assert (ended.code, ended.err) == (2, "")
    junit_of(Path("o/j.xml").read_text(encoding="utf-8"))
    assert len(sarif_of(Path("o/s.sarif").read_text(encoding="utf-8"))["runs"][0]["results"]) == 2


def test_paths_are_those_of_the_work_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As GitHub wants them, wherever in the repository the gate is started."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    written("specs/mine.toml", CASES["different-length"].text)
    ended = gate("specs", "--annotations", "github", "--sarif", "s.sarif")
    (annotation,) = annotations_of(ended.out)
    assert annotation.properties["file"] == "sub/specs/mine.toml"
    (result,) = sarif_of(Path("s.sarif").read_text(encoding="utf-8"))["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "sub/specs/mine.toml"
    assert result["properties"]["spec"] == "specs/mine"


def test_reports_go_where_they_are_wanted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    summary = tmp_path / "step-summary.md"
    summary.write_text("before\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    files = ("--junit", "o/j.xml", "--sarif", "o/s.sarif", "--summary", "o/s.md", "--json", "o/g.json")
    ended = gate("specs/unexpectedly-violated.toml", "specs/holds.toml", *files, "--report", "o/pages")
    assert ended.code == 1
    assert "2 specs: 1 as wished and 1 not as wished." in ended.out
    assert [each.properties["line"] for each in annotations_of(ended.out)] == ["13"]
    junit_of(Path("o/j.xml").read_text(encoding="utf-8"))
    sarif_of(Path("o/s.sarif").read_text(encoding="utf-8"))
    jsonschema.validate(json.loads(Path("o/g.json").read_text(encoding="utf-8")), schema("result"))
    assert summary.read_text(encoding="utf-8") == f"before\n{Path('o/s.md').read_text(encoding='utf-8')}"
    pages = Path("o/pages/index.html").read_text(encoding="utf-8")
    assert "WeakIsr is violated in 8 steps; the spec expects: holds" in pages
    assert sorted(path.name for path in Path("tidegauge-out").glob("*unexpectedly*")) == [
        "specs-unexpectedly-violated-WeakIsr.json"
    ]
    assert tidegauge("replay", "tidegauge-out/specs-unexpectedly-violated-WeakIsr.json").code == 0
    assert not annotations_of(gate("specs/unexpectedly-violated.toml", "--annotations", "none").out)


def test_json_on_standard_output_is_all_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    ended = gate("specs/different-length.toml", "--json", "-")
    assert json.loads(ended.out)["exit_code"] == ended.code == 1
    assert len(annotations_of(ended.err)) == 1


def test_a_limit_is_inconclusive() -> None:
    ended = gate("specs/holds.toml", "--max-states", "20", "--no-cache", "--json", "-")
    assert ended.code == 3
    (spec,) = json.loads(ended.out)["specs"]
    assert (spec["status"], spec["cached"]) == ("inconclusive", False)
    kinds = {found["name"]: found["kind"] for found in spec["findings"]}
    assert kinds.pop("SecondElection") == "as wished"  # it was reached before
    assert list(kinds) == ["search", "WeakIsr", "distinct", "orbits", "depth"]
    assert set(kinds.values()) == {"inconclusive"}


def test_without_symmetry_states_are_judged() -> None:
    ended = gate("specs/holds.toml", "--no-symmetry", "--json", "-")
    findings = json.loads(ended.out)["specs"][0]["findings"]
    told = {found["name"]: (found["kind"], found["text"]) for found in findings}
    assert told["distinct"] == ("different counts", "distinct is 277; the spec expects: 1")
    assert "orbits" not in told
    assert ended.code == 1


def test_one_invariant_alone() -> None:
    ended = gate("specs/unexpectedly-violated.toml", "--invariant", "StrongIsr", "--json", "-")
    findings = json.loads(ended.out)["specs"][0]["findings"]
    assert (ended.code, [found["name"] for found in findings]) == (0, ["StrongIsr"])
    ended = gate("specs/holds.toml", "--invariant", "StrongIsr")
    assert (ended.code, "nothing is expected of StrongIsr" in ended.unwrapped) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("empty",), "there is no spec in 'empty'"),
        (("specs", "--shard", "3/2"), "'3/2' names no shard"),
        (("specs", "--yes"), "--yes answers what only --update asks"),
        (("specs", "--update"), "there is nobody to ask"),
        (("specs", "--junit", "specs"), "specs is a directory"),
        (("specs", "--changed-since", "HEAD"), "needs a git work tree, and this is none"),
        (("alike/a/b.toml", "alike/a-b.toml"), "are both called"),
    ],
)
def test_usage(arguments: tuple[str, ...], told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(Path.cwd().parent))
    monkeypatch.setattr("sys.stdin", None)
    Path("empty").mkdir(exist_ok=True)
    for name in ("alike/a/b.toml", "alike/a-b.toml"):
        written(name, CASES["holds"].text)
    ended = gate(*arguments)
    assert ended.code == 2
    assert ended.err.startswith("tidegauge: error: ")
    assert told in ended.err


def test_a_name_that_nothing_has_is_told_beside_the_others() -> None:
    ended = gate("specs/holds.toml", "no-such-spec")
    assert ended.code == 2
    assert "2 specs: 1 as wished and 1 error." in ended.out
    assert "there is no shipped spec and no file 'no-such-spec'" in ended.unwrapped


def test_other_toml_files_are_passed_over_and_told() -> None:
    written("mixed/pyproject.toml", '[project]\nname = "x"\n')
    written("mixed/template.toml", "this is {{ no }} TOML\n")
    written("mixed/.hidden/broken.toml", "variant =\n")
    written("mixed/mine.toml", CASES["holds"].text)
    ended = gate("mixed")
    assert ended.code == 0
    assert "2 TOML files in these directories are no spec." in ended.out


def test_a_spec_is_judged_once_however_it_is_named() -> None:
    search = find_specs(["kip-320", "published/kip-320", "specs/holds.toml", "./specs/../specs/holds.toml"])
    assert [each.name for each in search.specs] == ["published/kip-320", "specs/holds"]


def test_without_names_all_shipped_specs_but_the_slow_ones() -> None:
    names = [each.name for each in find_specs([]).specs]
    assert names == [name for name in shipped_specs() if not name.startswith("slow/")]
    assert FALLING in names
