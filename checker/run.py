"""One check: spec -> protocol -> proof -> machine code -> search -> replayed traces -> outcome.

Nothing that the search finds is believed before the evaluator has replayed it, and nothing is called `holds` unless
the whole space was walked.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from checker.cache import NO_CACHE, Cache, user_cache
from checker.outcome import INTERRUPTED, Explored, InvariantOutcome, Outcome, SymmetryUsed, Verdict
from checker.trace import Trace, replay, unpermuted
from model.errors import InternalError, ModelFault
from model.language.evaluate import apply, enabled, step_text
from model.language.protocol import Predicate, Protocol, State

if TYPE_CHECKING:  # z3, numba and llvmlite are loaded when they are needed, not when this is imported
    from checker.compile.native import NativeProtocol
    from checker.compile.packing import Packing
    from checker.explore.breadth_first import Exploration, Limits, NativeFunctions, Progress
    from checker.prove.certificate import SymmetryCertificate
    from checker.prove.symmetry import SymmetryReport
    from checker.spec import Spec

STOPPED_IN_WORDS = {
    "max-states": "the limit on stored states was reached",
    "time-limit": "the time limit was reached",
    "memory-limit": "the memory limit was reached",
    "interrupted": INTERRUPTED,
    "fail-fast": "it ended after the level that violates, as --fail-fast asks",
}


@dataclass(frozen=True, slots=True)
class Options:
    """How to check. `time_limit` in seconds of search, `memory_limit` in bytes of resident memory; `symmetry` is `on`,
    `off` or `audit`. There are no reductions yet, so `reductions` changes nothing."""

    fail_fast: bool = False
    max_states: int | None = None
    time_limit: float | None = None
    memory_limit: int | None = None
    symmetry: str = "on"
    reductions: bool = True
    cache: bool = True


class Watch:
    """Told what is going on. This one does not care; the console draws it."""

    def spec(self, name: str) -> None:
        """Of several specs, this one is next."""

    def phase(self, name: str) -> None:
        """A phase begins: staging, proving symmetry, compiling, searching, replaying."""

    def progress(self, progress: Progress) -> None:
        """The search has come this far."""


@dataclass(slots=True)
class _Clock:
    """Seconds spent in each phase."""

    watch: Watch
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        self.watch.phase(name)
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - started


@dataclass(frozen=True, slots=True)
class _Search:
    """A finished search, and what it takes to read it."""

    protocol: Protocol
    packing: Packing
    exploration: Exploration
    representative: Callable[[State], State]


def check(spec: Spec, options: Options = Options(), watch: Watch = Watch()) -> Outcome:
    """Check a spec. Raises `ModelFault` if a reachable step leaves a domain, `InternalError` if the evaluator refutes
    what the search found; limits and Ctrl-C give an outcome that says so."""
    clock = _Clock(watch)
    cache = user_cache() if options.cache else NO_CACHE
    with clock.phase("staging"):
        protocol = spec.protocol()
    report = _report(protocol, options, cache, clock)
    search = _search(protocol, report.certificate if report else None, options, cache, clock)
    notes = _notes(report, options)
    if options.symmetry == "audit" and report is not None:
        notes = (*notes, _audit(search, options, cache, clock))
    with clock.phase("replaying"):
        return _outcome(spec, search, report, notes, clock)


def prove(spec: Spec, options: Options = Options(), watch: Watch = Watch()) -> SymmetryReport:
    """What z3 can prove of a spec's symmetry."""
    from checker.prove.symmetry import prove_symmetry

    watch.phase("staging")
    protocol = spec.protocol()
    watch.phase("proving symmetry")
    return prove_symmetry(protocol, cache=user_cache() if options.cache else NO_CACHE)


def _report(protocol: Protocol, options: Options, cache: Cache, clock: _Clock) -> SymmetryReport | None:
    if options.symmetry == "off" or all(scalarset.size < 2 for scalarset in protocol.scalarsets):
        return None
    from checker.prove.symmetry import prove_symmetry

    with clock.phase("proving symmetry"):
        return prove_symmetry(protocol, cache=cache)


def _search(
    protocol: Protocol, certificate: SymmetryCertificate | None, options: Options, cache: Cache, clock: _Clock
) -> _Search:
    from checker.compile.calls import representative_of
    from checker.compile.native import compile_native
    from checker.compile.packing import Packing
    from checker.explore.breadth_first import explore

    packing = Packing(protocol)
    with clock.phase("compiling"):
        if certificate is not None:
            certificate.require_for(protocol)
        native = compile_native(protocol, packing, certificate.group if certificate else None, cache)
    with clock.phase("searching"):
        exploration = explore(
            _functions(protocol, native),
            [packing.pack(state) for state in protocol.initial],
            predicates=len(protocol.invariants) + len(protocol.witnesses),
            stop_mask=(1 << len(protocol.invariants)) - 1 if options.fail_fast else 0,
            limits=_limits(options),
            progress=clock.watch.progress,
        )
    return _Search(protocol, packing, exploration, representative_of(native, packing))


def _functions(protocol: Protocol, native: NativeProtocol) -> NativeFunctions:
    from checker.explore.breadth_first import NativeFunctions

    return NativeFunctions(
        words=native.words,
        max_successors=native.max_successors,
        steps=len(protocol.steps),
        expand=native.expand,
        violated=native.violated,
        canonical=native.canonical,
    )


