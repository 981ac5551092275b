"""Sweeps: one spec at several sizes, and the smallest that violate."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest
from command_line import elsewhere, schema, tidegauge

from checker.outcome import Verdict
from checker.run import Options
from checker.spec import Expectation, load_spec
from checker.sweep import sweep
from model.errors import SpecError

#: An election by half of the votes: wrong if the number of nodes is even, or if a node has a vote to spare.
ELECTION: Final = '''\
from model.language import Map, Range, Scalarset, Set, action, count, invariant, protocol, require


def election(nodes=3, spare=0):
    Node = Scalarset("Node", nodes)

    @action
    def vote(state, voter: Node, candidate: Node):
        require(state.used[voter] <= spare, ~state.votes[candidate].has(voter))
        state.used[voter] += 1
        state.votes[candidate].add(voter)

    @action
    def win(state, candidate: Node):
        require(2 * state.votes[candidate].size >= nodes)
        state.leaders.add(candidate)

    @invariant
    def one_leader(state):
        """At most one node leads."""
        return state.leaders.size <= 1

    @invariant
    def votes_count(state):
        """Nobody leads without a vote."""
        return state.leaders.all(lambda node: state.votes[node].size > 0)

    variables = {"used": Map(Node, Range(0, spare + 1)), "votes": Map(Node, Set(Node)), "leaders": Set(Node)}
    return protocol("election", variables=variables, actions=[vote, win], invariants=[one_leader, votes_count])
'''
SPEC: Final = """\
title = "An election"
protocol = "election.py:election"
invariants = ["OneLeader", "VotesCount"]

[bounds]
nodes = 3

[sweep]
nodes = [1, 2, 3]
spare = [0, 1]

