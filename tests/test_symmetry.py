"""Symmetry is proved or not used: models that treat members differently are refuted, in words, and pruning shrinks."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from source_tree import ROOT, modules

from checker.cache import Cache
from checker.prove.certificate import (
    Attempt,
    Component,
    Finding,
    Group,
    Kind,
    Obligation,
    SymmetryCertificate,
    components,
    connected,
    rotation,
    swap,
)
from checker.prove.equivariance import Equivariance
from checker.prove.refutation import Refutation, Renaming, plainest
from checker.prove.symmetry import SymmetryReport, prove_symmetry
from model.errors import InternalError
from model.kafka.protocol import kafka
from model.kafka.variant import NAMED_VARIANTS, Bounds
from model.language import (
    Bool,
    Map,
    Member,
    Number,
    Option,
    Protocol,
    Range,
    Record,
    Scalarset,
    Sequence,
    Set,
    action,
    all_of,
    any_of,
    first,
    implies,
    invariant,
    none,
    protocol,
    reachable,
    record,
    require,
    successors,
    where,
)
from model.language import expr as ex
from model.language.protocol import Action, Condition, Permutation, State, Step, Update

Replica: TypeAlias = Member
Client: TypeAlias = Member
Epoch: TypeAlias = Number


# A small election: who is alive, who leads.


@action
def fail(state: Any, replica: Replica) -> None:
    require(state.live.has(replica))
    state.live.remove(replica)
    state.leader = where(state.leader == replica, none, state.leader)


@action
def recover(state: Any, replica: Replica) -> None:
    require(~state.live.has(replica))
    state.live.add(replica)


@action
def elect(state: Any, replica: Replica) -> None:
    require(state.leader == none)
    require(state.live.has(replica))
    state.leader = replica


@action
def elect_lowest(state: Any, replica: Replica) -> None:
    """A controller that prefers the lowest replica id."""
    require(state.leader == none)
    require(state.live.has(replica))
    require(all_of(~state.live.has(other) for other in state.live.members() if other.position < replica.position))
    state.leader = replica


@action
def elect_first(state: Any) -> None:
    """The same controller, its preference hidden in the update."""
    require(state.leader == none)
    state.leader = first(((state.live.has(each), each) for each in state.live.members()), otherwise=none)


@invariant
def leader_is_alive(state: Any) -> Any:
    return implies(state.leader != none, any_of((state.leader == r) & state.live.has(r) for r in state.live.members()))


@invariant
def c_never_leads(state: Any) -> Any:
    return state.leader != "C"


@reachable
def somebody_leads(state: Any) -> Any:
    return state.leader != none


@reachable
def b_leads(state: Any) -> Any:
    return state.leader == "B"


def election(replicas: int = 3, election_rule: Any = elect, **changed: Any) -> Protocol:
    replica = Scalarset("Replica", replicas)
    parts: dict[str, Any] = {
        "variables": {"leader": Option(replica), "live": Set(replica)},
        "domains": {"Replica": replica},
        "actions": [fail, recover, election_rule],
        "invariants": [leader_is_alive],
        "witnesses": [somebody_leads],
    }
    return protocol("election", **(parts | changed))


def group_of(model: Protocol) -> str:
    return prove_symmetry(model).certificate.group.name


def told_of(report: SymmetryReport, sentence: str) -> Refutation:
    """The refutation whose text contains every line of `sentence`."""
    lines = [line.strip() for line in sentence.strip().splitlines()]
    found = [each for each in report.refutations if all(line in str(each) for line in lines)]
    assert found, "\n".join(map(str, report.refutations)) or "nothing was refuted"
    return found[0]


def reachable_states(model: Protocol) -> set[State]:
    seen, fresh = set(model.initial), list(model.initial)
    while fresh:
        for _, after in successors(model, fresh.pop()):
            if after not in seen:
                seen.add(after)
                fresh.append(after)
    return seen


def assert_sound(model: Protocol) -> SymmetryReport:
    """What was proved is true of the reachable states, as the evaluator sees them."""
    report = prove_symmetry(model)
    states = reachable_states(model)
    for permutation in report.certificate.group.transpositions():
        renaming = Renaming(model, permutation)
        for state in states:
            image = renaming.state(state)
            assert image in states
            here = {renaming.state(after) for _, after in successors(model, state)}
            assert here == {after for _, after in successors(model, image)}
            assert not any(renaming.harms_predicate(p, state) for p in (*model.invariants, *model.witnesses))
    return report


@pytest.mark.parametrize("replicas", [1, 2, 3, 4, 5])
def test_a_fair_election_is_wholly_symmetric(replicas: int) -> None:
    report = assert_sound(election(replicas))
    assert report.certificate.group.name == (f"Sym({replicas})" if replicas > 1 else "trivial")
    assert len(report.certificate.attempts) == min(replicas - 1, 2)
    assert not report.refutations
    assert not report.unknowns


def test_a_certificate_says_what_was_proved() -> None:
    certificate = prove_symmetry(election()).certificate
    assert [attempt.permutation.image for attempt in certificate.attempts] == [(1, 0, 2), (1, 2, 0)]
    for attempt in certificate.generators:
        named = {(part.kind, part.name, part.count, part.finding) for part in attempt.obligations}
        assert named == {
            (Kind.INITIAL, "", 1, Finding.PROVED),
            (Kind.ACTION, "fail", 3, Finding.PROVED),
            (Kind.ACTION, "recover", 3, Finding.PROVED),
            (Kind.ACTION, "elect", 3, Finding.PROVED),
            (Kind.INVARIANT, "LeaderIsAlive", 1, Finding.PROVED),
            (Kind.WITNESS, "SomebodyLeads", 1, Finding.PROVED),
        }
        assert attempt.count(Kind.ACTION) == 9


@pytest.mark.parametrize("variant", NAMED_VARIANTS)
def test_the_published_models_are_symmetric(variant: str) -> None:
    report = prove_symmetry(kafka(NAMED_VARIANTS[variant], Bounds(3, 2, 2, 3)))
    assert report.certificate.group.name == "Sym(3)"
    assert report.certificate.normal_form


def test_five_kafka_replicas_are_symmetric() -> None:
    assert group_of(kafka(NAMED_VARIANTS["published/kip-320"], Bounds(5, 2, 2, 2))) == "Sym(5)"


# Wrong symmetry cannot pass


def test_a_controller_that_prefers_the_lowest_id_in_its_guard() -> None:
    report = assert_sound(election(election_rule=elect_lowest))
    assert report.certificate.group.is_trivial
    found = told_of(
        report,
        """
        Swapping A and B is not harmless: in this state elect_lowest(replica=A) is enabled, \
