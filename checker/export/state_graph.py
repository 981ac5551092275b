"""States and steps as a graph: of a trace, of a trace with the steps that were not taken, of everything reachable.

A graph is plain data here; `graph.py` makes DOT and GraphML of it, `lines.py` JSON Lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from checker.reason import reason_for
from checker.trace import Trace
from model.errors import ModelFault, UsageError
from model.language.evaluate import Memo, apply, enabled, evaluate, successors
from model.language.protocol import Predicate, Protocol, State, Step


@dataclass(frozen=True, slots=True)
class Node:
    """A state. `since` is the state that its label compares it with, none for a label without differences. `broken`
    are the invariants that are false here, `remarks` the details. `is_aside` tells that the trace does not come here.
    A node without a state stands for a fault of the model, which `remarks` tell."""

    state: State | None
    since: State | None = None
    is_initial: bool = False
    is_aside: bool = False
    broken: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Edge:
    """A step between two nodes, by their places. `number` counts the steps of a trace from 1; none for others."""

    source: int
    target: int
    step: Step
    number: int | None = None
    is_aside: bool = False


@dataclass(frozen=True, slots=True)
class StateGraph:
    """Nodes and edges in the order in which they were met. `is_whole`: of everything, so that labels give values where
    those of a trace give changes."""

    protocol: Protocol
    title: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    is_whole: bool = False


def node_of(
    protocol: Protocol, state: State, predicates: tuple[Predicate, ...], since: State | None, is_initial: bool
) -> Node:
    """A node that knows which of the predicates are false in it, and why."""
    memo: Memo = {}
    broken = tuple(each for each in predicates if not evaluate(each.expr, state, memo))
    remarks = tuple(line for each in broken for line in _remarks(protocol, each, state))
    names = tuple(each.name for each in broken)
    return Node(state, since, is_initial, broken=names, remarks=remarks)


def _remarks(protocol: Protocol, predicate: Predicate, state: State) -> Iterator[str]:
    reason = reason_for(protocol, predicate, state)
    bindings = ", ".join(dict.fromkeys(f"{each.name} = {each.shown}" for each in reason.bindings))
    yield f"{predicate.name} is violated"
    if bindings:
        yield f"not for {bindings}"


# A trace


def of_trace(trace: Trace, title: str, choices: bool = False) -> StateGraph:
    """The states of a trace, one node each, even if a state occurs twice. With `choices` also the steps that could have
    been taken instead, but not those after the last state: the trace ends there."""
    predicates = (trace.predicate,) if trace.is_counterexample else ()
    before = (None, *trace.states)
    nodes = [
        node_of(trace.protocol, state, predicates, before[place], is_initial=not place)
        for place, state in enumerate(trace.states)
    ]
    edges = [Edge(place, place + 1, step, place + 1) for place, step in enumerate(trace.steps)]
    if choices:
        aside = _Aside(trace, predicates, nodes, edges)
        aside.add()
    return StateGraph(trace.protocol, title, tuple(nodes), tuple(edges))


@dataclass(slots=True)
class _Aside:
    """The steps that a trace does not take."""

    trace: Trace
    predicates: tuple[Predicate, ...]
    nodes: list[Node]
    edges: list[Edge]
    places: dict[State, int] = field(default_factory=dict)

    def add(self) -> None:
        for place, state in enumerate(self.trace.states):
            self.places.setdefault(state, place)
        for place, taken in enumerate(self.trace.steps):
            self._add_choices(place, taken)

    def _add_choices(self, place: int, taken: Step) -> None:
        protocol, state = self.trace.protocol, self.trace.states[place]
        memo: Memo = {}
        for step in protocol.steps:
            if step.number != taken.number and enabled(step, state, memo):
                self.edges.append(Edge(place, self._target(state, step), step, is_aside=True))

    def _target(self, state: State, step: Step) -> int:
        protocol = self.trace.protocol
        try:
            after = apply(protocol, step, state)
        except ModelFault as fault:
            return self._added(Node(None, is_aside=True, remarks=("fault of the model", fault.what)))
        if after not in self.places:
            node = node_of(protocol, after, self.predicates, state, is_initial=False)
            self.places[after] = self._added(replace(node, is_aside=True))
        return self.places[after]

    def _added(self, node: Node) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1


# Everything that can be reached


def reachable(protocol: Protocol, title: str, most: int) -> StateGraph:
    """Every reachable state and every step between them, in the order of breadth-first search, in the individuals' own
    names. Raises `UsageError` as soon as there are more than `most` states, `ModelFault` where a step leaves a domain.
    """
    places: dict[State, int] = {}
    edges = []
    frontier = list(dict.fromkeys(protocol.initial))
    places.update((state, place) for place, state in enumerate(frontier))
    for state in frontier:  # grows meanwhile
        for step, after in successors(protocol, state):
            if after not in places:
                places[after] = len(frontier)
                frontier.append(after)
            edges.append(Edge(places[state], places[after], step))
        if len(frontier) > most:
            raise too_large(f"there are more than {most:,} states at these bounds", "Choose smaller bounds")
    start, *_ = frontier
    nodes = [
        node_of(protocol, state, protocol.invariants, None if state == start else start, state in protocol.initial)
        for state in frontier
    ]
    return StateGraph(protocol, title, tuple(nodes), tuple(edges), is_whole=True)


def too_large(what: str, instead: str) -> UsageError:
    """Too much for a picture, and for most tools that read graphs."""
    return UsageError(what, why="Nobody can look at such a graph", instead=f"{instead}, or allow more with --max-size")
