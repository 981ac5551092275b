"""The folder of `compare --report`: a table that leads to every counterexample, whole or not there at all."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from browser import running_browser
from command_line import SMALL, elsewhere, tidegauge

from checker.compare import compare
from checker.files import write_folder
from checker.report.folder import SIGN, report_pages
from checker.row import Row
from checker.spec import load_spec
from model.errors import OutputError

HOSTILE = '</style><script>alert("1")</script> & é'
NAMES = ("published/truncate-to-high-watermark", "published/kip-320")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere(tmp_path, tmp_path_factory.getbasetemp() / "cache", monkeypatch)


@pytest.fixture(scope="module")
def rows() -> tuple[Row, ...]:
    bounds = {"replicas": 2, "log_size": 1, "records": 1, "epochs": 2}
    return tuple(row for name in NAMES for row in compare([load_spec(name).changed(bounds=bounds)]).rows)


@dataclass
class Seen(HTMLParser):
    """What a browser would find in a page."""

    links: list[str] = field(default_factory=list)
    scripts: int = 0
    texts: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        self.links += [unquote(value or "") for name, value in attributes if name in ("href", "src")]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def seen(page: str) -> Seen:
    found = Seen()
    found.feed(page)
    return found


# What is in it


def test_every_broken_promise_leads_to_its_page(rows: tuple[Row, ...]) -> None:
    pages = report_pages(rows)
    assert sorted({*seen(pages["index.html"]).links, "index.html"}) == sorted(pages)
    assert len(pages) == 3
    assert "Weak<wbr>Isr is violated" in pages["published-truncate-to-high-watermark-WeakIsr.html"]


def test_the_table_says_what_the_terminal_says(rows: tuple[Row, ...]) -> None:
    texts = seen(report_pages(rows)["index.html"]).texts
    assert {*NAMES, "8", "9", "holds", "177 orbits"} <= set(texts)
    assert any("2 specs, 6 promises: 4 hold and 2 are broken." in text for text in texts)


def test_a_report_is_the_same_every_time(rows: tuple[Row, ...]) -> None:
    assert report_pages(rows) == report_pages(rows)


def test_markup_in_names_is_shown(rows: tuple[Row, ...]) -> None:
    odd = [replace(row, spec=replace(row.spec, name=f"{HOSTILE}-{row.spec.name}", title=HOSTILE)) for row in rows]
    pages = report_pages(odd)
    index = seen(pages["index.html"])
    assert index.scripts == 0
    assert HOSTILE in index.texts
    assert {*index.links, "index.html"} == set(pages)


def test_two_specs_never_share_a_page(rows: tuple[Row, ...]) -> None:
    row = rows[0]
    other = replace(row, spec=replace(row.spec, name=row.spec.name.replace("/", "-")))
    pages = report_pages([row, other])
    assert len(pages) == 5
    assert len(set(seen(pages["index.html"]).links)) == 4


def test_nothing_is_fetched(rows: tuple[Row, ...]) -> None:
    for page in report_pages(rows).values():
        assert not re.search(r"https?://(?!www\.w3\.org/)", page)


def test_it_opens_in_a_browser(rows: tuple[Row, ...], tmp_path: Path) -> None:
    write_folder(tmp_path / "report", report_pages(rows), SIGN)
    with running_browser(tmp_path / "browser") as browser:
        browser.open(tmp_path / "report" / "index.html")
        assert browser.value("document.querySelectorAll('td.violated a').length") == 2
        assert browser.complaints == []


# Where it goes


def test_compare_writes_a_report() -> None:
    ended = tidegauge("compare", *NAMES, *SMALL, "--report", "shown/here")
    assert ended.code == 0
    assert ended.out.endswith("  shown/here/index.html\n")
    assert len(list(Path("shown/here").iterdir())) == 3


def test_quiet_writes_it_too() -> None:
    ended = tidegauge("compare", NAMES[1], *SMALL, "--report", "here", "--quiet")
    assert (ended.code, ended.out) == (0, "")
    assert unescape(Path("here/index.html").read_text(encoding="utf-8")).count(NAMES[1]) == 1


def test_a_newer_report_takes_the_place_of_an_older() -> None:
    write_folder(Path("report"), {"index.html": SIGN, "old.html": ""}, SIGN)
    write_folder(Path("report"), {"index.html": SIGN, "new.html": ""}, SIGN)
    assert sorted(path.name for path in Path("report").iterdir()) == ["index.html", "new.html"]
    assert [path.name for path in Path().iterdir()] == ["report"]


def _folder_of_somebodys() -> None:
    Path("report").mkdir()
    Path("report/index.html").write_text("mine", encoding="utf-8")


@pytest.mark.parametrize("there", [_folder_of_somebodys, lambda: Path("report").write_text("mine", encoding="utf-8")])
def test_what_is_no_report_is_left_alone(there: Callable[[], object]) -> None:
    there()
    ended = tidegauge("compare", NAMES[1], *SMALL, "--report", "report")
    assert (ended.code, ended.out) == (2, "")
    assert "report is there already, and is no report of tidegauge" in ended.err
    assert not Path("tidegauge-out").exists()


def test_nothing_half_written_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    write_folder(Path("report"), {"index.html": SIGN}, SIGN)
    with pytest.raises(OutputError, match="cannot be written"):
        write_folder(Path("report"), {"index.html": SIGN, "index.html/below": ""}, SIGN)
    rename = Path.rename

    def failing(self: Path, target: Path) -> Path:
        if self.name == "new":
            raise OSError("no room")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(OutputError, match="no room"):
        write_folder(Path("report"), {"index.html": SIGN, "new.html": ""}, SIGN)
    assert [path.name for path in Path("report").iterdir()] == ["index.html"]
    assert [path.name for path in Path().iterdir()] == ["report"]
