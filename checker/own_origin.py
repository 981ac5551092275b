"""Specs of a protocol of the user's own: a function in a Python file beside the spec, called with the spec's bounds.

    protocol = "my_protocol.py:protocol"

The file is run when a spec that somebody named refers to it, and when somebody names it beside a trace; never else.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, Final

from checker.estimate import MOST_BITS, MOST_REPLICAS
from checker.origin import Admitted, Vocabulary, vocabulary_of
from checker.spec_table import Table, shown
from model.errors import ModelError, ModelFault, Place, TraceError, UsageError, nearest
from model.language.protocol import Protocol
from model.own_file import STANDARD, SUFFIX, Kind, definition, line_in, parsed, run

PROTOCOL: Final = "protocol"

#: A bound is a number from 0 to here.
LARGEST: Final = 1_000

#: How a protocol is named, for people's editors.
REFERENCE: Final = rf"^[^:]+{re.escape(SUFFIX)}:[A-Za-z_][A-Za-z0-9_]*$"

_REFERENCE: Final = re.compile(rf"(?P<file>[^:\0]+{re.escape(SUFFIX)}):(?P<name>[A-Za-z_][A-Za-z0-9_]*)")
_WRITTEN: Final = f'Write "my_protocol{SUFFIX}:name", a Python file and a function in it'

_LANGUAGE: Final = "model.language"
_KAFKA: Final = "model.kafka"


def _importable(module: str) -> tuple[str, ...] | None:
    """The language and its modules, and the Kafka protocol, from which one may take what one likes."""
    if module not in (_LANGUAGE, _KAFKA) and not module.startswith((f"{_LANGUAGE}.", f"{_KAFKA}.")):
        return None
    try:
        names = [name for name in vars(importlib.import_module(module)) if not name.startswith("_")]
    except ImportError:
        return None
    return (*names, "*")


def own_kind(name: str, purpose: str) -> Kind:
    """A file written in the language. Messages call it `name`."""
    listed = (_LANGUAGE, f"{_LANGUAGE}.*", f"{_KAFKA}.*")
    return Kind(name, purpose, _importable, listed, (*STANDARD, "collections"))


_KIND: Final = own_kind("protocol", "A protocol is one file that is the same on every run")


@dataclass(frozen=True, slots=True)
class OwnOrigin:
    """`name` is as the spec or trace has it, `path` and `function` say what is run; `sizes` are all bounds."""

    name: str
    path: Path
    function: str
    sizes: tuple[tuple[str, int], ...] = ()

    @property
    def features(self) -> dict[str, str]:
        return {}

    @property
    def code(self) -> tuple[Path, ...]:
        return (self.path,)

    @property
    def admission(self) -> tuple[str, ...]:
        return ("--protocol", f"{self.path}:{self.function}")

    def bounds(self) -> dict[str, int]:
        return dict(self.sizes)

    def used_bounds(self) -> dict[str, int]:
        return dict(self.sizes)

    def document(self) -> dict[str, Any]:
        return {PROTOCOL: self.name}

    def vocabulary(self) -> Vocabulary:
        return vocabulary_of(self.protocol())

    def protocol(self) -> Protocol:
        found = _found(self.path, self.function)
        made = found if isinstance(found, Protocol) else _called(self.path, found, self.bounds())
        _want_protocol(self.path, self.function, found, made)
        _want_small(made, self.bounds())
        return made

    def with_bounds(self, changes: Mapping[str, int], owner: str) -> OwnOrigin:
        for name, value in changes.items():
            self._want_known(name, owner)
            if isinstance(value, bool) or not isinstance(value, int):
                raise UsageError(f"the bound {name} is {value!r}", instead="Give a whole number")
            if not 0 <= value <= LARGEST:
                raise UsageError(f"the bound {name} is {value}", instead=f"Give a number from 0 to {LARGEST}")
        return replace(self, sizes=tuple({**self.bounds(), **changes}.items()))

    def with_settings(self, changes: Mapping[str, str]) -> OwnOrigin:
        return self.with_bounds({name: self._whole(name, value) for name, value in changes.items()}, self.name)

    def within(self, table: Table) -> OwnOrigin:
        table.want_only(self.bounds())
        changed = self
        for name in table.values:
            try:
                changed = changed.with_bounds({name: table.bound(name)}, self.name)
            except UsageError as error:
                raise table.error(error.what, name, why=error.why, instead=error.instead) from error
        return changed

    def told_safely(self) -> OwnOrigin:
        return self

    def safe_features(self) -> dict[str, str]:
        return {}

    def rehearsed(self) -> OwnOrigin:
        return self

    def told(self, fault: ModelFault) -> ModelFault:
        return fault

    def _want_known(self, name: str, owner: str) -> None:
        known = self.bounds()
        if name not in known:
            instead = nearest(name, known) if known else "It has no bounds at all"
            raise UsageError(f"{owner} has no bound {name!r}", instead=instead)

    def _whole(self, name: str, text: str) -> int:
        self._want_known(name, self.name)
        if re.fullmatch(r"\d{1,9}", text) is None:
            raise UsageError(f"the bound {name} is {text!r}", instead="Give a whole number")
        return int(text)


# The file


def _found(path: Path, name: str) -> Any:
    """The function of that name, or the protocol, if the file has made one. Runs the file."""
    namespace = run(path, _KIND, parsed(path, _KIND))
    where = Place(str(path), 0)
    found = namespace.get(name)
    if isinstance(found, Protocol):
        return found
    theirs = [each for each, value in namespace.items() if _is_theirs(path, value)]
    if found is None:
        raise ModelError(f"the file defines no function {name!r}", where=where, instead=nearest(name, theirs))
    if not callable(found):
        what = f"{name} is {shown(found)}, neither a function nor a protocol"
        raise ModelError(what, where=where, instead=f"Write def {name}(…) and return protocol(…)")
    if not _is_theirs(path, found):
        raise ModelError(
            f"{name} is not defined in this file, but imported", where=where, instead=f"Write def {name}(…)"
        )
    return found


def _is_theirs(path: Path, value: Any) -> bool:
    """Whether something is a function that stands in the file."""
    place = definition(value) if inspect.isfunction(value) else None
    return place is not None and place.file == str(path)


def _default_sizes(path: Path, name: str) -> dict[str, int]:
    """The bounds of a protocol, each with its default: the parameters of the function."""
    found = _found(path, name)
    if isinstance(found, Protocol):
        return {}
    where = definition(found)
    sizes: dict[str, int] = {}
    for parameter in inspect.signature(found).parameters.values():
        if parameter.kind not in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY):
            what = f"the parameter {parameter.name} of {name} cannot be given by name"
            raise ModelError(what, where=where, instead="Let each bound be a parameter like managers=3")
        default = parameter.default
        if type(default) is not int or not 0 <= default <= LARGEST:
            is_there = default is not inspect.Parameter.empty
            has = f"the default {shown(default)}" if is_there else "no default"
            what = f"the bound {parameter.name} of {name} has {has}"
            instead = f"Give a whole number from 0 to {LARGEST}: {parameter.name}=3"
            raise ModelError(what, where=where, instead=instead)
        sizes[parameter.name] = default
    return sizes


def _called(path: Path, function: Any, bounds: Mapping[str, int]) -> Any:
    """Call the user's function; whatever goes wrong in it is told with its own line."""
    try:
        return function(**bounds)
    except ModelError as error:
        error.where = error.where or line_in(str(path), error.__traceback__) or definition(function)
        raise
    except (Exception, SystemExit) as error:
        name = getattr(function, "__name__", "the function")
        where = line_in(str(path), error.__traceback__) or definition(function)
        raise ModelError(
            f"{name} raised {type(error).__name__}: {str(error) or 'no reason given'}", where=where
        ) from error


