"""Spec files with mistakes: one sentence each, with file and line, whatever the file holds."""

from __future__ import annotations

import json
import os
import random
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import jsonschema
import pytest
from source_tree import ROOT
from spec_files import BASE, MISTAKES, broken, message, written

from checker.spec import load_spec
from model.errors import SpecError, UsageError


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test works in a directory of its own, so that messages name files without their folders."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_told_with_its_line(mistake: str) -> None:
    *_, expected = MISTAKES[mistake]
    told = message(written(broken(mistake)))
    assert told.startswith(expected) if expected.endswith(" ") else told == expected


# Files that are no TOML


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "my.toml: the file is empty. A spec has a variant and invariants."),
        (b" \n\n", "my.toml: the file is empty. A spec has a variant and invariants."),
        (b"# nothing\n", "my.toml: the file says nothing. A spec has a variant and invariants."),
        (b"\xef\xbb\xbftitle = 1", "my.toml:1: the file starts with a byte order mark. Save it as UTF-8 without one."),
        ("title = 1".encode("utf-16"), "my.toml: the file is UTF-16. Save it as UTF-8."),
        (b"a = 1\nb = '\xff'\n", "my.toml:2: the byte 0xff here is not UTF-8. Save the file as UTF-8."),
        (b"a = 1\n\nb\0 = 2\n", "my.toml:3: there is a NUL byte here: this is no text."),
        (b"a = " + b"9" * 5000, "my.toml: it holds a number that is far too long."),
        (b"a = " + b"[" * 5000, "my.toml: its values are nested far too deep for a spec."),
        (b"#" * 70_000, "my.toml: the file has more than 64 KiB: that is no spec."),
    ],
    ids=["empty", "blank", "comment", "mark", "utf-16", "not-utf-8", "nul", "long-number", "deep", "large"],
)
def test_a_file_that_is_no_toml_is_refused(content: bytes, expected: str) -> None:
    assert message(written(content)) == expected


@pytest.mark.parametrize(
    ("text", "place"),
    [('a = 1\nb = "x\n', "my.toml:2: "), ("a = 1\na = 2\nb = 3", "my.toml:2: "), ("[a\n", "my.toml:1: ")],
)
def test_a_mistake_of_syntax_has_its_line(text: str, place: str) -> None:
    assert message(written(text)).startswith(f"{place}this is not TOML: ")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("kip-302", "there is no shipped spec and no file 'kip-302'. Did you mean 'published/kip-320'?"),
        ("./kip-320.toml", "there is no shipped spec and no file './kip-320.toml'. Did you mean 'published/kip-320'?"),
        ("my.toml/x", "there is no shipped spec and no file 'my.toml/x'. Shipped: "),
        (".", ".: this is a directory. Name one of the specs in it."),
        ("", "'' cannot be the name of a spec. Give a shipped name or the path of a TOML file."),
        ("a\0b", "'a\\x00b' cannot be the name of a spec. Give a shipped name or the path of a TOML file."),
        ("x" * 5000, "the spec '" + "x" * 5000 + "' cannot be read: File name too long."),
    ],
    ids=["mistyped", "missing", "below-a-file", "directory", "empty", "nul", "long"],
)
def test_a_spec_that_is_not_there(name: str, expected: str) -> None:
    written(BASE)
    assert message(name).startswith(expected)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file() -> None:
    written(BASE).chmod(0)
    assert message("my.toml") == "the spec 'my.toml' cannot be read: Permission denied."


def test_a_number_that_python_will_not_print() -> None:
    told = message(written(BASE.replace("epochs = 2", f"epochs = 0x{'f' * 5000}")))
    assert told == "my.toml:9: epochs is a number of more than 64 bits."


# Mutants: whatever happens to a file, it loads or it is refused in one sentence

SOURCES = [BASE, (ROOT / "specs" / "published" / "kip-279.toml").read_text(encoding="utf-8")]
OTHER_VALUES = ("1", "-1", "0.5", "nan", "true", '"x"', "[]", "[[1]]", "{}", "{ x = 1 }", "1979-05-27", "0x" + "f" * 40)
SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "docs" / "spec.schema.json").read_text(encoding="utf-8")))


def truncated(text: str) -> Iterator[bytes]:
    content = text.encode()
    yield from (content[:end] for end in range(0, len(content), 11))


def without_a_line(text: str) -> Iterator[bytes]:
    lines = text.splitlines(keepends=True)
    yield from ("".join(lines[:at] + lines[at + 1 :]).encode() for at in range(len(lines)))


def with_a_line_twice(text: str) -> Iterator[bytes]:
    lines = text.splitlines(keepends=True)
    yield from ("".join([*lines[:at], lines[at], *lines[at:]]).encode() for at in range(len(lines)))


def with_another_value(text: str) -> Iterator[bytes]:
    for found in re.finditer(r"= (.*)$", text, re.MULTILINE):
        for value in OTHER_VALUES:
            yield (text[: found.start(1)] + value + text[found.end(1) :]).encode()


def with_another_character(text: str) -> Iterator[bytes]:
    generator = random.Random(len(text))
    for _ in range(60):
        at = generator.randrange(len(text))
        yield (text[:at] + chr(generator.randrange(32, 127)) + text[at + 1 :]).encode()


def with_odd_bytes(text: str) -> Iterator[bytes]:
    generator = random.Random(len(text) + 1)
    content = text.encode()
    for _ in range(60):
        at = generator.randrange(len(content))
        yield content[:at] + generator.randbytes(generator.randrange(1, 4)) + content[at:]


def with_lines_shuffled(text: str) -> Iterator[bytes]:
    generator = random.Random(len(text) + 2)
    lines = text.splitlines(keepends=True)
    for _ in range(20):
        generator.shuffle(lines)
        yield "".join(lines).encode()


MUTATIONS = (
    truncated,
    without_a_line,
    with_a_line_twice,
    with_another_value,
    with_another_character,
    with_odd_bytes,
    with_lines_shuffled,
)


def test_there_are_mutants_enough() -> None:
    assert sum(1 for mutate in MUTATIONS for text in SOURCES for _ in mutate(text)) >= 500


@pytest.mark.parametrize("mutate", MUTATIONS, ids=lambda mutate: mutate.__name__)
def test_no_mutant_gets_through(mutate: Callable[[str], Iterator[bytes]]) -> None:
    refused = [told for text in SOURCES for mutant in mutate(text) if (told := fate(mutant))]
    assert len(set(refused)) >= 10, "these mutations do too little harm to show anything"


def fate(mutant: bytes) -> str:
    """The message that refuses the mutant; empty if it loads, and then the schema must agree."""
    try:
        load_spec(written(mutant))
    except (SpecError, UsageError) as error:
        told = str(error)
    else:
        assert SCHEMA.is_valid(tomllib.loads(mutant.decode())), mutant.decode()
        return ""
    assert "my.toml" in told
    assert told.isprintable(), "one line, and nothing that a terminal could take for a command"
    return told
