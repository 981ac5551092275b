"""Several specs beside each other: rules down, promises across.

Each spec is checked in a process of its own pool, several at a time; what comes back is the same whatever the number of
processes, in the order asked for. A process that dies makes its spec inconclusive, never the comparison green.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Final

from checker.outcome import INTERRUPTED, Explored, InvariantOutcome, Outcome, SymmetryUsed, Verdict
from checker.processes import MOST_PROCESSES, Stopping, signals_held_back
from checker.row import Row
from checker.run import DEFAULTS, NOBODY, Options, Stoppable, Watch, check
from checker.spec import Spec
from checker.trace_file import render

DIED: Final = "the process that checked it died"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The rows, in the order asked for."""

    rows: tuple[Row, ...]

    @property
    def exit_code(self) -> int:
        """1 if a cell differs from what its spec expects, else 3 if one is inconclusive, else 0."""
        if any(row.differs for row in self.rows):
            return 1
        inconclusive = any(row.outcome.doubts for row in self.rows)
        return 3 if inconclusive else 0


def compare(specs: Sequence[Spec], options: Options = DEFAULTS, watch: Watch = NOBODY) -> Comparison:
    """Check every spec, at its quick bounds if it has any. Ctrl-C leaves the specs not finished inconclusive."""
    chosen = [spec.at_quick_bounds() if spec.is_as_written else spec for spec in specs]
    processes = min(len(chosen), os.cpu_count() or 1, MOST_PROCESSES)
    rows = _side_by_side(chosen, options, watch, processes) if processes > 1 else _in_turn(chosen, options, watch)
    return Comparison(tuple(rows))


def _in_turn(specs: Sequence[Spec], options: Options, watch: Watch) -> Iterator[Row]:
    for spec in specs:
        watch.spec(spec.name)
        yield _row(spec, options, watch)


def _row(spec: Spec, options: Options, watch: Watch = NOBODY) -> Row:
    """Check one spec; in a process of the pool, and so with plain data only in what it returns."""
    outcome = check(spec, options, watch)
    traces = {found.name: render(found.trace, spec) for found in outcome.invariants if found.trace}
    return Row(spec, outcome.without_traces(), traces)


# Several at a time


def _row_in_pool(spec: Spec, options: Options) -> Row:
    return _row(spec, options, Stoppable())


def _side_by_side(specs: Sequence[Spec], options: Options, watch: Watch, processes: int) -> list[Row]:
    """Check the specs in a pool. Processes are started afresh: a fork of one that has run compiled code may hang."""
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    with ProcessPoolExecutor(processes, context, Stopping.begin, (stop, os.getpid())) as pool:
        with signals_held_back({signal.SIGINT}):
            futures = [pool.submit(_row_in_pool, spec, options) for spec in specs]
        try:
            for done in as_completed(futures):
                watch.spec(specs[futures.index(done)].name)
                if done.exception() is not None:
                    break
        except KeyboardInterrupt:
            stop.set()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
    return [_collected(spec, future) for spec, future in zip(specs, futures, strict=True)]


def _collected(spec: Spec, future: Future[Row]) -> Row:
    """What a process found. A fault of the model and the like are raised here as if there were no pool."""
    if future.cancelled() or isinstance(future.exception(), KeyboardInterrupt):
        return _unfinished(spec, INTERRUPTED)
    if isinstance(future.exception(), BrokenProcessPool):
        return _unfinished(spec, DIED)
    return future.result()


def _unfinished(spec: Spec, why: str) -> Row:
    explored = Explored(distinct=0, generated=0, depth=0, complete=False, stopped=why, seconds=0.0)
    nothing = tuple(InvariantOutcome(name, Verdict.INCONCLUSIVE) for name in spec.invariants)
    return Row(spec, Outcome(explored, SymmetryUsed("trivial", 1, proved=False), nothing, {}, ()))
