"""How a state is drawn: lanes of cells with lines and badges, whatever colours and pixels they become later.

A protocol says what its states look like with `protocol(..., draws_state=function)`; the function gets a snapshot of
the state (`model.language.show.snapshot`) and returns lanes, always the same ones in the same order.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias


class Role(enum.Enum):
    """What a badge says of its lane; pictures give each role a look of its own."""

    LEADER = "leader"
    STALE = "stale"  # claims a part that it no longer has
    MEMBER = "member"
    DOWN = "down"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Badge:
    """One or two words on a lane."""

    text: str
    role: Role = Role.NOTE


@dataclass(frozen=True, slots=True)
class CellText:
    """One block of a lane: a name, a note below it that says in words what the colour says, and a mark, if there is
    something special about the block (`mark` is a sign, `meaning` says it in words).

    Blocks with the same `colour` (0, 1, …) look the same.
    """

    text: str
    colour: int = 0
    note: str = ""
    mark: str = ""
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """A line before the block at `offset`: what is to its left is flushed, committed, … `label` is its short name."""

    offset: int
    name: str
    label: str


@dataclass(frozen=True, slots=True)
class Fact:
    """Something to read beside the blocks."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Lane:
    """One participant. Without `cells` (none, not an empty tuple) it has no track and is a line of text."""

    name: str
    cells: tuple[CellText, ...] | None = None
    marks: tuple[Mark, ...] = ()
    badges: tuple[Badge, ...] = ()
    facts: tuple[Fact, ...] = ()
    dimmed: bool = False


#: Draws a snapshot of a state.
Drawer: TypeAlias = Callable[[Any], tuple[Lane, ...]]


def described(lane: Lane) -> str:
    """A lane in words, for those who cannot see it.

    >>> described(Lane("A", (CellText("m0", 0, "e0"),), (Mark(1, "high watermark", "HW"),), (Badge("leader"),)))
    'A, leader: offset 0 holds m0 e0; high watermark 1'
    """
    head = ", ".join((lane.name, *(badge.text for badge in lane.badges)))
    parts = [_cell(offset, cell) for offset, cell in enumerate(lane.cells or ())]
    if lane.cells == ():
        parts.append("empty")
    parts += [f"{mark.name} {mark.offset}" for mark in lane.marks]
    return f"{head}: {'; '.join(parts)}" if parts else head


def _cell(offset: int, cell: CellText) -> str:
    return f"offset {offset} holds {' '.join(part for part in (cell.text, cell.note, cell.meaning) if part)}"
