"""`tidegauge replay`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from checker.cli.options import PATH, admission_options

if TYPE_CHECKING:
    from checker.origin import Admitted

NO_LONGER = 1


@click.command(short_help="Run a stored trace against today's model.")
@click.argument("trace", type=PATH)
@admission_options
def replay(trace: Path, admitted: Admitted) -> int:
    """Run the steps in the file TRACE against today's model, and say where they stop applying.

    Exit codes: 0 the trace still ends in the same violation, 1 it does not, 2 the file is no trace.
    """
    from checker.report.console import Console, warn
    from checker.report.replayed import confirmed, refused
    from checker.trace_file import load
    from model.errors import StaleTraceError

    console = Console()
    try:
        stored = load(trace, admitted)
    except StaleTraceError as error:
        console.show(refused(trace, error, console.width))
        return NO_LONGER
    if stored.warning:
        warn(stored.warning)
    console.show(confirmed(trace, stored.trace, console.width))
    return 0
