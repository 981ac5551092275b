"""`diff`: what differs between two specs, and the shortest trace that one allows and the other forbids.

The traces are held against a plain search in Python that knows nothing of the product.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest
from command_line import elsewhere, schema, tidegauge
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from source_tree import ROOT
from strategies import protocols

from checker.data import shipped_specs
from checker.diff import Difference, _way, diff
from checker.explore.reference import search
from checker.product import Product, label_of
from checker.run import Options, Watch, prepare
from checker.spec import Spec, load_spec
from model.errors import ModelFault
from model.language.evaluate import successors
from model.language.protocol import Protocol, State

SMALL: Final = {"replicas": 2, "log_size": 1, "records": 1, "epochs": 2}
COUNTER: Final = """\
from model.language import Bool, Range, action, invariant, protocol, require


def counter(most=3, by=1, extra=0, start=0):
    @action
    def up(state):
        require(state.value + 1 <= most)
        state.value += 1

    @action
    def down(state):
        require(state.value >= by)
        state.value -= by

    @action
    def jump(state):
        state.value = most

    @invariant
    def small(state):
        return state.value <= 2

    def begin(state):
        state.value = start

    variables = {"value": Range(0, most)} | ({"seen": Bool()} if extra else {})
    actions = [up, down, jump] if extra else [up, down]
    return protocol("counter", variables=variables, actions=actions, invariants=[small], initial=begin)
