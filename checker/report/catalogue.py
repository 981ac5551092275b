"""What `list` says: each shipped spec with its rules, its bounds and what is expected; examples in a section of their
own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checker.outcome import Verdict
from checker.report.layout import Piece, faint, plain
from checker.report.story import BLANK, Line, Style, line, steps_text, wrapped
from checker.report.subject import Subject, bounds_text, rules_text
from checker.report.summary import STYLE_OF


def catalogue(subjects: Sequence[Subject], width: int, examples: Sequence[Subject] = ()) -> tuple[Line, ...]:
    return tuple(_lines(subjects, examples, width))


def _lines(subjects: Sequence[Subject], examples: Sequence[Subject], width: int) -> Iterator[Line]:
    for subject in subjects:
        yield from _entry(subject, width)
        yield BLANK
    if examples:
        yield line("Other protocols, as examples of your own:", Style.HEADING)
        yield BLANK
    for example in examples:
        yield from _entry(example, width)
        yield BLANK
    yield from wrapped("Check one: tidegauge check NAME. Compare all: tidegauge compare.", width, Style.FAINT)


def _entry(subject: Subject, width: int) -> Iterator[Line]:
    yield Line(((subject.name, Style.HEADING),))
    yield from wrapped(subject.title, width, margin="  ")
    told = "; ".join(filter(None, (bounds_text(subject), rules_text(subject))))
    yield from wrapped(told, width, Style.FAINT, margin="  ")
    yield from _packed([_expected(subject, name) for name in subject.invariants], width)


def _expected(subject: Subject, name: str) -> list[Piece]:
    expected = subject.expect.get(name)
    if expected is None:
        return [plain(f"{name} "), faint("nothing expected")]
    text = "holds" if expected.steps is None else steps_text(expected.steps)
    verdict = Verdict.HOLDS if expected.steps is None else Verdict.VIOLATED
    return [plain(f"{name} "), (text, STYLE_OF[verdict])]


def _packed(items: Sequence[Sequence[Piece]], width: int) -> list[Line]:
    """As many items a line as fit."""
    lines: list[list[Piece]] = [[plain("  ")]]
    for item in items:
        is_first = len(lines[-1]) == 1
        taken = sum(len(text) for text, _ in lines[-1]) + sum(len(text) for text, _ in item) + 2
        if not is_first and taken > width:
            lines.append([plain("  ")])
            is_first = True
        lines[-1] += item if is_first else [faint(", "), *item]
    return [Line(tuple(pieces)) for pieces in lines]
