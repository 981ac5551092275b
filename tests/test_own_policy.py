"""A truncation policy of the user's own: a file beside the spec, staged as a shipped one, with errors on its lines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from command_line import Ended, elsewhere, tidegauge
from source_tree import ROOT
from syrupy.assertion import SnapshotAssertion

from checker.run import check
from checker.spec import load_spec
from model.errors import ModelError, ModelFault, SpecError, TidegaugeError
from model.kafka import NAMED_VARIANTS, Bounds, kafka
from model.kafka.policy_file import FUNCTIONS

SPEC = """\
title = "A truncation of my own"
variant = "brokers/kip-320"
invariants = ["NoAcknowledgedLoss", "NoDivergenceBelowHighWatermark"]

[features]
truncation = "my_policy.py"

[bounds]
replicas = 2
log_size = 1
records = 1
epochs = 2
"""
IMPORTS = """\
from model.kafka.epoch_cache import UNDEFINED, EpochEnd, end_offset_for, latest
from model.kafka.policy import Cut, either_cut
from model.language import maximum, minimum, none, where
"""
CUT = "def cut(own_cache, log_end, high_watermark, answer):\n"

#: Trusts the leader's log end, whatever is in front of it. Refuted with two records and three epochs.
TRUSTING = f"""{IMPORTS}
def answer(cache, log_end, epoch):
    return EpochEnd(epoch, log_end)

{CUT}    to_answer = Cut(minimum(answer.end_offset, log_end), finished=True)
    return either_cut(answer.end_offset == UNDEFINED, Cut(high_watermark, finished=True), to_answer)
"""
#: Keeps everything.
KEEPING = f"{IMPORTS}\n{CUT}    return Cut(log_end, True)\n"
CORRECT = "from model.kafka.policies.kip_279 import cut\n"
LARGER = ("--log-size", "2", "--records", "2", "--epochs", "3")


def cutting(*lines: str) -> str:
    """A policy whose `cut` has these lines."""
    return f"{IMPORTS}{CUT}" + "".join(f"    {line}\n" for line in lines)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere(tmp_path, tmp_path_factory.getbasetemp() / "cache", monkeypatch)


def written(policy: str | bytes, folder: str = ".", name: str = "my-spec.toml") -> Path:
    """Write a policy and the spec that names it; gives the spec's path."""
    Path(folder).mkdir(exist_ok=True)
    (Path(folder) / "my_policy.py").write_bytes(policy if isinstance(policy, bytes) else policy.encode())
    path = Path(folder) / name
    path.write_text(SPEC, encoding="utf-8")
    return path


def message(policy: str | bytes) -> str:
    """What is told of a policy when the spec that names it is loaded."""
    with pytest.raises(TidegaugeError) as caught:
        load_spec(written(policy))
    assert isinstance(caught.value, ModelError)
    return str(caught.value)


# The same door


@pytest.mark.parametrize("path", sorted((ROOT / "model/kafka/policies").glob("[!_]*.py")), ids=lambda path: path.stem)
def test_a_copy_of_a_shipped_policy_is_the_shipped_policy(path: Path) -> None:
    """The same model, down to its content hash."""
    source = path.read_text(encoding="utf-8")
    mine = load_spec(written(source)).full_protocol()
    shipped = load_spec("my-spec.toml").changed(features={"truncation": path.stem.replace("_", "-")}).full_protocol()
    assert mine.content_hash == shipped.content_hash


def test_the_model_changes_with_the_policy() -> None:
    """What is kept between runs (proofs, machine code) goes by the content hash."""
    hashes = {load_spec(written(policy)).full_protocol().content_hash for policy in (TRUSTING, KEEPING, TRUSTING)}
    assert len(hashes) == 2


def test_a_policy_works_on_fetch_too() -> None:
    spec = load_spec(written(TRUSTING)).changed(features={"truncates": "on-fetch"})
    assert spec.policy == Path("my_policy.py")
    assert check(spec).explored.complete


def test_only_the_functions_that_differ_are_needed() -> None:
    default = load_spec(written("def asked(own_cache):\n    return -1\n")).full_protocol()
    assert default.content_hash != kafka(NAMED_VARIANTS["brokers/kip-320"], Bounds(2, 1, 1, 2)).content_hash


