"""What the gate runs and what it does not: kept results, changes, shards; and runs that do not come to their end."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from command_line import schema, started
from gate_specs import (
    ENDLESS,
    FALLING,
    REPORTS,
    by_itself,
    children_of,
    ended,
    gate,
    line_of,
    require_whole_reports,
    spec_text,
    written,
)
from process_work import eventually
from source_tree import ROOT

import checker.gate
import model
from checker import cache, result_cache
from checker.cache import Cache, engine_hash, source_hash, user_cache
from checker.gate import check_one
from checker.run import DEFAULTS
from checker.spec import Spec, load_spec
from checker.spec_search import Candidate, share
from model.kafka import policy
from model.kafka.policy import Cut

POLICY = "from model.kafka.policies.kip_279 import cut\n"
OTHER_POLICY = "from model.kafka.policies.kip_101 import answer, cut\n"
OWN = spec_text(
    'NoAcknowledgedLoss = "holds"\n[features]\ntruncation = "my_policy.py"\n',
    "brokers/kip-320",
    '"NoAcknowledgedLoss"',
    'never_enabled = ["fetch_out_of_range"]',
)
HOLDS = spec_text('WeakIsr = "holds"\n')


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    by_itself(tmp_path, tmp_path_factory.getbasetemp() / "cache", monkeypatch)


def document(*arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(gate(*arguments, "--json", "-").out)
    jsonschema.validate(found, schema("result"))
    return found


def cached(*arguments: str) -> dict[str, bool]:
    """Which specs came from an earlier run."""
    return {spec["spec"]: spec["cached"] for spec in document(*arguments)["specs"]}


# Kept results


def test_an_unchanged_spec_is_not_checked_again() -> None:
    written("mine/own.toml", OWN)
    written("mine/my_policy.py", POLICY)
    written("mine/holds.toml", HOLDS)
    assert cached("mine", "--no-cache") == {"mine/holds": False, "mine/own": False}
    gate("mine")
    assert cached("mine") == {"mine/holds": True, "mine/own": True}
    written("mine/holds.toml", "# a remark\n" + HOLDS.replace('"holds"', "{ violated = 3 }"))
    found = document("mine")
    assert [(spec["cached"], spec["exit_code"]) for spec in found["specs"]] == [(True, 1), (True, 0)]


def test_a_change_of_a_policy_runs_its_specs_again_and_no_other() -> None:
    written("mine/own.toml", OWN)
    written("mine/my_policy.py", POLICY)
    written("mine/holds.toml", HOLDS)
    gate("mine")
    written("mine/my_policy.py", OTHER_POLICY)
    assert cached("mine") == {"mine/holds": True, "mine/own": False}
    written("mine/my_policy.py", f"# The same in other words.\n{OTHER_POLICY}")
    assert cached("mine") == {"mine/holds": True, "mine/own": True}


def test_other_bounds_or_invariants_are_another_result() -> None:
    written("mine.toml", HOLDS)
    gate("mine.toml")
    written("mine.toml", HOLDS.replace("epochs = 2", "epochs = 3"))
    assert cached("mine.toml") == {"mine": False}
    assert cached("mine.toml", "--no-symmetry") == {"mine": False}
    assert cached("mine.toml") == {"mine": True}


def test_what_is_inconclusive_is_not_kept() -> None:
    written("mine.toml", spec_text('WeakIsr = "holds"\n', bounds=ENDLESS))
    for _ in range(2):
        found = document("mine.toml", "--max-states", "1000")
        assert (found["exit_code"], found["specs"][0]["cached"]) == (3, False)


def test_odd_entries_are_checked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEGAUGE_CACHE_DIR", str(tmp_path / "kept"))
    written("mine.toml", HOLDS)
    gate("mine.toml")
    (entry,) = (tmp_path / "kept" / "results").iterdir()
    store = Cache(tmp_path / "kept")
    for odd in (b"", b"[]", b"{}", b"not JSON", b'{"symmetry": 3}', b"\xff"):
        store.store("results", entry.name, odd)
        assert result_cache.load(entry.name, store) is None
        assert cached("mine.toml") == {"mine": False}
        assert cached("mine.toml") == {"mine": True}


def _as_if_changed(monkeypatch: pytest.MonkeyPatch, *files: str) -> None:
    """The sources of tidegauge, with these changed."""
    honest = cache._sources()
    changed = [f"{each}#" if each.startswith(tuple(f"{file}\n" for file in files)) else each for each in honest]
    assert changed != honest
    monkeypatch.setattr("checker.cache._sources", lambda: changed)
    for kept in (source_hash, engine_hash):
        kept.cache_clear()


@pytest.fixture
def _honest_hashes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    yield
    monkeypatch.undo()
    for kept in (source_hash, engine_hash):
        kept.cache_clear()


@pytest.mark.usefixtures("_honest_hashes")
def test_a_change_of_the_models_sources_stages_again_and_searches_what_has_become_another_protocol(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The policy `kip_279` is changed in this process; `kip_101` and the published models do not use it."""
    bounds = dict(zip(("replicas", "log_size", "records", "epochs"), (2, 1, 1, 2), strict=True))
    names = ("kip-320-two-replicas", "kip-101-unfenced", "published/kip-320", "truncate-on-fetch", "kafka-6361-broken")
    specs = [load_spec(name).changed(bounds=bounds) for name in names]

    def checked() -> dict[str, bool]:
        return {spec.name: check_one(spec, DEFAULTS).cached for spec in specs}

    checked()
    assert set(checked().values()) == {True}
    _as_if_changed(monkeypatch, "model/kafka/policies/kip_279.py")
    assert [result_cache.known(spec, "on", user_cache()) for spec in specs] == [None] * len(specs)
    honest = policy.load

    def changed(name: str) -> Any:
        found = honest(name)
        return _cutting_to_the_high_watermark(found) if name == "kip-279" else found

    monkeypatch.setattr(policy, "load", changed)
    uses = {spec.name for spec in specs if spec.all_features()["truncation"] == "kip-279"}
    assert uses
    assert {name for name, kept in checked().items() if not kept} == uses
    _as_if_changed(monkeypatch, "checker/explore/kernels.py")
    assert set(checked().values()) == {False}


