"""Invariants and witnesses of the user's own, over the state of whatever protocol a spec has.

    own_invariants = "my_invariants.py"

The file has functions marked with `@invariant` and `@reachable`, which the spec then selects by name like those that
the protocol has itself. It is run like a protocol of the user's own: when a spec that somebody named refers to it, and
when somebody names it beside a trace.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from checker.origin import Admitted, Origin, Vocabulary, vocabulary_of
from checker.own_origin import own_kind
from checker.spec_table import Table, shown
from model.errors import ModelError, ModelFault, Place, TraceError
from model.language.protocol import Protocol
from model.language.staging import PredicateFunction, adding
from model.own_file import SUFFIX, definition, parsed, run

OWN_INVARIANTS: Final = "own_invariants"

_KIND: Final = own_kind("file of invariants", "It only says what is promised of a state")


@dataclass(frozen=True, slots=True)
class WithOwnInvariants:
    """An origin, and a file with more promises. `file` is as the spec names it, `path` is what is run."""

    base: Origin
    file: str
    path: Path

    @property
    def name(self) -> str:
        return self.base.name

    @property
    def features(self) -> Mapping[str, str]:
        return self.base.features

    @property
    def code(self) -> tuple[Path, ...]:
        return (*self.base.code, self.path)

    @property
    def admission(self) -> tuple[str, ...]:
        return (*self.base.admission, "--invariants", str(self.path))

    def bounds(self) -> dict[str, int]:
        return self.base.bounds()

    def used_bounds(self) -> dict[str, int]:
        return self.base.used_bounds()

    def document(self) -> dict[str, Any]:
        return {**self.base.document(), OWN_INVARIANTS: self.file}

    def vocabulary(self) -> Vocabulary:
        return vocabulary_of(self.protocol())

    def protocol(self) -> Protocol:
        protocol = self.base.protocol()
        found = _promises(self.path, (*protocol.invariant_names, *protocol.witness_names))
        witnesses = [each for each in found if each.is_witness]
        return adding(protocol, [each for each in found if not each.is_witness], witnesses)

    def with_bounds(self, changes: Mapping[str, int], owner: str) -> WithOwnInvariants:
        return replace(self, base=self.base.with_bounds(changes, owner))

    def with_settings(self, changes: Mapping[str, str]) -> WithOwnInvariants:
        return replace(self, base=self.base.with_settings(changes))

    def within(self, table: Table) -> WithOwnInvariants:
        return replace(self, base=self.base.within(table))

    def told_safely(self) -> WithOwnInvariants:
        return replace(self, base=self.base.told_safely())

    def safe_features(self) -> dict[str, str]:
        return self.base.safe_features()

    def rehearsed(self) -> WithOwnInvariants:
        return replace(self, base=self.base.rehearsed())

    def told(self, fault: ModelFault) -> ModelFault:
        return self.base.told(fault)


def _promises(path: Path, taken: tuple[str, ...]) -> list[PredicateFunction]:
    """What the file defines, in its order. Runs the file. Raises `ModelError`, with its line."""
    namespace = run(path, _KIND, parsed(path, _KIND))
    found = [each for each in namespace.values() if isinstance(each, PredicateFunction)]
    own = [each for each in dict.fromkeys(found) if _place(each).file == str(path)]
    if not own:
        what, instead = "the file defines no invariant", "Write @invariant or @reachable above a function of the state"
        raise ModelError(what, where=Place(str(path), 0), instead=instead)
    for each in own:
        if each.name in taken:
            what = f"the protocol has {each.name} already"
            raise ModelError(what, where=_place(each), instead="Give the function another name")
    return own


def _place(marked: PredicateFunction) -> Place:
    return definition(marked.function) or Place("", 0)


# From a spec, and from a trace


def with_own_invariants(origin: Origin, top: Table) -> Origin:
    """The origin with the promises of the file that the spec names, if it names one. Raises `SpecError`."""
    if OWN_INVARIANTS not in top.values:
        return origin
    file = top.text(OWN_INVARIANTS)
    if not file.endswith(SUFFIX):
        raise top.error(f"{OWN_INVARIANTS} is {shown(file)}", OWN_INVARIANTS, instead="Name a Python file")
    return WithOwnInvariants(origin, file, top.own_file(OWN_INVARIANTS, file))


def with_own_invariants_of(origin: Origin, document: Mapping[str, Any], admitted: Admitted) -> Origin:
    """The origin with the promises of the file that was named beside a trace. Without one, a trace of a promise that
    the protocol has itself can be read all the same. Raises `TraceError` for a file too many or too few."""
    file, promise = document.get(OWN_INVARIANTS), document.get("invariant")
    if admitted.invariants is None:
        if file is not None and promise not in origin.vocabulary().invariants:
            raise TraceError(
                f"the trace is of an invariant of somebody's own, {shown(promise)} in {file}",
                why="That is code, and a trace alone has no code run",
                instead=f"Name the file: --invariants path/to/invariants{SUFFIX}",
            )
        return origin
    if not isinstance(file, str):
        raise TraceError("the trace is of a spec without invariants of its own", instead="Leave out --invariants")
    return WithOwnInvariants(origin, file, admitted.invariants)
