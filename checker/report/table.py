"""The table of a comparison, in the widest of four forms that fits the screen."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator, Sequence
from typing import Protocol, TypeAlias

from checker.outcome import InvariantOutcome, Outcome, Verdict
from checker.report.layout import Piece, faint, grid, plain
from checker.report.story import Line, Style, line, steps_text
from checker.report.subject import Subject, bounds_text, features_text, surprise
from checker.report.summary import STYLE_OF, stored_unit

#: Stands beside a cell that is not what the spec expects.
MARK = "!"

#: A row of cells, or a line across all columns.
Item: TypeAlias = "list[Piece] | Line"


class Compared(Protocol):
    """One spec and what was found of it."""

    @property
    def spec(self) -> Subject: ...

    @property
    def outcome(self) -> Outcome: ...


class Form(enum.Enum):
    """How a row is written, widest first. The value is how wide the name of a promise may be."""

    WIDE = 13  # name, cells, what was explored
    TALL = 12  # name, cells; below them what was explored
    STACKED = 10  # name and what was explored; below them the cells
    LISTED = 0  # name and what was explored; below them a line for each promise


def fitting_table(rows: Sequence[Compared], width: int) -> list[Line]:
    """Specs down, promises across. All rows have the same promises."""
    for form in Form:
        lines = _table(rows, form)
        if max(len(each.text) for each in lines) <= width:
            break
    return lines


def same_bounds(rows: Sequence[Compared]) -> bool:
    return len({bounds_text(row.spec) for row in rows}) == 1


def _table(rows: Sequence[Compared], form: Form) -> list[Line]:
    if form in (Form.WIDE, Form.TALL):
        return _laid_out([*_header(rows, form), *_rows(rows, form)], margin="")
    return _laid_out(list(_stacked(rows, form)), margin="    ")


def _laid_out(items: Sequence[Item], margin: str) -> list[Line]:
    cells = iter(grid([item for item in items if isinstance(item, list)], margin))
    return [next(cells) if isinstance(item, list) else item for item in items]


# Wide and tall


def _rows(rows: Sequence[Compared], form: Form) -> Iterator[Item]:
    """Rows under the folder they come from; the header has the first folder already."""
    folder = _folder(rows[0].spec)
    for row in rows:
        if _folder(row.spec) != folder:
            folder = _folder(row.spec)
            yield line(f"{folder}/", Style.FAINT)
        explored = [faint(explored_text(row.outcome))]
        yield [plain(_name_below(folder, row.spec)), *verdict_cells(row), *(explored if form is Form.WIDE else [])]
        yield from _remarks(row, rows)
        if form is Form.TALL:
            yield line(explored_text(row.outcome), Style.FAINT, "    ")


def _header(rows: Sequence[Compared], form: Form) -> Iterator[list[Piece]]:
    folder = _folder(rows[0].spec)
    *upper, last = _names_of_promises(rows, form)
    yield from ([plain(""), *names] for names in upper)
    explored = [("explored", Style.HEADING)] if form is Form.WIDE else []
    yield [faint(f"{folder}/" if folder else ""), *last, *explored]


def _names_of_promises(rows: Sequence[Compared], form: Form) -> list[list[Piece]]:
    """Broken between words where they are long, standing on one base line."""
    broken = [broken_name(found.name, form.value) for found in rows[0].outcome.invariants]
    height = max(map(len, broken))
    padded = [[""] * (height - len(lines)) + lines for lines in broken]
    return [[(lines[level], Style.HEADING) for lines in padded] for level in range(height)]


def broken_name(name: str, width: int) -> list[str]:
    """`NoAcknowledgedLoss` as `No`, `Acknowledged`, `Loss`, as few lines as fit into the width."""
    lines = [""]
    for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^A-Z]+", name) or [name]:
        if lines[-1] and len(lines[-1] + word) > width:
            lines.append("")
        lines[-1] += word
    return lines


def _folder(subject: Subject) -> str:
    """`published` for `published/kip-320`; empty for a spec that is in none."""
    return subject.name.rpartition("/")[0]


def _name_below(folder: str, subject: Subject) -> str:
    return f" {subject.name.removeprefix(f'{folder}/')}" if folder else subject.name


# Stacked and listed


def _stacked(rows: Sequence[Compared], form: Form) -> Iterator[Item]:
    if form is Form.STACKED:
        yield from _names_of_promises(rows, form)
    for row in rows:
        yield Line((plain(row.spec.name), faint(f"  {explored_text(row.outcome)}")))
        yield from _remarks(row, rows)
        if form is Form.STACKED:
            yield verdict_cells(row)
        else:
            names = [plain(found.name) for found in row.outcome.invariants]
            yield from ([name, cell] for name, cell in zip(names, verdict_cells(row), strict=True))


# What stands in a row


def verdict_cells(row: Compared) -> list[Piece]:
    """`holds`, `10 steps`, `inconclusive`: one for each promise, marked if it is not what the spec expects."""
    return [_cell(row.spec, found) for found in row.outcome.invariants]


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


def _remarks(row: Compared, rows: Sequence[Compared]) -> Iterator[Line]:
    """In what the model differs from its variant, and from the other rows."""
    parts = [features_text(row.spec), "" if same_bounds(rows) else bounds_text(row.spec)]
    yield from (line(part, Style.FAINT, "    ") for part in parts if part)
