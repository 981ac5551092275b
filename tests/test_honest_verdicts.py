"""Never falsely green: what a check may say, and how it ends, when a limit is met, and when nothing happens.
And what it says is true: shortest, in the replicas' own names, the same every time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from flag_models import (
    UNCACHED,
    all_flags,
    checked,
    done,
    flags,
    impossible,
    pass_on,
    raise_flag,
    repeat,
    somebody_has_the_flag,
)
from source_tree import ROOT

from checker.cache import DIRECTORY_VARIABLE
from checker.explore import breadth_first
from checker.outcome import Outcome, Verdict
from checker.run import DEFAULTS, Options, Watch, check, check_protocol
from checker.spec import Spec, load_spec
from checker.trace import Trace
from model.errors import UsageError
from model.kafka import NAMED_VARIANTS, Bounds, kafka
from model.language.evaluate import evaluate, successors

MODES: Final = ("on", "off")
SMALL: Final = {"log_size": 1, "records": 1, "epochs": 2}


@pytest.fixture(autouse=True, scope="module")
def _cache_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """So that nothing is proved or compiled twice, and the user's cache is left alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(DIRECTORY_VARIABLE, str(tmp_path_factory.mktemp("cache")))
        yield


in_both_modes = pytest.mark.parametrize("symmetry", MODES)


def spec_at(name: str, **bounds: int) -> Spec:
    return load_spec(f"published/{name}").changed(bounds=bounds)


HOLDS: Final = spec_at("kip-320", replicas=2, **SMALL)
FALLS: Final = spec_at("truncate-to-high-watermark", replicas=2, **SMALL)


def found(outcome: Outcome) -> dict[str, Verdict]:
    return {each.name: each.verdict for each in outcome.invariants}


# Limits

LIMITS: Final[dict[str, tuple[Options, str]]] = {
    "states": (Options(max_states=50), "the limit on stored states was reached"),
    "one state": (Options(max_states=1), "the limit on stored states was reached"),
    "time": (Options(time_limit=1e-9), "the time limit was reached"),
    "memory": (Options(memory_limit=1), "the memory limit was reached"),
}


@pytest.mark.parametrize("limit", LIMITS)
@in_both_modes
def test_a_limit_makes_it_inconclusive(limit: str, symmetry: str) -> None:
    options, words = LIMITS[limit]
    outcome = check(HOLDS, replace(options, symmetry=symmetry))
    assert (outcome.verdict, outcome.exit_code) == (Verdict.INCONCLUSIVE, 3)
    assert set(found(outcome).values()) == {Verdict.INCONCLUSIVE}
    assert outcome.doubts == (f"The search is not complete: {words}.",)
    assert not outcome.explored.complete
    assert outcome.never_enabled == ()  # who knows
    assert 1 <= outcome.explored.distinct <= (options.max_states or 1)


class Impatient(Watch):
    """Presses Ctrl-C at the first report."""

    def progress(self, progress: Any) -> None:
        del progress
        raise KeyboardInterrupt


def test_an_interruption_keeps_what_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(breadth_first, "PROGRESS_SECONDS", 0.0)
    outcome = check(HOLDS, DEFAULTS, Impatient())
    assert (outcome.verdict, outcome.exit_code) == (Verdict.INCONCLUSIVE, 3)
    assert outcome.was_interrupted
    assert outcome.explored.distinct > 1
    assert sum(outcome.explored.steps_taken.values()) == outcome.explored.generated > 0


class ImpatientWithAudits(Watch):
    """Presses Ctrl-C during the second search."""

    def __init__(self) -> None:
        self.searches = 0

    def phase(self, name: str) -> None:
        self.searches += name == "searching"

    def progress(self, progress: Any) -> None:
        del progress
        if self.searches == 2:
            raise KeyboardInterrupt


def test_an_interrupted_audit_is_no_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(breadth_first, "PROGRESS_SECONDS", 0.0)
    outcome = check(HOLDS, Options(symmetry="audit"), ImpatientWithAudits())
    assert (outcome.verdict, outcome.exit_code) == (Verdict.INCONCLUSIVE, 3)
    assert outcome.doubts == ("The audit is not complete: it was interrupted.",)
    assert outcome.explored.complete
    assert outcome.was_interrupted


def test_a_limit_keeps_what_was_found() -> None:
    whole, part = check(HOLDS, DEFAULTS), check(HOLDS, LIMITS["states"][0])
    assert whole.witnesses["SecondElection"] == part.witnesses["SecondElection"] == 2
    assert part.witnesses["RecordBelowHighWatermark"] in (None, whole.witnesses["RecordBelowHighWatermark"])
    assert part.explored.distinct == 50
    assert 0 < part.explored.generated < whole.explored.generated


