"""The graph of all shortest counterexamples, compared with what plain search finds."""

from __future__ import annotations

from itertools import permutations
from typing import Any, TypeAlias

import pytest
from little_traces import counter, falling, shortest

from checker.cache import DIRECTORY_VARIABLE
from checker.export.state_graph import StateGraph
from checker.shortest import all_shortest
from checker.trace import Trace, replay
from model.errors import ModelFault, UsageError
from model.kafka import NAMED_VARIANTS, Bounds, kafka
from model.language import Option, Range, Scalarset, Set, action, invariant, none, protocol, require
from model.language.evaluate import evaluate, successors
from model.language.protocol import Permutation, Predicate, Protocol, State

CLIENTS = Scalarset("Client", 3)
Client: TypeAlias = Any  # the name of a domain; for the type checker it is a type
Arrow: TypeAlias = tuple[State, int, State]  # a state, the number of a step, the state after it


@pytest.fixture(autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that only tests use."""
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(tmp_path_factory.getbasetemp() / "cache"))


def arrows(graph: StateGraph) -> set[Arrow]:
    states = [node.state for node in graph.nodes]
    found = {(states[edge.source], edge.step.number, states[edge.target]) for edge in graph.edges}
    assert len(found) == len(graph.edges)
    return found  # type: ignore[return-value]  # no node of it is without a state


def expected(model: Protocol, predicate: Predicate) -> set[Arrow]:
    """All steps on shortest ways to a violation: level by level forwards, then backwards from the last."""
    levels, seen, ways = [set(model.initial)], set(model.initial), list[set[Arrow]]()
    while all(evaluate(predicate.expr, state) for state in levels[-1]):
        ways.append({(state, step.number, after) for state in levels[-1] for step, after in successors(model, state)})
        levels.append({after for _, _, after in ways[-1]} - seen)
        seen |= levels[-1]
        assert levels[-1]
    wanted = {state for state in levels[-1] if not evaluate(predicate.expr, state)}
    found: set[Arrow] = set()
    for way in reversed(ways):
        kept = {arrow for arrow in way if arrow[2] in wanted}
        found |= kept
        wanted = {before for before, _, _ in kept}
    return found


def tickets() -> Protocol:
    """Three clients take tickets in any order; the invariant wants nobody to have taken two while others have none."""

    @action
    def enter(state: Any, who: Client) -> None:
        require(~state.inside.has(who))
        state.inside.add(who)

    @action
    def take(state: Any, who: Client) -> None:
        require(state.inside.has(who), state.last != who)
        require(state.taken < 3)
        state.taken = state.taken + 1
        state.last = who

    @invariant
    def early(state: Any) -> Any:
        return (state.taken < 2) | (state.last == none)

    return protocol(
        "tickets",
        variables={"inside": Set(CLIENTS), "last": Option(CLIENTS), "taken": Range(0, 3)},
        domains={"Client": CLIENTS},
        actions=[enter, take],
        invariants=[early],
    )


def kafka_trace(name: str, invariant: str, bounds: Bounds) -> Trace:
    model = kafka(NAMED_VARIANTS[name], bounds)
    return shortest(model, next(each for each in model.invariants if each.name == invariant))


def traces() -> dict[str, Trace]:
    model = tickets()
    return {
        "tickets": shortest(model, model.invariants[0]),
        "counter": falling(3),
        "one state": falling(0),
        "kafka": kafka_trace("published/truncate-to-high-watermark", "WeakIsr", Bounds(2, 1, 1, 2)),
    }


TRACES = traces()
each_trace = pytest.mark.parametrize("trace", TRACES.values(), ids=TRACES)


@each_trace
def test_every_shortest_counterexample_is_there_and_nothing_else(trace: Trace) -> None:
    graph = all_shortest(trace, "it", 1_000)
    assert arrows(graph) == expected(trace.protocol, trace.predicate)
    assert {node.state for node in graph.nodes if node.is_initial} <= set(trace.protocol.initial)
    assert all(
        node.broken == (trace.predicate.name,) * (not evaluate(trace.predicate.expr, node.state or ()))
        for node in graph.nodes
    )


@each_trace
def test_up_to_renaming_nothing_is_lost(trace: Trace) -> None:
    everything = expected(trace.protocol, trace.predicate)
    graph = all_shortest(trace, "it", 1_000, up_to_renaming=True)
    kept = arrows(graph)
    assert kept <= everything
    assert {renamed for arrow in kept for renamed in renamings(trace.protocol, arrow)} == everything
    assert len({node.state for node in graph.nodes if node.broken}) <= max(1, len(kept))


@each_trace
def test_the_trace_is_among_them_and_numbered(trace: Trace) -> None:
    for renaming in (False, True):
        graph = all_shortest(trace, "it", 1_000, renaming)
        numbered = sorted((edge.number, edge.step.number) for edge in graph.edges if edge.number is not None)
        assert numbered == [(place, step.number) for place, step in enumerate(trace.steps, start=1)]
        assert trace.states[-1] in {node.state for node in graph.nodes}


def renamings(model: Protocol, arrow: Arrow) -> list[Arrow]:
    before, number, after = arrow
    if not model.scalarsets:
        return [arrow]
    [scalarset] = model.scalarsets
    found = []
    for image in permutations(range(scalarset.count)):
        permutation = Permutation(scalarset.name, image)
        step = model.permuted_step(model.steps[number], permutation)
        assert step is not None
        found.append((model.permuted(before, permutation), step.number, model.permuted(after, permutation)))
    return found


@pytest.mark.parametrize("name", ["tickets", "kafka"])
def test_up_to_renaming_one_end_is_kept_and_what_leads_to_it(name: str) -> None:
    """Of the trace's own names, whichever they are."""
    trace = TRACES[name]
    [scalarset] = trace.protocol.scalarsets
    whole = all_shortest(trace, "it", 1_000)
    for image in permutations(range(scalarset.count)):
        permutation = Permutation(scalarset.name, image)
        steps = [trace.protocol.permuted_step(step, permutation) for step in trace.steps]
        renamed = replay(trace.protocol, trace.predicate, trace.states[0], [step for step in steps if step])
        graph = all_shortest(renamed, "it", 1_000, up_to_renaming=True)
        ends = [place for place, node in enumerate(graph.nodes) if node.broken]
        assert renamed.states[-1] in {graph.nodes[place].state for place in ends}
        assert len(ends) * scalarset.count <= len([node for node in whole.nodes if node.broken])
        assert {edge.source for edge in graph.edges} == set(range(len(graph.nodes))) - set(ends)


def test_the_title_tells_what_it_is() -> None:
    trace = TRACES["tickets"]
    assert all_shortest(trace, "the lobby", 1_000).title == (
        f"All shortest counterexamples of Early in the lobby: {len(trace.steps)} steps."
    )
    assert "up to renaming" in all_shortest(trace, "the lobby", 1_000, up_to_renaming=True).title


def test_the_shortest_are_found_even_if_the_trace_is_longer() -> None:
    model = counter(3)
    count, wait = (next(step for step in model.steps if step.action == name) for name in ("count", "wait"))
    longer = replay(model, model.invariants[0], model.initial[0], [count, wait, count, count])
    assert arrows(all_shortest(longer, "it", 10)) == expected(model, model.invariants[0])


def test_too_many_states_are_refused() -> None:
    trace = TRACES["tickets"]
    count = len(all_shortest(trace, "it", 1_000).nodes)
    assert len(all_shortest(trace, "it", count).nodes) == count
    with pytest.raises(UsageError, match=rf"more than {count - 1} states.*--up-to-renaming"):
        all_shortest(trace, "it", count - 1)


def test_a_search_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("checker.shortest.MOST_STORED", 3)
    with pytest.raises(UsageError, match=r"more than 3 states come before the first violation of WeakIsr"):
        all_shortest(TRACES["kafka"], "it", 1_000)


def test_an_invariant_that_holds_has_none() -> None:
    model = counter(9)
    trace = Trace(model, model.invariants[0], (), (model.initial[0],))
    with pytest.raises(UsageError, match="Small holds"):
        all_shortest(trace, "it", 1_000)


def test_a_fault_of_the_model_is_told() -> None:
    @action
    def step(state: Any) -> None:
        state.count = state.count + 1

    @action
    def leap(state: Any) -> None:
        require(state.count < 2)
        state.count = state.count + 2

    @invariant
    def below(state: Any) -> Any:
        return state.count < 3

    model = protocol("leaping", variables={"count": Range(0, 2)}, actions=[step, leap], invariants=[below])
    trace = Trace(model, model.invariants[0], (), (model.initial[0],))
    with pytest.raises(ModelFault, match="assigns 3 to count"):
        all_shortest(trace, "it", 1_000)
