"""Pages say what is true: blocks run, tables list what the code has, links lead somewhere.

After a change, `make accept` writes today's output into the pages; read the difference. Tables are mended by hand.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Final

import pytest
from pages import Page, anchors, links
from source_tree import ROOT, modules

from checker.cache import DIRECTORY_VARIABLE
from model.kafka import NAMED_VARIANTS, Bounds, Variant
from model.kafka.invariants import invariants, witnesses

DOCS: Final = ROOT / "docs"
RUN: Final = ("packing", "visited-set", "proof-of-symmetry", "crash-model")
PAGES: Final = sorted(
    [*ROOT.glob("*.md"), *DOCS.glob("*.md"), *ROOT.glob("specs/**/*.md"), ROOT / "tests/data/README.md"]
)
EVERYTHING: Final = Variant(
    truncation="kip-279",
    truncates="by-asking",
    synchrony="position",
    isr_expansion="fetched-epoch-start",
    acks="all",
    crash="process",
    shutdown="controlled",
)

CODE: Final = re.compile(r"`([^`]+)`")


def named(rows: Iterable[list[str]], column: int = 0) -> list[str]:
    """The names in code type in one column of a table."""
    return [name for row in rows for name in CODE.findall(row[column])]


def tables(page: str, heading: str) -> list[list[str]]:
    """The rows of all tables of a page whose first heading is this one."""
    found = [rows for rows in Page(ROOT / page).tables() if rows[0][0] == heading]
    assert found, f"{page} has no table of {heading}s"
    return [row for rows in found for row in rows[1:]]


@pytest.fixture
def _at_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the project's folder, where errors find the lines of pages, with a cache that only tests use."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.mark.usefixtures("_at_home")
@pytest.mark.parametrize("name", RUN)
def test_blocks_print_what_the_page_says(name: str, request: pytest.FixtureRequest) -> None:
    page = Page(DOCS / f"{name}.md")
    today = page.with_output()
    if request.config.getoption("update_snapshots"):
        page.path.write_text(today, encoding="utf-8")
    assert today == page.path.read_text(encoding="utf-8"), "make accept, then read the difference"


# Links


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(path: Path) -> None:
    broken = [target for target in links(path.read_text(encoding="utf-8")) if not leads_somewhere(path, target)]
    assert not broken


def leads_somewhere(path: Path, target: str) -> bool:
    """Addresses on the web are not tried."""
    if re.match(r"[a-z]+:", target):
        return True
    file, _, name = target.partition("#")
    found = path.parent / file if file else path
    return found.exists() and (not name or name in anchors(found.read_text(encoding="utf-8")))


def test_the_index_lists_every_page() -> None:
    listed = {target for target in links((DOCS / "README.md").read_text(encoding="utf-8")) if "/" not in target}
    assert listed == {path.name for path in DOCS.iterdir() if path.is_file()} - {"README.md"}


# ARCHITECTURE.md


def test_every_module_has_a_line() -> None:
    ours = {path.relative_to(ROOT).as_posix() for path in modules().values() if path.name != "__init__.py"}
    listed = named(tables("ARCHITECTURE.md", "file"))
    assert not ours.symmetric_difference(listed), "add these to the tables of ARCHITECTURE.md, or take them out"
    assert len(listed) == len(set(listed))


def test_every_dependency_has_a_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *(one for some in project["optional-dependencies"].values() for one in some)]
    names = {re.split(r"[<>=\[ ]", requirement)[0] for requirement in wanted} - {"tidegauge"}
    assert set(named(tables("ARCHITECTURE.md", "dependency"))) == names


# The crash model


def test_every_feature_is_listed_with_its_rules() -> None:
    listed = {named([row])[0]: named([row], 1) for row in tables("docs/crash-model.md", "feature")}
    ours = {rule.name: list(rule.metadata["choices"]) for rule in fields(Variant)}
    assert listed == ours, "say in docs/crash-model.md what each feature and rule is"


def test_every_feature_names_files_that_exist() -> None:
    files = named(tables("docs/crash-model.md", "feature"), 4)
    assert files
    assert all((ROOT / "model/kafka" / name).exists() for name in files)


def test_bounds_variants_and_promises_are_listed() -> None:
    assert named(tables("docs/crash-model.md", "bound")) == list(asdict(Bounds()))
    assert named(tables("docs/crash-model.md", "variant")) == list(NAMED_VARIANTS)
    assert named(tables("docs/crash-model.md", "invariant")) == [each.name for each in invariants(EVERYTHING)]
    assert named(tables("docs/crash-model.md", "witness")) == [each.name for each in witnesses(EVERYTHING)]


def test_no_named_variant_has_crashes_by_itself() -> None:
    """As the page says."""
    assert {variant.crash for variant in NAMED_VARIANTS.values()} == {"none"}