"""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere(tmp_path, tmp_path_factory.getbasetemp() / "cache", monkeypatch)


def counters(first: dict[str, int], second: dict[str, int]) -> tuple[Spec, Spec]:
    Path("counter.py").write_text(COUNTER, encoding="utf-8")
    for name in ("one", "two"):
        text = 'title = "A counter"\nprotocol = "counter.py:counter"\ninvariants = ["Small"]\n'
        Path(f"{name}.toml").write_text(text, encoding="utf-8")
    return load_spec("one.toml").changed(bounds=first), load_spec("two.toml").changed(bounds=second)


def lengths(found: Difference) -> tuple[int | None, int | None]:
    """Steps of the trace that the first allows, and of the one that the second allows."""
    first, second = (None if way.found is None else len(way.found.trace.steps) for way in found.ways)
    return first, second


# Against a plain search


def shown(protocol: Protocol, state: State, paths: set[str]) -> dict[str, Any]:
    return {
        str(cell.path): cell.domain.to_json(code)
        for cell, code in zip(protocol.cells, state, strict=True)
        if str(cell.path) in paths
    }


def shortest_by_hand(able: Protocol, unable: Protocol, paths: set[str]) -> int | None:
    """Steps of the shortest trace of one that the other forbids."""
    level = {(a, b) for a in able.initial for b in unable.initial if shown(able, a, paths) == shown(unable, b, paths)}
    seen = set(level)
    steps = 0
    while level:
        steps += 1
        ahead = set()
        for a, b in level:
            possible = {label_of(unable, step): after for step, after in successors(unable, b)}
            for step, after in successors(able, a):
                label = label_of(able, step)
                if label not in possible or shown(able, after, paths) != shown(unable, possible[label], paths):
                    return steps
                ahead.add((after, possible[label]))
        level = ahead - seen
        seen |= level
    return None


def by_hand(first: Spec, second: Spec) -> tuple[int | None, int | None]:
    one, other = first.protocol(), second.protocol()
    product = Product(one, other)
    paths = {str(one.cells[number].path) for number in product.shared}
    return shortest_by_hand(one, other, paths), shortest_by_hand(other, one, paths)


PUBLISHED: Final = [name for name in shipped_specs() if name.startswith("published/")]


@pytest.mark.parametrize(("one", "other"), list(pairwise(PUBLISHED)))
def test_published_models_differ_where_a_plain_search_says(one: str, other: str) -> None:
    bounds = {**SMALL, "epochs": 3}
    first, second = load_spec(one).changed(bounds=bounds), load_spec(other).changed(bounds=bounds)
    assert lengths(diff(first, second)) == by_hand(first, second)


@st.composite
def relatives(draw: st.DrawFn) -> tuple[Protocol, Protocol]:
    """A random protocol, and one in which a step has the guard or the effect of another one."""
    one = draw(protocols(largest=8))
    assume(len(one.steps) > 1)
    changed, other = draw(st.permutations(one.steps))[:2]
    parts = {"guard": other.guard} if draw(st.booleans()) else {"updates": other.updates}
    steps = tuple(replace(step, **parts) if step is changed else step for step in one.steps)
    return one, replace(one, steps=steps)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(relatives())
def test_random_protocols_differ_where_a_plain_search_says(pair: tuple[Protocol, Protocol]) -> None:
    one, other = pair
    product = Product(one, other)
    paths = {str(cell.path) for cell in one.cells}
    try:
        found = search(product.protocol, enough=3_000)
        expected = shortest_by_hand(one, other, paths), shortest_by_hand(other, one, paths)
    except ModelFault:
        assume(False)
    assume(found.complete)
    effect, *allows = (found.depth_of(predicate.name) for predicate in product.protocol.invariants)
    # A level has one step less than its number; what is not allowed takes one step more.
    lengths = [[depth for depth in (effect and effect - 1, each) if depth is not None] for each in allows]
    assert tuple(min(each, default=None) for each in lengths) == expected


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ({}, {}, (None, None)),
        ({"most": 3}, {"most": 2}, (3, None)),  # the second cannot count to 3
        ({"by": 1}, {"by": 2}, (2, 4)),  # up, down against up, up, down: which leaves 1 and 0
        ({"extra": 1}, {}, (1, None)),  # jump
        ({"start": 1}, {"start": 0}, (1, 4)),
    ],
    ids=str,
)
def test_counters(first: dict[str, int], second: dict[str, int], expected: tuple[int | None, int | None]) -> None:
    one, two = counters(first, second)
    found = diff(one, two)
    if "start" not in first:
        assert lengths(found) == by_hand(one, two)
    else:
        assert found.left_out == ("value",)
    assert lengths(found)[0] == expected[0]
    assert not any(way.stopped for way in found.ways)


def test_what_forbids_the_last_step() -> None:
    smaller = diff(*counters({"most": 3}, {"most": 2})).ways[0].found
    assert smaller is not None
    assert [(each.text, each.place.line if each.place else None) for each in smaller.obstacles] == [
        ("~(2 < (value + 1))", 7)
    ]
    effect = diff(*counters({"by": 1}, {"by": 2})).ways[1].found
    assert effect is not None
    assert [(each.path, each.allowed, each.forbidding) for each in effect.disagreements] == [("value", "0", "1")]
    assert effect.obstacles == ()
    absent = diff(*counters({"extra": 1}, {})).ways[0].found
    assert absent is not None
    assert (absent.obstacles, absent.disagreements, absent.trace.steps[-1].action) == ((), (), "jump")


def test_the_trace_is_one_of_the_spec_that_allows_it() -> None:
    first, second = load_spec("lock-service"), load_spec("lock-service-unfenced")
    way = diff(first, second).ways[1].found
    assert way is not None
    assert way.trace.protocol.content_hash == second.protocol().content_hash
    assert not way.trace.protocol.invariants[0].expr.is_constant


# What is told


def test_settings_verdicts_and_the_exit_code() -> None:
    found = diff(
        load_spec("kip-279").changed(bounds=SMALL), load_spec("kip-320").changed(bounds={**SMALL, "epochs": 3})
    )
    assert dict(found.settings) == {
        "synchrony": ("leader", "leader-epoch"),
        "truncation_fencing": ("none", "leader-epoch"),
        "isr_expansion": ("high-watermark", "leader-epoch-start"),
        "epochs": (2, 3),
    }
    assert found.verdicts == dict.fromkeys(("LeaderInIsr", "WeakIsr", "StrongIsr"), ("holds", "holds"))
    assert found.exit_code == 1
    spec = load_spec("kip-320").changed(bounds=SMALL)
    same = diff(spec, replace(spec, name="again"))
    assert (same.settings, lengths(same), same.exit_code) == ({}, (None, None), 0)


def test_a_limit_is_inconclusive() -> None:
    spec = load_spec("kip-320").changed(bounds=SMALL)
    found = diff(spec, spec, Options(max_states=10))
    assert [way.stopped for way in found.ways] == ["the limit on stored states was reached"] * 2
    assert found.exit_code == 3


def test_specs_that_cannot_be_compared_step_by_step() -> None:
    ended = tidegauge(
        "diff", "kip-320", "kip-320-two-replicas", *("--replicas", "2"), "--epochs", "2", "--records", "1"
    )
    assert ended.code == 3 or "VIOLATED" in ended.out
    assert "Step by step they cannot be compared: an initial state of one agrees with several" in ended.unwrapped


def test_initial_states_that_only_one_has() -> None:
    ended = tidegauge("diff", "kip-320-two-replicas", "kip-320-three-replicas", "--epochs", "2", "--records", "1")
    assert ended.code == 1
    assert "brokers/kip-320-three-replicas has " in ended.unwrapped


def test_the_report_and_the_document() -> None:
    ended = tidegauge("diff", "lock-service", "lock-service-unfenced")
    assert (ended.code, ended.err) == (1, "")
    assert "Whatever examples/lock-service does, examples/lock-service-unfenced can do (337" in ended.unwrapped
    assert (
        "lock-service-unfenced allows this and examples/lock-service forbids it, in 5 steps, the fewest:"
        in ended.unwrapped
    )
    assert "~(lease[A] < newest)" in ended.out
    document = json.loads(tidegauge("diff", "lock-service", "lock-service-unfenced", "--json", "-").out)
    jsonschema.validate(document, schema("result"))
    assert document["verdicts"] == {"GrantsInOrder": ["holds", "violated in 5 steps"]}
    assert [way["trace"] and len(way["trace"]["steps"]) for way in document["ways"]] == [None, 5]


def test_two_versions_of_one_spec() -> None:
    for name in ("old", "new"):
        shutil.copytree(ROOT / "specs" / "examples", name)
    path = Path("new/two_phase_commit.py")
    path.write_text(
        path.read_text(encoding="utf-8").replace('require(state.phase[manager] == "working")', "", 1), "utf-8"
    )
    ended = tidegauge("diff", "old/two-phase-commit.toml", "new/two-phase-commit.toml")
    assert ended.code == 1
    assert (
        "new/two-phase-commit.toml allows this and old/two-phase-commit.toml forbids it, in 2 steps" in ended.unwrapped
    )


def test_ctrl_c_ends_it() -> None:
    class Impatient(Watch):
        """Presses Ctrl-C at once."""

        def interrupted(self) -> bool:
            return True

    first, second = counters({}, {"by": 2})
    product = Product(first.protocol(), second.protocol())
    with pytest.raises(KeyboardInterrupt):
        _way(product, prepare(product.protocol, Options(symmetry="off")), 0, Options(), Impatient())
