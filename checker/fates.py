"""What became of the mutants of a model."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from checker.equivalents import Equivalent
from checker.mutants import Mutant


class Finding(enum.Enum):
    """What became of a mutant."""

    CAUGHT = "caught"
    SURVIVES = "survives"
    UNDECIDED = "undecided"  # no spec caught it, and one of the searches met a limit


@dataclass(frozen=True, slots=True)
class Fate:
    """`spec` is the one that catches the mutant (or met the limit), `how` it does so in words. Of a mutant that
    survives, `spec` is the first one whose model has other states with it, if any has. `equivalent` is what was written
    down of the mutant, caught or not."""

    mutant: Mutant
    finding: Finding = Finding.SURVIVES
    spec: str = ""
    how: str = ""
    equivalent: Equivalent | None = None

    @property
    def is_explained(self) -> bool:
        return self.finding is Finding.SURVIVES and self.equivalent is not None

    @property
    def is_caught(self) -> bool:
        return self.finding is Finding.CAUGHT


@dataclass(frozen=True, slots=True)
class Hunt:
    """The fate of every mutant, in the order of the specs and their steps. `stale` are entries of the file of
    equivalents that no longer match any mutant; known only if every spec took part."""

    specs: tuple[str, ...]
    fates: tuple[Fate, ...]
    stale: tuple[Equivalent, ...] = ()
    was_interrupted: bool = False

    @property
    def refuted(self) -> tuple[Fate, ...]:
        """Mutants that are written down as equivalent, and are caught."""
        return tuple(fate for fate in self.fates if fate.is_caught and fate.equivalent is not None)

    @property
    def unexplained(self) -> tuple[Fate, ...]:
        """Mutants that survive, and nobody said why."""
        return tuple(fate for fate in self.fates if fate.finding is Finding.SURVIVES and not fate.is_explained)

    @property
    def explained(self) -> tuple[Fate, ...]:
        return tuple(fate for fate in self.fates if fate.is_explained)

    @property
    def caught(self) -> tuple[Fate, ...]:
        return tuple(fate for fate in self.fates if fate.is_caught)

    @property
    def undecided(self) -> tuple[Fate, ...]:
        return tuple(fate for fate in self.fates if fate.finding is Finding.UNDECIDED)

    @property
    def exit_code(self) -> int:
        """1 if a mutant survives unexplained, or an explanation is wrong or about nothing; 3 if some are undecided."""
        if self.unexplained or self.refuted or self.stale:
            return 1
        return 3 if self.undecided or self.was_interrupted else 0
