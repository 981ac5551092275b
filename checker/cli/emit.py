"""Where a command's findings go: lines to standard output, a document there or to a file, traces to files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from model.errors import OutputError

if TYPE_CHECKING:
    from checker.outcome import Outcome
    from checker.report.story import Line
    from checker.spec import Spec

STANDARD_OUTPUT = "-"

#: Makes the lines of a report for a width in columns.
Report = Callable[[int], Iterable["Line"]]


def require_writable(folder: Path | None, json_file: str | None) -> None:
    """Raise `OutputError` now, and not after an hour of search, if it is plain that results could not be written."""
    if folder is not None:
        _require_folder(folder)
    if json_file not in (None, STANDARD_OUTPUT):
        path = Path(str(json_file))
        if path.is_dir():
            raise OutputError(
                f"{path} is a directory", instead="Name a file to write the result to, or - for the screen"
            )
        _require_folder(path.parent)


def require_reportable(folder: Path) -> None:
    """Raise `OutputError` now if a report could not be written there."""
    from checker.files import require_replaceable
    from checker.report.folder import SIGN

    require_replaceable(folder, SIGN)
    _require_folder(folder.parent)


def _require_folder(folder: Path) -> None:
    there = next((each for each in (folder, *folder.parents) if os.path.lexists(each)), Path())
    if not there.is_dir():
        raise OutputError(f"{there} is not a directory, so nothing can be written into it")
    if not os.access(there, os.W_OK | os.X_OK):
        raise OutputError(f"nothing may be written into {there}")


def emit(report: Report, document: Mapping[str, Any], json_file: str | None, quiet: bool) -> None:
    """The document where `--json` wants it, and the report unless it would get in the way or is not wanted."""
    from checker.files import write_text
    from checker.report.console import Console, write_document
    from checker.report.result import render

    if json_file == STANDARD_OUTPUT:
        write_document(render(document))
        return
    try:
        console = Console(quiet)
        console.show(() if quiet else report(console.width))
    finally:
        if json_file is not None:
            write_text(Path(json_file), render(document))


def deliver(text: str, file: str) -> None:
    """A text to a file, or to standard output."""
    from checker.files import write_text
    from checker.report.console import write_document

    if file == STANDARD_OUTPUT:
        write_document(text)
    else:
        write_text(Path(file), text)


@dataclass(slots=True)
class Stored:
    """Where traces are, by spec and invariant. `failure` is the first thing that went wrong: it is to be raised once
    the report is out, so that nobody searches in vain."""

    paths: dict[str, dict[str, Path]] = field(default_factory=dict)
    failure: OutputError | None = None

    def add(self, spec: Spec, outcome: Outcome, folder: Path) -> dict[str, Path]:
        """Store the trace of every violated invariant, as far as possible; gives the file of each."""
        from checker.trace_file import render

        texts = {found.name: render(found.trace, spec) for found in outcome.invariants if found.trace}
        return self.add_texts(spec, texts, folder)

    def add_texts(self, spec: Spec, texts: Mapping[str, str], folder: Path) -> dict[str, Path]:
        """Store traces that are written out already, by invariant."""
        from checker.files import write_text
        from checker.trace_file import file_name

        paths = self.paths.setdefault(spec.name, {})
        try:
            for invariant, text in texts.items():
                write_text(folder / file_name(spec, invariant), text)
                paths[invariant] = folder / file_name(spec, invariant)
        except OutputError as error:
            self.failure = self.failure or error
        return paths

    def add_report(self, folder: Path, pages: Mapping[str, str]) -> list[Line]:
        """Write a folder of pages; gives the lines that say where it is."""
        from checker.files import write_folder
        from checker.report.folder import SIGN
        from checker.report.story import line

        try:
            write_folder(folder, pages, SIGN)
        except OutputError as error:
            self.failure = self.failure or error
            return []
        return [line("All of this to look at:"), line(f"  {folder / 'index.html'}")]

    def raise_failure(self) -> None:
        if self.failure:
            raise self.failure
