"""In which order guards are asked, so that one failed test spares the work of many steps.

Conjuncts are pure, so their order is free. Steps that share a conjunct stand below one test of it; what is left of a
guard is asked at its step, what is cheap first. Both orders go by guesses: what a conjunct costs (its operations) and
how often it holds (as if every value were as frequent as any other). A wrong guess costs time only. The result is a
function of the protocol alone, and so is the order of successors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from checker.compile.native_comparisons import conjuncts_of
from model.language.domains import BOOL
from model.language.expr import Expr, Op, walk
from model.language.protocol import Step

#: A conjunct of more operations than this is asked behind a branch of its own.
CHEAP = 12


@dataclass(frozen=True, slots=True)
class Leaf:
    """A step, and what of its guard no test above has settled."""

    step: Step
    conditions: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Branch:
    """Steps that all need these conditions."""

    conditions: tuple[Expr, ...]
    inside: tuple[Node, ...]


Node: TypeAlias = "Leaf | Branch"


def plan(steps: Iterable[Step]) -> tuple[Node, ...]:
    """The order of tests for all steps."""
    leaves = [Leaf(step, _conjuncts(step)) for step in steps]
    conjuncts = {condition for leaf in leaves for condition in leaf.conditions}
    likely = likelihoods(conjuncts)
    worth = {conjunct: (1 - likely[conjunct]) / cost(conjunct) for conjunct in conjuncts}
    return _Planner(worth).arranged(leaves)


def _conjuncts(step: Step) -> tuple[Expr, ...]:
    parts = (part for condition in step.guard for part in conjuncts_of(condition.expr))
    return tuple(dict.fromkeys(parts))


def cost(expr: Expr) -> int:
    """How many operations there are below and in the expression."""
    return max(1, sum(1 for node in walk([expr]) if not node.is_constant))


def likelihoods(roots: Iterable[Expr]) -> dict[Expr, float]:
    """How often each truth at and below the roots may be expected to hold, from 0 to 1."""
    known: dict[Expr, float] = {}
    for node in walk(roots):
        if node.sort == BOOL:
            known[node] = _likelihood(node, known)
    return known


def _likelihood(expr: Expr, known: Mapping[Expr, float]) -> float:
    args = expr.args
    match expr.op:
        case Op.CONSTANT:
            return float(expr.value)
        case Op.NOT:
            return 1 - known[args[0]]
        case Op.AND:
            return prod(known[arg] for arg in args)
        case Op.OR:
            return 1 - prod(1 - known[arg] for arg in args)
        case Op.EQUAL:
            return 1 / max(arg.high - arg.low + 1 for arg in args)
        case _:
            return 0.5


class _Planner:
    """Arranges steps, given for each conjunct how much is gained by asking it early: failures for an operation."""

    def __init__(self, worth: dict[Expr, float]) -> None:
        self.worth = worth

    def arranged(self, leaves: Sequence[Leaf]) -> tuple[Node, ...]:
        nodes: list[Node] = []
        while leaves:
            shared = self._most_useful(leaves)
            if shared is None:
                return (*nodes, *map(_split, leaves))
            nodes.append(self._branch(shared, [leaf for leaf in leaves if shared in leaf.conditions]))
            leaves = [leaf for leaf in leaves if shared not in leaf.conditions]
        return tuple(nodes)

    def _most_useful(self, leaves: Sequence[Leaf]) -> Expr | None:
        """The shared conjunct that spares most; the one mentioned first among equals; none if nothing is shared."""
        counts = Counter(condition for leaf in leaves for condition in leaf.conditions)
        shared = [condition for condition, count in counts.items() if count > 1]
        return max(shared, key=lambda condition: self.worth[condition] * counts[condition], default=None)

    def _branch(self, shared: Expr, leaves: Sequence[Leaf]) -> Branch:
        """One test of what all of them need, as far as it is cheap."""
        common = [c for c in leaves[0].conditions if all(c in leaf.conditions for leaf in leaves)]
        asked = tuple(c for c in common if c is shared or cost(c) <= CHEAP)
        return Branch(asked, self.arranged([_without(leaf, asked) for leaf in leaves]))


def _without(leaf: Leaf, settled: Sequence[Expr]) -> Leaf:
    return Leaf(leaf.step, tuple(condition for condition in leaf.conditions if condition not in settled))


def _split(leaf: Leaf) -> Node:
    """What costs much is asked only where what costs little holds."""
    cheap = tuple(condition for condition in leaf.conditions if cost(condition) <= CHEAP)
    rest = _without(leaf, cheap)
    return Branch(cheap, (rest,)) if cheap and rest.conditions else leaf
