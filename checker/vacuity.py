"""Which promises a mutation can break. One that no mutation breaks may be true whatever the rules are, or say nothing.

Each rule of the model is weakened alone (`checker.mutants`), and the mutant is searched until a promise falls of which
none was known to fall. As soon as every promise has fallen for some mutant, there is nothing left to ask: that is why
it mostly takes a few searches, and one for each mutant only where a promise resists them all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from checker.coverage import Threats
from checker.mutants import Mutant, family, member, mutants_of
from checker.mutation import Subject
from checker.outcome import INTERRUPTED, Outcome, Verdict
from checker.run import DEFAULTS, NOBODY, STOPPED_IN_WORDS, Options, Prepared, Search, Watch, prepare
from model.language.protocol import Predicate


def with_threats(spec: Subject, outcome: Outcome, options: Options = DEFAULTS, watch: Watch = NOBODY) -> Outcome:
    """The outcome of a check with what mutations do to the promises that hold.

    `options` limit each search. If one of them meets a limit, or a Ctrl-C comes, and some promise may still be
    threatened, then that is a reservation: what was asked for is not known.
    """
    holding = [found.name for found in outcome.invariants if found.verdict is Verdict.HOLDS]
    fallen = tuple(found.name for found in outcome.invariants if found.verdict is Verdict.VIOLATED)
    open_ones = tuple(found.name for found in outcome.invariants if found.verdict is Verdict.INCONCLUSIVE)
    quest = _Quest(spec, holding, replace(options, fail_fast=False, coverage=False), watch)
    why = quest.run()
    left = tuple(quest.left)
    unknown = left if why else ()
    threats = Threats(quest.found, left if not why else (), (*unknown, *open_ones), fallen, quest.tried)
    if not unknown:
        return replace(outcome, threats=threats)
    told = f"Whether a mutation threatens {', '.join(unknown)} is not known: {why}."
    return replace(outcome, threats=threats, reservations=(*outcome.reservations, told))


class _Quest:
    """The search for mutants that break promises. `left` are the promises that none has broken so far."""

    def __init__(self, spec: Subject, holding: list[str], options: Options, watch: Watch) -> None:
        self.found: dict[str, Mutant] = {}
        self.left = dict.fromkeys(holding)
        self.tried = 0
        self._spec = spec
        self._options = options
        self._watch = watch

    def run(self) -> str:
        """Why it could not be found out of all promises; empty if it could."""
        if not self.left:
            return ""
        try:
            return self._run()
        except KeyboardInterrupt:
            return INTERRUPTED

    def _run(self) -> str:
        protocol = self._spec.protocol()
        mutants = mutants_of(protocol)
        prepared = prepare(family(protocol, mutants), self._options, self._watch)
        limit = ""
        for number, mutant in enumerate(mutants, start=1):
            if not self.left:
                return ""
            self._watch.phase(f"mutant {number} of {len(mutants)}")
            self.tried += 1
            for search in self._searches(prepared, number):
                self._take(search, mutant)
                limit = limit or _limit(search)
                if _limit(search) == INTERRUPTED:
                    return INTERRUPTED
        return limit if self.left else ""

    def _searches(self, prepared: Prepared, number: int) -> Iterator[Search]:
        """Of one mutant: each ends with a promise that falls for the first time, the last one at the end."""
        before = None
        while self.left and before != len(self.left):
            before = len(self.left)
            invariants = enumerate(prepared.protocol.invariants)
            stop_mask = sum(1 << bit for bit, invariant in invariants if invariant.name in self.left)
            yield prepared.search(self._options, self._watch, member(prepared.protocol, number), stop_mask)

    def _take(self, search: Search, mutant: Mutant) -> None:
        for invariant in _broken(search):
            if invariant.name in self.left:
                del self.left[invariant.name]
                self.found[invariant.name] = mutant


def _broken(search: Search) -> list[Predicate]:
    return [invariant for invariant in search.protocol.invariants if search.steps_to(invariant) is not None]


def _limit(search: Search) -> str:
    """The limit that ended a search. A step that leaves its domain is none: there the mutant has no meaning."""
    stopped = search.exploration.stopped
    return STOPPED_IN_WORDS[stopped.value] if stopped and stopped.value not in ("fail-fast", "fault") else ""
