"""A trace as frames: the lanes of each state, and what is new in them. Pictures differ only in how they draw frames."""

from __future__ import annotations

from dataclasses import dataclass

from checker.reason import Reason
from checker.report.story import heading
from checker.trace import Trace
from model.language.drawing import Badge, CellText, Fact, Lane
from model.language.evaluate import step_text
from model.language.show import Change, differences, drawn

START = "Initially."


@dataclass(frozen=True, slots=True)
class DrawnLane:
    """A lane, and how it differs from itself one step earlier.

    `fresh_cells` and `moved_marks` are positions; `dropped` are the blocks that the step took from the end.
    """

    lane: Lane
    fresh_cells: tuple[int, ...] = ()
    dropped: tuple[CellText, ...] = ()
    moved_marks: tuple[int, ...] = ()
    fresh_badges: tuple[Badge, ...] = ()
    fresh_facts: tuple[Fact, ...] = ()

    @property
    def width(self) -> int:
        """How many blocks it is wide."""
        return len(self.lane.cells or ()) + len(self.dropped)

    @property
    def is_changed(self) -> bool:
        news = (self.fresh_cells, self.dropped, self.moved_marks, self.fresh_badges, self.fresh_facts)
        return any(news)


@dataclass(frozen=True, slots=True)
class Frame:
    """The state after step `number` (0: the initial state). `step` is the step as the protocol names it."""

    number: int
    step: str
    sentence: str
    lanes: tuple[DrawnLane, ...]
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Film:
    """All frames of a trace. `heading` says what happens in it, `reason` why it ends (none for a witness)."""

    heading: str
    about: str
    frames: tuple[Frame, ...]
    predicate: str
    promise: str
    reason: Reason | None

    @property
    def width(self) -> int:
        """Blocks in the longest lane of all."""
        return max((drawn.width for frame in self.frames for drawn in frame.lanes), default=0)

    @property
    def legend(self) -> tuple[tuple[int, str], ...]:
        """Each colour that occurs, with the note of its blocks."""
        cells = (cell for frame in self.frames for drawn in frame.lanes for cell in drawn.lane.cells or ())
        return tuple(sorted({cell.colour: cell.note for cell in cells if cell.note}.items()))

    @property
    def signs(self) -> tuple[tuple[str, str], ...]:
        """Each sign that blocks carry, with its meaning."""
        cells = (cell for frame in self.frames for drawn in frame.lanes for cell in drawn.lane.cells or ())
        return tuple({cell.mark: cell.meaning for cell in cells if cell.mark}.items())

    @property
    def has_dropped(self) -> bool:
        """Whether a step takes blocks from a lane."""
        return any(drawn.dropped for frame in self.frames for drawn in frame.lanes)

    @property
    def marks(self) -> tuple[tuple[str, str], ...]:
        """The label and the name of each kind of line that occurs."""
        marks = (mark for frame in self.frames for drawn in frame.lanes for mark in drawn.lane.marks)
        return tuple({mark.label: mark.name for mark in marks}.items())


def film(trace: Trace, about: str) -> Film:
    """The frames of a trace of the spec called `about`."""
    return Film(
        heading=heading([trace], about),
        about=about,
        frames=(
            _first(trace),
            *(_later(trace, number, said) for number, said in enumerate(trace.sentences(), start=1)),
        ),
        predicate=trace.predicate.name,
        promise=trace.predicate.summary,
        reason=trace.reason() if trace.is_counterexample else None,
    )


def _first(trace: Trace) -> Frame:
    lanes = tuple(DrawnLane(lane) for lane in drawn(trace.protocol, trace.states[0]))
    return Frame(0, "", START, lanes, ())


def _later(trace: Trace, number: int, sentence: str) -> Frame:
    before, after = trace.states[number - 1], trace.states[number]
    old = {lane.name: lane for lane in drawn(trace.protocol, before)}
    lanes = tuple(compared(old.get(lane.name, lane), lane) for lane in drawn(trace.protocol, after))
    step = step_text(trace.protocol, trace.steps[number - 1])
    return Frame(number, step, sentence, lanes, differences(trace.protocol, before, after))


def compared(before: Lane, after: Lane) -> DrawnLane:
    """A lane with what is new in it."""
    old, new = before.cells or (), after.cells or ()
    marks = {mark.name: mark for mark in before.marks}
    return DrawnLane(
        after,
        fresh_cells=tuple(position for position, cell in enumerate(new) if old[position : position + 1] != (cell,)),
        dropped=old[len(new) :],
        moved_marks=tuple(position for position, mark in enumerate(after.marks) if marks.get(mark.name) != mark),
        fresh_badges=tuple(badge for badge in after.badges if badge not in before.badges),
        fresh_facts=tuple(fact for fact in after.facts if fact not in before.facts),
    )
