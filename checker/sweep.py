"""One spec at several sizes: `[sweep]`. At which of them does an invariant fall first?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from checker.compare import compare
from checker.outcome import EXIT_CODE, Verdict
from checker.row import Row
from checker.run import DEFAULTS, NOBODY, Options, Watch
from checker.spec import Spec


@dataclass(frozen=True, slots=True)
class Sweep:
    """The rows are the sizes, in the order of the spec's sweep."""

    spec: Spec
    rows: tuple[Row, ...]

    @property
    def verdict(self) -> Verdict:
        """Of all sizes together: violated if it is anywhere, holds if it does everywhere."""
        verdicts = {row.outcome.verdict for row in self.rows}
        return next(each for each in (Verdict.VIOLATED, Verdict.INCONCLUSIVE, Verdict.HOLDS) if each in verdicts)

    @property
    def exit_code(self) -> int:
        """As of `check`."""
        return EXIT_CODE[self.verdict]

    def point(self, row: Row) -> dict[str, int]:
        """The bounds that are swept, at one size."""
        return {name: row.spec.all_bounds()[name] for name in self.spec.sweep}

    def with_verdict(self, invariant: str, verdict: Verdict) -> tuple[Row, ...]:
        """The sizes at which an invariant has this verdict."""
        return tuple(
            row
            for row in self.rows
            for found in row.outcome.invariants
            if (found.name, found.verdict) == (invariant, verdict)
        )

    def smallest(self, invariant: str) -> tuple[Row, ...]:
        """The sizes that violate an invariant while nothing smaller does: of those that are swept, and with no bound
        larger and one smaller. Several of them cannot be compared, as neither 2 of one and 3 of another can with 3 and
        2."""
        fallen = self.with_verdict(invariant, Verdict.VIOLATED)
        points = [self.point(row) for row in fallen]
        return tuple(
            row
            for row, point in zip(fallen, points, strict=True)
            if not any(_is_below(other, point) for other in points)
        )


def sweep(spec: Spec, options: Options = DEFAULTS, watch: Watch = NOBODY) -> Sweep:
    """Check a spec at every point of its sweep. Ctrl-C leaves those inconclusive that are not finished."""
    return Sweep(spec, compare(spec.points(), options, watch).rows)


def _is_below(one: Mapping[str, int], other: Mapping[str, int]) -> bool:
    return one != other and all(one[name] <= other[name] for name in one)
