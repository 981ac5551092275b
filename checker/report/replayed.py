"""What `replay` says: whether a stored trace is still a counterexample, and if not, where it stops being one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from checker.report.story import Line, Style, steps_text, wrapped
from checker.trace import Trace
from model.errors import TraceError


def confirmed(path: Path, trace: Trace, width: int) -> list[Line]:
    """The trace still ends in the same violation."""
    steps = f"Its {steps_text(len(trace.steps))} can be taken" if trace.steps else "It has no steps"
    return wrapped(
        f"{path}: still a counterexample. {steps}, and at the end {trace.predicate.name} is violated.",
        width,
        Style.GOOD,
    )


def refused(path: Path, error: TraceError, width: int) -> Iterator[Line]:
    """The trace is none of today's model."""
    yield from wrapped(f"{path}: no longer a counterexample.", width, Style.BAD)
    yield from wrapped(
        " ".join(filter(None, (f"{error.what[:1].upper()}{error.what[1:]}.", error.why, error.instead))), width
    )
