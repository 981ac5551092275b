"""Coverage: counted by machine code over whole orbits, it is what plain Python counts over all states."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
import test_mutation
from command_line import FALLS, SMALL, elsewhere, schema, tidegauge
from conformance import named_model
from flag_models import UNCACHED, finish, flags, impossible, pass_on, raise_flag, somebody_has_the_flag
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import groups, predicate, protocols, states
from symmetry_models import election, locks, mail, send
from syrupy.assertion import SnapshotAssertion

from checker.cache import NO_CACHE
from checker.compile.native_coverage import compile_coverage
from checker.compile.packing import Packing
from checker.coverage import Coverage, counters_of, coverage_of, guards_of
from checker.explore import covering, reference
from checker.outcome import Outcome, Verdict
from checker.report.coverage import coverage_report, threats_report
from checker.report.story import text_of
from checker.run import Options, Watch, check_protocol
from checker.spec import load_spec
from checker.vacuity import with_threats
from model.language import Protocol, Range, action, invariant, protocol, require
from model.language.evaluate import enabled, evaluate
from model.language.expr import TRUE
from model.language.protocol import State


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere(tmp_path, tmp_path_factory.getbasetemp() / "cache", monkeypatch)


def covered(model: Protocol, symmetry: str = "on", watch: Watch | None = None, **options: Any) -> Outcome:
    chosen = Options(cache=False, coverage=True, symmetry=symmetry, **options)
    return check_protocol(model, chosen, watch or Watch())


def coverage(model: Protocol, symmetry: str = "on", **options: Any) -> Coverage:
    found = covered(model, symmetry, **options).coverage
    assert found is not None
    return found


def plainly(model: Protocol, among: Iterable[State]) -> Coverage:
    """The same counts, by the evaluator, one state and one condition after the other."""
    guards, chosen, counters = guards_of(model), list(among), []
    steps = {action.name: [step for step in model.steps if step.action == action.name] for action in model.actions}
    for each in guards:
        can = [[enabled(step, state) for step in steps[each.action.name]] for state in chosen]
        counters += [sum(map(any, can)), sum(map(sum, can))]
        for number in range(len(each.conjuncts)):
            asking = [step for step in each.steps if number in step]
            false = [(state, step) for state in chosen for step in asking if not evaluate(step[number], state)]
            alone = [
                (state, step)
                for state, step in false
                if all(evaluate(expr, state) for other, expr in step.items() if other != number)
            ]
            counters += [len(false), len(alone)]
    return coverage_of(guards, counters, len(chosen), complete=True)


@action
def down(state: Any) -> None:
    require(state.level > 0, state.level <= 3)
    require((state.level != 2) & (state.level > 0))
    state.level = state.level - 1


@action
def up(state: Any, by: Amount) -> None:  # type: ignore[valid-type]  # a domain, not a class
    require(by != 0)
    require(state.level + by <= 3)
    state.level = state.level + by


Amount = Range(0, 2)


@invariant
def is_low(state: Any) -> Any:
    return state.level < 4


def lift() -> Protocol:
    return protocol("lift", variables={"level": Range(0, 3)}, actions=[down, up], invariants=[is_low])


MODELS = {
    "lift": lift(),
    "lock": test_mutation.lock(),
    "flags": flags(raise_flag, pass_on, finish, impossible, initial=somebody_has_the_flag),
    "election": election(4),
    "mail": mail(send, replicas=2, invariants=[], witnesses=[]),
    "two scalarsets": locks(),
    "kip-320": named_model("published/kip-320").at(2, 1, 1, 2),
    "three replicas": named_model("published/kip-320").at(3, 1, 1, 1),
    "crashes": named_model("brokers/kip-320").at(2, 1, 1, 2),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("symmetry", ["on", "off"])
def test_counts_are_those_of_the_evaluator_over_all_states(name: str, symmetry: str) -> None:
    model = MODELS[name] if MODELS[name].invariants else _with_invariant(MODELS[name])
    assert coverage(model, symmetry) == plainly(model, reference.search(model).origins)


def _with_invariant(model: Protocol) -> Protocol:
    """Something to check of a protocol that promises nothing: whatever holds of the first cell."""
    return replace(model, invariants=(predicate("anything", TRUE),))


@pytest.mark.parametrize("name", ["published/kip-320", "brokers/kip-320-two-replicas"])
def test_orbits_unfold_to_the_counts_of_the_spec(name: str) -> None:
    """Those of the published model are TLC's."""
    spec = load_spec(name)
    found = check_protocol(spec.protocol(), Options(coverage=True))
    assert found.coverage is not None
    assert spec.counts is not None
    assert found.explored.distinct == spec.counts.orbits
    assert found.coverage.states == spec.counts.distinct
    taken = sum(each.taken for each in found.coverage.actions)
    assert (taken, found.symmetry.order > 1) == (spec.counts.generated, True)