def _cutting_to_the_high_watermark(found: Any) -> Any:
    """The same policy, which does not care for what it is answered."""

    def cut(own_cache: Any, log_end: Any, high_watermark: Any, answer: Any) -> Any:
        del own_cache, log_end, answer
        return Cut(high_watermark, finished=True)

    return replace(found, cut=cut)


def test_all_shipped_specs_are_as_wished_and_then_cost_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEGAUGE_CACHE_DIR", str(tmp_path / "kept"))
    cold = document()
    assert (cold["exit_code"], {spec["status"] for spec in cold["specs"]}) == (0, {"as wished"})
    warm = document()
    assert all(spec["cached"] for spec in warm["specs"])
    for spec in (*cold["specs"], *warm["specs"]):
        spec.update(cached=None, seconds=None)
    assert cold["specs"] == warm["specs"]


# Changes


def git(*arguments: str) -> None:
    who = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.org")
    subprocess.run(["git", *who, *arguments], check=True, capture_output=True)


@pytest.fixture
def repository() -> None:
    """A repository with four specs: one by itself, one that another extends, and one with its own policy."""
    git("init", "--quiet", ".")
    written("s/alone.toml", HOLDS)
    written("s/base.toml", HOLDS)
    written("s/child.toml", 'extends = "base.toml"\n')
    written("s/own.toml", OWN)
    written("s/my_policy.py", POLICY)
    git("add", ".")
    git("commit", "--quiet", "-m", "specs")


def differing(revision: str = "HEAD") -> list[str]:
    return [spec["spec"] for spec in document("s", "--changed-since", revision)["specs"]]


@pytest.mark.usefixtures("repository")
def test_nothing_has_changed() -> None:
    ended = gate("s", "--changed-since", "HEAD", *REPORTS)
    assert ended.code == 0
    assert "0 of 4 specs differ from HEAD." in ended.out
    assert "No spec was to be judged." in ended.out
    assert require_whole_reports()["specs"] == []


