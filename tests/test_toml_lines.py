"""The line finder agrees with the standard library's parser on what there is, and with the eye on where it stands."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from source_tree import ROOT

from checker.toml_lines import KeyPath, key_lines

SHIPPED = sorted((ROOT / "specs").rglob("*.toml"))

AWKWARD = (
    r'''
# title = "not me"
"quoted key" = 'a # no comment' # but this is
'lit"eral' = """
[bounds]
replicas = 7 \"""
"""
plain.dotted . "k.e.y" = '''
    "'''x = [1,\n'''''"
    r'''
"escaped \" \u0041" = """two more""""" # up to two quotes
empty = [ ]
list = [ # comment ]
  "a", [1, 2,
  ], # nested
  { x = 1, y.z = [ 2 ] }, 'b]',
]
when = 1979-05-27 07:32:00
inline = { "}" = 1, deep = { q = "}" } }
[ table . sub ]
key=1
	tabbed = -1.5e3
[[points]]
x = 1
[points.inner]
y = [{ a = 1 }, {}]
[[points]]
[[points.more]]
z = 3
[table]
last = true'''
)


def paths(value: object, path: KeyPath = ()) -> Iterator[KeyPath]:
    """The path of everything inside a parsed value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in items:
        yield (*path, key)
        yield from paths(part, (*path, key))


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_awkward_toml_is_found_whole(newline: str) -> None:
    text = AWKWARD.replace("\n", newline)
    assert set(key_lines(text)) == set(paths(tomllib.loads(text)))


@pytest.mark.parametrize("path", [*SHIPPED, ROOT / "pyproject.toml"], ids=lambda path: path.name)
def test_files_in_use_are_found_whole(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert set(key_lines(text)) == set(paths(tomllib.loads(text)))


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("quoted key",), 3),
        (("plain", "dotted", "k.e.y"), 8),
        (('escaped " A',), 10),
        (("list", 1, 1), 13),
        (("list", 2, "y"), 15),
        (("list", 3), 15),
        (("inline", "deep", "q"), 18),
        (("table",), 19),
        (("table", "sub", "tabbed"), 21),
        (("points", 0, "inner", "y", 1), 25),
        (("points", 1, "more", 0, "z"), 28),
        (("table", "last"), 30),
    ],
)
def test_lines_are_those_of_the_file(path: KeyPath, line: int) -> None:
    assert key_lines(AWKWARD)[path] == line


@pytest.mark.parametrize("text", ["", "a", "a =", "[a", "a = [1", 'a = "', "a = {b", "a = 1\n]", "= 1", "\0"])
def test_what_is_no_toml_does_no_harm(text: str) -> None:
    assert set(key_lines(text)) <= {("a",), ("a", 0), ("a", "b")}
