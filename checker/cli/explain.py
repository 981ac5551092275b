"""`tidegauge explain`."""

from __future__ import annotations

from pathlib import Path

import click

from checker.cli.options import PATH, policy_option
from checker.cli.options import steps as range_of_steps


@click.command(short_help="Tell a stored counterexample as a story.")
@click.argument("trace", type=PATH)
@click.option("--full", is_flag=True, help="Give the whole state after each step, not only what changed.")
@click.option("--steps", callback=range_of_steps, metavar="FROM..TO", help="Tell only these steps: 3..6, 3.., ..6, 3.")
@click.option("--show", multiple=True, metavar="GLOB", help="Give only variables like this one. May be repeated.")
@click.option("--hide", multiple=True, metavar="GLOB", help="Leave out variables like this one. May be repeated.")
@policy_option
def explain(
    trace: Path,
    full: bool,
    steps: tuple[int, int] | None,
    show: tuple[str, ...],
    hide: tuple[str, ...],
    policy: Path | None,
) -> int:
    """Tell the counterexample in the file TRACE: one sentence a step, what changed, and why the invariant fails.

    GLOB is a variable as the story names it, with * for anything: "replicas[A].*", "*.high_watermark", quorum.
    """
    from checker.report.console import Console, warn
    from checker.report.story import Telling, tell
    from checker.report.subject import within
    from checker.trace_file import load

    stored = load(trace, policy)
    if stored.warning:
        warn(stored.warning)
    console = Console()
    telling = Telling(console.width, full, steps, show, hide)
    console.show(tell([stored.trace], stored.spec.name, within(stored.spec), telling))
    return 0
