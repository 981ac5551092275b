"""`tidegauge gate`."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from checker.cli.options import PATH, SearchChoice, output_options, search_options

if TYPE_CHECKING:
    from checker.gate import Loaded
    from checker.judgement import Gate


def shard(_context: click.Context, _parameter: click.Parameter, value: str | None) -> tuple[int, int] | None:
    """`2/5` as the second of five."""
    if value is None:
        return None
    found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", value)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise click.BadParameter(f"{value!r} names no shard; write 2/5 for the second of five")
    return int(found[1]), int(found[2])


@click.command(short_help="Compare specs with what they expect, for CI.")
@click.argument("specs", nargs=-1, metavar="[SPEC or DIR]...")
@click.option("--invariant", "invariants", multiple=True, metavar="NAME", help="Judge this one, not all; repeatable.")
@search_options
@click.option("--changed-since", metavar="REV", help="Only specs of which a file differs from this git revision.")
@click.option("--shard", callback=shard, metavar="I/N", help="Only every Nth spec, from the Ith on.")
@click.option("--junit", type=PATH, metavar="FILE", help="Also write JUnit XML.")
@click.option("--sarif", type=PATH, metavar="FILE", help="Also write SARIF 2.1.0.")
@click.option("--annotations", type=click.Choice(["github", "none"]), help="Workflow commands; as GitHub sets up.")
@click.option("--summary", type=PATH, metavar="FILE", help="Also write Markdown; GitHub's step summary gets it anyway.")
@click.option("--report", type=PATH, metavar="DIR", help="Also write pages: the table, and every counterexample.")
@click.option("--update", is_flag=True, help="Write what was found into the specs, once you have seen the difference.")
@click.option("--yes", is_flag=True, help="With --update: do not ask.")
@output_options
def gate(
    specs: tuple[str, ...],
    invariants: tuple[str, ...],
    search: SearchChoice,
    changed_since: str | None,
    shard: tuple[int, int] | None,
    update: bool,
    yes: bool,
    output: Path,
    json_file: str | None,
    quiet: bool,
    **reports: Any,
) -> int:
    """Check every SPEC, each in a process of its own, and compare it with what it expects: the verdict of each
    invariant and the length of its violation, counts, witnesses, and actions that are never enabled. Of a DIR: all
    specs below it. Without any: all that are shipped, except slow/.

    Results of complete searches are kept; a spec of which nothing has changed is not checked again, and says "cached".

    Exit codes: 0 everything is as wished; 1 something is not as expected; 2 a spec cannot be judged (malformed, nothing
    expected, a fault of its model), or there is none; 3 inconclusive: a limit was reached, a process died, or it was
    interrupted; 70 a fault of tidegauge. Where several apply, the first of 70, 2, 1, 3 is taken.
    """
    from checker.cli.gate_reports import Wanted, deliver_gate
    from checker.cli.settings import chosen_options
    from checker.cli.watching import watching
    from checker.gate import Interruption, run_gate

    started = time.perf_counter()
    wanted = Wanted(**reports)
    _require_possible(output, json_file, update, yes)
    wanted.require_writable()
    interruption = Interruption()
    with interruption.heeded():
        loaded, left_out = _chosen(specs, invariants, changed_since, shard)
        with watching(quiet) as watch:
            found = run_gate(loaded, chosen_options(search), watch, interruption)
        found = replace(left_out, specs=found.specs)
        if update and not interruption.wanted:
            found = _updated(found, yes, json_file == "-")
        deliver_gate(found, wanted, output, json_file, quiet, time.perf_counter() - started)
    return found.exit_code


def _require_possible(output: Path, json_file: str | None, update: bool, yes: bool) -> None:
    """Refuse now what could not be done after the search."""
    from checker.cli.emit import STANDARD_OUTPUT, require_writable
    from model.errors import UsageError

    require_writable(output, json_file)
    if yes and not update:
        raise UsageError("--yes answers what only --update asks", instead="Leave it out")
    somebody = sys.stdin is not None and sys.stdin.isatty() and json_file != STANDARD_OUTPUT
    if update and not yes and not somebody:
        raise UsageError("--update asks before it writes, and there is nobody to ask", instead="Add --yes")


def _chosen(
    names: tuple[str, ...], invariants: tuple[str, ...], revision: str | None, part: tuple[int, int] | None
) -> tuple[list[Loaded], Gate]:
    """The specs to judge, and a gate without them that says what was left out."""
    from checker.changes import changed_since
    from checker.gate import differs, load_all
    from checker.judgement import Gate
    from checker.spec_search import find_specs, share

    search = find_specs(names)
    loaded, remarks = load_all(search.specs, invariants), []
    if revision is not None:
        changed, of = changed_since(revision), len(loaded)
        loaded = [each for each in loaded if differs(each, changed)]
        remarks.append(f"{len(loaded)} of {of} specs differ from {revision}.")
    if part is not None:
        of = len(loaded)
        loaded = list(share(loaded, *part))
        remarks.append(f"Shard {part[0]} of {part[1]} has {len(loaded)} of {of} specs.")
    return loaded, Gate((), search.skipped, tuple(remarks))


def _updated(found: Gate, yes: bool, error_stream: bool) -> Gate:
    """The gate once the specs expect what was found, if that is wanted."""
    from checker.files import write_text
    from checker.spec_update import ACCEPTED, accepted, rewritten

    files = rewritten(found.specs)
    if not files:
        return replace(found, remarks=(*found.remarks, "There is nothing to update."))
    click.echo("".join(file.difference for file in files), nl=False, err=error_stream)
    if not yes and not _agreed():
        return replace(found, remarks=(*found.remarks, "Nothing was updated."))
    for file in files:
        write_text(Path(os.path.realpath(file.path)), file.new)
    count = sum(each.kind in ACCEPTED for judged in found.specs for each in judged.findings)
    told = f"{count} expectation{'s' * (count != 1)} updated in {len(files)} file{'s' * (len(files) != 1)}."
    return replace(found, specs=tuple(map(accepted, found.specs)), remarks=(*found.remarks, told))


def _agreed() -> bool:
    """Ctrl-C means no."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return click.confirm("Write this?")
    except (click.Abort, KeyboardInterrupt):
        return False
    finally:
        signal.signal(signal.SIGINT, before)
