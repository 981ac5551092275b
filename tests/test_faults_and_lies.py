"""A fault of the model is told with its trace, and a lie of the engine is owned up to. Neither is ever a verdict."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest
from flag_models import TWO_REPLICAS, checked, done, finish, flags, raise_flag
from lying_code import Change, compiled_from, computing, lie

from checker.cli.application import run
from checker.outcome import Verdict
from model.errors import InternalError, ModelFault
from model.language import (
    Map,
    Member,
    Protocol,
    Range,
    action,
    all_of,
    any_of,
    apply,
    enabled,
    invariant,
    protocol,
    require,
)
from model.language.evaluate import step_text
from model.language.protocol import Step

Replica: TypeAlias = Member

in_both_modes = pytest.mark.parametrize("symmetry", ["on", "off"])


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
        variables={"count": Map(TWO_REPLICAS, Range(0, 2))},
        domains={"Replica": TWO_REPLICAS},
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
