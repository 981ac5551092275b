"""Never falsely green: what a check may say, and how it ends, when a limit is met, when nothing happens, when the model
is at fault, and when the engine lies. And what it says is true: shortest, in the replicas' own names, every time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest
from lying_code import Change, compiled_from, computing, lie
from source_tree import ROOT

from checker.cache import DIRECTORY_VARIABLE
from checker.cli.application import run
from checker.explore import breadth_first
from checker.outcome import Outcome, Verdict
from checker.run import Options, Watch, check, check_protocol
from checker.spec import Spec, load_spec
from checker.trace import Trace
from model.errors import InternalError, ModelFault, UsageError
from model.kafka import NAMED_VARIANTS, Bounds, kafka
from model.language import (
    Bool,
    Map,
    Member,
    Protocol,
    Range,
    Scalarset,
    action,
    all_of,
    any_of,
    apply,
    enabled,
    invariant,
    protocol,
    reachable,
    require,
    successors,
)
from model.language.evaluate import evaluate, step_text
from model.language.protocol import Step

Replica: TypeAlias = Member

DEFAULTS: Final = Options()
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

COUNT: Final = Scalarset("Replica", 2)


@action
def impossible(state: Any, replica: Replica) -> None:
    require(state.flags[replica])
    require(~state.flags[replica] | state.done)
    state.done = True


@action
def repeat(state: Any) -> None:
    state.done = state.done


@action
def raise_flag(state: Any, replica: Replica) -> None:
    state.flags[replica] = True


@action
def pass_on(state: Any, replica: Replica, other: Replica) -> None:
    """The flag changes hands: one orbit, two states."""
    require(replica != other)
    require(state.flags[replica])
    require(~state.flags[other])
    state.flags[replica] = False
    state.flags[other] = True


@invariant
def not_done(state: Any) -> Any:
    return ~state.done


@reachable
def all_flags(state: Any) -> Any:
    return all_of(state.flags[replica] for replica in state.flags)


@reachable
def done(state: Any) -> Any:
    return state.done


def somebody_has_the_flag(state: Any, replica: Replica) -> None:
    state.flags[replica] = True


def flags(*actions: Any, **more: Any) -> Protocol:
    return protocol(
        "flags",
        variables={"flags": Map(COUNT, Bool()), "done": Bool()},
        domains={"Replica": COUNT},
        actions=actions,
        **{"invariants": [not_done], **more},
    )


def checked(model: Protocol, symmetry: str = "on", **options: Any) -> Outcome:
    return check_protocol(model, replace(DEFAULTS, symmetry=symmetry, **options))


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
    allowed = check_protocol(flags(raise_flag, impossible), DEFAULTS, allowed_idle=["impossible"])
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


# Faults of the model


@action
def count_up(state: Any, replica: Replica) -> None:
    state.count[replica] = state.count[replica] + 1


@action
def count_all_up(state: Any) -> None:
    """At fault where one has counted twice and the other has not."""
    require(any_of(state.count[replica] == 2 for replica in state.count))
    for replica in state.count:
        state.count[replica] = state.count[replica] + 1


@invariant
def never_three(state: Any) -> Any:
    return all_of(state.count[replica] < 3 for replica in state.count)


def all_at_two(state: Any) -> None:
    for replica in state.count:
        state.count[replica] = 2


def counting(*actions: Any, **more: Any) -> Protocol:
    return protocol(
        "counting",
        variables={"count": Map(COUNT, Range(0, 2))},
        domains={"Replica": COUNT},
        actions=actions,
        invariants=[never_three],
        **more,
    )


FAULTY: Final = {
    "one step after another": (counting(count_up), 3),
    "one of several cells": (counting(count_all_up, count_up), 3),
    "in an initial state": (counting(count_up, initial=all_at_two), 1),
}


@in_both_modes
@pytest.mark.parametrize("fault", FAULTY)
def test_a_fault_of_the_model_comes_with_its_trace(fault: str, symmetry: str) -> None:
    model, length = FAULTY[fault]
    with pytest.raises(ModelFault, match=r"assigns \d to count\[\w\], which ranges over 0\.\.") as raised:
        checked(model, symmetry)
    assert raised.value.exit_code == 2
    assert raised.value.where is not None
    assert "state.count[replica] + 1" in raised.value.where.source()
    introduction, _, told = raised.value.why.partition(": ")
    assert introduction == f"It happens after {length} step{'s' * (length > 1)}"
    steps = [step_named(model, text) for text in told.replace("), ", ")|").split("|")]
    state = model.initial[0]
    for step in steps[:-1]:
        assert enabled(step, state)
        state = apply(model, step, state)
    assert enabled(steps[-1], state)
    with pytest.raises(ModelFault):
        apply(model, steps[-1], state)
    assert len(steps) == length


def step_named(model: Protocol, text: str) -> Step:
    return next(step for step in model.steps if step_text(model, step) == text)


def test_a_fault_that_was_not_reached_is_not_known() -> None:
    assert checked(counting(count_up), max_states=1).verdict is Verdict.INCONCLUSIVE


POLICY = """
from model.kafka.policy import Cut

