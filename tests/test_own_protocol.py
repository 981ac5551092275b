"""Whole protocols of the user's own: a file beside the spec, checked as Kafka's is, with errors on its lines."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import jsonschema
import pytest
from command_line import elsewhere, schema, tidegauge
from source_tree import ROOT
from syrupy.assertion import SnapshotAssertion

from checker.cli.options import ModelChoice
from checker.cli.settings import standing_specs
from checker.data import specs_folder
from checker.run import Options, check
from checker.spec import ExpectedCounts, Spec, load_examples, load_shipped, load_spec
from model.errors import SpecError, TidegaugeError, UsageError

SPEC: Final = """\
title = "A lock of my own"
protocol = "my_protocol.py:lock"
invariants = ["OneInside"]

[bounds]
clients = 2
"""
LOCK: Final = '''\
from model.language import Bool, Option, Range, Scalarset, Set, action, invariant, none, protocol, reachable, require


def lock(clients=2, breaks=0):
    Client = Scalarset("Client", clients)

    @action
    def acquire(state, client: Client):
        require(state.holder == none)
        state.holder = client
        state.inside.add(client)

    @action
    def release(state, client: Client):
        require(state.holder == client)
        state.holder = none
        state.inside.remove(client)

    @action
    def break_lock(state):
        require(state.holder != none, state.broken < breaks)
        state.broken += 1
        state.holder = none

    @invariant
    def one_inside(state):
        """At most one client is inside."""
        return state.inside.size <= 1

    @reachable
    def somebody_inside(state):
        return state.inside.size == 1

    return protocol(
        "lock",
        variables={"holder": Option(Client), "inside": Set(Client), "broken": Range(0, breaks)},
        actions=[acquire, release, break_lock],
        invariants=[one_inside],
        witnesses=[somebody_inside],
    )
'''
BREAKING: Final = ("--set", "breaks=1")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere(tmp_path, tmp_path_factory.getbasetemp() / "cache", monkeypatch)


def written(protocol: str = LOCK, spec: str = SPEC, folder: str = ".") -> Path:
    """Write a protocol and the spec that names it; gives the spec's path."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    (Path(folder) / "my_protocol.py").write_text(protocol, encoding="utf-8")
    path = Path(folder) / "my-spec.toml"
    path.write_text(spec, encoding="utf-8")
    return path


def changed(old: str, new: str) -> str:
    assert LOCK.count(old) == 1
    return LOCK.replace(old, new)


def message(protocol: str = LOCK, spec: str = SPEC, kind: type[TidegaugeError] = TidegaugeError) -> str:
    """What is told when the spec is loaded and its protocol made."""
    with pytest.raises(kind) as caught:
        load_spec(written(protocol, spec)).protocol()
    assert caught.value.exit_code == 2
    return str(caught.value)


# What the spec says


def test_bounds_are_the_parameters_of_the_function() -> None:
    spec = load_spec(written())
    assert spec.all_bounds() == spec.used_bounds() == {"clients": 2, "breaks": 0}
    assert spec.variant_name == "my_protocol.py:lock"
    assert (spec.features, spec.policy, spec.quick) == ({}, None, None)
    assert spec.files == (Path("my-spec.toml"), Path("my_protocol.py"))
    outcome = check(spec, Options(symmetry="off"))
    assert (outcome.explored.distinct, outcome.explored.depth, outcome.exit_code) == (3, 2, 0)


def test_a_protocol_that_stands_in_the_file_has_no_bounds() -> None:
    spec = load_spec(written(LOCK + "\n\nsmall = lock(1)\n", SPEC[: SPEC.index("[bounds]")].replace(":lock", ":small")))
    assert spec.all_bounds() == {}
    assert check(spec, Options(symmetry="off")).explored.distinct == 2
    with pytest.raises(UsageError, match=r"^my-spec has no bound 'clients'\. It has no bounds at all\.$"):
        spec.changed(bounds={"clients": 2})


def test_it_may_lie_below_the_spec() -> None:
    path = written(spec=SPEC.replace("my_protocol.py", "sub/my_protocol.py"))
    Path("sub").mkdir()
    Path("my_protocol.py").rename("sub/my_protocol.py")
    assert load_spec(path).files[-1] == Path("sub/my_protocol.py")


