"""What `check --coverage` and `--threats` say: which conditions decide, and which promises a mutation can break."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from checker.coverage import ActionCount, Conjunct, ConjunctCount, Coverage, Threats
from checker.mutants import Mutant
from checker.outcome import Outcome
from checker.report.layout import Piece, cut, faint, grid, plain
from checker.report.mutants import mutant_lines
from checker.report.story import BLANK, Line, Style, line, wrapped

HEADINGS: Final = ("alone", "false", "asked")
LEAST_SOURCE: Final = 40
"""Columns that a condition wants beside its counts; where there are fewer, it goes below them."""

EXPLAINED: Final = (
    "For each condition: in how many pairs of a state and a step it is asked, in how many it is false, and in how many "
    "it alone is false, so that it decides."
)
NEVER: Final = (
    "These never decide anything. Each could be left out by itself, and the same steps would be enabled in the same "
    "states."
)
SAFE: Final = "No mutation threatens"


def coverage_report(outcome: Outcome, width: int) -> Iterator[Line]:
    """The counts of every action and condition, and then what is never needed; nothing if it was not asked for."""
    covered = outcome.coverage
    if covered is None:
        return
    yield BLANK
    yield from wrapped(_headline(covered, outcome), width, Style.HEADING)
    yield from wrapped(EXPLAINED, width, Style.FAINT)
    yield from _table(covered, width)
    yield from _never(covered, width)
    if outcome.threats is None:
        yield BLANK
        yield from wrapped("--threats says which promises no mutation of these rules breaks.", width, Style.FAINT)


def _headline(covered: Coverage, outcome: Outcome) -> str:
    """`Coverage of all 737,794 states:`"""
    unfolded = f" that the {outcome.explored.distinct:,} orbits stand for" if outcome.symmetry.order > 1 else ""
    if covered.complete:
        return f"Coverage of all {covered.states:,} states{unfolded}:"
    return f"Coverage of {covered.states:,} states{unfolded}, as far as explored, so that any 0 may be more:"


def _table(covered: Coverage, width: int) -> Iterator[Line]:
    rows = [count for action in covered.actions for count in action.conjuncts]
    places = max((len(_where(count.conjunct)) for count in rows), default=0)
    numbers = [max((len(heading), *_lengths(rows, heading))) for heading in HEADINGS]
    left = 4 + places + sum(2 + number for number in numbers) + 2
    beside = width - left if width - left >= LEAST_SOURCE else 0
    heads = "".join(f"  {heading:>{number}}" for heading, number in zip(HEADINGS, numbers, strict=True))
    yield BLANK
    yield line(f"    {'':{places}}{heads}", Style.FAINT)
    for action in covered.actions:
        yield from wrapped(_action(action), width, _style(action.taken, covered), margin="  ")
        for count in action.conjuncts:
            yield from _row(count, places, numbers, beside, width, _style(count.alone, covered))


def _lengths(rows: Sequence[ConjunctCount], heading: str) -> list[int]:
    return [len(f"{getattr(count, heading):,}") for count in rows]


def _style(count: int, covered: Coverage) -> Style:
    return Style.DOUBT if count == 0 and covered.complete else Style.PLAIN


def _action(action: ActionCount) -> str:
    name = action.action
    if not action.steps:
        return f"{name}: no choice of its parameters makes sense at these bounds"
    states = f"{action.enabled:,} state{'s' * (action.enabled != 1)}"
    return f"{name}: enabled in {states}, {action.taken:,} step{'s' * (action.taken != 1)} taken"


def _row(
    count: ConjunctCount, places: int, numbers: Sequence[int], beside: int, width: int, style: Style
) -> Iterator[Line]:
    """Place and counts, with the condition beside them or below."""
    found = (f"{getattr(count, heading):,}" for heading in HEADINGS)
    told = "".join(f"  {each:>{number}}" for each, number in zip(found, numbers, strict=True))
    pieces: list[Piece] = [plain(f"    {_where(count.conjunct):{places}}"), (told, style)]
    if beside:
        pieces.append(plain(f"  {cut(_condition(count.conjunct), beside)}"))
    yield Line(tuple(pieces))
    if not beside:
        yield line(cut(_condition(count.conjunct), width - 8), Style.FAINT, " " * 8)


def _where(conjunct: Conjunct) -> str:
    return conjunct.place.portable if conjunct.place else "(no file)"


def _condition(conjunct: Conjunct) -> str:
    """The line of the source; of several conditions on one line, the one that is meant."""
    source = conjunct.place.source() if conjunct.place else ""
    return conjunct.shown if conjunct.is_one_of_several or not source else source


def _never(covered: Coverage, width: int) -> Iterator[Line]:
    if not covered.complete:
        return
    yield BLANK
    if not covered.undecided:
        yield line("Every condition decides somewhere.", Style.GOOD)
        return
    yield from wrapped(NEVER, width, Style.HEADING)
    always = [count for count in covered.undecided if count.false == 0]
    others = [count for count in covered.undecided if count.false]
    yield from _listed("Never false:", always, width)
    yield from _listed("False only where another condition of the step is false too:", others, width)


def _listed(title: str, counts: Sequence[ConjunctCount], width: int) -> Iterator[Line]:
    if counts:
        yield from wrapped(title, width, margin="  ")
        room = width - 8 - sum(max(map(len, column)) for column in zip(*map(_name, counts), strict=True))
        yield from grid([_named(count, room) for count in counts], margin="    ")


def _name(count: ConjunctCount) -> tuple[str, str]:
    return count.conjunct.action, _where(count.conjunct)


def _named(count: ConjunctCount, room: int) -> list[Piece]:
    row: list[Piece] = [(text, Style.DOUBT) for text in _name(count)]
    return [*row, faint(cut(_condition(count.conjunct), room))] if room >= LEAST_SOURCE // 2 else row


# Promises


def threats_report(outcome: Outcome, width: int) -> Iterator[Line]:
    """What mutations do to each promise that holds; nothing if it was not asked for."""
    threats = outcome.threats
    if threats is None:
        return
    yield BLANK
    tried = f"{threats.tried} mutant{'s' * (threats.tried != 1)} tried"
    yield from wrapped(f"Promises that a mutation of the rules breaks ({tried}):", width, Style.HEADING)
    for name, mutant in threats.threatened.items():
        yield line(f"  {name}, {mutant.action}")
        yield from mutant_lines(mutant, width)
    if not threats.threatened:
        yield line("  none", Style.FAINT)
    for label, names, style in (
        (SAFE, threats.safe, Style.DOUBT),
        ("Not known, as a search met a limit", threats.unknown, Style.DOUBT),
        ("Violated without any mutation", threats.fallen, Style.BAD),
    ):
        if names:
            yield from wrapped(f"{label}: {', '.join(names)}", width, style)


# For other programs


def coverage_document(covered: Coverage | None) -> dict[str, Any]:
    """The key `coverage` of a result, if it was asked for."""
    if covered is None:
        return {}
    return {
        "coverage": {
            "states": covered.states,
            "complete": covered.complete,
            "actions": [_action_document(each) for each in covered.actions],
            "never_decide": [_conjunct_document(count.conjunct) for count in covered.undecided],
        }
    }


def _action_document(action: ActionCount) -> dict[str, Any]:
    return {
        "action": action.action,
        "where": action.place.portable if action.place else None,
        "steps": action.steps,
        "enabled": action.enabled,
        "taken": action.taken,
        "conjuncts": [
            {**_conjunct_document(count.conjunct), "asked": count.asked, "false": count.false, "alone": count.alone}
            for count in action.conjuncts
        ],
    }


def _conjunct_document(conjunct: Conjunct) -> dict[str, Any]:
    return {
        "action": conjunct.action,
        "where": conjunct.place.portable if conjunct.place else None,
        "part": conjunct.part,
        "source": conjunct.place.source() if conjunct.place else None,
        "condition": conjunct.shown,
    }


def threats_document(threats: Threats | None) -> dict[str, Any]:
    """The key `threats` of a result, if they were asked for."""
    if threats is None:
        return {}
    return {
        "threats": {
            "threatened": {name: _mutant_document(mutant) for name, mutant in threats.threatened.items()},
            "safe": list(threats.safe),
            "unknown": list(threats.unknown),
            "tried": threats.tried,
        }
    }


def _mutant_document(mutant: Mutant) -> dict[str, Any]:
    return {
        "action": mutant.action,
        "where": mutant.place.portable,
        "change": mutant.change.value,
        "part": mutant.part,
        "source": mutant.source,
    }