def cut(own_cache, log_end, high_watermark, answer):
    return Cut(log_end - 1, finished=True)
"""


def test_a_fault_in_a_policy_of_the_users_own_ends_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Somebody's rule takes away one record, even where there is none."""
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(POLICY, encoding="utf-8")
    text = (
        'title = "Mine"\nvariant = "brokers/kip-320"\ninvariants = ["StrongIsr"]\n'
        '[bounds]\nreplicas = 2\nlog_size = 2\nrecords = 2\nepochs = 2\n[features]\ntruncation = "mine.py"\n'
    )
    Path("mine.toml").write_text(text, encoding="utf-8")
    code = run(["check", "mine.toml", "--no-cache", "--quiet"])
    out, err = capfd.readouterr()
    assert (code, out) == (2, "")
    assert err.startswith("tidegauge: error: ")
    assert len(err.splitlines()) == 1
    assert "It happens after" in err


# An engine that lies


@action
def finish(state: Any, replica: Replica) -> None:
    state.flags[replica] = True
    state.done = True


def names_and_more(state: Any, out: Any) -> None:
    """A canonical form that changes everything."""
    out[0] = ~state[0] & 0b111


HONEST: Final = flags(raise_flag, witnesses=[done])
LIES: Final[dict[str, tuple[Callable[[], Change], str]]] = {
    "a step that does not exist": (
        lambda: compiled_from(flags(finish), "expand"),
        "the search took a step that the evaluator does not know",
    ),
    "a violation that is none": (
        lambda: computing("violated", lambda _: 0b01),
        "the search says that NotDone is violated, and the evaluator does not agree",
    ),
    "a witness that is none": (
        lambda: computing("violated", lambda _: 0b10),
        "the search says that Done is reached, and the evaluator does not agree",
    ),
    "a fault that is none": (
        lambda: computing("expand", lambda *_: -1),
        "the search met a fault of the model that the evaluator does not know",
    ),
    "a name that is none": (
        lambda: computing("canonical", names_and_more),
        "the search says that NotDone is violated, and the evaluator does not agree",
    ),
}


@pytest.mark.parametrize("told", LIES)
def test_what_the_evaluator_refutes_is_an_internal_error(told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert {each.witnesses["Done"] for each in (checked(HONEST), checked(HONEST, "off"))} == {None}
    make, words = LIES[told]
    lie(monkeypatch, make())
    with pytest.raises(InternalError, match=words) as raised:
        checked(HONEST)
    assert raised.value.exit_code == 70


def test_the_command_line_owns_up_to_it(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    lie(monkeypatch, computing("violated", lambda _: 0b1))
    code = run(["check", "published/kip-320", "--epochs", "1", "--replicas", "2", "--no-cache", "--quiet"])
    out, err = capfd.readouterr()
    assert (code, out) == (70, "")
    assert "the evaluator does not agree" in err


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
