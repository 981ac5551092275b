"""One spec and what was found of it: a row of every overview."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from checker.outcome import Outcome
from checker.report.subject import surprise
from checker.spec import Spec
from checker.trace_file import crashes_told


@dataclass(frozen=True)  # no slots: what it takes long to find out is kept
class Row:
    """A spec, at the bounds it was checked with. `traces` are the texts of the trace files, by invariant; the outcome
    has none of its own, so a row can be handed to another process."""

    spec: Spec
    outcome: Outcome
    traces: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def crashes(self) -> Mapping[str, int]:
        """How many crashes there are in the shortest violation, by invariant."""
        return {name: crashes_told(text) for name, text in self.traces.items()}

    @property
    def differs(self) -> bool:
        """Whether some invariant is not as the spec expects; nothing is expected of a spec that was changed."""
        return any(surprise(self.spec, found) for found in self.outcome.invariants)
