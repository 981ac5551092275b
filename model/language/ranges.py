"""What a guard tells about ranges, so that most assignments are shown to stay inside their domain while staging.

`write` requires `next_record < records` and assigns `next_record + 1`: without the guard that sum reaches one too far.
Only plain facts are used (a cell compared with a constant or with another cell); what they do not show is checked
whenever the step is taken, never assumed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from model.language.expr import Expr, Op

Interval: TypeAlias = tuple[int, int]
Known: TypeAlias = dict[Expr, Interval]

_ROUNDS = 3  # facts such as x < y sharpen one another; a few rounds reach what guards in practice say
# How deep an expression is looked into. Each alternative is examined twice, so the work doubles with every level.
_DEPTH = 5
_EMPTY: Interval = (1, 0)


def facts(guard: Iterable[Expr]) -> Known:
    """Tighter ranges of expressions, where every conjunct of the guard holds."""
    conjuncts = list(guard)
    known: Known = {}
    for _ in range(_ROUNDS):
        for conjunct in conjuncts:
            _learn(conjunct, True, known)
    return known


def span(expr: Expr, known: Known, depth: int = _DEPTH) -> Interval:
    """A range that contains every value of `expr` where the facts hold; empty (low above high) if they never do."""
    low, high = known.get(expr, (expr.low, expr.high))
    if depth == 0 or not expr.args:
        return low, high
    below, above = _computed(expr, known, depth - 1)
    return max(low, below), min(high, above)


def _computed(expr: Expr, known: Known, depth: int) -> Interval:
    match expr.op:
        case Op.ADD:
            (a, b), (c, d) = (span(arg, known, depth) for arg in expr.args)
            return a + c, b + d
        case Op.SUBTRACT:
            (a, b), (c, d) = (span(arg, known, depth) for arg in expr.args)
            return a - d, b - c
        case Op.IF:
            return _either(_branch(expr, True, known, depth), _branch(expr, False, known, depth))
        case _:
            return expr.low, expr.high


def _either(one: Interval, other: Interval) -> Interval:
    if one[0] > one[1]:
        return other
    return one if other[0] > other[1] else (min(one[0], other[0]), max(one[1], other[1]))


def _branch(expr: Expr, taken: bool, known: Known, depth: int) -> Interval:
    condition, then, otherwise = expr.args
    local = dict(known)
    _learn(condition, taken, local)
    if any(low > high for low, high in local.values()):
        return _EMPTY  # the guard rules this branch out
    return span(then if taken else otherwise, local, depth)


def _learn(fact: Expr, holds: bool, known: Known) -> None:
    _narrow(fact, int(holds), int(holds), known)
    match fact.op:
        case Op.NOT:
            _learn(fact.args[0], not holds, known)
        case Op.AND if holds:
            for part in fact.args:
                _learn(part, True, known)
        case Op.OR if not holds:
            for part in fact.args:
                _learn(part, False, known)
        case Op.LESS if holds:
            _order(fact.args[0], fact.args[1], 1, known)
        case Op.LESS:
            _order(fact.args[1], fact.args[0], 0, known)
        case Op.EQUAL if holds:
            _order(fact.args[0], fact.args[1], 0, known)
            _order(fact.args[1], fact.args[0], 0, known)
        case Op.EQUAL:
            _differ(fact.args[0], fact.args[1], known)
        case _:
            pass


def _order(left: Expr, right: Expr, gap: int, known: Known) -> None:
    """`left + gap <= right`."""
    _narrow(left, None, _now(right, known)[1] - gap, known)
    _narrow(right, _now(left, known)[0] + gap, None, known)


def _now(expr: Expr, known: Known) -> Interval:
    """What is known of an expression itself, not of its parts: facts must stay cheap to learn."""
    return known.get(expr, (expr.low, expr.high))


def _differ(left: Expr, right: Expr, known: Known) -> None:
    """An end of a range that is excluded moves by one."""
    if right.is_constant:
        low, high = _now(left, known)
        _narrow(left, low + 1 if right.value == low else None, high - 1 if right.value == high else None, known)


def _narrow(expr: Expr, low: int | None, high: int | None, known: Known) -> None:
    if expr.is_constant:
        return
    old_low, old_high = known.get(expr, (expr.low, expr.high))
    known[expr] = (old_low if low is None else max(old_low, low), old_high if high is None else min(old_high, high))
    if expr.op is Op.ADD and expr.args[1].is_constant:
        offset = expr.args[1].value
        _narrow(expr.args[0], None if low is None else low - offset, None if high is None else high - offset, known)
