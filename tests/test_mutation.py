"""Mutants: which there are, that one protocol holds them all, and who catches which."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from command_line import elsewhere, schema, tidegauge
from syrupy.assertion import SnapshotAssertion

from checker.equivalents import Equivalent, load_equivalents, shipped_file
from checker.fates import Fate, Finding, Hunt
from checker.mutants import SELECTOR, Change, Mutant, family, member, mutants_of
from checker.mutation import hunt
from checker.run import Options, check_protocol
from checker.spec import Expectation, load_spec
from model.errors import SpecError, UsageError
from model.language import (
    Option,
    Protocol,
    Range,
    Scalarset,
    Set,
    action,
    any_of,
    invariant,
    none,
    protocol,
    reachable,
    require,
    successors,
)

Client = Scalarset("Client", 2)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere(tmp_path, tmp_path_factory.getbasetemp() / "cache", monkeypatch)


# A lock that may be taken twice in all


@action
def acquire(state: Any, client: Client) -> None:  # type: ignore[valid-type]  # a domain, not a class
    require((state.holder == none) & (state.uses < 2))
    state.holder = client
    state.inside.add(client)
    state.uses = state.uses + 1


@action
def release(state: Any, client: Client) -> None:  # type: ignore[valid-type]
    require(state.holder == client)
    require(state.inside.has(client))
    state.holder = none
    state.inside.remove(client)


@invariant
def one_inside(state: Any) -> Any:
    return state.inside.size <= 1


@reachable
def somebody_inside(state: Any) -> Any:
    return any_of(state.inside.has(client) for client in state.inside.members())


def lock() -> Protocol:
    return protocol(
        "lock",
        variables={"holder": Option(Client), "inside": Set(Client), "uses": Range(0, 2)},
        actions=[acquire, release],
        invariants=[one_inside],
        witnesses=[somebody_inside],
    )


@dataclass(frozen=True)
class Imagined:
    """Something to try mutants on that is no spec."""

    made: Protocol
    name: str = "lock"
    expect: Mapping[str, Expectation] = field(default_factory=dict)

    def protocol(self) -> Protocol:
        return self.made


#: Every mutant of the lock: the line, the change, and what becomes of it.
FATES = {
    ("acquire", "require((state.holder == none) & (state.uses < 2))", Change.DROPPED, 1): "OneInside falls in 2 steps",
    ("acquire", "require((state.holder == none) & (state.uses < 2))", Change.DROPPED, 2): (
        "acquire(client=A) assigns 3 to uses, outside its domain"
    ),
    ("acquire", "require((state.holder == none) & (state.uses < 2))", Change.LOOSENED, 2): (
        "acquire(client=A) assigns 3 to uses, outside its domain"
    ),
    ("acquire", "state.holder = client", Change.FORGOTTEN, 1): "OneInside falls in 2 steps",
    ("acquire", "state.inside.add(client)", Change.FORGOTTEN, 1): "SomebodyInside is not reached",
    ("acquire", "state.uses = state.uses + 1", Change.FORGOTTEN, 1): "",  # other states: it goes on for ever
    ("release", "require(state.holder == client)", Change.DROPPED, 1): "",  # who is inside holds the lock
    ("release", "require(state.inside.has(client))", Change.DROPPED, 1): "",  # who holds the lock is inside
    ("release", "state.holder = none", Change.FORGOTTEN, 1): "",  # other states: nobody gets the lock again
    ("release", "state.inside.remove(client)", Change.FORGOTTEN, 1): "OneInside falls in 3 steps",
}


def key(mutant: Mutant) -> tuple[str, str, Change, int]:
    return (mutant.action, mutant.source, mutant.change, mutant.part)


def test_the_fate_of_every_mutant() -> None:
    found = hunt([Imagined(lock())], options=Options(cache=False))
    assert {key(fate.mutant): fate.how for fate in found.fates} == FATES
    assert {key(fate.mutant)[1:3] for fate in found.unexplained if fate.spec} == {
        ("state.uses = state.uses + 1", Change.FORGOTTEN),
        ("state.holder = none", Change.FORGOTTEN),
    }
    assert (len(found.caught), len(found.unexplained), found.exit_code) == (6, 4, 1)


@pytest.mark.parametrize("symmetry", ["on", "off"])
def test_each_member_of_a_family_is_its_mutant(symmetry: str) -> None:
    """The first is the protocol itself; the others change the steps of one action, and nothing else."""
    made = lock()
    mutants = mutants_of(made)
    whole = family(made, mutants)
    whole.check()
    assert len(whole.initial) == len(mutants) + 1
    plain = check_protocol(made, Options(cache=False, symmetry=symmetry))
    same = check_protocol(replace(whole, initial=member(whole, 0)), Options(cache=False, symmetry=symmetry))
    assert same.explored.distinct == plain.explored.distinct
    assert same.explored.generated == plain.explored.generated
    for number, mutant in enumerate(mutants, start=1):
        changed = {
            step.action
            for state in member(whole, number)
            for step, after in successors(whole, state)
            if (*after[:-1], 0) not in [found for _, found in successors(whole, (*state[:-1], 0))]
        }
        assert changed <= {mutant.action}


def test_a_family_has_one_variable_more() -> None:
    whole = family(lock(), mutants_of(lock()))
    assert list(whole.variables) == ["holder", "inside", "uses", SELECTOR]
    assert all(state[-1] == number for number in range(11) for state in member(whole, number))


def test_what_is_required_twice_is_one_condition() -> None:
    @action
    def twice(state: Any) -> None:
        require(state.uses < 2)
        require(state.uses < 2)
        state.uses = state.uses + 1

    made = protocol("twice", variables={"uses": Range(0, 2)}, actions=[twice], invariants=[small])
    found = hunt([Imagined(made)], options=Options(cache=False))
    assert [fate.how for fate in found.fates] == ["twice() assigns 3 to uses, outside its domain"] * 2 + [""]


@invariant
def small(state: Any) -> Any:
    return state.uses <= 2


def test_a_model_that_does_not_stand_catches_nothing() -> None:
    """Else every mutant would seem to be caught."""

    @invariant
    def nobody_inside(state: Any) -> Any:
        return state.inside.size == 0

    made = protocol(
        "lock",
        variables={"holder": Option(Client), "inside": Set(Client), "uses": Range(0, 2)},
        actions=[acquire, release],
        invariants=[one_inside, nobody_inside],
    )
    with pytest.raises(UsageError, match="lock expects that NobodyInside holds, and it does not"):
        hunt([Imagined(made, expect={"NobodyInside": Expectation()})], options=Options(cache=False))
    found = hunt([Imagined(made, expect={"NobodyInside": Expectation(1)})], options=Options(cache=False))
    same = {how for how in FATES.values() if how and "is not reached" not in how}
    assert {fate.how for fate in found.caught} == {*same, "release is never enabled"}


def test_a_limit_decides_nothing() -> None:
    @action
    def count(state: Any) -> None:
        require(state.uses < 2)
        state.uses = state.uses + 1

    made = protocol("counter", variables={"uses": Range(0, 9)}, actions=[count], invariants=[at_most_nine])
    found = hunt([Imagined(made)], options=Options(cache=False, max_states=6))
    assert {fate.mutant.change: fate.how for fate in found.fates} == {
        Change.DROPPED: "the limit on stored states was reached",
        Change.LOOSENED: "",
        Change.FORGOTTEN: "",
    }
    assert [fate.finding for fate in found.undecided] == [Finding.UNDECIDED]
    with pytest.raises(UsageError, match="cannot be explored to its end"):
        hunt([Imagined(made)], options=Options(cache=False, max_states=2))


@invariant
def at_most_nine(state: Any) -> Any:
    return state.uses <= 9


# Explanations

ENTRY = """
[[equivalent]]
action = ["acquire", "release"]
change = "assignment forgotten"
source = "state.holder = none"
why = \"\"\"Nobody gets
the lock again.\"\"\"
"""


def explanations(text: str = ENTRY) -> tuple[Equivalent, ...]:
    Path("known.toml").write_text(text, encoding="utf-8")
    return load_equivalents(Path("known.toml"))


def test_an_entry_means_mutants_by_their_line() -> None:
    (entry,) = explanations()
    assert [key(mutant) for mutant in mutants_of(lock()) if entry.matches(mutant)] == [
        ("release", "state.holder = none", Change.FORGOTTEN, 1)
    ]
    assert entry.why == "Nobody gets the lock again."
    assert str(entry.place) == "known.toml:2"


def test_an_entry_may_name_the_function() -> None:
    (meant,) = explanations(ENTRY.replace("why =", 'function = "release"\nwhy ='))
    (other,) = explanations(ENTRY.replace("why =", 'function = "acquire"\nwhy ='))
    assert [meant.matches(mutant) for mutant in mutants_of(lock())].count(True) == 1
    assert not any(other.matches(mutant) for mutant in mutants_of(lock()))
    assert {mutant.function for mutant in mutants_of(lock())} == {"acquire", "release"}


def test_explained_survivors_are_no_failure() -> None:
    (entry,) = explanations()
    survivor = next(mutant for mutant in mutants_of(lock()) if entry.matches(mutant))
    caught = Fate(survivor, Finding.CAUGHT, "lock", "OneInside falls in 2 steps", entry)
    assert Hunt(("lock",), (Fate(survivor, equivalent=entry),)).exit_code == 0
    assert Hunt(("lock",), (Fate(survivor),)).exit_code == 1
    assert Hunt(("lock",), (caught,)).exit_code == 1  # the explanation is wrong
    assert Hunt(("lock",), (), (entry,)).exit_code == 1  # it is about nothing
    assert Hunt(("lock",), (Fate(survivor, Finding.UNDECIDED),)).exit_code == 3


def test_an_entry_without_a_mutant_is_stale_if_every_spec_took_part() -> None:
    known = explanations(ENTRY.replace("= none", "= nobody"))
    one = hunt([Imagined(lock())], known, Options(cache=False), everything=True)
    assert one.stale == known
    assert hunt([Imagined(lock())], known, Options(cache=False)).stale == ()


MISTAKES = {
    "unknown change": ('"assignment forgotten"', '"forgotten"', "known.toml:4: there is no change 'forgotten'. "),
    "no reason": ('"""Nobody gets\nthe lock again."""', '" "', "known.toml:6: why is empty."),
    "no source": ('source = "state.holder = none"', "", "known.toml:2: source is missing. "),
    "part zero": ("why =", "part = 0\nwhy =", "known.toml:6: part is 0. Give a whole number, at least 1."),
    "unknown key": ("why =", "because =", "known.toml:6: [equivalent.0] has no key 'because'. "),
    "no action": ('["acquire", "release"]', "[1]", "known.toml:3: an action is 1. Give names of actions."),
    "another table": ("[[equivalent]]", "[[equivalents]]", "known.toml:2: a spec has no key 'equivalents'. "),
    "one table": ("[[equivalent]]", "[equivalent]", "known.toml:2: equivalent is a table. Write [[equivalent]]."),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_in_the_file_get_their_line(mistake: str) -> None:
    old, new, expected = MISTAKES[mistake]
    assert old in ENTRY
    with pytest.raises(SpecError) as caught:
        explanations(ENTRY.replace(old, new))
    told = str(caught.value)
    assert told.startswith(expected) if expected.endswith(" ") else told == expected


def test_the_shipped_explanations_are_in_order() -> None:
    known = load_equivalents(shipped_file())
    assert known
    meant = [
        (name, entry.change, entry.source, entry.function, entry.part) for entry in known for name in entry.actions
    ]
    assert len(meant) == len(set(meant))
    assert all(entry.why.endswith((".", ".)")) for entry in known)


# The shipped model

#: Rules that KIP-320 stands on: the action, the change, and the line.
IMPORTANT = {
    "clean elections": ("elect_from_isr", Change.DROPPED, "require(state.quorum.isr.has(replica))"),
    "one leader an epoch": ("become_leader", Change.DROPPED, "require(request.leader == leader)"),
    "newer requests only": ("become_leader", Change.DROPPED, "require(replica.leader_epoch < epoch)"),
    "an entry at election (KAFKA-7415)": (
        "become_leader",
        Change.FORGOTTEN,
        "replica.epoch_cache = assigned(replica.epoch_cache, epoch, replica.log.length)",
    ),
    "acks=all": (
        "advance_high_watermark",
        Change.DROPPED,
        "require(waits_for.all(lambda follower: synchrony.caught_up(state, follower, leader, offset + 1)))",
    ),
    "joining at the high watermark": (
        "leader_expands_isr",
        Change.DROPPED,
        "return (position != none) & (position >= offset)",
    ),
    "fetches are fenced": (
        "fetch_record",
        Change.DROPPED,
        "same_epoch = state.replicas[follower].leader_epoch == state.replicas[leader].leader_epoch",
    ),
    "truncate, then fetch": ("fetch_record", Change.DROPPED, "require(~replica.truncating)"),
    "truncation is fenced": (
        "ask_and_truncate",
        Change.DROPPED,
        "return presumes_leadership(state, leader) & (state.replicas[leader].leader_epoch == epoch)",
    ),
    "truncate": ("ask_and_truncate", Change.FORGOTTEN, "replica.log.truncate(to)"),
}


def wanted(rules: Mapping[str, tuple[str, Change, str]]) -> Callable[[Mutant], bool]:
    return lambda mutant: (mutant.action, mutant.change, mutant.source) in rules.values()


def test_rules_that_kip_320_stands_on() -> None:
    found = hunt([load_spec("kip-320-two-replicas")], wanted=wanted(IMPORTANT))
    caught = {(fate.mutant.action, fate.mutant.change, fate.mutant.source) for fate in found.caught}
    assert {name for name, rule in IMPORTANT.items() if rule not in caught} == set()


@pytest.mark.slow
def test_every_mutant_is_caught_or_explained() -> None:
    ended = tidegauge("mutate", "--json", "-")
    document = json.loads(ended.out)
    told = [
        f"{each['action']}, {each['change']}: {each['source']} ({each['how']})"
        for each in document["mutants"]
        if each["finding"] != "caught" and each["why"] is None
    ]
    assert not told
    assert not document["wrong_explanations"]
    assert ended.code == 0


# The command

TINY = ("kip-320-two-replicas", "--records", "2", "--epochs", "3")


def test_the_command_tells_each_fate(snapshot: SnapshotAssertion) -> None:
    ended = tidegauge("mutate", *TINY, "--action", "advance_high_watermark", "--action", "follow")
    assert ended.code == 1
    assert re.sub(r"\.py:\d+", ".py:…", ended.out) == snapshot


def test_the_document_fits_its_schema() -> None:
    ended = tidegauge("mutate", *TINY, "--action", "become_leader", "--json", "-")
    document = json.loads(ended.out)
    jsonschema.validate(document, schema("result"))
    assert document["caught"] + document["explained"] + document["unexplained"] == len(document["mutants"])
    assert all(each["action"] == "become_leader" for each in document["mutants"])


def test_quiet_leaves_the_exit_code() -> None:
    Path("known.toml").write_text(ENTRY, encoding="utf-8")
    ended = tidegauge("mutate", *TINY, "--action", "follow", "--equivalents", "known.toml", "--quiet")
    assert (ended.code, ended.out, ended.err) == (1, "", "")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("kip-320", "--action", "writes"), "there is no action 'writes'. Did you mean 'write'?"),
        (("kip-320", "--equivalents", "nowhere.toml"), "no file 'nowhere.toml'"),
        (("kip-321",), "there is no shipped spec"),
    ],
)
def test_mistakes_get_a_sentence(arguments: tuple[str, ...], told: str) -> None:
    ended = tidegauge("mutate", *arguments)
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (2, "", 1)
    assert told in ended.err
