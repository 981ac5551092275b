"""The gate: every way in which a spec can end, with its exit code, in every format."""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import jsonschema
import pytest
from command_line import schema, tidegauge
from gate_specs import (
    CASES,
    COUNTS,
    annotations_of,
    by_itself,
    junit_of,
    line_of,
    sarif_of,
    spec_text,
    write_cases,
    written,
)
from junitparser import JUnitXml

import checker.gate
from checker.cache import DIRECTORY_VARIABLE
from checker.gate import Checked, check_one, load_all, run_gate
from checker.judgement import About, Finding, Gate, Judged, Kind, judge
from checker.outcome import Explored, InvariantOutcome, Outcome, SymmetryUsed, Verdict
from checker.report.annotations import github_annotations
from checker.report.findings import Repository
from checker.report.gate import gate_document, gate_lines
from checker.report.junit import junit
from checker.report.markdown import code, escaped, markdown
from checker.report.sarif import sarif
from checker.report.story import text_of
from checker.run import DEFAULTS
from checker.spec import Spec, load_spec
from checker.spec_search import find_specs
from model.errors import InternalError, Place


@dataclass(frozen=True)
class Judgement:
    """The cases, judged in one run, and the folder they are in."""

    folder: Path
    gate: Gate

    def alone(self, name: str) -> Gate:
        """A gate that has judged nothing but this case."""
        return Gate(tuple(judged for judged in self.gate.specs if judged.name == f"specs/{name}"))


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judgement]:
    folder = tmp_path_factory.mktemp("gate")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv(DIRECTORY_VARIABLE, str(tmp_path_factory.getbasetemp() / "cache"))
        write_cases("specs")
        yield Judgement(folder, run_gate(load_all(find_specs(["specs"]).specs)))


