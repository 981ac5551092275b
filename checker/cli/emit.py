"""Where a command's findings go: lines to standard output, a document there or to a file, traces to files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from checker.outcome import Outcome
    from checker.report.story import Line
    from checker.spec import Spec

STANDARD_OUTPUT = "-"

#: Makes the lines of a report for a width in columns.
Report = Callable[[int], Iterable["Line"]]


def emit(report: Report, document: Mapping[str, Any], json_file: str | None, quiet: bool) -> None:
    """The document where `--json` wants it, and the report unless it would get in the way or is not wanted."""
    from checker.files import write_text
    from checker.report.console import Console, write_document
    from checker.report.result import render

    if json_file == STANDARD_OUTPUT:
        write_document(render(document))
        return
    if json_file is not None:
        write_text(Path(json_file), render(document))
    console = Console(quiet)
    console.show(report(console.width))


def store_traces(spec: Spec, outcome: Outcome, folder: Path) -> dict[str, Path]:
    """Store the trace of every violated invariant; gives the file of each."""
    from checker.trace_file import save

    return {found.name: save(found.trace, spec, folder) for found in outcome.invariants if found.trace}
