"""`explain` and `replay`: what can be asked of a stored trace."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from command_line import BOUNDS, FALLS, elsewhere, tidegauge


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere(tmp_path, tmp_path_factory.getbasetemp() / "cache", monkeypatch)


@pytest.fixture
def trace() -> str:
    tidegauge(*FALLS, "--quiet", "--invariant", "WeakIsr")
    return "tidegauge-out/published-truncate-to-high-watermark-WeakIsr.json"


def test_explain_tells_the_story(trace: str) -> None:
    ended = tidegauge("explain", trace, "--no-lanes")
    assert ended.code == 0
    assert "WeakIsr is violated in published/truncate-to-high-watermark, in 8 steps." in ended.out
    story, _, turning = ended.out.partition("\nTurning point: ")
    assert turning == "step 8, the last: until then WeakIsr could still be kept.\n"
    assert story in tidegauge(*FALLS, "--invariant", "WeakIsr").out.replace("steps.\n\n", f"steps.\n{BOUNDS}\n\n")


def test_explain_draws_lanes(trace: str) -> None:
    ended = tidegauge("explain", trace)
    assert ended.code == 0
    assert "[ ] m0 e0, which the violation is about." in ended.unwrapped
    assert "      B  |[-m0 e0]   follows A, epoch 1\n" in ended.out


def test_explain_tells_parts(trace: str) -> None:
    ended = tidegauge("explain", trace, "--steps", "8", "--full", "--show", "replicas[B]", "--hide", "*.isr")
    assert ended.code == 0
    assert "replicas[B].log" in ended.out
    assert "replicas[A].leader" not in ended.out
    assert "(steps 1 to 7 are left out)" in ended.out


@pytest.mark.parametrize("steps", ["3..6", "3..", "..6", "3"])
def test_explain_takes_ranges(steps: str, trace: str) -> None:
    ended = tidegauge("explain", trace, "--steps", steps)
    assert ended.code == 0
    assert "left out" in ended.out


@pytest.mark.parametrize("options", [("--steps", "9"), ("--show", "replica"), ("--hide", "nothing")])
def test_explain_refuses_parts_that_are_not_there(options: tuple[str, str], trace: str) -> None:
    ended = tidegauge("explain", trace, *options)
    assert (ended.code, ended.out) == (2, "")


def test_replay_confirms(trace: str) -> None:
    ended = tidegauge("replay", trace)
    assert ended.code == 0
    assert "still a counterexample" in ended.unwrapped


def test_replay_says_where_the_steps_stop_applying(trace: str) -> None:
    document = json.loads(Path(trace).read_text(encoding="utf-8"))
    del document["steps"][2]
    Path(trace).write_text(json.dumps(document), encoding="utf-8")
    ended = tidegauge("replay", trace)
    assert ended.code == 1
    assert "no longer a counterexample" in ended.unwrapped
    assert "is not enabled" in ended.unwrapped


def test_a_trace_of_another_model_comes_with_a_warning(trace: str) -> None:
    document = json.loads(Path(trace).read_text(encoding="utf-8"))
    document["model_hash"] = "0" * 32
    Path(trace).write_text(json.dumps(document), encoding="utf-8")
    for command in ("explain", "replay"):
        ended = tidegauge(command, trace)
        assert ended.code == 0
        assert ended.err.startswith("tidegauge: warning: The model has changed")


# Damaged files


def damaged(text: str, random: Random) -> str:
    """The text of a trace with one thing wrong: cut off, a character changed, or a value replaced by another."""
    kind = random.randrange(4)
    if kind == 0:
        return text[: random.randrange(len(text))]
    if kind == 1:
        at = random.randrange(len(text))
        return text[:at] + random.choice('{}[]",:x0\\\0é') + text[at + 1 :]
    document = json.loads(text)
    holder: Any = document
    while True:
        key = random.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        if not holder[key] or not isinstance(holder[key], dict | list) or random.random() < 0.2:
            break
        holder = holder[key]
    if kind == 2:
        del holder[key]
    else:
        holder[key] = random.choice([None, -1, 10**30, 2.5, True, "A", "", [], {}, [[]], {"A": 1}, "published/kip-320"])
    return json.dumps(document)


@pytest.mark.parametrize("seed", range(10))
def test_damaged_traces_get_a_sentence(seed: int, trace: str) -> None:
    whole, random = Path(trace).read_text(encoding="utf-8"), Random(seed)
    for _ in range(10):
        Path(trace).write_text(damaged(whole, random), encoding="utf-8")
        for command in ("explain", "replay"):
            ended = tidegauge(command, trace)
            assert ended.code in (0, 1, 2), ended.err
            assert ended.code != 2 or len(ended.err.splitlines()) == 1, ended.err
