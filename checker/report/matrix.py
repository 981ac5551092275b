"""What `compare` says: specs down, promises across, in each cell whether the promise holds or how soon it falls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar

from checker.outcome import Verdict
from checker.report.layout import Piece, faint, seconds_text
from checker.report.story import BLANK, Line, Style, line, listed, steps_text, wrapped
from checker.report.subject import bounds_names, bounds_text, explaining, surprise
from checker.report.summary import STYLE_OF
from checker.report.table import CRASH, MARK, OPEN, UNASKED, Compared, fitting_table, promises, same_bounds

LEGEND_WIDTH: Final = 6
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
        yield from wrapped(title_of(section), width, Style.HEADING)
        if same_bounds(section):
            yield from wrapped(bounds_text(section[0].spec), width, Style.FAINT)
        yield BLANK
        yield from fitting_table(section, width)
        yield BLANK
    yield from legend_lines(rows, width)
    yield BLANK
    told = [remark for row in rows for remark in remarks(row)]
    for text, style in told:
        yield from wrapped(text, width, style)
    if told:
        yield BLANK
    yield from wrapped(totals(rows, seconds), width, Style.HEADING)
    yield from _where_to_read(rows, stored)


def sections(rows: Sequence[Row]) -> list[list[Row]]:
    """One table for each section of the shipped specs, and one for all other specs."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.spec.section, []).append(row)
    return list(found.values())


def title_of(section: Sequence[Compared]) -> str:
    return section[0].spec.section or "Promises kept and broken"


# What stands below


def legend_lines(rows: Sequence[Compared], width: int) -> Iterator[Line]:
    """What the cells mean, as far as they occur."""
    for sign, meaning in legend(rows):
        head, *rest = wrapped(meaning, width, Style.FAINT, " " * (LEGEND_WIDTH + 2))
        yield Line(((f"{sign[0]:{LEGEND_WIDTH}}  ", sign[1]), *head.pieces[1:]))
        yield from rest


def legend(rows: Sequence[Compared]) -> Iterator[tuple[Piece, str]]:
    verdicts = {found.verdict for row in rows for found in row.outcome.invariants}
    meanings: Mapping[Verdict, tuple[str, str]] = {
        Verdict.HOLDS: ("holds", "in every reachable state, all of which were explored"),
        Verdict.VIOLATED: ("9", "broken: the shortest way to a violation has so many steps"),
        Verdict.INCONCLUSIVE: (OPEN, "inconclusive: not violated as far as explored, and that was not everything"),
    }
    for verdict in Verdict:
        if verdict in verdicts:
            yield (meanings[verdict][0], STYLE_OF[verdict]), meanings[verdict][1]
    if any(any(row.crashes.values()) for row in rows):
        yield (CRASH, STYLE_OF[Verdict.VIOLATED]), "a crash on that way; two signs are two crashes"
    if any(set(promises(section)) - set(_asked(row)) for section in sections(rows) for row in section):
        yield faint(UNASKED), "not asked of this spec"
    if any(row.outcome.symmetry.order > 1 for row in rows):
        yield faint("orbits"), "states that differ in names only count as one: proved to be harmless"
    if any(not same_bounds(section) for section in sections(rows)):
        yield faint("bounds"), f"{bounds_names(rows[0].spec)}; a dash where the rules have no use for one"
    if any(surprise(row.spec, found) for row in rows for found in row.outcome.invariants):
        yield (MARK, Style.DOUBT), "not what the spec expects"


def _asked(row: Compared) -> list[str]:
    return [found.name for found in row.outcome.invariants]


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
    if not rows:
        return "No spec was checked."
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
