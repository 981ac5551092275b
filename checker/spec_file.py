"""Spec files as text: found by name or path, read, and laid over the specs they extend. What the keys mean is said in
`spec`; here they are only TOML.
"""

from __future__ import annotations

import codecs
import difflib
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NoReturn

from checker.data import SUFFIX, shipped_specs
from checker.toml_lines import KeyPath, key_lines
from model.errors import Place, SpecError, UsageError

EXTENDS: Final = "extends"
EXPECT: Final = "expect"
COUNTS: Final = "counts"
INVARIANTS: Final = "invariants"

#: What expectations are facts about. A spec that changes any of these does not inherit them.
MEASURED: Final = ("variant", "protocol", "features", "bounds", "own_invariants")

LARGEST_FILE: Final = 64 * 1024  # bytes; the shipped specs have about a thousand
LARGEST_INTEGER: Final = 2**63 - 1  # what TOML promises to keep

_AT: Final = re.compile(
    r"(?P<message>.*) \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)", re.DOTALL
)
_OTHER_ENCODINGS: Final = {codecs.BOM_UTF16_LE: "UTF-16", codecs.BOM_UTF16_BE: "UTF-16"}


@dataclass(frozen=True, slots=True)
class Document:
    """What a spec says, the specs it extends included. `files` are all that were read, the spec's own first;
    `lines` say in which of them, and on which line, a key or list element stands. `base` names the spec it extends."""

    name: str
    data: Mapping[str, Any] = field(default_factory=dict)
    lines: Mapping[KeyPath, Place] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    base: str = ""

    def place(self, *path: str | int) -> Place | None:
        """The line of a key, or of the nearest table around it that stands in a file."""
        while path:
            if path in self.lines:
                return self.lines[path]
            path = path[:-1]
        return Place(str(self.files[0]), 0) if self.files else None


def load_document(spec: str | Path) -> Document:
    """Read the spec and what it extends. Raises `SpecError` for files that are no TOML, `UsageError` for a name that
    nothing has."""
    name, path = _find(spec)
    chain = _chain(path)
    whole = chain[-1]
    for layer in reversed(chain[:-1]):
        whole = _laid_over(whole, layer)
    base = _name_of(chain[1].path) if len(chain) > 1 else ""
    return Document(name, whole.data, whole.lines, tuple(layer.path for layer in chain), base)


# Finding


def _find(spec: str | Path) -> tuple[str, Path]:
    """A shipped name wins over a file of that name; files are usually called `something.toml`."""
    if not str(spec) or "\0" in str(spec):
        what = f"{str(spec)!r} cannot be the name of a spec"
        raise UsageError(what, instead="Give a shipped name or the path of a TOML file")
    name = _shipped_name(spec) if isinstance(spec, str) else None
    if name is not None:
        return name, _relative(shipped_specs()[name])
    path = Path(spec)
    if _is_missing(path):
        raise UsageError(f"there is no shipped spec and no file {str(spec)!r}", instead=_nearest_spec(str(spec)))
    return _name_of(path), path


def _shipped_name(given: str) -> str | None:
    """The full name that `kip-320` or `published/kip-320` stands for; none if nothing is called so."""
    shipped = shipped_specs()
    if given in shipped:
        return given
    found = [name for name in shipped if name.endswith(f"/{given}")]
    if len(found) > 1:
        raise UsageError(f"{given!r} may be {' or '.join(found)}", instead="Write the name in full")
    return found[0] if found else None


def _nearest_spec(given: str) -> str:
    """The full name of the shipped spec whose short name is most like what was given."""
    shipped = shipped_specs()
    short = {name.rpartition("/")[2]: name for name in shipped}
    close = difflib.get_close_matches(given.removesuffix(SUFFIX).rpartition("/")[2], short, n=1)
    return f"Did you mean {short[close[0]]!r}?" if close else f"Shipped: {', '.join(shipped)}"


def _is_missing(path: Path) -> bool:
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        pass  # something else is wrong with it: reading says what
    return False


def _name_of(path: Path) -> str:
    """The shipped name if the path leads to a shipped spec, else the file's name without its suffix."""
    for name, shipped in shipped_specs().items():
        if os.path.realpath(path) == os.path.realpath(shipped):
            return name
    return path.stem if path.stem.strip(".") else path.name


def _relative(path: Path) -> Path:
    """Shorter for readers when it lies below the working directory."""
    try:
        return path.relative_to(Path.cwd())
    except (OSError, ValueError):
        return path


# Reading


@dataclass(frozen=True, slots=True)
class _Layer:
    """One file, or several laid over one another (`path` is then the uppermost)."""

    path: Path
    data: dict[str, Any]
    lines: dict[KeyPath, Place]


def _layer(path: Path) -> _Layer:
    text = _text(path)
    try:
        data = tomllib.loads(text)
        lines = key_lines(text)
    except tomllib.TOMLDecodeError as error:
        _refuse_syntax(path, text, str(error))
    except RecursionError:
        raise SpecError("its values are nested far too deep for a spec", where=_file(path)) from None
    except ValueError:  # an integer of more digits than Python converts
        raise SpecError("it holds a number that is far too long", where=_file(path)) from None
    layer = _Layer(path, data, {key: Place(str(path), line) for key, line in lines.items()})
    _refuse_long_integers(layer)
    if not data:
        what = "the file says nothing" if text.strip() else "the file is empty"
        raise SpecError(what, where=_file(path), instead="A spec has a variant and invariants")
    return layer


