"""What `compare` says: specs down, promises across, in each cell whether the promise holds or how soon it falls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from checker.outcome import Verdict
from checker.report.layout import Piece, faint, grid, seconds_text
from checker.report.story import BLANK, Line, Style, line, listed, steps_text, wrapped
from checker.report.subject import bounds_text, explaining, surprise
from checker.report.summary import STYLE_OF
from checker.report.table import MARK, Compared, fitting_table, same_bounds

Row = TypeVar("Row", bound=Compared)


def matrix(
    rows: Sequence[Compared], stored: Mapping[str, Mapping[str, Path]], width: int, seconds: float | None = None
) -> tuple[Line, ...]:
    """The whole report. `stored` says where traces are, by spec and invariant; `seconds` is how long it all took."""
    return tuple(_lines(rows, stored, width, seconds))


def _lines(
    rows: Sequence[Compared], stored: Mapping[str, Mapping[str, Path]], width: int, seconds: float | None
) -> Iterator[Line]:
    for section in sections(rows):
        yield from _caption(section, width)
        yield BLANK
        yield from fitting_table(section, width)
        yield BLANK
    yield from legend(rows)
    yield BLANK
    told = [remark for row in rows for remark in remarks(row)]
    for text, style in told:
        yield from wrapped(text, width, style)
    if told:
        yield BLANK
    yield from wrapped(totals(rows, seconds), width, Style.HEADING)
    yield from _where_to_read(rows, stored)


def sections(rows: Sequence[Row]) -> list[list[Row]]:
    """One table for each choice of promises."""
    found: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(each.name for each in row.outcome.invariants), []).append(row)
    return list(found.values())


def _caption(rows: Sequence[Compared], width: int) -> list[Line]:
    """The bounds, if they are the same everywhere."""
    where = f" within {bounds_text(rows[0].spec)}" if same_bounds(rows) else ""
    return wrapped(f"Promises kept and broken{where}:", width, Style.HEADING)


# What stands below


def legend(rows: Sequence[Compared]) -> Iterator[Line]:
    verdicts = {found.verdict for row in rows for found in row.outcome.invariants}
    meanings: Mapping[Verdict, tuple[str, str]] = {
        Verdict.HOLDS: ("holds", "in every reachable state"),
        Verdict.VIOLATED: ("n steps", "the shortest way from the initial state to a violation"),
        Verdict.INCONCLUSIVE: ("inconclusive", "not violated as far as explored, and that was not everything"),
    }
    told: list[list[Piece]] = [
        [(meanings[verdict][0], STYLE_OF[verdict]), faint(meanings[verdict][1])]
        for verdict in Verdict
        if verdict in verdicts
    ]
    if any(row.outcome.symmetry.order > 1 for row in rows):
        told.append([faint("orbit"), faint("states that differ in names only, which was proved to be harmless")])
    if any(surprise(row.spec, found) for row in rows for found in row.outcome.invariants):
        told.append([(MARK, Style.DOUBT), faint("not what the spec expects")])
    yield from grid(told, margin="")


def remarks(row: Compared) -> Iterator[tuple[str, Style]]:
    """Whatever must not go unnoticed."""
    for found in row.outcome.invariants:
        expected = surprise(row.spec, found)
        if expected:
            steps = "" if found.steps is None else f" in {steps_text(found.steps)}"
            text = f"{row.spec.name}: {found.name} {found.verdict.value}{steps}; the spec expects: {expected}."
            yield f"{MARK} {text}", Style.DOUBT
    for doubt in row.outcome.doubts:
        yield f"{row.spec.name}: {doubt}", Style.DOUBT
    if row.outcome.never_enabled:
        yield f"{row.spec.name}: never enabled: {', '.join(row.outcome.never_enabled)}.", Style.DOUBT


def totals(rows: Sequence[Compared], seconds: float | None) -> str:
    """`5 specs, 15 promises: 8 hold, 7 are broken. 3.2 s.`"""
    verdicts = [found.verdict for row in rows for found in row.outcome.invariants]
    counts = {verdict: verdicts.count(verdict) for verdict in Verdict}
    words = {
        Verdict.HOLDS: ("holds", "hold"),
        Verdict.VIOLATED: ("is broken", "are broken"),
        Verdict.INCONCLUSIVE: ("is inconclusive", "are inconclusive"),
    }
    told = listed([f"{count} {words[verdict][count != 1]}" for verdict, count in counts.items() if count])
    specs = f"{len(rows)} {'spec' if len(rows) == 1 else 'specs'}"
    promises = f"{len(verdicts)} {'promise' if len(verdicts) == 1 else 'promises'}"
    took = "" if seconds is None else f" Took {seconds_text(seconds)}."
    return f"{specs}, {promises}: {told}.{took}"


def _where_to_read(rows: Sequence[Compared], stored: Mapping[str, Mapping[str, Path]]) -> Iterator[Line]:
    commands = [explaining(row.spec, path) for row in rows for path in stored.get(row.spec.name, {}).values()]
    if commands:
        yield line("How it is broken, for example:")
        yield line(f"  {commands[0]}")
