"""A counterexample as one HTML file: no network, no dependency, a few kilobytes a step.

The file holds the steps as a plain list, which is readable without scripts, and the frames as JSON, from which
`page.js` draws. Everything that comes from a spec or a protocol goes in as text.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Iterable
from importlib.resources import files
from typing import Any, Final

from checker.export.frames import DrawnLane, Film, Frame, film
from checker.export.labels import printable
from checker.reason import Reason
from checker.report.subject import within
from checker.spec import Spec
from checker.trace_file import StoredTrace
from model.language.drawing import CellText, described


def page(stored: StoredTrace) -> str:
    """The page of a trace; the same text for the same trace, everywhere."""
    return page_of(film(stored.trace, stored.spec.name), intro(stored.spec, stored.warning))


def intro(spec: Spec, warning: str) -> tuple[str, ...]:
    """What a reader should know before the first step: the spec's title, its bounds, whether the model is today's."""
    bounds = f"Bounds: {within(spec)}." if within(spec) else ""
    return tuple(text for text in (spec.title, bounds, warning) if text)


def page_of(shown: Film, paragraphs: Iterable[str] = ()) -> str:
    """The page of a film, with some paragraphs below its heading."""
    script = _part("page.js")
    return _filled(
        _part("page.html"),
        title=escape(f"{shown.predicate} in {shown.about}"),
        heading=breakable(shown.heading),
        intro="".join(f"<p>{escape(text)}</p>\n" for text in paragraphs),
        style=_part("page.css"),
        steps=str(len(shown.frames) - 1),
        legend=_legend(shown),
        reason=_reason(shown, shown.reason) if shown.reason else "",
        timeline="".join(map(_timeline, shown.frames)),
        data=embedded(_data(shown)),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        script=script,
    )


def _part(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _filled(template: str, **parts: str) -> str:
    """The template with its holes filled; what fills a hole is not searched for holes again."""
    return re.sub(r"{{(\w+)}}", lambda hole: parts[hole[1]], template)


def escape(text: str) -> str:
    """Text that is no markup, with nothing in it that cannot be seen."""
    return html.escape(printable(text))


def breakable(text: str) -> str:
    """Text that may be broken before each word of a long name."""
    return "<wbr>".join(map(escape, re.split(r"(?<=[a-z])(?=[A-Z])", text)))


def embedded(data: Any) -> str:
    """JSON that can stand inside a script element: nothing in it can end or open one."""
    text = json.dumps(_visible(data), ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _visible(data: Any) -> Any:
    """The data with every text `printable`."""
    match data:
        case str():
            return printable(data)
        case dict():
            return {key: _visible(value) for key, value in data.items()}
        case list() | tuple():
            return [_visible(value) for value in data]
        case _:
            return data


# What is readable without scripts


def _timeline(frame: Frame) -> str:
    number = f'<span class="number">{frame.number}</span>'
    return f'<li><a href="#{frame.number}">{number}<span>{escape(frame.sentence)}</span></a></li>\n'


def _legend(shown: Film) -> str:
    colours = (f'<li><span class="cell c{colour % 8}"></span>{escape(note)}</li>' for colour, note in shown.legend)
    marks = map(_legend_mark, range(len(shown.marks)), shown.marks)
    signs = (f'<li><span class="sign">{escape(sign)}</span>{escape(meaning)}</li>' for sign, meaning in shown.signs)
    steps = [_NEW] if len(shown.frames) > 1 else []
    steps += [_DROPPED] if shown.has_dropped else []
    items = "".join((*colours, *marks, *signs, *steps))
    return f'<ul class="legend" aria-label="Legend">{items}</ul>\n' if items else ""


_NEW: Final = '<li><span class="cell fresh"></span>new in this step</li>'
_DROPPED: Final = '<li><span class="cell dropped"></span>taken off in this step</li>'


def _legend_mark(row: int, mark: tuple[str, str]) -> str:
    label, name = mark
    text = name if label == name else f"{label}: {name}"
    return f'<li><span class="line{" other" if row else ""}"></span>{escape(text)}</li>'


def _reason(shown: Film, reason: Reason) -> str:
    bindings = dict.fromkeys(f"{binding.name} = {binding.shown}" for binding in reason.bindings)
    rows = [
        ("promised", escape(shown.promise)),
        ("not for", escape(", ".join(bindings))),
        ("failing", f"<code>{escape(reason.condition)}</code>" if reason.condition else ""),
        ("namely", f"<code>{escape(reason.comparison)}</code>" if reason.comparison else ""),
        *((f"<code>{escape(each.path)}</code>", f"<code>{escape(each.value)}</code>") for each in reason.readings),
    ]
    listed = "".join(f"<dt>{name}</dt><dd>{text}</dd>\n" for name, text in rows if text)
    title = f"Why {escape(shown.predicate)} fails here"
    return f'<section id="reason" aria-labelledby="why">\n<h2 id="why">{title}</h2>\n<dl>\n{listed}</dl>\n</section>\n'


# What the script draws from


def _data(shown: Film) -> dict[str, Any]:
    return {"width": shown.width, "frames": [_frame(frame) for frame in shown.frames]}


def _frame(frame: Frame) -> dict[str, Any]:
    return {
        "step": frame.step,
        "sentence": frame.sentence,
        "lanes": [_lane(drawn) for drawn in frame.lanes],
        "changes": [[change.path, change.before, change.after] for change in frame.changes],
    }


def _lane(drawn: DrawnLane) -> dict[str, Any]:
    lane = drawn.lane
    return {
        "name": lane.name,
        "says": described(lane),
        "dimmed": lane.dimmed,
        "changed": drawn.is_changed,
        "badges": [[badge.text, badge.role.value, badge in drawn.fresh_badges] for badge in lane.badges],
        "facts": [[fact.name, fact.text, fact in drawn.fresh_facts] for fact in lane.facts],
        "cells": None if lane.cells is None else _cells(lane.cells, drawn),
        "marks": [
            [mark.offset, mark.name, mark.label, position in drawn.moved_marks]
            for position, mark in enumerate(lane.marks)
        ],
    }


def _cells(cells: tuple[CellText, ...], drawn: DrawnLane) -> list[list[Any]]:
    kept = [_cell(cell, "fresh" if n in drawn.fresh_cells else "") for n, cell in enumerate(cells)]
    return kept + [_cell(cell, "dropped") for cell in drawn.dropped]


def _cell(cell: CellText, state: str) -> list[Any]:
    return [cell.text, cell.note, cell.colour, cell.mark, cell.meaning, state]