def test_expectations_quick_bounds_and_an_extending_spec() -> None:
    path = written(spec=f"{SPEC}breaks = 1\n[expect]\nOneInside = {{ violated = 3 }}\n[quick]\nclients = 1\n")
    spec = load_spec(path)
    assert spec.at_quick_bounds().all_bounds() == {"clients": 1, "breaks": 1}
    assert spec.expect["OneInside"].steps == 3
    assert spec.place_of("OneInside") == spec.place("expect", "OneInside")
    Path("child.toml").write_text('extends = "my-spec.toml"\n[bounds]\nclients = 3\n', encoding="utf-8")
    child = load_spec("child.toml")
    assert (child.all_bounds(), dict(child.expect)) == ({"clients": 3, "breaks": 1}, {})
    assert [file.name for file in child.files] == ["child.toml", "my-spec.toml", "my_protocol.py"]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("my_protocol.py:lock", "my_protocol.py", 'my-spec.toml:2: protocol is \'my_protocol.py\'. Write "my_pro'),
        ("my_protocol.py:lock", "../my_protocol.py:lock", "my-spec.toml:2: protocol leads out of the spec's folder: "),
        ("my_protocol.py:lock", "/my_protocol.py:lock", "my-spec.toml:2: protocol leads out of the spec's folder: "),
        ("my_protocol.py:lock", "sub/../my_protocol.py:lock", "my-spec.toml:2: protocol leads out of the spec's "),
        ("my_protocol.py:lock", "mine.py:lock", "my-spec.toml:2: there is no file 'mine.py' beside this spec."),
        ("clients = 2", "client = 2", "my-spec.toml:6: [bounds] has no key 'client'. Did you mean 'clients'?"),
        ("clients = 2", "clients = -1", "my-spec.toml:6: the bound clients is -1. Give a number from 0 to 1000."),
        ("clients = 2", "clients = true", "my-spec.toml:6: the bound clients is true. Give a whole number."),
        ("clients = 2", "clients = 9", "my-spec.toml:5: lock (clients 9, breaks 0) is too large to be checked exh"),
        ("OneInside", "OneOutside", "my-spec.toml:3: there is no invariant 'OneOutside'. Did you mean 'OneInside'?"),
        ("[bounds]", 'variant = "published/kip-320"\n[bounds]', "my-spec.toml:5: a spec with a protocol of its own h"),
        ("[bounds]", "[features]\n[bounds]", "my-spec.toml:5: a spec with a protocol of its own has features as well"),
    ],
)  # fmt: skip
def test_mistakes_in_the_spec(old: str, new: str, expected: str) -> None:
    assert message(spec=SPEC.replace(old, new), kind=SpecError).startswith(expected)


def test_the_schema_knows_specs_of_own_protocols() -> None:
    validator = jsonschema.Draft202012Validator(schema("spec"))
    validator.validate(tomllib.loads(SPEC))
    for mistake in ("my_protocol.py", "my_protocol:lock"):
        assert not validator.is_valid(tomllib.loads(SPEC.replace("my_protocol.py:lock", mistake)))
    for addition in ('variant = "published/kip-320"\n[bounds]', "[features]\n[bounds]"):
        assert not validator.is_valid(tomllib.loads(SPEC.replace("[bounds]", addition)))
    for base, bound, fits in (
        ("kip-320", "epochs", True),
        ("kip-320", "managers", False),
        ("two-phase-commit", "managers", True),
        ("examples/two-phase-commit", "managers", True),
        ("mine.toml", "managers", True),
    ):
        assert validator.is_valid({"extends": base, "bounds": {bound: 2}}) is fits, base
    kafka = 'title = "K"\nvariant = "published/kip-320"\ninvariants = ["WeakIsr"]\n[bounds]\nclients = 2\n'
    assert not validator.is_valid(tomllib.loads(kafka))


# From the command line