def test_a_limit_that_is_just_wide_enough_is_none() -> None:
    size = check(HOLDS, DEFAULTS).explored.distinct
    assert check(HOLDS, replace(DEFAULTS, max_states=size)).verdict is Verdict.HOLDS
    assert check(HOLDS, replace(DEFAULTS, max_states=size - 1)).verdict is Verdict.INCONCLUSIVE


def test_violated_beats_inconclusive() -> None:
    size = check(FALLS, DEFAULTS).explored.distinct
    outcome = check(FALLS, replace(DEFAULTS, max_states=size - 1))
    assert (outcome.verdict, outcome.exit_code) == (Verdict.VIOLATED, 1)
    assert outcome.doubts == ("The search is not complete: the limit on stored states was reached.",)
    violated, open_question = Verdict.VIOLATED, Verdict.INCONCLUSIVE
    assert found(outcome) == {"LeaderInIsr": open_question, "WeakIsr": violated, "StrongIsr": violated}


def test_failing_fast_leaves_the_other_invariants_open() -> None:
    outcome = check(FALLS, replace(DEFAULTS, fail_fast=True))
    assert (outcome.verdict, outcome.exit_code, outcome.explored.complete) == (Verdict.VIOLATED, 1, False)
    assert found(outcome)["WeakIsr"] is Verdict.VIOLATED
    assert found(outcome)["LeaderInIsr"] is Verdict.INCONCLUSIVE
    assert "as --fail-fast asks" in outcome.doubts[0]


def test_failing_fast_changes_nothing_where_nothing_fails() -> None:
    fast, slow = check(HOLDS, replace(DEFAULTS, fail_fast=True)), check(HOLDS, DEFAULTS)
    assert (fast.verdict, fast.exit_code, fast.explored.complete) == (Verdict.HOLDS, 0, True)
    assert fast.explored.distinct == slow.explored.distinct


