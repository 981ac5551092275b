"""Which mutants of a model some spec catches.

A spec *catches* a mutant if an invariant that holds of the model is violated, or a witness is no longer reached, or an
action is never enabled any more, or a step leaves its domain. A mutant that no spec catches is equivalent, as far as
the invariants go, or asks for a spec that nobody has written. Which ones are equivalent, and why, is written down in
a file (`equivalents`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from checker.equivalents import Equivalent
from checker.fates import Fate, Finding, Hunt
from checker.mutants import Mutant, family, member, mutants_of
from checker.run import DEFAULTS, NOBODY, STOPPED_IN_WORDS, Options, Prepared, Search, Watch, prepare
from checker.spec import Expectation
from model.errors import UsageError
from model.language.protocol import Predicate
from model.language.protocol import Protocol as Model


class _Interrupted(Exception):  # not an error
    """Somebody pressed Ctrl-C during a search."""


class Subject(Protocol):
    """What a mutant is tried on: a spec, or whatever else has a protocol and expects something of it."""

    @property
    def name(self) -> str: ...

    @property
    def expect(self) -> Mapping[str, Expectation]: ...

    def protocol(self) -> Model: ...


def hunt(
    specs: Sequence[Subject],
    known: Sequence[Equivalent] = (),
    options: Options = DEFAULTS,
    watch: Watch = NOBODY,
    *,
    everything: bool = False,
    wanted: Callable[[Mutant], bool] = lambda _: True,
) -> Hunt:
    """The fate of every mutant that is wanted, of every spec's protocol; the same mutant of several specs is one.
    `everything` says that these are all specs and mutants there are, so that an entry of `known` without one is stale.

    Cost: one proof and one compilation for each spec, then a search for each mutant that no earlier spec has caught.
    Raises `UsageError` for a spec that does not stand as it is, without any mutation.
    """
    protocols = [(spec, spec.protocol()) for spec in specs]
    fates = {mutant: Fate(mutant) for _, protocol in protocols for mutant in mutants_of(protocol) if wanted(mutant)}
    interrupted = False
    try:
        for spec, protocol in protocols:
            for fate in _fates(spec, protocol, fates, options, watch):
                fates[fate.mutant] = fate
    except _Interrupted:
        interrupted = True
        fates = {mutant: fate if fate.is_caught else _undecided(fate) for mutant, fate in fates.items()}
    found = Hunt(tuple(spec.name for spec in specs), tuple(fates.values()), was_interrupted=interrupted)
    return _explained(found, known, everything)


def _undecided(fate: Fate) -> Fate:
    return replace(fate, finding=Finding.UNDECIDED, how=STOPPED_IN_WORDS["interrupted"])


def _explained(found: Hunt, known: Sequence[Equivalent], everything: bool) -> Hunt:
    fates = tuple(
        replace(fate, equivalent=next((entry for entry in known if entry.matches(fate.mutant)), None))
        for fate in found.fates
    )
    matched = {fate.equivalent for fate in fates}
    stale = tuple(entry for entry in known if entry not in matched) if everything else ()
    return replace(found, fates=fates, stale=stale)


# One spec


@dataclass(frozen=True, slots=True)
class _Standard:
    """What a spec says of the model itself: which invariants hold, which witnesses are reached, which actions taken."""

    spec: Subject
    holding: tuple[Predicate, ...]
    reached: tuple[Predicate, ...]
    taken: frozenset[str]
    counts: tuple[int, int]


def _fates(spec: Subject, protocol: Model, fates: dict[Mutant, Fate], options: Options, watch: Watch) -> Iterator[Fate]:
    """The fates of those mutants of a spec that nobody has caught before."""
    mutants = [mutant for mutant in mutants_of(protocol) if mutant in fates and not fates[mutant].is_caught]
    if not mutants:
        return
    watch.spec(spec.name)
    whole = family(protocol, mutants)
    prepared = prepare(whole, options, watch)
    watch.phase("searching the model itself")
    standard = _standard(spec, _searched(prepared, 0, 0, options, watch))
    stop_mask = sum(1 << number for number, each in enumerate(whole.invariants) if each in standard.holding)
    for number, mutant in enumerate(mutants, start=1):
        watch.phase(f"mutant {number} of {len(mutants)}")
        yield _fate(fates[mutant], standard, _searched(prepared, number, stop_mask, options, watch))


def _searched(prepared: Prepared, number: int, stop_mask: int, options: Options, watch: Watch) -> Search:
    search = prepared.search(options, watch, member(prepared.protocol, number), stop_mask)
    if search.exploration.stopped is not None and search.exploration.stopped.value == "interrupted":
        raise _Interrupted
    return search


def _standard(spec: Subject, search: Search) -> _Standard:
    found, protocol = search.exploration, search.protocol
    if not found.complete:
        why = STOPPED_IN_WORDS.get(found.stopped.value, "a step leaves its domain") if found.stopped else ""
        raise UsageError(f"{spec.name} cannot be explored to its end: {why}", instead="Choose smaller bounds")
    holding = tuple(each for each in protocol.invariants if search.steps_to(each) is None)
    for name, expected in spec.expect.items():
        if expected.steps is None and name not in {each.name for each in holding}:
            raise UsageError(
                f"{spec.name} expects that {name} holds, and it does not", instead=f"Run tidegauge check {spec.name}"
            )
    reached = tuple(each for each in protocol.witnesses if search.steps_to(each) is not None)
    return _Standard(spec, holding, reached, frozenset(_taken(search)), (found.distinct, found.generated))


def _taken(search: Search) -> set[str]:
    steps = zip(search.protocol.steps, search.exploration.steps_taken, strict=True)
    return {step.action for step, count in steps if count}


def _fate(fate: Fate, standard: _Standard, search: Search) -> Fate:
    how = _caught(standard, search)
    if how:
        return Fate(fate.mutant, Finding.CAUGHT, standard.spec.name, how)
    found = search.exploration
    if found.complete:
        differs = not fate.spec and (found.distinct, found.generated) != standard.counts
        return replace(fate, spec=standard.spec.name) if differs else fate
    why = STOPPED_IN_WORDS[found.stopped.value] if found.stopped else ""
    return Fate(fate.mutant, Finding.UNDECIDED, standard.spec.name, why)


def _caught(standard: _Standard, search: Search) -> str:
    """How a spec notices that its protocol was changed; empty if it does not."""
    fault = search.fault()
    if fault is not None:
        return f"{fault.what.partition(', which ')[0]}, outside its domain"
    fallen = [(search.steps_to(each), each.name) for each in standard.holding]
    shortest = min(((steps, name) for steps, name in fallen if steps is not None), default=None)
    if shortest is not None:
        steps, name = shortest
        return f"{name} falls in {steps} step{'s' * (steps != 1)}"
    if not search.exploration.complete:
        return ""
    missed = [each.name for each in standard.reached if search.steps_to(each) is None]
    if missed:
        return f"{missed[0]} is not reached"
    idle = sorted(standard.taken - _taken(search))
    return f"{idle[0]} is never enabled" if idle else ""
