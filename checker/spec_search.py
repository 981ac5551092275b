"""Which specs are meant by names, files and directories; and which of them are this machine's share."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeVar

from checker.data import SUFFIX, shipped_specs
from checker.files import readable
from checker.spec import Spec, load_spec
from model.errors import UsageError

T = TypeVar("T")

SLOW: Final = "slow/"

#: By a line like these a file is known that is meant to be a spec, even if it is broken.
_MEANT: Final = re.compile(
    rb"^\s*[\"']?(?:variant|protocol|extends|invariants|expect)[\"']?\s*=|^\s*\[expect[\].]", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A spec to be judged: what to load, and what it is called in reports. `name` is a shipped name, or the path
    without its suffix: it tells apart what two folders call the same."""

    name: str
    path: str | Path

    def load(self) -> Spec:
        """The spec, under this name. Raises what `load_spec` raises."""
        return replace(load_spec(self.path), name=self.name)


@dataclass(frozen=True, slots=True)
class Search:
    """`specs` are sorted by name; `skipped` are TOML files in a directory that are no specs."""

    specs: tuple[Candidate, ...]
    skipped: tuple[str, ...]


def find_specs(names: Sequence[str]) -> Search:
    """Every spec that the names stand for: shipped ones, files, and directories with all that is below them. Without
    names: all shipped specs except those in `slow/`, which repeat others at larger bounds.

    Raises `UsageError` if a directory holds no spec, or if two specs could not be told apart.
    """
    found: dict[str, Candidate] = {}
    skipped: list[str] = []
    for name in names or [name for name in shipped_specs() if not name.startswith(SLOW)]:
        shipped = _shipped(name)
        candidates, others = _below(Path(name)) if not shipped and _is_directory(name) else ([_named(name)], [])
        for candidate in candidates:
            found.setdefault(os.path.realpath(candidate.path), candidate)
        skipped += others
    specs = sorted(found.values(), key=lambda each: each.name)
    _refuse_alike(specs)
    return Search(tuple(specs), tuple(sorted(set(skipped))))


def _is_directory(name: str) -> bool:
    return bool(name) and "\0" not in name and Path(name).is_dir()


def _shipped(name: str) -> str | None:
    """The full name of the one shipped spec that is meant; it wins over a file or directory of that name."""
    names = [each for each in shipped_specs() if each == name or each.endswith(f"/{name}")]
    return names[0] if len(names) == 1 else None


def _named(name: str) -> Candidate:
    full = _shipped(name)
    if full is not None:
        return Candidate(full, shipped_specs()[full])
    return Candidate(called(Path(name)), name) if name.endswith(SUFFIX) else Candidate(name, name)


def called(path: Path) -> str:
    """The shipped name of a file, or its path from the working directory without the suffix."""
    for name, shipped in shipped_specs().items():
        if os.path.realpath(path) == os.path.realpath(shipped):
            return name
    relative = os.path.relpath(path.absolute(), Path.cwd())
    return readable("/".join(part for part in Path(relative).with_suffix("").parts if part not in ("..", "/")))


def _below(folder: Path) -> tuple[list[Candidate], list[str]]:
    files = sorted(_toml_files(folder))
    specs = [Candidate(called(path), path) for path in files if _is_meant(path)]
    if not specs:
        what = f"there is no spec in {str(folder)!r}"
        raise UsageError(what, instead=f"Name a directory with {SUFFIX} files that have a variant and invariants")
    return specs, [readable(path.as_posix()) for path in files if not _is_meant(path)]


def _toml_files(folder: Path) -> Iterator[Path]:
    """Hidden folders, such as environments and those of version control, are left alone."""
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "node_modules")
        yield from (Path(root) / name for name in files if name.endswith(SUFFIX) and not name.startswith("."))


def _is_meant(path: Path) -> bool:
    """What cannot be read may well be a spec: loading says what is wrong with it."""
    try:
        return _MEANT.search(path.read_bytes()) is not None
    except OSError:
        return True


def _refuse_alike(specs: Sequence[Candidate]) -> None:
    names = [each.name.replace("/", "-").casefold() for each in specs]
    for spec, name in zip(specs, names, strict=True):
        if names.count(name) > 1:
            alike = [str(each.path) for each, other in zip(specs, names, strict=True) if other == name]
            raise UsageError(
                f"{' and '.join(alike[:2])} are both called {spec.name!r}", why="Their results could not be told apart"
            )


def share(specs: Sequence[T], number: int, of: int) -> tuple[T, ...]:
    """Every `of`-th spec from the `number`-th (from 1) on: each is in exactly one share."""
    return tuple(specs[number - 1 :: of])
