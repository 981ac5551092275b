"""Mutants that no spec can catch, each with the reason: the file `specs/equivalent-mutants.toml`.

[[equivalent]]
action = "fetch_nothing"                 # or a list of actions that share the line
change = "requirement dropped"           # as `tidegauge mutate` words it
source = "require(~replica.truncating)"  # the line that is changed, whatever its number
function = "fetch_nothing"               # where lines of that text stand in several; left out, in any
part = 2                                 # which of several conditions on that line; left out, every one
why = "…"
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from checker.data import specs_folder
from checker.mutants import Change, Mutant
from checker.spec_file import load_document
from checker.spec_table import Table, shown
from model.errors import Place, UsageError, nearest

FILE: Final = "equivalent-mutants.toml"
ENTRY: Final = "equivalent"
_KEYS: Final = ("action", "change", "source", "function", "part", "why")
_CHANGES: Final = {change.value: change for change in Change}


@dataclass(frozen=True, slots=True)
class Equivalent:
    """Mutants that are written down as equivalent to the model. `part` is none for every condition on the line,
    `function` empty for a line wherever it stands."""

    actions: tuple[str, ...]
    change: Change
    source: str
    function: str
    part: int | None
    why: str
    place: Place | None

    def matches(self, mutant: Mutant) -> bool:
        return (
            mutant.action in self.actions
            and mutant.change is self.change
            and mutant.source == self.source
            and self.part in (None, mutant.part)
            and self.function in ("", mutant.function)
        )


def shipped_file() -> Path:
    """The file that comes with tidegauge."""
    return specs_folder() / FILE


def load_equivalents(path: Path) -> tuple[Equivalent, ...]:
    """Read a file of equivalent mutants. Raises `SpecError`, with file and line, for whatever is wrong in it, and
    `UsageError` if there is none."""
    if not path.exists():
        raise UsageError(f"there is no file {str(path)!r}", instead="Name a file of equivalent mutants")
    document = load_document(path)
    top = Table(document, (), dict(document.data))
    top.want_only([ENTRY])
    entries = top.values.get(ENTRY)
    if not isinstance(entries, list):
        raise top.error(f"{ENTRY} is {shown(entries)}", ENTRY, instead=f"Write [[{ENTRY}]]")
    return tuple(_entry(top, index) for index in range(len(entries)))


def _entry(top: Table, index: int) -> Equivalent:
    values = top.values[ENTRY][index]
    if not isinstance(values, dict):
        raise top.error(f"an entry is {shown(values)}", ENTRY, index, instead=f"Write [[{ENTRY}]]")
    table = Table(top.document, (ENTRY, index), values)
    table.want_only(_KEYS)
    change = table.text("change")
    if change not in _CHANGES:
        raise table.error(f"there is no change {shown(change)}", "change", instead=nearest(change, _CHANGES))
    return Equivalent(
        actions=_actions(table),
        change=_CHANGES[change],
        source=table.text("source"),
        function=table.text("function", ""),
        part=table.count("part", 1),
        why=" ".join(_text(table, "why").split()),
        place=top.document.place(ENTRY, index),
    )


def _actions(table: Table) -> tuple[str, ...]:
    if isinstance(table.values.get("action"), list):
        return tuple(_action(table, index) for index in range(len(table.values["action"])))
    return (table.text("action"),)


def _action(table: Table, index: int) -> str:
    name = table.values["action"][index]
    if not isinstance(name, str) or not name:
        raise table.error(f"an action is {shown(name)}", "action", index, instead="Give names of actions")
    return name


def _text(table: Table, key: str) -> str:
    """A text that must be there, of one line or several."""
    text = table.text(key, "", lines=True)
    return text if text.strip() else table.text(key)
