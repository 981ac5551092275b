"""What a check found: verdicts, counts, and the exit code that follows from them.

The verdict is a function of the findings alone. A limit that was hit, an empty space, a witness that was not reached:
each turns `holds` into `inconclusive`; nothing turns `violated` into anything else.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field, replace

from checker.coverage import Coverage, Threats
from checker.trace import Trace


class Verdict(enum.Enum):
    """What may be said of an invariant, or of a whole check."""

    HOLDS = "holds"
    VIOLATED = "violated"
    INCONCLUSIVE = "inconclusive"


INTERRUPTED = "it was interrupted"
EXIT_CODE = {Verdict.HOLDS: 0, Verdict.VIOLATED: 1, Verdict.INCONCLUSIVE: 3}


@dataclass(frozen=True, slots=True)
class Explored:
    """How much was walked. `distinct` counts stored states (orbits where symmetry was used), `generated` successors;
    `depth` counts levels, the initial state being 1. `stopped` says what ended an incomplete search."""

    distinct: int
    generated: int
    depth: int
    complete: bool
    stopped: str | None
    seconds: float
    steps_taken: dict[str, int] = field(default_factory=dict)  # successors by action
    single: bool = False  # the whole space is one state, and not merely one orbit

    @property
    def was_interrupted(self) -> bool:
        return self.stopped == INTERRUPTED

    @property
    def states_per_second(self) -> int:
        return round(self.distinct / self.seconds) if self.seconds > 0 else 0


@dataclass(frozen=True, slots=True)
class SymmetryUsed:
    """The group that pruned the search. `proved` is false only for the trivial group: nothing was pruned. `notes` say
    what was refuted or left open, in words."""

    group: str
    order: int
    proved: bool
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InvariantOutcome:
    """`trace` is there only if the verdict is `violated`; `counted` stands for it where a trace cannot go (it holds the
    whole protocol, so it stays in the process that found it)."""

    name: str
    verdict: Verdict
    trace: Trace | None = None
    counted: int | None = None

    @property
    def steps(self) -> int | None:
        return len(self.trace.steps) if self.trace else self.counted

    def without_trace(self) -> InvariantOutcome:
        return InvariantOutcome(self.name, self.verdict, None, self.steps)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Everything one check found. `witnesses` gives the steps to each witness, or none if it was not reached;
    `never_enabled` names actions that could have been taken but never were, except those the spec allows."""

    explored: Explored
    symmetry: SymmetryUsed
    invariants: tuple[InvariantOutcome, ...]
    witnesses: dict[str, int | None]
    never_enabled: tuple[str, ...]
    phases: dict[str, float] = field(default_factory=dict)  # seconds: staging, proof, compile, search, replay
    reservations: tuple[str, ...] = ()  # what else was asked for and could not be done, each in a sentence
    coverage: Coverage | None = None  # if it was asked for
    threats: Threats | None = None  # if they were

    def without_traces(self) -> Outcome:
        """The same findings, light enough to be handed to another process."""
        return replace(self, invariants=tuple(found.without_trace() for found in self.invariants))

    @property
    def verdict(self) -> Verdict:
        if any(found.verdict is Verdict.VIOLATED for found in self.invariants):
            return Verdict.VIOLATED
        return Verdict.INCONCLUSIVE if self.doubts else Verdict.HOLDS

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why `holds` may not be said, each in a sentence."""
        found = []
        if not self.explored.complete:
            found.append(f"The search is not complete: {self.explored.stopped}.")
        elif self.explored.single:
            found.append("The state space is a single state: nothing can happen, so nothing was checked.")
        elif self.explored.generated == 0:
            found.append("No step can be taken in any of the initial states, so nothing was checked.")
        else:
            missing = [name for name, steps in self.witnesses.items() if steps is None]
            found += [f"The witness {name} was not reached: the model may be vacuous." for name in missing]
        return (*found, *self.reservations)

    @property
    def was_interrupted(self) -> bool:
        return self.explored.was_interrupted or any(INTERRUPTED in each for each in self.reservations)

    @property
    def exit_code(self) -> int:
        return EXIT_CODE[self.verdict]