def test_check_with_other_bounds() -> None:
    written(folder="there")
    held = tidegauge("check", "there/my-spec.toml", "--set", "clients=3")
    assert (held.code, held.err) == (0, "")
    assert "bounds       3 clients, 0 breaks" in held.out
    broken = tidegauge("check", "there/my-spec.toml", *BREAKING)
    assert broken.code == 1
    assert "OneInside falls in 3 steps" in broken.unwrapped
    assert "break_lock()" in broken.out  # without a teller a step is told by its name, and what changed
    assert "holder  A -> none" in broken.out


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--set", "client=3"), "my_protocol.py:lock has no bound 'client'. Did you mean 'clients'?"),
        (("--set", "clients=many"), "the bound clients is 'many'. Give a whole number."),
        (("--set", "clients=1001"), "the bound clients is 1001. Give a number from 0 to 1000."),
        (("--replicas", "3"), "my-spec has no bound 'replicas'. Known: breaks, clients."),
        (("--set", "clients=9"), "lock (clients 9, breaks 0) is too large to be checked exhaustively: "),
        (("--invariant", "WeakIsr"), "there is no invariant 'WeakIsr'. Known: OneInside."),
    ],
)
def test_options_that_do_not_fit(arguments: tuple[str, ...], expected: str) -> None:
    written()
    ended = tidegauge("check", "my-spec.toml", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"tidegauge: error: {expected}")


def test_an_option_is_a_bound_of_that_name() -> None:
    written(
        LOCK.replace("clients=2", "replicas=2").replace('"Client", clients', '"Client", replicas'),
        SPEC.replace("clients", "replicas"),
    )
    assert (
        json.loads(tidegauge("check", "my-spec.toml", "--replicas", "3", "--json", "-").out)["bounds"]["replicas"] == 3
    )


def test_prove_graph_and_mutate() -> None:
    written()
    proved = tidegauge("prove", "my-spec.toml", "--json", "-")
    document = json.loads(proved.out)
    assert (proved.code, document["symmetry"]["group"]) == (0, "Sym(2)")
    assert (document["protocol"], "variant" in document) == ("my_protocol.py:lock", False)
    drawn = tidegauge("graph", "my-spec.toml", "--format", "jsonl", "-o", "-")
    assert json.loads(drawn.out.splitlines()[0]) == {
        "kind": "graph", "title": "Every state of my-spec: 2 clients, 0 breaks.", "states": 3, "steps": 4,
    }  # fmt: skip
    mutated = tidegauge("mutate", "my-spec.toml", "--action", "acquire", "--json", "-")
    assert {found["action"] for found in json.loads(mutated.out)["mutants"]} == {"acquire"}


def test_results_satisfy_the_schemas() -> None:
    written()
    for command in ("check", "prove", "compare"):
        document = json.loads(tidegauge(command, "my-spec.toml", *BREAKING, "--json", "-").out)
        jsonschema.validate(document, schema("result"))
    jsonschema.validate(json.loads(tidegauge("list", "--json", "-").out), schema("result"))
    trace = json.loads(Path("tidegauge-out/my-spec-OneInside.json").read_text(encoding="utf-8"))
    jsonschema.validate(trace, schema("trace"))
    assert (trace["protocol"], trace["bounds"]) == ("my_protocol.py:lock", {"clients": 2, "breaks": 1})


# Traces

TRACE: Final = "tidegauge-out/my-spec-OneInside.json"
ADMITTED: Final = ("--protocol", "there/my_protocol.py:lock")


@pytest.fixture
def trace() -> str:
    written(folder="there")
    assert tidegauge("check", "there/my-spec.toml", *BREAKING, "--quiet").code == 1
    return TRACE


def test_a_trace_alone_has_no_code_run(trace: str) -> None:
    """Not even code that lies beside it."""
    for place in (".", "tidegauge-out"):
        (Path(place) / "my_protocol.py").write_text('raise RuntimeError("this was run")\n', encoding="utf-8")
    for command in ("explain", "replay"):
        ended = tidegauge(command, trace)
        assert (ended.code, ended.out) == (2, "")
        assert ended.err == (
            f"tidegauge: error: {trace}: the trace is of a protocol of somebody's own, my_protocol.py:lock. That is "
            "code, and a trace alone has no code run. Name the file and the function: --protocol "
            "path/to/my_protocol.py:lock.\n"
        )


def test_a_trace_is_told_replayed_and_exported_with_its_protocol(trace: str) -> None:
    told = tidegauge("explain", trace, *ADMITTED)
    assert (told.code, told.err) == (0, "")
    assert "OneInside is violated in my-spec, in 3 steps." in told.out
    replayed = tidegauge("replay", trace, *ADMITTED)
    assert (replayed.code, replayed.err) == (0, "")
    for form in ("dot", "graphml", "mermaid", "itf", "svg", "html"):
        assert tidegauge("export", trace, *ADMITTED, "--format", form, "-o", f"x.{form}").code == 0
    assert tidegauge("export", trace, *ADMITTED, "--format", "json", "-o", "-").out == Path(trace).read_text("utf-8")


