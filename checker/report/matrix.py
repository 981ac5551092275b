"""What `compare` says: specs down, promises across, in each cell whether the promise holds or how soon it falls."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from checker.outcome import InvariantOutcome, Outcome, Verdict
from checker.report.layout import Piece, faint, grid, plain, seconds_text
from checker.report.story import BLANK, Line, Style, line, listed, steps_text, wrapped
from checker.report.subject import Subject, bounds_text, features_text, surprise
from checker.report.summary import STYLE_OF, stored_unit

HEADER_WIDTH = 13
MARK = "!"


class Compared(Protocol):
    """One spec and what was found of it."""

    @property
    def spec(self) -> Subject: ...

    @property
    def outcome(self) -> Outcome: ...


def matrix(
    rows: Sequence[Compared], stored: Mapping[str, Mapping[str, Path]], width: int, seconds: float | None = None
) -> tuple[Line, ...]:
    """The whole report. `stored` says where traces are, by spec and invariant; `seconds` is how long it all took."""
    return tuple(_lines(rows, stored, width, seconds))


def _lines(
    rows: Sequence[Compared], stored: Mapping[str, Mapping[str, Path]], width: int, seconds: float | None
) -> Iterator[Line]:
    for columns, section in _sections(rows):
        yield from _caption(section, width)
        yield BLANK
        yield from _fitting(section, columns, width)
        yield BLANK
    yield from _legend(rows)
    yield BLANK
    remarks = [remark for row in rows for remark in _remarks(row)]
    for text, style in remarks:
        yield from wrapped(text, width, style)
    if remarks:
        yield BLANK
    yield from wrapped(_totals(rows, seconds), width, Style.HEADING)
    yield from _where_to_read(stored)


# The tables


def _sections(rows: Sequence[Compared]) -> list[tuple[tuple[str, ...], list[Compared]]]:
    """One table for each choice of promises."""
    sections: dict[tuple[str, ...], list[Compared]] = {}
    for row in rows:
        sections.setdefault(tuple(found.name for found in row.outcome.invariants), []).append(row)
    return list(sections.items())


def _caption(rows: Sequence[Compared], width: int) -> list[Line]:
    """The bounds, if they are the same everywhere."""
    where = f" within {bounds_text(rows[0].spec)}" if _same_bounds(rows) else ""
    return wrapped(f"Promises kept and broken{where}:", width, Style.HEADING)


def _fitting(rows: Sequence[Compared], columns: Sequence[str], width: int) -> list[Line]:
    """The table, with what was explored as a last column if that fits, else below each row."""
    lines = _table(rows, columns, beside=True)
    return lines if max(len(each.text) for each in lines) <= width else _table(rows, columns, beside=False)


def _table(rows: Sequence[Compared], columns: Sequence[str], beside: bool) -> list[Line]:
    """Rows under the folder they come from, the first folder in the last line of the header."""
    cells: list[list[Piece]] = _header(columns, beside)
    extras: list[Sequence[str]] = [()] * len(cells)
    folder = ""
    for position, row in enumerate(rows):
        if folder_of(row.spec) != folder:
            folder = folder_of(row.spec)
            if position:
                cells.append([])
                extras.append(())
            cells[-1][:1] = [faint(f"{folder}/")]
        cells.append(_row(row, columns, beside))
        extras.append(_extras(row, beside, _same_bounds(rows)))
    lines: list[Line] = []
    for each, below in zip(grid(cells, margin=""), extras, strict=True):
        lines += [each, *(line(text, Style.FAINT, "    ") for text in below)]
    return lines


def folder_of(subject: Subject) -> str:
    """`published` for `published/kip-320`; empty for a spec that is in none."""
    return subject.name.rpartition("/")[0]


def _header(columns: Sequence[str], beside: bool) -> list[list[Piece]]:
    """Names of promises, broken between words where they are long, standing on one base line."""
    broken = [broken_name(name, HEADER_WIDTH) for name in columns]
    height = max(map(len, broken), default=1)
    padded = [[""] * (height - len(lines)) + lines for lines in broken]
    rows = [[plain(""), *((lines[level], Style.HEADING) for lines in padded)] for level in range(height)]
    if beside:
        rows[-1].append(("explored", Style.HEADING))
    return rows


def broken_name(name: str, width: int) -> list[str]:
    """`NoAcknowledgedLoss` as `No`, `Acknowledged`, `Loss`, as few lines as fit into the width."""
    lines = [""]
    for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^A-Z]+", name) or [name]:
        if lines[-1] and len(lines[-1] + word) > width:
            lines.append("")
        lines[-1] += word
    return lines


def _row(row: Compared, columns: Sequence[str], beside: bool) -> list[Piece]:
    found = {each.name: each for each in row.outcome.invariants}
    cells = [_cell(row.spec, found[name]) for name in columns]
    explored = [faint(explored_text(row.outcome))] if beside else []
    folder = folder_of(row.spec)
    name = f" {row.spec.name.removeprefix(f'{folder}/')}" if folder else row.spec.name
    return [plain(name), *cells, *explored]


def _cell(subject: Subject, found: InvariantOutcome) -> Piece:
    texts = {
        Verdict.HOLDS: "holds",
        Verdict.VIOLATED: steps_text(found.steps or 0),
        Verdict.INCONCLUSIVE: "inconclusive",
    }
    mark = f" {MARK}" if surprise(subject, found) else ""
    return texts[found.verdict] + mark, STYLE_OF[found.verdict]


def explored_text(outcome: Outcome) -> str:
    """`123,311 orbits`; of an incomplete search `over 123,311 orbits`."""
    over = "" if outcome.explored.complete else "over "
    return f"{over}{outcome.explored.distinct:,} {stored_unit(outcome)}"


def _extras(row: Compared, beside: bool, same_bounds: bool) -> tuple[str, ...]:
    """What is said below a row."""
    parts = [features_text(row.spec), "" if same_bounds else bounds_text(row.spec)]
    told = "; ".join(filter(None, parts))
    return tuple(filter(None, (told, "" if beside else explored_text(row.outcome))))


def _same_bounds(rows: Sequence[Compared]) -> bool:
    return len({bounds_text(row.spec) for row in rows}) == 1


# What stands below


def _legend(rows: Sequence[Compared]) -> Iterator[Line]:
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
        told.append([faint("orbit"), faint("states that differ in the replicas' names only; proved to be harmless")])
    if any(surprise(row.spec, found) for row in rows for found in row.outcome.invariants):
        told.append([(MARK, Style.DOUBT), faint("not what the spec expects")])
    yield from grid(told, margin="")


def _remarks(row: Compared) -> Iterator[tuple[str, Style]]:
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


def _totals(rows: Sequence[Compared], seconds: float | None) -> str:
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


def _where_to_read(stored: Mapping[str, Mapping[str, Path]]) -> Iterator[Line]:
    paths = [path for traces in stored.values() for path in traces.values()]
    if paths:
        yield line("How it is broken, for example:")
        yield line(f"  tidegauge explain {shlex.quote(str(paths[0]))}")