@pytest.fixture(autouse=True)
def _elsewhere(judged: Judgement, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    by_itself(judged.folder, tmp_path_factory.getbasetemp() / "cache", monkeypatch)


@pytest.fixture
def repository(judged: Judgement) -> Repository:
    return Repository(os.path.realpath(judged.folder))


#: What has one case in JUnit for all findings of its kind.
TOGETHER = {
    "different counts": "counts",
    "witness not reached": "witnesses",
    "action never enabled": "never enabled",
    "action enabled after all": "never enabled",
}


@pytest.mark.parametrize("name", CASES)
class TestEveryOutcomeInEveryFormat:
    def test_findings_and_exit_code(self, name: str, judged: Judgement) -> None:
        alone = judged.alone(name)
        (spec,) = alone.specs
        assert alone.exit_code == CASES[name].code
        assert [(each.kind.value, each.name) for each in spec.surprises] == [
            (kind, about) for kind, about, _ in CASES[name].surprises
        ]
        for found, (_, _, blamed) in zip(spec.surprises, CASES[name].surprises, strict=True):
            assert found.place is not None
            assert found.place.file == f"specs/{name}.toml"
            assert blamed in line_of(found.place.file, found.place.line)

    def test_text(self, name: str, judged: Judgement, repository: Repository) -> None:
        alone = judged.alone(name)
        for width in (80, 120):
            lines = gate_lines(alone, {}, repository, width)
            assert max(len(line.text) for line in lines) <= width
            text = " ".join(text_of(lines).split())
            assert all(f"{kind}: " in text for kind, _, _ in CASES[name].surprises)
            assert all(" ".join(each.sentence.split()) in text for each in alone.specs[0].surprises)
        if not CASES[name].code:
            assert len(lines) == 3  # the spec, nothing, the totals

    def test_json(self, name: str, judged: Judgement, repository: Repository) -> None:
        document = gate_document(judged.alone(name), {}, repository)
        jsonschema.validate(document, schema("result"))
        (spec,) = document["specs"]
        assert document["exit_code"] == spec["exit_code"] == CASES[name].code
        surprises = [found for found in spec["findings"] if found["kind"] != "as wished"]
        assert [(found["kind"], found["name"]) for found in surprises] == [
            (kind, about) for kind, about, _ in CASES[name].surprises
        ]
        assert (spec["result"] is None) is (CASES[name].code == 2)

    def test_junit(self, name: str, judged: Judgement, repository: Repository, tmp_path: Path) -> None:
        text = junit(judged.alone(name), repository)
        junit_of(text)
        path = tmp_path / "junit.xml"
        path.write_text(text, encoding="utf-8")
        (suite,) = JUnitXml.fromfile(str(path))
        assert suite.name == f"specs/{name}"
        bad = [case.name for case in suite for _ in case.result]
        wanted = dict.fromkeys(TOGETHER.get(kind, about) for kind, about, _ in CASES[name].surprises)
        assert bad == list(wanted)
        assert all(case.classname == f"specs/{name}" for case in suite)
        assert (suite.failures, suite.errors) == ((0, len(bad)) if CASES[name].code == 2 else (len(bad), 0))

    def test_sarif(self, name: str, judged: Judgement, repository: Repository) -> None:
        document = sarif_of(sarif(judged.alone(name), repository))
        (run,) = document["runs"]
        rules = run["tool"]["driver"]["rules"]
        assert len(run["results"]) == len(CASES[name].surprises)
        for result, (kind, about, blamed) in zip(run["results"], CASES[name].surprises, strict=True):
            assert result["properties"]["kind"] == kind
            assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
            assert result["level"] == "error"
            (location,) = result["locations"]
            physical = location["physicalLocation"]
            assert physical["artifactLocation"] == {"uri": f"specs/{name}.toml", "uriBaseId": "%SRCROOT%"}
            assert blamed in line_of(f"specs/{name}.toml", physical["region"]["startLine"])
            assert about in result["message"]["text"] or kind == "error"
        assert run["invocations"][0]["exitCode"] == CASES[name].code

    def test_annotations(self, name: str, judged: Judgement, repository: Repository) -> None:
        found = annotations_of(github_annotations(judged.alone(name), repository))
        assert len(found) == len(CASES[name].surprises)
        for each, (kind, _, blamed) in zip(found, CASES[name].surprises, strict=True):
            assert each.level == "error"
            assert each.properties["file"] == f"specs/{name}.toml"
            assert blamed in line_of(each.properties["file"], int(each.properties["line"]))
            assert each.properties["title"].endswith(kind)

    def test_markdown(self, name: str, judged: Judgement, repository: Repository) -> None:
        text = markdown(judged.alone(name), repository)
        assert text.startswith("## tidegauge gate\n\n1 spec: 1 ")
        assert re.findall(r"^- \*\*(.*?)\*\*: ", text, re.MULTILINE) == [kind for kind, _, _ in CASES[name].surprises]
        assert (f"| ✅ | `specs/{name}` | as wished |" in text) is (CASES[name].code == 0)


# All of them together


def test_a_broken_spec_hides_no_other(judged: Judgement) -> None:
    assert len(judged.gate.specs) == len(CASES)
    assert [each.name for each in judged.gate.specs] == sorted(f"specs/{name}" for name in CASES)
    assert judged.gate.exit_code == 2
    ended = tidegauge("gate", "specs", "--quiet", "--json", "all.json")
    assert (ended.code, ended.out) == (2, "")
    document = json.loads(Path("all.json").read_text(encoding="utf-8"))
    assert {each["spec"]: each["exit_code"] for each in document["specs"]} == {
        f"specs/{name}": case.code for name, case in CASES.items()
    }
    assert all(each["cached"] for each in document["specs"] if each["exit_code"] != 2)


@pytest.mark.parametrize(
    ("codes", "wins"),
    [((0, 0), 0), ((0, 3), 3), ((3, 1, 0), 1), ((1, 3, 2), 2), ((1, 2, 3, 70, 0), 70), ((), 0)],
)
def test_which_exit_code_wins(codes: tuple[int, ...], wins: int) -> None:
    kinds = {0: Kind.AS_WISHED, 1: Kind.LENGTH, 2: Kind.ERROR, 3: Kind.INCONCLUSIVE, 70: Kind.ERROR}
    specs = [
        Judged(str(code), "x.toml", (Finding(About.SPEC, "x", kinds[code], "x"),), code=code if code in (2, 70) else 0)
        for code in codes
    ]
    assert Gate(tuple(specs)).exit_code == wins


def test_a_story_in_every_format(judged: Judgement, repository: Repository) -> None:
    alone = judged.alone("unexpectedly-violated")
    cut = "B becomes follower of A in epoch 1 and truncates its log from 1 to 0"
    last = f"{cut}, dropping m0, which A counts as committed."
    (result,) = sarif_of(sarif(alone, repository))["runs"][0]["results"]
    steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
    assert len(steps) == 8
    assert steps[-1]["location"]["message"]["text"] == last
    assert steps[-1]["location"]["physicalLocation"]["artifactLocation"]["uri"] == "model/kafka/follower.py"
    (related,) = result["relatedLocations"]
    assert related["physicalLocation"]["artifactLocation"] == {
        "uri": "model/kafka/invariants.py",
        "uriBaseId": "TIDEGAUGE",
    }
    (annotation,) = annotations_of(github_annotations(alone, repository))
    assert annotation.message.splitlines()[-1] == f"8. {last}"
    case = junit_of(junit(alone, repository)).find(".//failure/..")
    assert case is not None
    assert case.get("name") == "WeakIsr"
    told = case[0].text or ""
    assert told.startswith(
        "specs/unexpectedly-violated.toml:13: WeakIsr is violated in 8 steps; the spec expects: holds\n"
    )
    assert "Why WeakIsr fails here" in told
    assert "Why WeakIsr fails here" in markdown(alone, repository)
    assert "Why WeakIsr fails here" in text_of(gate_lines(alone, {}, repository, 80))
    (spec,) = gate_document(alone, {}, repository)["specs"]
    assert [found["steps"][-1] for found in spec["findings"] if found["steps"]] == [last]


def test_a_rule_for_each_promise_with_its_words(judged: Judgement, repository: Repository) -> None:
    (run,) = sarif_of(sarif(judged.gate, repository))["runs"]
    rules = {rule["id"]: rule["help"]["text"] for rule in run["tool"]["driver"]["rules"]}
    assert list(rules) == ["NoAcknowledgedLoss", "StrongIsr", "WeakIsr", "counts", "witnesses", "never-enabled", "spec"]
    assert rules["WeakIsr"].startswith("Whoever presumes leadership agrees, below its high watermark")


# What no spec of this folder does


def _facts(**changes: object) -> Outcome:
    explored = Explored(distinct=139, generated=234, depth=12, complete=True, stopped=None, seconds=0.1)
    invariants = (InvariantOutcome("WeakIsr", Verdict.HOLDS),)
    explored = replace(explored, **changes)  # type: ignore[arg-type]  # whatever fields it has
    return Outcome(explored, SymmetryUsed("Sym(2)", 2, True), invariants, {}, ())


def _spec(text: str) -> Spec:
    return load_spec(written("alone/mine.toml", text))


def _kinds(findings: tuple[Finding, ...]) -> list[tuple[str, str]]:
    return [(found.kind.value, found.name) for found in findings]


def test_nothing_can_happen_is_inconclusive() -> None:
    spec = _spec(spec_text('WeakIsr = "holds"\n'))
    for nothing in ({"distinct": 1, "generated": 3, "single": True}, {"generated": 0}):
        assert _kinds(judge(spec, _facts(**nothing))) == [("inconclusive", "search"), ("inconclusive", "WeakIsr")]


def test_a_limit_is_inconclusive_even_if_all_that_was_expected_was_found() -> None:
    spec = _spec(spec_text(f"WeakIsr = {{ violated = 8 }}\n{COUNTS}orbits = 139\n", head='never_enabled = ["write"]'))
    outcome = _facts(complete=False, stopped="the time limit was reached")
    outcome = replace(outcome, invariants=(InvariantOutcome("WeakIsr", Verdict.VIOLATED, None, 8),))
    assert _kinds(judge(spec, outcome)) == [
        ("inconclusive", "search"),
        ("as wished", "WeakIsr"),
        ("inconclusive", "orbits"),
        ("inconclusive", "write"),
    ]


def test_exact_counts_that_no_search_yields_are_inconclusive() -> None:
    spec = _spec(spec_text(f'WeakIsr = "holds"\n{COUNTS}orbits = 139\n[gate]\ncounts = "exact"\n'))
    outcome = replace(_facts(), symmetry=SymmetryUsed("trivial", 1, False))
    assert _kinds(judge(spec, outcome)) == [("as wished", "WeakIsr"), ("inconclusive", "orbits")]


def test_an_audit_that_is_not_complete_is_inconclusive() -> None:
    spec = _spec(spec_text('WeakIsr = "holds"\n'))
    outcome = replace(_facts(), reservations=("The audit is not complete: the time limit was reached.",))
    assert _kinds(judge(spec, outcome)) == [("inconclusive", "search"), ("as wished", "WeakIsr")]


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (InternalError("the evaluator does not agree"), 70, "the evaluator does not agree."),
        (RuntimeError("unforeseen"), 70, "internal error: RuntimeError: unforeseen."),
        (MemoryError(), 3, "is not decided: there was not enough memory"),
        (KeyboardInterrupt(), 3, "is not decided: it was interrupted"),
    ],
)
def test_what_goes_wrong_in_the_process_of_a_spec(
    error: BaseException, code: int, told: str, monkeypatch: pytest.MonkeyPatch, repository: Repository
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(checker.gate, "check", fail)
    written("alone/mine.toml", spec_text('WeakIsr = "holds"\n'))
    (loaded,) = load_all(find_specs(["alone/mine.toml"]).specs)
    assert loaded.spec is not None
    checked = check_one(loaded.spec, replace(DEFAULTS, cache=False))
    assert isinstance(checked, Checked)
    found = Gate((checker.gate._judged(loaded, checked),))
    assert found.exit_code == code
    assert [each.text for each in found.specs[0].surprises] == [told]
    junit_of(junit(found, repository))
    (result,) = sarif_of(sarif(found, repository))["runs"][0]["results"]
    (annotation,) = annotations_of(github_annotations(found, repository))
    assert (result["level"], annotation.level) == (("warning",) * 2 if code == 3 else ("error",) * 2)
    jsonschema.validate(gate_document(found, {}, repository), schema("result"))
    assert told in " ".join(text_of(gate_lines(found, {}, repository, 80)).split())
    assert ("❔" in markdown(found, repository)) is (code == 3)


# Text that would break a format


HOSTILE = 'a,b:c%d"<&>\x1b[31m\x00 ::error::\r\n]]>|`x``'


def test_no_text_breaks_a_format(judged: Judgement, repository: Repository) -> None:
    found = Finding(About.SPEC, HOSTILE, Kind.ERROR, HOSTILE, Place("a,b:c%d.toml", 3))
    broken = Gate((Judged(HOSTILE, "x.toml", (found,), code=2),), remarks=(HOSTILE,))
    root = junit_of(junit(broken, repository))
    assert root.find(".//error") is not None
    (annotation,) = annotations_of(github_annotations(broken, repository))
    assert github_annotations(broken, repository).count("\n") == 1
    assert annotation.message == HOSTILE
    assert annotation.properties["file"] == "a,b:c%d.toml"
    assert annotation.properties["title"] == f"{HOSTILE}: error"
    text = sarif(broken, repository)
    assert sarif_of(text)["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == (
        "a%2Cb%3Ac%25d.toml"
    )
    row = next(line for line in markdown(broken, repository).splitlines() if line.startswith("| ❌"))
    assert row.count("|") - row.count("\\|") == 5
    del judged


@pytest.mark.parametrize(
    ("text", "shown"), [("a", "`a`"), ("`", "`` ` ``"), ("a``b", "```a``b```"), ("x|y", "`x\\|y`")]
)
def test_code_in_markdown(text: str, shown: str) -> None:
    assert code(text) == shown


def test_nothing_in_escaped_text_is_markup() -> None:
    assert html.unescape(escaped("*a* [b](c) <d> `e`\nf")) == "\\*a\\* \\[b\\]\\(c\\) \\<d\\> \\`e\\` f"


def test_a_summary_that_is_too_long_loses_its_stories(
    judged: Judgement, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = judged.alone("unexpectedly-violated")
    assert "<details>" in markdown(alone, repository)
    monkeypatch.setattr("checker.report.markdown.MOST_BYTES", 1_000)
    assert "<details>" not in markdown(alone, repository)
    assert "unexpectedly violated" in markdown(alone, repository)
