"""What `prove` says: which permutations were tried, what z3 showed of each part, and what stood in the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from checker.prove.certificate import Attempt, Finding, Kind, SymmetryCertificate
from checker.report.layout import Piece, faint, grid, plain, seconds_text
from checker.report.story import BLANK, Line, Style, line, listed, wrapped
from checker.report.subject import Subject, within
from model.language.protocol import Permutation

_STYLE = {Finding.PROVED: Style.GOOD, Finding.REFUTED: Style.BAD, Finding.UNKNOWN: Style.DOUBT}

#: One and many of what a part of the protocol counts.
_UNITS = {
    Kind.INITIAL: ("initial state", "initial states"),
    Kind.ACTION: ("step", "steps"),
    Kind.INVARIANT: ("invariant", "invariants"),
    Kind.WITNESS: ("witness", "witnesses"),
}

MEANING = (
    "Proved: z3 has shown for every state that fits the types, reachable or not, that with members renamed the same "
    "steps are possible, that they lead to the same states but for names, and that every invariant and witness is as "
    "true as before."
)


class Proof(Protocol):
    """The certificate and, in words, what stands in the way of a larger group."""

    @property
    def certificate(self) -> SymmetryCertificate: ...

    @property
    def refutations(self) -> Sequence[object]: ...

    @property
    def unknowns(self) -> Sequence[str]: ...

    @property
    def from_cache(self) -> bool: ...


def proof_report(subject: Subject, proof: Proof, naming: Callable[[Permutation], str], width: int) -> tuple[Line, ...]:
    """The whole report; `naming` puts a permutation into words."""
    return tuple(_lines(subject, proof, naming, width))


def _lines(subject: Subject, proof: Proof, naming: Callable[[Permutation], str], width: int) -> Iterator[Line]:
    yield from wrapped(f"{subject.name}: {_finding(proof)}.", width, Style.HEADING)
    yield from wrapped(within(subject), width, Style.FAINT)
    yield BLANK
    for attempt in proof.certificate.attempts:
        yield from _attempt(attempt, naming(attempt.permutation))
    if proof.from_cache:
        yield from wrapped(
            "All this was proved in an earlier run and kept; --no-cache proves it anew.", width, Style.FAINT
        )
    for text, style in _obstacles(proof):
        yield from _told(text, width, style)
        yield BLANK
    if proof.certificate.attempts:
        yield from wrapped(MEANING, width, Style.FAINT)


def _obstacles(proof: Proof) -> Iterator[tuple[str, Style]]:
    yield from ((str(refutation), Style.BAD) for refutation in proof.refutations)
    yield from ((unknown, Style.DOUBT) for unknown in proof.unknowns)


def _finding(proof: Proof) -> str:
    group, scalarsets = proof.certificate.group, proof.certificate.scalarsets
    if all(scalarset.count < 2 for scalarset in scalarsets):
        return "there is nothing to permute"
    if group.is_trivial:
        return "no permutation is proved harmless, so none will be used"
    whole = {(part.scalarset, len(part.members)) for part in group.components}
    everything = whole == {(each.name, each.count) for each in scalarsets if each.count > 1}
    if everything:
        names = listed([each.name.lower() for each in scalarsets])
        return f"all {group.order:,} permutations ({group.name}) of {names}s are proved harmless"
    return f"{group.order:,} permutations ({group.name}) are proved harmless, and more are not"


def _attempt(attempt: Attempt, name: str) -> Iterator[Line]:
    took = f" in {seconds_text(attempt.seconds)}"
    yield Line((plain(f"  {name}: "), (attempt.finding.value, _STYLE[attempt.finding]), faint(took)))
    parts = {finding: _parts(attempt, finding) for finding in Finding}
    rows: list[list[Piece]] = [
        [(finding.value, _STYLE[finding]), plain(told)] for finding, told in parts.items() if told
    ]
    yield from grid([row[1:] for row in rows] if len(rows) == 1 else rows, margin="    ")
    yield BLANK


def _parts(attempt: Attempt, finding: Finding) -> str:
    """`1 initial state, 57 steps, 3 invariants and 2 witnesses`: what came out so."""
    counts = {kind: attempt.count(kind, finding) for kind in Kind}
    return listed([f"{count} {_UNITS[kind][count != 1]}" for kind, count in counts.items() if count])


def _told(text: str, width: int, style: Style) -> Iterator[Line]:
    """The sentence wrapped, the table below it as it stands unless it is too wide."""
    sentence, *table = text.splitlines()
    yield from wrapped(sentence, width, style)
    for row in table:
        margin = row[: len(row) - len(row.lstrip())]
        yield from wrapped(row.lstrip(), width, margin=margin) if len(row) > width else [line(row)]
