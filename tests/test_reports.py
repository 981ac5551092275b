"""Reports of what has been found: verdicts, matrices, proofs. Read as users will, on screens of 80 and 120 columns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from little_traces import falling
from source_tree import ROOT
from symmetry_models import elect_lowest, election
from syrupy.assertion import SnapshotAssertion

from checker.explore.breadth_first import Progress
from checker.outcome import Explored, InvariantOutcome, Outcome, SymmetryUsed, Verdict
from checker.prove.refutation import Renaming
from checker.prove.symmetry import SymmetryReport, prove_symmetry
from checker.report.catalogue import catalogue
from checker.report.console import ProgressLine
from checker.report.layout import bytes_text, grid, plain, rate_text, seconds_text
from checker.report.matrix import matrix
from checker.report.proof import proof_report
from checker.report.result import comparison_document, result_document
from checker.report.story import Line, text_of
from checker.report.subject import bounds_text, surprise, within
from checker.report.summary import summary
from checker.spec import Expectation
from checker.trace import Trace

PROMISES = ("LeaderInIsr", "WeakIsr", "StrongIsr")
MANY_PROMISES = (
    *("NoAcknowledgedLoss", "NoDivergenceBelowHighWatermark", "NoVisibleRollback"),
    *("OffsetEpochIdentifiesRecord", "NoEpochAheadOfReplica", "LeaderInIsr"),
)


@dataclass(frozen=True)
class Imagined:
    """A spec that need not exist."""

    name: str = "published/kip-279"
    title: str = "KIP-279: followers cut to the last record they share with the leader"
    notes: str = ""
    features: Mapping[str, str] = field(default_factory=dict)
    built_on: str = ""
    changed_features: Mapping[str, str] = field(default_factory=dict)
    section: str = ""
    admission: tuple[str, ...] = ()
    invariants: tuple[str, ...] = PROMISES
    expect: Mapping[str, Expectation] = field(default_factory=dict)
    bounds: tuple[int, ...] = (3, 2, 1, 3)
    crashes: bool = False

    @property
    def own_features(self) -> Mapping[str, str]:
        return self.features

    def model_document(self) -> dict[str, Any]:
        return {"variant": "published/kip-279", "features": {"truncation": "matching-prefix", **self.features}}

    def all_bounds(self) -> dict[str, int]:
        return dict(zip(("replicas", "log_size", "records", "epochs"), self.bounds, strict=True)) | {"crashes": 0}

    def used_bounds(self) -> dict[str, int]:
        return {name: value for name, value in self.all_bounds().items() if self.crashes or name != "crashes"}


def fallen(name: str, steps: int) -> Trace:
    """A trace of so many steps to where an invariant of that name falls."""
    trace = falling(steps)
    return replace(trace, predicate=replace(trace.predicate, name=name))


def outcome(promises: tuple[str, ...] = PROMISES, complete: bool = True, **lengths: int) -> Outcome:
    """What a search found: the promises in `lengths` fall after so many steps, the others do not."""
    otherwise = Verdict.HOLDS if complete else Verdict.INCONCLUSIVE
    found = (
        InvariantOutcome(name, Verdict.VIOLATED, fallen(name, lengths[name]))
        if name in lengths
        else InvariantOutcome(name, otherwise)
        for name in promises
    )
    stopped = None if complete else "the time limit was reached"
    return Outcome(
        explored=Explored(270_050, 1_012_438, 26, complete, stopped, 0.3),
        symmetry=SymmetryUsed("Sym(3)", 6, proved=True),
        invariants=tuple(found),
        witnesses={"SecondElection": 2},
        never_enabled=(),
        phases={"staging": 0.1, "compiling": 0.75, "searching": 0.9},
    )


@dataclass(frozen=True)
class Row:
    spec: Imagined
    outcome: Outcome
    crashes: Mapping[str, int] = field(default_factory=dict)


def read(lines: tuple[Line, ...]) -> str:
    """The text without numbers of lines in somebody's source, and times of proofs."""
    text = re.sub(r"\.py:\d+", ".py:…", text_of(lines))
    return re.sub(r" in [\d.]+ m?s$", " in … s", text, flags=re.MULTILINE)


