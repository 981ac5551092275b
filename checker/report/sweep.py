"""What `check` says of a spec with a sweep: a table of sizes, and the smallest at which each promise falls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

from checker.outcome import InvariantOutcome, Verdict
from checker.report.layout import Piece, faint, grid, plain
from checker.report.matrix import legend_lines, remarks
from checker.report.result import compared_document
from checker.report.story import BLANK, Line, Style, line, steps_text, wrapped
from checker.report.subject import Subject, explaining, in_words
from checker.report.summary import STYLE_OF
from checker.report.table import Compared, explored_text, verdict_cells

SWEEP: Final = "tidegauge/sweep/1"


class Swept(Protocol):
    """A spec at several sizes, and which of them say most."""

    @property
    def spec(self) -> SweptSubject: ...

    @property
    def rows(self) -> Sequence[Compared]: ...

    @property
    def verdict(self) -> Verdict: ...

    def point(self, row: Any) -> dict[str, int]: ...

    def smallest(self, invariant: str) -> Sequence[Compared]: ...

    def with_verdict(self, invariant: str, verdict: Verdict) -> Sequence[Compared]: ...


class SweptSubject(Subject, Protocol):
    """A spec with a sweep."""

    @property
    def sweep(self) -> Mapping[str, tuple[int, ...]]: ...


def sweep_report(found: Swept, stored: Mapping[str, Mapping[str, Path]], width: int) -> tuple[Line, ...]:
    """The whole report. `stored` says where traces are, by the name of the point and invariant."""
    return tuple(_lines(found, stored, width))


def sweep_document(found: Swept, stored: Mapping[str, Mapping[str, Path]]) -> dict[str, Any]:
    """The same for programs."""
    return {
        "schema": SWEEP,
        "spec": found.spec.name,
        "sweep": {bound: list(values) for bound, values in found.spec.sweep.items()},
        "verdict": found.verdict.value,
        "smallest": {
            name: [found.point(row) for row in found.smallest(name)] for name in found.spec.invariants
        },
        "results": [compared_document(row, stored.get(row.spec.name, {})) for row in found.rows],
    }  # fmt: skip


def _lines(found: Swept, stored: Mapping[str, Mapping[str, Path]], width: int) -> Iterator[Line]:
    yield from wrapped(_headline(found), width, STYLE_OF[found.verdict])
    yield BLANK
    fixed = {name: value for name, value in found.spec.used_bounds().items() if name not in found.spec.sweep}
    if fixed:
        yield from wrapped(f"At every size: {in_words(fixed)}.", width, Style.FAINT)
        yield BLANK
    yield from _table(found)
    yield BLANK
    yield from legend_lines(found.rows, width)
    yield BLANK
    told = [remark for row in found.rows for remark in remarks(row)]
    for text, style in told:
        yield from wrapped(text, width, style)
    if told:
        yield BLANK
    yield line("Smallest sizes that violate:", Style.HEADING)
    yield from grid([[plain(name), _smallest(found, name)] for name in found.spec.invariants])
    yield from _next(found, stored)


def _headline(found: Swept) -> str:
    sizes = len(found.rows)
    count = sum(row.outcome.verdict is found.verdict for row in found.rows)
    where = "at the only size" if sizes == 1 else f"at {count} of {sizes} sizes" if count < sizes else "at all sizes"
    return f"{found.spec.name}: {found.verdict.value.upper()} {where}."


def _table(found: Swept) -> list[Line]:
    """A row for each size."""
    header: list[Piece] = [plain(""), *((name, Style.HEADING) for name in found.spec.invariants)]
    rows = [
        [plain(in_words(found.point(row))), *verdict_cells(row), faint(explored_text(row.outcome))]
        for row in found.rows
    ]  # fmt: skip
    return grid([header, *rows])


def _smallest(found: Swept, name: str) -> Piece:
    """`2 nodes (3 steps)`; and whether something smaller may have been missed."""
    smallest = found.smallest(name)
    open_ones = found.with_verdict(name, Verdict.INCONCLUSIVE)
    doubt = f"; inconclusive: {_sizes(found, open_ones)}" if open_ones else ""
    if not smallest:
        return (f"none of these{doubt}", STYLE_OF[Verdict.INCONCLUSIVE if open_ones else Verdict.HOLDS])
    told = ", or ".join(f"{in_words(found.point(row))} ({_steps(row, name)})" for row in smallest)
    return (told + doubt, STYLE_OF[Verdict.VIOLATED])


def _sizes(found: Swept, rows: Sequence[Compared]) -> str:
    return "; ".join(in_words(found.point(row)) for row in rows)


def _steps(row: Compared, name: str) -> str:
    return steps_text(_outcome(row, name).steps or 0)


def _outcome(row: Compared, name: str) -> InvariantOutcome:
    return next(each for each in row.outcome.invariants if each.name == name)


def _next(found: Swept, stored: Mapping[str, Mapping[str, Path]]) -> Iterator[Line]:
    commands = [
        explaining(row.spec, stored[row.spec.name][name])
        for name in found.spec.invariants
        for row in found.smallest(name)
        if name in stored.get(row.spec.name, {})
    ]
    if commands:
        yield line("Next:", Style.HEADING)
        yield from (line(f"  {command}") for command in dict.fromkeys(commands))
