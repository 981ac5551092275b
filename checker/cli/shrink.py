"""`tidegauge shrink`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from checker.cli.options import ModelChoice, SearchChoice, model_options, search_options

if TYPE_CHECKING:
    from checker.spec import Spec

INCONCLUSIVE = 3


@click.command(short_help="Find the smallest bounds and fewest rules that still violate.")
@click.argument("spec")
@model_options
@search_options
@click.option("-o", "--output", metavar="FILE", help="Write the spec that is left there; - is standard output.")
@click.option("--quiet", is_flag=True, help="No report and no progress.")
def shrink(spec: str, model: ModelChoice, search: SearchChoice, output: str | None, quiet: bool) -> int:
    """Take from SPEC what can be taken, one change at a time, while it is still violated: rules go back to those of the
    nearest variant that keeps every promise, and bounds go down. Each candidate is checked exhaustively.

    With --invariant those must stay violated, otherwise all that SPEC violates, together.

    Exit codes: 0 shrunk as far as single changes go, 2 nothing is violated, 3 a limit left some candidate open.
    """
    from checker.cli.emit import STANDARD_OUTPUT, deliver, require_writable
    from checker.cli.settings import chosen_options, chosen_spec
    from checker.cli.watching import watching
    from checker.report.console import Console
    from checker.report.shrink import shrink_report, title_of
    from checker.shrink import shrink as run_shrink
    from checker.spec_text import spec_text

    subject = chosen_spec(spec, model)
    require_writable(None, output)
    _want_beside(subject, output)
    with watching(quiet) as watch:
        found = run_shrink(subject, model.invariants, chosen_options(search), watch)
    text = spec_text(found.spec, title_of(found), found.violated)
    if output is not None:
        deliver(text, output)
    if not quiet and output != STANDARD_OUTPUT:
        console = Console()
        console.show(shrink_report(found, "" if output else text, console.width))
    return INCONCLUSIVE if found.undecided else 0


def _want_beside(subject: Spec, output: str | None) -> None:
    """Files of the user's own are named relative to the spec, so what is left of it belongs beside them. Raises
    `UsageError`."""
    from checker.cli.emit import STANDARD_OUTPUT
    from model.errors import UsageError

    if output in (None, STANDARD_OUTPUT) or subject.path is None:
        return
    target = Path(str(output)).resolve()
    if target in {path.resolve() for path in subject.files}:
        raise UsageError(f"{output} is a file that {subject.name} is made of", instead="Name another file")
    if subject.origin.code and target.parent != subject.path.resolve().parent:
        raise UsageError(
            f"{output} would be in another folder than {subject.path}",
            why="The spec names files of your own beside it",
            instead=f"Write it into {subject.path.parent}",
        )