def _want_protocol(path: Path, name: str, found: Any, made: Any) -> None:
    if isinstance(made, Protocol):
        return
    told = "nothing" if made is None else shown(made)
    where = definition(found) or Place(str(path), 0)
    raise ModelError(f"{name} returns {told}, not a protocol", where=where, instead="End it with return protocol(…)")


def _want_small(made: Protocol, bounds: Mapping[str, int]) -> None:
    """Raise `UsageError` for what cannot be checked exhaustively."""
    bits = sum(cell.domain.bits for cell in made.cells)
    sizes = [(scalarset.size, MOST_REPLICAS, f"members of {scalarset.name}") for scalarset in made.scalarsets]
    found = [*sizes, (bits, MOST_BITS, "bits a state")]
    problems = [f"{size:,} {what} (at most {most:,})" for size, most, what in found if size > most]
    if problems:
        told = f" ({', '.join(f'{name} {value}' for name, value in bounds.items())})" if bounds else ""
        what = f"{made.name}{told} is too large to be checked exhaustively: {', '.join(problems)}"
        raise UsageError(what, instead="Choose smaller bounds")


# From a spec, and from a trace


def own_origin(top: Table) -> OwnOrigin:
    """What a spec says of its own protocol, with the function's defaults for bounds. Runs the file. Raises `SpecError`
    for what the spec says, `ModelError` for what is wrong in the file."""
    for key, what in (("variant", "a variant"), ("features", "features")):
        if key in top.values:
            raise top.error(
                f"a spec with a protocol of its own has {what} as well",
                key,
                why="Variants and features are rules of the Kafka protocol",
                instead=f"Take out {key} or {PROTOCOL}",
            )
    reference = top.text(PROTOCOL)
    found = _REFERENCE.fullmatch(reference)
    if found is None:
        raise top.error(f"{PROTOCOL} is {shown(reference)}", PROTOCOL, instead=_WRITTEN)
    return _origin(reference, top.own_file(PROTOCOL, found["file"]), found["name"])


def own_origin_of(document: Mapping[str, Any], admitted: Admitted) -> OwnOrigin:
    """The origin that a stored trace tells of, in the file that was named beside it. Raises `TraceError` if none."""
    told = document.get(PROTOCOL)
    if not isinstance(told, str):
        raise TraceError("spec and protocol are not both names")
    if admitted.policy is not None:
        raise TraceError(f"the trace is of a protocol of somebody's own, {told}", instead="Leave out --policy")
    if admitted.protocol is None:
        raise TraceError(
            f"the trace is of a protocol of somebody's own, {told}",
            why="That is code, and a trace alone has no code run",
            instead=f"Name the file and the function: --protocol path/to/{PurePosixPath(told).name}",
        )
    found = _REFERENCE.fullmatch(admitted.protocol)
    if found is None:
        raise TraceError(f"--protocol is {shown(admitted.protocol)}", instead=_WRITTEN)
    return _origin(told, Path(found["file"]), found["name"])


def _origin(name: str, path: Path, function: str) -> OwnOrigin:
    return OwnOrigin(name, path, function, tuple(_default_sizes(path, function).items()))
