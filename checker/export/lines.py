"""A graph of states as JSON Lines: one object a line, to be read without reading everything.

    {"kind": "graph", "title": …, "states": 12, "steps": 30}
    {"kind": "state", "id": 0, "initial": true, "violates": [], "state": {…}}
    {"kind": "step", "source": 0, "target": 1, "action": …, "parameters": {…}, "sentence": …}

States come first, in the order of their ids; what a state looks like is as in a stored trace.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from checker.export.labels import parameters, told
from checker.export.state_graph import Edge, Node, StateGraph
from model.language.show import to_json


def jsonl(graph: StateGraph) -> str:
    """All lines, each with its end."""
    return "".join(f"{json.dumps(each, ensure_ascii=False)}\n" for each in _objects(graph))


def _objects(graph: StateGraph) -> Iterator[dict[str, Any]]:
    yield {"kind": "graph", "title": graph.title, "states": len(graph.nodes), "steps": len(graph.edges)}
    yield from (_state(graph, place, node) for place, node in enumerate(graph.nodes))
    yield from (_step(graph, edge) for edge in graph.edges)


def _state(graph: StateGraph, place: int, node: Node) -> dict[str, Any]:
    state = None if node.state is None else to_json(graph.protocol, node.state)
    return {
        "kind": "state",
        "id": place,
        "initial": node.is_initial,
        "violates": list(node.broken),
        "state": state,
    }


def _step(graph: StateGraph, edge: Edge) -> dict[str, Any]:
    return {
        "kind": "step",
        "source": edge.source,
        "target": edge.target,
        "action": edge.step.action,
        "parameters": parameters(graph, edge),
        "sentence": told(graph, edge),
    }
