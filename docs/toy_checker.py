"""A complete model checker in a hundred lines: read this first.

It walks every state of a protocol, level by level, and tells the shortest story in which a promise is broken:

    python docs/toy_checker.py

Whatever tidegauge does beyond this, it does to be faster (states packed into machine words, steps compiled to machine
code), to visit less (symmetry, once it is proved) or to be read more easily. The answers are the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from model.kafka import NAMED_VARIANTS, Bounds, kafka
from model.language import Protocol, evaluate, successors
from model.language.protocol import State, Step
from model.language.show import sentence, show_state

#: How each state was reached first: the step and the state before it, or nothing for an initial state.
Parents: TypeAlias = dict[State, tuple[Step, State] | None]


@dataclass(frozen=True)
class Result:
    """What was found. `depth` is the number of levels; `broken` has the first state that refutes each invariant."""

    distinct: int
    depth: int
    broken: dict[str, State]
    parents: Parents


def explore(protocol: Protocol) -> Result:
    """Breadth-first search to the end. The first state found to break a promise is one of the nearest that do."""
    parents: Parents = dict.fromkeys(protocol.initial)
    broken: dict[str, State] = {}
    level, depth = list(protocol.initial), 0
    while level:
        depth += 1
        for state in level:
            for name in promises_broken(protocol, state):
                broken.setdefault(name, state)
        level = list(next_level(protocol, level, parents))
    return Result(len(parents), depth, broken, parents)


def promises_broken(protocol: Protocol, state: State) -> Iterator[str]:
    """The invariants that are false in a state."""
    for invariant in protocol.invariants:
        if not evaluate(invariant.expr, state):
            yield invariant.name


def next_level(protocol: Protocol, level: list[State], parents: Parents) -> Iterator[State]:
    """The states one step further on that nobody has seen yet."""
    for state in level:
        for step, after in successors(protocol, state):
            if after not in parents:
                parents[after] = (step, state)
                yield after


def path_to(state: State, parents: Parents) -> list[tuple[Step, State, State]]:
    """How a state was reached: each step with the state before and the state after, first step first."""
    path = []
    while (origin := parents[state]) is not None:
        step, before = origin
        path.append((step, before, state))
        state = before
    return path[::-1]


def story(protocol: Protocol, name: str, result: Result) -> Iterator[str]:
    """The shortest counterexample of one invariant, a line a step, and the state in which it ends."""
    state = result.broken[name]
    path = path_to(state, result.parents)
    yield f"{name} is violated in {len(path)} steps:"
    for number, (step, before, after) in enumerate(path, start=1):
        yield f"{number:3}. {sentence(protocol, step, before, after)}"
    yield "The state reached:"
    for path_of_variable, value in show_state(protocol, state):
        yield f"     {path_of_variable} = {value}"


def report(protocol: Protocol) -> Iterator[str]:
    """Everything there is to say about a protocol."""
    result = explore(protocol)
    yield f"{result.distinct} states, {result.depth} levels."
    for name in protocol.invariant_names:
        if name in result.broken:
            yield from story(protocol, name, result)
        else:
            yield f"{name} holds."


def main() -> None:
    """KIP-101 lets two replicas disagree about a committed record, as KIP-279 found out."""
    protocol = kafka(NAMED_VARIANTS["published/kip-101"], Bounds(replicas=2, log_size=2, records=2, epochs=3))
    print("\n".join(report(protocol)))  # noqa: T201  # its output is what it is for


if __name__ == "__main__":
    main()
