"""In which order guards are asked, so that one failed test spares the work of many steps.

Conjuncts are pure, so their order is free. Steps that share a conjunct stand below one test of it; what is left of a
guard is asked at its step. The result is a function of the protocol alone, and so is the order of successors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from checker.compile.native_comparisons import conjuncts_of
from model.language.expr import Expr
from model.language.protocol import Step


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
    return _arranged([Leaf(step, _conjuncts(step)) for step in steps])


def _conjuncts(step: Step) -> tuple[Expr, ...]:
    parts = (part for condition in step.guard for part in conjuncts_of(condition.expr))
    return tuple(dict.fromkeys(parts))


def _arranged(leaves: Sequence[Leaf]) -> tuple[Node, ...]:
    nodes: list[Node] = []
    while leaves:
        shared = _most_shared(leaves)
        if shared is None:
            return (*nodes, *leaves)
        inside = [leaf for leaf in leaves if shared in leaf.conditions]
        leaves = [leaf for leaf in leaves if shared not in leaf.conditions]
        nodes.append(_branch(inside))
    return tuple(nodes)


def _branch(leaves: Sequence[Leaf]) -> Branch:
    """One test of everything that all of them need."""
    common = tuple(c for c in leaves[0].conditions if all(c in leaf.conditions for leaf in leaves))
    rest = [Leaf(leaf.step, tuple(c for c in leaf.conditions if c not in common)) for leaf in leaves]
    return Branch(common, _arranged(rest))


def _most_shared(leaves: Sequence[Leaf]) -> Expr | None:
    """The conjunct that most of them need; the one mentioned first among equals; none if nothing is shared."""
    counts = Counter(condition for leaf in leaves for condition in leaf.conditions)
    if not counts:
        return None
    best, count = max(counts.items(), key=lambda item: item[1])
    return best if count > 1 else None
