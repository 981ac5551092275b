"""`tidegauge check`."""

from __future__ import annotations

from pathlib import Path

import click

from checker.cli.options import ModelChoice, SearchChoice, model_options, output_options, search_options


@click.command(short_help="Explore one spec to the end.")
@click.argument("spec")
@model_options
@search_options
@output_options
def check(spec: str, model: ModelChoice, search: SearchChoice, output: Path, json_file: str | None, quiet: bool) -> int:
    """Explore SPEC to the end, and tell the shortest counterexample of every invariant that falls.

    SPEC is a shipped name, such as published/kip-320, or the path of a TOML file.

    Exit codes: 0 everything holds, 1 an invariant is violated, 3 inconclusive.
    """
    from checker.cli.emit import Stored, emit, require_writable
    from checker.cli.settings import chosen_options, chosen_spec
    from checker.cli.watching import watching
    from checker.report.result import result_document
    from checker.report.summary import summary
    from checker.run import check as run_check

    subject = chosen_spec(spec, model)
    require_writable(output, json_file)
    with watching(quiet) as watch:
        outcome = run_check(subject, chosen_options(search), watch)
    stored = Stored()
    paths = stored.add(subject, outcome, output)
    document = result_document(subject, outcome, paths)
    emit(lambda width: summary(subject, outcome, paths, width), document, json_file, quiet)
    stored.raise_failure()
    return outcome.exit_code
