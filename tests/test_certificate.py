"""Certificates: who makes them, which group follows from one, how they are kept."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from source_tree import ROOT, modules
from symmetry_models import (
    c_never_leads,
    elect_first,
    elect_lowest,
    election,
    leader_is_alive,
)

from checker.cache import Cache
from checker.prove.certificate import (
    Attempt,
    Component,
    Finding,
    Group,
    Kind,
    SymmetryCertificate,
    components,
    connected,
    rotation,
    swap,
)
from checker.prove.symmetry import prove_symmetry
from model.errors import InternalError
from model.language import (
    Scalarset,
)
from model.language.protocol import Permutation


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


def test_seconds_are_not_compared() -> None:
    assert Attempt(swap("Replica", 2, 0, 1), (), 1.0) == Attempt(swap("Replica", 2, 0, 1), (), 2.0)


# Groups


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