def _text(path: Path) -> str:
    content = _bytes(path)
    for mark, encoding in _OTHER_ENCODINGS.items():
        if content.startswith(mark):
            raise SpecError(f"the file is {encoding}", where=_file(path), instead="Save it as UTF-8")
    if content.startswith(codecs.BOM_UTF8):
        raise SpecError(
            "the file starts with a byte order mark", where=Place(str(path), 1), instead="Save it as UTF-8 without one"
        )
    if b"\0" in content:
        raise SpecError("there is a NUL byte here: this is no text", where=_line_of(path, content, content.find(0)))
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        what = f"the byte 0x{content[error.start]:02x} here is not UTF-8"
        raise SpecError(what, where=_line_of(path, content, error.start), instead="Save the file as UTF-8") from error


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except IsADirectoryError:
        raise SpecError("this is a directory", where=_file(path), instead="Name one of the specs in it") from None
    except OSError as error:
        raise SpecError(f"the spec {str(path)!r} cannot be read: {error.strerror or error}") from error
    if len(content) > LARGEST_FILE:
        raise SpecError(f"the file has more than {LARGEST_FILE // 1024} KiB: that is no spec", where=_file(path))
    return content


def _file(path: Path) -> Place:
    return Place(str(path), 0)


def _line_of(path: Path, content: bytes, at: int) -> Place:
    return Place(str(path), content.count(b"\n", 0, at) + 1)


def _refuse_syntax(path: Path, text: str, told: str) -> NoReturn:
    """In the parser's own words, but with the line where lines belong."""
    found = _AT.fullmatch(told)
    message = found["message"] if found else told
    if found and found["line"]:
        line, column = int(found["line"]), f" in column {found['column']}"
    else:
        line, column = text.rstrip().count("\n") + 1, " at the end of the file"
    raise SpecError(f"this is not TOML: {message[:1].lower()}{message[1:]}{column}", where=Place(str(path), line))


def _refuse_long_integers(layer: _Layer) -> None:
    for path, value in _values(layer.data, ()):
        if isinstance(value, int) and abs(value) > LARGEST_INTEGER:
            where = layer.lines.get(path, _file(layer.path))
            raise SpecError(f"{path[-1]} is a number of more than 64 bits", where=where)


def _values(value: object, path: KeyPath) -> Iterator[tuple[KeyPath, object]]:
    """Every value that is neither a table nor a list, with its keys."""
    match value:
        case dict():
            for key, part in value.items():
                yield from _values(part, (*path, key))
        case list():
            for index, part in enumerate(value):
                yield from _values(part, (*path, index))
        case _:
            yield path, value


# Extending


def _chain(path: Path) -> list[_Layer]:
    """The spec, the one it extends, the one that that extends, and so on."""
    chain = [_layer(path)]
    while EXTENDS in chain[-1].data:
        where = chain[-1].lines.get((EXTENDS,), _file(chain[-1].path))
        base = _base(chain[-1], where)
        _refuse_cycle([*(layer.path for layer in chain), base], where)
        chain.append(_layer(base))
    return chain


def _base(layer: _Layer, where: Place) -> Path:
    """The file that `extends` names: a path, relative to the file that says so, if it ends in `.toml`, else a shipped
    name."""
    given = layer.data[EXTENDS]
    if not isinstance(given, str) or not given or "\0" in given:
        raise SpecError("extends must name a spec", where=where, instead='Write extends = "kip-320" or "base.toml"')
    if given.endswith(SUFFIX):
        path = layer.path.parent / given
        if _is_missing(path):
            raise SpecError(f"there is no file {given!r} beside this one", where=where, instead=_nearest_spec(given))
        return path
    name = _base_name(given, where)
    if name is not None:
        return _relative(shipped_specs()[name])
    beside = given + SUFFIX
    is_there = not _is_missing(layer.path.parent / beside)
    instead = f"The file beside this one is written {beside!r}" if is_there else _nearest_spec(given)
    raise SpecError(f"there is no shipped spec {given!r}", where=where, instead=instead)


def _base_name(given: str, where: Place) -> str | None:
    try:
        return _shipped_name(given)
    except UsageError as error:
        raise SpecError(error.what, where=where, instead=error.instead) from error


def _refuse_cycle(paths: list[Path], where: Place) -> None:
    *earlier, last = paths
    if os.path.realpath(last) not in map(os.path.realpath, earlier):
        return
    names = [path.name for path in paths]
    told = (
        f"{names[0]} extends itself" if len(names) == 2 else f"{names[0]} extends {', which extends '.join(names[1:])}"
    )
    raise SpecError(told, where=where, why="No spec can be made of a circle", instead="Take one of the lines out")


def _laid_over(base: _Layer, child: _Layer) -> _Layer:
    """The base with whatever the child says in its place, table by table and key by key."""
    data = _merged(base.data, {key: value for key, value in child.data.items() if key != EXTENDS})
    own = child.data.get(EXPECT)
    if any(data.get(key) != base.data.get(key) for key in MEASURED):
        data = {key: value for key, value in data.items() if key != EXPECT} | ({} if own is None else {EXPECT: own})
    elif isinstance(data.get(EXPECT), dict):
        data[EXPECT] = _still_expected(data[EXPECT], own, data.get(INVARIANTS))
    return _Layer(child.path, data, base.lines | child.lines)


def _merged(base: dict[str, Any], child: dict[str, Any]) -> dict[str, Any]:
    whole = dict(base)
    for key, value in child.items():
        below = whole.get(key)
        whole[key] = _merged(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return whole


def _still_expected(expect: dict[str, Any], own: object, invariants: object) -> dict[str, Any]:
    """Without what was inherited for an invariant that is no longer checked."""
    kept = [COUNTS, *(own if isinstance(own, dict) else ()), *(invariants if isinstance(invariants, list) else ())]
    return {name: value for name, value in expect.items() if name in kept}