# The report of a check


@pytest.mark.parametrize("width", [80, 120])
def test_a_violation(width: int, snapshot: SnapshotAssertion) -> None:
    stored = {name: Path(f"tidegauge-out/published-kip-279-{name}.json") for name in ("WeakIsr", "StrongIsr")}
    assert read(summary(Imagined(), outcome(WeakIsr=2, StrongIsr=3), stored, width)) == snapshot


def test_doubts_stand_in_the_first_sentence(snapshot: SnapshotAssertion) -> None:
    found = replace(
        outcome(),
        witnesses={"SecondElection": None},
        never_enabled=("truncate", "replicate"),
        symmetry=SymmetryUsed("trivial", 1, proved=False, notes=("Symmetry is switched off.",)),
    )
    assert read(summary(Imagined(), found, {}, 80)) == snapshot


def test_an_incomplete_search_with_a_violation(snapshot: SnapshotAssertion) -> None:
    assert read(summary(Imagined(), outcome(complete=False, WeakIsr=1), {}, 80)) == snapshot


def test_what_the_spec_expects_is_said_only_if_it_is_something_else() -> None:
    expect = {"LeaderInIsr": Expectation(), "WeakIsr": Expectation(9), "StrongIsr": Expectation(2)}
    text = read(summary(Imagined(expect=expect), outcome(WeakIsr=2), {}, 80))
    assert re.findall(r"(?m)^  (\w+) .*the spec expects: (.*)$", text) == [
        ("WeakIsr", "violated in 9 steps"),
        ("StrongIsr", "violated in 2 steps"),
    ]


def test_paths_can_be_pasted_into_a_shell() -> None:
    text = text_of(summary(Imagined(), outcome(WeakIsr=1), {"WeakIsr": Path("my traces/$x.json")}, 80))
    assert "  tidegauge explain --full 'my traces/$x.json'\n" in text


@pytest.mark.parametrize("width", [80, 100, 120])
@pytest.mark.parametrize("found", [outcome(), outcome(complete=False), outcome(WeakIsr=2, StrongIsr=2)])
def test_nothing_is_wider_than_the_screen(found: Outcome, width: int) -> None:
    assert max(len(each.text) for each in summary(Imagined(), found, {}, width)) <= width


def test_notes_and_what_a_spec_is_built_on() -> None:
    spec = Imagined(notes="\nTwo lines\nof notes.", built_on="published/kip-101", features={"truncation": "none"})
    text = read(summary(spec, outcome(), {}, 80))
    assert "  built on     published/kip-101 with truncation=none\n" in text
    assert "  notes        Two lines of notes.\n" in text


# The matrix


def five() -> list[Row]:
    names = ("truncate-to-high-watermark", "kip-101", "kip-279", "kip-320-first-try", "kip-320")
    found = (outcome(WeakIsr=2, StrongIsr=2), outcome(WeakIsr=3), outcome(StrongIsr=1), outcome(), outcome())
    return [Row(Imagined(f"published/{name}"), each) for name, each in zip(names, found, strict=True)]


@pytest.mark.parametrize("width", [80, 120])
def test_a_matrix(width: int, snapshot: SnapshotAssertion) -> None:
    assert read(matrix(five(), {}, width, 4.25)) == snapshot


def test_a_matrix_with_everything_in_it(snapshot: SnapshotAssertion) -> None:
    unexpected = Imagined("mine", expect={"WeakIsr": Expectation(4)}, features={"truncation": "none"})
    limited = Imagined("published/kip-101", bounds=(5, 2, 2, 4))
    empty = replace(outcome(), never_enabled=("truncate",), witnesses={"SecondElection": None})
    rows = [Row(unexpected, outcome()), Row(limited, outcome(complete=False)), *five()[:1], Row(Imagined(), empty)]
    stored = {"published/kip-101": {"WeakIsr": Path("out/published-kip-101-WeakIsr.json")}}
    assert read(matrix(rows, stored, 80)) == snapshot


