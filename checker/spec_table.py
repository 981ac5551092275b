"""One table of a spec, read with suspicion: every question has the right type of answer, or an error with its line."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from checker.spec_file import Document
from checker.toml_lines import KeyPath
from model.errors import SpecError, nearest

LONGEST_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Table:
    """The table at `path` of a document; `path` is empty for the document as a whole."""

    document: Document
    path: KeyPath
    values: dict[str, Any]

    @property
    def title(self) -> str:
        return f"[{'.'.join(map(str, self.path))}]" if self.path else "a spec"

    def error(self, what: str, *key: str | int, why: str = "", instead: str = "") -> SpecError:
        """An error about a key (or, without one, about the table), with the line it stands on."""
        return SpecError(what, where=self.document.place(*self.path, *key), why=why, instead=instead)

    def want_only(self, known: Iterable[str]) -> None:
        """Refuse keys that mean nothing here."""
        names = list(known)
        for key in self.values:
            if key not in names:
                raise self.error(f"{self.title} has no key {shown(key)}", key, instead=nearest(key, names))

    def text(self, key: str, default: str | None = None, *, lines: bool = False) -> str:
        """A string of one line (of several, with `lines`). Without a default the key must be there, and not empty."""
        value = self.values.get(key, default)
        if value is None:
            raise self.error(f"{key} is missing", instead=f'Write {key} = "…" at the top of the file')
        if not isinstance(value, str):
            raise self.error(f"{key} is {shown(value)}", key, instead="Give a string")
        if default is None and not value.strip():
            raise self.error(f"{key} is empty", key)
        bad = next((character for character in value if _is_control(character, lines)), "")
        if bad:
            raise self.error(f"{key} has a control character, U+{ord(bad):04X}", key, instead="Take it out")
        return value

    def bound(self, key: str) -> int:
        """A whole number; whether it is possible is for others to say."""
        value = self.values[key]
        if type(value) is not int:
            raise self.error(f"the bound {key} is {shown(value)}", key, instead="Give a whole number")
        return value

    def folder(self, key: str) -> Path:
        """The folder of the spec that says this key: the spec itself, or one that it extends."""
        where = self.document.place(*self.path, key)
        return Path(where.file).parent if where else Path()

    def own_file(self, key: str, file: str) -> Path:
        """Where a file of the user's own is that the spec names with this key. Raises `SpecError` unless it is there,
        beside the spec or below its folder."""
        path = PurePosixPath(file)
        if path.is_absolute() or ".." in path.parts:
            raise self.error(
                f"{key} leads out of the spec's folder: {shown(file)}",
                key,
                why="A spec has code run only from its own folder and below",
                instead="Put the file beside the spec",
            )
        found = self.folder(key) / path
        if not found.is_file():
            raise self.error(f"there is no file {shown(file)} beside this spec", key)
        return found

    def names(self, key: str, known: Iterable[str], kind: str, default: list[str] | None = None) -> tuple[str, ...]:
        """A list of known names, none of them twice. Without a default the key must be there, and not empty."""
        values = self.values.get(key, default)
        if values is None:
            raise self.error(f"{key} is missing", instead=f'Write {key} = ["…"], with names of {kind}s')
        if not isinstance(values, list):
            raise self.error(f"{key} is {shown(values)}", key, instead='Write a list: ["…", "…"]')
        if default is None and not values:
            raise self.error(f"{key} is empty", key, why="Nothing would be checked", instead=nearest("", known))
        return tuple(self._name(key, index, list(known), kind) for index in range(len(values)))

    def _name(self, key: str, index: int, known: list[str], kind: str) -> str:
        values = self.values[key]
        name = values[index]
        if not isinstance(name, str):
            raise self.error(f"{key} contains {shown(name)}", key, index, instead=f"Give names of {kind}s")
        if name not in known:
            raise self.error(f"there is no {kind} {shown(name)}", key, index, instead=nearest(name, known))
        if name in values[:index]:
            raise self.error(f"{key} names {name} twice", key, index, instead="Take one of the two out")
        return name

    def table(self, key: str) -> Table | None:
        """A table inside this one; none if it is absent."""
        value = self.values.get(key)
        if value is not None and not isinstance(value, dict):
            raise self.error(f"{key} is {shown(value)}", key, instead=f"Make it a table: [{key}]")
        return None if value is None else Table(self.document, (*self.path, key), value)

    def count(self, key: str, least: int) -> int | None:
        """A whole number, at least `least`; none if it is absent."""
        value = self.values.get(key)
        if value is None or (type(value) is int and value >= least):
            return value
        raise self.error(f"{key} is {shown(value)}", key, instead=f"Give a whole number, at least {least}")


def shown(value: object) -> str:
    """A value of a spec as its author would write it, cut short if it is long."""
    match value:
        case bool():
            return "true" if value else "false"
        case dict():
            return "a table"
        case list():
            return "a list"
        case str():
            text = repr(value)
            return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"
        case _:
            return str(value)


def _is_control(character: str, lines: bool) -> bool:
    return unicodedata.category(character) == "Cc" and not (lines and character in "\n\t")
