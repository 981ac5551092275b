"""What `gate` says: a line for each spec, the rest only of what is not as wished, and one sentence of totals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from checker.files import readable
from checker.judgement import About, Finding, Gate, Judged
from checker.outcome import Verdict
from checker.report.findings import Repository, place_in_spec, shown_place, status, time_text, totals
from checker.report.layout import Piece, faint, grid, plain, seconds_text
from checker.report.result import result_document
from checker.report.story import BLANK, Line, Style, line, steps_text, wrapped
from checker.report.subject import explaining
from checker.report.table import explored_text

SCHEMA: Final = "tidegauge/gate/1"

_STYLES: Final = {
    "as wished": Style.GOOD,
    "not as wished": Style.BAD,
    "inconclusive": Style.DOUBT,
    "error": Style.BAD,
}

#: Where traces are, by spec and invariant.
Stored = Mapping[str, Mapping[str, Path]]


def gate_lines(
    gate: Gate, stored: Stored, repository: Repository, width: int, seconds: float | None = None
) -> tuple[Line, ...]:
    """The whole report. `seconds` is how long it all took."""
    return tuple(_lines(gate, stored, repository, width, seconds))


def _lines(gate: Gate, stored: Stored, repository: Repository, width: int, seconds: float | None) -> Iterator[Line]:
    yield from _table(gate.specs, width)
    for judged in gate.specs:
        yield from _details(judged, stored.get(judged.name, {}), repository, width)
    if gate.specs:
        yield BLANK
    if gate.skipped:
        count = len(gate.skipped)
        told = f"{count} TOML file{'s' * (count != 1)} in these directories {'are' if count != 1 else 'is'} no spec."
        yield from wrapped(told, width, Style.FAINT)
    for remark in gate.remarks:
        yield from wrapped(remark, width)
    took = "" if seconds is None else f" Took {seconds_text(seconds)}."
    yield from wrapped(f"{totals(gate)}{took}", width, Style.HEADING)


# One line for each


def _table(specs: Sequence[Judged], width: int) -> list[Line]:
    """The widest of three forms that fits: with results and sizes, with sizes, with neither."""
    found: list[Line] = []
    for columns in ((_result, _explored), (_explored,), ()):
        found = grid(
            [[_status(each), plain(each.name), *(c(each) for c in columns), _time(each)] for each in specs], ""
        )
        if max((len(each.text) for each in found), default=0) <= width:
            break
    return found


def _status(judged: Judged) -> Piece:
    return status(judged), _STYLES[status(judged)]


def _result(judged: Judged) -> Piece:
    """`holds`, `falls in 8 to 12 steps`."""
    if judged.outcome is None:
        return plain("")
    steps = sorted(found.steps or 0 for found in judged.outcome.invariants if found.verdict is Verdict.VIOLATED)
    if not steps:
        return plain("holds" if judged.outcome.explored.complete else "")
    span = steps_text(steps[0]) if steps[0] == steps[-1] else f"{steps[0]} to {steps_text(steps[-1])}"
    return plain(f"falls in {span}")


def _explored(judged: Judged) -> Piece:
    return faint("" if judged.outcome is None else explored_text(judged.outcome))


def _time(judged: Judged) -> Piece:
    return faint(time_text(judged))


# Whatever is not as wished


def _details(judged: Judged, stored: Mapping[str, Path], repository: Repository, width: int) -> Iterator[Line]:
    if not judged.surprises:
        return
    yield BLANK
    yield from wrapped(judged.name, width, Style.HEADING)
    for found in judged.surprises:
        yield from _finding(judged, found, repository, width)
    shortest = min(judged.told.values(), key=lambda told: len(told.sentences), default=None)
    if shortest is not None:
        yield BLANK
        yield from (line(text, margin="  ") if text else BLANK for text in shortest.story.splitlines())
    commands = [explaining(judged.spec, path) for path in stored.values() if judged.spec]
    if commands:
        yield BLANK
        yield from (line(f"  {command}") for command in commands)


def _finding(judged: Judged, found: Finding, repository: Repository, width: int) -> Iterator[Line]:
    style = Style.DOUBT if found.is_inconclusive else Style.BAD
    yield from wrapped(f"{found.kind.value}: {found.sentence}", width, style, margin="  ")
    yield line(shown_place(place_in_spec(judged, found), repository), Style.FAINT, "    ")


# The document


def gate_document(gate: Gate, stored: Stored, repository: Repository) -> dict[str, Any]:
    """What other programs read; `docs/result.schema.json` describes it."""
    return {
        "schema": SCHEMA,
        "exit_code": gate.exit_code,
        "summary": totals(gate),
        "specs": [_spec(judged, stored.get(judged.name, {}), repository) for judged in gate.specs],
        "skipped": list(gate.skipped),
        "remarks": list(gate.remarks),
    }


def _spec(judged: Judged, stored: Mapping[str, Path], repository: Repository) -> dict[str, Any]:
    result = None
    if judged.spec is not None and judged.outcome is not None:
        result = result_document(judged.spec, judged.outcome, stored)
        del result["schema"]
    return {
        "spec": judged.name,
        "file": repository.path(judged.file) or readable(judged.file),
        "status": status(judged),
        "exit_code": judged.exit_code,
        "cached": judged.cached,
        "seconds": round(judged.seconds, 6),
        "findings": [_finding_document(judged, found, repository) for found in judged.findings],
        "result": result,
    }


def _finding_document(judged: Judged, found: Finding, repository: Repository) -> dict[str, Any]:
    place = place_in_spec(judged, found)
    told = judged.told.get(found.name) if found.about is About.INVARIANT else None
    return {
        "about": found.about.value,
        "name": found.name,
        "kind": found.kind.value,
        "text": found.sentence,
        "file": repository.path(place.file) or readable(place.file),
        "line": place.line,
        "steps": list(told.sentences) if told else [],
    }
