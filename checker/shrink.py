"""The smallest bounds and the fewest unsafe rules with which a spec is still violated.

Greedy, one change at a time: a rule goes back to that of the nearest variant which keeps every promise, or a bound goes
down to the least value that still does. Every candidate is checked exhaustively, and it counts if each of the
invariants is still violated. What is left is a local minimum: no single rule can be restored, and no single bound
lowered. Two changes at once might still be possible.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from checker.origin import Origin
from checker.outcome import Verdict
from checker.run import DEFAULTS, NOBODY, Options, Watch, check
from checker.spec import Spec
from model.errors import ModelError, ModelFault, UsageError


@dataclass(frozen=True, slots=True)
class Change:
    """One rule or bound, before and after."""

    name: str
    before: str | int
    after: str | int


@dataclass(frozen=True, slots=True)
class Shrunk:
    """The spec that is left, and the steps in which it violates each invariant. `undecided` are the changes of which a
    limit left open whether they would have done; with any, what is left may be no minimum."""

    start: Spec
    spec: Spec
    violated: dict[str, int]
    restored: tuple[Change, ...]
    lowered: tuple[Change, ...]
    checked: int
    undecided: tuple[Change, ...] = ()


@dataclass(slots=True)
class _Shrinking:
    """The work in progress."""

    spec: Spec
    violated: dict[str, int]
    options: Options
    watch: Watch
    restored: list[Change] = field(default_factory=list)
    checked: int = 0
    undecided: dict[Change, None] = field(default_factory=dict)
    refuted: set[Origin] = field(default_factory=set)

    def run(self) -> None:
        """Until nothing can be changed any more. What has become possible by a later change is tried again."""
        while any(self._accepts(change, spec) for change, spec in self._candidates()):
            pass

    def _candidates(self) -> Iterator[tuple[Change, Spec]]:
        """Rules first: with safer ones there is less to explore."""
        for name, rule in self.spec.features.items():
            yield from self._changed(Change(name, rule, self.spec.safe_features()[name]))
        for name, value in self.spec.used_bounds().items():
            for lower in range(value):
                yield from self._changed(Change(name, value, lower))

    def _changed(self, change: Change) -> Iterator[tuple[Change, Spec]]:
        """The spec with one change, unless that is impossible."""
        try:
            if isinstance(change.after, str):
                yield change, self.spec.changed(features={change.name: change.after})
            else:
                yield change, self.spec.changed(bounds={change.name: change.after})
        except (UsageError, ModelError):  # rules that do not go together, a bound of 0
            return

    def _accepts(self, change: Change, candidate: Spec) -> bool:
        key = candidate.origin
        if key in self.refuted:
            return False
        self.watch.spec(f"{change.name} = {change.after}")
        self.checked += 1
        found, conclusive = _violated(candidate, tuple(self.violated), self.options, self.watch)
        if found is None:
            self.refuted.add(key)
            if not conclusive:
                self.undecided[change] = None
            return False
        self.spec, self.violated = candidate, found
        if isinstance(change.after, str):
            self.restored.append(change)
        return True


def shrink(spec: Spec, invariants: Sequence[str] = (), options: Options = DEFAULTS, watch: Watch = NOBODY) -> Shrunk:
    """Shrink a spec while each of the invariants is violated; without any, while those are that it violates now.

    Raises `UsageError` if an invariant is not violated, so that there is nothing to shrink, or if a limit was hit
    before that was known; `KeyboardInterrupt` when interrupted.
    """
    start = replace(spec.changed(invariants=tuple(invariants) or None).told_safely(), reachable=(), sweep={})
    watch.spec(spec.name)
    violated = _first(start, invariants, options, watch)
    start = start.changed(invariants=tuple(violated))
    work = _Shrinking(start, violated, options, watch)
    work.run()
    before, after = start.used_bounds(), work.spec.used_bounds()
    lowered = tuple(Change(n, before[n], after[n]) for n in after if n in before and before[n] != after[n])
    undecided = tuple(change for change in work.undecided if change.before in _now(work.spec, change.name))
    return Shrunk(spec, work.spec, work.violated, tuple(work.restored), lowered, work.checked, undecided)


def _now(spec: Spec, name: str) -> tuple[str | int | None, ...]:
    return spec.all_features().get(name), spec.used_bounds().get(name)


def _first(spec: Spec, wanted: Sequence[str], options: Options, watch: Watch) -> dict[str, int]:
    """What the spec violates to begin with, and in how many steps."""
    outcome = check(spec, options, watch)
    if outcome.was_interrupted:
        raise KeyboardInterrupt
    violated = {found.name: found.steps for found in outcome.invariants if found.steps is not None}
    held = [name for name in (wanted or spec.invariants) if name not in violated]
    if not violated or (wanted and held):
        whether = "is not known to be" if outcome.explored.stopped else "is not"
        raise UsageError(f"{held[0]} {whether} violated in {spec.name}, so there is nothing to shrink")
    return violated


def _violated(
    spec: Spec, invariants: tuple[str, ...], options: Options, watch: Watch
) -> tuple[dict[str, int] | None, bool]:
    """The steps of each invariant if all of them are violated, else none; and whether that is for sure."""
    try:
        outcome = check(spec, replace(options, fail_fast=len(invariants) == 1), watch)
    except (UsageError, ModelError, ModelFault):  # too large, or a model that is none at these bounds
        return None, True
    if outcome.was_interrupted:
        raise KeyboardInterrupt
    steps = {found.name: found.steps for found in outcome.invariants if found.steps is not None}
    if set(steps) == set(invariants):
        return steps, True
    return None, all(found.verdict is not Verdict.INCONCLUSIVE for found in outcome.invariants)
