"""Work for processes of the gate's kind, and waiting for what they do. It stands in a module of its own, as they have
to import it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from checker.processes import Stopping


def eventually(condition: Callable[[], bool], seconds: float = 60) -> bool:
    """Whether something has come true before so many seconds are over."""
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


def squared(number: int) -> int:
    return number * number


def dying(number: int, death: str) -> int:
    """Dies as it is told, unless it is told nothing."""
    if death.startswith("exit"):
        os._exit(int(death.removeprefix("exit ")))
    if death.startswith("signal"):
        os.kill(os.getpid(), int(death.removeprefix("signal ")))
        time.sleep(60)
    return number


def waiting(sign: str, heeds: bool) -> str:
    """Says where it is, and goes on until it is asked to end, or longer."""
    Path(sign).write_text(str(os.getpid()), encoding="utf-8")
    while not (heeds and Stopping.asked()):
        time.sleep(0.02)
    return "asked to end"


def parent_of_one_that_waits(sign: str) -> None:
    """Starts one that waits, and waits for it."""
    from checker.processes import each_in_its_own

    each_in_its_own(waiting, [(sign, True)], lambda: False, lambda _number, _ended: None)


if __name__ == "__main__":
    parent_of_one_that_waits(sys.argv[1])
