"""Specs for the gate, one for each way in which one can end; all of them are searched in milliseconds."""

from __future__ import annotations

import json
import re
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest
from command_line import Ended, elsewhere, schema, tidegauge
from source_tree import ROOT

SMALL: Final = "[bounds]\nreplicas = 2\nlog_size = 1\nrecords = 1\nepochs = {epochs}\n"
#: Minutes of search.
ENDLESS: Final = "[bounds]\nreplicas = 3\nlog_size = 4\nrecords = 4\nepochs = 5\n"


def spec_text(
    expect: str,
    variant: str = "published/kip-320",
    invariants: str = '"WeakIsr"',
    head: str = "",
    bounds: str = SMALL.format(epochs=2),
) -> str:
    """A spec; `expect` stands under [expect] and may go on with other tables, `head` above the bounds."""
    title = f'title = "A spec of the tests"\nvariant = "{variant}"\ninvariants = [{invariants}]\n'
    return f"{title}{head}\n{bounds}\n[expect]\n{expect}"


def written(name: str, text: str) -> Path:
    """Write a spec below the working directory."""
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def by_itself(folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `elsewhere`, and on no machine of GitHub's."""
    elsewhere(folder, cache, monkeypatch)
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)


def gate(*arguments: str) -> Ended:
    """`tidegauge gate`, in this process."""
    return tidegauge("gate", *arguments)


FALLING: Final = "published/truncate-to-high-watermark"
BOTH: Final = '"WeakIsr", "StrongIsr"'
COUNTS: Final = "[expect.counts]\n"
IDLE: Final = '"controller_shrinks_isr", "elect_from_isr", "become_leader", "fetch_out_of_range", "follow"'
BROKERS: Final = {"variant": "brokers/kip-320", "invariants": '"NoAcknowledgedLoss"'}
EXACT: Final = '\n[gate]\ncounts = "exact"\n'
ONE_EPOCH: Final = SMALL.format(epochs=1)


@dataclass(frozen=True, slots=True)
class Case:
    """`surprises` are what is not as wished: kind, name, and the text of the line that is blamed (a part of it)."""

    text: str
    code: int
    surprises: tuple[tuple[str, str, str], ...] = ()


CASES: Final = {
    "holds": Case(
        spec_text(
            f'WeakIsr = "holds"\n{COUNTS}distinct = 1\norbits = 139\ndepth = 12\n',
            head='reachable = ["SecondElection"]',
        ),
        0,  # `distinct` is wrong, and not judged: a search with symmetry does not yield it
    ),
    "violated-as-expected": Case(
        spec_text("WeakIsr = { violated = 8 }\nStrongIsr = { violated = 9 }\n", FALLING, BOTH), 0
    ),
    "exact": Case(
        spec_text(f'WeakIsr = "holds"\n{COUNTS}distinct = 277\norbits = 139\ndepth = 12\ngenerated = 464\n{EXACT}'), 0
    ),
    "exact-wrong": Case(
        spec_text(f'WeakIsr = "holds"\n{COUNTS}distinct = 278\norbits = 139\ngenerated = 463\n{EXACT}'),
        1,
        (("different counts", "distinct", "distinct = 278"), ("different counts", "generated", "generated = 463")),
    ),
    "unexpectedly-violated": Case(
        spec_text('StrongIsr = { violated = 9 }\nWeakIsr = "holds"\n', FALLING, BOTH),
        1,
        (("unexpectedly violated", "WeakIsr", 'WeakIsr = "holds"'),),
    ),
    "unexpectedly-holding": Case(
        spec_text("WeakIsr = { violated = 3 }\n"), 1, (("unexpectedly holding", "WeakIsr", "violated = 3"),)
    ),
    "different-length": Case(
        spec_text("WeakIsr = { violated = 7 }\n", FALLING), 1, (("different length", "WeakIsr", "violated = 7"),)
    ),
    "different-counts": Case(
        spec_text(f'WeakIsr = "holds"\n{COUNTS}orbits = 138\ndepth = 13\n'),
        1,
        (("different counts", "orbits", "orbits = 138"), ("different counts", "depth", "depth = 13")),
    ),
    "witness-not-reached": Case(
        spec_text('WeakIsr = "holds"\n', head='reachable = ["SecondElection"]', bounds=ONE_EPOCH),
        1,
        (("witness not reached", "SecondElection", "reachable ="),),
    ),
    "action-never-enabled": Case(
        spec_text('NoAcknowledgedLoss = "holds"\n', **BROKERS, head=f"never_enabled = [{IDLE}]", bounds=ONE_EPOCH),
        1,
        (("action never enabled", "ask_and_truncate", "[bounds]"),),
    ),
    "idle-as-declared": Case(
        spec_text(
            'NoAcknowledgedLoss = "holds"\n',
            **BROKERS,
            head=f'never_enabled = [{IDLE}, "ask_and_truncate"]',
            bounds=ONE_EPOCH,
        ),
        0,
    ),
    "action-enabled-after-all": Case(
        spec_text('WeakIsr = "holds"\n', head='never_enabled = [\n  "write",\n]'),
        1,
        (("action enabled after all", "write", '"write"'),),
    ),
    "malformed": Case('title = "x"\nvariant = "published/kip-320"\ninvariants = [\n', 2, (("error", "spec", "["),)),
    "nothing-expected": Case(
        spec_text('WeakIsr = "holds"\n', invariants='"WeakIsr",\n  "StrongIsr"'), 2, (("error", "spec", '"StrongIsr"'),)
    ),
    "no-counts": Case(spec_text(f'WeakIsr = "holds"\n{EXACT}'), 2, (("error", "spec", 'counts = "exact"'),)),
    "extends-nothing": Case('extends = "gone.toml"\n', 2, (("error", "spec", "extends"),)),
}