@pytest.mark.usefixtures("trace")
def test_the_command_that_check_prints_works() -> None:
    for command in ("check", "compare"):
        ended = tidegauge(command, "there/my-spec.toml", *BREAKING)
        name, *arguments = ended.out.splitlines()[-1].split()
        assert (name, "--protocol" in arguments) == ("tidegauge", True)
        assert tidegauge(*arguments).code == 0


def test_a_protocol_that_has_changed(trace: str) -> None:
    Path("there/my_protocol.py").write_text(
        changed("state.holder == none)", "state.inside.is_empty)"), encoding="utf-8"
    )
    ended = tidegauge("replay", trace, *ADMITTED)
    assert ended.code == 1
    assert "Step 3, acquire(client=B), is not enabled in the state before it." in ended.out


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--protocol", "there/my_protocol.py"), "--protocol is 'there/my_protocol.py'. Write "),
        (
            ("--policy", "there/my_protocol.py"),
            "the trace is of a protocol of somebody's own, my_protocol.py:lock. Leave",
        ),
        (("--protocol", "nowhere.py:lock"), "nowhere.py: the protocol cannot be read: No such file or directory."),
    ],
)
def test_files_that_do_not_belong_to_a_trace(trace: str, arguments: tuple[str, ...], expected: str) -> None:
    ended = tidegauge("explain", trace, *arguments)
    assert ended.code == 2
    assert expected in ended.err


def test_a_trace_of_the_kafka_protocol_wants_no_protocol() -> None:
    stored = ROOT / "counterexamples" / "published-kip-279-WeakIsr.json"
    written()
    ended = tidegauge("explain", str(stored), "--protocol", "my_protocol.py:lock")
    assert "the trace is of the Kafka protocol. Leave out --protocol." in ended.err


# Whose code is run


def test_only_the_file_that_the_spec_names_is_run() -> None:
    written()
    bomb = 'raise RuntimeError("this was run")\n'
    for name in ("model.py", "lock.py", "conftest.py", "sitecustomize.py", "__init__.py"):
        Path(name).write_text(bomb, encoding="utf-8")
    assert tidegauge("check", "my-spec.toml").code == 0
    assert tidegauge("list").code == 0


def test_a_protocol_that_changes_is_read_again() -> None:
    path = written()
    first = load_spec(path).protocol().content_hash
    assert load_spec(written(changed("<= 1", "<= 2"))).protocol().content_hash != first


# Mistakes in the file

