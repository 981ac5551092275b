"""Lanes for a story in the terminal: a line for each replica that a step concerns, its log as blocks.

    A  [+m0 e0 ]|   ·     leader, epoch 0, ISR

Everything that a colour says is said by a character as well. The record that the violation is about stands in brackets
from its write to its loss.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from checker.export.frames import DrawnLane, Film, Frame, film
from checker.reason import Reason
from checker.report.layout import Piece, faint, plain
from checker.report.story import BLANK, Line, Style, listed, wrapped
from checker.trace import Trace
from checker.turning_point import TurningPoint
from model.language.drawing import Badge, CellText, Lane, Role

#: The signs of the lines across a lane, in the order in which lanes have them.
MARKS: Final = "|:!"
BLOCKS: Final = (Style.BLOCK_0, Style.BLOCK_1, Style.BLOCK_2, Style.BLOCK_3, Style.BLOCK_4, Style.BLOCK_5)
BADGES: Final = {
    Role.LEADER: Style.GOOD,
    Role.STALE: Style.DOUBT,
    Role.MEMBER: Style.PLAIN,
    Role.DOWN: Style.BAD,
    Role.NOTE: Style.FAINT,
}
NAMED: Final = 4  # of more records than that, the legend gives the number


def identity(cell: CellText) -> str:
    """What a record is known by, wherever it lies: `m0 e0`."""
    return " ".join(part for part in (cell.text, cell.note) if part)


class Lanes:
    """The lanes of a trace, as an aside of its story. `full` draws every lane at every step, else those that changed
    and the leader's; the last state has all."""

    def __init__(self, trace: Trace, width: int, full: bool = False) -> None:
        self._film = film(trace, "")
        self._followed = followed(self._film)
        self._full = full
        self._sizes = _sizes(self._film, width)

    def __call__(self, number: int, margin: str) -> Iterator[Line]:
        frame = self._film.frames[number]
        if number == 0:
            yield from self._legend()
        if number or len(self._film.frames) == 1:
            before = {drawn.lane.name: drawn.lane for drawn in self._film.frames[max(0, number - 1)].lanes}
            for drawn in self._chosen(frame, before):
                yield from _Row(drawn, before[drawn.lane.name], self._sizes, self._followed).lines(margin)

    def _chosen(self, frame: Frame, before: dict[str, Lane]) -> list[DrawnLane]:
        tracks = [drawn for drawn in frame.lanes if drawn.lane.cells is not None]
        if self._full or frame is self._film.frames[-1]:
            return tracks
        return [drawn for drawn in tracks if _leads(drawn) or _look(drawn.lane) != _look(before[drawn.lane.name])]

    def _legend(self) -> Iterator[Line]:
        """What the signs mean, as far as they occur."""
        drawn = [drawn for frame in self._film.frames for drawn in frame.lanes if drawn.lane.cells is not None]
        if not drawn:
            return
        signs = [f"{sign} {name}" for sign, (_, name) in zip(MARKS, self._film.marks, strict=False)]
        signs += ["+ new"] if any(each.fresh_cells for each in drawn) else []
        signs += ["- taken off"] if self._film.has_dropped else []
        signs += ["· nothing there"] if any(each.width < self._film.width for each in drawn) else []
        signs += [f"{sign} {meaning}" for sign, meaning in self._film.signs]
        names = sorted(self._followed)
        about = [f"[ ] {listed(names)}, which the violation is about"] if 0 < len(names) <= NAMED else []
        text = ", ".join((*signs, *about))
        yield from wrapped(f"Lanes: {text}." if text else "", self._sizes.width, Style.FAINT)
        yield BLANK


def _look(lane: Lane) -> tuple[object, ...]:
    """What of a lane is drawn here: not its facts, which stand among the changes below it."""
    return lane.cells, lane.marks, lane.badges, lane.dimmed


def _leads(drawn: DrawnLane) -> bool:
    return any(badge.role is Role.LEADER for badge in drawn.lane.badges)


# What the story is about


def followed(shown: Film) -> frozenset[str]:
    """The records that the failing part is about: those it names or reads, else those at the offset it names, in the
    lanes it names, when they were last there."""
    if shown.reason is None:
        return frozenset()
    named = {binding.shown for binding in shown.reason.bindings}
    named |= {reading.value for reading in shown.reason.readings if not reading.value.isdecimal()}
    found = {identity(cell) for frame in shown.frames for cell in _cells(frame.lanes) if cell.text in named}
    return frozenset(found) or _at_offset(shown, shown.reason)


def _at_offset(shown: Film, reason: Reason) -> frozenset[str]:
    offset = next((b.shown for b in reason.bindings if b.name == "offset" and b.shown.isdecimal()), None)
    if offset is None:
        return frozenset()
    names = {binding.shown for binding in reason.bindings}
    for frame in reversed(shown.frames):
        lanes = [drawn for drawn in frame.lanes if drawn.lane.name in names] or frame.lanes
        found = {identity(cell) for drawn in lanes for cell in _track(drawn)[int(offset) :][:1]}
        if found:
            return frozenset(found)
    return frozenset()


def _cells(lanes: Iterable[DrawnLane]) -> Iterator[CellText]:
    return (cell for drawn in lanes for cell in _track(drawn))


def _track(drawn: DrawnLane) -> tuple[CellText, ...]:
    return (*(drawn.lane.cells or ()), *drawn.dropped)


# Drawing


@dataclass(frozen=True, slots=True)
class _Sizes:
    """Columns of the screen, of a name and of a block's text; how many blocks a lane has room for, and how many signs
    stand between two."""

    width: int
    name: int
    block: int
    slots: int
    signs: int