# From the command line


def result(*arguments: str) -> tuple[Ended, dict[str, str]]:
    ended = tidegauge("check", *arguments, "--json", "-")
    return ended, {name: found["verdict"] for name, found in json.loads(ended.out)["invariants"].items()}


def test_check_from_another_folder() -> None:
    written(TRUSTING, "there")
    ended = tidegauge("check", "there/my-spec.toml", *LARGER)
    assert (ended.code, ended.err) == (1, "")
    assert "changed      truncation=my_policy.py" in ended.out
    assert "VIOLATED" in ended.out.splitlines()[0]


def test_a_policy_may_be_named_on_the_command_line() -> None:
    """Then it is looked for where everything named there is."""
    written(TRUSTING, "there")
    Path("other.py").write_text(KEEPING, encoding="utf-8")
    spec = load_spec("there/my-spec.toml").changed(features={"truncation": "other.py"})
    assert (spec.features, spec.policy) == ({"truncation": "other.py"}, Path("other.py"))
    ended = tidegauge("check", "there/my-spec.toml", "--set", "truncation=nowhere.py")
    assert ended.err == (
        "tidegauge: error: nowhere.py: the truncation policy cannot be read: No such file or directory.\n"
    )


def test_two_policies_of_one_name_are_not_mixed_up() -> None:
    written(TRUSTING, "one", "one.toml")
    written(CORRECT, "two", "two.toml")
    hashes = [load_spec(f"{name}/{name}.toml").protocol().content_hash for name in ("one", "two", "one")]
    assert hashes[0] == hashes[2] != hashes[1]
    ended = tidegauge("compare", "one/one.toml", "two/two.toml", *LARGER, "--json", "-")
    steps = [
        {name: found["steps"] for name, found in each["invariants"].items()}
        for each in json.loads(ended.out)["results"]
    ]
    alone = [result(f"{name}/{name}.toml", *LARGER)[0] for name in ("one", "two")]
    assert steps == [
        {name: found["steps"] for name, found in json.loads(ended.out)["invariants"].items()} for ended in alone
    ]
    assert steps[0] != steps[1]


def test_a_policy_that_changes_is_read_again() -> None:
    path = written(KEEPING)
    first = load_spec(path).protocol().content_hash
    written(TRUSTING)
    assert load_spec(path).protocol().content_hash != first


def test_only_the_file_that_the_spec_names_is_run() -> None:
    written(KEEPING)
    bomb = 'raise RuntimeError("this was run")\n'
    for name in ("model.py", "my_policy_2.py", "conftest.py", "sitecustomize.py", "__init__.py"):
        Path(name).write_text(bomb, encoding="utf-8")
    assert tidegauge("check", "my-spec.toml").code == 0
    assert tidegauge("list").code == 0


# Traces


@pytest.fixture
def trace() -> str:
    written(TRUSTING, "there")
    assert tidegauge("check", "there/my-spec.toml", *LARGER, "--quiet").code == 1
    return "tidegauge-out/my-spec-NoAcknowledgedLoss.json"


def test_a_trace_names_the_policy_as_the_spec_does(trace: str) -> None:
    assert json.loads(Path(trace).read_text(encoding="utf-8"))["features"]["truncation"] == "my_policy.py"


def test_a_trace_alone_has_no_code_run(trace: str) -> None:
    """Not even code that lies beside it."""
    for place in (".", "tidegauge-out"):
        (Path(place) / "my_policy.py").write_text('raise RuntimeError("this was run")\n', encoding="utf-8")
    for command in ("explain", "replay"):
        ended = tidegauge(command, trace)
        assert (ended.code, ended.out) == (2, "")
        assert ended.err == (
            f"tidegauge: error: {trace}: the trace is of a model with a truncation policy of somebody's own, "
            "my_policy.py. That is code, and a trace alone has no code run. Name the file: --policy "
            "path/to/policy.py.\n"
        )


