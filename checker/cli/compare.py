"""`tidegauge compare`."""

from __future__ import annotations

import time
from pathlib import Path

import click

from checker.cli.options import PATH, ModelChoice, SearchChoice, model_options, output_options, search_options


@click.command(short_help="Check several specs; rules down, promises across.")
@click.argument("specs", nargs=-1, metavar="[SPEC]...")
@model_options
@search_options
@click.option("--report", type=PATH, metavar="DIR", help="Also write pages: the table, and every counterexample.")
@output_options
def compare(
    specs: tuple[str, ...],
    model: ModelChoice,
    search: SearchChoice,
    report: Path | None,
    output: Path,
    json_file: str | None,
    quiet: bool,
) -> int:
    """Check every SPEC and show them beside each other: rules down, promises across, in each cell whether the promise
    holds or in how many steps it is broken. Without SPEC: all that are shipped, except slow/, which repeats others at
    larger bounds.

    Exit codes: 0 every cell is conclusive and as its spec expects, 1 a cell is not as expected, 3 inconclusive.
    """
    from checker.cli.emit import Stored, emit, require_reportable, require_writable
    from checker.cli.settings import chosen_options, compared_specs
    from checker.cli.watching import watching
    from checker.compare import compare as run_compare
    from checker.report.folder import report_pages
    from checker.report.matrix import matrix
    from checker.report.result import comparison_document

    started = time.perf_counter()
    subjects = compared_specs(specs, model)
    require_writable(output, json_file)
    if report is not None:
        require_reportable(report)
    with watching(quiet) as watch:
        rows = run_compare(subjects, chosen_options(search), watch)
    stored = Stored()
    for row in rows.rows:
        stored.add_texts(row.spec, row.traces, output)
    seconds = time.perf_counter() - started
    document = comparison_document(rows.rows, stored.paths)
    pages = [] if report is None else stored.add_report(report, report_pages(rows.rows))
    emit(lambda width: (*matrix(rows.rows, stored.paths, width, seconds), *pages), document, json_file, quiet)
    stored.raise_failure()
    return rows.exit_code
