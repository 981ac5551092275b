"""Every error a user can meet: what is wrong, where, why, and what to write instead.

The exit codes are the command line's contract: 0 as wished, 1 violated or not as expected, 2 a mistake in what was
given (or a fault of the model), 3 inconclusive, 70 a fault of tidegauge itself.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Place:
    """A line of somebody's file (`line` counts from 1; 0 stands for the file as a whole)."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file

    @property
    def portable(self) -> str:
        """The place as it reads on every machine: the file's path from the folder of its package on."""
        parts = Path(self.file).parts
        packages = [index for index, part in enumerate(parts) if part in ("model", "checker", "tests")]
        return f"{'/'.join(parts[packages[-1] if packages else -1 :])}:{self.line}"

    def source(self) -> str:
        """The text of that line, stripped; empty when the file cannot be read any more."""
        try:
            lines = Path(self.file).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            return ""
        return lines[self.line - 1].strip() if 0 < self.line <= len(lines) else ""


class TidegaugeError(Exception):
    """The root of the tree. `str()` gives the whole message: place, what, why, instead."""

    exit_code: ClassVar[int] = 2

    def __init__(self, what: str, *, where: Place | None = None, why: str = "", instead: str = "") -> None:
        self.what = what
        self.where = where
        self.why = why
        self.instead = instead
        super().__init__(what)

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        tail = "".join(f" {_sentence(part)}" for part in (self.why, self.instead) if part)
        return f"{place}{_sentence(self.what)}{tail}"


class UsageError(TidegaugeError):
    """The command line asks for something that does not exist or does not fit together."""


class SpecError(TidegaugeError):
    """A spec file that cannot be read, or that says something impossible."""


class TraceError(TidegaugeError):
    """A stored trace that cannot be read."""


class StaleTraceError(TraceError):
    """A well-formed trace of which today's model no longer takes the steps, or breaks the promise at their end."""


class ModelError(TidegaugeError):
    """A protocol that is not well formed; found while it is staged or checked, before any state is visited."""


class ModelFault(TidegaugeError):
    """A reachable step assigns a value outside the variable's domain. The verdict is neither holds nor violated."""


class OutputError(TidegaugeError):
    """A file that cannot be written."""


class InternalError(TidegaugeError):
    """A result of the fast engine that the evaluator refutes. Please report it: it is never the user's mistake."""

    exit_code = 70


def nearest(name: str, known: Iterable[str]) -> str:
    """`Did you mean X?` for a mistyped name, else the list of what there is."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1)
    if close:
        return f"Did you mean {close[0]!r}?"
    return f"Known: {', '.join(names)}." if names else "There is none to choose from."


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?", "!", ":")) else f"{text}."
