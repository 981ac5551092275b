"""A trace as a story: one sentence a step, what changed, and why the invariant fails at the end.

The story is lines of text. Each part of a line has a style, so that the console can colour it and anything else can
print it as it is.
"""

from __future__ import annotations

import enum
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from checker.reason import Reason
from checker.trace import Trace
from model.errors import UsageError, nearest
from model.language.show import Change, show_state

NARROWEST = 40


class Style(enum.Enum):
    """What a piece of text is, for whoever has colours to give."""

    PLAIN = "plain"
    HEADING = "heading"
    FAINT = "faint"
    CHANGED = "changed"
    GOOD = "good"
    BAD = "bad"
    DOUBT = "doubt"
    FOLLOWED = "followed"  # what the story is about
    BLOCK_0 = "block 0"  # blocks of lanes; those of one colour look the same
    BLOCK_1 = "block 1"
    BLOCK_2 = "block 2"
    BLOCK_3 = "block 3"
    BLOCK_4 = "block 4"
    BLOCK_5 = "block 5"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of output, in pieces."""

    pieces: tuple[tuple[str, Style], ...] = ()

    @property
    def text(self) -> str:
        return "".join(text for text, _ in self.pieces)


BLANK = Line()


def line(text: str, style: Style = Style.PLAIN, margin: str = "") -> Line:
    """A line in one style, behind a margin that has none."""
    return Line(tuple((part, kind) for part, kind in ((margin, Style.PLAIN), (text, style)) if part))


@dataclass(frozen=True, slots=True)
class Telling:
    """How to tell a story.

    `width` is in columns. `full` gives the whole state after each step and not only what changed. `steps` is the first
    and the last step to tell, counted from 1. `show` and `hide` are globs over variables: only what matches one of
    `show` (if there is any) and none of `hide` is listed.
    """

    width: int = 80
    full: bool = False
    steps: tuple[int, int] | None = None
    show: tuple[str, ...] = ()
    hide: tuple[str, ...] = ()


#: What else to say of a step (0: before the first), behind a margin.
Aside: TypeAlias = Callable[[int, str], Iterable[Line]]


def nothing_else(_number: int, _margin: str) -> Iterable[Line]:
    """The aside of a plain story."""
    return ()


def tell(
    traces: Sequence[Trace],
    about: str,
    within: str = "",
    telling: Telling = Telling(),
    aside: Aside = nothing_else,
) -> tuple[Line, ...]:
    """The story of one trace, or of several that are the same but for the invariant they violate.

    `about` names the spec, `within` its bounds (left out when the reader has just seen them). What `aside` has to say
    of a step stands below its sentence. Raises `UsageError` if `telling` asks for steps or variables that the trace
    does not have.
    """
    return tuple(_Story(traces, about, within, telling, aside).lines())


def same_story(one: Trace, other: Trace) -> bool:
    """Whether two traces differ in nothing but the invariant."""
    return one.states == other.states and one.steps == other.steps


def text_of(lines: Iterable[Line]) -> str:
    """The lines as plain text, with a newline at the end."""
    return "".join(f"{each.text}\n" for each in lines)


class _Story:
    def __init__(self, traces: Sequence[Trace], about: str, within: str, telling: Telling, aside: Aside) -> None:
        self.trace = traces[0]
        self._traces = traces
        self._about = about
        self._within = within
        self._telling = telling
        self._aside = aside
        self._width = max(telling.width, NARROWEST)
        self._number_width = max(2, len(str(len(self.trace.steps))))
        self._margin = " " * (self._number_width + 4)

    def lines(self) -> Iterator[Line]:
        first, last = self._range
        yield from wrapped(heading(self._traces, self._about), self._width, Style.HEADING)
        yield from wrapped(self._within, self._width, Style.FAINT)
        yield BLANK
        yield from self._aside(0, "")
        if first <= 1 and (self._telling.full or not self.trace.steps):
            yield from self._initial()
        yield from self._left_out(1, first - 1)
        for number in range(first, last + 1):
            yield from self._step(number)
        yield from self._left_out(last + 1, len(self.trace.steps))
        if last == len(self.trace.steps):
            yield from self._reasons()

    # Steps

    @cached_property
    def _sentences(self) -> tuple[str, ...]:
        return self.trace.sentences()

    @property
    def _range(self) -> tuple[int, int]:
        """The first and the last step to tell."""
        count = len(self.trace.steps)
        if self._telling.steps is None:
            return 1, count
        first, last = self._telling.steps
        if not 1 <= first <= last or first > count:
            raise UsageError(
                f"the trace has no steps {first}..{last}; it has {count}",
                instead=f"Ask for some of 1..{count}" if count else "",
            )
        return first, min(last, count)

    def _left_out(self, first: int, last: int) -> Iterator[Line]:
        if first <= last:
            which = f"step {first} is" if first == last else f"steps {first} to {last} are"
            yield line(f"({which} left out)", Style.FAINT)

    def _initial(self) -> Iterator[Line]:
        yield Line((self._numbered(0), ("Initially:", Style.PLAIN)))
        yield from self._rows([Change(path, value, value) for path, value in self._shown(0)])

    def _step(self, number: int) -> Iterator[Line]:
        head, *rest = wrap(self._sentences[number - 1], self._width, " " * (self._number_width + 2))
        yield Line((self._numbered(number), (head.lstrip(), Style.PLAIN)))
        yield from map(line, rest)
        yield from self._aside(number, self._margin)
        pairs = zip(self._shown(number - 1), self._shown(number), strict=True)
        rows = [Change(path, old, new) for (path, old), (_, new) in pairs]
        yield from self._rows(rows if self._telling.full else [row for row in rows if row.before != row.after])

    def _numbered(self, number: int) -> tuple[str, Style]:
        return f"{number:{self._number_width}}  ", Style.FAINT

    def _shown(self, number: int) -> list[tuple[str, str]]:
        return show_state(self.trace.protocol, self.trace.states[number])

    # Variables

    def _rows(self, rows: list[Change]) -> Iterator[Line]:
        """One row a variable; says so if there are changes that are not shown."""
        wanted = [row for row in rows if self._is_wanted(row.path)]
        width = max((len(row.path) for row in wanted), default=0)
        for row in wanted:
            yield from self._row(row, f"{self._margin}{row.path:{width}}  ")
        if not rows:
            yield line("(nothing changes)", Style.FAINT, self._margin)
        elif len(wanted) < len(rows) and not self._telling.full:
            yield line(f"({len(rows) - len(wanted)} more not shown)", Style.FAINT, self._margin)

    def _row(self, row: Change, margin: str) -> Iterator[Line]:
        """A change that is too wide for one line goes on below, if need be from further left."""
        path, arrow = (margin, Style.FAINT), ("-> ", Style.FAINT)
        if row.before == row.after:
            yield Line((path, (row.after, Style.PLAIN)))
        elif len(f"{margin}{row.before} -> {row.after}") <= self._width:
            yield Line((path, (f"{row.before} ", Style.FAINT), arrow, (row.after, Style.CHANGED)))
        else:
            below = " " * len(margin)
            if len(f"{margin}-> {max(row.before, row.after, key=len)}") > self._width:
                yield line(row.path, Style.FAINT, self._margin)
                below = f"{self._margin}  "
                path = (below, Style.PLAIN)
            yield Line((path, (row.before, Style.FAINT)))
            yield Line(((below, Style.PLAIN), arrow, (row.after, Style.CHANGED)))

    def _is_wanted(self, path: str) -> bool:
        shown, hidden = self._globs
        return (not shown or any(g.match(path) for g in shown)) and not any(g.match(path) for g in hidden)

    @cached_property
    def _globs(self) -> tuple[list[re.Pattern[str]], list[re.Pattern[str]]]:
        paths = [path for path, _ in self._shown(0)]
        return [_glob(g, paths) for g in self._telling.show], [_glob(g, paths) for g in self._telling.hide]

    # Reasons

    def _reasons(self) -> Iterator[Line]:
        told: list[Reason] = []
        for trace in self._traces if self.trace.is_counterexample else ():
            reason = trace.reason()
            yield BLANK
            if reason in told:
                yield line(f"{trace.predicate.name} fails for the same reason.", Style.HEADING)
            else:
                yield from self._reason(trace, reason)
                told.append(reason)

    def _reason(self, trace: Trace, reason: Reason) -> Iterator[Line]:
        yield line(f"Why {trace.predicate.name} fails here", Style.HEADING)
        yield from self._labelled("promised", [trace.predicate.summary])
        # A variable of an outer loop counts as bound again in an inner one.
        bindings = dict.fromkeys(f"{binding.name} = {binding.shown}" for binding in reason.bindings)
        yield from self._labelled("not for", [", ".join(bindings)])
        yield from self._labelled("failing", [reason.condition, reason.where])
        yield from self._labelled("namely", [reason.comparison])
        width = max((len(reading.path) for reading in reason.readings), default=0)
        yield from self._labelled("values", [f"{each.path:{width}}  {each.value}" for each in reason.readings])

    def _labelled(self, label: str, texts: Iterable[str]) -> Iterator[Line]:
        lines = [each for text in texts for each in wrap(text, self._width, " " * 12)]
        for position, text in enumerate(lines):
            head = "" if position else label
            yield Line(((f"  {head:10}", Style.FAINT), (text[12:], Style.PLAIN)))


def heading(traces: Sequence[Trace], about: str) -> str:
    """`WeakIsr and StrongIsr are violated in published/kip-279, by the same 10 steps.`"""
    count = len(traces[0].steps)
    names = listed([trace.predicate.name for trace in traces])
    if not traces[0].is_counterexample:
        return f"{names} is reached in {about}, in {steps_text(count)}."
    verb = "is" if len(traces) == 1 else "are"
    if not count:
        return f"{names} {verb} violated in the initial state of {about}."
    return f"{names} {verb} violated in {about}, {'in' if len(traces) == 1 else 'by the same'} {steps_text(count)}."


def steps_text(count: int) -> str:
    """`1 step`, `10 steps`."""
    return f"{count} {'step' if count == 1 else 'steps'}"


def listed(names: Sequence[str]) -> str:
    """`A`, `A and B`, `A, B and C`."""
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part) if names else ""


def wrapped(text: str, width: int, style: Style = Style.PLAIN, margin: str = "") -> list[Line]:
    """As `wrap`, in a style."""
    return [line(each[len(margin) :], style, margin) for each in wrap(text, width, " " * len(margin))]


def wrap(text: str, width: int, margin: str = "") -> list[str]:
    """Lines of at most `width` columns behind a margin. Columns, sets, sequences and numbers with their units are
    kept whole; what is too long by itself is left so."""
    whole = re.sub(
        r"\[[^\[\]]*\]|{[^{}]*}|  +|\d (?:ms|s|min|h|[MG]iB)\b", lambda found: found.group().replace(" ", "\0"), text
    )
    lines = textwrap.wrap(
        whole,
        width,
        initial_indent=margin,
        subsequent_indent=margin,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [each.replace("\0", " ") for each in lines]


def _glob(pattern: str, paths: Sequence[str]) -> re.Pattern[str]:
    """A glob over variables: `*` and `?` as usual, brackets as they stand; a whole variable stands for its parts.

    Raises `UsageError` for one that fits no variable: it would hide or show nothing, silently.
    """
    parts = (".*" if char == "*" else "." if char == "?" else re.escape(char) for char in pattern)
    compiled = re.compile(f"{''.join(parts)}(?:$|[.\\[])")
    if not any(compiled.match(path) for path in paths):
        names = {re.split(r"[.\[]", path)[0] for path in paths} | set(paths)
        raise UsageError(f"no variable matches {pattern!r}", instead=nearest(pattern, names))
    return compiled
