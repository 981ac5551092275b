"""What `shrink` says: what could be taken from a spec, what is left, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from checker.report.layout import labelled
from checker.report.story import BLANK, Line, Style, line, listed, steps_text, wrapped
from checker.report.subject import Subject, bounds_text


class Change(Protocol):
    """One rule or bound, before and after."""

    @property
    def name(self) -> str: ...

    @property
    def before(self) -> str | int: ...

    @property
    def after(self) -> str | int: ...


class Shrunk(Protocol):
    """A spec, and what is left of it."""

    @property
    def start(self) -> Subject: ...

    @property
    def spec(self) -> Subject: ...

    @property
    def violated(self) -> Mapping[str, int]: ...

    @property
    def restored(self) -> Sequence[Change]: ...

    @property
    def lowered(self) -> Sequence[Change]: ...

    @property
    def undecided(self) -> Sequence[Change]: ...

    @property
    def checked(self) -> int: ...


def shrink_report(found: Shrunk, text: str, width: int) -> tuple[Line, ...]:
    """`text` is the spec that is left, to be shown; empty if it went to a file."""
    return tuple(_lines(found, text, width))


def title_of(found: Shrunk) -> str:
    """The title of the spec that is left."""
    return f"{listed(list(found.violated))} violated with as little as possible, from {found.start.name}"


def _lines(found: Shrunk, text: str, width: int) -> Iterator[Line]:
    falls = listed([f"{name} falls in {steps_text(steps)}" for name, steps in found.violated.items()])
    yield from wrapped(f"{found.start.name}, shrunk: {falls}.", width, Style.HEADING)
    yield BLANK
    if found.restored or found.spec.features:
        yield from labelled("restored", _changes(found.restored) or "no rule", width)
    yield from labelled("lowered", _changes(found.lowered) or "no bound", width)
    left = [f"{name}={rule}" for name, rule in found.spec.features.items()]
    yield from labelled("left", "; ".join(filter(None, (listed(left), bounds_text(found.spec)))), width)
    yield BLANK
    yield from wrapped(_certainty(found), width, Style.DOUBT if found.undecided else Style.FAINT)
    if text:
        yield BLANK
        yield from map(line, text.rstrip("\n").split("\n"))


def _certainty(found: Shrunk) -> str:
    candidates = "1 candidate was" if found.checked == 1 else f"{found.checked} candidates were"
    checked = f"{candidates} checked, one change at a time"
    if not found.undecided:
        return f"{checked}. No single rule can be restored any more, and no single bound lowered; two at once might be."
    return f"{checked}; a limit left open whether these would have done: {_changes(found.undecided)}."


def _changes(changes: Sequence[Change]) -> str:
    return ", ".join(f"{change.name} {change.before} -> {change.after}" for change in changes)
