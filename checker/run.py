"""One check: spec -> protocol -> proof -> machine code -> search -> replayed traces -> outcome.

Nothing that the search finds is believed before the evaluator has replayed it, and nothing is called `holds` unless
the whole space was walked.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from checker.cache import NO_CACHE, Cache, user_cache
from checker.coverage import Coverage, counters_of, coverage_of, guards_of
from checker.outcome import INTERRUPTED, Explored, InvariantOutcome, Outcome, SymmetryUsed, Verdict
from checker.processes import Stopping
from checker.prove.certificate import Group
from checker.trace import Trace, replay, unpermuted
from model.errors import InternalError, ModelFault, UsageError
from model.language.evaluate import apply, enabled, evaluate, step_text
from model.language.protocol import Predicate, Protocol, State

if TYPE_CHECKING:  # z3, numba and llvmlite are loaded when they are needed, not when this is imported
    from checker.compile.native import NativeProtocol
    from checker.compile.packing import Packing, Words
    from checker.explore.breadth_first import Exploration, Limits, NativeFunctions, Progress
    from checker.prove.certificate import SymmetryCertificate
    from checker.prove.symmetry import SymmetryReport
    from checker.spec import Spec

SHARE_OF_MEMORY: Final = 0.85
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
    `off` or `audit`. There are no reductions yet, so `reductions` changes nothing. `coverage` has
    counted how often actions are taken and their conditions decide."""

    fail_fast: bool = False
    max_states: int | None = None
    time_limit: float | None = None
    memory_limit: int | None = None
    symmetry: str = "on"
    reductions: bool = True
    cache: bool = True
    coverage: bool = False


DEFAULTS: Final = Options()


class Watch:
    """Told what is going on. This one does not care; the console draws it."""

    def spec(self, name: str) -> None:
        """Of several specs, this one is next."""

    def phase(self, name: str) -> None:
        """A phase begins: staging, proving symmetry, compiling, searching, replaying."""

    def progress(self, progress: Progress) -> None:
        """The search has come this far."""

    def interrupted(self) -> bool:
        """Asked now and then: whether the search is to end, as by a Ctrl-C."""
        return False


NOBODY: Final = Watch()


class Stoppable(Watch):
    """In a process of its own: ends the work, at the next phase or within the search, once everything is to stop."""

    def phase(self, name: str) -> None:  # noqa: ARG002  # as Watch has it
        """Raises `KeyboardInterrupt`, as the keyboard would."""
        if self.interrupted():
            raise KeyboardInterrupt

    def interrupted(self) -> bool:
        return Stopping.asked()


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
class Search:
    """A finished search, and what it takes to read it."""

    protocol: Protocol
    packing: Packing
    exploration: Exploration
    packed_representative: Callable[[Words], Words]

    def representative(self, state: State) -> State:
        """The state that was stored for the orbit of this one."""
        return self.packing.unpack(self.packed_representative(self.packing.pack(state)))

    def steps_to(self, predicate: Predicate) -> int | None:
        """How many steps it takes to where an invariant is violated or a witness is reached, as the evaluator confirms;
        none if the search met no such state."""
        trace = _sighted(self, predicate)
        if trace is None:
            return None
        promised = predicate in self.protocol.invariants
        if bool(evaluate(predicate.expr, trace.states[-1])) is promised:
            met = "violated" if promised else "reached"
            raise InternalError(f"the search says that {predicate.name} is {met}, and the evaluator does not agree")
        return len(trace.steps)

    def trace_to(self, predicate: Predicate) -> Trace | None:
        """A shortest trace to where an invariant is violated or a witness is reached, replayed by the evaluator; none
        if the search met no such state."""
        return _sighted(self, predicate)

    def fault(self) -> ModelFault | None:
        """The fault that a step of the model commits, with the trace that leads to it."""
        return None if self.exploration.fault is None else _fault(self)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A protocol with its proof and its machine code, to be searched as often as one likes."""

    protocol: Protocol
    packing: Packing
    native: NativeProtocol

    def search(
        self, options: Options, watch: Watch = NOBODY, initial: Sequence[State] | None = None, stop_mask: int = 0
    ) -> Search:
        """Search from all initial states, or from some of them, as far as the limits in `options` allow. The search
        ends with the level on which one of the invariants in `stop_mask` falls: bit i is invariant i."""
        from checker.compile.calls import representative_of
        from checker.explore.breadth_first import explore

        exploration = explore(
            _functions(self.protocol, self.native),
            [self.packing.pack(state) for state in (self.protocol.initial if initial is None else initial)],
            predicates=len(self.protocol.invariants) + len(self.protocol.witnesses),
            stop_mask=stop_mask,
            limits=_limits(options),
            progress=watch.progress,
            interrupted=watch.interrupted,
            cache=_cache(options),
        )
        return Search(self.protocol, self.packing, exploration, representative_of(self.native))


def check(spec: Spec, options: Options = DEFAULTS, watch: Watch = NOBODY) -> Outcome:
    """Check a spec. Raises `ModelFault` if a reachable step leaves a domain, `InternalError` if the evaluator refutes
    what the search found; limits and Ctrl-C give an outcome that says so."""
    clock = _Clock(watch)
    with clock.phase("staging"):
        protocol = spec.protocol()
    try:
        return _checked(protocol, options, clock, spec.never_enabled)
    except ModelFault as fault:
        raise spec.told(fault) from fault


def check_protocol(
    protocol: Protocol, options: Options = DEFAULTS, watch: Watch = NOBODY, allowed_idle: Sequence[str] = ()
) -> Outcome:
    """Check a protocol that is staged already, with all its invariants; the actions `allowed_idle` may stay disabled.
    Raises what `check` raises, and `UsageError` for a protocol without invariants."""
    if not protocol.invariants:
        raise UsageError(f"{protocol.name} has no invariant, so nothing would be checked")
    return _checked(protocol, options, _Clock(watch), allowed_idle)


def prepare(protocol: Protocol, options: Options = DEFAULTS, watch: Watch = NOBODY) -> Prepared:
    """Prove what can be proved of a protocol's symmetry, unless it is switched off, and compile it."""
    clock = _Clock(watch)
    cache = _cache(options)
    report = _report(protocol, options, cache, clock)
    return _compiled(protocol, report.certificate if report else None, cache, clock)