@pytest.mark.usefixtures("repository")
@pytest.mark.parametrize(
    ("file", "text", "specs"),
    [
        ("s/alone.toml", f"# changed\n{HOLDS}", ["s/alone"]),
        ("s/base.toml", f"# changed\n{HOLDS}", ["s/base", "s/child"]),
        ("s/child.toml", 'extends = "base.toml" # changed\n', ["s/child"]),
        ("s/my_policy.py", f"# changed\n{POLICY}", ["s/own"]),
        ("s/new.toml", HOLDS, ["s/new"]),  # not tracked yet
        ("elsewhere.txt", "", []),
    ],
)
def test_a_spec_differs_if_one_of_its_files_does(file: str, text: str, specs: list[str]) -> None:
    written(file, text)
    assert differing() == specs
    git("add", ".")
    git("commit", "--quiet", "--allow-empty", "-m", "change")
    assert differing() == []
    assert differing("HEAD~1") == specs


@pytest.mark.usefixtures("repository")
def test_a_spec_whose_base_was_deleted_is_no_unchanged_one() -> None:
    Path("s/base.toml").unlink()
    found = document("s", "--changed-since", "HEAD")
    assert [(spec["spec"], spec["exit_code"]) for spec in found["specs"]] == [("s/child", 2)]


@pytest.mark.usefixtures("repository")
def test_the_model_counts_where_it_is_part_of_the_work_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "model" / "kafka", "vendored/model/kafka", ignore=shutil.ignore_patterns("__pycache__"))
    git("add", ".")
    git("commit", "--quiet", "-m", "vendored")
    monkeypatch.setattr(model, "__file__", str(Path("vendored/model/__init__.py").absolute()))
    assert differing() == []
    written("vendored/model/kafka/leader.py", "# changed\n")
    assert differing() == ["s/alone", "s/base", "s/child", "s/own"]


@pytest.mark.usefixtures("repository")
@pytest.mark.parametrize("revision", ["no-such-branch", "--output=x", "HEAD:s"])
def test_a_revision_that_git_does_not_know(revision: str) -> None:
    ended = gate("s", f"--changed-since={revision}")
    assert ended.code == 2
    assert f"git knows no revision {revision!r}" in ended.err
    assert not Path("x").exists()


