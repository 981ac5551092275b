"""The plain search: breadth-first, in Python, on the evaluator. What it finds is what the fast search has to find.

It keeps every state whole in a dictionary, together with the step that led to it, and expands states in the order in
which it met them. Under symmetry it keeps one state of each orbit: the least of all that permutations make of it. It is
short so that it can be read, and slow (some thousand states a second), so it is for small bounds and for tests.

    found = search(protocol)
    found.distinct, found.depth, found.first["StrongIsr"]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from checker.compile.packing import named_by
from checker.prove.certificate import Group
from checker.trace import Trace, replay, unpermuted
from model.language.evaluate import Memo, evaluate, successors
from model.language.protocol import Cell, Permutation, Predicate, Protocol, State, Step


@dataclass
class Found:
    """What a search finds.

    `origins` holds the kept states in the order in which they were met, each with the kept state and the step that it
    was first reached from, None for an initial state. `levels` are the new states of each level; the initial ones are
    level 1. `steps_taken` counts the successors of each step, new or not. `first` says for each predicate which kept
    state was the first to violate it (an invariant) or to reach it (a witness). `complete`: no state was left out.
    """

    protocol: Protocol
    representative: Callable[[State], State]
    origins: dict[State, tuple[State, Step] | None] = field(default_factory=dict)
    levels: list[list[State]] = field(default_factory=list)
    steps_taken: list[int] = field(default_factory=list)
    first: dict[str, State | None] = field(default_factory=dict)
    complete: bool = False

    @property
    def distinct(self) -> int:
        return len(self.origins)

    @property
    def generated(self) -> int:
        return sum(self.steps_taken)

    @property
    def depth(self) -> int:
        return len(self.levels)

    @property
    def level_sizes(self) -> tuple[int, ...]:
        return tuple(map(len, self.levels))

    def depth_of(self, predicate: str) -> int | None:
        """The level at which a predicate was first met; 1 is that of the initial states."""
        state = self.first[predicate]
        return None if state is None else len(self._path(state))

    def shortest(self, predicate: Predicate) -> Trace | None:
        """A shortest trace to where a predicate is met, in the members' own names; None if it is met nowhere."""
        state = self.first[predicate.name]
        if state is None:
            return None
        path = self._path(state)
        start = next(initial for initial in self.protocol.initial if self.representative(initial) == path[0])
        return replay(self.protocol, predicate, start, unpermuted(self.protocol, path, self.representative))

    def _path(self, state: State) -> list[State]:
        path = [state]
        while (origin := self.origins[path[-1]]) is not None:
            path.append(origin[0])
        return path[::-1]


def search(protocol: Protocol, group: Group | None = None, enough: int | None = None) -> Found:
    """Walk every reachable state, or one of each orbit under `group`, which is taken on trust here.

    With more than `enough` states (at least 1), the search ends; the last level is a whole one then, and has not been
    expanded. Raises `ModelFault` where a step assigns a value outside its domain.
    """
    found = Found(protocol, representative_under(protocol, group or Group()))
    found.steps_taken = [0] * len(protocol.steps)
    found.first = dict.fromkeys((*protocol.invariant_names, *protocol.witness_names))
    level = [state for initial in protocol.initial for state in _kept(found, initial, None)]
    while level:
        found.levels.append(level)
        if enough is not None and found.distinct > enough:
            return found
        level = [new for state in level for new in _expanded(found, state)]
    found.complete = True
    return found


def _expanded(found: Found, state: State) -> list[State]:
    """Take every enabled step; the successors that are new."""
    new = []
    for step, after in successors(found.protocol, state):
        found.steps_taken[step.number] += 1
        new += _kept(found, after, (state, step))
    return new


def _kept(found: Found, reached: State, origin: tuple[State, Step] | None) -> list[State]:
    """Keep a state unless it, or its representative, is known; what is kept is returned, alone or not at all."""
    state = found.representative(reached)
    if state in found.origins:
        return []
    found.origins[state] = origin
    for predicate in predicates_met(found.protocol, state):
        found.first[predicate] = found.first[predicate] or state
    return [state]


def predicates_met(protocol: Protocol, state: State) -> list[str]:
    """The invariants that are false in a state, then the witnesses that are true in it."""
    memo: Memo = {}
    broken = [invariant.name for invariant in protocol.invariants if not evaluate(invariant.expr, state, memo)]
    return broken + [witness.name for witness in protocol.witnesses if evaluate(witness.expr, state, memo)]


# Symmetry, by trying everything


def representative_under(protocol: Protocol, group: Group) -> Callable[[State], State]:
    """The function from a state to the least state of its orbit."""
    orbit = orbit_under(protocol, group)
    return lambda state: min(orbit(state))


def orbit_under(protocol: Protocol, group: Group) -> Callable[[State], set[State]]:
    """The function from a state to all that the group's permutations make of it, itself included."""
    renamings = [[_renaming(protocol, part) for part in element] for element in group.elements()]

    def orbit(state: State) -> set[State]:
        return {_renamed(state, renaming) for renaming in renamings}

    return orbit


#: For each cell the cell that its value comes from, and which values become others.
_Renaming: TypeAlias = list[tuple[int, dict[int, int]]]


def _renaming(protocol: Protocol, permutation: Permutation) -> _Renaming:
    """What `Protocol.permuted` does, as a table."""
    sources: dict[int, Cell] = dict(zip(protocol.moved_cells(permutation), protocol.cells, strict=True))
    return [(sources[target].number, _renamed_values(sources[target], permutation)) for target in range(len(sources))]


def _renamed_values(cell: Cell, permutation: Permutation) -> dict[int, int]:
    if named_by(cell.domain) != permutation.scalarset:
        return {}
    return {code: permutation.code(cell.domain, code) for code in cell.domain.codes()}


def _renamed(state: State, parts: Sequence[_Renaming]) -> State:
    for part in parts:
        state = tuple([values.get(state[source], state[source]) for source, values in part])
    return state
