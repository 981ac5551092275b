"""The console: lines in colour on standard output, progress on the error stream. The only importer of rich."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from typing import Protocol, TextIO

from rich.console import Console as RichConsole
from rich.text import Text

from checker.report.layout import bytes_text, rate_text, seconds_text
from checker.report.story import Line, Style
from model.errors import OutputError

WIDEST = 120
HEARTBEAT_SECONDS = 10.0
FRAMES_PER_SECOND = 8

_STYLES = {
    Style.PLAIN: "",
    Style.HEADING: "bold",
    Style.FAINT: "dim",
    Style.CHANGED: "cyan",
    Style.GOOD: "green",
    Style.BAD: "bold red",
    Style.DOUBT: "yellow",
    Style.FOLLOWED: "bold magenta",
    Style.BLOCK_0: "black on cyan",
    Style.BLOCK_1: "black on yellow",
    Style.BLOCK_2: "black on green",
    Style.BLOCK_3: "white on blue",
    Style.BLOCK_4: "black on white",
    Style.BLOCK_5: "white on red",
}


class SearchProgress(Protocol):
    """How far a search is. `rate` is in new states a second, `resident` in bytes, `elapsed` in seconds."""

    @property
    def level(self) -> int: ...

    @property
    def distinct(self) -> int: ...

    @property
    def generated(self) -> int: ...

    @property
    def frontier(self) -> int: ...

    @property
    def rate(self) -> float: ...

    @property
    def resident(self) -> int: ...

    @property
    def elapsed(self) -> float: ...


class _Forgiving(RichConsole):
    """A reader that has seen enough closes the pipe; that is no reason to end, and no other exit code."""

    def on_broken_pipe(self) -> None:
        self.quiet = True
        _point_at_nothing(sys.stdout)


class Console:
    """Standard output, with colours if it is a terminal that wants them. With `quiet` nothing is written."""

    def __init__(self, quiet: bool = False) -> None:
        self._rich = _Forgiving(highlight=False, markup=False, emoji=False, soft_wrap=True, quiet=quiet)

    @property
    def width(self) -> int:
        """Columns to write in: those of the terminal, and no more than can be read well."""
        return min(self._rich.width, WIDEST)

    def show(self, lines: Iterable[Line]) -> None:
        """Print the lines. Raises `OutputError` when standard output does not take them (a closed pipe is fine)."""
        for each in lines:
            with _telling_of_failure():
                self._rich.print(Text.assemble(*((text, _STYLES[style]) for text, style in each.pieces)))


def write_document(text: str) -> None:
    """Write to standard output as it is. Raises `OutputError` as `Console.show` does."""
    with _telling_of_failure():
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except BrokenPipeError:
            _point_at_nothing(sys.stdout)


@contextlib.contextmanager
def _telling_of_failure() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        _point_at_nothing(sys.stdout)
        raise OutputError(f"standard output cannot be written: {error.strerror or error}") from error


def _point_at_nothing(stream: TextIO) -> None:
    """Let what is still buffered go nowhere, so that Python does not complain at its end."""
    with contextlib.suppress(OSError, ValueError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, stream.fileno())
        os.close(nothing)


# Progress


class ProgressLine:
    """What goes on, put into words whenever somebody wants to know."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._spec = ""
        self._phase = "starting"
        self._progress: SearchProgress | None = None
        self._peaks = (0, 0)  # most states to expand that were seen of the level before, and of this one

    def spec(self, name: str) -> None:
        """It is about this spec now."""
        self._spec = f"{name}: "

    def phase(self, name: str) -> None:
        """A new phase begins."""
        self._phase, self._progress, self._started = name, None, time.monotonic()
        self._peaks = (0, 0)

    def progress(self, progress: SearchProgress) -> None:
        """The search has come as far as this."""
        if self._progress is None or self._progress.level != progress.level:
            self._peaks = (self._peaks[1], progress.frontier)
        self._progress = progress

    @property
    def parts(self) -> tuple[str, ...]:
        """What goes on, then how much there is, then how fast it grows."""
        found, phase = self._progress, f"{self._spec}{self._phase}"
        if found is None:
            return (f"{phase}, {seconds_text(time.monotonic() - self._started)}",)
        before, now = self._peaks
        trend = f" ({'growing' if now > before else 'shrinking'})" if before else ""
        speed = f"{rate_text(found.rate)} a second, frontier {found.frontier:,}{trend}"
        return (
            phase,
            f"level {found.level}, {found.distinct:,} stored, {found.generated:,} successors",
            f"{speed}, {bytes_text(found.resident)}, {seconds_text(found.elapsed)}",
        )


@contextlib.contextmanager
def live_progress(quiet: bool = False) -> Iterator[ProgressLine]:
    """Show progress on the error stream while the block runs: live on a terminal, else a plain line now and then."""
    shown = ProgressLine()
    console = RichConsole(stderr=True, highlight=False, markup=False, emoji=False)
    if quiet:
        yield shown
    elif console.is_terminal:
        with _live(console, shown):
            yield shown
    else:
        with _heartbeat(shown):
            yield shown


@contextlib.contextmanager
def _live(console: RichConsole, shown: ProgressLine) -> Iterator[None]:
    from rich.live import Live

    def render() -> Text:
        return Text("\n  ".join(shown.parts), style="dim", no_wrap=True, overflow="ellipsis")

    with Live(console=console, get_renderable=render, transient=True, refresh_per_second=FRAMES_PER_SECOND):
        yield


@contextlib.contextmanager
def _heartbeat(shown: ProgressLine) -> Iterator[None]:
    """A thread, as some phases report nothing by themselves."""
    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(HEARTBEAT_SECONDS):
            with contextlib.suppress(OSError, ValueError):
                print(f"tidegauge: {'; '.join(shown.parts)}", file=sys.stderr, flush=True)  # noqa: T201  # this is the door

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(timeout=1)


def warn(message: str) -> None:
    """One sentence on the error stream."""
    with contextlib.suppress(OSError, ValueError):
        print(f"tidegauge: warning: {message}", file=sys.stderr, flush=True)  # noqa: T201  # this is the door
