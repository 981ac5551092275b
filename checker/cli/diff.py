"""`tidegauge diff`."""

from __future__ import annotations

from dataclasses import replace

import click

from checker.cli.options import ModelChoice, SearchChoice, document_options, model_options, search_options


@click.command(short_help="Say in what two specs differ, and what only one allows.")
@click.argument("first", metavar="SPEC_A")
@click.argument("second", metavar="SPEC_B")
@model_options
@search_options
@document_options
def diff(first: str, second: str, model: ModelChoice, search: SearchChoice, json_file: str | None, quiet: bool) -> int:
    """Say in which rules, bounds and verdicts SPEC_A and SPEC_B differ, and tell the shortest trace that one of them
    allows and the other forbids: its last step cannot be taken, or leaves a variable that both have with another value.
    Options that change a spec change both.

    Exit codes: 0 they behave alike, 1 they do not, 3 inconclusive.
    """
    from checker.cli.emit import emit, require_writable
    from checker.cli.settings import chosen_options, chosen_spec
    from checker.cli.watching import watching
    from checker.diff import diff as run_diff
    from checker.report.diff import diff_document, diff_report

    one, other = chosen_spec(first, model), chosen_spec(second, model)
    if one.name == other.name and first != second:  # two versions of one file
        one, other = replace(one, name=first), replace(other, name=second)
    require_writable(None, json_file)
    with watching(quiet) as watch:
        found = run_diff(one, other, chosen_options(search), watch)
    emit(lambda width: diff_report(found, width), diff_document(found), json_file, quiet)
    return found.exit_code
