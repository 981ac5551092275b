"""What `compare` says: specs down, promises across, in each cell whether the promise holds or how soon it falls."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
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


def matrix(rows: Sequence[Compared], width: int, seconds: float | None = None) -> tuple[Line, ...]:
    """The whole report; `seconds` is how long everything took."""
    return tuple(_lines(rows, width, seconds))


def _lines(rows: Sequence[Compared], width: int, seconds: float | None) -> Iterator[Line]:
    columns = list(dict.fromkeys(found.name for row in rows for found in row.outcome.invariants))
    yield from _caption(rows, width)
    yield BLANK
    yield from _fitting(rows, columns, width)
    yield BLANK
    yield from _legend(rows)
    remarks = [remark for row in rows for remark in _remarks(row)]
    if remarks:
        yield BLANK
    for text, style in remarks:
        yield from wrapped(text, width, style)
    yield BLANK
    yield from wrapped(_totals(rows, seconds), width, Style.HEADING)


# The table


def _caption(rows: Sequence[Compared], width: int) -> list[Line]:
    """The bounds, if they are the same everywhere."""
    bounds = {bounds_text(row.spec) for row in rows}
    where = f", within {bounds.pop()}" if len(bounds) == 1 else ""
    return wrapped(f"Is the promise kept? The shortest way to break it{where}:", width, Style.HEADING)


def _fitting(rows: Sequence[Compared], columns: Sequence[str], width: int) -> list[Line]:
    """The table, with what was explored as a last column if that fits, else below each row."""
    lines = _table(rows, columns, beside=True)
    if max(len(each.text) for each in lines) <= width:
        return lines
    return _table(rows, columns, beside=False)


def _table(rows: Sequence[Compared], columns: Sequence[str], beside: bool) -> list[Line]:
    prefix, same_bounds = _common_prefix([row.spec.name for row in rows]), _same_bounds(rows)
    cells = _header(columns, prefix, beside)
    extras: list[Sequence[str]] = [()] * len(cells)
    for row in rows:
        cells.append(_row(row, columns, prefix, beside))
        extras.append(_extras(row, beside, same_bounds))
    lines: list[Line] = []
    for each, below in zip(grid(cells, margin=""), extras, strict=True):
        lines += [each, *(line(text, Style.FAINT, "    ") for text in below)]
    return lines


def _header(columns: Sequence[str], prefix: str, beside: bool) -> list[list[Piece]]:
    """Names of promises, broken between words where they are long, standing on one base line."""
    broken = [broken_name(name, HEADER_WIDTH) for name in columns]
    height = max(map(len, broken), default=1)
    padded = [[""] * (height - len(lines)) + lines for lines in broken]
    rows = [[plain(""), *((lines[level], Style.HEADING) for lines in padded)] for level in range(height)]
    rows[-1][0] = faint(prefix)
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


def _row(row: Compared, columns: Sequence[str], prefix: str, beside: bool) -> list[Piece]:
    found = {each.name: each for each in row.outcome.invariants}
    cells = [_cell(row.spec, found.get(name)) for name in columns]
    explored = [faint(explored_text(row.outcome))] if beside else []
    indent = " " if prefix else ""
    return [plain(indent + row.spec.name.removeprefix(prefix)), *cells, *explored]


def _cell(subject: Subject, found: InvariantOutcome | None) -> Piece:
    if found is None:
        return faint("-")
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


def _common_prefix(names: Sequence[str]) -> str:
    """`published/` if every name starts so."""
    folders = {name.rpartition("/")[0] for name in names}
    return f"{folders.pop()}/" if len(folders) == 1 and "/" in names[0] and len(names) > 1 else ""


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