def prove(spec: Spec, options: Options = DEFAULTS, watch: Watch = NOBODY) -> SymmetryReport:
    """What z3 can prove of a spec's symmetry."""
    from checker.prove.symmetry import prove_symmetry

    watch.phase("staging")
    protocol = spec.protocol()
    watch.phase("proving symmetry")
    return prove_symmetry(protocol, cache=_cache(options))


def _checked(protocol: Protocol, options: Options, clock: _Clock, allowed_idle: Sequence[str]) -> Outcome:
    cache = _cache(options)
    report = _report(protocol, options, cache, clock)
    search = _search(protocol, report.certificate if report else None, options, cache, clock)
    audit = None
    if options.symmetry == "audit" and report is not None:
        audit = _audit(search, report.certificate.group, options, cache, clock)
    covered = None
    if options.coverage and search.exploration.fault is None:
        covered = _covered(search, report.certificate.group if report else Group(), cache, clock)
    with clock.phase("replaying"):
        found = _outcome(search, _symmetry_used(report, options, audit), audit, clock, allowed_idle)
        return found if covered is None else _with_coverage(found, covered)


def _cache(options: Options) -> Cache:
    return user_cache() if options.cache else NO_CACHE


def _report(protocol: Protocol, options: Options, cache: Cache, clock: _Clock) -> SymmetryReport | None:
    if options.symmetry == "off" or all(scalarset.size < 2 for scalarset in protocol.scalarsets):
        return None
    from checker.prove.symmetry import prove_symmetry

    with clock.phase("proving symmetry"):
        return prove_symmetry(protocol, cache=cache)


def _search(
    protocol: Protocol, certificate: SymmetryCertificate | None, options: Options, cache: Cache, clock: _Clock
) -> Search:
    prepared = _compiled(protocol, certificate, cache, clock)
    with clock.phase("searching"):
        stop_mask = (1 << len(protocol.invariants)) - 1 if options.fail_fast else 0
        return prepared.search(options, clock.watch, stop_mask=stop_mask)


def _compiled(protocol: Protocol, certificate: SymmetryCertificate | None, cache: Cache, clock: _Clock) -> Prepared:
    from checker.compile.native import compile_native
    from checker.compile.packing import Packing

    packing = Packing(protocol)
    with clock.phase("compiling"):
        if certificate is not None:
            certificate.require_for(protocol)
        native = compile_native(protocol, packing, certificate.group if certificate else None, cache)
    return Prepared(protocol, packing, native)


