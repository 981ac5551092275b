"""`tidegauge explain`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from checker.cli.options import PATH, admission_options
from checker.cli.options import steps as range_of_steps

if TYPE_CHECKING:
    from checker.origin import Admitted


@click.command(short_help="Tell a stored counterexample as a story.")
@click.argument("trace", type=PATH)
@click.option("--full", is_flag=True, help="Give the whole state after each step, not only what changed.")
@click.option("--steps", callback=range_of_steps, metavar="FROM..TO", help="Tell only these steps: 3..6, 3.., ..6, 3.")
@click.option("--show", multiple=True, metavar="GLOB", help="Give only variables like this one. May be repeated.")
@click.option("--hide", multiple=True, metavar="GLOB", help="Leave out variables like this one. May be repeated.")
@click.option("--no-lanes", is_flag=True, help="Do not draw the replicas' logs.")
@admission_options
def explain(
    trace: Path,
    full: bool,
    steps: tuple[int, int] | None,
    show: tuple[str, ...],
    hide: tuple[str, ...],
    no_lanes: bool,
    admitted: Admitted,
) -> int:
    """Tell the counterexample in the file TRACE: one sentence a step, the logs that it concerns, what changed, and why
    the invariant fails; and the turning point, after which there was no way back.

    GLOB is a variable as the story names it, with * for anything: "replicas[A].*", "*.high_watermark", quorum.
    """
    from checker.report.console import Console, warn
    from checker.report.lanes import Lanes, turning_lines
    from checker.report.story import BLANK, Telling, nothing_else, tell
    from checker.report.subject import within
    from checker.trace_file import load
    from checker.turning_point import turning_point

    stored = load(trace, admitted)
    if stored.warning:
        warn(stored.warning)
    console = Console()
    telling = Telling(console.width, full, steps, show, hide)
    aside = nothing_else if no_lanes else Lanes(stored.trace, console.width, full)
    console.show(tell([stored.trace], stored.spec.name, within(stored.spec), telling, aside))
    turning = turning_point(stored.trace)
    if turning is not None:
        console.show([BLANK, *turning_lines(turning, stored.trace, console.width)])
    return 0
