"""`tidegauge graph`."""

from __future__ import annotations

import click

from checker.cli.options import ModelChoice, model_options, output_file, size_option

#: Repeated from `checker.export.formats`, which would load what `--help` can do without; a test compares the two.
FORMATS = ("dot", "graphml", "jsonl")
MOST_STATES = 5_000


@click.command(short_help="Write every reachable state of a small instance as a graph.")
@click.argument("spec")
@model_options
@click.option("--format", "form", type=click.Choice(FORMATS), help="By default what the name of FILE ends with.")
@output_file
@size_option(MOST_STATES, "Give up beyond so many states.")
def graph(spec: str, model: ModelChoice, form: str | None, output: str, max_size: int | None) -> int:
    """Write every state that SPEC can reach, and every step between them, as a graph.

    This is for small bounds, such as --replicas 2 --log-size 1 --records 1 --epochs 2. States are not merged by
    symmetry: every step of the graph is one that the replicas so named can take.
    """
    from checker.cli.emit import deliver, require_writable
    from checker.cli.settings import chosen_spec
    from checker.export.formats import GRAPH_FORMATS
    from checker.export.state_graph import reachable
    from checker.report.subject import within
    from model.errors import ModelFault

    name = form or output.rpartition(".")[2].lower()
    if name not in FORMATS:
        raise click.UsageError(f"the name {output} does not say which format is wanted; add --format")
    subject = chosen_spec(spec, model)
    require_writable(None, output)
    about = ": ".join(filter(None, (f"Every state of {subject.name}", within(subject))))
    try:
        found = reachable(subject.protocol(), f"{about}.", max_size or MOST_STATES)
    except ModelFault as fault:
        raise subject.told(fault) from fault
    deliver(GRAPH_FORMATS[name](found), output)
    return 0