def _functions(protocol: Protocol, native: NativeProtocol) -> NativeFunctions:
    from checker.explore.breadth_first import NativeFunctions

    return NativeFunctions(
        words=native.words,
        max_successors=native.max_successors,
        steps=len(protocol.steps),
        expand=native.expand,
        violated=native.violated,
        violated_by_any=native.violated_by_any,
        canonical=native.canonical,
    )


def _limits(options: Options) -> Limits:
    from checker.explore.breadth_first import Limits

    return Limits(options.max_states, options.time_limit, options.memory_limit or _most_memory())


def _most_memory() -> int | None:
    """Without a limit of the user's: most of what the machine can give, so that a search too large ends with a word
    instead of being killed. None where the system does not tell."""
    from checker.explore.breadth_first import resident_memory

    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        available = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError, IndexError):
        return None
    return resident_memory() + round(available * SHARE_OF_MEMORY)


# Reading what the search found


def _outcome(
    search: Search, symmetry: SymmetryUsed, audit: _Audit | None, clock: _Clock, allowed_idle: Sequence[str]
) -> Outcome:
    found, protocol = search.exploration, search.protocol
    if found.fault is not None:
        raise _fault(search)
    return Outcome(
        explored=_explored(protocol, found),
        symmetry=symmetry,
        invariants=tuple(_invariant_outcome(search, predicate) for predicate in protocol.invariants),
        witnesses={predicate.name: search.steps_to(predicate) for predicate in protocol.witnesses},
        never_enabled=_never_enabled(protocol, found, allowed_idle),
        phases=dict(clock.seconds),
        reservations=() if audit is None or audit.complete else (audit.text,),
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
        single=found.distinct == 1 and len(set(protocol.initial)) == 1,
    )


def _by_action(protocol: Protocol, found: Exploration) -> dict[str, int]:
    taken = dict.fromkeys((action.name for action in protocol.actions), 0)
    for step, count in zip(protocol.steps, found.steps_taken, strict=True):
        taken[step.action] += count
    return taken


def _never_enabled(protocol: Protocol, found: Exploration, allowed: Sequence[str]) -> tuple[str, ...]:
    """Known only of a complete search; actions without any step at these bounds are not meant."""
    if not found.complete:
        return ()
    taken = _by_action(protocol, found)
    idle = (action.name for action in protocol.actions if action.possible and not taken[action.name])
    return tuple(name for name in idle if name not in allowed)


def _invariant_outcome(search: Search, predicate: Predicate) -> InvariantOutcome:
    trace = _sighted(search, predicate)
    if trace is None:
        verdict = Verdict.HOLDS if search.exploration.complete else Verdict.INCONCLUSIVE
        return InvariantOutcome(predicate.name, verdict)
    if not trace.is_counterexample:
        raise InternalError(f"the search says that {predicate.name} is violated, and the evaluator does not agree")
    return InvariantOutcome(predicate.name, Verdict.VIOLATED, trace)


def _sighted(search: Search, predicate: Predicate) -> Trace | None:
    """A shortest trace to where the search met a predicate first."""
    protocol = search.protocol
    seen = search.exploration.first[(*protocol.invariants, *protocol.witnesses).index(predicate)]
    return None if seen is None else _trace_to(search, predicate, seen.index)


def _trace_to(search: Search, predicate: Predicate, index: int) -> Trace:
    """A shortest trace to a stored state, in the replicas' own names."""
    path = [search.packing.unpack(words) for words, _ in search.exploration.path(index)]
    steps = unpermuted(search.protocol, path, search.representative)
    start = next(state for state in search.protocol.initial if search.representative(state) == path[0])
    return replay(search.protocol, predicate, start, steps)


def _fault(search: Search) -> ModelFault:
    """The fault that a step of the model commits, with the trace that leads to it."""
    fault = search.exploration.fault
    assert fault is not None
    protocol = search.protocol
    trace = _trace_to(search, protocol.invariants[0], fault.index)
    for step in protocol.steps:
        try:
            if enabled(step, trace.states[-1]):
                apply(protocol, step, trace.states[-1])
        except ModelFault as error:
            steps = [step_text(protocol, taken) for taken in (*trace.steps, step)]
            error.why = f"It happens after {len(steps)} step{'s' * (len(steps) != 1)}: {', '.join(steps)}"
            return error
    raise InternalError("the search met a fault of the model that the evaluator does not know")


