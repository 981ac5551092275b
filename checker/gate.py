"""The gate: every spec put to the test of what it expects, each in a process of its own.

A result of an earlier run is taken where nothing has changed (`result_cache`). Whatever goes wrong with one spec
(a broken file, a fault of its model, a process that dies) is a finding about that spec, and hides no other.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import model
from checker import result_cache
from checker.cache import NO_CACHE, user_cache
from checker.changes import touches
from checker.files import readable
from checker.judgement import (
    INTERNAL,
    Gate,
    Judged,
    Kind,
    Told,
    counted,
    faulty,
    judge,
    require_expectations,
    undecided,
)
from checker.outcome import INTERRUPTED
from checker.processes import Ended, each_in_its_own
from checker.report.story import Telling, tell, text_of
from checker.result_cache import Result
from checker.row import Row
from checker.run import DEFAULTS, NOBODY, Options, Stoppable, Watch, check
from checker.spec import Spec
from checker.spec_search import Candidate
from checker.trace import Trace
from checker.trace_file import render, reread
from model.errors import InternalError, Place, TidegaugeError

STORY_WIDTH: Final = 78  # fits a terminal of 80 columns behind a margin
NO_MEMORY: Final = "there was not enough memory"


@dataclass(slots=True)
class Interruption:
    """Whether somebody asked for an end. Ctrl-C and SIGTERM do not raise here: reports are still to be written."""

    wanted: bool = False

    def __call__(self) -> bool:
        return self.wanted

    @contextmanager
    def heeded(self) -> Iterator[None]:
        """Signals are noted as long as this lasts. (Only the main thread may say what they do.)"""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self._note) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _note(self, *_: object) -> None:
        self.wanted = True


NEVER: Final = Interruption()


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a check came to no result: an error with its exit code, or, without one, a reason to call it inconclusive."""

    text: str
    code: int = 0
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Checked:
    """What the process of a spec hands over: a result (`cached` if it is that of an earlier run), or a failure."""

    result: Result | None
    failure: Failure | None = None
    cached: bool = False
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Loaded:
    """A candidate with its spec, or with why there is none."""

    candidate: Candidate
    spec: Spec | None = None
    failure: Failure | None = None

    @property
    def file(self) -> str:
        return str(self.spec.path) if self.spec and self.spec.path else str(self.candidate.path)


def load_all(candidates: Sequence[Candidate], invariants: Sequence[str] = ()) -> list[Loaded]:
    """Load every spec, and make sure that each says what it expects; with `invariants`, of these alone."""
    return [_loaded(candidate, invariants) for candidate in candidates]


def _loaded(candidate: Candidate, invariants: Sequence[str]) -> Loaded:
    try:
        spec = candidate.load()
        spec = spec.changed(invariants=invariants) if invariants else spec
        require_expectations(spec)
        return Loaded(candidate, spec)
    except TidegaugeError as error:
        return Loaded(candidate, failure=_failure(error, Place(str(candidate.path), 0)))


def _failure(error: TidegaugeError, place: Place | None = None) -> Failure:
    text = readable(str(error))
    return Failure(
        text.removeprefix(readable(f"{error.where}: ")) if error.where else text, error.exit_code, error.where or place
    )


def differs(loaded: Loaded, changed: frozenset[str]) -> bool:
    """Whether a file of the spec is among the changed ones: its own, those it extends, its own code, the model's. What
    could not be loaded cannot be told to be unchanged."""
    if loaded.spec is None:
        return True
    return touches([*loaded.spec.files, *loaded.spec.origin.code, Path(model.__file__).parent], changed)


# Judging


def run_gate(
    specs: Sequence[Loaded],
    options: Options = DEFAULTS,
    watch: Watch = NOBODY,
    stopped: Callable[[], bool] = NEVER,
) -> Gate:
    """Judge every spec. Once `stopped` says so, whatever is not finished is inconclusive."""
    checked = _checked(specs, options, watch, stopped)
    return Gate(tuple(_judged(loaded, found) for loaded, found in zip(specs, checked, strict=True)))


def _checked(specs: Sequence[Loaded], options: Options, watch: Watch, stopped: Callable[[], bool]) -> list[Checked]:
    store = user_cache() if options.cache else NO_CACHE
    found: dict[int, Checked] = {}
    for number, loaded in enumerate(specs):
        if loaded.spec is None:
            found[number] = Checked(None, loaded.failure)
        elif (result := result_cache.known(loaded.spec, options.symmetry, store)) is not None:
            found[number] = Checked(result, cached=True)
    left = [number for number in range(len(specs)) if number not in found]

    def ended(position: int, how: Ended) -> None:
        found[left[position]] = _checked_of(how)
        watch.spec(f"{len(found)} of {len(specs)} specs")

    watch.spec(f"{len(found)} of {len(specs)} specs")
    watch.phase("checking")
    each_in_its_own(check_one, [(specs[number].spec, options) for number in left], stopped, ended)
    return [found[number] for number in range(len(specs))]