MISTAKES: Final[Mapping[str, str]] = {
    "nothing": "",
    "another name": LOCK.replace("def lock", "def locks"),
    "imported name": "from model.language import protocol as lock\n",
    "no function": "lock = 3\n",
    "foreign import": f"import os\n{LOCK}",
    "import of a file beside it": f"from helpers import clever\n{LOCK}",
    "relative import": f"from . import helpers\n{LOCK}",
    "import of the checker": f"from checker.run import check\n{LOCK}",
    "whole module": f"import model.language\n{LOCK}",
    "misspelt import": LOCK.replace("import Bool", "import Boole"),
    "unknown module of the language": f"from model.language.sets import Set\n{LOCK}",
    "syntax": LOCK.replace("def lock(clients=2, breaks=0):", "def lock(clients=2, breaks=0)"),
    "exception while loading": f"{LOCK}1 / 0\n",
    "exit": f"{LOCK}raise SystemExit(0)\n",
    "protocol that cannot be staged while loading": f"{LOCK}lock(breaks=-1)\n",
    "bound without a default": LOCK.replace("clients=2", "clients"),
    "bound of another type": LOCK.replace("breaks=0", 'breaks="0"'),
    "truth as a bound": LOCK.replace("breaks=0", "breaks=False"),
    "any number of bounds": LOCK.replace("breaks=0", "breaks=0, **others"),
    "positional bound": LOCK.replace("breaks=0", "breaks=0, /"),
    "exception in the function": LOCK.replace("    Client = ", "    assert breaks\n    Client = "),
    "misspelt name in the function": LOCK.replace('Scalarset("Client"', 'Scalarsets("Client"'),
    "misspelt name in an action": changed("state.inside.add", "state.outside.add"),
    "symbolic value used as bool": changed("require(state.holder == client)", "assert state.holder == client"),
    "no return": LOCK.replace("return protocol(", "protocol("),
    "nothing to check": LOCK.replace("invariants=[one_inside]", "invariants=[]"),
    "unmarked action": LOCK.replace("    @action\n    def release", "    def release"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_told_with_their_line(mistake: str, snapshot: SnapshotAssertion) -> None:
    assert message(MISTAKES[mistake]) == snapshot


def test_a_mistake_is_one_sentence_on_the_command_line() -> None:
    path = written(MISTAKES["misspelt name in an action"], folder="there")
    ended = tidegauge("check", str(path))
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (2, "", 1)
    assert ended.err.startswith("tidegauge: error: there/my_protocol.py:11: ")


def test_a_fault_of_the_protocol_has_its_trace() -> None:
    written(changed("state.broken < breaks", "True"), f"{SPEC}breaks = 1\n")
    ended = tidegauge("check", "my-spec.toml")
    assert (ended.code, ended.out) == (2, "")
    assert "break_lock() assigns 2 to broken" in ended.err
    assert "It happens after 4 steps: acquire(client=A), break_lock(), acquire(client=B), break_lock()" in ended.err


def test_what_a_protocol_may_use() -> None:
    """Tuples with names, everything of the language at once."""
    extra = "from typing import NamedTuple\n\n\nclass Rule(NamedTuple):\n    name: str\n\n\n"
    assert load_spec(written(f"{extra}{LOCK}")).protocol().name == "lock"
    everything = "from model.language import *\n" + LOCK[LOCK.index("\n") :]
    assert load_spec(written(everything)).protocol().name == "lock"


# The shipped examples

EXAMPLES: Final = load_examples()


def two_phase_commit(managers: int) -> Spec:
    return load_spec("two-phase-commit").changed(bounds={"managers": managers})


@pytest.mark.parametrize(("managers", "states", "depth"), [(3, 288, 11), (5, 8_832, 17), (7, 296_448, 23)])
def test_two_phase_commit_has_the_published_numbers_of_states(managers: int, states: int, depth: int) -> None:
    """Gray and Lamport's specification under TLC, in which the initial state is at depth 1."""
    outcome = check(two_phase_commit(managers), Options(symmetry="off"))
    assert (outcome.explored.distinct, outcome.explored.depth) == (states, depth)
    assert outcome.exit_code == 0


def test_two_phase_commit_up_to_permutations() -> None:
    outcome = check(two_phase_commit(7))
    assert (outcome.explored.distinct, outcome.explored.depth, outcome.symmetry.group) == (920, 23, "Sym(7)")


def test_the_examples_are_a_section_of_their_own() -> None:
    names = [spec.name for spec in EXAMPLES]
    assert names == ["examples/lock-service", "examples/lock-service-unfenced", "examples/two-phase-commit"]
    assert not {spec.name for spec in load_shipped()} & set(names)
    told = tidegauge("list").out
    assert told.count("examples of your own") == 1
    assert all(told.index("examples of your own") < told.index(f"\n{name}\n") for name in names)
    assert {each["spec"] for each in json.loads(tidegauge("list", "--json", "-").out)["specs"]} >= set(names)
    standing = standing_specs((), ModelChoice({}, {}, ()))
    assert not {spec.name for spec in standing} & set(names)


@pytest.mark.parametrize("path", sorted((specs_folder() / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_an_example_is_at_most_sixty_lines(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 60


def test_the_table_in_the_readme_is_true() -> None:
    readme = (specs_folder() / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[`(.*?)`\]\(examples/.*?\) \| .*? \| (.*?) \| ([\d,]+) \|$", readme, re.MULTILINE)
    told = []
    for spec in EXAMPLES:
        (expected,) = spec.expect.values()
        assert spec.counts is not None
        short = spec.name.removeprefix("examples/")
        told.append((short, expected.text.removeprefix("violated in "), f"{spec.counts.distinct:,}"))
    assert sorted(rows) == sorted(told)


def test_what_fencing_is_worth() -> None:
    fenced, unfenced = load_spec("lock-service"), load_spec("lock-service-unfenced")
    assert fenced.counts == ExpectedCounts(distinct=337, orbits=169, depth=10, generated=494)
    outcome = check(unfenced)
    assert [found.steps for found in outcome.invariants] == [unfenced.expect["GrantsInOrder"].steps] == [5]
