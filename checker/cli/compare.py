"""`tidegauge compare`."""

from __future__ import annotations

from pathlib import Path

import click

from checker.cli.options import ModelChoice, SearchChoice, model_options, output_options, search_options


@click.command(short_help="Check several specs; rules down, promises across.")
@click.argument("specs", nargs=-1, metavar="[SPEC]...")
@model_options
@search_options
@output_options
def compare(
    specs: tuple[str, ...], model: ModelChoice, search: SearchChoice, output: Path, json_file: str | None, quiet: bool
) -> int:
    """Check every SPEC (all that are shipped, if none is named) and show them beside each other: rules down, promises
    across, in each cell whether the promise holds or in how many steps it is broken.

    Exit codes: 0 every cell is conclusive and as its spec expects, 1 a cell is not as expected, 3 inconclusive.
    """
    raise NotImplementedError
