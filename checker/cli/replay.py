"""`tidegauge replay`."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(short_help="Run a stored trace against today's model.")
@click.argument("trace", type=click.Path(path_type=Path))
def replay(trace: Path) -> int:
    """Run the steps in the file TRACE against today's model, and say where they stop applying.

    Exit codes: 0 the trace still ends in the same violation, 1 it does not, 2 the file is no trace.
    """
    raise NotImplementedError
