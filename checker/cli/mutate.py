"""`tidegauge mutate`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from checker.cli.options import PATH, ModelChoice, cache_option, document_options, model_options

if TYPE_CHECKING:
    from checker.mutants import Mutant
    from checker.spec import Spec


@click.command(short_help="Weaken each rule alone, and say which spec notices.")
@click.argument("specs", nargs=-1, metavar="[SPEC]...")
@model_options
@click.option("--action", "actions", multiple=True, metavar="NAME", help="Only mutants of this action; repeatable.")
@click.option(
    "--max-states",
    type=click.IntRange(min=1),
    metavar="N",
    help="Give up on a mutant when so many states (or orbits) are stored.",
)
@click.option(
    "--equivalents",
    type=PATH,
    metavar="FILE",
    help="What is known of mutants that nothing can catch.  [default: the file that comes with the specs]",
)
@cache_option
@document_options
def mutate(
    specs: tuple[str, ...],
    model: ModelChoice,
    actions: tuple[str, ...],
    max_states: int | None,
    equivalents: Path | None,
    no_cache: bool,
    json_file: str | None,
    quiet: bool,
) -> int:
    """Weaken each rule of the model alone, and say which SPEC notices, and how: a requirement is dropped, < becomes <=,
    or an assignment is forgotten. Without SPEC, every shipped one takes part whose promises all hold.

    Exit codes: 0 every mutant is caught or explained, 1 one survives or an explanation is wrong, 3 undecided.
    """
    from checker.cli.emit import emit, require_writable
    from checker.cli.settings import standing_specs
    from checker.cli.watching import watching
    from checker.equivalents import load_equivalents, shipped_file
    from checker.mutation import hunt
    from checker.report.mutants import mutation_document, mutation_report
    from checker.run import Options

    subjects = standing_specs(specs, model)
    wanted = _of(actions, subjects)
    known = load_equivalents(equivalents or shipped_file())
    require_writable(None, json_file)
    with watching(quiet) as watch:
        options = Options(max_states=max_states, cache=not no_cache)
        found = hunt(subjects, known, options, watch, everything=not (specs or actions), wanted=wanted)
    emit(lambda width: mutation_report(found, width), mutation_document(found), json_file, quiet)
    return found.exit_code


def _of(actions: tuple[str, ...], subjects: list[Spec]) -> Callable[[Mutant], bool]:
    """Whether a mutant is one of these actions (of any, if none is named). Raises `UsageError` for one that no spec
    has."""
    from model.errors import UsageError, nearest

    known = {name for spec in subjects for name in spec.vocabulary().actions}
    for name in actions:
        if name not in known:
            raise UsageError(f"there is no action {name!r}", instead=nearest(name, known))
    return lambda mutant: not actions or mutant.action in actions
