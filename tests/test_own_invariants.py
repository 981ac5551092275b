"""Invariants of the user's own over the Kafka protocol: a file beside the spec, selected like shipped ones."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import jsonschema
import pytest
from command_line import elsewhere, schema, tidegauge
from syrupy.assertion import SnapshotAssertion

from checker.run import check
from checker.spec import load_spec
from model.errors import SpecError, TidegaugeError

SPEC: Final = """\
title = "KIP-320, looked at from elsewhere"
variant = "published/kip-320"
own_invariants = "mine.py"
invariants = ["LeaderInIsr", "OneLeader"]
reachable = ["SecondElection", "TwoLeaders"]

[bounds]
replicas = 2
log_size = 1
records = 1
epochs = 2

[expect]
LeaderInIsr = "holds"
OneLeader = { violated = 4 }
"""
MINE: Final = '''\
from model.kafka.state import presumes_leadership
from model.language import count, invariant, reachable


@invariant
def one_leader(state):
    """At most one replica presumes leadership."""
    return _leaders(state) <= 1


@reachable
def two_leaders(state):
    return _leaders(state) == 2


def _leaders(state):
    return count(presumes_leadership(state, replica) for replica in state.replicas)
'''
HEAD: Final = "from model.language import invariant\n\n\n@invariant\n"
TRACE: Final = Path("tidegauge-out/my-spec-OneLeader.json")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere(tmp_path, tmp_path_factory.getbasetemp() / "cache", monkeypatch)


def written(mine: str = MINE, spec: str = SPEC) -> Path:
    Path("mine.py").write_text(mine, encoding="utf-8")
    path = Path("my-spec.toml")
    path.write_text(spec, encoding="utf-8")
    return path


def message(mine: str = MINE, spec: str = SPEC) -> str:
    with pytest.raises(TidegaugeError) as caught:
        load_spec(written(mine, spec))
    assert caught.value.exit_code == 2
    return str(caught.value)


def test_they_are_checked_as_shipped_ones_are() -> None:
    spec = load_spec(written())
    assert spec.files == (Path("my-spec.toml"), Path("mine.py"))
    assert spec.variant_name == "published/kip-320"
    outcome = check(spec)
    assert {found.name: found.steps for found in outcome.invariants} == {"LeaderInIsr": None, "OneLeader": 4}
    assert outcome.witnesses == {"SecondElection": 2, "TwoLeaders": 4}
    assert outcome.symmetry.group == "Sym(2)"
    assert spec.changed(features={"truncates": "lazily", "synchrony": "record-epoch"}).protocol().invariant_names == (
        "LeaderInIsr",
        "OneLeader",
    )


def test_shipped_invariants_alone_are_the_shipped_model() -> None:
    spec = load_spec(written()).changed(invariants=["LeaderInIsr"])
    plain = load_spec("kip-320").changed(bounds=spec.all_bounds(), invariants=["LeaderInIsr"])
    assert (
        spec.full_protocol().selecting(["LeaderInIsr"], []).content_hash
        == plain.full_protocol().selecting(["LeaderInIsr"], []).content_hash
    )


def test_over_a_protocol_of_ones_own() -> None:
    mine = f"{HEAD}def never_commits(state):\n    return state.decision != 'commit'\n"
    spec = 'extends = "two-phase-commit"\nown_invariants = "mine.py"\ninvariants = ["AllOrNothing", "NeverCommits"]\n'
    loaded = load_spec(written(mine, spec))
    assert dict(loaded.expect) == {}  # inherited expectations are facts about another model
    assert {found.name: found.steps for found in check(loaded).invariants} == {"AllOrNothing": None, "NeverCommits": 7}


def test_the_schema_allows_their_names() -> None:
    validator = jsonschema.Draft202012Validator(schema("spec"))
    validator.validate(tomllib.loads(SPEC))
    assert not validator.is_valid(tomllib.loads(SPEC.replace('own_invariants = "mine.py"\n', "")))
    assert not validator.is_valid(tomllib.loads(SPEC.replace("epochs = 2", "epoch = 2")))


# Traces


def test_a_trace_of_one_needs_its_file() -> None:
    written()
    ended = tidegauge("check", "my-spec.toml")
    assert ended.code == 1
    document = json.loads(TRACE.read_text(encoding="utf-8"))
    jsonschema.validate(document, schema("trace"))
    assert document["own_invariants"] == "mine.py"
    alone = tidegauge("explain", str(TRACE))
    assert (alone.code, alone.out) == (2, "")
    assert alone.err == (
        f"tidegauge: error: {TRACE}: the trace is of an invariant of somebody's own, 'OneLeader' in mine.py. That is "
        "code, and a trace alone has no code run. Name the file: --invariants path/to/invariants.py.\n"
    )
    assert tidegauge(*ended.out.splitlines()[-1].split()[1:]).code == 0
    assert tidegauge("replay", str(TRACE), "--invariants", "mine.py").code == 0


def test_a_trace_of_a_shipped_one_does_not() -> None:
    written(
        spec=SPEC.replace("published/kip-320", "published/truncate-to-high-watermark").replace("LeaderInIsr", "WeakIsr")
    )
    assert tidegauge("check", "my-spec.toml", "--epochs", "3", "--records", "2", "--log-size", "2", "--quiet").code == 1
    trace = "tidegauge-out/my-spec-WeakIsr.json"
    Path("mine.py").write_text('raise RuntimeError("this was run")\n', encoding="utf-8")
    assert tidegauge("replay", trace).code == 0


def test_a_file_that_does_not_belong_to_a_trace() -> None:
    written()
    tidegauge("check", "my-spec.toml", "--quiet")
    document = json.loads(TRACE.read_text(encoding="utf-8"))
    del document["own_invariants"]
    TRACE.write_text(json.dumps(document), encoding="utf-8")
    ended = tidegauge("explain", str(TRACE), "--invariants", "mine.py")
    assert "the trace is of a spec without invariants of its own. Leave out --invariants." in ended.err


# Mistakes

MISTAKES: Final[Mapping[str, str]] = {
    "nothing": "",
    "no mark": "def one_leader(state):\n    return True\n",
    "a name that is taken": f"{HEAD}def weak_isr(state):\n    return True\n",
    "foreign import": f"import random\n{MINE}",
    "a variable that this variant lacks": f"{HEAD}def all_up(state):\n    return state.replicas['A'].up\n",
    "no condition": f"{HEAD}def one_leader(state):\n    return 1\n",
    "changes the state": f"{HEAD}def one_leader(state):\n    state.next_record = 0\n    return True\n",
    "asks for a mechanism": f"{HEAD}def one_leader(state, *, brokers):\n    return True\n",
    "exception": f"{HEAD}def one_leader(state):\n    return 1 / 0\n",
    "exception while loading": f"{MINE}1 / 0\n",
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_told_with_their_line(mistake: str, snapshot: SnapshotAssertion) -> None:
    assert message(MISTAKES[mistake]) == snapshot


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("mine.py", "mine.toml", "my-spec.toml:3: own_invariants is 'mine.toml'. Name a Python file."),
        ("mine.py", "../mine.py", "my-spec.toml:3: own_invariants leads out of the spec's folder: '../mine.py'. "),
        ("mine.py", "other.py", "my-spec.toml:3: there is no file 'other.py' beside this spec."),
        (
            '"OneLeader"]',
            '"OneLeeder"]',
            "my-spec.toml:4: there is no invariant 'OneLeeder'. Did you mean 'OneLeader'?",
        ),
        ('"OneLeader"]', '"TwoLeaders"]', "my-spec.toml:4: there is no invariant 'TwoLeaders'."),
    ],
)
def test_mistakes_in_the_spec(old: str, new: str, expected: str) -> None:
    with pytest.raises(SpecError) as caught:
        load_spec(written(spec=SPEC.replace(old, new)))
    assert str(caught.value).startswith(expected)
