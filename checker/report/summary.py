"""What `check` says of one spec: the verdict first, then what it rests on, then the shortest story."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from checker.outcome import InvariantOutcome, Outcome, Verdict
from checker.report.coverage import coverage_report, threats_report
from checker.report.layout import LABEL_WIDTH, Piece, faint, grid, labelled, plain, rate_text, seconds_text
from checker.report.story import (
    BLANK,
    Line,
    Style,
    Telling,
    line,
    listed,
    same_story,
    steps_text,
    tell,
    wrapped,
)
from checker.report.subject import Subject, bounds_text, explaining, rules_text, surprise
from checker.trace import Trace

STYLE_OF = {Verdict.HOLDS: Style.GOOD, Verdict.VIOLATED: Style.BAD, Verdict.INCONCLUSIVE: Style.DOUBT}


def summary(subject: Subject, outcome: Outcome, stored: Mapping[str, Path], width: int) -> tuple[Line, ...]:
    """The whole report. `stored` says where the trace of each violated invariant has been stored."""
    return tuple(_lines(subject, outcome, stored, width))


def _lines(subject: Subject, outcome: Outcome, stored: Mapping[str, Path], width: int) -> Iterator[Line]:
    yield from wrapped(headline(subject, outcome), width, STYLE_OF[outcome.verdict])
    yield BLANK
    yield from _model(subject, width)
    yield from _explored(outcome, width)
    yield from _symmetry(outcome, width)
    yield from _liveliness(outcome, width)
    yield BLANK
    yield from _invariants(subject, outcome)
    yield from coverage_report(outcome, width)
    yield from threats_report(outcome, width)
    yield from _story(subject, outcome, stored, width)


def headline(subject: Subject, outcome: Outcome) -> str:
    """The verdict in a sentence or two."""
    fallen = [found for found in outcome.invariants if found.verdict is Verdict.VIOLATED]
    doubts = " ".join(outcome.doubts)
    match outcome.verdict:
        case Verdict.VIOLATED:
            return " ".join(filter(None, (f"{subject.name}: VIOLATED. {_falls(fallen)}.", doubts)))
        case Verdict.INCONCLUSIVE:
            return f"{subject.name}: INCONCLUSIVE. {doubts}"
        case Verdict.HOLDS:
            names = listed([found.name for found in outcome.invariants])
            holds = "holds" if len(outcome.invariants) == 1 else "hold"
            return f"{subject.name}: HOLDS. {names} {holds} in every reachable state."


def _falls(fallen: Sequence[InvariantOutcome]) -> str:
    """`WeakIsr and StrongIsr fall in 10 steps, LeaderInIsr falls in 12`."""
    lengths = sorted({found.steps or 0 for found in fallen})
    parts = []
    for position, length in enumerate(lengths):
        names = [found.name for found in fallen if (found.steps or 0) == length]
        steps = str(length) if position else steps_text(length)
        parts.append(f"{listed(names)} {'falls' if len(names) == 1 else 'fall'} in {steps}")
    return ", ".join(parts)


def _model(subject: Subject, width: int) -> Iterator[Line]:
    yield from labelled("rules", subject.title, width)
    yield from labelled("built on" if subject.built_on else "changed", rules_text(subject), width)
    yield from labelled("bounds", bounds_text(subject), width)
    yield from labelled("notes", " ".join(subject.notes.split()), width)


def _explored(outcome: Outcome, width: int) -> Iterator[Line]:
    explored, unit = outcome.explored, stored_unit(outcome)
    extent = "complete" if explored.complete else "not complete"
    counts = (
        f"{explored.distinct:,} {unit if explored.distinct != 1 else unit[:-1]}, {explored.generated:,} successors, "
        f"depth {explored.depth}: {extent}"
    )
    yield from labelled("explored", counts, width)
    yield from labelled("time", _time(outcome), width)


def _time(outcome: Outcome) -> str:
    """`0.30 s of search, 905,000 orbits a second; 2.70 s in all (staging 0.19 s, …)`."""
    explored, phases = outcome.explored, outcome.phases
    rate = f"{rate_text(explored.states_per_second)} {stored_unit(outcome)} a second"
    search = f"{seconds_text(explored.seconds)} of search, {rate}"
    told = ", ".join(f"{name} {seconds_text(spent)}" for name, spent in phases.items())
    return f"{search}; {seconds_text(sum(phases.values()))} in all ({told})" if phases else search


def stored_unit(outcome: Outcome) -> str:
    """What one stored state stands for."""
    return "orbits" if outcome.symmetry.order > 1 else "states"


def _symmetry(outcome: Outcome, width: int) -> Iterator[Line]:
    used = outcome.symmetry
    if used.order > 1:
        what = f"{used.group}, proved: an orbit stands for up to {used.order:,} states that differ in names only"
    else:
        what = "none: every state is explored by itself"
    yield from labelled("symmetry", what, width)
    for note in used.notes:
        for text in note.splitlines():
            yield line(text, Style.FAINT, " " * (LABEL_WIDTH + 2))


def _liveliness(outcome: Outcome, width: int) -> Iterator[Line]:
    """Whether anything happened at all: witnesses, and actions that nobody could take."""
    reached = [f"{name} in {steps_text(steps)}" for name, steps in outcome.witnesses.items() if steps is not None]
    missed = [name for name, steps in outcome.witnesses.items() if steps is None]
    if reached:
        yield from labelled("reached", ", ".join(reached), width)
    if missed:
        yield from labelled("not reached", ", ".join(missed), width, Style.DOUBT)
    if outcome.never_enabled:
        so_far = "" if outcome.explored.complete else " (as far as explored)"
        yield from labelled("not enabled", ", ".join(outcome.never_enabled) + so_far, width, Style.DOUBT)


def _invariants(subject: Subject, outcome: Outcome) -> list[Line]:
    return grid([_invariant_row(subject, found) for found in outcome.invariants])


def _invariant_row(subject: Subject, found: InvariantOutcome) -> list[Piece]:
    words = {
        Verdict.HOLDS: "holds",
        Verdict.VIOLATED: f"violated in {steps_text(found.steps or 0)}",
        Verdict.INCONCLUSIVE: "inconclusive: not violated as far as explored",
    }
    row = [plain(found.name), (words[found.verdict], STYLE_OF[found.verdict])]
    expected = surprise(subject, found)
    return [*row, (f"the spec expects: {expected}", Style.DOUBT)] if expected else row


def _story(subject: Subject, outcome: Outcome, stored: Mapping[str, Path], width: int) -> Iterator[Line]:
    """The shortest trace, and where it and the others are stored."""
    traces = sorted((found.trace for found in outcome.invariants if found.trace), key=lambda trace: len(trace.steps))
    if not traces:
        return
    together = [trace for trace in traces if same_story(trace, traces[0])]
    yield BLANK
    yield from tell(together, subject.name, telling=Telling(width))
    others = [trace for trace in traces if trace not in together]
    yield from _files(subject, [trace for trace in traces if trace.predicate.name in stored], others, stored)


def _files(
    subject: Subject, traces: Sequence[Trace], others: Sequence[Trace], stored: Mapping[str, Path]
) -> Iterator[Line]:
    """Where the traces are, and what to do with them next: hear the `others`, or else more of what was told. Commands
    and paths stay on one line, to be copied."""
    if not traces:
        return
    paths = {trace.predicate.name: stored[trace.predicate.name] for trace in traces}
    yield BLANK
    yield line("Stored:", Style.HEADING)
    yield from grid([[plain(str(paths[t.predicate.name])), faint(steps_text(len(t.steps)))] for t in traces])
    yield line("Next:", Style.HEADING)
    untold = [paths[trace.predicate.name] for trace in others if trace.predicate.name in paths]
    for path in untold:
        yield line(f"  {explaining(subject, path)}")
    if not untold:
        yield line(f"  {explaining(subject, next(iter(paths.values())), full=True)}")
