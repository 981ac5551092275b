"""Pages for people, read by tests: Python blocks are run, console examples too, tables and links are looked up.

A console example is a fenced block of the kind `console`, with a remark above it:

    <!-- exit 1 -->          the command ends with this code, and prints what stands below it
    <!-- not run: why -->    somebody else's command

In what is printed, a line of nothing but … stands for any number of lines that were left out. Times and rates, which
differ from run to run, are not compared.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from source_tree import ROOT

from model.errors import TidegaugeError

ELLIPSIS: Final = "…"
PYTHON: Final = re.compile(r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n.*?^```\n)?", re.DOTALL | re.MULTILINE)
CONSOLE: Final = re.compile(
    r"^(?:<!-- (?P<remark>[^\n]*?) -->\n)?^```console\n\$ (?P<command>(?:[^\n]*\\\n)*[^\n]*)\n(?P<shown>.*?)^```\n",
    re.DOTALL | re.MULTILINE,
)
LINK: Final = re.compile(r"(?<!!)\[[^\]]*\]\((?P<target>[^)\s]+)\)")
HEADING: Final = re.compile(r"^#+ (?P<text>.+)$", re.MULTILINE)
FENCED: Final = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
IN_CODE: Final = re.compile(r"`[^`\n]+`")


class Page:
    """A page with Python blocks, run one after the other in one namespace."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.relative_to(ROOT).as_posix()
        self.text = path.read_text(encoding="utf-8")
        self.namespace: dict[str, Any] = {}

    def with_output(self) -> str:
        """The page with what its blocks print today. Lines of errors are those of the page that comes out."""
        done, rest = "", self.text
        while found := PYTHON.search(rest):
            done += rest[: found.start()]
            printed = self.run(found["code"], line=done.count("\n") + 1)
            done += f"```python\n{found['code']}```\n" + (f"\n```text\n{printed}```\n" if printed else "")
            rest = rest[found.end() :]
        return done + rest

    def run(self, code: str, line: int) -> str:
        """What a block prints, the message of an error included; `line` is that of its opening fence."""
        printed = io.StringIO()
        compiled = compile("\n" * line + code, self.name, "exec")
        with contextlib.redirect_stdout(printed):
            try:
                exec(compiled, self.namespace)
            except TidegaugeError as error:
                print(f"{type(error).__name__}: {error}")  # noqa: T201  # what a reader would see
        return printed.getvalue()

    def tables(self) -> Iterator[list[list[str]]]:
        """The cells of each table, row by row, the heading first."""
        for rows in re.findall(r"(?:^\|.*\|\n)+", self.text, flags=re.MULTILINE):
            cells = [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows.splitlines()]
            yield [cells[0], *cells[2:]]


@dataclass(frozen=True, slots=True)
class Example:
    """A command as a page shows it: what it prints, with lines left out, and its exit code; none if it is not run."""

    arguments: tuple[str, ...]
    shown: str
    code: int | None

    def matches(self, printed: str) -> bool:
        """Whether the command printed what the page shows."""
        lines = stable(self.shown).splitlines()
        pattern = "".join(r"(?:.*\n)*?" if each.strip() == ELLIPSIS else f"{re.escape(each)}\n" for each in lines)
        return re.fullmatch(pattern, stable(printed)) is not None

    @property
    def is_abridged(self) -> bool:
        return any(line.strip() == ELLIPSIS for line in self.shown.splitlines())


def examples(text: str) -> tuple[Example, ...]:
    """The console examples of a page, in order. Raises `ValueError` for one without a remark."""
    return tuple(_example(found) for found in CONSOLE.finditer(text))


def _example(found: re.Match[str]) -> Example:
    name, *arguments = shlex.split(found["command"].replace("\\\n", " "))
    remark = found["remark"] or ""
    code = re.fullmatch(r"exit (\d+)", remark)
    if code is None and not remark.startswith("not run: "):
        raise ValueError(f"say above `{found['command']}` how it ends, or why it is not run")
    if code is not None and name != "tidegauge":
        raise ValueError(f"`{name}` is not a command that tests run")
    return Example(tuple(arguments), found["shown"], int(code[1]) if code else None)


def refreshed(text: str, printed: Callable[[Example], str]) -> str:
    """The page with what its examples print today; abridged ones are left to whoever abridged them."""

    def block(found: re.Match[str]) -> str:
        example = _example(found)
        if example.code is None or example.is_abridged or example.matches(printed(example)):
            return found[0]
        start, end = found.start("shown") - found.start(), found.end("shown") - found.start()
        return found[0][:start] + printed(example) + found[0][end:]

    return CONSOLE.sub(block, text)


def stable(text: str) -> str:
    """The text without times, rates, and the numbers of lines in the model."""
    text = re.sub(r"(?m)^  time .*\n(?:   .*\n)*", "", text)
    text = re.sub(r"(?m)(Took|proved in|refuted in) [\d.]+ (?:s|ms)", rf"\1 {ELLIPSIS}", text)
    return re.sub(r"(?m)\.py:\d+", f".py:{ELLIPSIS}", text)


# Links


def links(text: str) -> Iterator[str]:
    """What the links of a page lead to; code has none."""
    yield from (found["target"] for found in LINK.finditer(IN_CODE.sub("", FENCED.sub("", text))))


def anchors(text: str) -> set[str]:
    """The names of a page's headings, as links use them."""
    return {anchor(found["text"]) for found in HEADING.finditer(FENCED.sub("", text))}


def anchor(heading: str) -> str:
    """`What "proved" means` is `#what-proved-means`."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
