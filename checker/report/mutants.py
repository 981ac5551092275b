"""What `mutate` says: of every mutant who catches it and how, or that it survives, and why that is no harm."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, Final

from checker.equivalents import Equivalent
from checker.fates import Fate, Finding, Hunt
from checker.mutants import Mutant
from checker.report.layout import cut, faint, plain
from checker.report.story import BLANK, Line, Style, line, listed, wrapped

MUTATION: Final = "tidegauge/mutation/1"


def mutation_report(found: Hunt, width: int) -> tuple[Line, ...]:
    """The whole report; what needs somebody's attention stands at its end."""
    return tuple(_lines(found, width))


def _lines(found: Hunt, width: int) -> Iterator[Line]:
    yield from wrapped(_headline(found), width, _style(found))
    yield from wrapped(f"Specs: {', '.join(found.specs)}.", width, Style.FAINT)
    yield from _section("Caught", found.caught, width)
    yield from _explanations(found.explained, width)
    yield from _section("Undecided", found.undecided, width)
    yield from _section("SURVIVE, unexplained", found.unexplained, width)
    yield from _wrong(found, width)


def _headline(found: Hunt) -> str:
    """`110 mutants: 48 caught, 62 survive, of which 60 are explained.`"""
    survivors = len(found.explained) + len(found.unexplained)
    told = [f"{len(found.caught)} caught", f"{survivors} survive{'s' * (survivors == 1)}"]
    if found.undecided:
        told.append(f"{len(found.undecided)} undecided")
    explained = f", of which {len(found.explained)} are explained" if survivors else ""
    return f"{len(found.fates)} mutants: {', '.join(told)}{explained}."


def _style(found: Hunt) -> Style:
    return {0: Style.GOOD, 1: Style.BAD}.get(found.exit_code, Style.DOUBT)


def _section(title: str, fates: Sequence[Fate], width: int) -> Iterator[Line]:
    if not fates:
        return
    yield BLANK
    yield line(f"{title}:", Style.HEADING)
    for action, group in groupby(fates, key=lambda fate: fate.mutant.action):
        yield line(f"  {action}")
        for fate in group:
            yield from mutant_lines(fate.mutant, width)
            yield from wrapped(_told(fate), width, _STYLE[fate.finding], margin=" " * 6)


_STYLE: Final = {Finding.CAUGHT: Style.GOOD, Finding.SURVIVES: Style.BAD, Finding.UNDECIDED: Style.DOUBT}


def mutant_lines(mutant: Mutant, width: int) -> Iterator[Line]:
    """The place, the change and the line; of a line with several conditions, the one that is meant."""
    where, change = f"    {mutant.place.portable}", f"  {mutant.change.value}: "
    yield Line((plain(where), faint(change), plain(cut(mutant.source, width - len(where + change)))))
    if mutant.shown and mutant.is_one_of_several:
        yield line(cut(f"the condition {mutant.shown}", width - 6), Style.FAINT, " " * 6)


def _told(fate: Fate) -> str:
    match fate.finding:
        case Finding.CAUGHT:
            return f"{fate.how} ({fate.spec})"
        case Finding.UNDECIDED:
            return f"{fate.how} ({fate.spec})" if fate.spec else fate.how
        case Finding.SURVIVES:
            return (
                f"other states in {fate.spec}, but no promise broken" if fate.spec else "the same states in every spec"
            )


def _explanations(fates: Sequence[Fate], width: int) -> Iterator[Line]:
    """Mutants that share an explanation stand together."""
    if not fates:
        return
    yield BLANK
    yield line("Survive, explained:", Style.HEADING)
    entries = dict.fromkeys(fate.equivalent for fate in fates if fate.equivalent is not None)
    for entry in entries:
        mine = [fate for fate in fates if fate.equivalent is entry]
        actions = listed(list(dict.fromkeys(fate.mutant.action for fate in mine)))
        yield line(f"  {actions}")
        yield from mutant_lines(mine[0].mutant, width)
        differs = any(fate.spec for fate in mine)
        kind = "other states, no promise broken" if differs else "the same states in every spec"
        yield from wrapped(f"{kind}: {entry.why}", width, Style.FAINT, margin=" " * 6)


def _wrong(found: Hunt, width: int) -> Iterator[Line]:
    """Explanations of what is caught after all, or of nothing."""
    if not found.refuted and not found.stale:
        return
    yield BLANK
    yield line("Explanations that are wrong:", Style.HEADING)
    for fate in found.refuted:
        assert fate.equivalent is not None
        text = f"{fate.mutant.action}, {fate.mutant.change.value}: {fate.mutant.source} is caught: {_told(fate)}"
        yield from wrapped(f"{_where(fate.equivalent)}: {text}", width, Style.BAD, margin="  ")
    for entry in found.stale:
        text = f"{_where(entry)}: no mutant is meant by {entry.source!r}"
        yield from wrapped(text, width, Style.BAD, margin="  ")


def _where(entry: Equivalent) -> str:
    return entry.place.portable if entry.place else ""


# For other programs


def mutation_document(found: Hunt) -> dict[str, Any]:
    """The document of a hunt (schema `tidegauge/mutation/1`)."""
    return {
        "schema": MUTATION,
        "specs": list(found.specs),
        "mutants": [_document(fate) for fate in found.fates],
        "caught": len(found.caught),
        "explained": len(found.explained),
        "unexplained": len(found.unexplained),
        "undecided": len(found.undecided),
        "wrong_explanations": [_explanation(entry) for entry in _wrong_entries(found)],
    }


def _document(fate: Fate) -> dict[str, Any]:
    mutant = fate.mutant
    return {
        "action": mutant.action,
        "change": mutant.change.value,
        "source": mutant.source,
        "part": mutant.part,
        "where": mutant.place.portable,
        "finding": fate.finding.value,
        "spec": fate.spec or None,
        "how": _told(fate),
        "why": fate.equivalent.why if fate.is_explained and fate.equivalent else None,
    }


def _wrong_entries(found: Hunt) -> list[Equivalent]:
    refuted = [fate.equivalent for fate in found.refuted if fate.equivalent is not None]
    return list(dict.fromkeys((*refuted, *found.stale)))


def _explanation(entry: Equivalent) -> dict[str, Any]:
    return {"actions": list(entry.actions), "change": entry.change.value, "source": entry.source, "part": entry.part}
