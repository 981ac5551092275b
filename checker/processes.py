"""Work done in processes, one for each piece: what kills one of them hurts no other, and is told.

A pool would break as a whole with its first dead worker. Processes are started afresh: a fork of one that has run
compiled code may hang.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Event
from typing import Any, ClassVar, Final

MOST_PROCESSES: Final = 4
LOOK_UP_SECONDS: Final = 0.1
SECONDS_TO_STOP: Final = 5.0

_HELD_BACK: Final = {signal.SIGINT, signal.SIGTERM}


@dataclass(frozen=True, slots=True)
class Ended:
    """How a piece of work ended: with its `value`, or with the `exit` of its process (a signal is negative), or, with
    neither, because everything was stopped."""

    value: Any = None
    exit: int | None = None


@dataclass(slots=True)
class _Running:
    number: int
    process: BaseProcess
    connection: Connection


class Stopping:
    """In a process: whether its work is to end, because everything is stopped or because nobody waits any more. Work
    that is done in no process of its own is never asked to."""

    event: ClassVar[Event | None] = None
    parent: ClassVar[int] = 0

    @classmethod
    def begin(cls, event: Event, parent: int) -> None:
        """This process is to end its work when the event is set, or when that parent is gone."""
        cls.event, cls.parent = event, parent

    @classmethod
    def asked(cls) -> bool:
        return cls.event is not None and (cls.event.is_set() or os.getppid() != cls.parent)


def each_in_its_own(
    work: Callable[..., Any],
    arguments: Sequence[tuple[Any, ...]],
    stopped: Callable[[], bool],
    ended: Callable[[int, Ended], None],
) -> None:
    """Do each piece of work in a process of its own, several at a time, and tell `ended` (in this process, by the
    number of the piece) what came of it. Once `stopped` says so, nothing is started any more, and what runs is asked to
    end, then killed. `work` must return plain data."""
    context = multiprocessing.get_context("spawn")
    stop, most = context.Event(), min(os.cpu_count() or 1, MOST_PROCESSES)
    waiting = list(enumerate(arguments))
    running: list[_Running] = []
    deadline = float("inf")
    try:
        while waiting or running:
            if stopped() and deadline == float("inf"):
                stop.set()
                deadline = time.monotonic() + SECONDS_TO_STOP
            if stop.is_set():
                for number, _ in waiting:
                    ended(number, Ended())
                waiting = []
            while waiting and len(running) < most:
                number, given = waiting.pop(0)
                running.append(_started(context, work, number, given, stop))
            for each in _ready(running):
                running.remove(each)
                ended(each.number, _collected(each, stop.is_set()))
            if running and time.monotonic() > deadline:
                for each in running:
                    each.process.kill()
    finally:
        for each in running:
            each.process.kill()


def _started(context: Any, work: Callable[..., Any], number: int, given: tuple[Any, ...], stop: Event) -> _Running:
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_worked, args=(theirs, stop, os.getpid(), work, given), daemon=True)
    with signals_held_back(_HELD_BACK):
        process.start()
    theirs.close()
    return _Running(number, process, ours)


@contextlib.contextmanager
def signals_held_back(signals: Set[signal.Signals]) -> Iterator[None]:
    """Processes started meanwhile never see these signals, which are for the whole group: they are told by the event,
    and none dies with a traceback."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _worked(connection: Connection, stop: Event, parent: int, work: Callable[..., Any], given: tuple[Any, ...]) -> None:
    """In the process: do the work and hand over what came of it."""
    Stopping.begin(stop, parent)
    value = work(*given)
    with contextlib.suppress(OSError):  # nobody waits any more
        connection.send(value)


def _ready(running: Sequence[_Running]) -> list[_Running]:
    """Those that have something to say, or have ended; waits a moment for the first."""
    by_handle: dict[Any, _Running] = {}
    for each in running:
        by_handle |= {each.connection: each, each.process.sentinel: each}
    found = wait(list(by_handle), LOOK_UP_SECONDS) if by_handle else []
    return list({id(by_handle[handle]): by_handle[handle] for handle in found}.values())


def _collected(each: _Running, stopping: bool) -> Ended:
    try:
        value = each.connection.recv() if each.connection.poll() else None
    except (EOFError, OSError):  # it died before or while it said something
        value = None
    each.connection.close()
    each.process.join()
    if value is not None:
        return Ended(value)
    return Ended() if stopping else Ended(exit=each.process.exitcode)
