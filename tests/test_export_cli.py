"""`export` and `graph` on the command line: formats, files, refusals, and the same bytes every time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from command_line import FALLS, SMALL, elsewhere, started, tidegauge, without_progress
from exports import LENGTHS, ODD, stored
from source_tree import ROOT

from checker.cli.export import FORMATS as OFFERED
from checker.cli.graph import FORMATS as OFFERED_FOR_GRAPHS
from checker.export.formats import FORMATS, GRAPH_FORMATS, ExportOptions, format_for

TRACE = "tidegauge-out/published-truncate-to-high-watermark-WeakIsr.json"
SPACE = ("graph", "published/kip-320", *SMALL)


@pytest.fixture(scope="module")
def stored_text(tmp_path_factory: pytest.TempPathFactory) -> str:
    with pytest.MonkeyPatch.context() as monkeypatch:
        elsewhere(tmp_path_factory.mktemp("check"), tmp_path_factory.getbasetemp() / "cache", monkeypatch)
        tidegauge(*FALLS, "--quiet", "--invariant", "WeakIsr")
        return Path(TRACE).read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def _elsewhere(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, stored_text: str
) -> None:
    elsewhere(tmp_path, tmp_path_factory.getbasetemp() / "cache", monkeypatch)
    Path(TRACE).parent.mkdir()
    Path(TRACE).write_text(stored_text, encoding="utf-8")


# Formats


def test_the_command_line_offers_what_there_is() -> None:
    assert tuple(FORMATS) == OFFERED
    assert tuple(GRAPH_FORMATS) == OFFERED_FOR_GRAPHS


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("states", LENGTHS)
def test_traces_of_any_length_and_with_any_names_can_be_written(name: str, states: int) -> None:
    text = FORMATS[name].write(stored(states), ExportOptions())
    assert len(text) > 100
    assert text.endswith("\n")
    if name in ("graphml", "svg", "html"):
        assert "<script>alert" not in text
    if name in ("graphml", "svg"):
        ElementTree.fromstring(text)  # XML, whatever the names


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_written_to_files_and_to_standard_output(name: str) -> None:
    ending = FORMATS[name].endings[0]
    assert tidegauge("export", TRACE, "-o", f"out/x{ending}").out == ""
    written = Path(f"out/x{ending}").read_text(encoding="utf-8")
    shown = tidegauge("export", TRACE, "--format", name, "-o", "-")
    assert (shown.code, shown.out, shown.err) == (0, written, "")
    assert [path.name for path in Path("out").iterdir()] == [f"x{ending}"]


def test_json_is_the_stored_trace() -> None:
    assert tidegauge("export", TRACE, "--format", "json", "-o", "-").out == Path(TRACE).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("file", "name"),
    [("x.itf.json", "itf"), ("x.json", "json"), ("X.DOT", "dot"), ("x.gv", "dot"), ("x.txt", None), ("dot", None)],
)
def test_names_of_files_tell_formats(file: str, name: str | None) -> None:
    assert format_for(file) == name


# What may be asked for


def test_choices_add_to_the_graph() -> None:
    plain, more = (
        tidegauge("export", TRACE, "--format", "dot", "-o", "-", *extra).out for extra in ((), ("--with", "choices"))
    )
    assert plain.count("->") == 8
    assert more.count("->") > 20
    assert "dashed" in more


def test_all_shortest_counterexamples() -> None:
    def nodes(*options: str) -> int:
        ended = tidegauge("export", TRACE, "--format", "graphml", "-o", "-", "--all-shortest", *options)
        assert ended.code == 0
        tree = ElementTree.fromstring(ended.out)
        return len(list(tree.iter("{http://graphml.graphdrawing.org/xmlns}node")))

    assert 9 <= nodes("--up-to-renaming") < nodes()


def test_mbt_adds_what_quint_adds() -> None:
    document = json.loads(tidegauge("export", TRACE, "--format", "itf", "-o", "-", "--mbt").out)
    assert document["states"][0]["mbt::actionTaken"] == "init"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("-o", "x.svg", "--with", "choices"), "--with choices means nothing to svg; it is for dot and graphml"),
        (("-o", "x.html", "--all-shortest"), "--all-shortest means nothing to html"),
        (("-o", "x.dot", "--mbt"), "--mbt means nothing to dot; it is for itf"),
        (("-o", "x.dot", "--all-shortest", "--with", "choices"), "two different graphs"),
        (("-o", "x.dot", "--up-to-renaming"), "--up-to-renaming goes with --all-shortest"),
        (("-o", "x.dot", "--all-shortest", "--max-size", "9"), "more than 9 states"),
        (("-o", "x.dot", "--max-size", "0"), "--max-size"),
        (("-o", "x.dot", "--max-size", "9"), "--max-size goes with --all-shortest"),
        (("-o", "x"), "does not say which format is wanted; add --format"),
        (("-o", "-"), "does not say which format is wanted"),
        (("-o", "x.dot", "--format", "pdf"), "pdf"),
        ((), "-o"),
        (("-o", ".", "--format", "dot"), "is a directory"),
        (("-o", f"{TRACE}/x.dot"), "is not a directory"),
    ],
)
def test_what_cannot_be_done_is_told(options: tuple[str, ...], told: str) -> None:
    ended = tidegauge("export", TRACE, *options)
    assert (ended.code, ended.out) == (2, "")
    assert told in ended.err
    assert not list(Path().glob("x*"))


def test_a_damaged_trace_leaves_an_older_file_alone() -> None:
    Path("x.dot").write_text("older", encoding="utf-8")
    Path("damaged.json").write_text(Path(TRACE).read_text(encoding="utf-8")[:200], encoding="utf-8")
    ended = tidegauge("export", "damaged.json", "-o", "x.dot")
    assert (ended.code, ended.out) == (2, "")
    assert Path("x.dot").read_text(encoding="utf-8") == "older"


def test_a_trace_of_another_model_comes_with_a_warning() -> None:
    document = json.loads(Path(TRACE).read_text(encoding="utf-8"))
    Path("old.json").write_text(json.dumps({**document, "model_hash": "0" * 32}), encoding="utf-8")
    ended = tidegauge("export", "old.json", "-o", "x.dot")
    assert ended.code == 0
    assert ended.err.startswith("tidegauge: warning: The model has changed")


# The whole space


@pytest.mark.parametrize("name", GRAPH_FORMATS)
def test_every_reachable_state_can_be_written(name: str) -> None:
    assert tidegauge(*SPACE, "-o", f"x.{name}").code == 0
    shown = tidegauge(*SPACE, "--format", name, "-o", "-")
    assert (shown.code, shown.err) == (0, "")
    assert shown.out == Path(f"x.{name}").read_text(encoding="utf-8")


def test_the_graph_has_as_many_states_and_steps_as_the_check_finds() -> None:
    head = json.loads(tidegauge(*SPACE, "--format", "jsonl", "-o", "-").out.splitlines()[0])
    explored = json.loads(tidegauge("check", *SPACE[1:], "--no-symmetry", "--json", "-").out)["explored"]
    assert (head["states"], head["steps"]) == (explored["distinct"], explored["generated"])


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("graph", "published/kip-320", "-o", "x.dot"), "more than 5,000 states at these bounds"),
        ((*SPACE, "-o", "x.dot", "--max-size", "9"), "Choose smaller bounds, or allow more with --max-size"),
        ((*SPACE, "-o", "x.svg"), "does not say which format is wanted; add --format"),
        ((*SPACE, "-o", "x.dot", "--crashes", "1"), "has no use for --crashes"),
    ],
)
def test_a_graph_that_cannot_be_written_is_refused(arguments: tuple[str, ...], told: str) -> None:
    ended = tidegauge(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert told in ended.err
    assert not Path("x.dot").exists()


# The same everywhere


COMMANDS = (
    *(("export", TRACE, "--format", name) for name in FORMATS),
    ("export", TRACE, "--format", "dot", "--with", "choices"),
    ("export", TRACE, "--format", "dot", "--all-shortest"),
    ("export", TRACE, "--format", "itf", "--mbt"),
    (*SPACE, "--format", "graphml"),
    (*SPACE, "--format", "jsonl"),
)


def exported(seed: str) -> bytes:
    """What all these commands write, in one process."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed}
    script = f"from checker.cli.application import run\nfor command in {COMMANDS!r}: run([*command, '-o', '-'])"
    return subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, check=True, timeout=300
    ).stdout


def test_the_bytes_do_not_depend_on_hashing() -> None:
    first = exported("0")
    assert len(first) > 100_000
    assert first == exported("4711")


@pytest.mark.parametrize("arguments", [("export", TRACE, "--format", "svg"), (*SPACE, "--format", "jsonl")])
def test_a_closed_pipe_is_no_error(arguments: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with started(*arguments, "-o", "-", stdout=writing) as process:
        os.close(writing)
        _, err = process.communicate()
    assert (process.returncode, without_progress(err)) == (0, "")


def test_a_title_that_is_markup_is_shown_and_not_run() -> None:
    page = FORMATS["html"].write(stored(2), ExportOptions())
    assert ODD[5] not in page
    assert "&lt;script&gt;alert(1)" in page
