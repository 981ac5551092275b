"""Two specs compared: rules, bounds, verdicts, and the shortest trace that one allows and the other forbids.

A trace is forbidden if its last step cannot be taken, or if it can, but leaves a variable that both have with another
value. Both protocols are explored side by side (`product`), so within the bounds this is exact: if no difference is
found in a complete search, there is none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from checker.compare import compare
from checker.outcome import INTERRUPTED, InvariantOutcome
from checker.own_origin import PROTOCOL
from checker.product import Label, Product
from checker.report.story import steps_text
from checker.row import Row
from checker.run import DEFAULTS, NOBODY, STOPPED_IN_WORDS, Options, Prepared, Watch, prepare
from checker.spec import Spec
from checker.trace import Trace, replay
from model.errors import Place, UsageError
from model.language.evaluate import enabled, evaluate
from model.language.protocol import Predicate, Protocol, State, Step
from model.language.show import show_expr

#: What two specs have under one name; none where one of them has nothing.
Pair: TypeAlias = "tuple[str | int | None, str | int | None]"


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A condition that the forbidding protocol requires of the step, and that is false; with the line that says so."""

    text: str
    place: Place | None


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A variable that the last step leaves with two values, as readers see them."""

    path: str
    allowed: str
    forbidding: str


@dataclass(frozen=True, slots=True)
class Forbidden:
    """A trace of one protocol, the last step of which the other forbids. `obstacles` say why it cannot be taken there,
    `disagreements` that it can, with another effect; neither: the other has no such step at all."""

    trace: Trace
    obstacles: tuple[Obstacle, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()


@dataclass(frozen=True, slots=True)
class OneWay:
    """What one spec allows that the other forbids: the shortest trace, or none. `stopped` says why the search ended
    before it had seen everything."""

    found: Forbidden | None = None
    unmatched: int = 0
    distinct: int = 0
    stopped: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """The two specs, what differs between them, and the two ways. `left_out` are variables that are not compared, as
    the specs start differently there; `incomparable` says why they could not be explored side by side at all."""

    rows: tuple[Row, Row]
    settings: Mapping[str, Pair]
    actions: tuple[tuple[str, ...], tuple[str, ...]]
    ways: tuple[OneWay, OneWay] = field(default=(OneWay(), OneWay()))
    left_out: tuple[str, ...] = ()
    incomparable: str = ""

    @property
    def verdicts(self) -> dict[str, Pair]:
        """Of each invariant that either of them checks: `holds`, `violated in 3 steps`, `inconclusive`."""
        told = [{found.name: _verdict(found) for found in row.outcome.invariants} for row in self.rows]
        return {name: (told[0].get(name), told[1].get(name)) for name in dict.fromkeys((*told[0], *told[1]))}

    @property
    def exit_code(self) -> int:
        """1 if the two behave differently, 3 if that could not be found out, else 0."""
        both = [pair for pair in self.verdicts.values() if None not in pair]
        if any(one != other for one, other in both) or any(way.found or way.unmatched for way in self.ways):
            return 1
        doubts = any(row.outcome.doubts for row in self.rows) or any(way.stopped for way in self.ways)
        return 3 if doubts or self.incomparable else 0


def _verdict(found: InvariantOutcome) -> str:
    if found.steps is None:
        return found.verdict.value
    return f"{found.verdict.value} in {steps_text(found.steps)}"


def diff(first: Spec, second: Spec, options: Options = DEFAULTS, watch: Watch = NOBODY) -> Difference:
    """Compare two specs at their own bounds. Raises what `check` raises, and `KeyboardInterrupt` if interrupted."""
    rows = compare([replace(spec, quick_origin=None) for spec in (first, second)], options, watch).rows
    if any(row.outcome.was_interrupted for row in rows):
        raise KeyboardInterrupt
    protocols = first.protocol(), second.protocol()
    names = [[action.name for action in protocol.actions] for protocol in protocols]
    only = [tuple(name for name in names[which] if name not in names[1 - which]) for which in (0, 1)]
    difference = Difference((rows[0], rows[1]), _settings(first, second), (only[0], only[1]))
    try:
        return _side_by_side(difference, Product(*protocols), options, watch)
    except UsageError as error:
        return replace(difference, incomparable=error.what)


def _settings(first: Spec, second: Spec) -> dict[str, Pair]:
    """Features and bounds in which the two differ, whether a spec changes them or its variant has them so."""
    told = [_told(spec) for spec in (first, second)]
    names = dict.fromkeys((*told[0], *told[1]))
    pairs = {name: (told[0].get(name), told[1].get(name)) for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def _told(spec: Spec) -> dict[str, str | int]:
    protocol = spec.model_document().get(PROTOCOL, "Kafka's")
    return {PROTOCOL: protocol, **spec.all_features(), **spec.used_bounds()}


def _side_by_side(difference: Difference, product: Product, options: Options, watch: Watch) -> Difference:
    watch.spec("both, side by side")
    prepared = prepare(product.protocol, replace(options, symmetry="off"), watch)
    ways = [_way(product, prepared, which, options, watch) for which in (0, 1)]
    return replace(difference, ways=(ways[0], ways[1]), left_out=product.left_out)


def _way(product: Product, prepared: Prepared, which: int, options: Options, watch: Watch) -> OneWay:
    """The shortest trace that the first (0) or the second (1) protocol allows and the other forbids."""
    watch.phase("searching")
    effect, allows = product.protocol.invariants[0], product.protocol.invariants[1 + which]
    mask = sum(1 << product.protocol.invariants.index(predicate) for predicate in (effect, allows))
    search = prepared.search(replace(options, symmetry="off", fail_fast=False), watch, stop_mask=mask)
    fault = search.fault()
    if fault is not None:
        raise fault
    unmatched, explored = product.unmatched(which), search.exploration
    stopped = "" if explored.stopped is None or explored.complete else STOPPED_IN_WORDS[explored.stopped.value]
    if stopped == INTERRUPTED:
        raise KeyboardInterrupt
    for predicate in (effect, allows):  # a differing effect is seen after its step, a missing step before it
        trace = search.trace_to(predicate)
        if trace is not None:
            return OneWay(_forbidden(product, which, trace), unmatched, explored.distinct)
    return OneWay(None, unmatched, explored.distinct, stopped)


def _forbidden(product: Product, which: int, pair: Trace) -> Forbidden:
    """The pair's trace as one of the protocol that allows it."""
    labels = [product.labels[step.number] for step in pair.steps]
    last = pair.states[-1]
    disagreements = tuple(_disagreements(product, which, last))
    if disagreements:
        return Forbidden(_replayed(product, which, pair.states[0], labels), disagreements=disagreements)
    label = product.difference(last, which)
    assert label is not None
    trace = _replayed(product, which, pair.states[0], [*labels, label])
    step = product.steps[1 - which].get(label)
    if step is None:
        return Forbidden(trace)
    halves = product.halves(last)
    unable, state = (product.first, halves.first) if which else (product.second, halves.second)
    return Forbidden(trace, _obstacles(unable, step, state))


def _replayed(product: Product, which: int, start: State, labels: Sequence[Label]) -> Trace:
    protocol, halves = (product.first, product.second)[which], product.halves(start)
    steps = [product.steps[which][label] for label in labels]
    anything = Predicate("", protocol.invariants[0].formula, None, "")
    return replay(protocol, anything, halves.second if which else halves.first, steps)


def _obstacles(protocol: Protocol, step: Step, state: State) -> tuple[Obstacle, ...]:
    assert not enabled(step, state)
    false = (condition for condition in step.guard if not evaluate(condition.expr, state))
    return tuple(Obstacle(show_expr(protocol, condition.expr), condition.place) for condition in false)


def _disagreements(product: Product, which: int, state: State) -> list[Disagreement]:
    found = []
    for cell, one, other in product.disagreements(state):
        shown = cell.domain.show(one), product.second.cells[product.shared[cell.number]].domain.show(other)
        found.append(Disagreement(str(cell.path), shown[which], shown[1 - which]))
    return found
