"""`tidegauge list`."""

from __future__ import annotations

import click

from checker.cli.options import document_options


@click.command("list", short_help="Name the shipped specs.")
@document_options
def list_specs(json_file: str | None, quiet: bool) -> int:
    """Name the shipped specs, each with its rules, its bounds and what is expected of it."""
    from checker.cli.emit import emit
    from checker.report.catalogue import catalogue
    from checker.report.result import list_document
    from checker.spec import load_examples, load_shipped

    specs, examples = load_shipped(), load_examples()
    document = list_document((*specs, *examples))
    emit(lambda width: catalogue(specs, width, examples), document, json_file, quiet)
    return 0
