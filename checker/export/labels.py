"""What stands on the nodes and edges of a graph of states, in lines of text."""

from __future__ import annotations

import unicodedata

from checker.export.state_graph import Edge, StateGraph
from checker.report.story import wrap
from model.language.domains import Json
from model.language.evaluate import step_text
from model.language.protocol import State
from model.language.show import Change, differences, sentence

LINE = 52  # columns of a label
MOST_CHANGES = 12
#: Separators of lines, characters that are none, and those that set the direction of whatever follows them.
_UNFIT = "\u2028\u2029\ufffe\uffff\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def node_label(graph: StateGraph, place: int) -> list[str]:
    """The number of the state, what is violated, and what has changed."""
    node = graph.nodes[place]
    head = [] if node.is_aside else ["initial state" if node.is_initial else f"state {place}"]
    changed = _changes(graph, node.since, node.state) if node.since and node.state else []
    return [*head, *(line for remark in node.remarks for line in wrap(remark, LINE)), *changed]


def _changes(graph: StateGraph, before: State, after: State) -> list[str]:
    found = [f"{each.path}: {_news(graph, each)}" for each in differences(graph.protocol, before, after)]
    left_out = len(found) - MOST_CHANGES
    return found if left_out < 2 else [*found[:MOST_CHANGES], f"({left_out} more changes)"]


def _news(graph: StateGraph, change: Change) -> str:
    return change.after if graph.is_whole else f"{change.before} → {change.after}"


def edge_label(graph: StateGraph, edge: Edge) -> list[str]:
    """The sentence of the step, with its number if it has one."""
    text = told(graph, edge)
    return wrap(text if edge.number is None else f"{edge.number}. {text}", LINE)


def told(graph: StateGraph, edge: Edge) -> str:
    """The sentence of an edge's step; its name where it leads to a fault of the model."""
    before, after = graph.nodes[edge.source].state, graph.nodes[edge.target].state
    if before is None or after is None:
        return step_text(graph.protocol, edge.step)
    return sentence(graph.protocol, edge.step, before, after)


def parameters(graph: StateGraph, edge: Edge) -> dict[str, Json]:
    """The parameters of an edge's step, as in a stored trace."""
    declared = graph.protocol.action_named[edge.step.action].parameters
    return {p.name: p.domain.to_json(code) for p, code in zip(declared, edge.step.arguments, strict=True)}


def printable(text: str) -> str:
    """Text without what XML cannot hold, no picture can show or would turn other text round: such a character becomes
    `\\u0007`, in letters."""
    return "".join(f"\\u{ord(each):04x}" if _is_hidden(each) else each for each in text)


def _is_hidden(character: str) -> bool:
    is_odd = unicodedata.category(character) in ("Cc", "Cs") or character in _UNFIT
    return is_odd and character != "\n"