@pytest.mark.parametrize("width", [60, 80, 100, 120])
def test_a_matrix_of_many_promises(width: int, snapshot: SnapshotAssertion) -> None:
    crash = Imagined("crash/kip-320-with-power-loss", invariants=MANY_PROMISES, crashes=True)
    rows = [Row(crash, outcome(MANY_PROMISES, NoAcknowledgedLoss=3)), Row(Imagined(), outcome())]
    assert read(matrix(rows, {}, width)) == snapshot


@pytest.mark.parametrize("width", [80, 100, 120])
def test_no_matrix_is_wider_than_the_screen(width: int) -> None:
    rows = [Row(Imagined(invariants=MANY_PROMISES), outcome(MANY_PROMISES, complete=False)), *five()]
    assert max(len(each.text) for each in matrix(rows, {}, width)) <= width


def test_a_matrix_in_sections(snapshot: SnapshotAssertion) -> None:
    """Promises that are not asked of a spec, crashes, bounds that differ, a rule that was changed."""
    crash = Imagined("brokers/power-loss", section="Brokers crash", invariants=MANY_PROMISES, crashes=True)
    fewer = replace(crash, name="brokers/fewer", invariants=MANY_PROMISES[1:], bounds=(2, 1, 1, 2))
    changed = replace(crash, name="brokers/changed", features={"a": "b"}, changed_features={"crash": "process"})
    lost = outcome(MANY_PROMISES, NoAcknowledgedLoss=3, NoVisibleRollback=2, LeaderInIsr=1)
    rows = [
        Row(crash, lost, {"NoAcknowledgedLoss": 1, "NoVisibleRollback": 2, "LeaderInIsr": 0}),
        Row(fewer, outcome(MANY_PROMISES[1:])),
        *(replace(row, spec=replace(row.spec, section="First")) for row in five()[-1:]),
        Row(changed, outcome(MANY_PROMISES)),
    ]
    assert read(matrix(rows, {}, 120)) == snapshot


def test_what_was_not_explored_to_the_end_is_never_said_to_hold() -> None:
    text = text_of(matrix([Row(Imagined(), outcome(complete=False))], {}, 80))
    assert "holds" not in text
    assert re.search(r"orbits\n.* over 270,050\n", text)
    assert "inconclusive: not violated as far as explored" in text


# Proofs and lists


class Proved:
    """A report in which lines of source are named without the folder of this checkout."""

    def __init__(self, report: SymmetryReport) -> None:
        self.certificate, self.unknowns, self.from_cache = report.certificate, report.unknowns, report.from_cache
        self.refutations = [str(refutation).replace(f"{ROOT}/", "") for refutation in report.refutations]


@pytest.mark.parametrize("rule", ["fair", "lowest"])
def test_a_proof(rule: str, snapshot: SnapshotAssertion) -> None:
    model = election() if rule == "fair" else election(election_rule=elect_lowest)
    proof = Proved(prove_symmetry(model))
    lines = proof_report(Imagined(name="election"), proof, lambda moved: Renaming(model, moved).text, 80)
    assert read(lines) == snapshot


def test_a_proof_that_is_given_no_time() -> None:
    model = election()
    report = prove_symmetry(model, budget=1)
    lines = proof_report(Imagined(name="election"), report, lambda moved: Renaming(model, moved).text, 80)
    text = read(lines)
    assert report.unknowns
    assert "no permutation is proved harmless" in text
    assert "unknown" in text


def test_a_proof_of_nothing() -> None:
    model = election(replicas=1)
    lines = proof_report(Imagined(name="election"), prove_symmetry(model), str, 80)
    assert lines[0].text == "election: there is nothing to permute."


def test_a_list(snapshot: SnapshotAssertion) -> None:
    expect = {"LeaderInIsr": Expectation(), "WeakIsr": Expectation(1)}
    subjects = [Imagined(expect=expect), Imagined("mine", "My rules", features={"truncation": "none"})]
    assert text_of(catalogue(subjects, 80)) == snapshot


# Progress


