"""`tidegauge new`."""

from __future__ import annotations

from pathlib import Path

import click

from checker.cli.options import PATH


@click.command(short_help="Start a folder of your own: spec, policy, invariant, test, CI.")
@click.argument("name", type=PATH)
def new(name: Path) -> int:
    """Make the folder NAME with a spec, a truncation policy and an invariant of your own, a test for pytest and a job
    for CI. It passes at once, and is yours to change.

    Exit codes: 0 made, 2 the name cannot be used, or something is there already.
    """
    from checker.report.console import Console
    from checker.report.started import started
    from checker.start import start

    made = start(name)
    console = Console()
    console.show(started(name, made, console.width))
    return 0