def test_an_audit_that_meets_a_limit_is_inconclusive() -> None:
    """The search is complete, and what was asked for besides it is not."""
    orbits, states = (check(HOLDS, replace(DEFAULTS, symmetry=mode)).explored.distinct for mode in MODES)
    outcome = check(HOLDS, replace(DEFAULTS, symmetry="audit", max_states=(orbits + states) // 2))
    assert outcome.explored.complete
    assert (outcome.verdict, outcome.exit_code) == (Verdict.INCONCLUSIVE, 3)
    assert outcome.doubts == ("The audit is not complete: the limit on stored states was reached.",)
    assert check(HOLDS, replace(DEFAULTS, symmetry="audit", max_states=states)).verdict is Verdict.HOLDS


# Where nothing happens


@in_both_modes
@pytest.mark.parametrize("actions", [(impossible,), (repeat,), (impossible, repeat)])
def test_a_single_state_is_inconclusive(actions: tuple[Any, ...], symmetry: str) -> None:
    outcome = checked(flags(*actions), symmetry)
    assert (outcome.explored.distinct, outcome.explored.complete) == (1, True)
    assert (outcome.verdict, outcome.exit_code) == (Verdict.INCONCLUSIVE, 3)
    assert outcome.doubts == ("The state space is a single state: nothing can happen, so nothing was checked.",)


@in_both_modes
def test_several_initial_states_without_a_step_are_inconclusive(symmetry: str) -> None:
    outcome = checked(flags(impossible, initial=somebody_has_the_flag), symmetry)
    assert (outcome.explored.generated, outcome.verdict, outcome.exit_code) == (0, Verdict.INCONCLUSIVE, 3)
    assert outcome.doubts == ("No step can be taken in any of the initial states, so nothing was checked.",)


@in_both_modes
def test_a_single_orbit_is_not_a_single_state(symmetry: str) -> None:
    outcome = checked(flags(pass_on, initial=somebody_has_the_flag), symmetry)
    assert outcome.explored.distinct == (1 if symmetry == "on" else 2)
    assert (outcome.verdict, outcome.doubts) == (Verdict.HOLDS, ())


@in_both_modes
def test_a_violation_in_a_single_state_is_one(symmetry: str) -> None:
    outcome = checked(flags(repeat, initial=lambda state: setattr(state, "done", True)), symmetry)
    assert (outcome.verdict, outcome.exit_code, outcome.invariants[0].steps) == (Verdict.VIOLATED, 1, 0)


def test_without_an_invariant_nothing_is_checked() -> None:
    with pytest.raises(UsageError, match="no invariant"):
        checked(flags(raise_flag, invariants=[]))


@in_both_modes
def test_a_witness_that_is_not_reached_is_inconclusive(symmetry: str) -> None:
    outcome = checked(flags(raise_flag, witnesses=[all_flags, done]), symmetry)
    assert outcome.witnesses == {"AllFlags": 2, "Done": None}
    assert (outcome.verdict, outcome.exit_code) == (Verdict.INCONCLUSIVE, 3)
    assert outcome.doubts == ("The witness Done was not reached: the model may be vacuous.",)
    assert found(outcome) == {"NotDone": Verdict.HOLDS}
    assert checked(flags(raise_flag, witnesses=[all_flags]), symmetry).verdict is Verdict.HOLDS


@in_both_modes
def test_an_action_that_is_never_enabled_is_reported(symmetry: str) -> None:
    outcome = checked(flags(raise_flag, impossible), symmetry)
    assert outcome.never_enabled == ("impossible",)
    assert outcome.explored.steps_taken == {"raise_flag": 6 if symmetry == "on" else 8, "impossible": 0}
    allowed = check_protocol(flags(raise_flag, impossible), UNCACHED, allowed_idle=["impossible"])
    assert allowed.never_enabled == ()


@pytest.mark.parametrize("replicas", [1, 2, 3, 4, 5])
def test_any_number_of_replicas_works(replicas: int) -> None:
    """One has no peers, and so nothing to replicate: that is not a complaint, but a second election is missed."""
    outcome = check(spec_at("kip-320", replicas=replicas, **SMALL), DEFAULTS)
    assert outcome.explored.complete
    assert set(found(outcome).values()) == {Verdict.HOLDS}
    assert outcome.never_enabled == ()
    missed = ("The witness SecondElection was not reached: the model may be vacuous.",) if replicas == 1 else ()
    assert (outcome.doubts, outcome.exit_code) == (missed, 3 if missed else 0)
    assert outcome.symmetry.group == (f"Sym({replicas})" if replicas > 1 else "trivial")


def test_an_action_without_a_choice_at_the_bounds_is_no_idle_action() -> None:
    model = kafka(NAMED_VARIANTS["published/kip-320"], Bounds(1, 2, 2, 2))
    assert any(not each.possible for each in model.actions)
    assert check_protocol(model, DEFAULTS).never_enabled == ()


# Shortest, and in the replicas' own names


@pytest.mark.parametrize(
    ("name", "bounds"),
    [
        ("published/truncate-to-high-watermark", (2, 1, 1, 2)),
        ("published/truncate-to-high-watermark", (3, 2, 1, 2)),
        ("published/kip-101", (3, 1, 1, 2)),
        ("published/kip-279", (3, 1, 1, 2)),
        ("published/kip-320-first-try", (3, 1, 1, 3)),
        ("brokers/no-truncation", (2, 2, 2, 2)),
        ("brokers/high-watermark", (3, 1, 1, 2)),
    ],
    ids=str,
)
def test_traces_are_as_short_without_symmetry_and_real(name: str, bounds: tuple[int, int, int, int]) -> None:
    model = kafka(NAMED_VARIANTS[name], Bounds(*bounds))
    reduced, full = checked(model), checked(model, "off")
    assert reduced.explored.distinct < full.explored.distinct
    assert {each.name: each.steps for each in reduced.invariants} == {each.name: each.steps for each in full.invariants}
    assert reduced.witnesses == full.witnesses
    traces = [each.trace for outcome in (reduced, full) for each in outcome.invariants if each.trace is not None]
    assert traces
    for trace in traces:
        assert_real(trace)


def assert_real(trace: Trace) -> None:
    """Each state but the first comes from the one before by the step named, and only the last one violates."""
    model = trace.protocol
    assert trace.states[0] in model.initial
    for step, before, after in zip(trace.steps, trace.states, trace.states[1:], strict=False):
        assert (step.number, after) in {(taken.number, reached) for taken, reached in successors(model, before)}
    truths = [bool(evaluate(trace.predicate.expr, state)) for state in trace.states]
    assert truths == [True] * len(trace.steps) + [False]
    assert len(set(trace.states)) == len(trace.states) == len(trace.steps) + 1


# The same every time

PROGRAM = """
import json, sys
from symmetry_models import elect_first, election
from checker.cli.application import run
from checker.run import Options, check_protocol
notes = check_protocol(election(election_rule=elect_first), Options(cache=False)).symmetry.notes
print(json.dumps(notes), flush=True)
for symmetry in ("on", "off"):
    run(["check", "truncate-to-high-watermark", "--log-size", "1", "--records", "1", "--epochs", "2", "--no-cache",
         f"--symmetry={symmetry}", "--quiet", "--json", f"{symmetry}.json", "--output", symmetry])
"""


def test_the_seed_of_hashing_makes_no_difference(tmp_path: Path) -> None:
    told = [told_with_seed(tmp_path / seed, seed) for seed in ("0", "1")]
    assert told[0] == told[1]
    assert sum(name.endswith("Isr.json") for name in told[0]) == 4


def told_with_seed(folder: Path, seed: str) -> dict[str, Any]:
    """Everything that is printed or written, but for times."""
    folder.mkdir()
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT}/tests"}
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    files = {str(path.relative_to(folder)): json.loads(path.read_text("utf-8")) for path in folder.rglob("*.json")}
    for document in files.values():
        for timed in ("seconds", "states_per_second"):
            document.get("explored", {}).pop(timed, None)
    return {"printed": ended.stdout, **files}