@pytest.mark.usefixtures("repository")
def test_without_git(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    ended = gate("s", "--changed-since", "HEAD")
    assert (ended.code, "needs git, which cannot be run" in ended.err) == (2, True)


# Shards


@pytest.mark.parametrize("of", [1, 2, 3, 7, 60])
def test_every_spec_is_in_exactly_one_shard(of: int) -> None:
    specs = [Candidate(str(number), str(number)) for number in range(50)]
    shards = [share(specs, number, of) for number in range(1, of + 1)]
    assert sorted((each for part in shards for each in part), key=specs.index) == specs
    assert max(map(len, shards)) - min(map(len, shards)) <= 1


def test_shards_of_a_directory() -> None:
    for name in ("a", "b", "c"):
        written(f"s/{name}.toml", HOLDS)
    shards = [document("s", "--shard", f"{number}/4") for number in (1, 2, 3, 4)]
    assert [[spec["spec"] for spec in each["specs"]] for each in shards] == [["s/a"], ["s/b"], ["s/c"], []]
    assert shards[3]["exit_code"] == 0
    assert shards[3]["remarks"] == ["Shard 4 of 4 has 0 of 3 specs."]
    assert gate("s", "--shard", "4/4", *REPORTS, "--report", "o/pages").code == 0
    assert require_whole_reports()["specs"] == []
    assert "No spec was checked." in Path("o/pages/index.html").read_text(encoding="utf-8")


# Runs that do not come to their end


def test_a_spec_that_disappears_before_it_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    written("s/gone.toml", HOLDS)
    written("s/stays.toml", HOLDS)
    honest = Candidate.load

    def load(self: Candidate) -> Spec:
        if self.name == "s/gone":
            Path("s/gone.toml").unlink()
        return honest(self)

    monkeypatch.setattr(Candidate, "load", load)
    ended = gate("s", *REPORTS)
    assert ended.code == 2
    assert "there is no shipped spec and no file" in ended.unwrapped
    assert [(spec["spec"], spec["status"]) for spec in require_whole_reports()["specs"]] == [
        ("s/gone", "error"),
        ("s/stays", "as wished"),
    ]


def test_files_that_disappear_while_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A spec is judged as it was; a policy is needed when the spec's process begins."""
    written("s/own.toml", OWN)
    written("s/my_policy.py", POLICY)
    written("s/stays.toml", HOLDS)
    honest = checker.gate.load_all

    def load_all(*given: Any) -> Any:
        found = honest(*given)
        shutil.rmtree("s")
        return found

    monkeypatch.setattr("checker.gate.load_all", load_all)
    ended = gate("s", "--no-cache", *REPORTS)
    assert ended.code == 2
    assert "my_policy.py" in ended.unwrapped
    assert [(spec["spec"], spec["status"]) for spec in require_whole_reports()["specs"]] == [
        ("s/own", "error"),
        ("s/stays", "as wished"),
    ]


def _endless(*names: str) -> None:
    """A spec that is known already, and some that take minutes."""
    written("s/a.toml", HOLDS)
    gate("s")
    for name in names:
        written(f"s/{name}.toml", spec_text('WeakIsr = "holds"\n', bounds=ENDLESS))


def test_a_process_that_dies_is_inconclusive_and_named() -> None:
    _endless("b")
    with started("gate", "s", *REPORTS) as process:
        assert eventually(lambda: bool(children_of(process.pid)))
        (child,) = children_of(process.pid)
        os.kill(child, signal.SIGKILL)
        out, err = ended(process)
    assert (process.returncode, "Traceback" in err) == (3, False)
    assert "the process that checked it died (signal 9)" in " ".join(out.split())
    found = require_whole_reports()
    assert [(spec["spec"], spec["status"]) for spec in found["specs"]] == [
        ("s/a", "as wished"),
        ("s/b", "inconclusive"),
    ]
    (finding,) = found["specs"][1]["findings"]
    assert line_of(finding["file"], finding["line"]) == 'WeakIsr = "holds"'


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("to_all", [False, True])
def test_interrupted_reports_are_whole(number: signal.Signals, to_all: bool) -> None:
    """To the process alone, as `kill` does, or to its group, as a terminal and some runners do."""
    _endless("b", "c", "d", "e", "f", "g")
    with started("gate", "s", *REPORTS, start_new_session=True) as process:
        assert eventually(lambda: bool(children_of(process.pid)))
        time.sleep(1)
        children = children_of(process.pid)
        (os.killpg if to_all else os.kill)(process.pid, number)
        out, err = ended(process)
    assert (process.returncode, "Traceback" in err) == (3, False)
    assert "7 specs: 1 as wished and 6 inconclusive. 1 cached." in out
    found = require_whole_reports()
    assert [spec["status"] for spec in found["specs"]] == ["as wished", *["inconclusive"] * 6]
    told = {each["text"] for spec in found["specs"][1:] for each in spec["findings"] if each["about"] == "invariant"}
    assert all("it was interrupted" in text for text in told)
    assert children
    assert eventually(lambda: not any(Path(f"/proc/{child}").exists() for child in children))


def test_a_violation_beats_an_interruption() -> None:
    _endless("b")
    written("s/0.toml", spec_text("WeakIsr = { violated = 7 }\n", FALLING))
    gate("s/0.toml")
    with started("gate", "s", *REPORTS) as process:
        assert eventually(lambda: bool(children_of(process.pid)))
        process.send_signal(signal.SIGTERM)
        ended(process)
    assert process.returncode == 1
    assert [spec["status"] for spec in require_whole_reports()["specs"]] == [
        "not as wished",
        "as wished",
        "inconclusive",
    ]