def _sizes(shown: Film, width: int) -> _Sizes:
    lanes = [drawn for frame in shown.frames for drawn in frame.lanes if drawn.lane.cells is not None]
    ends = [mark.offset for drawn in lanes for mark in drawn.lane.marks]
    return _Sizes(
        width=width,
        name=max((len(drawn.lane.name) for drawn in lanes), default=0),
        block=max((len(_text(cell)) for cell in _cells(lanes)), default=0),
        slots=max([shown.width, *ends]),
        signs=min(len(MARKS), max((len(drawn.lane.marks) for drawn in lanes), default=0)),
    )


def _text(cell: CellText) -> str:
    return f"{identity(cell)}{cell.mark}"


@dataclass(frozen=True, slots=True)
class _Row:
    drawn: DrawnLane
    before: Lane
    sizes: _Sizes
    followed: frozenset[str]

    def lines(self, margin: str) -> Iterator[Line]:
        """The track, on several lines if it is too long for one, and what the badges say beside or below it."""
        indent = len(margin) + self.sizes.name + 2
        per_line = max(1, (self.sizes.width - indent) // (self.sizes.signs + self.sizes.block + 3))
        heads = [plain(margin), self._styled(f"{self.drawn.lane.name:{self.sizes.name}}  ", Style.PLAIN)]
        starts = range(0, self.sizes.slots, per_line) or range(1)
        for start in starts[:-1]:
            yield _line([*heads, *self._part(start, start + per_line)])
            heads = [plain(" " * indent)]
        yield from self._with_badges([*heads, *self._part(starts[-1], self.sizes.slots)], " " * indent)

    def _part(self, start: int, end: int) -> Iterator[Piece]:
        for position in range(start, end):
            yield from self._signs(position)
            yield from self._slot(position)
        if end == self.sizes.slots:
            yield from self._signs(end)

    def _signs(self, position: int) -> Iterator[Piece]:
        marks = self.drawn.lane.marks[: self.sizes.signs]
        for row, mark in enumerate(marks):
            style = Style.CHANGED if row in self.drawn.moved_marks else Style.PLAIN
            yield self._styled(MARKS[row], style) if mark.offset == position else plain(" ")
        yield plain(" " * (self.sizes.signs - len(marks)))

    def _slot(self, position: int) -> Iterator[Piece]:
        track, width = _track(self.drawn), self.sizes.block + 1
        if position >= len(track):
            yield faint(f" {'·':^{width}} ")
            return
        cell = track[position]
        is_gone = position >= len(self.drawn.lane.cells or ())
        sign = "-" if is_gone else "+" if self._is_new(position, cell) else " "
        style = Style.BAD if is_gone else BLOCKS[cell.colour % len(BLOCKS)] if cell.note else Style.PLAIN
        left, right = ("[", "]") if identity(cell) in self.followed else ("", "")
        frame = Style.FOLLOWED if left else Style.PLAIN
        yield left or " ", frame
        yield self._styled(f"{sign}{_text(cell):{width - 1}}", style)
        yield right or " ", frame

    def _is_new(self, position: int, cell: CellText) -> bool:
        """Whether the record was not there a step ago; one that has only got a mark was."""
        old = (self.before.cells or ())[position : position + 1]
        return position in self.drawn.fresh_cells and [identity(each) for each in old] != [identity(cell)]

    def _with_badges(self, track: list[Piece], below: str) -> Iterator[Line]:
        badges = list(self._badges())
        length = sum(len(text) for text, _ in (*track, *badges)) + 2
        if not badges or length <= self.sizes.width:
            yield _line([*track, *([plain("  ")] if badges else []), *badges])
            return
        yield _line(track)
        whole = "".join(text for text, _ in badges)
        if len(below + whole) <= self.sizes.width:
            yield Line((plain(below), *badges))
        else:
            yield from wrapped(whole, self.sizes.width, Style.FAINT, below)

    def _badges(self) -> Iterator[Piece]:
        for number, badge in enumerate(self.drawn.lane.badges):
            yield faint(", " if number else "")
            yield self._styled(badge.text, self._badge_style(badge))

    def _badge_style(self, badge: Badge) -> Style:
        is_news = badge in self.drawn.fresh_badges and badge.role in (Role.NOTE, Role.MEMBER)
        return Style.CHANGED if is_news else BADGES[badge.role]

    def _styled(self, text: str, style: Style) -> Piece:
        is_dim = self.drawn.lane.dimmed and style is not Style.BAD
        return text, Style.FAINT if is_dim else style


def _line(pieces: list[Piece]) -> Line:
    """The pieces without blanks at the end."""
    kept = [piece for piece in pieces if piece[0]]
    while kept and not kept[-1][0].strip():
        kept.pop()
    if kept:
        kept[-1] = (kept[-1][0].rstrip(), kept[-1][1])
    return Line(tuple(kept))


def turning_lines(turning: TurningPoint, trace: Trace, width: int) -> list[Line]:
    """Where the trace turns, and how that is known."""
    name = trace.predicate.name
    if not turning.is_computed:
        how = "the last that changed a value in the failing part"
        doubt = "Whether there was still a way out after it was not computed: there are too many continuations."
        text = f"Turning point: step {turning.step}, {how}. {doubt}"
    elif turning.step == len(trace.steps):
        text = f"Turning point: step {turning.step}, the last: until then {name} could still be kept."
    else:
        after = f"after it, every continuation within the bounds violates {name}"
        text = f"Turning point: step {turning.step}. Before it there was still a way out; {after}."
    return wrapped(text, width, Style.HEADING)