but in the same state with A and B swapped elect_lowest(replica=B) is not.
                 this state  with A and B swapped
        leader   none        none
        live[A]  yes         yes
        live[B]  yes         yes
        """,
    )
    assert found.place is not None
    assert "require(all_of(" in str(found)


def test_a_controller_that_prefers_the_lowest_id_in_its_update() -> None:
    report = assert_sound(election(election_rule=elect_first))
    assert report.certificate.group.is_trivial
    told_of(
        report,
        """
        Swapping A and B is not harmless: from this state elect_first() leads to leader = A; from the same state with
        """.strip(),
    )
    told_of(report, "elect_first() should lead to leader = B, but leads to A")
    told_of(report, "state.leader = first(")


def test_an_invariant_that_names_a_replica() -> None:
    report = assert_sound(election(invariants=[leader_is_alive, c_never_leads]))
    assert report.certificate.group.name == "Sym(A, B)"
    found = told_of(report, "the invariant CNeverLeads is")
    assert 'return state.leader != "C"' in str(found)
    assert {part.name for part in obligations(report, Finding.REFUTED)} == {"CNeverLeads"}


def test_an_invariant_that_was_not_selected_does_not_count() -> None:
    model = election(invariants=[leader_is_alive, c_never_leads])
    assert group_of(model.selecting(["LeaderIsAlive"])) == "Sym(3)"
    assert group_of(model.selecting(["CNeverLeads"])) == "Sym(A, B)"


def test_a_witness_that_names_a_replica() -> None:
    report = assert_sound(election(witnesses=[b_leads]))
    assert report.certificate.group.name == "Sym(A, C)"
    told_of(report, "Swapping A and B is not harmless: the witness BLeads is")


def a_leads(state: Any) -> None:
    state.leader = "A"
    state.live.add("A")


def test_an_initial_state_with_a_fixed_leader() -> None:
    report = assert_sound(election(initial=a_leads))
    assert report.certificate.group.name == "Sym(B, C)"
    told_of(
        report,
        """
        Swapping A and B is not harmless: it turns this initial state into one that is not initial.
        leader   A           B
        """,
    )


def anyone_leads(state: Any, replica: Replica) -> None:
    state.leader = replica
    state.live.add(replica)


def test_initial_states_count_as_a_set() -> None:
    report = assert_sound(election(initial=anyone_leads))
    assert report.certificate.group.name == "Sym(3)"
    assert report.certificate.attempts[0].count(Kind.INITIAL) == 3


@action
def promote(state: Any, replica: Replica) -> None:
    require(state.leader == none)
    require(replica != "A")
    state.leader = replica


def test_an_action_that_one_replica_lacks() -> None:
    report = assert_sound(election(actions=[fail, recover, promote]))
    assert report.certificate.group.name == "Sym(B, C)"
    told_of(report, "promote(replica=B) is enabled, but promote(replica=A) is never possible")


@action
def step_down(state: Any, replica: Replica) -> None:
    require(state.leader == replica)
    state.leader = none
    if replica.position == 0:
        state.live.remove(replica)


def test_two_replicas_that_differ_in_one_action() -> None:
    """A checker that trusts a declared symmetry looks at half of the states and reports no error."""
    model = election(replicas=2, actions=[recover, elect, step_down])
    report = assert_sound(model)
    assert report.certificate.group.is_trivial
    told_of(report, "step_down(replica=B) should lead to live[B] = no, but leads to yes")


@action
def impossible(state: Any, replica: Replica) -> None:
    """No replica but A has this step, and A cannot take it either, which only a solver sees."""
    require(replica == "A")
    require(state.leader != none)
    require(all_of(state.leader != each for each in state.live.members()))


def test_a_step_that_is_never_enabled_needs_no_counterpart() -> None:
    assert assert_sound(election(actions=[fail, recover, elect, impossible])).certificate.group.name == "Sym(3)"


# Ids hidden in values

Hidden: TypeAlias = Callable[[Scalarset], Any]


@action
def send(state: Any, source: Replica, target: Replica) -> None:
    require(source != target)
    require(~state.inbox.is_full)
    state.inbox.append(record(source=source, target=target))
    state.seen[source].add(target)
    state.latest[source] = target


@action
def answer(state: Any) -> None:
    require(~state.inbox.is_empty)
    message = state.inbox.last
    require(message.source != none)
    state.seen[message.source].remove(message.target)
    state.inbox.truncate(state.inbox.length - 1)


@action
def answer_as_a(state: Any) -> None:
    require(~state.inbox.is_empty)
    require(state.inbox.last.target == "A")
    state.inbox.truncate(state.inbox.length - 1)


def mail(*actions: Any, replicas: int = 3, **changed: Any) -> Protocol:
    replica = Scalarset("Replica", replicas)
    message = Record(source=replica, target=Option(replica))
    return protocol(
        "mail",
        variables={
            "inbox": Sequence(message, 2),
            "seen": Map(replica, Set(replica)),
            "latest": Map(replica, Option(replica)),
        },
        domains={"Replica": replica},
        actions=actions,
        **changed,
    )


def test_ids_in_messages_sets_and_maps_are_renamed() -> None:
    report = assert_sound(mail(send, answer))
    assert report.certificate.group.name == "Sym(3)"
    assert report.certificate.normal_form


def test_an_id_fixed_in_the_treatment_of_messages() -> None:
    report = assert_sound(mail(send, answer_as_a))
    assert report.certificate.group.name == "Sym(B, C)"
    found = told_of(report, "answer_as_a() is")
    assert any(cell.path == "inbox[0].target" or cell.path == "inbox[1].target" for cell in found.cells)


@action
def ask_around(state: Any, replica: Replica) -> None:
    state.buddy[replica] = state.buddy[state.latest]
    state.latest = replica


def test_the_value_of_a_map_where_there_is_no_key() -> None:
    """A map of replicas reads as A for the key none, which is a preference for A."""
    replica = Scalarset("Replica", 3)
    model = protocol(
        "buddies",
        variables={"latest": Option(replica), "buddy": Map(replica, replica)},
        domains={"Replica": replica},
        actions=[ask_around],
        initial=everyone_is_their_own_buddy,
    )
    report = assert_sound(model)
    assert report.certificate.group.name == "Sym(B, C)"
    told_of(report, "Swapping A and B is not harmless: from this state ask_around(replica=A) leads to buddy[A] =")


def everyone_is_their_own_buddy(state: Any) -> None:
    for replica in state.buddy:
        state.buddy[replica] = replica


@invariant
def nobody_writes_to_themselves(state: Any) -> Any:
    return all_of(implies(state.inbox.has(at), state.inbox[at].source != state.inbox[at].target) for at in (0, 1))


def test_comparing_ids_with_each_other_is_harmless() -> None:
    assert group_of(mail(send, answer, invariants=[nobody_writes_to_themselves])) == "Sym(3)"


def test_every_kind_of_place_is_renamed() -> None:
    """By hand: A and B change names in keys, members of sets, values of maps, and fields of messages."""
    model = mail(send, answer, replicas=2)
    cells = {str(cell.path): cell.number for cell in model.cells}
    state = [cell.domain.low for cell in model.cells]
    for path, value in {"inbox.length": 1, "inbox[0].source": 0, "inbox[0].target": 1, "seen[A][B]": 1}.items():
        state[cells[path]] = value
    state[cells["latest[A]"]] = 1
    image = Renaming(model, swap("Replica", 2, 0, 1)).state(tuple(state))
    assert image == model.permuted(tuple(state), swap("Replica", 2, 0, 1))
    nonzero = {path: image[number] for path, number in cells.items() if image[number] not in (0, -1)}
    assert nonzero == {"inbox.length": 1, "inbox[0].source": 1, "seen[B][A]": 1}
    assert image[cells["inbox[0].target"]] == 0
    assert image[cells["latest[B]"]] == 0


# Several scalarsets


@action
def lock(state: Any, client: Client, replica: Replica) -> None:
    require(state.holder[replica] == none)
    state.holder[replica] = client


@action
def unlock(state: Any, replica: Replica) -> None:
    require(state.holder[replica] != none)
    state.holder[replica] = none


@invariant
def a_is_not_locked_by_b(state: Any) -> Any:
    return state.holder["A"] != "B"


def locks(*invariants: Any) -> Protocol:
    replica, client = Scalarset("Replica", 3), Scalarset("Client", 2)
    return protocol(
        "locks",
        variables={"holder": Map(replica, Option(client))},
        domains={"Replica": replica, "Client": client},
        actions=[lock, unlock],
        invariants=invariants,
    )


def test_two_scalarsets_give_the_product() -> None:
    group = assert_sound(locks()).certificate.group
    assert group.name == "Sym(Client) x Sym(Replica)"
    assert group.order == 12


def test_what_breaks_one_scalarset_leaves_the_rest_of_the_other() -> None:
    report = assert_sound(locks(a_is_not_locked_by_b))
    assert report.certificate.group.name == "Sym(Replica: B, C)"
    told_of(report, "Swapping A and B of Client is not harmless: the invariant AIsNotLockedByB is")
    told_of(report, "Swapping A and B of Replica is not harmless")


# Budget, interruption


def test_a_budget_of_almost_nothing_proves_nothing_and_says_so() -> None:
    report = prove_symmetry(election(), budget=1)
    assert report.certificate.group.is_trivial
    assert len(report.certificate.attempts) == 3
    assert not report.refutations
    assert "Swapping A and B: not known for action fail, the budget is spent" in report.unknowns


def test_an_unknown_rotation_is_replaced_by_swaps(monkeypatch: pytest.MonkeyPatch) -> None:
    attempt = Equivariance.attempt

    def too_hard(self: Equivariance, permutation: Permutation) -> Attempt:
        if permutation == rotation("Replica", 4):
            return Attempt(permutation, (Obligation(Kind.ACTION, "elect", 4, Finding.UNKNOWN, reason="too hard"),))
        return attempt(self, permutation)

    monkeypatch.setattr(Equivariance, "attempt", too_hard)
    report = prove_symmetry(election(4))
    assert [each.finding for each in report.certificate.attempts[:2]] == [Finding.PROVED, Finding.UNKNOWN]
    swaps = [each.permutation.image for each in report.certificate.attempts[2:]]
    assert swaps == [(2, 1, 0, 3), (3, 1, 2, 0)]  # with A and B, these reach every arrangement
    assert report.certificate.group.name == "Sym(4)"
    assert not report.unknowns  # nothing stands in the way of a larger group


def test_progress_is_told_in_words() -> None:
    said: list[str] = []
    prove_symmetry(election(), progress=said.append)
    assert said == ["Swapping A and B", "Renaming A to B, B to C, C to A"]


def test_equal_input_gives_equal_output() -> None:
    reports = [prove_symmetry(election(election_rule=rule)) for rule in (elect_first, elect, elect_first)]
    assert reports[0] == reports[2]
    assert list(map(str, reports[0].refutations)) == list(map(str, reports[2].refutations))


# Unused places of sequences


@action
def append(state: Any, replica: Replica) -> None:
    require(~state.log.is_full)
    state.log.append(record(owner=replica))


@invariant
def second_place_is_used_or_not_b(state: Any) -> Any:
    return (state.log.length == 2) | (state.log[1].owner != "B")


def logs() -> Protocol:
    replica = Scalarset("Replica", 2)
    return protocol(
        "logs",
        variables={"log": Sequence(Record(owner=replica), 2), "noted": Bool()},
        domains={"Replica": replica},
        actions=[append],
        invariants=[second_place_is_used_or_not_b],
    )


def with_scribbling(model: Protocol) -> Protocol:
    """The language has no way to write into a place that is not in use; here is a step that does."""
    cells = {str(cell.path): cell for cell in model.cells}
    empty = Condition(ex.equal(cells["log.length"].read(), ex.constant(0)), None)
    writes_b = Update(cells["log[1].owner"].number, ex.constant(1, "Replica"), None, True)
    step = Step(len(model.steps), "scribble", (), (empty,), (writes_b,))
    scribble = Action("scribble", (), True, None, "")
    return dataclasses.replace(model, actions=(*model.actions, scribble), steps=(*model.steps, step))


def test_unused_places_hold_the_lowest_value_and_the_proof_may_use_it() -> None:
    certificate = assert_sound(logs()).certificate
    assert certificate.normal_form
    assert certificate.group.name == "Sym(2)"


def test_unused_places_are_not_trusted_when_an_action_writes_there() -> None:
    report = assert_sound(with_scribbling(logs()))
    assert not report.certificate.normal_form
    assert report.certificate.group.is_trivial
    told_of(report, "the invariant SecondPlaceIsUsedOrNotB is")


# Faults


@action
def count_up(state: Any, replica: Replica) -> None:
    state.count[replica] = state.count[replica] + 1


def test_a_possible_fault_is_the_same_for_every_replica() -> None:
    replica = Scalarset("Replica", 3)
    model = protocol(
        "counters", variables={"count": Map(replica, Range(0, 2))}, domains={"Replica": replica}, actions=[count_up]
    )
    assert not any(update.proved for step in model.steps for update in step.updates)
    assert group_of(model) == "Sym(3)"


# The evaluator has the last word


def test_a_refutation_that_the_evaluator_does_not_confirm_is_an_internal_error() -> None:
    with pytest.raises(InternalError, match="does not agree"):
        plainest(lambda _: False, lambda _: True, (0,), (0,))


def test_the_refuting_state_is_as_plain_as_can_be() -> None:
    """The third number can only go once the second has gone."""
    assert plainest(lambda s: s[1] + s[3] > 0, lambda s: s[0] >= s[1], (1, 1, 5, 1), (0, 0, 0, 0)) == (0, 0, 0, 1)


@pytest.mark.parametrize("model", [election(2, rule) for rule in (elect, elect_lowest, elect_first)] + [logs()])
def test_findings_are_those_of_looking_at_every_state(model: Protocol) -> None:
    report = prove_symmetry(model)
    states = list(product(*(cell.domain.codes() for cell in model.cells)))
    for attempt in report.certificate.attempts:
        renaming = Renaming(model, attempt.permutation)
        for part in attempt.obligations:
            if part.kind is Kind.ACTION:
                steps = [step for step in model.steps if step.action == part.name]
                harm = any(renaming.harms_step(step, state) for step in steps for state in states)
                assert (part.finding is Finding.REFUTED) == harm


# Certificates


def test_only_the_prover_makes_certificates() -> None:
    model = election()
    with pytest.raises(InternalError, match="something other than the prover"):
        SymmetryCertificate(model.content_hash, model.scalarsets, True, (), object())
    with pytest.raises(ValueError, match="seal"):
        dataclasses.replace(prove_symmetry(model).certificate, attempts=())  # type: ignore[call-arg]  # what is tested
    users = [name for name, path in modules().items() if re.search(r"\b_SEAL\b", path.read_text(encoding="utf-8"))]
    assert users == ["checker.prove.certificate", "checker.prove.symmetry"]


def test_a_certificate_speaks_of_one_protocol() -> None:
    certificate = prove_symmetry(election()).certificate
    certificate.require_for(election())
    with pytest.raises(InternalError, match="another protocol than election"):
        certificate.require_for(election(election_rule=elect_lowest))


def obligations(report: SymmetryReport, finding: Finding) -> list[Any]:
    return [part for each in report.certificate.attempts for part in each.obligations if part.finding is finding]


REPLICAS = Scalarset("Replica", 4)


@pytest.mark.parametrize(
    ("proved", "members"),
    [
        ([], []),
        ([swap("Replica", 4, 0, 1), rotation("Replica", 4)], [(0, 1, 2, 3)]),
        ([rotation("Replica", 4)], []),
        ([swap("Replica", 4, 0, 2), rotation("Replica", 4)], [(0, 2)]),
        ([swap("Replica", 4, 0, 1), swap("Replica", 4, 2, 3)], [(0, 1), (2, 3)]),
        ([swap("Replica", 4, 1, 3), swap("Replica", 4, 2, 3)], [(1, 2, 3)]),
        ([swap("Client", 4, 1, 3)], []),
    ],
)
def test_components_follow_from_proved_permutations(proved: list[Permutation], members: list[tuple[int, ...]]) -> None:
    assert [part.members for part in components(REPLICAS, proved)] == members


def test_connected_components() -> None:
    assert connected(5, [(3, 1), (4, 0)]) == ((0, 4), (1, 3), (2,))


def test_groups() -> None:
    replica, client = Scalarset("Replica", 4), Scalarset("Client", 2)
    group = Group((Component("Client", (0, 1)), Component("Replica", (0, 2, 3))), (client, replica))
    assert group.order == 12
    assert group.name == "Sym(Client) x Sym(Replica: A, C, D)"
    assert [p.image for p in group.transpositions()] == [(1, 0), (2, 1, 0, 3), (0, 1, 3, 2)]
    elements = list(group.elements())
    assert elements[0] == (Permutation("Client", (0, 1)), Permutation("Replica", (0, 1, 2, 3)))
    assert len(set(elements)) == group.order
    assert all(permutation in group for element in elements for permutation in element)
    assert swap("Replica", 4, 0, 1) not in group
    assert Group((Component("Replica", (0, 1, 2)),)).name == "Sym(3)"
    assert (Group().name, Group().order, Group().is_trivial) == ("trivial", 1, True)
    assert list(Group().elements()) == [()]


def test_impossible_groups_are_refused() -> None:
    with pytest.raises(InternalError):
        Component("Replica", (1,))
    with pytest.raises(InternalError):
        Group((Component("Replica", (0, 1)), Component("Replica", (1, 2))))
    with pytest.raises(InternalError):
        Group((Component("Replica", (0, 4)),), (REPLICAS,))


# Kept between runs


def test_a_stored_certificate_equals_a_fresh_one(tmp_path: Path) -> None:
    cache, model = Cache(tmp_path), election(election_rule=elect_first, invariants=[c_never_leads])
    fresh, again = (prove_symmetry(model, cache=cache) for _ in range(2))
    assert (fresh.from_cache, again.from_cache) == (False, True)
    assert fresh == again
    assert list(map(str, fresh.refutations)) == list(map(str, again.refutations))


def test_other_invariants_or_another_budget_are_another_proof(tmp_path: Path) -> None:
    cache, model = Cache(tmp_path), election(invariants=[leader_is_alive, c_never_leads])
    prove_symmetry(model, cache=cache)
    assert not prove_symmetry(model, budget=1_000_000, cache=cache).from_cache
    assert not prove_symmetry(model.selecting(["LeaderIsAlive"]), cache=cache).from_cache


def claim_all_is_proved(stored: Any) -> None:
    for attempt in stored["attempts"]:
        for part in attempt["obligations"]:
            part["finding"] = "proved"


def drop_an_invariant(stored: Any) -> None:
    for attempt in stored["attempts"]:
        del attempt["obligations"][-1]


def drop_an_attempt(stored: Any) -> None:
    del stored["attempts"][0]


def refute_with_a_harmless_state(stored: Any) -> None:
    for attempt in stored["attempts"]:
        for part in attempt["obligations"]:
            if part["finding"] == "refuted":
                part["state"] = [0 for _ in part["state"]]


@pytest.mark.parametrize(
    "spoil", [drop_an_invariant, drop_an_attempt, refute_with_a_harmless_state, claim_all_is_proved]
)
def test_a_stored_certificate_that_does_not_fit_is_proved_afresh(tmp_path: Path, spoil: Callable[[Any], None]) -> None:
    cache, model = Cache(tmp_path), election(election_rule=elect_first)
    fresh = prove_symmetry(model, cache=cache)
    (entry,) = (tmp_path / "symmetry").iterdir()
    stored = json.loads(cache.load("symmetry", entry.name) or b"")
    spoil(stored)
    cache.store("symmetry", entry.name, json.dumps(stored).encode())
    again = prove_symmetry(model, cache=cache)
    assert (again.from_cache, again) == (False, fresh)


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b"\xff", b'{"normal_form": true, "attempts": [3]}'])
def test_a_stored_certificate_that_is_none_is_proved_afresh(tmp_path: Path, content: bytes) -> None:
    cache, model = Cache(tmp_path), election()
    prove_symmetry(model, cache=cache)
    (entry,) = (tmp_path / "symmetry").iterdir()
    cache.store("symmetry", entry.name, content)
    assert not prove_symmetry(model, cache=cache).from_cache
    assert prove_symmetry(model, cache=cache).from_cache


def test_importing_the_prover_does_not_load_z3() -> None:
    code = "import sys, checker.prove.symmetry; sys.exit('z3' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_seconds_are_not_compared() -> None:
    assert Attempt(swap("Replica", 2, 0, 1), (), 1.0) == Attempt(swap("Replica", 2, 0, 1), (), 2.0)