def test_a_trace_is_told_and_replayed_with_its_policy(trace: str) -> None:
    told = tidegauge("explain", trace, "--policy", "there/my_policy.py")
    assert (told.code, told.err) == (0, "")
    assert "NoAcknowledgedLoss is violated in my-spec" in told.out
    replayed = tidegauge("replay", trace, "--policy", "there/my_policy.py")
    assert (replayed.code, replayed.err) == (0, "")
    assert "still a counterexample" in replayed.unwrapped


@pytest.mark.usefixtures("trace")
def test_the_command_that_check_prints_works() -> None:
    ended = tidegauge("check", "there/my-spec.toml", *LARGER)
    name, *arguments = ended.out.splitlines()[-1].split()
    assert (name, "--policy" in arguments) == ("tidegauge", True)
    assert tidegauge(*arguments).code == 0
    ended = tidegauge("compare", "there/my-spec.toml", *LARGER)
    assert tidegauge(*ended.out.splitlines()[-1].split()[1:]).code == 0


def test_a_repaired_policy_no_longer_does_what_the_trace_tells(trace: str) -> None:
    Path("repaired.py").write_text(CORRECT, encoding="utf-8")
    ended = tidegauge("replay", trace, "--policy", "repaired.py")
    assert ended.code == 1
    assert "no longer a counterexample" in ended.unwrapped


def test_policies_that_do_not_belong_to_a_trace(trace: str) -> None:
    missing = tidegauge("explain", trace, "--policy", "nowhere.py")
    assert missing.err.startswith("tidegauge: error: nowhere.py: the truncation policy cannot be read: ")
    assert "'there' is no Python file" in tidegauge("explain", trace, "--policy", "there").err
    document = json.loads(Path(trace).read_text(encoding="utf-8"))
    document["features"]["truncation"] = "kip-279"
    Path(trace).write_text(json.dumps(document), encoding="utf-8")
    ended = tidegauge("explain", trace, "--policy", "there/my_policy.py")
    assert "the truncation policy of the trace is 'kip-279', not a file" in ended.err


# Mistakes


