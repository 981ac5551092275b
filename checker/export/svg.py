"""A counterexample as one SVG picture for a slide or a paper: the lanes of every state, side by side and numbered.

Plain SVG 1.1 with presentation attributes only (no style sheet, no script), on white, so that every drawing program
and every typesetter shows the same. Widths of text are estimated: pictures have no fonts of their own. What lanes with
blocks have to say beside them (epoch caches, messages on their way) is left to the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from checker.export.frames import DrawnLane, Film, Frame, film
from checker.export.labels import printable
from checker.report.story import wrap
from checker.trace_file import StoredTrace
from model.language.drawing import Badge, CellText, Mark, Role

# Lengths are in pixels, sizes of text too.
EDGE = 20
CELL = 46
CELL_HEIGHT = 34
LANE_HEIGHT = 72  # with one line; each further one needs a row for its label
LABEL_HEIGHT = 12
LINE = 17
NAME_WIDTH = 84
LETTER = 0.56  # the width of a letter of average text, of its size
INK, FAINT, RULE, NEW, BAD, GOOD, ACCENT = "#1c2126", "#5a646e", "#d5d9dd", "#b34700", "#b3261e", "#17693c", "#0b5cad"
COLOURS = ("#cfe3f7", "#fbdcb4", "#cdebcb", "#f3cfe3", "#efe9a9", "#d9d2f3", "#bfe9e4", "#e2dbd3")
UNCOLOURED = "#f0f1f2"
BADGES = {Role.LEADER: ACCENT, Role.STALE: "#8a5a00", Role.MEMBER: GOOD, Role.DOWN: BAD, Role.NOTE: FAINT}
FONT = "system-ui, 'Liberation Sans', 'DejaVu Sans', Helvetica, Arial, sans-serif"


def svg(stored: StoredTrace) -> str:
    """The picture of a trace; the same text for the same trace, everywhere."""
    return svg_of(film(stored.trace, stored.spec.name))


def svg_of(shown: Film) -> str:
    """The picture of a film: its heading, its frames in up to three columns, and why it ends."""
    drawing = _Drawing(shown)
    body = "\n".join(drawing.elements())
    width, height = drawing.size
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" font-family="{FONT}">\n<title>{_text(shown.heading)}</title>\n'
        f"<desc>{_text(' '.join(frame.sentence for frame in shown.frames))}</desc>\n"
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>\n{body}\n</svg>\n'
    )


def columns_for(frames: int) -> int:
    """How many frames stand side by side: pictures should be about as wide as high."""
    return 1 if frames <= 2 else 2 if frames <= 8 else 3


@dataclass(frozen=True, slots=True)
class _Drawing:
    shown: Film

    @property
    def frame_width(self) -> int:
        badges = max((_badges_width(lane) for frame in self.shown.frames for lane in frame.lanes), default=0)
        return max(380, NAME_WIDTH + self.shown.width * CELL + 24 + badges + EDGE)

    @property
    def columns(self) -> int:
        return columns_for(len(self.shown.frames))

    @property
    def width(self) -> int:
        return 2 * EDGE + self.columns * self.frame_width + (self.columns - 1) * EDGE

    @property
    def size(self) -> tuple[int, int]:
        rows = sum(height + EDGE for height, _ in self._rows())
        return self.width, self._top + rows + len(self._last_lines()) * LINE + EDGE

    @property
    def _top(self) -> int:
        return EDGE + len(self._heading()) * 24 + EDGE // 2

    def _heading(self) -> list[str]:
        return _wrap(self.shown.heading, self.width - 2 * EDGE, 18)

    def elements(self) -> Iterator[str]:
        for position, text in enumerate(self._heading()):
            yield _label(EDGE, EDGE + 16 + position * 24, text, 18, weight="bold")
        top = self._top
        for height, row in self._rows():
            for position, frame in enumerate(row):
                left = EDGE + position * (self.frame_width + EDGE)
                yield from self._frame(frame, left, top, height)
            top += height + EDGE
        for position, (text, colour) in enumerate(self._last_lines()):
            yield _label(EDGE, top + 12 + position * LINE, text, 13, colour, "bold" if colour == BAD else "normal")

    def _rows(self) -> list[tuple[int, tuple[Frame, ...]]]:
        """Rows of frames, each with its height."""
        rows = (self.shown.frames[n : n + self.columns] for n in range(0, len(self.shown.frames), self.columns))
        return [(max(map(self._height, row)), row) for row in rows]

    # One frame

    def _height(self, frame: Frame) -> int:
        lanes = sum(self._lane_height(drawn) for drawn in frame.lanes)
        return 22 + len(self._sentence(frame)) * LINE + lanes

    def _lane_height(self, drawn: DrawnLane) -> int:
        if drawn.lane.cells is None:
            return 10 + LINE * len(self._told(drawn))
        return LANE_HEIGHT + _labels_height(drawn)

    def _sentence(self, frame: Frame) -> list[str]:
        return _wrap(frame.sentence, self.frame_width - 52, 13)

    def _told(self, drawn: DrawnLane) -> list[str]:
        """A lane without blocks, as text."""
        lane = drawn.lane
        parts = [badge.text for badge in lane.badges]
        if [fact.name for fact in lane.facts] == [lane.name]:
            parts += [fact.text for fact in lane.facts]
        else:
            parts += [f"{fact.name} {fact.text}" for fact in lane.facts]
        return _wrap(", ".join(parts), self.frame_width - NAME_WIDTH - 16, 12) or [""]

    def _frame(self, frame: Frame, left: int, top: int, height: int) -> Iterator[str]:
        yield (
            f'<rect x="{left}" y="{top}" width="{self.frame_width}" height="{height}" rx="6" fill="none" '
            f'stroke="{RULE}"/>'
        )
        yield _label(left + 12, top + 21, str(frame.number), 13, FAINT, "bold")
        for position, text in enumerate(self._sentence(frame)):
            yield _label(left + 40, top + 21 + position * LINE, text, 13)
        below = top + 16 + len(self._sentence(frame)) * LINE
        for drawn in frame.lanes:
            yield from self._lane(drawn, left, below)
            below += self._lane_height(drawn)

    def _lane(self, drawn: DrawnLane, left: int, top: int) -> Iterator[str]:
        if drawn.lane.cells is None:
            colour = NEW if drawn.is_changed else FAINT
            yield _label(left + 12, top + LINE, drawn.lane.name, 12, weight="bold")
            for position, text in enumerate(self._told(drawn)):
                yield _label(left + NAME_WIDTH, top + LINE + position * LINE, text, 12, colour)
            return
        track = top + _labels_height(drawn)
        opacity = ' opacity="0.5"' if drawn.lane.dimmed else ""
        yield f"<g{opacity}>"
        yield _label(left + 12, track + 42, drawn.lane.name, 14, weight="bold")
        yield from self._track(drawn, left + NAME_WIDTH, track)
        yield "</g>"
        yield from _badges(drawn, left + NAME_WIDTH + self.shown.width * CELL + 24, track + 27)

    def _track(self, drawn: DrawnLane, left: int, top: int) -> Iterator[str]:
        cells = drawn.lane.cells or ()
        right = left + self.shown.width * CELL
        yield f'<path d="M{left} {top + 20 + CELL_HEIGHT}H{right}" stroke="{RULE}"/>'
        for position, cell in enumerate(cells):
            yield from _cell(cell, left + position * CELL, top + 20, position in drawn.fresh_cells)
        for position, cell in enumerate(drawn.dropped, start=len(cells)):
            yield from _dropped(cell, left + position * CELL, top + 20)
        for position in range(self.shown.width):
            yield _label(left + position * CELL + CELL // 2, top + 64, str(position), 9, FAINT, anchor="middle")
        for row, mark in enumerate(drawn.lane.marks):
            label = top + 14 - _labels_height(drawn) + row * LABEL_HEIGHT
            yield from _mark(mark, left + mark.offset * CELL, (label, top + 57), row, row in drawn.moved_marks)

    # The end

    def _last_lines(self) -> list[tuple[str, str]]:
        """Why it ends, and what the signs mean."""
        lines = [(f"Why {self.shown.predicate} fails here", BAD)] if self.shown.reason else []
        for text in _reasons(self.shown):
            lines += [(line, INK) for line in _wrap(text, self.width - 2 * EDGE, 13)]
        return lines + [(line, FAINT) for line in _wrap(_legend(self.shown), self.width - 2 * EDGE, 13)]


def _legend(shown: Film) -> str:
    told = [f"{label}: {name}" for label, name in shown.marks if label != name]
    told += [f"{sign}: {meaning}" for sign, meaning in shown.signs]
    told += ["orange: new in this step"] if len(shown.frames) > 1 else []
    told += ["dashed and struck out: taken off in this step"] if shown.has_dropped else []
    return f"{'; '.join(told)}." if told else ""


def _reasons(shown: Film) -> Iterator[str]:
    reason = shown.reason
    if reason is None:
        return
    yield f"Promised: {shown.promise}"
    bindings = dict.fromkeys(f"{binding.name} = {binding.shown}" for binding in reason.bindings)
    if bindings:
        yield f"Not for {', '.join(bindings)}."
    if reason.comparison:
        yield f"Namely {reason.comparison}."
    yield ", ".join(f"{each.path} = {each.value}" for each in reason.readings)


# Blocks, lines, badges


def _cell(cell: CellText, x: int, y: int, is_fresh: bool) -> Iterator[str]:
    fill = COLOURS[cell.colour % len(COLOURS)] if cell.note else UNCOLOURED
    stroke, width = (NEW, 2.5) if is_fresh else ("#7c8791", 1)
    yield _box(x, y, f'fill="{fill}" stroke="{stroke}" stroke-width="{width}"')
    yield from _cell_text(cell, x, y, INK)
    if cell.mark:
        yield _label(x + CELL - 7, y + 28, cell.mark, 10, GOOD, "bold", anchor="end")


def _dropped(cell: CellText, x: int, y: int) -> Iterator[str]:
    yield _box(x, y, f'fill="none" stroke="{BAD}" stroke-width="1.5" stroke-dasharray="4 3"')
    yield from _cell_text(cell, x, y, BAD)
    yield f'<path d="M{x + 8} {y + CELL_HEIGHT - 5}L{x + CELL - 8} {y + 5}" stroke="{BAD}" stroke-width="1.5"/>'


def _box(x: int, y: int, look: str) -> str:
    return f'<rect x="{x + 2}" y="{y}" width="{CELL - 4}" height="{CELL_HEIGHT}" rx="4" {look}/>'


def _cell_text(cell: CellText, x: int, y: int, colour: str) -> Iterator[str]:
    middle = x + CELL // 2
    yield _label(middle, y + 15, cell.text, 13, colour, "bold", anchor="middle")
    yield _label(middle, y + 28, cell.note, 10, colour, anchor="middle")


def _mark(mark: Mark, x: int, span: tuple[int, int], row: int, is_moved: bool) -> Iterator[str]:
    """From its label down to below the blocks: the first line of a lane is solid, a further one dotted."""
    label, end = span
    colour = NEW if is_moved else FAINT if row else INK
    dots = ' stroke-dasharray="2 3"' if row else ""
    yield f'<path d="M{x} {label - 8}V{end}" stroke="{colour}" stroke-width="2.5"{dots}/>'
    yield _label(x + 5, label, f"{mark.label} {mark.offset}", 10, colour, "bold")


def _labels_height(drawn: DrawnLane) -> int:
    """The room for the labels of all lines but the first."""
    return LABEL_HEIGHT * max(0, len(drawn.lane.marks) - 1)


def _badges(drawn: DrawnLane, left: int, top: int) -> Iterator[str]:
    for badge in drawn.lane.badges:
        width = _badge_width(badge)
        yield _badge(badge, left, top, width, badge in drawn.fresh_badges)
        left += width + 6


def _badge(badge: Badge, x: int, y: int, width: int, is_fresh: bool) -> str:
    colour = BADGES[badge.role]
    is_filled = badge.role in (Role.LEADER, Role.DOWN)
    dashes = ' stroke-dasharray="3 2"' if badge.role is Role.STALE else ""
    frame = f'stroke="{NEW}" stroke-width="2.5"' if is_fresh else f'stroke="{colour}"{dashes}'
    box = (
        f'<rect x="{x}" y="{y}" width="{width}" height="20" rx="10" fill="{colour if is_filled else "none"}" {frame}/>'
    )
    ink = "#ffffff" if is_filled else colour
    return box + _label(x + width // 2, y + 14, badge.text, 11, ink, anchor="middle")


def _badge_width(badge: Badge) -> int:
    return round(len(badge.text) * 11 * LETTER) + 18


def _badges_width(drawn: DrawnLane) -> int:
    return 0 if drawn.lane.cells is None else sum(_badge_width(badge) + 6 for badge in drawn.lane.badges)


# Text


def _label(
    x: int, y: int, text: str, size: int, colour: str = INK, weight: str = "normal", anchor: str = "start"
) -> str:
    look = f'font-size="{size}" fill="{colour}"'
    look += "" if weight == "normal" else f' font-weight="{weight}"'
    look += "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text x="{x}" y="{y}" {look}>{_text(text)}</text>'


def _text(text: str) -> str:
    """Text as XML has it: escaped, and without the control characters that XML cannot hold."""
    return escape(printable(text).replace("\n", " "))


def _wrap(text: str, width: float, size: int) -> list[str]:
    return wrap(text, max(10, int(width / (size * LETTER))))