[expect]
OneLeader = "holds"
"""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere(tmp_path, tmp_path_factory.getbasetemp() / "cache", monkeypatch)


def written(spec: str = SPEC) -> Path:
    Path("election.py").write_text(ELECTION, encoding="utf-8")
    path = Path("my-spec.toml")
    path.write_text(spec, encoding="utf-8")
    return path


def test_points_are_the_product_in_order() -> None:
    points = load_spec(written()).points()
    assert [tuple(point.all_bounds().values()) for point in points] == [(1, 0), (1, 1), (2, 0), (2, 1), (3, 0), (3, 1)]
    assert [point.name for point in points[:2]] == ["my-spec/nodes-1-spare-0", "my-spec/nodes-1-spare-1"]
    assert {point.name: dict(point.expect) for point in points if point.expect} == {
        "my-spec/nodes-3-spare-0": {"OneLeader": Expectation()}
    }
    assert not any(point.sweep or point.quick_origin for point in points)


def test_a_spec_without_a_sweep_is_its_only_point() -> None:
    spec = load_spec("kip-320")
    assert spec.points() == (spec,)


def test_a_bound_that_is_given_is_not_swept() -> None:
    spec = load_spec(written())
    assert dict(spec.changed(bounds={"nodes": 2}).sweep) == {"spare": (0, 1)}
    assert dict(spec.changed(features={"nodes": "2"}, bounds={"spare": 0}).sweep) == {}


def test_the_smallest_sizes_that_violate() -> None:
    found = sweep(load_spec(written()))
    assert [row.outcome.invariants[0].steps for row in found.rows] == [None, None, 4, 4, None, 6]
    assert [found.point(row) for row in found.smallest("OneLeader")] == [{"nodes": 2, "spare": 0}]
    assert found.smallest("VotesCount") == ()
    assert (found.verdict, found.exit_code) == (Verdict.VIOLATED, 1)
    incomparable = replace(
        found, rows=tuple(row for row in found.rows if row.spec.all_bounds() != {"nodes": 2, "spare": 0})
    )
    odd = replace(incomparable, rows=tuple(row for row in incomparable.rows if row.spec.all_bounds()["nodes"] != 2))
    assert [found.point(row) for row in odd.smallest("OneLeader")] == [{"nodes": 3, "spare": 1}]


def test_sizes_that_cannot_be_compared_are_all_named() -> None:
    spec = SPEC.replace("[1, 2, 3]", "[4, 3]").replace("[0, 1]", "[1, 0]")
    found = sweep(load_spec(written(spec)), Options(fail_fast=True))
    assert [found.point(row) for row in found.smallest("OneLeader")] == [
        {"nodes": 4, "spare": 0},
        {"nodes": 3, "spare": 1},
    ]


def test_what_check_says() -> None:
    written()
    ended = tidegauge("check", "my-spec.toml")
    assert (ended.code, ended.err) == (1, "")
    lines = ended.out.splitlines()
    assert lines[0] == "my-spec: VIOLATED at 3 of 6 sizes."
    assert [line.split()[:6] for line in lines if line.startswith("  2 nodes, spare 0")] == [
        ["2", "nodes,", "spare", "0", "4", "holds"]
    ]
    assert "  OneLeader   2 nodes, spare 0 (4 steps)" in lines
    assert "  VotesCount  none of these" in lines
    assert lines[-1].startswith("  tidegauge explain tidegauge-out/my-spec-nodes-2-spare-0-OneLeader.json --protocol ")
    assert tidegauge(*lines[-1].split()[1:]).code == 0


@pytest.mark.parametrize("option", ["--coverage", "--threats"])
def test_what_tells_of_one_size_is_refused(option: str) -> None:
    written()
    ended = tidegauge("check", "my-spec.toml", option)
    what = f"tidegauge: error: my-spec sweeps nodes and spare, and {option} tells of one size."
    assert (ended.code, ended.err) == (2, f"{what} Choose the size: give nodes and spare a value.\n")


def test_the_expectation_is_held_against_the_specs_own_bounds() -> None:
    """Nothing is expected elsewhere; what is not as expected is marked."""
    written(SPEC.replace('"holds"', "{ violated = 5 }"))
    ended = tidegauge("check", "my-spec.toml")
    assert ended.code == 1
    assert "! my-spec/nodes-3-spare-0: OneLeader holds; the spec expects: violated in 5 steps." in ended.unwrapped
    assert ended.unwrapped.count("the spec expects: ") == 1
    assert tidegauge("compare", "my-spec.toml", "--quiet").code == 1
    written()
    assert tidegauge("compare", "my-spec.toml", "--quiet").code == 0


def test_limits_leave_it_inconclusive() -> None:
    written(SPEC.replace("[1, 2, 3]", "[1, 3]").replace("[0, 1]", "[0]"))
    assert tidegauge("check", "my-spec.toml", "--quiet").code == 0
    ended = tidegauge("check", "my-spec.toml", "--max-states", "5")
    assert ended.code == 3
    assert ended.out.startswith("my-spec: INCONCLUSIVE at 1 of 2 sizes.")
    assert "OneLeader   none of these; inconclusive: 3 nodes, spare 0" in ended.out


def result(*arguments: str) -> Any:
    return json.loads(tidegauge("check", "my-spec.toml", *arguments, "--json", "-").out)


def test_the_document() -> None:
    written()
    document = result()
    jsonschema.validate(document, schema("result"))
    assert document["sweep"] == {"nodes": [1, 2, 3], "spare": [0, 1]}
    assert document["smallest"] == {"OneLeader": [{"nodes": 2, "spare": 0}], "VotesCount": []}
    assert [each["spec"] for each in document["results"]][-1] == "my-spec/nodes-3-spare-1"
    assert {**document, "results": []} == {**result("--no-symmetry"), "results": []}
    assert result("--set", "nodes=2", "--set", "spare=0")["schema"] == "tidegauge/result/1"


def test_bounds_of_the_kafka_protocol() -> None:
    Path("my-spec.toml").write_text(
        'extends = "truncate-to-high-watermark"\ninvariants = ["WeakIsr"]\n[bounds]\nreplicas = 2\nlog_size = 1\n'
        "records = 2\n[sweep]\nepochs = [1, 2, 3]\n",
        encoding="utf-8",
    )
    document = result()
    assert [each["bounds"]["epochs"] for each in document["results"]] == [1, 2, 3]
    assert document["verdict"] == "violated"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("nodes = [1, 2, 3]\nspare = [0, 1]\n", "", "my-spec.toml:8: [sweep] is empty. Give a bound several values: "),
        ("[0, 1]", "1", "my-spec.toml:10: spare is 1. Give a list of numbers: spare = [2, 3]."),
        ("[0, 1]", "[]", "my-spec.toml:10: spare is a list. Give a list of numbers: spare = [2, 3]."),
        ("[0, 1]", '[0, "1"]', "my-spec.toml:10: the bound spare is '1'. Give a whole number."),
        ("[0, 1]", "[0, 0]", "my-spec.toml:10: spare has 0 twice. Take one of the two out."),
        ("[0, 1]", "[0, -1]", "my-spec.toml:10: the bound spare is -1. Give a number from 0 to 1000."),
        ("spare = [", "spares = [", "my-spec.toml:10: my-spec has no bound 'spares'. Did you mean 'spare'?"),
    ],
)
def test_mistakes(old: str, new: str, expected: str) -> None:
    with pytest.raises(SpecError) as caught:
        load_spec(written(SPEC.replace(old, new)))
    assert str(caught.value).startswith(expected)


def test_a_size_that_is_too_large_is_told_before_any_search() -> None:
    written(SPEC.replace("[1, 2, 3]", "[1, 9]"))
    ended = tidegauge("check", "my-spec.toml")
    assert (ended.code, ended.out) == (2, "")
    assert "is too large to be checked exhaustively: 9 members of Node (at most 8)" in ended.err


def test_the_schema_knows_sweeps() -> None:
    validator = jsonschema.Draft202012Validator(schema("spec"))
    validator.validate(tomllib.loads(SPEC))
    assert not validator.is_valid(tomllib.loads(SPEC.replace("[0, 1]", "[0, 0]")))
    kafka = 'title = "K"\nvariant = "published/kip-320"\ninvariants = ["WeakIsr"]\n[sweep]\n'
    validator.validate(tomllib.loads(f"{kafka}epochs = [1, 2]"))
    assert not validator.is_valid(tomllib.loads(f"{kafka}nodes = [1, 2]"))