def test_progress_tells_phase_size_and_speed() -> None:
    shown = ProgressLine()
    shown.spec("published/kip-320")
    shown.phase("searching")
    assert shown.parts[0].startswith("published/kip-320: searching, ")
    shown.progress(Progress(7, 1_234_567, 4_000_000, 300_000, 987_654.0, 312 * 2**20, 1.5))
    assert shown.parts == (
        "published/kip-320: searching",
        "level 7, 1,234,567 stored, 4,000,000 successors",
        "988,000 a second, frontier 300,000, 312 MiB, 1.50 s",
    )


def test_progress_tells_whether_levels_grow() -> None:
    shown = ProgressLine()
    for level, frontier, trend in ((7, 10, ""), (8, 30, "growing"), (8, 5, "growing"), (9, 20, "shrinking")):
        shown.progress(Progress(level, 100, 200, frontier, 10.0, 2**20, 1.0))
        assert shown.parts[2].partition("(")[2].partition(")")[0] == trend


# Words and numbers


def test_bounds_are_words_and_unused_ones_are_left_out() -> None:
    assert bounds_text(Imagined()) == "3 replicas, log size 2, 1 record, 3 epochs"
    assert bounds_text(Imagined(crashes=True)) == "3 replicas, log size 2, 1 record, 3 epochs, 0 crashes"


def test_changed_rules_belong_to_the_bounds() -> None:
    changed = Imagined(features={"truncation": "none", "crash": "power"})
    assert within(changed) == "3 replicas, log size 2, 1 record, 3 epochs; truncation=none and crash=power"


@pytest.mark.parametrize(
    ("expected", "found", "told"),
    [
        (None, outcome(), ""),
        (Expectation(), outcome(), ""),
        (Expectation(2), outcome(WeakIsr=2), ""),
        (Expectation(1), outcome(WeakIsr=2), "violated in 1 step"),
        (Expectation(), outcome(WeakIsr=2), "holds"),
        (Expectation(2), outcome(), "violated in 2 steps"),
        (Expectation(2), outcome(complete=False), ""),
    ],
)
def test_surprises(expected: Expectation | None, found: Outcome, told: str) -> None:
    spec = Imagined(expect={} if expected is None else {"WeakIsr": expected})
    assert surprise(spec, found.invariants[1]) == told


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 ms"),
        (0.0123, "12 ms"),
        (0.0994, "99 ms"),
        (0.0996, "0.10 s"),
        (9.99, "9.99 s"),
        (9.996, "10.0 s"),
        (99.9, "99.9 s"),
        (99.96, "1 min 40 s"),
        (125, "2 min 5 s"),
        (3_720, "1 h 2 min"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert seconds_text(seconds) == text


@pytest.mark.parametrize(
    ("rate", "text"),
    [
        (0, "0"),
        (950, "950"),
        (12_345, "12,300"),
        (999_499, "999,000"),
        (999_600, "1 million"),
        (4.123e6, "4.12 million"),
    ],
)
def test_rates_have_three_digits(rate: float, text: str) -> None:
    assert rate_text(rate) == text


@pytest.mark.parametrize(("count", "text"), [(312 * 2**20, "312 MiB"), (4.2 * 2**30, "4.2 GiB"), (0, "0 MiB")])
def test_sizes(count: float, text: str) -> None:
    assert bytes_text(count) == text


def test_columns_end_without_spaces() -> None:
    rows = [[plain("a"), plain("long"), plain("")], [plain("wide"), plain("b")], []]
    assert [each.text for each in grid(rows)] == ["  a     long", "  wide  b", "  "]


# Documents


def test_a_result_says_why_it_is_inconclusive() -> None:
    document = result_document(Imagined(), outcome(complete=False), {})
    assert document["verdict"] == "inconclusive"
    assert document["doubts"] == ["The search is not complete: the time limit was reached."]
    assert document["explored"]["stopped"] == "the time limit was reached"


def test_a_comparison_says_what_is_not_as_expected() -> None:
    document = comparison_document([Row(Imagined(expect={"WeakIsr": Expectation(1)}), outcome())], {})
    assert document["results"][0]["as_expected"] is False
    assert document["results"][0]["expect"] == {"WeakIsr": {"verdict": "violated", "steps": 1}}
