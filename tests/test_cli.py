"""The command line: what it prints, and how it ends. Its exit codes are a contract."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import FALLS, HOLDS, SMALL, elsewhere, tidegauge
from source_tree import ROOT
from syrupy.assertion import SnapshotAssertion

from checker.cache import DIRECTORY_VARIABLE

ENGINE = {"llvmlite", "networkx", "numba", "numpy", "rich.progress", "z3"}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere(tmp_path, tmp_path_factory.getbasetemp() / "cache", monkeypatch)


def stable(text: str) -> str:
    """The text without times, rates, and the numbers of lines in the model."""
    text = re.sub(r"(?m)^  time .*\n(?:   .*\n)*", "", text)
    text = re.sub(r"Took [\d.]+ s", "Took … s", text)
    return re.sub(r"\.py:\d+$", ".py:…", text, flags=re.MULTILINE)


# Help, versions, mistakes


def test_help_lists_the_commands_in_the_order_of_use() -> None:
    ended = tidegauge("--help")
    listed = re.findall(r"^  (\w+)  ", ended.out.partition("Commands:")[2], flags=re.MULTILINE)
    assert (ended.code, listed) == (
        0,
        [
            "list",
            "check",
            "compare",
            "explain",
            "export",
            "graph",
            "replay",
            "prove",
            "gate",
            "mutate",
            "diff",
            "shrink",
            "new",
        ],
    )


def test_version_names_the_engine() -> None:
    names = [line.split()[0] for line in tidegauge("--version").out.splitlines()]
    assert names == ["tidegauge", "python", "llvmlite", "numba", "numpy", "z3-solver"]


@pytest.mark.parametrize("arguments", [["--version"], ["list"], ["list", "--json", "-"], ["check", "nowhere"]])
def test_no_engine_is_loaded_before_it_is_needed(arguments: list[str]) -> None:
    code = f"import sys; from checker.cli.application import run; run({arguments!r})\n"
    code += f"print(*sorted({ENGINE!r} & set(sys.modules)), file=sys.stderr)"
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert ended.stderr.splitlines()[-1] == ""


MISTAKES = {
    "unknown command": ["chek"],
    "unknown option": ["check", "kip-320", "--replica", "3"],
    "no spec": ["check"],
    "two specs": ["check", "kip-320", "kip-279"],
    "unknown spec": ["check", "kip-321"],
    "unknown invariant": ["check", "kip-320", "--invariant", "StrongISR"],
    "unknown feature": ["check", "kip-320", "--set", "truncaton=high-watermark"],
    "unknown rule": ["check", "kip-320", "--set", "truncation=high-watermarks"],
    "setting without a value": ["check", "kip-320", "--set", "truncation"],
    "setting twice": ["check", "kip-320", "--set", "truncates=lazily", "--set", "truncates=at-adoption"],
    "two workers": ["check", "kip-320", "--workers", "2"],
    "crashes where there are none": ["check", "kip-320", "--crashes", "1"],
    "no replicas": ["check", "kip-320", "--replicas", "0"],
    "very many replicas": ["check", "kip-320", "--replicas", "1000"],
    "replicas in words": ["check", "kip-320", "--replicas", "three"],
    "no states": ["check", "kip-320", "--max-states", "0"],
    "time without a unit": ["check", "kip-320", "--time-limit", "90"],
    "no time": ["check", "kip-320", "--time-limit", "0s"],
    "memory in another unit": ["check", "kip-320", "--memory-limit", "4GB"],
    "unknown symmetry": ["check", "kip-320", "--symmetry=maybe"],
    "symmetry on and off": ["check", "kip-320", "--no-symmetry", "--symmetry=audit"],
    "no such trace": ["explain", "nowhere.json"],
    "a spec for a trace": ["explain", str(ROOT / "pyproject.toml")],
    "a directory for a trace": ["replay", "."],
    "steps in words": ["explain", "nowhere.json", "--steps", "all"],
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_get_a_sentence(mistake: str, snapshot: SnapshotAssertion) -> None:
    ended = tidegauge(*MISTAKES[mistake])
    assert (ended.code, ended.out) == (2, "")
    assert len(ended.err.splitlines()) == 1
    assert ended.err.startswith("tidegauge: error: ")
    assert ended.err.replace(str(ROOT), "…") == snapshot


# check


def test_check_tells_the_shortest_story(snapshot: SnapshotAssertion) -> None:
    ended = tidegauge(*FALLS)
    assert (ended.code, ended.err) == (1, "")
    assert stable(ended.out) == snapshot


def test_check_of_what_holds(snapshot: SnapshotAssertion) -> None:
    ended = tidegauge(*HOLDS)
    assert (ended.code, ended.err) == (0, "")
    assert stable(ended.out) == snapshot


def test_check_that_meets_a_limit(snapshot: SnapshotAssertion) -> None:
    ended = tidegauge(*HOLDS, "--max-states", "20")
    assert ended.code == 3
    assert stable(ended.out) == snapshot


@pytest.mark.parametrize("limit", [("--time-limit", "0.001s"), ("--memory-limit", "1MiB"), ("--max-states", "1")])
def test_a_limit_is_never_called_holds(limit: tuple[str, str]) -> None:
    ended = tidegauge("check", "published/kip-320", *limit)
    assert ended.code == 3
    assert "INCONCLUSIVE" in ended.out.splitlines()[0]
    assert "holds" not in ended.out


def test_the_verdict_stands_in_the_first_line() -> None:
    assert "HOLDS" in tidegauge(*HOLDS).out.splitlines()[0]
    assert "VIOLATED" in tidegauge(*FALLS).out.splitlines()[0]


def test_fail_fast_says_that_it_is_not_complete() -> None:
    ended = tidegauge(*FALLS, "--fail-fast")
    assert ended.code == 1
    assert "The search is not complete" in ended.unwrapped
    assert "LeaderInIsr  inconclusive" in ended.out


def test_selected_invariants() -> None:
    ended = tidegauge(*FALLS, "--invariant", "LeaderInIsr", "--json", "-")
    assert (ended.code, list(json.loads(ended.out)["invariants"])) == (0, ["LeaderInIsr"])


def test_a_changed_feature_is_named() -> None:
    ended = tidegauge(*HOLDS, "--set", "truncation=high-watermark", "--set", "synchrony=leader")
    assert "truncation=high-watermark and synchrony=leader" in ended.out
    assert "the spec expects" not in ended.out


def test_symmetry_can_be_switched_off_and_audited() -> None:
    orders = {}
    for mode in ("on", "off", "audit"):
        ended = tidegauge(*HOLDS, f"--symmetry={mode}", "--json", "-")
        document = json.loads(ended.out)
        orders[mode] = (ended.code, document["symmetry"]["order"], document["explored"]["depth"])
    depth = orders["on"][2]
    assert orders == {"on": (0, 2, depth), "off": (0, 1, depth), "audit": (0, 2, depth)}
    assert tidegauge(*HOLDS, "--no-symmetry").code == 0


def test_without_cache_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(tmp_path / "unused"))
    assert tidegauge(*HOLDS, "--no-cache").code == 0
    assert not (tmp_path / "unused").exists()


def test_traces_go_where_they_are_told(tmp_path: Path) -> None:
    assert tidegauge(*FALLS, "--output", "here/there", "--quiet").code == 1
    names = {path.name for path in (tmp_path / "here" / "there").iterdir()}
    assert names == {f"published-truncate-to-high-watermark-{name}.json" for name in ("WeakIsr", "StrongIsr")}
    assert [path.name for path in tmp_path.iterdir()] == ["here"]


def test_quiet_is_quiet() -> None:
    ended = tidegauge(*FALLS, "--quiet")
    assert (ended.code, ended.out, ended.err) == (1, "", "")


# compare


def test_compare(snapshot: SnapshotAssertion) -> None:
    published = ("truncate-to-high-watermark", "kip-101", "kip-279", "kip-320-first-try", "kip-320")
    ended = tidegauge("compare", *(f"published/{name}" for name in published), *SMALL)
    assert (ended.code, ended.err) == (0, "")
    assert stable(ended.out) == snapshot


def test_compare_of_what_is_not_as_expected(snapshot: SnapshotAssertion) -> None:
    text = (ROOT / "specs" / "published" / "kip-320.toml").read_text(encoding="utf-8")
    text = re.sub(r"(?s)\[bounds\].*", "", text) + (
        "[bounds]\nreplicas = 2\nlog_size = 1\nrecords = 1\nepochs = 2\n[expect]\nWeakIsr = { violated = 3 }\n"
    )
    Path("mine.toml").write_text(text, encoding="utf-8")
    ended = tidegauge("compare", "mine.toml", "kip-320", *SMALL)
    assert ended.code == 1
    assert stable(ended.out) == snapshot


def test_compare_that_meets_a_limit(snapshot: SnapshotAssertion) -> None:
    ended = tidegauge("compare", "kip-279", "kip-320", *SMALL, "--max-states", "100")
    assert ended.code == 3
    assert stable(ended.out) == snapshot


def test_compare_refuses_two_of_one_name() -> None:
    shipped = str(ROOT / "specs" / "published" / "kip-320.toml")
    ended = tidegauge("compare", "kip-320", shipped, *SMALL)
    assert (ended.code, ended.out) == (2, "")
    assert "two of the specs are called 'published/kip-320'" in ended.err


# prove, list


def test_prove(snapshot: SnapshotAssertion) -> None:
    ended = tidegauge("prove", "published/kip-320", "--no-cache")
    assert ended.code == 0
    assert re.sub(r"in [\d.]+ m?s", "in … s", ended.out) == snapshot


def test_list() -> None:
    ended = tidegauge("list")
    assert ended.code == 0
    for name in ("published/kip-101", "published/kip-320", "published/truncate-to-high-watermark"):
        assert name in ended.out.splitlines()
