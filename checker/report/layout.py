"""Columns and numbers, for every report that has some."""

from __future__ import annotations

from collections.abc import Sequence

from checker.report.story import Line, Style, wrapped

Piece = tuple[str, Style]

LABEL_WIDTH = 13


def plain(text: str) -> Piece:
    return text, Style.PLAIN


def faint(text: str) -> Piece:
    return text, Style.FAINT


def grid(rows: Sequence[Sequence[Piece]], margin: str = "  ", gap: str = "  ") -> list[Line]:
    """Rows of cells, left-aligned in columns as wide as their widest cell."""
    columns = max(map(len, rows), default=0)
    widths = [max(len(row[column][0]) for row in rows if column < len(row)) for column in range(columns)]
    return [_row(row, widths, margin, gap) for row in rows]


def _row(row: Sequence[Piece], widths: Sequence[int], margin: str, gap: str) -> Line:
    pieces = [plain(margin)]
    for column, (text, style) in enumerate(row):
        padding = " " * (widths[column] - len(text)) + gap if any(text for text, _ in row[column + 1 :]) else ""
        pieces += [(text, style), plain(padding)]
    return Line(tuple(piece for piece in pieces if piece[0]))


def cut(text: str, width: int) -> str:
    """The text, or as much of it as fits."""
    return text if len(text) <= width else f"{text[: max(width - 1, 1)].rstrip()}…"


def labelled(label: str, text: str, width: int, style: Style = Style.PLAIN) -> list[Line]:
    """`  explored    270,050 orbits, …`, wrapped beside the label; nothing if there is no text."""
    if not text:
        return []
    lines = wrapped(text, width, style, margin=" " * (LABEL_WIDTH + 2))
    head = Line((faint(f"  {label:{LABEL_WIDTH}}"), *lines[0].pieces[1:]))
    return [head, *lines[1:]]


def seconds_text(seconds: float) -> str:
    """`12 ms`, `0.24 s`, `12.3 s`, `2 min 5 s`, `1 h 2 min`."""
    if seconds < 0.0995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 9.995:
        return f"{seconds:.2f} s"
    if seconds < 99.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def rate_text(per_second: float) -> str:
    """`950`, `12,300`, `4.1 million`: three digits are all that a rate is good for."""
    if per_second >= 999_500:
        return f"{per_second / 1e6:.3g} million"
    return f"{per_second:,.0f}" if per_second < 1_000 else f"{float(f'{per_second:.3g}'):,.0f}"


def bytes_text(count: float) -> str:
    """`312 MiB`, `4.2 GiB`."""
    return f"{count / 2**20:,.0f} MiB" if count < 2**30 else f"{count / 2**30:.1f} GiB"
