"""What `diff` says: in what two specs differ, and what one of them allows and the other forbids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

from checker.report.layout import Piece, faint, grid, plain
from checker.report.story import BLANK, Line, Style, line, listed, steps_text, wrapped
from checker.report.subject import Subject
from checker.trace import Trace
from model.errors import Place
from model.language.show import differences, sentence

DIFF: Final = "tidegauge/diff/1"
ABSENT: Final = "-"


class Row(Protocol):
    """One of the two, checked."""

    @property
    def spec(self) -> Subject: ...


class Obstacle(Protocol):
    """A condition that is required and false."""

    @property
    def text(self) -> str: ...

    @property
    def place(self) -> Place | None: ...


class Disagreement(Protocol):
    """A variable with two values."""

    @property
    def path(self) -> str: ...

    @property
    def allowed(self) -> str: ...

    @property
    def forbidding(self) -> str: ...


class Forbidden(Protocol):
    """A trace of one, the last step of which the other forbids."""

    @property
    def trace(self) -> Trace: ...

    @property
    def obstacles(self) -> Sequence[Obstacle]: ...

    @property
    def disagreements(self) -> Sequence[Disagreement]: ...


class OneWay(Protocol):
    """What one allows and the other forbids."""

    @property
    def found(self) -> Forbidden | None: ...

    @property
    def unmatched(self) -> int: ...

    @property
    def distinct(self) -> int: ...

    @property
    def stopped(self) -> str: ...


class Difference(Protocol):
    """Two specs compared."""

    @property
    def rows(self) -> Sequence[Row]: ...

    @property
    def settings(self) -> Mapping[str, Sequence[str | int | None]]: ...

    @property
    def actions(self) -> Sequence[Sequence[str]]: ...

    @property
    def verdicts(self) -> Mapping[str, Sequence[str | int | None]]: ...

    @property
    def ways(self) -> Sequence[OneWay]: ...

    @property
    def left_out(self) -> Sequence[str]: ...

    @property
    def incomparable(self) -> str: ...


def diff_report(found: Difference, width: int) -> tuple[Line, ...]:
    return tuple(_lines(found, width))


def _lines(found: Difference, width: int) -> Iterator[Line]:
    names = [row.spec.name for row in found.rows]
    yield from _table("Rules and bounds", found.settings, names)
    for which in (0, 1):
        if found.actions[which]:
            yield from wrapped(f"Only {names[which]} has the actions {listed(found.actions[which])}.", width)
            yield BLANK
    yield from _table("Verdicts", found.verdicts, names)
    if found.incomparable:
        yield from wrapped(f"Step by step they cannot be compared: {found.incomparable}.", width, Style.DOUBT)
        return
    if found.left_out:
        text = f"Not compared, as the two start differently there: {', '.join(found.left_out)}."
        yield from wrapped(text, width, Style.FAINT)
        yield BLANK
    yield from _way(found, names, 0, width)
    yield BLANK
    yield from _way(found, names, 1, width)


def _table(title: str, pairs: Mapping[str, Sequence[str | int | None]], names: Sequence[str]) -> Iterator[Line]:
    """What differs is marked."""
    if not pairs:
        yield line(f"{title}: the same.", Style.HEADING)
        yield BLANK
        return
    yield line(f"{title}:", Style.HEADING)
    rows: list[list[Piece]] = [[plain(""), faint(names[0]), faint(names[1])]]
    for name, pair in pairs.items():
        style = Style.CHANGED if len(set(pair)) > 1 else Style.PLAIN
        rows.append([plain(name), *((ABSENT if value is None else str(value), style) for value in pair)])
    yield from grid(rows)
    yield BLANK


def _way(found: Difference, names: Sequence[str], which: int, width: int) -> Iterator[Line]:
    way, able, unable = found.ways[which], names[which], names[1 - which]
    if way.unmatched:
        states = "1 initial state" if way.unmatched == 1 else f"{way.unmatched} initial states"
        yield from wrapped(f"{able} has {states} that {unable} has not.", width, Style.HEADING)
    if way.found is None:
        seen = f"{way.distinct:,} {'pair of states' if way.distinct == 1 else 'pairs of states'}"
        if way.stopped:
            text = f"No trace of {able} that {unable} forbids was found in {seen}, and that was not all: {way.stopped}."
            yield from wrapped(text, width, Style.DOUBT)
        else:
            yield from wrapped(f"Whatever {able} does, {unable} can do ({seen}: complete).", width, Style.GOOD)
        return
    trace = way.found.trace
    count = steps_text(len(trace.steps))
    yield from wrapped(f"{able} allows this and {unable} forbids it, in {count}, the fewest:", width, Style.HEADING)
    yield BLANK
    yield from _story(trace, width)
    yield from _why(way.found, able, unable, width)


def _story(trace: Trace, width: int) -> Iterator[Line]:
    """A sentence for each step, and what the last one changes."""
    digits = max(2, len(str(len(trace.steps))))
    for number, text in enumerate(trace.sentences(), start=1):
        margin = " " * (digits + 2)
        head, *rest = wrapped(text, width, margin=margin)
        yield Line(((f"{number:{digits}}  ", Style.FAINT), (head.text.strip(), Style.PLAIN)))
        yield from rest
    if len(trace.states) > 1:
        changes = differences(trace.protocol, trace.states[-2], trace.states[-1])
        yield from grid([[faint(c.path), plain(f"{c.before} -> {c.after}")] for c in changes], margin="      ")
    yield BLANK


def _why(found: Forbidden, able: str, unable: str, width: int) -> Iterator[Line]:
    if found.disagreements:
        yield from wrapped(f"{unable} takes the last step as well, with another effect:", width)
        rows: list[list[Piece]] = [[plain(""), faint(able), faint(unable)]]
        yield from grid([*rows, *([plain(d.path), plain(d.allowed), plain(d.forbidding)] for d in found.disagreements)])
    elif found.obstacles:
        yield from wrapped(f"{unable} requires of the last step what is not true there:", width)
        for obstacle in found.obstacles:
            yield from wrapped(obstacle.text, width, margin="  ")
            if obstacle.place is not None:
                yield from wrapped(obstacle.place.portable, width, Style.FAINT, margin="    ")
    else:
        yield from wrapped(f"{unable} has no such step at all.", width)


def diff_document(found: Difference) -> dict[str, Any]:
    """The same for programs."""
    return {
        "schema": DIFF,
        "specs": [
            {"spec": row.spec.name, **row.spec.model_document(), "bounds": row.spec.all_bounds()} for row in found.rows
        ],
        "settings": {name: list(pair) for name, pair in found.settings.items()},
        "actions": [list(names) for names in found.actions],
        "verdicts": {name: list(pair) for name, pair in found.verdicts.items()},
        "left_out": list(found.left_out),
        "incomparable": found.incomparable,
        "ways": [_way_document(way) for way in found.ways],
    }


def _way_document(way: OneWay) -> dict[str, Any]:
    return {
        "unmatched_initial_states": way.unmatched,
        "pairs": way.distinct,
        "stopped": way.stopped,
        "trace": None if way.found is None else _trace_document(way.found),
    }


def _trace_document(found: Forbidden) -> dict[str, Any]:
    trace = found.trace
    states = zip(trace.steps, trace.states, trace.states[1:], strict=False)
    return {
        "steps": [
            {
                "action": step.action,
                "parameters": trace.protocol.arguments(step),
                "sentence": sentence(trace.protocol, step, before, after),
            }
            for step, before, after in states
        ],
        "obstacles": [
            {"requires": each.text, "place": each.place.portable if each.place else None} for each in found.obstacles
        ],
        "disagreements": [
            {"path": each.path, "allowed": each.allowed, "forbidding": each.forbidding} for each in found.disagreements
        ],
    }
