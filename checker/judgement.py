"""What a spec expects, put beside what was found: a finding for each invariant, count, witness and idle action.

Nothing is run or printed here. Whatever is not plainly as wished is never called so: a search that met a limit, a
process that died, a space in which nothing can happen are all `inconclusive`.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from checker.outcome import Explored, InvariantOutcome, Outcome, Verdict
from checker.report.story import listed, steps_text
from checker.spec import LEAST_COUNT, Spec
from model.errors import Place, SpecError
from model.language.protocol import Predicate


class Kind(enum.Enum):
    """What became of one thing that a spec says."""

    AS_WISHED = "as wished"
    VIOLATED = "unexpectedly violated"
    HOLDS = "unexpectedly holding"
    LENGTH = "different length"
    COUNTS = "different counts"
    UNREACHED = "witness not reached"
    IDLE = "action never enabled"
    NOT_IDLE = "action enabled after all"
    INCONCLUSIVE = "inconclusive"
    ERROR = "error"


class About(enum.Enum):
    """What a finding is about."""

    INVARIANT = "invariant"
    COUNT = "count"
    WITNESS = "witness"
    ACTION = "action"
    SPEC = "spec"


MALFORMED: Final = 2
INTERNAL: Final = 70

#: Which exit code wins, the first of those that occur: a fault of tidegauge, a spec that could not be judged, anything
#: that is not as expected, anything that was not decided.
PRECEDENCE: Final = (INTERNAL, MALFORMED, 1, 3)


@dataclass(frozen=True, slots=True)
class Finding:
    """`text` is a clause without its subject: `is violated in 9 steps; the spec expects: holds`. `place` is the line of
    the spec that it is about, if one can be named."""

    about: About
    name: str
    kind: Kind
    text: str
    place: Place | None = None

    @property
    def is_wished(self) -> bool:
        return self.kind is Kind.AS_WISHED

    @property
    def is_inconclusive(self) -> bool:
        return self.kind is Kind.INCONCLUSIVE

    @property
    def sentence(self) -> str:
        """The text with its subject."""
        return f"{self.name} {self.text}" if self.about is not About.SPEC else self.text


@dataclass(frozen=True, slots=True)
class Told:
    """A counterexample in words, with the lines it comes from. `sentences` has one for each step, `places` the lines of
    the actions that the steps take; `story` is all of it as text."""

    sentences: tuple[str, ...]
    places: tuple[Place | None, ...]
    failing: str
    story: str


@dataclass(frozen=True, slots=True)
class Judged:
    """One spec and its findings. `spec` and `outcome` are missing if it could not be loaded or its check did not come
    to an end; `code` is the exit code of an error. `traces` are the texts of trace files, by invariant; `told` are
    those of them that nobody expected. `predicates` are what the spec's names mean, `counted` the sizes that were
    found. `seconds` is how long it took, `cached` whether that was an earlier run."""

    name: str
    file: str
    findings: tuple[Finding, ...]
    spec: Spec | None = None
    outcome: Outcome | None = None
    traces: Mapping[str, str] = field(default_factory=dict)
    told: Mapping[str, Told] = field(default_factory=dict)
    predicates: Mapping[str, Predicate] = field(default_factory=dict)
    counted: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    cached: bool = False
    code: int = 0

    @property
    def surprises(self) -> tuple[Finding, ...]:
        """Whatever is not as wished, in the order of the spec."""
        return tuple(found for found in self.findings if not found.is_wished)

    @property
    def exit_code(self) -> int:
        if self.code:
            return self.code
        if any(not found.is_inconclusive for found in self.surprises):
            return 1
        return 3 if self.surprises else 0


@dataclass(frozen=True, slots=True)
class Gate:
    """Every spec that was to be judged, by name. `skipped` are TOML files that are no specs; `remarks` say what else
    was left out, each in a sentence."""

    specs: tuple[Judged, ...]
    skipped: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        codes = {judged.exit_code for judged in self.specs}
        return next((code for code in PRECEDENCE if code in codes), 0)


def require_expectations(spec: Spec) -> None:
    """Raise `SpecError`, with the line, for a spec that leaves open what it expects: it could not fail."""
    missing = [name for name in spec.invariants if name not in spec.expect]
    if missing:
        raise SpecError(
            f"nothing is expected of {listed(missing)}",
            where=spec.place_of(missing[0]),
            why="What expects nothing cannot fail",
            instead=f'Write {missing[0]} = "holds" or {{ violated = n }} under [expect]',
        )
    if spec.exact_counts and spec.counts is None:
        raise SpecError(
            'counts = "exact" asks for counts, and the spec gives none',
            where=spec.place("gate", "counts"),
            instead="Write them under [expect.counts]",
        )


def judge(spec: Spec, outcome: Outcome, unreduced: Explored | None = None) -> tuple[Finding, ...]:
    """Everything the spec says, judged. The outcome's `never_enabled` names all idle actions, declared or not;
    `unreduced` is what a second search without symmetry walked."""
    return (
        *_doubts(spec, outcome),
        *(_invariant(spec, outcome, found) for found in outcome.invariants),
        *_counts(spec, outcome, unreduced),
        *_witnesses(spec, outcome),
        *_actions(spec, outcome),
    )


def undecided(spec: Spec, why: str) -> tuple[Finding, ...]:
    """The findings of a spec whose check did not come to an end."""
    about = [(About.INVARIANT, name, spec.place_of(name)) for name in spec.invariants]
    return tuple(Finding(kind, name, Kind.INCONCLUSIVE, f"is not decided: {why}", at) for kind, name, at in about)


def faulty(why: str, place: Place | None) -> Finding:
    """The finding of a spec that could not be judged."""
    return Finding(About.SPEC, "spec", Kind.ERROR, why, place)


def _doubts(spec: Spec, outcome: Outcome) -> Iterator[Finding]:
    """Why less may be said than it seems; missing witnesses have findings of their own."""
    explored = outcome.explored
    told = [each for each in outcome.doubts if not (_can_move(explored) and each.startswith("The witness "))]
    place = spec.place("bounds")
    yield from (Finding(About.SPEC, "search", Kind.INCONCLUSIVE, text, place) for text in told)


def _can_move(explored: Explored) -> bool:
    return explored.complete and not explored.single and explored.generated > 0


# Invariants


def _invariant(spec: Spec, outcome: Outcome, found: InvariantOutcome) -> Finding:
    kind, text = _verdict(spec, outcome, found)
    return Finding(About.INVARIANT, found.name, kind, text, spec.place_of(found.name))


def _verdict(spec: Spec, outcome: Outcome, found: InvariantOutcome) -> tuple[Kind, str]:
    expected = spec.expect[found.name]
    if found.verdict is Verdict.INCONCLUSIVE:
        return Kind.INCONCLUSIVE, f"is not decided: {outcome.explored.stopped}; the spec expects: {expected.text}"
    if found.verdict is Verdict.HOLDS and not _can_move(outcome.explored):
        return Kind.INCONCLUSIVE, "is not decided: nothing can happen"
    steps = None if found.verdict is Verdict.HOLDS else found.steps
    text = "holds" if steps is None else f"is violated in {steps_text(steps)}"
    if steps == expected.steps:
        return Kind.AS_WISHED, text
    kind = Kind.HOLDS if steps is None else Kind.VIOLATED if expected.steps is None else Kind.LENGTH
    return kind, f"{text}; the spec expects: {expected.text}"


# Counts


def counted(outcome: Outcome, unreduced: Explored | None = None) -> dict[str, int]:
    """What is known of the spec's counts. Under symmetry the search yields orbits, and its successors are those of
    orbits; without it states, and all successors."""
    explored = outcome.explored
    if not explored.complete:
        return {}
    whole = explored if outcome.symmetry.order == 1 else unreduced
    known = {"depth": explored.depth}
    if outcome.symmetry.order > 1:
        known["orbits"] = explored.distinct
    if whole is not None and whole.complete:
        known |= {"distinct": whole.distinct, "generated": whole.generated}
    return known


def _counts(spec: Spec, outcome: Outcome, unreduced: Explored | None) -> Iterator[Finding]:
    known = counted(outcome, unreduced)
    for name in LEAST_COUNT:
        expected = getattr(spec.counts, name) if spec.counts else None
        if expected is not None and (spec.exact_counts or name in known or not outcome.explored.complete):
            yield _count(spec, name, expected, known.get(name), outcome)


def _count(spec: Spec, name: str, expected: int, found: int | None, outcome: Outcome) -> Finding:
    place = spec.place("expect", "counts", name)
    if found is None:
        why = outcome.explored.stopped or "this search does not yield it"
        return Finding(About.COUNT, name, Kind.INCONCLUSIVE, f"is not known: {why}", place)
    if found == expected:
        return Finding(About.COUNT, name, Kind.AS_WISHED, f"is {found:,}", place)
    return Finding(About.COUNT, name, Kind.COUNTS, f"is {found:,}; the spec expects: {expected:,}", place)


# Witnesses and actions


def _witnesses(spec: Spec, outcome: Outcome) -> Iterator[Finding]:
    for name, steps in outcome.witnesses.items():
        place = _listed_at(spec, "reachable", name)
        if steps is not None:
            yield Finding(About.WITNESS, name, Kind.AS_WISHED, f"is reached in {steps_text(steps)}", place)
        elif outcome.explored.complete:
            text = "is not reached: what the spec is about does not happen at these bounds"
            yield Finding(About.WITNESS, name, Kind.UNREACHED, text, place)
        else:
            text = f"is not reached so far: {outcome.explored.stopped}"
            yield Finding(About.WITNESS, name, Kind.INCONCLUSIVE, text, place)


def _actions(spec: Spec, outcome: Outcome) -> Iterator[Finding]:
    """Whether an action is idle is known of a complete search only; that it is not, of any."""
    for name in outcome.never_enabled:
        if name not in spec.never_enabled:
            text = "is never enabled, and the spec does not say so: name it under never_enabled, or enlarge the bounds"
            yield Finding(About.ACTION, name, Kind.IDLE, text, spec.place("bounds"))
    for name in spec.never_enabled:
        yield from _declared(spec, outcome, name)


def _declared(spec: Spec, outcome: Outcome, name: str) -> Iterator[Finding]:
    place, taken = _listed_at(spec, "never_enabled", name), outcome.explored.steps_taken.get(name, 0)
    if taken:
        text = f"is declared never enabled, and is taken {taken:,} time{'s' * (taken != 1)}"
        yield Finding(About.ACTION, name, Kind.NOT_IDLE, text, place)
    elif outcome.explored.complete:
        yield Finding(About.ACTION, name, Kind.AS_WISHED, "is never enabled, as declared", place)
    else:
        text = f"is declared never enabled, which is not decided: {outcome.explored.stopped}"
        yield Finding(About.ACTION, name, Kind.INCONCLUSIVE, text, place)


def _listed_at(spec: Spec, key: str, name: str) -> Place | None:
    """The line on which a list of the spec names something; a list that nobody wrote has none."""
    names: Sequence[object] = spec.document.data.get(key, [])
    return spec.place(key, names.index(name)) if name in names else spec.place(key)
