"""Wrong symmetry cannot pass, from end to end: what treats members differently is told in words, pruning shrinks to
what is left, and verdicts, steps and depths are those of the plain search over all states.

Some of these models are checked wrongly by whoever trusts a declared symmetry; that is shown too.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias

import pytest
from conformance import searched, whole_group
from lying_code import computing, lie
from native_calls import Calls
from symmetry_models import (
    a_is_not_locked_by_b,
    b_leads,
    c_never_leads,
    elect_first,
    elect_lowest,
    election,
    leader_is_alive,
    locks,
)

from checker.compile.packing import Packing
from checker.explore.reference import Found, search
from checker.outcome import Outcome, Verdict
from checker.prove.certificate import SymmetryCertificate
from checker.prove.symmetry import prove_symmetry
from checker.run import Options, check_protocol
from model.errors import InternalError
from model.kafka import NAMED_VARIANTS, Bounds, kafka
from model.language import (
    Bool,
    Member,
    Option,
    Protocol,
    Record,
    Scalarset,
    Sequence,
    Set,
    action,
    any_of,
    invariant,
    none,
    protocol,
    record,
    require,
)

Replica: TypeAlias = Member

ON, OFF, AUDIT = (Options(symmetry=symmetry, cache=False) for symmetry in ("on", "off", "audit"))


# Two replicas that differ in one action. The first to start is busy alone; after A has started, B may join in.


@action
def start(state: Any, replica: Replica) -> None:
    require(~any_of(state.busy.has(each) for each in state.busy.members()))
    state.busy.add(replica)


@action
def a_joins(state: Any, replica: Replica) -> None:
    require(replica == "A")
    require(state.busy.has("B"))
    state.busy.add(replica)


@action
def b_joins(state: Any, replica: Replica) -> None:
    require(replica == "B")
    require(state.busy.has("A"))
    state.busy.add(replica)


@invariant
def somebody_rests(state: Any) -> Any:
    return any_of(~state.busy.has(each) for each in state.busy.members())


def lopsided(*actions: Any) -> Protocol:
    replica = Scalarset("Replica", 2)
    return protocol(
        "lopsided",
        variables={"busy": Set(replica), "marked": Bool()},
        domains={"Replica": replica},
        actions=actions,
        invariants=[somebody_rests],
    )


# Ids hidden in messages: requests to everyone, and B alone answers. So it never has a request of its own answered.


@action
def answer_for_b(state: Any) -> None:
    require(state.inbox.has(0))
    require(state.inbox[0].target == "B")
    require(state.inbox[0].source != none)
    state.answered.add(state.inbox[0].source)
    state.inbox.truncate(0)


@action
def lose(state: Any) -> None:
    require(state.inbox.has(0))
    state.inbox.truncate(0)


@action
def ask(state: Any, source: Replica, target: Replica) -> None:
    require(source != target)
    require(~state.inbox.is_full)
    state.inbox.append(record(source=source, target=target))


@invariant
def somebody_waits(state: Any) -> Any:
    return any_of(~state.answered.has(each) for each in state.answered.members())


def requests() -> Protocol:
    replica = Scalarset("Replica", 3)
    return protocol(
        "requests",
        variables={
            "inbox": Sequence(Record(source=replica, target=Option(replica)), 1),
            "answered": Set(replica),
        },
        domains={"Replica": replica},
        actions=[ask, lose, answer_for_b],
        invariants=[somebody_waits],
    )


def a_leads(state: Any) -> None:
    state.leader = "A"
    state.live.add("A")


@invariant
def nobody_leads(state: Any) -> Any:
    return state.leader == none


# What must be said of each


@dataclass(frozen=True)
class Unfair:
    """A model that treats members differently, the group that is left, and parts of what must be told."""

    model: Protocol
    group: str
    told: tuple[str, ...]


UNFAIR: Final[dict[str, Unfair]] = {
    "a controller that prefers the lowest id": Unfair(
        election(election_rule=elect_lowest, invariants=[leader_is_alive, nobody_leads]),
        "trivial",
        (
            "Swapping A and B is not harmless: in this state elect_lowest(replica=A) is enabled, but in the same state",
            "with A and B swapped elect_lowest(replica=B) is not",
            "require(all_of(",
        ),
    ),
    "a controller that takes the first of a list": Unfair(
        election(election_rule=elect_first, invariants=[leader_is_alive, c_never_leads]),
        "trivial",
        (
            "Swapping A and B is not harmless: from this state elect_first() leads to leader = A",
            "elect_first() should lead to leader = B, but leads to A",
        ),
    ),
    "an invariant that names a replica": Unfair(
        election(invariants=[leader_is_alive, c_never_leads]),
        "Sym(A, B)",
        ("the invariant CNeverLeads is", 'return state.leader != "C"'),
    ),
    "a witness that names a replica": Unfair(
        election(witnesses=[b_leads]), "Sym(A, C)", ("Swapping A and B is not harmless: the witness BLeads is",)
    ),
    "an initial state with a fixed leader": Unfair(
        election(initial=a_leads),
        "Sym(B, C)",
        ("Swapping A and B is not harmless: it turns this initial state into one that is not initial", "leader   A"),
    ),
    "ids hidden in messages": Unfair(
        requests(), "Sym(A, C)", ("answer_for_b() is", "inbox[0].target", 'require(state.inbox[0].target == "B")')
    ),
    "one action of A alone": Unfair(
        lopsided(start, a_joins),
        "trivial",
        ("a_joins(replica=A) is enabled, but", "a_joins(replica=B) is never possible"),
    ),
    "one action of B alone": Unfair(
        lopsided(start, b_joins),
        "trivial",
        ("b_joins(replica=B) is enabled, but", "b_joins(replica=A) is never possible"),
    ),
    "two scalarsets, and an invariant that names one of each": Unfair(
        locks(a_is_not_locked_by_b),
        "Sym(Replica: B, C)",
        (
            "Swapping A and B of Client is not harmless: the invariant AIsNotLockedByB is",
            "Swapping A and B of Replica is not harmless: the invariant AIsNotLockedByB is",
        ),
    ),
}

each_unfair = pytest.mark.parametrize("unfair", UNFAIR.values(), ids=UNFAIR.keys())


@each_unfair
def test_it_is_told_in_words_and_pruning_shrinks(unfair: Unfair) -> None:
    outcome = check_protocol(unfair.model, ON)
    notes = "\n".join(outcome.symmetry.notes)
    assert outcome.symmetry.group == unfair.group
    assert outcome.symmetry.proved == (unfair.group != "trivial")
    for words in unfair.told:
        assert words in notes


@each_unfair
def test_verdicts_and_steps_are_those_of_all_states(unfair: Unfair) -> None:
    plain = search(unfair.model)
    reduced = search(unfair.model, prove_symmetry(unfair.model).certificate.group)
    assert expected_verdicts(reduced) == expected_verdicts(plain)
    for options in (ON, OFF, AUDIT):
        outcome = check_protocol(unfair.model, options)
        assert verdicts(outcome) == expected_verdicts(plain)
        assert outcome.witnesses == {name: steps(plain, name) for name in unfair.model.witness_names}
        assert outcome.explored.depth == plain.depth
        assert outcome.explored.distinct == (plain if options is OFF else reduced).distinct


def verdicts(outcome: Outcome) -> dict[str, tuple[Verdict, int | None]]:
    return {found.name: (found.verdict, found.steps) for found in outcome.invariants}


def expected_verdicts(plain: Found) -> dict[str, tuple[Verdict, int | None]]:
    return {
        name: (Verdict.HOLDS if plain.first[name] is None else Verdict.VIOLATED, steps(plain, name))
        for name in plain.protocol.invariant_names
    }


def steps(plain: Found, name: str) -> int | None:
    predicates = (*plain.protocol.invariants, *plain.protocol.witnesses)
    trace = plain.shortest(next(each for each in predicates if each.name == name))
    return None if trace is None else len(trace.steps)


# What happens to those who trust a declared symmetry


def test_trust_misses_a_violation() -> None:
    """Of three states, one stands for A and B. If it is the wrong one, the violation is not found: it says that no
    error has been found, after two states of four."""
    models = [lopsided(start, a_joins), lopsided(start, b_joins)]
    assert [search(model).distinct for model in models] == [4, 4]
    assert [outcome.verdict for outcome in map(check_protocol, models)] == [Verdict.VIOLATED, Verdict.VIOLATED]
    assert [outcome.invariants[0].steps for outcome in map(check_protocol, models)] == [2, 2]
    trusting = [search(model, whole_group(model)) for model in models]
    assert {(found.distinct, found.depth_of("SomebodyRests")) for found in trusting} == {(2, None), (3, 3)}
    natively = [searched(Calls(model, whole_group(model)), symmetric=True) for model in models]
    assert {(found.distinct, found.first[0] and found.first[0].depth) for found in natively} == {(2, None), (3, 3)}


def test_trust_finds_a_violation_that_is_none() -> None:
    """The one whose requests are not answered changes names, until everybody's are."""
    assert check_protocol(requests(), ON).verdict is Verdict.HOLDS
    assert search(requests(), whole_group(requests())).depth_of("SomebodyWaits") is not None


