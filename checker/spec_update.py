"""What was found, written into the specs in place of what was expected; comments and layout stay as they are.

Only values are replaced, each in the file that says it: an expectation that comes from an extended spec is changed
there. Nothing is written until the whole of a new text has been read back and says exactly what it should.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from checker.judgement import About, Finding, Judged, Kind
from checker.outcome import Verdict
from checker.spec import HOLDS, VIOLATED
from checker.spec_file import COUNTS, EXPECT
from checker.toml_lines import KeyPath, value_spans
from model.errors import Place, SpecError

#: What can be accepted. Whatever is inconclusive, a witness that is not reached and an action that is never enabled
#: are no facts about the spec as it is meant.
ACCEPTED: Final = (Kind.VIOLATED, Kind.HOLDS, Kind.LENGTH, Kind.COUNTS)


@dataclass(frozen=True, slots=True)
class Edit:
    """`value` is what the key is to say, as Python reads it: `"holds"`, `{"violated": 9}` or a number; `old` is what it
    says now."""

    file: str
    path: KeyPath
    old: Any
    value: Any
    place: Place


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A spec's file with its old and its new text."""

    path: Path
    old: str
    new: str

    @property
    def difference(self) -> str:
        """As a unified diff."""
        old, new = (text.splitlines(keepends=True) for text in (self.old, self.new))
        told = difflib.unified_diff(old, new, fromfile=str(self.path), tofile=str(self.path))
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in told)


def rewritten(specs: Sequence[Judged]) -> list[Rewritten]:
    """The files that have to change so that the specs expect what was found. Raises `SpecError` where that cannot be
    done with care: the file has changed meanwhile, or two specs that share a line found different things."""
    edits = [edit for judged in specs for edit in _edits(judged)]
    files = list(dict.fromkeys(edit.file for edit in edits))
    return [_rewritten(file, [edit for edit in edits if edit.file == file]) for file in files]


def accepted(judged: Judged) -> Judged:
    """The same findings once the spec expects them."""
    return replace(judged, findings=tuple(map(_accepted, judged.findings)))


def _accepted(found: Finding) -> Finding:
    if found.kind not in ACCEPTED:
        return found
    return replace(found, kind=Kind.AS_WISHED, text=found.text.partition("; the spec expects")[0])


def _edits(judged: Judged) -> Iterator[Edit]:
    if judged.spec is None or judged.outcome is None:
        return
    by_name = {found.name: found for found in judged.outcome.invariants}
    for found in judged.findings:
        if found.kind not in ACCEPTED:
            continue
        if found.about is About.INVARIANT:
            steps = by_name[found.name].steps if by_name[found.name].verdict is Verdict.VIOLATED else None
            yield from _edit(judged, (EXPECT, found.name), HOLDS if steps is None else {VIOLATED: steps})
        else:
            yield from _edit(judged, (EXPECT, COUNTS, found.name), judged.counted[found.name])


def _edit(judged: Judged, path: KeyPath, value: Any) -> Iterator[Edit]:
    document = judged.spec.document if judged.spec else None
    place = document.lines.get(path) if document else None
    if document is None or place is None:
        return
    old: Any = document.data
    for key in path:
        old = old[key]
    yield Edit(os.path.realpath(place.file), path, old, value, place)


# Rewriting a file


def _rewritten(file: str, edits: Sequence[Edit]) -> Rewritten:
    shown = Path(edits[0].place.file)
    old = _text(Path(file), edits[0].place)
    data, spans = tomllib.loads(old), value_spans(old)
    changes: dict[tuple[int, int], str] = {}
    for edit in edits:
        if _value(data, edit.path) != edit.old:
            raise SpecError("this has changed while the spec was checked", where=edit.place, instead="Run it again")
        span, text = _change(edit, spans, old)
        if changes.setdefault(span, text) != text:
            what = f"two specs take {edit.path[-1]} from this line, and found different things"
            raise SpecError(what, where=edit.place, instead="Give one of them an expectation of its own")
    new = old
    for (start, end), text in sorted(changes.items(), reverse=True):
        new = f"{new[:start]}{text}{new[end:]}"
    _require_exact(data, edits, new)
    return Rewritten(shown, old, new)


def _text(path: Path, place: Place) -> str:
    try:
        return path.read_bytes().decode("utf-8")  # line ends as they are
    except (OSError, UnicodeDecodeError) as error:
        told = error.strerror if isinstance(error, OSError) else None
        raise SpecError(f"the spec cannot be read any more: {told or error}", where=place) from error


def _value(data: Any, path: KeyPath) -> Any:
    for key in path:
        data = data.get(key) if isinstance(data, dict) else None
    return data


def _change(edit: Edit, spans: dict[KeyPath, tuple[int, int]], text: str) -> tuple[tuple[int, int], str]:
    """The part of the text that holds the value, and what takes its place."""
    steps = (*edit.path, VIOLATED)
    if edit.path in spans:
        start, end = spans[edit.path]
        if steps in spans and isinstance(edit.value, dict):  # the number alone, in the layout that is there
            return spans[steps], str(edit.value[VIOLATED])
        return (start, end), _toml(edit.value, text[start:end])
    if steps in spans and isinstance(edit.value, dict):
        return spans[steps], str(edit.value[VIOLATED])
    what = f"{edit.path[-1]} is written in a way that cannot be rewritten"
    raise SpecError(what, where=edit.place, instead=f"Write {edit.path[-1]} = {_toml(edit.value, '')} by hand")


def _toml(value: Any, like: str) -> str:
    """A value as TOML; a number has underscores if the one before had some."""
    if isinstance(value, dict):
        return f"{{ {VIOLATED} = {value[VIOLATED]} }}"
    if isinstance(value, int):
        return f"{value:_}" if "_" in like else str(value)
    return f'"{value}"'


def _require_exact(data: dict[str, Any], edits: Sequence[Edit], new: str) -> None:
    """The new text, read back, differs from the old one in these values and in nothing else."""
    for edit in edits:
        table = data
        for key in edit.path[:-1]:
            table = table[str(key)]
        table[str(edit.path[-1])] = edit.value
    if tomllib.loads(new) != data:
        raise SpecError("this file cannot be rewritten with care", where=edits[0].place, instead="Change it by hand")
