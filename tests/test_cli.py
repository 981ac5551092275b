"""The command line: what it prints, what it writes, how it ends. Its exit codes and documents are a contract."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from source_tree import ROOT
from syrupy.assertion import SnapshotAssertion

from checker.cache import DIRECTORY_VARIABLE
from checker.cli.application import run

SMALL = ("--replicas", "2", "--log-size", "1", "--records", "1", "--epochs", "2")
LARGE = ("--replicas", "3", "--log-size", "3", "--records", "3", "--epochs", "4")
BOUNDS = "2 replicas, log size 1, 1 record, 2 epochs"
FALLS = ("check", "published/truncate-to-high-watermark", *SMALL)
HOLDS = ("check", "published/kip-320", *SMALL)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder of its own, 80 columns wide, without colours, with a cache of its own."""
    monkeypatch.chdir(tmp_path)
    for name, value in {"COLUMNS": "80", "NO_COLOR": "1", DIRECTORY_VARIABLE: str(cache)}.items():
        monkeypatch.setenv(name, value)


class Ended:
    """How a command ended, in this process."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def tidegauge(capfd: pytest.CaptureFixture[str]) -> Callable[..., Ended]:
    def ended(*arguments: str) -> Ended:
        code = run(arguments)
        return Ended(code, *capfd.readouterr())

    return ended


def started(*arguments: str, **settings: Any) -> subprocess.Popen[str]:
    """The same in a process of its own."""
    command = [sys.executable, "-m", "checker.cli", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": environment}
    return subprocess.Popen(command, **{**pipes, **settings})


def schema(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / "docs" / f"{name}.schema.json").read_text(encoding="utf-8"))
    return found


def stable(text: str) -> str:
    """The text without times, rates, and the numbers of lines in the model."""
    text = re.sub(r"(?m)^  time .*\n(?:   .*\n)*", "", text)
    text = re.sub(r"Took [\d.]+ s", "Took … s", text)
    return re.sub(r"\.py:\d+$", ".py:…", text, flags=re.MULTILINE)


# Help, versions, mistakes


def test_help_lists_the_commands_in_the_order_of_use(tidegauge: Callable[..., Ended]) -> None:
    ended = tidegauge("--help")
    listed = re.findall(r"^  (\w+)  ", ended.out.partition("Commands:")[2], flags=re.MULTILINE)
    assert (ended.code, listed) == (0, ["list", "check", "compare", "explain", "replay", "prove"])


def test_version_names_the_engine_without_loading_it() -> None:
    code = "import sys; sys.argv = ['tidegauge', '--version']\nfrom checker.cli import main\n"
    code += "try:\n    main()\nfinally:\n    print(sorted({'numba', 'llvmlite', 'z3', 'numpy'} & set(sys.modules)))"
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    *versions, loaded = ended.stdout.splitlines()
    names = [line.split()[0] for line in versions]
    assert (ended.returncode, loaded) == (0, "[]")
    assert names == ["tidegauge", "python", "llvmlite", "numba", "numpy", "z3-solver"]


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
def test_mistakes_get_a_sentence(mistake: str, tidegauge: Callable[..., Ended], snapshot: SnapshotAssertion) -> None:
    ended = tidegauge(*MISTAKES[mistake])
    assert (ended.code, ended.out) == (2, "")
    assert len(ended.err.splitlines()) == 1
    assert ended.err.startswith("tidegauge: error: ")
    assert ended.err.replace(str(ROOT), "…") == snapshot


# check


def test_check_tells_the_shortest_story(tidegauge: Callable[..., Ended], snapshot: SnapshotAssertion) -> None:
    ended = tidegauge(*FALLS)
    assert (ended.code, ended.err) == (1, "")
    assert stable(ended.out) == snapshot


def test_check_of_what_holds(tidegauge: Callable[..., Ended], snapshot: SnapshotAssertion) -> None:
    ended = tidegauge(*HOLDS)
    assert (ended.code, ended.err) == (0, "")
    assert stable(ended.out) == snapshot


def test_check_that_meets_a_limit(tidegauge: Callable[..., Ended], snapshot: SnapshotAssertion) -> None:
    ended = tidegauge(*HOLDS, "--max-states", "20")
    assert ended.code == 3
    assert stable(ended.out) == snapshot


@pytest.mark.parametrize("limit", [("--time-limit", "0.001s"), ("--memory-limit", "1MiB"), ("--max-states", "1")])
def test_a_limit_is_never_called_holds(limit: tuple[str, str], tidegauge: Callable[..., Ended]) -> None:
    ended = tidegauge("check", "published/kip-320", *limit)
    assert ended.code == 3
    assert "INCONCLUSIVE" in ended.out.splitlines()[0]
    assert "holds" not in ended.out


def test_the_verdict_stands_in_the_first_line(tidegauge: Callable[..., Ended]) -> None:
    assert "HOLDS" in tidegauge(*HOLDS).out.splitlines()[0]
    assert "VIOLATED" in tidegauge(*FALLS).out.splitlines()[0]


def test_fail_fast_says_that_it_is_not_complete(tidegauge: Callable[..., Ended]) -> None:
    ended = tidegauge(*FALLS, "--fail-fast")
    assert ended.code == 1
    assert "The search is not complete" in " ".join(ended.out.split())
    assert "LeaderInIsr  inconclusive" in ended.out


def test_selected_invariants(tidegauge: Callable[..., Ended]) -> None:
    ended = tidegauge(*FALLS, "--invariant", "LeaderInIsr", "--json", "-")
    assert (ended.code, list(json.loads(ended.out)["invariants"])) == (0, ["LeaderInIsr"])


def test_a_changed_feature_is_named(tidegauge: Callable[..., Ended]) -> None:
    ended = tidegauge(*HOLDS, "--set", "truncation=high-watermark", "--set", "synchrony=leader")
    assert "truncation=high-watermark and synchrony=leader" in ended.out
    assert "the spec expects" not in ended.out


def test_symmetry_can_be_switched_off_and_audited(tidegauge: Callable[..., Ended]) -> None:
    orders = {}
    for mode in ("on", "off", "audit"):
        ended = tidegauge(*HOLDS, f"--symmetry={mode}", "--json", "-")
        document = json.loads(ended.out)
        orders[mode] = (ended.code, document["symmetry"]["order"], document["explored"]["depth"])
    depth = orders["on"][2]
    assert orders == {"on": (0, 2, depth), "off": (0, 1, depth), "audit": (0, 2, depth)}
    assert tidegauge(*HOLDS, "--no-symmetry").code == 0


def test_without_cache_nothing_is_kept(
    tidegauge: Callable[..., Ended], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(tmp_path / "unused"))
    assert tidegauge(*HOLDS, "--no-cache").code == 0
    assert not (tmp_path / "unused").exists()


def test_traces_go_where_they_are_told(tidegauge: Callable[..., Ended], tmp_path: Path) -> None:
    assert tidegauge(*FALLS, "--output", "here/there", "--quiet").code == 1
    names = {path.name for path in (tmp_path / "here" / "there").iterdir()}
    assert names == {f"published-truncate-to-high-watermark-{name}.json" for name in ("WeakIsr", "StrongIsr")}
    assert [path.name for path in tmp_path.iterdir()] == ["here"]


def test_quiet_is_quiet(tidegauge: Callable[..., Ended]) -> None:
    ended = tidegauge(*FALLS, "--quiet")
    assert (ended.code, ended.out, ended.err) == (1, "", "")


# compare


def test_compare(tidegauge: Callable[..., Ended], snapshot: SnapshotAssertion) -> None:
    ended = tidegauge("compare", *SMALL)
    assert (ended.code, ended.err) == (0, "")
    assert stable(ended.out) == snapshot


def test_compare_of_what_is_not_as_expected(tidegauge: Callable[..., Ended], snapshot: SnapshotAssertion) -> None:
    text = (ROOT / "specs" / "published" / "kip-320.toml").read_text(encoding="utf-8")
    text = re.sub(r"(?s)\[bounds\].*", "", text) + (
        "[bounds]\nreplicas = 2\nlog_size = 1\nrecords = 1\nepochs = 2\n[expect]\nWeakIsr = { violated = 3 }\n"
    )
    Path("mine.toml").write_text(text, encoding="utf-8")
    ended = tidegauge("compare", "mine.toml", "kip-320", *SMALL)
    assert ended.code == 1
    assert stable(ended.out) == snapshot


def test_compare_that_meets_a_limit(tidegauge: Callable[..., Ended], snapshot: SnapshotAssertion) -> None:
    ended = tidegauge("compare", "kip-279", "kip-320", *SMALL, "--max-states", "100")
    assert ended.code == 3
    assert stable(ended.out) == snapshot


def test_compare_refuses_two_of_one_name(tidegauge: Callable[..., Ended]) -> None:
    shipped = str(ROOT / "specs" / "published" / "kip-320.toml")
    ended = tidegauge("compare", "kip-320", shipped, *SMALL)
    assert (ended.code, ended.out) == (2, "")
    assert "two of the specs are called 'published/kip-320'" in ended.err


# Documents


def test_json_on_standard_output_is_all_there_is(tidegauge: Callable[..., Ended]) -> None:
    ended = tidegauge(*FALLS, "--json", "-")
    document = json.loads(ended.out)
    jsonschema.validate(document, schema("result"))
    assert (ended.code, document["verdict"]) == (1, "violated")
    assert document["explored"]["complete"] is True
    assert document["invariants"]["WeakIsr"] == {
        "verdict": "violated",
        "steps": 8,
        "trace": "tidegauge-out/published-truncate-to-high-watermark-WeakIsr.json",
    }
    assert document["invariants"]["LeaderInIsr"] == {"verdict": "holds", "steps": None, "trace": None}


def test_json_in_a_file_leaves_the_report(tidegauge: Callable[..., Ended]) -> None:
    ended = tidegauge(*HOLDS, "--json", "new/result.json")
    assert "HOLDS" in ended.out
    jsonschema.validate(json.loads(Path("new/result.json").read_text(encoding="utf-8")), schema("result"))


def test_stored_traces_fit_their_schema(tidegauge: Callable[..., Ended]) -> None:
    tidegauge(*FALLS, "--quiet")
    for path in Path("tidegauge-out").iterdir():
        document = json.loads(path.read_text(encoding="utf-8"))
        jsonschema.validate(document, schema("trace"))
        assert len(document["states"]) == len(document["steps"]) + 1


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        (("list",), "list"),
        (("prove", "kip-320", *SMALL), "proof"),
        ((*HOLDS, "--max-states", "20"), "result"),
        (("compare", "kip-320", "truncate-to-high-watermark", *SMALL), "comparison"),
    ],
)
def test_documents_fit_their_schema(arguments: tuple[str, ...], kind: str, tidegauge: Callable[..., Ended]) -> None:
    document = json.loads(tidegauge(*arguments, "--json", "-").out)
    jsonschema.validate(document, schema("result"))
    assert document["schema"] == f"tidegauge/{kind}/1"


def test_documents_are_the_same_on_every_run(tidegauge: Callable[..., Ended]) -> None:
    one, other = (json.loads(tidegauge(*FALLS, "--json", "-").out) for _ in range(2))
    for document in (one, other):
        del document["explored"]["seconds"], document["explored"]["states_per_second"]
    assert json.dumps(one) == json.dumps(other)


@pytest.mark.parametrize("name", ["result", "trace"])
def test_the_schemas_are_schemas(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema(name))


def test_the_schema_refuses_what_is_no_result(tidegauge: Callable[..., Ended]) -> None:
    document = json.loads(tidegauge(*FALLS, "--json", "-").out)
    document["invariants"]["LeaderInIsr"]["steps"] = 3
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, schema("result"))


# explain, replay, prove, list


@pytest.fixture
def trace(tidegauge: Callable[..., Ended]) -> str:
    tidegauge(*FALLS, "--quiet", "--invariant", "WeakIsr")
    return "tidegauge-out/published-truncate-to-high-watermark-WeakIsr.json"


def test_explain_tells_the_story(trace: str, tidegauge: Callable[..., Ended]) -> None:
    ended = tidegauge("explain", trace)
    assert ended.code == 0
    assert "WeakIsr is violated in published/truncate-to-high-watermark, in 8 steps." in ended.out
    assert ended.out in tidegauge(*FALLS, "--invariant", "WeakIsr").out.replace("steps.\n\n", f"steps.\n{BOUNDS}\n\n")


def test_explain_tells_parts(trace: str, tidegauge: Callable[..., Ended]) -> None:
    ended = tidegauge("explain", trace, "--steps", "8", "--full", "--show", "replicas[B]", "--hide", "*.isr")
    assert ended.code == 0
    assert "replicas[B].log" in ended.out
    assert "replicas[A].leader" not in ended.out
    assert "(steps 1 to 7 are left out)" in ended.out


@pytest.mark.parametrize("steps", ["3..6", "3..", "..6", "3"])
def test_explain_takes_ranges(steps: str, trace: str, tidegauge: Callable[..., Ended]) -> None:
    ended = tidegauge("explain", trace, "--steps", steps)
    assert ended.code == 0
    assert "left out" in ended.out


@pytest.mark.parametrize("options", [("--steps", "9"), ("--show", "replica"), ("--hide", "nothing")])
def test_explain_refuses_parts_that_are_not_there(
    options: tuple[str, str], trace: str, tidegauge: Callable[..., Ended]
) -> None:
    ended = tidegauge("explain", trace, *options)
    assert (ended.code, ended.out) == (2, "")


def test_replay_confirms(trace: str, tidegauge: Callable[..., Ended]) -> None:
    ended = tidegauge("replay", trace)
    assert ended.code == 0
    assert "still a counterexample" in " ".join(ended.out.split())


def test_replay_says_where_the_steps_stop_applying(trace: str, tidegauge: Callable[..., Ended]) -> None:
    document = json.loads(Path(trace).read_text(encoding="utf-8"))
    del document["steps"][2]
    Path(trace).write_text(json.dumps(document), encoding="utf-8")
    ended = tidegauge("replay", trace)
    assert ended.code == 1
    assert "no longer a counterexample" in " ".join(ended.out.split())
    assert "is not enabled" in " ".join(ended.out.split())


def test_a_trace_of_another_model_comes_with_a_warning(trace: str, tidegauge: Callable[..., Ended]) -> None:
    document = json.loads(Path(trace).read_text(encoding="utf-8"))
    document["model_hash"] = "0" * 32
    Path(trace).write_text(json.dumps(document), encoding="utf-8")
    for command in ("explain", "replay"):
        ended = tidegauge(command, trace)
        assert ended.code == 0
        assert ended.err.startswith("tidegauge: warning: The model has changed")


def test_prove(tidegauge: Callable[..., Ended], snapshot: SnapshotAssertion) -> None:
    ended = tidegauge("prove", "published/kip-320", "--no-cache")
    assert ended.code == 0
    assert re.sub(r"in [\d.]+ s", "in … s", ended.out) == snapshot


def test_list(tidegauge: Callable[..., Ended]) -> None:
    ended = tidegauge("list")
    assert ended.code == 0
    for name in ("published/kip-101", "published/kip-320", "published/truncate-to-high-watermark"):
        assert name in ended.out.splitlines()


# Output that cannot be written


def test_a_directory_is_no_place_for_a_document(tidegauge: Callable[..., Ended], tmp_path: Path) -> None:
    ended = tidegauge(*HOLDS, "--json", str(tmp_path))
    assert (ended.code, ended.out) == (2, "")
    assert "is a directory" in ended.err


def test_a_file_is_no_place_for_traces(tidegauge: Callable[..., Ended], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    ended = tidegauge(*HOLDS, "--output", "file/traces")
    assert (ended.code, ended.out) == (2, "")
    assert "file is not a directory" in ended.err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("arguments", [HOLDS, (*HOLDS, "--json", "-"), ("list",), ("--help",)])
def test_a_full_disk_is_told(arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full, started(*arguments, stdout=full) as process:
        _, err = process.communicate()
    assert process.returncode == 2
    assert "No space left on device" in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("arguments", [FALLS, (*FALLS, "--json", "-")])
def test_a_closed_pipe_changes_nothing(arguments: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with started(*arguments, stdout=writing) as process:
        os.close(writing)
        _, err = process.communicate()
    assert (process.returncode, err) == (1, "")


def test_a_closed_standard_output_changes_nothing() -> None:
    ended = subprocess.run(
        ["sh", "-c", '"$@" >&-', "sh", sys.executable, "-m", "checker.cli", *FALLS],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert (ended.returncode, ended.stderr) == (1, "")


# Interruption and faults


def test_interrupting_a_search_gives_what_was_found() -> None:
    with started("check", "published/kip-320", *LARGE) as process:
        time.sleep(8)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 3
    assert "INCONCLUSIVE" in out.splitlines()[0]
    assert "it was interrupted" in " ".join(out.split())
    assert "Traceback" not in err


def test_an_unexpected_exception_is_an_internal_error(
    tidegauge: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise RuntimeError("something\nunforeseen")

    monkeypatch.setattr("checker.spec.load_shipped", fail)
    ended = tidegauge("list")
    assert (ended.code, ended.out) == (70, "")
    assert ended.err.startswith("tidegauge: internal error: RuntimeError: something unforeseen\n")
    assert "Traceback" not in ended.err
    monkeypatch.setenv("TIDEGAUGE_DEBUG", "1")
    assert "Traceback" in tidegauge("list").err


@pytest.mark.parametrize(
    ("exception", "code"), [(MemoryError(), 3), (KeyboardInterrupt(), 3), (OSError(5, "Input/output error"), 2)]
)
def test_other_ends(
    exception: BaseException, code: int, tidegauge: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise exception

    monkeypatch.setattr("checker.spec.load_shipped", fail)
    ended = tidegauge("list")
    assert (ended.code, ended.out) == (code, "")
    assert ended.err.lstrip().startswith("tidegauge: ")  # a ^C on the screen gets a line of its own
    assert "Traceback" not in ended.err