def _limits(options: Options) -> Limits:
    from checker.explore.breadth_first import Limits

    return Limits(options.max_states, options.time_limit, options.memory_limit)


# Reading what the search found


def _outcome(
    spec: Spec, search: _Search, report: SymmetryReport | None, notes: tuple[str, ...], clock: _Clock
) -> Outcome:
    found, protocol = search.exploration, search.protocol
    if found.fault is not None:
        raise _fault(search)
    sightings = dict(zip((*protocol.invariant_names, *protocol.witness_names), found.first, strict=True))
    return Outcome(
        explored=_explored(protocol, found),
        symmetry=_symmetry_used(report, notes),
        invariants=tuple(_invariant_outcome(search, predicate) for predicate in protocol.invariants),
        witnesses={name: seen.depth - 1 if (seen := sightings[name]) else None for name in protocol.witness_names},
        never_enabled=_never_enabled(spec, protocol, found),
        phases=dict(clock.seconds),
    )


def _explored(protocol: Protocol, found: Exploration) -> Explored:
    return Explored(
        distinct=found.distinct,
        generated=found.generated,
        depth=found.depth,
        complete=found.complete,
        stopped=STOPPED_IN_WORDS[found.stopped.value] if found.stopped else None,
        seconds=found.seconds,
        steps_taken=_by_action(protocol, found),
    )


def _by_action(protocol: Protocol, found: Exploration) -> dict[str, int]:
    taken = dict.fromkeys((action.name for action in protocol.actions), 0)
    for step, count in zip(protocol.steps, found.steps_taken, strict=True):
        taken[step.action] += count
    return taken


def _never_enabled(spec: Spec, protocol: Protocol, found: Exploration) -> tuple[str, ...]:
    """Known only of a complete search; actions without any step at these bounds are not meant."""
    if not found.complete:
        return ()
    taken = _by_action(protocol, found)
    idle = (action.name for action in protocol.actions if action.possible and not taken[action.name])
    return tuple(name for name in idle if name not in spec.never_enabled)


def _invariant_outcome(search: _Search, predicate: Predicate) -> InvariantOutcome:
    seen = search.exploration.first[search.protocol.invariants.index(predicate)]
    if seen is None:
        verdict = Verdict.HOLDS if search.exploration.complete else Verdict.INCONCLUSIVE
        return InvariantOutcome(predicate.name, verdict)
    trace = _trace_to(search, predicate, seen.index)
    if not trace.is_counterexample:
        raise InternalError(f"the search says that {predicate.name} is violated, and the evaluator does not agree")
    return InvariantOutcome(predicate.name, Verdict.VIOLATED, trace)


def _trace_to(search: _Search, predicate: Predicate, index: int) -> Trace:
    """A shortest trace to a stored state, in the replicas' own names."""
    path = [search.packing.unpack(words) for words, _ in search.exploration.path(index)]
    start = next(state for state in search.protocol.initial if search.representative(state) == path[0])
    return replay(search.protocol, predicate, start, unpermuted(search.protocol, path, search.representative))


def _fault(search: _Search) -> ModelFault:
    """The fault that a step of the model commits, with the trace that leads to it."""
    fault = search.exploration.fault
    assert fault is not None
    protocol = search.protocol
    predicate = next(iter((*protocol.invariants, *protocol.witnesses)))
    trace = _trace_to(search, predicate, fault.index)
    for step in protocol.steps:
        try:
            if enabled(step, trace.states[-1]):
                apply(protocol, step, trace.states[-1])
        except ModelFault as error:
            steps = [step_text(protocol, taken) for taken in (*trace.steps, step)]
            error.why = f"It happens after {len(steps)} steps: {', '.join(steps)}"
            return error
    raise InternalError("the search met a fault of the model that the evaluator does not know")


def _symmetry_used(report: SymmetryReport | None, notes: tuple[str, ...]) -> SymmetryUsed:
    if report is None:
        return SymmetryUsed("trivial", 1, proved=False, notes=notes)
    group = report.certificate.group
    return SymmetryUsed(group.name, group.order, proved=not group.is_trivial, notes=notes)


def _notes(report: SymmetryReport | None, options: Options) -> tuple[str, ...]:
    if options.symmetry == "off":
        return ("Symmetry is switched off.",)
    if report is None:
        return ("There is nothing to permute.",)
    return (*(str(refutation) for refutation in report.refutations), *report.unknowns)


def _audit(reduced: _Search, options: Options, cache: Cache, clock: _Clock) -> str:
    """Search again without symmetry, and compare. Raises `InternalError` if anything differs."""
    full = _search(reduced.protocol, None, options, cache, clock)
    if not (full.exploration.complete and reduced.exploration.complete):
        return "The audit is not complete: a limit was reached."
    with clock.phase("auditing"):
        store = full.exploration.store
        states = (full.packing.unpack(store.state(index)) for index in range(len(store)))
        orbits = {reduced.representative(state) for state in states}
    same_depths = [seen and seen.depth for seen in full.exploration.first] == [
        seen and seen.depth for seen in reduced.exploration.first
    ]
    if len(orbits) != reduced.exploration.distinct or full.exploration.depth != reduced.exploration.depth:
        raise InternalError(f"symmetry found {reduced.exploration.distinct} orbits where there are {len(orbits)}")
    if not same_depths:
        raise InternalError("with and without symmetry the predicates are met at different depths")
    return f"Audited: {len(orbits):,} orbits are all of the {full.exploration.distinct:,} states; same depths."
