"""What every report of the gate says of a finding: where it stands, how it is called, how grave it is.

Paths are those of the user's repository (the work tree around the working directory, else the working directory), so
that the same findings give the same bytes wherever the repository lies.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from checker.files import readable
from checker.judgement import About, Finding, Gate, Judged, Kind
from checker.report.layout import seconds_text
from checker.report.story import listed
from model.errors import Place


@dataclass(frozen=True, slots=True)
class Repository:
    """The folder that paths in reports are relative to."""

    root: str

    @classmethod
    def around(cls, folder: Path) -> Repository:
        """The work tree that a folder belongs to, or the folder itself."""
        here = Path(os.path.realpath(folder))
        return cls(str(next((each for each in (here, *here.parents) if (each / ".git").exists()), here)))

    def path(self, file: str) -> str | None:
        """The path of a file from the root; none if it is not below it."""
        real = os.path.realpath(file)
        inside = os.path.commonpath([self.root, real]) == self.root
        return readable(Path(os.path.relpath(real, self.root)).as_posix()) if inside and real != self.root else None


def place_in_spec(judged: Judged, found: Finding) -> Place:
    """The line that a finding is about; at least the spec's file."""
    return found.place or Place(judged.file, 0)


def shown_place(place: Place, repository: Repository) -> str:
    """`specs/mine.toml:12`, as short as it can be."""
    path = repository.path(place.file)
    return readable(str(place if path is None else Place(path, place.line)))


def title(judged: Judged, found: Finding) -> str:
    """`published/kip-279: WeakIsr unexpectedly violated`."""
    if found.about is About.SPEC:
        return f"{judged.name}: {found.kind.value}"
    return f"{judged.name}: {found.name} {found.kind.value}"


def status(judged: Judged) -> str:
    """`as wished`, `not as wished`, `inconclusive`, `error`: the gravest of its findings."""
    if judged.code:
        return Kind.ERROR.value
    return {0: Kind.AS_WISHED.value, 1: "not as wished", 3: Kind.INCONCLUSIVE.value}[judged.exit_code]


STATUSES = (Kind.AS_WISHED.value, "not as wished", Kind.INCONCLUSIVE.value, Kind.ERROR.value)


def time_text(judged: Judged) -> str:
    """`1.20 s`, `cached`; empty if there was nothing to check."""
    return "cached" if judged.cached else seconds_text(judged.seconds) if judged.seconds else ""


def totals(gate: Gate) -> str:
    """`50 specs: 48 as wished, 1 not as wished and 1 inconclusive. 46 cached.`"""
    if not gate.specs:
        return "No spec was to be judged."
    found = [status(judged) for judged in gate.specs]
    told = listed([f"{found.count(each)} {_plural(each, found.count(each))}" for each in STATUSES if each in found])
    cached = sum(judged.cached for judged in gate.specs)
    specs = f"{len(found)} {'spec' if len(found) == 1 else 'specs'}"
    return f"{specs}: {told}.{f' {cached} cached.' if cached else ''}"


def _plural(word: str, count: int) -> str:
    return "errors" if word == Kind.ERROR.value and count != 1 else word