@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_any_guards_over_any_states_and_their_orbits(data: st.DataObject) -> None:
    model = data.draw(protocols())
    group = data.draw(groups(model))
    chosen = data.draw(st.lists(states(model), min_size=1, max_size=12))
    orbit_of = reference.orbit_under(model, group)
    orbits = {frozenset(orbit_of(state)) for state in chosen}
    packing, guards = Packing(model), guards_of(model)
    cover = covering.Cover(compile_coverage(packing, guards, group, NO_CACHE), counters_of(guards))
    for _ in cover.add(np.array([packing.pack(min(orbit)) for orbit in orbits], np.uint64)):
        pass
    expected = plainly(model, [state for orbit in orbits for state in orbit])
    assert coverage_of(guards, cover.counters, cover.states, complete=True) == expected


@pytest.mark.parametrize("chunk", [1, 7, 8, 9, 1_000])
def test_the_size_of_chunks_makes_no_difference(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = coverage(MODELS["kip-320"])
    monkeypatch.setattr(covering, "CHUNK", chunk)
    assert coverage(MODELS["kip-320"]) == whole


def test_what_each_number_means() -> None:
    """The lift, by hand: levels 0 to 3; `by != 0` is settled by the parameters, so no step asks for it."""
    found = coverage(lift())
    assert found.states == 4
    goes_down, goes_up = found.actions
    assert (goes_down.steps, goes_down.enabled, goes_down.taken) == (1, 2, 2)
    assert (goes_up.steps, goes_up.enabled, goes_up.taken) == (2, 3, 5)
    assert [(c.conjunct.place and c.conjunct.place.source(), c.conjunct.part) for c in goes_down.conjuncts] == [
        ("require(state.level > 0, state.level <= 3)", 1),
        ("require((state.level != 2) & (state.level > 0))", 1),
    ]
    assert [(c.asked, c.false, c.alone) for c in goes_down.conjuncts] == [(4, 1, 1), (4, 1, 1)]
    assert [(c.asked, c.false, c.alone) for c in goes_up.conjuncts] == [(8, 3, 3)]


def test_conditions_that_never_decide() -> None:
    """Whoever has the lock is inside, so the second requirement is false only with the first, and the other way."""
    found = coverage(test_mutation.lock())
    told = [(count.conjunct.place and count.conjunct.place.source(), count.alone) for count in found.undecided]
    assert told == [("require(state.holder == client)", 0), ("require(state.inside.has(client))", 0)]
    assert all(count.false for count in found.undecided)


def test_an_action_that_is_never_enabled_is_named_and_its_conditions_are_not() -> None:
    found = coverage(flags(raise_flag, impossible))
    assert found.never_enabled == ("impossible",)
    assert [count.conjunct.action for count in found.undecided] == []


def test_a_search_that_met_a_limit_is_no_proof_that_a_condition_never_decides() -> None:
    found = covered(test_mutation.lock(), max_states=2)
    assert found.coverage is not None
    assert (found.coverage.complete, found.coverage.undecided, found.verdict) == (False, (), Verdict.INCONCLUSIVE)


def test_an_interrupted_count_is_inconclusive() -> None:
    class Impatient(Watch):
        counting = False

        def phase(self, name: str) -> None:
            self.counting = name == "counting coverage"

        def interrupted(self) -> bool:
            return self.counting

    found = covered(lift(), watch=Impatient())
    assert (found.explored.complete, found.verdict, found.was_interrupted) == (True, Verdict.INCONCLUSIVE, True)
    assert found.doubts == ("Coverage was not counted to the end: it was interrupted.",)


def test_without_the_option_nothing_is_counted() -> None:
    assert check_protocol(lift(), UNCACHED).coverage is None
    document = json.loads(tidegauge(*FALLS, "--json", "-").out)
    assert "coverage" not in document
    assert "threats" not in document


def test_an_outcome_with_coverage_can_be_handed_to_another_process() -> None:
    found = covered(test_mutation.lock())
    found = with_threats(test_mutation.Imagined(test_mutation.lock()), found, UNCACHED).without_traces()
    assert pickle.loads(pickle.dumps(found)) == found


# Promises


@invariant
def says_nothing(state: Any) -> Any:
    return state.uses <= 2


def test_promises_that_no_mutation_threatens() -> None:
    made = test_mutation.lock()
    more = protocol(
        "lock",
        variables=made.variables,
        actions=[test_mutation.acquire, test_mutation.release],
        invariants=[test_mutation.one_inside, says_nothing],
    )
    subject = test_mutation.Imagined(more)
    found = with_threats(subject, check_protocol(more, UNCACHED), UNCACHED).threats
    assert found is not None
    assert {name: (mutant.source, mutant.part) for name, mutant in found.threatened.items()} == {
        "OneInside": ("require((state.holder == none) & (state.uses < 2))", 1)
    }
    assert (found.safe, found.unknown, found.tried) == (("SaysNothing",), (), len(test_mutation.FATES))
    limited = with_threats(subject, check_protocol(more, UNCACHED), replace(UNCACHED, max_states=3))
    assert limited.threats is not None
    assert limited.threats.safe == ()
    assert "SaysNothing" in limited.threats.unknown
    assert limited.verdict is Verdict.INCONCLUSIVE


def test_a_promise_that_falls_at_once_is_not_asked_about() -> None:
    spec = load_spec("published/truncate-to-high-watermark").changed(
        {"replicas": 2, "log_size": 1, "records": 1, "epochs": 2}, invariants=["WeakIsr"]
    )
    found = with_threats(spec, check_protocol(spec.protocol(), UNCACHED), UNCACHED).threats
    assert found is not None
    assert (found.fallen, found.threatened, found.tried) == (("WeakIsr",), {}, 0)


def test_a_promise_of_which_nothing_is_known_is_not_asked_about() -> None:
    subject, options = test_mutation.Imagined(test_mutation.lock()), replace(UNCACHED, max_states=2)
    found = with_threats(subject, check_protocol(subject.made, options), options)
    assert found.threats is not None
    assert (found.threats.unknown, found.threats.tried, found.verdict) == (("OneInside",), 0, Verdict.INCONCLUSIVE)


def test_a_ctrl_c_while_mutants_are_searched_leaves_what_is_known() -> None:
    class Impatient(Watch):
        searched = 0

        def phase(self, name: str) -> None:
            self.searched += name.startswith("mutant ")

        def interrupted(self) -> bool:
            return self.searched == 2

    made = protocol(
        "lock",
        variables=test_mutation.lock().variables,
        actions=[test_mutation.acquire, test_mutation.release],
        invariants=[test_mutation.one_inside, says_nothing],
    )
    found = with_threats(test_mutation.Imagined(made), check_protocol(made, UNCACHED), UNCACHED, Impatient())
    assert found.threats is not None
    assert (list(found.threats.threatened), found.threats.unknown, found.threats.tried) == (
        ["OneInside"],
        ("SaysNothing",),
        2,
    )
    assert found.was_interrupted
    assert found.doubts == ("Whether a mutation threatens SaysNothing is not known: it was interrupted.",)


# What is said


@pytest.mark.parametrize("width", [80, 120])
def test_the_report(width: int, snapshot: SnapshotAssertion) -> None:
    """Without the numbers of lines, which change with this file."""
    made = test_mutation.lock()
    found = with_threats(test_mutation.Imagined(made), covered(made), UNCACHED)
    lines = [*coverage_report(replace(found, threats=None), width), *threats_report(found, width)]
    assert re.sub(r"(\.py:)\d+", r"\1…", text_of(lines)) == snapshot


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_report_keeps_to_the_width(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    ended = tidegauge("check", "published/kip-320", *SMALL, "--coverage", "--threats")
    report = ended.out[ended.out.index("Coverage of") :]
    assert (ended.code, "\nPromises that a mutation of the rules breaks" in report) == (0, True)
    assert max(map(len, report.splitlines())) <= width


def test_the_document() -> None:
    ended = tidegauge("check", "published/kip-320", *SMALL, "--coverage", "--threats", "--json", "-")
    document = json.loads(ended.out)
    jsonschema.validate(document, schema("result"))
    found = coverage(load_spec("published/kip-320").changed(dict(zip(BOUNDS, (2, 1, 1, 2), strict=True))).protocol())
    assert document["coverage"]["states"] == found.states
    shown = [(each["action"], each["enabled"], each["taken"]) for each in document["coverage"]["actions"]]
    assert shown == [(each.action, each.enabled, each.taken) for each in found.actions]
    numbers = [
        (each["asked"], each["false"], each["alone"])
        for action in document["coverage"]["actions"]
        for each in action["conjuncts"]
    ]
    assert numbers == [(c.asked, c.false, c.alone) for each in found.actions for c in each.conjuncts]
    assert len(document["coverage"]["never_decide"]) == len(found.undecided) > 0
    everything = {*document["threats"]["threatened"], *document["threats"]["safe"]}
    assert everything == {"LeaderInIsr", "WeakIsr", "StrongIsr"}


BOUNDS = ("replicas", "log_size", "records", "epochs")
