"""Several specs beside each other: rules down, promises across."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from checker.outcome import Outcome
from checker.report.subject import surprise
from checker.run import DEFAULTS, NOBODY, Options, Watch, check
from checker.spec import Spec


@dataclass(frozen=True, slots=True)
class Row:
    """One spec, at the bounds it was checked with, and what was found."""

    spec: Spec
    outcome: Outcome

    @property
    def differs(self) -> bool:
        """Whether some invariant is not as the spec expects; nothing is expected of a spec that was changed."""
        return any(surprise(self.spec, found) for found in self.outcome.invariants)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The rows, in the order asked for."""

    rows: tuple[Row, ...]

    @property
    def exit_code(self) -> int:
        """1 if a cell differs from what its spec expects, else 3 if one is inconclusive, else 0."""
        if any(row.differs for row in self.rows):
            return 1
        inconclusive = any(row.outcome.doubts for row in self.rows)
        return 3 if inconclusive else 0


def compare(specs: Sequence[Spec], options: Options = DEFAULTS, watch: Watch = NOBODY) -> Comparison:
    """Check every spec at its quick bounds, if it has any. Ctrl-C ends the comparison after the spec under way."""
    rows: list[Row] = []
    for spec in specs:
        watch.spec(spec.name)
        checked = spec.at_quick_bounds() if spec.is_as_written else spec
        outcome = check(checked, options, watch)
        rows.append(Row(checked, outcome))
        if outcome.was_interrupted:
            break
    return Comparison(tuple(rows))
