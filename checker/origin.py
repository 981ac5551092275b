"""Where a spec's protocol comes from: the Kafka family, or a file of the user's own. What follows knows only this.

An `Origin` has everything that decides the protocol, bounds included. It is a value: it can be compared, hashed and
sent to another process, and what it stages is made anew each time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from typing import Protocol as Interface

from checker.spec_table import Table
from model.errors import ModelFault
from model.language.protocol import Parameter, Predicate, Protocol


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The names that a spec may use. `actions` maps each action to its parameters; `predicates` has the summaries and
    lines of invariants and witnesses."""

    invariants: tuple[str, ...]
    witnesses: tuple[str, ...]
    actions: dict[str, tuple[Parameter, ...]]
    predicates: dict[str, Predicate] = field(default_factory=dict)


def vocabulary_of(protocol: Protocol) -> Vocabulary:
    """What a protocol has."""
    return Vocabulary(
        protocol.invariant_names,
        protocol.witness_names,
        {action.name: action.parameters for action in protocol.actions},
        {predicate.name: predicate for predicate in (*protocol.invariants, *protocol.witnesses)},
    )


@dataclass(frozen=True, slots=True)
class Admitted:
    """Files of the user's own that were named beside a trace, so that their code may be run: no trace has code run by
    itself. `protocol` is written `FILE:NAME`."""

    policy: Path | None = None
    protocol: str | None = None
    invariants: Path | None = None


NOTHING_ADMITTED = Admitted()


class Origin(Interface):
    """A protocol at certain bounds, not staged yet."""

    @property
    def name(self) -> str:
        """As specs name it: a named variant, or `my_protocol.py:protocol`."""

    @property
    def features(self) -> Mapping[str, str]:
        """The rules in which it differs from what its name says."""

    @property
    def code(self) -> tuple[Path, ...]:
        """Files of the user's own that are run."""

    @property
    def admission(self) -> tuple[str, ...]:
        """The options that let a command which reads a trace run that code."""

    def bounds(self) -> dict[str, int]:
        """Every bound."""

    def used_bounds(self) -> dict[str, int]:
        """The bounds that mean something to its rules."""

    def document(self) -> dict[str, Any]:
        """What results and traces say of it, beside its bounds."""

    def vocabulary(self) -> Vocabulary:
        """The names it has. Raises what `protocol` raises."""

    def protocol(self) -> Protocol:
        """Stage it. Raises `UsageError` for bounds beyond what can be checked, `ModelError` for the user's mistakes."""

    def with_bounds(self, changes: Mapping[str, int], owner: str) -> Origin:
        """With other bounds; messages tell of `owner`. Raises `UsageError` for a bound that it has not, or no use for,
        and for an impossible value."""

    def with_settings(self, changes: Mapping[str, str]) -> Origin:
        """With what `--set` says: features, or bounds that have no option. Raises `UsageError`."""

    def within(self, table: Table) -> Origin:
        """With the bounds that a table of a spec gives. Raises `SpecError`, with the line."""

    def told_safely(self) -> Origin:
        """The same protocol, under the name of the nearest one that keeps every promise: its features are what can be
        wrong with it. Itself where nothing of the kind is known."""

    def safe_features(self) -> dict[str, str]:
        """What each feature is in the protocol of that name."""

    def rehearsed(self) -> Origin:
        """Itself, once code of the user's own has been tried where that is cheap: its mistakes are told before any
        search."""

    def told(self, fault: ModelFault) -> ModelFault:
        """A fault of the model in the words of whoever wrote it."""