def test_trust_misses_a_violation_by_name() -> None:
    """Where A stands for all, C never leads."""
    model = UNFAIR["an invariant that names a replica"].model
    assert search(model).depth_of("CNeverLeads") == 3
    assert search(model, whole_group(model)).depth_of("CNeverLeads") is None


# An audit finds what a proof should have found


def audited(model: Protocol) -> Outcome:
    return check_protocol(model, AUDIT)


def test_an_audit_says_what_it_has_compared() -> None:
    model = kafka(NAMED_VARIANTS["published/kip-320"], Bounds(3, 1, 1, 2))
    orbits = search(model, whole_group(model)).distinct
    outcome = audited(model)
    assert outcome.symmetry.notes == (f"Audited: {orbits:,} orbits are all of the 6,787 states; same depths.",)
    assert (outcome.explored.distinct, outcome.verdict) == (orbits, Verdict.HOLDS)


@pytest.mark.parametrize("name", ["a witness that names a replica", "ids hidden in messages", "one action of B alone"])
def test_an_audit_finds_a_group_that_was_not_proved(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = UNFAIR[name].model
    monkeypatch.setattr(SymmetryCertificate, "group", property(lambda _: whole_group(model)))
    with pytest.raises(InternalError, match=r"symmetry|orbit|depths"):
        audited(model)


@action
def begin(state: Any, replica: Replica) -> None:
    require(~state.marked)
    require(~any_of(state.busy.has(each) for each in state.busy.members()))
    state.busy.add(replica)


def in_two_ways(marking: str, stopping: str) -> Protocol:
    """Somebody starts. One of the two may then set a mark, the other one may set it and stop."""

    @action
    def mark(state: Any) -> None:
        require(state.busy.has(marking))
        state.marked = True

    @action
    def stop(state: Any) -> None:
        require(state.busy.has(stopping))
        state.busy.remove(stopping)
        state.marked = True

    return lopsided(begin, mark, stop)


@pytest.mark.parametrize("names", ["AB", "BA"])
def test_an_audit_is_not_deceived_by_right_numbers(names: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody; A; B; A, marked; nobody, marked: five states on three levels. With A for both: nobody; A; A, marked, on
    three levels too, and of orbits of one, two and two states. But one orbit is missing."""
    model = in_two_ways(*names)
    assert (search(model).distinct, search(model).depth) == (5, 3)
    monkeypatch.setattr(SymmetryCertificate, "group", property(lambda _: whole_group(model)))
    with pytest.raises(InternalError, match=r"orbit"):
        audited(model)


@each_unfair
def test_an_audit_lets_nothing_pass_but_the_right_verdicts(unfair: Unfair, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too much symmetry may do no harm, if by chance the one state that is kept of several is the telling one."""
    monkeypatch.setattr(SymmetryCertificate, "group", property(lambda _: whole_group(unfair.model)))
    with contextlib.suppress(InternalError):
        assert verdicts(audited(unfair.model)) == expected_verdicts(search(unfair.model))


FAIR = {
    "election": election(invariants=[leader_is_alive, nobody_leads]),
    "published/kip-320": kafka(NAMED_VARIANTS["published/kip-320"], Bounds(3, 1, 1, 1)),
}
each_fair = pytest.mark.parametrize("model", FAIR.values(), ids=FAIR.keys())


@each_fair
def test_an_audit_finds_a_canonical_form_that_tells_too_much_apart(
    model: Protocol, monkeypatch: pytest.MonkeyPatch
) -> None:
    lie(monkeypatch, computing("canonical", partial(copy, lost=[0] * Packing(model).words)))
    with pytest.raises(InternalError, match="two states of one orbit"):
        audited(model)


@each_fair
def test_an_audit_finds_a_canonical_form_that_forgets_something(
    model: Protocol, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part of what A has."""
    packing = Packing(model)
    first = next(cell for cell in model.cells if cell.domain.bits and "[A]" in str(cell.path))
    lost = packing.positions[first.number]
    masks = [lost.mask if word == lost.word else 0 for word in range(packing.words)]
    lie(monkeypatch, computing("canonical", partial(copy, lost=masks)))
    with pytest.raises(InternalError):
        audited(model)


@action
def nobody_begins(state: Any) -> None:
    require(~any_of(state.busy.has(each) for each in state.busy.members()))
    state.marked = True


@pytest.mark.parametrize(
    ("with_mark", "told"), [(True, "cannot be reached"), (False, "the orbits found have 3 states, and there are 4")]
)
def test_an_audit_finds_a_canonical_form_that_takes_one_for_another(
    with_mark: bool, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All that A or B have done, and a mark that is set by nobody, become one: A, with a mark or without."""
    model = lopsided(begin, nobody_begins)
    bits = {str(cell.path): position.mask for cell, position in zip(model.cells, Packing(model).positions, strict=True)}
    everybody = sum(bits.values())
    representative = bits["busy[A]"] | (bits["marked"] if with_mark else 0)

    def canonical(state: Any, out: Any) -> None:
        out[0] = representative if state[0] & everybody else state[0]

    lie(monkeypatch, computing("canonical", canonical))
    with pytest.raises(InternalError, match=told):
        audited(model)


def copy(state: Any, out: Any, lost: list[int]) -> None:
    """Copy the words of a state, without the bits that get lost."""
    for number, mask in enumerate(lost):
        out[number] = state[number] & ~mask
