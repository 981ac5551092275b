"""A comparison as a folder of pages: the table, and behind every broken promise the page of its counterexample.

Like the pages, the table is one file without scripts or anything fetched, and the same for the same findings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Final, Protocol
from urllib.parse import quote

from checker.export.page import breakable, escape, page
from checker.outcome import Outcome, Verdict
from checker.report.matrix import legend, remarks, sections, title_of, totals
from checker.report.story import steps_text
from checker.report.subject import bounds_text, rules_text
from checker.report.table import UNASKED, explored_text, promises, same_bounds, verdict_cells
from checker.spec import Spec
from checker.trace_file import file_name, reread

#: By this a folder is known to be a report, which a newer one may replace.
SIGN: Final = '<meta name="generator" content="tidegauge compare">'


class Found(Protocol):
    """One spec, what was found of it, and the texts of its traces by invariant."""

    @property
    def spec(self) -> Spec: ...

    @property
    def outcome(self) -> Outcome: ...

    @property
    def traces(self) -> Mapping[str, str]: ...

    @property
    def crashes(self) -> Mapping[str, int]: ...


#: File names of pages, by spec and invariant.
Names = Mapping[tuple[str, str], str]


def report_pages(rows: Sequence[Found], notes: Sequence[str] = ()) -> dict[str, str]:
    """The files of the folder, by name; `index.html` has the table, and above it the `notes`."""
    names = _names(rows)
    pages = {
        names[row.spec.name, invariant]: page(reread(text, row.spec))
        for row in rows
        for invariant, text in row.traces.items()
    }
    return {"index.html": _index(rows, names, notes), **pages}


def _names(rows: Sequence[Found]) -> Names:
    """Names of files, which no two pages share: `a/b` and `a-b` are two specs."""
    names: dict[tuple[str, str], str] = {}
    for row in rows:
        for invariant in row.traces:
            wished = PurePath(file_name(row.spec, invariant)).stem
            taken = {name.casefold() for name in names.values()}
            fitting = (f"{wished}{suffix}.html" for suffix in ("", *(f"-{n}" for n in range(2, len(taken) + 3))))
            names[row.spec.name, invariant] = next(name for name in fitting if name.casefold() not in taken)
    return names


def _index(rows: Sequence[Found], names: Names, notes: Sequence[str]) -> str:
    tables = "\n".join(_table(section, names, number) for number, section in enumerate(sections(rows)))
    texts = dict.fromkeys((*notes, *(text for row in rows for text, _ in remarks(row))))
    noted = _joined([f"<li>{escape(text)}</li>" for text in texts])
    listed = f'<ul class="doubt">\n{noted}\n</ul>\n' if texts else ""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"{SIGN}\n{_POLICY}\n<title>Promises kept and broken</title>\n<style>\n{_STYLE}</style>\n</head>\n"
        f"<body>\n<h1>Promises kept and broken</h1>\n<p>{escape(totals(rows, None))} {_HINT}</p>\n"
        f"{listed}{tables}\n{_legend(rows)}</body>\n</html>\n"
    )


def _legend(rows: Sequence[Found]) -> str:
    """What the cells mean. Bounds are told in words here."""
    told = [(sign, meaning) for (sign, _), meaning in legend(rows) if sign != "bounds"]
    listed = "".join(f"<dt>{escape(sign)}</dt><dd>{escape(meaning)}</dd>\n" for sign, meaning in told)
    return f"<dl>\n{listed}</dl>\n"


def _joined(parts: Sequence[str]) -> str:
    return "\n".join(parts)


def _table(rows: Sequence[Found], names: Names, number: int) -> str:
    shared = same_bounds(rows)
    caption = f"<caption>{escape(bounds_text(rows[0].spec))}</caption>\n" if shared else ""
    asked = promises(rows)
    heads = [f'<th scope="col">{breakable(name)}</th>' for name in asked]
    body = _joined([_row(row, names, asked, shared) for row in rows])
    header = f'<th scope="col">spec</th>{"".join(heads)}<th scope="col">explored</th>'
    return (
        f'<h2 id="s{number}">{escape(title_of(rows))}</h2>\n'
        f'<div class="scroll" tabindex="0" role="region" aria-labelledby="s{number}">\n<table>\n{caption}<thead>\n'
        f"<tr>{header}</tr>\n</thead>\n<tbody>\n{body}\n</tbody>\n</table>\n</div>"
    )


def _row(row: Found, names: Names, asked: Sequence[str], shared: bool) -> str:
    below = [row.spec.title, rules_text(row.spec), "" if shared else bounds_text(row.spec)]
    small = "".join(f"<small>{escape(text)}</small>" for text in below if text)
    cells = dict(_cells(row, names))
    return (
        f'<tr><th scope="row">{escape(row.spec.name)}{small}</th>{"".join(cells.get(each, _NOTHING) for each in asked)}'
        f'<td class="count">{escape(explored_text(row.outcome))}</td></tr>'
    )


def _cells(row: Found, names: Names) -> Iterator[tuple[str, str]]:
    """The cell of each promise."""
    for found, (text, _) in zip(row.outcome.invariants, verdict_cells(row), strict=True):
        name = names.get((row.spec.name, found.name))
        shown = escape(text.strip())
        if name is not None and found.verdict is Verdict.VIOLATED:
            crashes = row.crashes.get(found.name, 0)
            with_crashes = f", {crashes} of them a crash" if crashes else ""
            label = escape(
                f"{steps_text(found.steps or 0)}{with_crashes}: how {found.name} is broken in {row.spec.name}"
            )
            shown = f'<a href="{escape(quote(name))}" aria-label="{label}">{shown}</a>'
        yield found.name, f'<td class="{found.verdict.value}">{shown}</td>'


_NOTHING: Final = f'<td class="unasked">{UNASKED}</td>'
_HINT: Final = "A number leads to the page of a shortest violation."
_POLICY: Final = (
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'\">"
)
_STYLE: Final = """\
:root { color-scheme: light dark; --paper: #fbfbf9; --ink: #1c2126; --faint: #5a646e; --line: #d5d9dd;
  --good: #17693c; --bad: #b3261e; --doubt: #8a5a00; --red: #fbe4e1; }
@media (prefers-color-scheme: dark) { :root { --paper: #14181c; --ink: #e8eaec; --faint: #a2acb6; --line: #39424b;
  --good: #76cf9c; --bad: #ff8f86; --doubt: #e6b450; --red: #43201d; } }
body { margin: 0 auto; padding: 1.25rem; max-width: 90rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.45 system-ui, -apple-system, "Segoe UI", "Liberation Sans", "DejaVu Sans", sans-serif; }
h1 { font-size: 1.3rem; margin: 0 0 .3rem; }
p { margin: 0 0 1rem; }
.scroll { overflow-x: auto; margin: 0 0 1.5rem; }
table { border-collapse: collapse; }
h2 { font-size: 1rem; margin: 0 0 .4rem; }
caption { text-align: left; color: var(--faint); padding-bottom: .4rem; }
th, td { text-align: left; vertical-align: top; padding: .4rem .6rem; border: 1px solid var(--line); }
thead th { font-size: .85rem; vertical-align: bottom; }
th[scope=row] { font-weight: 600; min-width: 12rem; overflow-wrap: anywhere; }
@media (min-width: 70rem) { th[scope=row] { min-width: 27rem; } }
small { display: block; font-weight: 400; line-height: 1.35; color: var(--faint); }
td { white-space: nowrap; }
td.count { text-align: right; font-variant-numeric: tabular-nums; }
td.unasked { color: var(--faint); }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .2rem 1rem; margin: 0; }
dt, dd { color: var(--faint); }
dd { margin: 0; }
.holds { color: var(--good); }
.violated { background: var(--red); color: var(--bad); font-weight: 600; }
.violated a { color: inherit; display: block; }
.inconclusive, .doubt { color: var(--doubt); }
:focus-visible { outline: 2px solid currentcolor; outline-offset: 2px; }
"""
