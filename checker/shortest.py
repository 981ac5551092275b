"""All shortest counterexamples of an invariant as one graph: which orders of steps matter, and which do not.

The search stores the states level by level and ends with the level that violates. From its violating states the levels
are walked backwards, keeping what has a successor among the states kept of the next level. Searching and walking back
deal with one state of each orbit; then the evaluator goes forwards over what was kept, from the real initial states,
and so finds every shortest counterexample under its own names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from checker.export.state_graph import Edge, StateGraph, node_of, too_large
from checker.report.story import steps_text
from checker.run import NOBODY, Options, Prepared, Search, Watch, prepare
from checker.trace import Trace
from model.errors import InternalError, UsageError
from model.language.evaluate import successors
from model.language.protocol import Protocol, State

if TYPE_CHECKING:
    from checker.compile.packing import Words

MOST_STORED: Final = 2_000_000  # states (or orbits): what walking back takes half a minute for


def all_shortest(
    trace: Trace, about: str, most: int, up_to_renaming: bool = False, watch: Watch = NOBODY
) -> StateGraph:
    """The states and steps of every shortest counterexample of the invariant that a trace violates. `about` names what
    the trace is of. With `up_to_renaming`, of counterexamples that differ only in the names of individuals which were
    proved interchangeable one is kept: that which ends as the trace does, if there is one.

    Raises `UsageError` if the invariant holds, if there are more than `most` states to draw, or if the search for the
    first violation would have to store more than `MOST_STORED`; `ModelFault` if a step leaves a domain before that.
    """
    invariant = trace.predicate.name
    alone = trace.protocol.selecting([invariant], witnesses=())
    prepared = prepare(alone, watch=watch)
    watch.phase("searching")
    search = prepared.search(Options(max_states=MOST_STORED), watch, stop_mask=1)
    depth = _depth(search, invariant)
    watch.phase("walking back")
    instead = "Export one trace" if up_to_renaming else "Draw fewer with --up-to-renaming"
    drawn = _Drawn(alone, most, instead, lambda state: search.packed_representative(search.packing.pack(state)))
    ends = drawn.draw(_kept(prepared, search))
    if up_to_renaming:
        drawn.keep_ways_to(_one_of_each(ends, trace.states[-1], drawn.representative))
    drawn.number_steps_of(trace)
    return drawn.graph(_title(invariant, about, depth - 1, up_to_renaming))


def _title(invariant: str, about: str, steps: int, up_to_renaming: bool) -> str:
    names = " up to renaming" if up_to_renaming else ""
    return f"All shortest counterexamples of {invariant} in {about}{names}: {steps_text(steps)}."


def _one_of_each(ends: list[State], preferred: State, representative: Callable[[State], Words]) -> list[State]:
    """One of each orbit."""
    chosen = {representative(state): state for state in reversed(ends)}
    if preferred in ends:
        chosen[representative(preferred)] = preferred
    return list(chosen.values())


def _depth(search: Search, invariant: str) -> int:
    """The level on which the invariant falls first; all of it has been searched."""
    from checker.explore.breadth_first import Stopped

    found = search.exploration
    if (fault := search.fault()) is not None:
        raise fault
    if found.stopped is Stopped.INTERRUPTED:
        raise KeyboardInterrupt
    if found.complete:
        raise UsageError(f"{invariant} holds, so it has no counterexample")
    if found.stopped is not Stopped.FAIL_FAST:
        raise UsageError(
            f"more than {found.distinct:,} states come before the first violation of {invariant}, or beside it",
            why="All of them would have to be walked back",
            instead="Find a counterexample at smaller bounds, or export one trace",
        )
    return found.depth


def _kept(prepared: Prepared, search: Search) -> list[set[Words]]:
    """For each level the stored states that lie on a shortest counterexample."""
    from checker.compile.calls import mask_of, successors_of

    mask, following = mask_of(prepared.native), successors_of(prepared.native)
    *earlier, last = _levels(search)
    kept = [{state for state in last if mask(state) & 1}]
    for level in reversed(earlier):
        ahead = kept[-1]
        kept.append({each for each in level if _leads_to(ahead, following(each), search.packed_representative)})
    return kept[::-1]


def _levels(search: Search) -> list[Iterator[Words]]:
    """The stored states of each level."""
    ends = list(accumulate(search.exploration.level_sizes))
    starts = [0, *ends]
    return [map(search.exploration.store.state, range(start, end)) for start, end in zip(starts, ends, strict=False)]


def _leads_to(ahead: set[Words], after: list[Words], representative: Callable[[Words], Words]) -> bool:
    return any(representative(state) in ahead for state in after)


@dataclass(slots=True)
class _Drawn:
    """Real states and steps, met going forwards over levels of representatives."""

    protocol: Protocol
    most: int
    instead: str
    representative: Callable[[State], Words]
    places: dict[State, int] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)

    def draw(self, kept: list[set[Words]]) -> list[State]:
        """Gives the states in which the counterexamples end."""
        level = [state for state in dict.fromkeys(self.protocol.initial) if self.representative(state) in kept[0]]
        for state in level:
            self._place(state)
        for ahead in kept[1:]:
            level = list(dict.fromkeys(after for state in level for after in self._steps(state, ahead)))
        if not level:
            raise InternalError("the evaluator finds no counterexample where the search found one")
        return level

    def _steps(self, state: State, ahead: set[Words]) -> Iterator[State]:
        for step, after in successors(self.protocol, state):
            if self.representative(after) in ahead:
                self.edges.append(Edge(self.places[state], self._place(after), step))
                yield after

    def _place(self, state: State) -> int:
        if state not in self.places:
            if len(self.places) == self.most:
                raise too_large(f"all shortest counterexamples have more than {self.most:,} states", self.instead)
            self.places[state] = len(self.places)
        return self.places[state]

    def keep_ways_to(self, ends: list[State]) -> None:
        """Forget what does not lead to one of these states."""
        wanted = {self.places[state] for state in ends}
        for edge in reversed(self.edges):  # those of a level come after those of the level before
            if edge.target in wanted:
                wanted.add(edge.source)
        moved = {old: new for new, old in enumerate(sorted(wanted))}
        self.edges = [
            replace(edge, source=moved[edge.source], target=moved[edge.target])
            for edge in self.edges
            if edge.target in wanted
        ]
        self.places = {state: moved[place] for state, place in self.places.items() if place in wanted}

    def number_steps_of(self, trace: Trace) -> None:
        """So that the trace that everybody knows can be found among the others."""
        numbers = {
            (self.places.get(state), step.number): position
            for position, (state, step) in enumerate(zip(trace.states, trace.steps, strict=False), start=1)
        }
        self.edges = [replace(edge, number=numbers.get((edge.source, edge.step.number))) for edge in self.edges]

    def graph(self, title: str) -> StateGraph:
        known, initial = self.protocol.invariants, self.protocol.initial
        nodes = (node_of(self.protocol, state, known, None, state in initial) for state in self.places)
        return StateGraph(self.protocol, title, tuple(nodes), tuple(self.edges))
