"""`tidegauge export`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from checker.cli.options import PATH, admission_options, output_file, size_option

if TYPE_CHECKING:
    from checker.export.formats import ExportOptions
    from checker.origin import Admitted
    from checker.trace_file import StoredTrace

#: Repeated from `checker.export.formats`, which would load what `--help` can do without; a test compares the two.
FORMATS = ("dot", "graphml", "mermaid", "itf", "json", "svg", "html")
MOST_STATES = 1_000


@click.command(short_help="Write a stored counterexample for other tools, or as a picture.")
@click.argument("trace", type=PATH)
@click.option("--format", "form", type=click.Choice(FORMATS), help="By default what the name of FILE ends with.")
@output_file
@click.option("--with", "extra", type=click.Choice(["choices"]), help="Also the steps not taken (dot, graphml).")
@click.option("--all-shortest", is_flag=True, help="All shortest counterexamples in one graph (dot, graphml).")
@click.option("--up-to-renaming", is_flag=True, help="Of those that differ in replicas' names only, one.")
@click.option("--mbt", is_flag=True, help="Tell actions and parameters as Quint does, for model-based testing (itf).")
@size_option(MOST_STATES, "With --all-shortest: draw up to so many states.")
@admission_options
def export(
    trace: Path,
    form: str | None,
    output: str,
    extra: str | None,
    all_shortest: bool,
    up_to_renaming: bool,
    mbt: bool,
    max_size: int | None,
    admitted: Admitted,
) -> int:
    """Write the counterexample in the file TRACE in another format.

    dot and graphml are graphs of its states, mermaid is a sequence diagram, itf is for Apalache, Quint and their tools,
    json is the stored trace itself, svg is a picture, html is a page to step through.
    """
    from checker.cli.emit import deliver, require_writable
    from checker.export.formats import ExportOptions
    from checker.report.console import warn
    from checker.trace_file import load

    name = _format(form, output)
    options = ExportOptions(choices=extra is not None, mbt=mbt)
    _require_sense(name, options, all_shortest)
    if not all_shortest and (up_to_renaming or max_size):
        raise click.UsageError(f"{'--up-to-renaming' if up_to_renaming else '--max-size'} goes with --all-shortest")
    require_writable(None, output)
    stored = load(trace, admitted)
    if stored.warning:
        warn(stored.warning)
    if all_shortest:
        options = _with_all_shortest(stored, max_size or MOST_STATES, up_to_renaming)
    deliver(_written(name, stored, options), output)
    return 0


def _format(form: str | None, output: str) -> str:
    from checker.export.formats import format_for

    found = form or format_for(output)
    if found is None:
        raise click.UsageError(f"the name {output} does not say which format is wanted; add --format")
    return found


def _require_sense(name: str, options: ExportOptions, all_shortest: bool) -> None:
    from checker.export.formats import ALL_SHORTEST, CHOICES, FORMATS, MBT

    asked = {CHOICES: options.choices, ALL_SHORTEST: all_shortest, MBT: options.mbt}
    for option in (each for each, wanted in asked.items() if wanted):
        if option not in FORMATS[name].honours:
            able = " and ".join(each for each, found in FORMATS.items() if option in found.honours)
            raise click.UsageError(f"{option} means nothing to {name}; it is for {able}")
    if all_shortest and options.choices:
        raise click.UsageError(f"{CHOICES} and {ALL_SHORTEST} are two different graphs; ask for one of them")


def _with_all_shortest(stored: StoredTrace, most: int, up_to_renaming: bool) -> ExportOptions:
    from checker.cli.watching import watching
    from checker.export.formats import ExportOptions
    from checker.shortest import all_shortest

    with watching(quiet=False) as watch:
        return ExportOptions(shortest=all_shortest(stored.trace, stored.spec.name, most, up_to_renaming, watch))


def _written(name: str, stored: StoredTrace, options: ExportOptions) -> str:
    from checker.export.formats import FORMATS

    return FORMATS[name].write(stored, options)