def _checked_of(how: Ended) -> Checked:
    if isinstance(how.value, Checked):
        return how.value
    if how.exit is None:
        return Checked(None, Failure(INTERRUPTED))
    told = f"signal {-how.exit}" if how.exit < 0 else f"exit code {how.exit}"
    return Checked(None, Failure(f"the process that checked it died ({told})"))


def _judged(loaded: Loaded, checked: Checked) -> Judged:
    judged = Judged(loaded.candidate.name, loaded.file, (), seconds=checked.seconds, cached=checked.cached)
    failure, spec = checked.failure, loaded.spec
    if spec is None or (failure is not None and failure.code):
        why = failure or Failure("there is no result", INTERNAL)
        return replace(judged, spec=spec, findings=(faulty(why.text, why.place),), code=why.code)
    judged = replace(judged, spec=spec, predicates=spec.vocabulary().predicates)
    if checked.result is None:
        return replace(judged, findings=undecided(spec, failure.text if failure else INTERRUPTED))
    return _compared(judged, spec, checked.result)


def _compared(judged: Judged, spec: Spec, result: Result) -> Judged:
    outcome = result.outcome
    findings = judge(spec, outcome, result.unreduced)
    idle = tuple(name for name in outcome.never_enabled if name not in spec.never_enabled)
    judged = replace(
        judged,
        findings=findings,
        outcome=replace(outcome, never_enabled=idle),
        traces=result.traces,
        counted=counted(outcome, result.unreduced),
    )
    unexpected = [found.name for found in findings if found.kind in (Kind.VIOLATED, Kind.LENGTH)]
    return _with_stories(judged, spec, unexpected)


def _with_stories(judged: Judged, spec: Spec, names: Sequence[str]) -> Judged:
    """With the stories of the counterexamples nobody expected. Their texts are written anew: a result of an earlier run
    may know lines that have moved since."""
    if not names:
        return judged
    try:
        traces = {name: reread(judged.traces[name], spec).trace for name in names}
    except TidegaugeError as error:  # the policy's file has changed or gone while this ran
        failure = _failure(error)
        return replace(judged, findings=(*judged.findings, faulty(failure.text, failure.place)), code=failure.code)
    texts = {name: render(trace, spec) for name, trace in traces.items()}
    told = {name: _told(trace, spec) for name, trace in traces.items()}
    return replace(judged, told=told, traces={**judged.traces, **texts})


def _told(trace: Trace, spec: Spec) -> Told:
    actions = trace.protocol.action_named
    return Told(
        sentences=trace.sentences(),
        places=tuple(actions[step.action].place for step in trace.steps),
        failing=trace.reason().text,
        story=text_of(tell([trace], spec.name, telling=Telling(STORY_WIDTH))),
    )


def rows(gate: Gate) -> list[Row]:
    """The specs whose check came to an end, for pages."""
    return [Row(each.spec, each.outcome, each.traces) for each in gate.specs if each.spec and each.outcome]


# In the process of a spec


def check_one(spec: Spec, options: Options) -> Checked:
    """Check one spec, in a process of its own; gives plain data."""
    started = time.perf_counter()
    try:
        result, cached = _result(spec, options)
        return Checked(result, cached=cached, seconds=time.perf_counter() - started)
    except TidegaugeError as error:
        return Checked(None, _failure(error))
    except KeyboardInterrupt:
        return Checked(None, Failure(INTERRUPTED))
    except MemoryError:
        return Checked(None, Failure(NO_MEMORY))
    except Exception as error:  # noqa: BLE001  # it must not look like the death of a process
        fault = InternalError(f"internal error: {type(error).__name__}: {error}")
        return Checked(None, _failure(fault))


def _result(spec: Spec, options: Options) -> tuple[Result, bool]:
    """The result of an earlier run on the same protocol, or of a check."""
    store = user_cache() if options.cache else NO_CACHE
    cheap = result_cache.cheap_key(spec, options.symmetry)
    content = spec.protocol().content_hash
    exact = result_cache.exact_key(spec, options.symmetry, content)
    if cheap is not None and cheap == result_cache.cheap_key(spec, options.symmetry):
        result_cache.keep_hash(cheap, content, store)
    kept = result_cache.load(exact, store)
    if kept is not None:
        return kept, True
    result = _searched(spec, options)
    result_cache.keep(exact, result, store)
    return result, False


def _searched(spec: Spec, options: Options) -> Result:
    """A check that knows of no declared idle actions: those are judged later."""
    plain = replace(spec, never_enabled=())
    outcome = check(plain, options, Stoppable())
    traces = {found.name: render(found.trace, spec) for found in outcome.invariants if found.trace}
    unreduced = None
    if spec.exact_counts and outcome.symmetry.order > 1 and outcome.explored.complete:
        unreduced = check(plain, replace(options, symmetry="off"), Stoppable()).explored
    return Result(outcome.without_traces(), traces, unreduced)