def _symmetry_used(report: SymmetryReport | None, options: Options, audit: _Audit | None) -> SymmetryUsed:
    notes = (*_notes(report, options), *((audit.text,) if audit is not None and audit.complete else ()))
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


# The audit


@dataclass(frozen=True, slots=True)
class _Audit:
    """What came of an audit; one that is not complete casts doubt on the whole check."""

    text: str
    complete: bool


def _audit(reduced: Search, group: Group, options: Options, cache: Cache, clock: _Clock) -> _Audit:
    """Search again without symmetry, and compare. Raises `InternalError` if anything differs."""
    if not reduced.exploration.complete:
        return _Audit("The search was not audited, as it is not complete.", complete=False)
    full = _search(reduced.protocol, None, options, cache, clock)
    if full.exploration.stopped is not None:
        why = STOPPED_IN_WORDS[full.exploration.stopped.value]
        return _Audit(f"The audit is not complete: {why}.", complete=False)
    with clock.phase("auditing"):
        _compare(reduced, full, group)
    counts = f"{reduced.exploration.distinct:,} orbits are all of the {full.exploration.distinct:,} states"
    return _Audit(f"Audited: {counts}; same depths.", complete=True)


def _compare(reduced: Search, full: Search, group: Group) -> None:
    """What is stored under symmetry must be a state of each orbit, once, and all orbits must be there. They are listed
    in plain Python: the canonical form is what is in question."""
    from checker.explore.reference import orbit_under

    stored, orbit_of, pack = set(_packed_states(reduced)), orbit_under(reduced.protocol, group), reduced.packing.pack
    size, least = 0, set()
    for state in stored:
        orbit = orbit_of(reduced.packing.unpack(state))
        size += len(orbit)
        least.add(pack(min(orbit)))
    if sum(state in stored for state in _packed_states(full)) != len(stored):
        raise InternalError("under symmetry the search stores a state that cannot be reached")
    if len(least) != len(stored):
        raise InternalError("under symmetry the search stores two states of one orbit")
    if size != full.exploration.distinct:
        raise InternalError(f"the orbits found have {size:,} states, and there are {full.exploration.distinct:,}")
    if set(map(reduced.packed_representative, _packed_states(full))) != stored:
        raise InternalError("there is a state whose orbit was not found under symmetry")
    if _depths(reduced.exploration) != _depths(full.exploration):
        raise InternalError("with and without symmetry the predicates are met at different depths")


def _packed_states(search: Search) -> Iterator[Words]:
    return map(search.exploration.store.state, range(len(search.exploration.store)))


def _depths(found: Exploration) -> tuple[int | None, ...]:
    """Of the whole search, then of each predicate."""
    return (found.depth, *(seen.depth if seen else None for seen in found.first))


# Coverage


def _covered(search: Search, group: Group, cache: Cache, clock: _Clock) -> Coverage:
    """How often actions can be taken and their conjuncts decide, over all states that the search stands for."""
    from checker.compile.native_coverage import compile_coverage
    from checker.explore.covering import Cover

    guards = guards_of(search.protocol)
    with clock.phase("compiling"):
        cover = Cover(compile_coverage(search.packing, guards, group, cache), counters_of(guards))
    finished = False
    with clock.phase("counting coverage"), suppress(KeyboardInterrupt):
        for _ in cover.add(search.exploration.store.states):
            if clock.watch.interrupted():
                break
        else:
            finished = True
    return coverage_of(guards, cover.counters, cover.states, finished and search.exploration.complete)


def _with_coverage(found: Outcome, covered: Coverage) -> Outcome:
    """What the search has counted must be what was counted now. Raises `InternalError` if it is not."""
    if covered.complete and found.symmetry.order == 1:
        taken = {each.action: each.taken for each in covered.actions}
        if (covered.states, taken) != (found.explored.distinct, found.explored.steps_taken):
            raise InternalError("coverage was counted over other states or steps than were found")
    if covered.complete or not found.explored.complete:
        return replace(found, coverage=covered)
    why = f"Coverage was not counted to the end: {INTERRUPTED}."
    return replace(found, coverage=covered, reservations=(*found.reservations, why))