MISTAKES: Mapping[str, str | bytes] = {
    "nothing": "",
    "misspelt function": f"{KEEPING}def answers(cache, log_end, epoch): ...\n",
    "too few parameters": "def cut(own_cache, log_end, answer):\n    return 0\n",
    "a parameter too many": "def asked(own_cache, *, leader):\n    return 0\n",
    "no function": "cut = 3\n",
    "foreign import": f"import os\n{KEEPING}",
    "import of a file beside it": f"from helpers import clever\n{KEEPING}",
    "relative import": f"{CUT}    from . import helpers\n",
    "whole module": f"import model.language\n{KEEPING}",
    "what could restrict a step": f"from model.language import minimum, require\n{KEEPING}",
    "everything": f"from model.language import *\n{KEEPING}",
    "misspelt import": f"from model.kafka.epoch_cache import end_offset_four\n{KEEPING}",
    "unknown shipped policy": f"from model.kafka.policies.kip_666 import cut\n{KEEPING}",
    "exception while loading": f"{KEEPING}1 / 0\n",
    "exit": f"{KEEPING}raise SystemExit(0)\n",
    "exception while staging": cutting("return Cut(log_end, finnished)"),
    "symbolic value used as bool": cutting(
        "if answer.end_offset == UNDEFINED:", "    return Cut(high_watermark, True)"
    ),
    "symbolic value used as bool in a helper": "def _known(answer):\n    return not answer.epoch == 0\n"
    + cutting("return Cut(log_end, _known(answer))"),
    "mistake inside the library": cutting(
        "return Cut(", "    minimum(end_offset_for(own_cache, log_end, none).end_offset), True)"
    ),
    "state that is changed": cutting("own_cache[0] = none", "return Cut(log_end, True)"),
    "no return": cutting("Cut(log_end, True)"),
    "offset alone": cutting("return 0"),
    "condition as an offset": cutting("return Cut(log_end == 0, True)"),
    "none as an offset": cutting("return Cut(none, True)"),
    "number for finished": cutting("return Cut(log_end, 1)"),
    "pair as an answer": f"{KEEPING}\ndef answer(cache, log_end, epoch):\n    return epoch, log_end\n",
    "answer without an offset": f"{KEEPING}\ndef answer(cache, log_end, epoch):\n    return EpochEnd(epoch, None)\n",
    "truth as an epoch": f"{KEEPING}\ndef asked(own_cache):\n    return True\n",
    "flag of another type": f"ASKS_WITHOUT_EPOCH = 1\n{KEEPING}",
    "always below zero": cutting("return Cut(UNDEFINED, True)"),
    "always beyond the end": cutting("return Cut(log_end + 2, True)"),
}
#: What Python itself says of these differs from version to version: how the message begins.
NOT_PYTHON: Mapping[str, tuple[str | bytes, str]] = {
    "syntax": (f"{CUT}    retrun Cut(0, True)\n", "my_policy.py:2: the truncation policy is not Python:"),
    "indentation": (f"{CUT}return 0\n", "my_policy.py:2: the truncation policy is not Python"),
    "not text": (b"cut = '\xff'\n", "my_policy.py:1: the truncation policy is not Python: (unicode error)"),
    "not even characters": (b"cut = 0\0\n", "my_policy.py: the truncation policy"),
    "missing name of the standard library": (
        f"from math import floored\n{KEEPING}",
        "my_policy.py:1: the truncation policy raised ImportError while it was loaded: cannot import name 'floored'",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_told_with_their_line(mistake: str, snapshot: SnapshotAssertion) -> None:
    assert message(MISTAKES[mistake]) == snapshot


@pytest.mark.parametrize("mistake", NOT_PYTHON)
def test_what_is_not_python(mistake: str) -> None:
    policy, begins = NOT_PYTHON[mistake]
    assert message(policy).startswith(begins)


def test_a_policy_that_is_not_there() -> None:
    written(KEEPING).rename("elsewhere.toml")
    Path("my_policy.py").unlink()
    with pytest.raises(SpecError) as caught:
        load_spec("elsewhere.toml")
    assert str(caught.value) == "elsewhere.toml:6: there is no file 'my_policy.py' beside this spec."


def test_a_policy_that_is_a_directory() -> None:
    spec = written(KEEPING)
    Path("my_policy.py").unlink()
    Path("my_policy.py").mkdir()
    with pytest.raises(ModelError) as caught:
        load_spec(spec)
    assert str(caught.value) == "my_policy.py: the truncation policy cannot be read: Is a directory."


def test_a_policy_for_rules_that_look_at_whole_logs() -> None:
    path = written(KEEPING)
    path.write_text(SPEC.replace("brokers/", "published/"), encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        load_spec(path)
    assert str(caught.value).startswith("my-spec.toml:6: the policy my_policy.py looks at epoch caches. ")


def test_a_mistake_is_one_sentence_on_the_command_line() -> None:
    path = written(MISTAKES["symbolic value used as bool"], "there")
    ended = tidegauge("check", str(path))
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (2, "", 1)
    assert ended.err.startswith("tidegauge: error: there/my_policy.py:5: ")


# Cuts outside the log


OUTSIDE = {
    "below zero": (
        "where(answer.end_offset == UNDEFINED, high_watermark, answer.end_offset - 1)",
        "my_policy.py:4: the truncation policy cuts the log of A at offset -1. It happens after ",
        "Ask first whether it is UNDEFINED.",
    ),
    "beyond the end": (
        "where(answer.end_offset == UNDEFINED, high_watermark, answer.end_offset)",
        "my_policy.py:4: the truncation policy cuts the log of B at offset 2, beyond its end. It happens after ",
        "Write minimum(offset, log_end) where that is meant.",
    ),
}


@pytest.mark.parametrize("where", OUTSIDE)
def test_a_cut_outside_the_log_is_a_fault(where: str) -> None:
    """It is never moved to where it would fit."""
    offset, expected, advice = OUTSIDE[where]
    spec = load_spec(written(cutting(f"return Cut({offset}, True)")))
    with pytest.raises(ModelFault) as caught:
        check(spec.changed(bounds={"log_size": 2, "records": 2, "epochs": 3}))
    told = str(caught.value)
    assert told.startswith(expected)
    assert told.endswith(advice)


def test_functions_have_the_names_that_the_pages_give() -> None:
    assert list(FUNCTIONS) == ["asked", "answer", "cut"]
