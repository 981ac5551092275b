"""`tidegauge check`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from checker.cli.options import ModelChoice, SearchChoice, model_options, output_options, search_options

if TYPE_CHECKING:
    from checker.spec import Spec


@click.command(short_help="Explore one spec to the end.")
@click.argument("spec")
@model_options
@search_options
@click.option(
    "--coverage", is_flag=True, help="Count how often each action is taken and each condition of its guard decides."
)
@click.option("--threats", is_flag=True, help="Say which invariants no mutation of the rules breaks; takes longer.")
@output_options
def check(
    spec: str,
    model: ModelChoice,
    search: SearchChoice,
    coverage: bool,
    threats: bool,
    output: Path,
    json_file: str | None,
    quiet: bool,
) -> int:
    """Explore SPEC to the end, and tell the shortest counterexample of every invariant that falls.

    SPEC is a shipped name, such as published/kip-320, or the path of a TOML file. A SPEC with a [sweep] is explored at
    each of its sizes, and the smallest are named at which an invariant falls.

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
    if subject.sweep:
        _want_one_size(subject, {"--coverage": coverage, "--threats": threats})
        return _swept(subject, search, output, json_file, quiet)
    options = replace(chosen_options(search), coverage=coverage)
    with watching(quiet) as watch:
        outcome = run_check(subject, options, watch)
        if threats:
            from checker.vacuity import with_threats

            outcome = with_threats(subject, outcome, options, watch)
    stored = Stored()
    paths = stored.add(subject, outcome, output)
    document = result_document(subject, outcome, paths)
    emit(lambda width: summary(subject, outcome, paths, width), document, json_file, quiet)
    stored.raise_failure()
    return outcome.exit_code


def _want_one_size(subject: Spec, asked: Mapping[str, bool]) -> None:
    from model.errors import UsageError

    for option in (name for name, wanted in asked.items() if wanted):
        swept = " and ".join(subject.sweep)
        what = f"{subject.name} sweeps {swept}, and {option} tells of one size"
        raise UsageError(what, instead=f"Choose the size: give {swept} a value")


def _swept(subject: Spec, search: SearchChoice, output: Path, json_file: str | None, quiet: bool) -> int:
    from checker.cli.emit import Stored, emit
    from checker.cli.settings import chosen_options
    from checker.cli.watching import watching
    from checker.report.sweep import sweep_document, sweep_report
    from checker.sweep import sweep as run_sweep

    with watching(quiet) as watch:
        found = run_sweep(subject, chosen_options(search), watch)
    stored = Stored()
    for row in found.rows:
        stored.add_texts(row.spec, row.traces, output)
    document = sweep_document(found, stored.paths)
    emit(lambda width: sweep_report(found, stored.paths, width), document, json_file, quiet)
    stored.raise_failure()
    return found.exit_code
