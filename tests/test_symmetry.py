"""Symmetry is proved or not used: models that treat members differently are refuted, in words, and pruning shrinks."""

from __future__ import annotations

import dataclasses
from itertools import product
from typing import Any, TypeAlias

import pytest
from symmetry_models import (
    a_is_not_locked_by_b,
    answer,
    answer_as_a,
    b_leads,
    c_never_leads,
    elect,
    elect_first,
    elect_lowest,
    election,
    fail,
    leader_is_alive,
    locks,
    logs,
    mail,
    recover,
    send,
)

from checker.prove.certificate import (
    Attempt,
    Finding,
    Kind,
    Obligation,
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
    Map,
    Member,
    Option,
    Protocol,
    Range,
    Scalarset,
    action,
    all_of,
    implies,
    invariant,
    none,
    protocol,
    require,
    successors,
)
from model.language import expr as ex
from model.language.protocol import Action, Condition, Permutation, State, Step, Update

Replica: TypeAlias = Member


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


@pytest.mark.parametrize("variant", NAMED_VARIANTS)
def test_the_kafka_variants_are_symmetric(variant: str) -> None:
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


def test_two_scalarsets_give_the_product() -> None:
    group = assert_sound(locks()).certificate.group
    assert group.name == "Sym(Client) x Sym(Replica)"
    assert group.order == 12


def test_what_breaks_one_scalarset_leaves_the_rest_of_the_other() -> None:
    report = assert_sound(locks(a_is_not_locked_by_b))
    assert report.certificate.group.name == "Sym(Replica: B, C)"
    told_of(report, "Swapping A and B of Client is not harmless: the invariant AIsNotLockedByB is")
    told_of(report, "Swapping A and B of Replica is not harmless")


# Budget


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


def obligations(report: SymmetryReport, finding: Finding) -> list[Any]:
    return [part for each in report.certificate.attempts for part in each.obligations if part.finding is finding]
