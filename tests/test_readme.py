"""What the README and the pages show on a console is what a reader gets.

`make accept` writes today's output into examples that are shown in full; abridged ones are mended by hand.
"""

from __future__ import annotations

import csv
import re
from functools import cache
from pathlib import Path
from typing import Final

import click
import pytest
from command_line import Ended, elsewhere, tidegauge
from pages import ELLIPSIS, Example, Page, anchor, examples, refreshed, stable
from source_tree import ROOT

from checker.cli.application import application
from checker.data import counterexamples_folder

README: Final = ROOT / "README.md"
PAGES: Final = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("specs/**/*.md")])
WIDTH: Final = 100

#: `tidegauge check …` on a line of its own, a remark behind it or not; or in code within a text or a table.
COMMAND: Final = re.compile(r"^(?:\$ )?tidegauge (?P<line>[^#\n`]*)|`tidegauge (?P<inline>[^`\n]+)`", re.MULTILINE)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere(tmp_path, tmp_path_factory.getbasetemp() / "cache", monkeypatch)
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    Path("counterexamples").symlink_to(counterexamples_folder())  # pages are read in the repository's own folder


def shown() -> list[tuple[Path, Example]]:
    """The examples that are run, with their pages."""
    found = [(path, each) for path in PAGES for each in examples(path.read_text(encoding="utf-8"))]
    return [(path, each) for path, each in found if each.code is not None]


def named(value: object) -> str | None:
    return " ".join(value.arguments) if isinstance(value, Example) else None


@cache
def ran(example: Example) -> Ended:
    return tidegauge(*example.arguments)


def refresh(path: Path) -> None:
    """Write what the examples of a page print today into the page."""
    today = refreshed(path.read_text(encoding="utf-8"), lambda example: ran(example).out)
    path.write_text(today, encoding="utf-8")


def holds(example: Example) -> None:
    """The command prints what is shown, and ends as the page says."""
    ended = ran(example)
    assert ended.code == example.code, ended.err
    assert example.matches(ended.out), stable(ended.out)


@pytest.mark.parametrize(("path", "example"), shown(), ids=named)
def test_an_example_prints_what_is_shown(path: Path, example: Example, request: pytest.FixtureRequest) -> None:
    if request.config.getoption("update_snapshots"):
        refresh(path)
        example = again(path, example)
    holds(example)


def again(path: Path, example: Example) -> Example:
    """The example as the page shows it now."""
    now = examples(path.read_text(encoding="utf-8"))
    return next(each for each in now if each.arguments == example.arguments)


def test_the_picture_is_what_export_draws(request: pytest.FixtureRequest) -> None:
    picture = ROOT / "docs/kip-279.svg"
    drawn = tidegauge("export", "counterexamples/published-kip-279-WeakIsr.json", "--format", "svg", "-o", "-")
    assert (drawn.code, drawn.err) == (0, "")
    if request.config.getoption("update_snapshots"):
        picture.write_text(drawn.out, encoding="utf-8")
    assert picture.read_bytes() == drawn.out.encode()
    assert "](docs/kip-279.svg)" in README.read_text(encoding="utf-8")


# Commands that are only mentioned


def mentioned() -> list[str]:
    found = {
        (match["line"] or match["inline"]).strip()
        for path in PAGES
        for match in COMMAND.finditer(path.read_text(encoding="utf-8"))
    }
    return sorted(found - {""})


@pytest.mark.parametrize("arguments", mentioned())
def test_a_command_that_is_mentioned_exists(arguments: str) -> None:
    """Its options too; what it is given is not tried."""
    name, *rest = arguments.split()
    command = application.get_command(click.Context(application), name)
    assert name.startswith("--") or command is not None
    known = {option for each in (command or application).params for option in (*each.opts, *each.secondary_opts)}
    used = {word.partition("=")[0] for word in rest if word.startswith("--")}
    assert used <= known | {"--help"}


def test_the_readme_lists_every_command() -> None:
    listed = re.findall(r"^\| `tidegauge (\w+)", README.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert listed == list(application.commands)


# Numbers and words


def test_the_number_of_models_compared_with_tlc() -> None:
    with (ROOT / "tests/data/published-tlc.csv").open(encoding="utf-8", newline="") as file:
        models = {tuple(row[:5]) for row in list(csv.reader(file))[1:]}
    assert f"{len(models)} combinations" in README.read_text(encoding="utf-8")


def test_the_readme_names_every_exit_code() -> None:
    (codes,) = (rows for rows in Page(README).tables() if rows[0][0] == "code")
    assert [row[0] for row in codes[1:]] == ["0", "1", "2", "3", "70"]


# The examples' own rules


def example(shown: str) -> Example:
    return Example(("check",), shown, 0)


def test_a_line_that_was_left_out_stands_for_any_number_of_lines() -> None:
    assert example(f"a\n{ELLIPSIS}\nd\n").matches("a\nb\nc\nd\n")
    assert example(f"a\n{ELLIPSIS}\nd\n").matches("a\nd\n")
    assert not example(f"a\n{ELLIPSIS}\nd\n").matches("a\nb\nd\ne\n")
    assert not example("a\nd\n").matches("a\nb\nd\n")


def test_times_are_not_compared() -> None:
    assert example("done. Took 4.1 s.\n").matches("done. Took 12 s.\n")
    assert not example("done. Took 4.1 s.\n").matches("gone. Took 4.1 s.\n")


def test_an_example_says_how_it_ends() -> None:
    with pytest.raises(ValueError, match="say above"):
        examples("```console\n$ tidegauge list\n```\n")
    with pytest.raises(ValueError, match="not a command"):
        examples("<!-- exit 0 -->\n```console\n$ ls\n```\n")
    assert examples("<!-- not run: it installs -->\n```console\n$ make check\n```\n")[0].code is None


def test_anchors_are_those_of_headings() -> None:
    assert anchor('What "proved symmetry" means') == "what-proved-symmetry-means"
