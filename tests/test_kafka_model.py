"""The published models, searched by the plainest means there is: the evaluator and a loop.

TLC's counts at small bounds are reproduced here without any engine. `test_published_tlc.py` does it for every row, with
the engine.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.errors import UsageError
from model.kafka import NAMED_VARIANTS, Bounds, Variant, kafka
from model.kafka.truncation import matching_prefix, published_kip_101, to_high_watermark
from model.language import (
    Map,
    Protocol,
    Range,
    Record,
    Scalarset,
    Sequence,
    action,
    apply,
    evaluate,
    protocol,
    successors,
)
from model.language.protocol import State
from model.language.show import from_json, sentence, to_json

PUBLISHED = sorted(name for name in NAMED_VARIANTS if name.startswith("published/"))
SMALL_BOUNDS = [(2, 1, 1, 2), (2, 2, 1, 2), (2, 2, 2, 2), (3, 1, 1, 1), (2, 2, 2, 3)]

Row: TypeAlias = dict[str, str]


@dataclass(frozen=True)
class Found:
    """`violated` says for each invariant that falls how many states its shortest counterexample has."""

    distinct: int
    depth: int
    violated: dict[str, int]


def search(made: Protocol) -> Found:
    """Level by level, as in a textbook."""
    seen = set(made.initial)
    level, depth = list(seen), 0
    violated: dict[str, int] = {}
    while level:
        depth += 1
        for invariant in made.invariants:
            if not all(evaluate(invariant.expr, state) for state in level):
                violated.setdefault(invariant.name, depth)
        reached = dict.fromkeys(after for state in level for _, after in successors(made, state))
        level = [state for state in reached if state not in seen]
        seen.update(level)
    return Found(len(seen), depth, violated)


def rows_of(model: str, bounds: tuple[int, ...]) -> list[Row]:
    path = Path(__file__).parent / "data" / "published-tlc.csv"
    wanted = [model.removeprefix("published/"), *map(str, bounds)]
    with path.open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if list(row.values())[:5] == wanted]


CASES = [(name, bounds) for bounds in SMALL_BOUNDS for name in PUBLISHED if rows_of(name, bounds)]


def test_every_model_and_every_bound_is_among_the_cases() -> None:
    assert {name for name, _ in CASES} == set(PUBLISHED)
    assert {bounds for _, bounds in CASES} == set(SMALL_BOUNDS)
    assert len(CASES) == 15


@pytest.mark.parametrize(("name", "bounds"), CASES, ids=lambda each: str(each).replace("published/", ""))
def test_as_tlc_says(name: str, bounds: tuple[int, int, int, int]) -> None:
    found = search(kafka(NAMED_VARIANTS[name], Bounds(*bounds)))
    rows = rows_of(name, bounds)
    [plain] = [row for row in rows if row["mode"] == "plain"]
    assert (found.distinct, found.depth) == (int(plain["distinct"]), int(plain["depth"]))
    judged = [row for row in rows if row["mode"] == "invariant"]
    assert {row["invariant"] for row in judged} == {"LeaderInIsr", "WeakIsr", "StrongIsr"}
    expected = {row["invariant"]: int(row["counterexample_states"]) for row in judged if row["verdict"] == "violated"}
    assert found.violated == expected


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("published/kip-101", 57),
        ("published/kip-279", 57),
        ("published/kip-320", 57),
        ("published/kip-320-first-try", 63),
        ("published/truncate-to-high-watermark", 57),
    ],
)
def test_steps_at_three_replicas_and_three_epochs(name: str, steps: int) -> None:
    assert len(kafka(NAMED_VARIANTS[name], Bounds(3, 2, 2, 3)).steps) == steps


@pytest.mark.parametrize("name", PUBLISHED)
def test_with_one_replica_nobody_has_a_peer(name: str) -> None:
    made = kafka(NAMED_VARIANTS[name], Bounds(1, 2, 2, 3))
    impossible = {action.name for action in made.actions if not action.possible}
    of_two = {action.name for action in made.actions if len(action.parameters) > 1} - {"become_leader"}
    assert impossible == of_two
    assert impossible
    assert not {step.action for step in made.steps} & impossible
    assert search(made).violated == {}


@pytest.mark.parametrize("name", PUBLISHED)
def test_with_two_replicas_every_action_is_possible(name: str) -> None:
    assert all(action.possible for action in kafka(NAMED_VARIANTS[name], Bounds(2, 1, 1, 1)).actions)


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_initial_state(name: str) -> None:
    made = kafka(NAMED_VARIANTS[name], Bounds(2, 2, 2, 3))
    nobody: dict[str, Any] = {"leader": None, "isr": []}
    [initial] = [to_json(made, state) for state in made.initial]
    assert initial["quorum"] == {"leader_epoch": None, "leader": None, "isr": ["A", "B"]}
    assert initial["requests"] == {"0": nobody, "1": nobody, "2": nobody}
    assert (initial["next_epoch"], initial["next_record"]) == (0, 0)
    replica = {"log": [], "high_watermark": 0, "leader_epoch": None, "leader": None, "isr": []}
    assert initial["replicas"] == {"A": replica, "B": replica}


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_step_can_be_told(name: str) -> None:
    """In one plain sentence, whatever the state."""
    made = kafka(NAMED_VARIANTS[name], Bounds(2, 2, 2, 2))
    seen, level = set(made.initial), list(made.initial)
    while level:
        state = level.pop()
        for step, after in successors(made, state):
            told = sentence(made, step, state, after)
            assert told.endswith(".")
            assert "\n" not in told
            if after not in seen:
                seen.add(after)
                level.append(after)


# Truncation points, computed a second time from what the papers say

LogEntry: TypeAlias = tuple[int, int]  # a record's id and epoch
LOG = Sequence(Record(id=Range(0, 5), epoch=Range(0, 3)), 3)
TWO = Scalarset("Replica", 2)
logs = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), max_size=3)


def point(policy: Any, follower: list[LogEntry], leader: list[LogEntry], high_watermark: int) -> int:
    """Where the model's function cuts the follower's log."""

    @action
    def cut(state: Any) -> None:
        state.point = policy(state.replicas["A"], state.replicas["B"])

    replica = Record(log=LOG, high_watermark=Range(0, 3))
    made = protocol("cut", variables={"replicas": Map(TWO, replica), "point": Range(0, 3)}, actions=[cut])
    records = [[{"id": record, "epoch": epoch} for record, epoch in log] for log in (follower, leader)]
    replicas = {name: {"log": log, "high_watermark": high_watermark} for name, log in zip("AB", records, strict=True)}
    state: State = from_json(made, {"replicas": replicas, "point": 0})
    return apply(made, made.steps[0], state)[-1]


@given(logs, logs, st.integers(0, 3))
def test_truncation_to_the_high_watermark(follower: list[LogEntry], leader: list[LogEntry], watermark: int) -> None:
    assert point(to_high_watermark, follower, leader, watermark) == watermark


@given(logs, logs, st.integers(0, 3))
def test_truncation_of_kip_101(follower: list[LogEntry], leader: list[LogEntry], watermark: int) -> None:
    def by_the_book() -> int:
        if not follower:
            return 0
        if not leader:
            return watermark
        last_epoch = follower[-1][1]
        if leader[-1][1] == last_epoch:
            return len(leader)
        return next((offset for offset, (_, epoch) in enumerate(leader) if epoch > last_epoch), watermark)

    assert point(published_kip_101, follower, leader, watermark) == by_the_book()


@given(logs, logs, st.integers(0, 3))
def test_truncation_of_kip_279(follower: list[LogEntry], leader: list[LogEntry], watermark: int) -> None:
    same = [offset + 1 for offset, (own, other) in enumerate(zip(follower, leader, strict=False)) if own == other]
    assert point(matching_prefix, follower, leader, watermark) == max(same, default=0)


# What is asked for


@pytest.mark.parametrize("value", [0, -1, 1_000_000, 2.5, "3", True, None])
@pytest.mark.parametrize("name", ["replicas", "log_size", "records", "epochs"])
def test_bounds_are_counts(name: str, value: Any) -> None:
    with pytest.raises(UsageError, match=f"the bound {name} is"):
        Bounds(**{name: value})


def test_an_unknown_rule_comes_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="cannot be 'hihg-watermark'") as raised:
        Variant(truncation="hihg-watermark")
    assert "Did you mean 'high-watermark'?" in str(raised.value)
    assert "published-kip-101" in str(raised.value)


def test_an_unknown_feature_comes_with_the_nearest_one() -> None:
    with pytest.raises(UsageError, match=r"there is no feature 'truncaton'\. Did you mean 'truncation'\?"):
        Variant().changed({"truncaton": "high-watermark"})
