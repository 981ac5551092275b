"""The formats that traces and graphs can be exported to, by name. What a format needs is loaded when it is used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from checker.report.story import heading
from checker.trace_file import StoredTrace, render

if TYPE_CHECKING:
    from checker.export.state_graph import StateGraph

CHOICES: Final = "--with choices"
ALL_SHORTEST: Final = "--all-shortest"
MBT: Final = "--mbt"


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What may be asked for beside the trace itself. `choices`: the steps not taken; `shortest`: a graph to be drawn in
    place of the trace; `mbt`: what model-based testing wants to know."""

    choices: bool = False
    shortest: StateGraph | None = None
    mbt: bool = False


Writer: TypeAlias = Callable[[StoredTrace, ExportOptions], str]


@dataclass(frozen=True, slots=True)
class Format:
    """`honours` are the options that mean something to it; `endings` are those of its files' names."""

    what: str
    write: Writer
    endings: tuple[str, ...]
    honours: tuple[str, ...] = ()


def _title(stored: StoredTrace) -> str:
    return heading([stored.trace], stored.spec.name)


def _graph_of(stored: StoredTrace, options: ExportOptions) -> StateGraph:
    from checker.export.state_graph import of_trace

    return options.shortest or of_trace(stored.trace, _title(stored), options.choices)


def _dot(stored: StoredTrace, options: ExportOptions) -> str:
    from checker.export.graph import dot

    return dot(_graph_of(stored, options))


def _graphml(stored: StoredTrace, options: ExportOptions) -> str:
    from checker.export.graph import graphml

    return graphml(_graph_of(stored, options))


def _mermaid(stored: StoredTrace, _options: ExportOptions) -> str:
    from checker.export.mermaid import mermaid

    return mermaid(stored.trace, _title(stored))


def _itf(stored: StoredTrace, options: ExportOptions) -> str:
    from checker.export.itf import itf

    return itf(stored.trace, stored.spec.name, _title(stored), options.mbt)


def _json(stored: StoredTrace, _options: ExportOptions) -> str:
    return render(stored.trace, stored.spec)


def _svg(stored: StoredTrace, _options: ExportOptions) -> str:
    from checker.export.svg import svg

    return svg(stored)


def _html(stored: StoredTrace, _options: ExportOptions) -> str:
    from checker.export.page import page

    return page(stored)


FORMATS: Final[dict[str, Format]] = {
    "dot": Format("Graphviz", _dot, (".dot", ".gv"), (CHOICES, ALL_SHORTEST)),
    "graphml": Format("yEd, Gephi, networkx", _graphml, (".graphml",), (CHOICES, ALL_SHORTEST)),
    "mermaid": Format("a sequence diagram for Markdown", _mermaid, (".mmd", ".mermaid")),
    "itf": Format("Apalache's and Quint's traces", _itf, (".itf.json",), (MBT,)),
    "json": Format("the stored trace, as today's model has it", _json, (".json",)),
    "svg": Format("the states as one picture", _svg, (".svg",)),
    "html": Format("a page to step through", _html, (".html", ".htm")),
}


def _whole_dot(graph: StateGraph) -> str:
    from checker.export.graph import dot

    return dot(graph)


def _whole_graphml(graph: StateGraph) -> str:
    from checker.export.graph import graphml

    return graphml(graph)


def _whole_jsonl(graph: StateGraph) -> str:
    from checker.export.lines import jsonl

    return jsonl(graph)


#: What a graph of all reachable states can be written as.
GRAPH_FORMATS: Final[dict[str, Callable[[StateGraph], str]]] = {
    "dot": _whole_dot,
    "graphml": _whole_graphml,
    "jsonl": _whole_jsonl,
}


def format_for(file: str) -> str | None:
    """The format that the end of a file's name speaks of: that of `x.itf.json` is itf."""
    known = {ending: name for name, each in FORMATS.items() for ending in each.endings}
    fitting = [ending for ending in known if file.lower().endswith(ending)]
    return known[max(fitting, key=len)] if fitting else None
