"""DOT and GraphML of a graph of states. The only importer of networkx and pydot.

Every attribute is a string, nodes and edges come in the order of the graph, and nothing depends on time or on hashing,
so the same graph gives the same bytes everywhere.
"""

from __future__ import annotations

import io
import json
from typing import Final

import networkx

from checker.export.labels import edge_label, node_label, parameters, printable, told
from checker.export.state_graph import Edge, Node, StateGraph
from model.language.show import to_json

NAME: Final = "tidegauge"

_GRAPH: Final = {"fontname": "Helvetica", "fontsize": "14", "labelloc": "t", "ranksep": "0.35", "nodesep": "0.3"}
_NODE: Final = {
    "fontname": "Helvetica",
    "fontsize": "11",
    "shape": "box",
    "style": "rounded,filled",
    "color": "#52606d",
    "fillcolor": "#ffffff",
    "fontcolor": "#1f2933",
    "margin": "0.12,0.07",
}
_EDGE: Final = {
    "fontname": "Helvetica",
    "fontsize": "11",
    "color": "#52606d",
    "fontcolor": "#1f2933",
    "arrowsize": "0.7",
}
_INITIAL: Final = {"fillcolor": "#e6eef7", "color": "#1f4e79"}
_BROKEN: Final = {"fillcolor": "#fdecea", "color": "#b3261e", "penwidth": "2.5"}
_ASIDE: Final = {"style": "rounded,filled,dashed", "color": "#9aa5b1", "fillcolor": "#f5f7fa", "fontcolor": "#616e7c"}
_TRACE_EDGE: Final = {"weight": "50", "penwidth": "2"}  # the trace goes straight down, whatever else there is
_ASIDE_EDGE: Final = {"style": "dashed", "color": "#9aa5b1", "fontcolor": "#616e7c"}


# DOT


def dot(graph: StateGraph) -> str:
    """The graph as Graphviz reads it, labels and colours included."""
    picture = networkx.MultiDiGraph(
        name=NAME,
        graph=_quoted({**_GRAPH, "label": _lines([graph.title, ""], "\\n")}),
        node=_quoted(_NODE),
        edge=_quoted(_EDGE),
    )
    for place, node in enumerate(graph.nodes):
        picture.add_node(_name(place), **_quoted(_drawn_node(graph, place, node)))
    for number, edge in enumerate(graph.edges):
        picture.add_edge(_name(edge.source), _name(edge.target), number, **_quoted(_drawn_edge(graph, edge)))
    return _written(picture)


def _written(picture: networkx.MultiDiGraph) -> str:
    made = networkx.nx_pydot.to_pydot(picture)
    for edge in made.get_edges():
        edge.obj_dict["attributes"].pop("key")  # networkx's own number of the edge, which is no attribute of DOT
    text: str = made.to_string()
    return text


def _drawn_node(graph: StateGraph, place: int, node: Node) -> dict[str, str]:
    look = {**(_ASIDE if node.is_aside else {}), **(_INITIAL if node.is_initial else {})}
    look.update(_BROKEN if node.broken else {})
    return {"label": _lines(node_label(graph, place), "\\l"), "tooltip": _escaped(_state_text(graph, node)), **look}


def _drawn_edge(graph: StateGraph, edge: Edge) -> dict[str, str]:
    beside = [f" {line}" for line in edge_label(graph, edge)]  # the space keeps it off the line
    return {"label": _lines(beside, "\\l"), **(_ASIDE_EDGE if edge.is_aside else _TRACE_EDGE if edge.number else {})}


def _lines(lines: list[str], end: str) -> str:
    """A label of several lines, each with `end` as Graphviz writes ends of lines: to the left, or centred."""
    return "".join(f"{_escaped(line)}{end}" for line in lines)


def _escaped(text: str) -> str:
    """Graphviz takes backslashes for commands, in quotes or not, and reads HTML's names of characters everywhere."""
    text = printable(text).replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
    return text.replace("\n", "\\n")


def _quoted(attributes: dict[str, str]) -> dict[str, str]:
    """Quoted here, since pydot leaves alone what looks like HTML or like a number, and keeps what is quoted."""
    return {name: f'"{value}"' for name, value in attributes.items()}


# GraphML


def graphml(graph: StateGraph) -> str:
    """The graph as GraphML; states and parameters are attributes in JSON."""
    made = networkx.MultiDiGraph(title=printable(graph.title))
    for place, node in enumerate(graph.nodes):
        made.add_node(_name(place), **_printable(_node_attributes(graph, place, node)))
    for number, edge in enumerate(graph.edges):
        attributes = _printable(_edge_attributes(graph, edge))
        made.add_edge(_name(edge.source), _name(edge.target), f"e{number}", **attributes)
    written = io.BytesIO()
    networkx.write_graphml_xml(made, written, named_key_ids=False)
    return written.getvalue().decode("utf-8") + "\n"


def _node_attributes(graph: StateGraph, place: int, node: Node) -> dict[str, str]:
    return {
        "label": "\n".join(node_label(graph, place)),
        "state": _state_text(graph, node),
        "initial": _yes(node.is_initial),
        "aside": _yes(node.is_aside),
        "violates": ", ".join(node.broken),
    }


def _edge_attributes(graph: StateGraph, edge: Edge) -> dict[str, str]:
    return {
        "label": told(graph, edge),
        "action": edge.step.action,
        "parameters": json.dumps(parameters(graph, edge), ensure_ascii=False),
        "step": "" if edge.number is None else str(edge.number),
        "aside": _yes(edge.is_aside),
    }


def _printable(attributes: dict[str, str]) -> dict[str, str]:
    return {name: printable(value) for name, value in attributes.items()}


def _state_text(graph: StateGraph, node: Node) -> str:
    return "" if node.state is None else json.dumps(to_json(graph.protocol, node.state), ensure_ascii=False)


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _name(place: int) -> str:
    """Node names: s0, s1, …"""
    return f"s{place}"