def write_cases(folder: str, names: Iterable[str] = CASES) -> None:
    """These cases as files of their names."""
    for name in names:
        written(f"{folder}/{name}.toml", CASES[name].text)


# Reading reports


def sarif_of(text: str) -> dict[str, Any]:
    """A SARIF document that fits the published schema."""
    document: dict[str, Any] = json.loads(text)
    schema = json.loads((ROOT / "tests" / "data" / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
    jsonschema.Draft4Validator(schema, format_checker=jsonschema.FormatChecker()).validate(document)
    return document


#: What junit-10.xsd of Jenkins' xUnit plugin allows: attributes (those that must be there in capitals), and children.
_JUNIT: Final = {
    "testsuites": ({"name", "time", "tests", "failures", "errors"}, {"testsuite"}),
    "testsuite": (
        {"NAME", "TESTS", "FAILURES", "ERRORS", "group", "time", "skipped", "timestamp", "hostname", "id", "package"},
        {"testsuite", "properties", "testcase", "system-out", "system-err"},
    ),
    "properties": (set(), {"property"}),
    "property": ({"NAME", "VALUE"}, set()),
    "testcase": ({"NAME", "time", "classname", "group"}, {"skipped", "error", "failure", "system-out", "system-err"}),
    "failure": ({"type", "message"}, set()),
    "error": ({"type", "message"}, set()),
}
_TIME: Final = re.compile(r"(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]*)?")


def junit_of(text: str) -> ET.Element:
    """A JUnit document that keeps the rules of the published schema, with totals that are right."""
    root = ET.fromstring(text)
    assert root.tag == "testsuites"
    for element in root.iter():
        allowed, children = _JUNIT[element.tag]
        assert {child.tag for child in element} <= children
        assert set(element.keys()) <= {name.lower() for name in allowed}
        assert {name.lower() for name in allowed if name.isupper()} <= set(element.keys())
        if "time" in element.keys():  # noqa: SIM118  # an element is no mapping
            assert _TIME.fullmatch(element.get("time", ""))
    for suite in (root, *root.iter("testsuite")):
        cases = list(suite.iter("testcase"))
        assert int(suite.get("tests", "")) == len(cases)
        for kind in ("failure", "error"):
            assert int(suite.get(f"{kind}s", "")) == sum(case.find(kind) is not None for case in cases)
    return root


@dataclass(frozen=True, slots=True)
class Annotation:
    """A workflow command as GitHub's runner reads it."""

    level: str
    properties: dict[str, str]
    message: str


def annotations_of(text: str) -> list[Annotation]:
    """Every workflow command in an output."""
    found = re.findall(r"^::(\w+) (.*?)::(.*)$", text, re.MULTILINE)
    return [Annotation(level, dict(map(_pair, given.split(","))), _plain(message)) for level, given, message in found]


def _pair(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return name, _plain(value.replace("%3A", ":").replace("%2C", ","))


def _plain(text: str) -> str:
    return text.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")


def line_of(path: str, line: int) -> str:
    """A line of a file; the whole text for line 0."""
    text = Path(path).read_text(encoding="utf-8")
    return text if line == 0 else text.splitlines()[line - 1]


def children_of(process: int) -> list[int]:
    """The processes that check specs for this one."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                command = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if parent == process and b"spawn_main" in command:
                found.append(int(folder.name))
    return found


#: All reports that are files.
REPORTS = ("--junit", "o/j.xml", "--sarif", "o/s.sarif", "--summary", "o/s.md", "--json", "o/g.json")


def require_whole_reports() -> dict[str, Any]:
    """Every report is there, well formed, and says the same; gives the document."""
    found: dict[str, Any] = json.loads(Path("o/g.json").read_text(encoding="utf-8"))
    jsonschema.validate(found, schema("result"))
    root = junit_of(Path("o/j.xml").read_text(encoding="utf-8"))
    assert [suite.get("name") for suite in root] == [spec["spec"] for spec in found["specs"]]
    (run,) = sarif_of(Path("o/s.sarif").read_text(encoding="utf-8"))["runs"]
    surprises = [each for spec in found["specs"] for each in spec["findings"] if each["kind"] != "as wished"]
    assert len(run["results"]) == len(surprises)
    summary = Path("o/s.md").read_text(encoding="utf-8")
    assert all(f"`{spec['spec']}` | {spec['status']} |" in summary for spec in found["specs"])
    assert [path.name for path in Path("o").iterdir() if path.name.startswith(".")] == []
    return found


# Processes


def ended(process: subprocess.Popen[str]) -> tuple[str, str]:
    """What it wrote, as `_code_of`."""
    code_of(process)
    return process.communicate()


def code_of(process: subprocess.Popen[str]) -> int:
    """The exit code; a process that does not end is killed, so that no test waits for ever."""
    try:
        return process.wait(120)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
