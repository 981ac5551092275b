"""On which line of a TOML file each key stands. The standard library's parser does not tell.

>>> key_lines('title = "x"\\n[bounds]\\nepochs = 3\\n')
{('title',): 1, ('bounds',): 2, ('bounds', 'epochs'): 3}
"""

from __future__ import annotations

import contextlib
import re
import tomllib
from bisect import bisect_left
from typing import Final, TypeAlias

#: The keys from the top to a value; the elements of a list are numbered from 0.
KeyPath: TypeAlias = "tuple[str | int, ...]"

_BLANK: Final = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_SPACE: Final = re.compile(r"[ \t]*")
_KEY: Final = re.compile(r"""[A-Za-z0-9_-]+|"(?:\\.|[^"\\\n])*"|'[^'\n]*'""")
_STRING: Final = re.compile(
    r'"""(?:\\.|[^\\])*?"""(?:"{0,2})'  # up to two quotes more belong to the text
    r"|'''.*?'''(?:'{0,2})"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'",
    re.DOTALL,
)
_ATOM: Final = re.compile(r"[^,\]}#\r\n]+")  # a number, a truth value, a date


def key_lines(text: str) -> dict[KeyPath, int]:
    """The line (from 1) of every key, table and list element of a text that is known to be valid TOML.

    A key that several lines mention, such as `a` in `a.b = 1` and `a.c = 2`, stands where it is mentioned first. Of a
    text that is not TOML, the lines up to the point where it stops making sense.
    """
    scanner = _Scanner(text)
    with contextlib.suppress(_Lost):
        scanner.document()
    return scanner.lines


def value_spans(text: str) -> dict[KeyPath, tuple[int, int]]:
    """Where the value of each key begins and ends, as offsets into a text that is known to be valid TOML.

    >>> [text[start:end] for text in ['a.b = 3  # three'] for start, end in value_spans(text).values()]
    ['3']
    """
    scanner = _Scanner(text)
    with contextlib.suppress(_Lost):
        scanner.document()
    return scanner.spans


class _Lost(Exception):
    """The text is not what was expected here; what was found so far is the result."""


class _Scanner:
    """Walks the text once. `at` is the next character."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[KeyPath, int] = {}
        self.spans: dict[KeyPath, tuple[int, int]] = {}
        self._newlines = [found.start() for found in re.finditer("\n", text)]
        self._elements: dict[KeyPath, int] = {}  # how many [[tables]] of each name there are so far

    def document(self) -> None:
        table: KeyPath = ()
        self._take(_BLANK)
        while self.at < len(self.text):
            if self._sees("[["):
                table = self._header(is_element=True)
            elif self._sees("["):
                table = self._header(is_element=False)
            else:
                self._pair(table)
            self._take(_BLANK)

    def _header(self, is_element: bool) -> KeyPath:
        """A line such as `[a.b]` or `[[a.b]]`: the path of the table that it opens."""
        table: KeyPath = ()
        line, keys = self._line(), self._dotted_key()
        for number, key in enumerate(keys, start=1):
            table = (*table, key)
            self.lines.setdefault(table, line)
            if is_element and number == len(keys):
                self._elements[table] = self._elements.get(table, 0) + 1
            if table in self._elements:
                table = (*table, self._elements[table] - 1)
                self.lines.setdefault(table, line)
        self._want("]]" if is_element else "]")
        return table

    def _pair(self, table: KeyPath) -> None:
        line = self._line()
        for key in self._dotted_key():
            table = (*table, key)
            self.lines.setdefault(table, line)
        self._want("=")
        self._take(_SPACE)
        start = self.at
        self._value(table)
        self.spans[table] = start, start + len(self.text[start : self.at].rstrip())

    def _dotted_key(self) -> list[str]:
        keys = [self._key()]
        while self._sees("."):
            keys.append(self._key())
        return keys

    def _key(self) -> str:
        self._take(_SPACE)
        written = self._take(_KEY)
        self._take(_SPACE)
        return str(tomllib.loads(f"key = {written}")["key"]) if written[0] in "\"'" else written

    def _value(self, path: KeyPath) -> None:
        if self._sees("["):
            self._list(path)
        elif self._sees("{"):
            self._inline_table(path)
        elif self.text[self.at : self.at + 1] in ('"', "'"):
            self._take(_STRING)
        else:
            self._take(_ATOM)

    def _list(self, path: KeyPath) -> None:
        self._take(_BLANK)
        index = 0
        while not self._sees("]"):
            self.lines[*path, index] = self._line()
            self._value((*path, index))
            index += 1
            self._separator("]")

    def _inline_table(self, path: KeyPath) -> None:
        self._take(_BLANK)
        while not self._sees("}"):
            self._pair(path)
            self._separator("}")

    def _separator(self, end: str) -> None:
        """The comma before the next element, or the end, which is left for the caller."""
        self._take(_BLANK)
        if not self._sees(",") and not self.text.startswith(end, self.at):
            raise _Lost
        self._take(_BLANK)

    def _sees(self, mark: str) -> bool:
        """Whether the mark comes next; it is passed over then."""
        found = self.text.startswith(mark, self.at)
        self.at += len(mark) if found else 0
        return found

    def _want(self, mark: str) -> None:
        if not self._sees(mark):
            raise _Lost

    def _take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.at)
        if found is None:
            raise _Lost
        self.at = found.end()
        return found.group()

    def _line(self) -> int:
        return bisect_left(self._newlines, self.at) + 1
