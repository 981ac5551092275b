"""Progress for as long as a command works."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from checker.explore.breadth_first import Progress
    from checker.run import Watch


@contextlib.contextmanager
def watching(quiet: bool) -> Iterator[Watch]:
    """A watch that draws on the error stream."""
    from checker.report.console import live_progress
    from checker.run import Watch

    with live_progress(quiet) as shown:

        class ShownWatch(Watch):
            """Hands on what it is told."""

            def spec(self, name: str) -> None:
                shown.spec(name)

            def phase(self, name: str) -> None:
                shown.phase(name)

            def progress(self, progress: Progress) -> None:
                shown.progress(progress)

        yield ShownWatch()
