"""The table of a comparison, in the widest of three forms that fits the screen: a row a spec if possible."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Protocol, TypeAlias, assert_never

from checker.outcome import InvariantOutcome, Outcome, Verdict
from checker.report.layout import Piece, faint, grid, plain
from checker.report.story import Line, Style, line
from checker.report.subject import Subject, bounds_code, bounds_text, rules_of, rules_text, surprise
from checker.report.summary import STYLE_OF, stored_unit

#: Stands beside a cell that is not what the spec expects.
MARK: Final = "!"
#: Stands beside a number of steps, once for each crash among them.
CRASH: Final = "†"
#: For a promise that is not asked of a spec.
UNASKED: Final = "·"
OPEN: Final = "?"
CELL: Final = 5  # columns of a cell, without what is between two
BAR: Final = "│"

#: A row of cells, or a line across all columns.
Item: TypeAlias = "list[Piece] | Line"


class Compared(Protocol):
    """One spec and what was found of it. `crashes` says how many there are in the shortest violation, by promise."""

    @property
    def spec(self) -> Subject: ...

    @property
    def outcome(self) -> Outcome: ...

    @property
    def crashes(self) -> Mapping[str, int]: ...


class Form(enum.Enum):
    """How a row is written, widest first."""

    WIDE = enum.auto()  # name, cells, what was explored
    STACKED = enum.auto()  # name and what was explored; below them the cells
    LISTED = enum.auto()  # name and what was explored; below them a line for each promise


def fitting_table(rows: Sequence[Compared], width: int) -> list[Line]:
    """Specs down, promises across."""
    for form in Form:
        lines = _table(rows, form)
        if max(len(each.text) for each in lines) <= width:
            break
    return lines


def same_bounds(rows: Sequence[Compared]) -> bool:
    return len({bounds_text(row.spec) for row in rows}) == 1


def promises(rows: Sequence[Compared]) -> list[str]:
    """Every promise that is asked of some row, in the order of the row that is asked most."""
    most = max(rows, key=lambda row: len(row.outcome.invariants))
    return list(dict.fromkeys(found.name for row in (most, *rows) for found in row.outcome.invariants))


def _table(rows: Sequence[Compared], form: Form) -> list[Line]:
    match form:
        case Form.WIDE:
            return _wide(rows)
        case Form.STACKED:
            return _stacked(rows)
        case Form.LISTED:
            return _laid_out(list(_listed(rows)))
        case _:
            assert_never(form)


# Wide


def _wide(rows: Sequence[Compared]) -> list[Line]:
    names = promises(rows)
    folder = _folder(rows)
    head = f"{folder}/" if folder else ""
    told = [_name(row, folder) for row in rows]
    margin = max(map(len, (head, *told))) + 2
    sides = _sides(rows)
    lines = [*_staircase(names, " " * margin), _base(f"{head:{margin}}", names, sides[0])]
    for row, name, side in zip(rows, told, sides[1:], strict=True):
        lines.append(Line((plain(f"{name:{margin}}"), *_cells(row, names), *side)))
        lines += _remarks(row, "    ")
    return [_trimmed(each) for each in lines]


def _staircase(names: Sequence[str], margin: str) -> Iterator[Line]:
    """The name of each promise above its column, one a line, so that none has to be shortened."""
    for position, name in enumerate(names):
        bars = "".join(f"{BAR:{CELL + 2}}" for _ in names[:position])
        yield Line((faint(f"{margin}{bars}"), (name, Style.HEADING)))


def _base(head: str, names: Sequence[str], side: Sequence[Piece]) -> Line:
    """The last line above the cells."""
    return Line((faint(head), *(faint(f"{BAR:{CELL + 2}}") for _ in names), *side))


def _sides(rows: Sequence[Compared]) -> list[list[Piece]]:
    """What stands behind the cells: how much was explored, and within which bounds where these are not all the same.
    The first is the heading."""
    units = {stored_unit(row.outcome) for row in rows}
    explored = [_count_text(row.outcome) if len(units) == 1 else explored_text(row.outcome) for row in rows]
    columns = [[units.pop() if len(units) == 1 else "explored", *explored]]
    if not same_bounds(rows):
        columns.append(["bounds", *(bounds_code(row.spec) for row in rows)])
    widths = [max(map(len, column)) for column in columns]
    texts = zip(*columns, strict=True)
    return [[faint(_side(row, widths))] for row in texts]


def _side(row: Sequence[str], widths: Sequence[int]) -> str:
    """Numbers of states end at one column, bounds begin at one."""
    explored, *bounds = row
    return "  ".join((f"{explored:>{widths[0]}}", *bounds))


# Stacked and listed


def _stacked(rows: Sequence[Compared]) -> list[Line]:
    names = promises(rows)
    heads = _heads(rows)
    lines = [*_staircase(names, "    "), _base("    ", names, [])]
    for row, head in zip(rows, heads, strict=True):
        lines += [head, *_remarks(row, "    "), Line((plain("    "), *_cells(row, names)))]
    return [_trimmed(each) for each in lines]


def _heads(rows: Sequence[Compared]) -> list[Line]:
    """The name of each row, what was explored and within which bounds, in columns."""
    explored = [explored_text(row.outcome) for row in rows]
    width = max(map(len, explored))
    bounds = [[] if same_bounds(rows) else [faint(bounds_code(row.spec))] for row in rows]
    cells = [
        [plain(row.spec.name), faint(f"{text:>{width}}"), *bound]
        for row, text, bound in zip(rows, explored, bounds, strict=True)
    ]
    return grid(cells, margin="")


def _listed(rows: Sequence[Compared]) -> Iterator[Item]:
    for row in rows:
        yield Line((plain(row.spec.name), faint(f"  {explored_text(row.outcome)}")))
        yield from _remarks(row, "    ")
        if not same_bounds(rows):
            yield line(bounds_text(row.spec), Style.FAINT, "    ")
        yield from ([plain(found.name), _cell(row, found)] for found in row.outcome.invariants)


def _laid_out(items: Sequence[Item]) -> list[Line]:
    cells = iter(grid([item for item in items if isinstance(item, list)], margin="    "))
    return [next(cells) if isinstance(item, list) else item for item in items]


# What stands in a row


def _cells(row: Compared, names: Sequence[str]) -> Iterator[Piece]:
    cells = dict(zip((found.name for found in row.outcome.invariants), verdict_cells(row), strict=True))
    for name in names:
        text, style = cells.get(name, faint(f" {UNASKED}"))
        yield f"{text:{CELL + 2}}", style


def verdict_cells(row: Compared) -> list[Piece]:
    """`holds`, `10` (steps), `9†` (with a crash), `?`: one for each promise, marked if it is not what the spec
    expects."""
    return [_cell(row, found) for found in row.outcome.invariants]


def _cell(row: Compared, found: InvariantOutcome) -> Piece:
    texts = {
        Verdict.HOLDS: "holds",
        Verdict.VIOLATED: f"{found.steps or 0:>2}{CRASH * row.crashes.get(found.name, 0)}",
        Verdict.INCONCLUSIVE: f" {OPEN}",
    }
    mark = MARK if surprise(row.spec, found) else ""
    return texts[found.verdict] + mark, STYLE_OF[found.verdict]


def explored_text(outcome: Outcome) -> str:
    """`123,311 orbits`; of an incomplete search `over 123,311 orbits`."""
    return f"{_count_text(outcome)} {stored_unit(outcome)}"


def _count_text(outcome: Outcome) -> str:
    over = "" if outcome.explored.complete else "over "
    return f"{over}{outcome.explored.distinct:,}"


def _folder(rows: Sequence[Compared]) -> str:
    """`published` for rows that are all called `published/…`; empty if they are not in one folder."""
    folders = {row.spec.name.rpartition("/")[0] for row in rows}
    return folders.pop() if len(folders) == 1 else ""


def _name(row: Compared, folder: str) -> str:
    return f" {row.spec.name.removeprefix(f'{folder}/')}" if folder else row.spec.name


def _remarks(row: Compared, margin: str) -> Iterator[Line]:
    """The rules of a spec that is not shipped, or not as it is shipped: others are known by their names."""
    spec = row.spec
    text = rules_of(spec.changed_features) if spec.section else rules_text(spec)
    if text:
        yield line(text, Style.FAINT, margin)


def _trimmed(row: Line) -> Line:
    """Without blanks at the end."""
    pieces = list(row.pieces)
    while pieces and not pieces[-1][0].strip():
        pieces.pop()
    return Line((*pieces[:-1], (pieces[-1][0].rstrip(), pieces[-1][1]))) if pieces else row
