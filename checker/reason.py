"""Why an invariant fails in a state: the failing part of its formula, and what that part looks at.

The formula is walked from the top: of a conjunction the first false part, of an implication the false consequence, of
a disjunction (all parts false) as far down as it stays a single path. On the way the values of quantified variables
are collected: which replica, which offset. What the part reads for these values is told with it.

A condition is quoted as its author wrote it, however many lines it takes. Which comparison in it is false is told in
the names of the protocol's variables.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, assert_never

from model.errors import Place
from model.language.domains import shown_outside
from model.language.evaluate import evaluate
from model.language.expr import Expr, Op, cells_read, constant
from model.language.formula import Binding, Formula, Shape
from model.language.protocol import Predicate, Protocol, State
from model.language.show import show_expr, show_state


@dataclass(frozen=True, slots=True)
class Reading:
    """A variable that is read where the invariant fails, with its value in the violating state."""

    path: str
    value: str


@dataclass(frozen=True, slots=True)
class Reason:
    """`where` is the line on which the failing part begins (file relative to its package), `text` the line itself,
    `condition` the whole part on one line. `comparison` is what in it is false, with its values; empty if nothing so
    small can be named."""

    bindings: tuple[Binding, ...]
    where: str
    text: str
    condition: str
    comparison: str
    readings: tuple[Reading, ...]


def reason_for(protocol: Protocol, predicate: Predicate, state: State) -> Reason:
    """Why `predicate` is false in `state`. Raises `ValueError` if it is true."""
    if evaluate(predicate.expr, state):
        raise ValueError(f"{predicate.name} holds in this state")
    bindings, scope, part = _descend(predicate.formula, state)
    place = _readable(scope, part, predicate.place)
    return Reason(
        bindings=bindings,
        where=place.portable if place else "",
        text=place.source() if place else "",
        condition=_condition(place) if place else "",
        comparison=_comparison(protocol, part.expr, state),
        readings=_readings(protocol, scope, state),
    )


def _descend(formula: Formula, state: State) -> tuple[tuple[Binding, ...], Formula, Formula]:
    """The bindings met on the way down, the part with the last of them, and the part where the way ends."""
    bindings, scope = list(formula.bindings), formula
    while (part := _failing_part(formula, state)) is not None:
        formula = part
        bindings += part.bindings
        scope = part if part.bindings else scope
    return tuple(bindings), scope if bindings else formula, formula


def _readable(scope: Formula, part: Formula, start: Place | None) -> Place | None:
    """The line of the part if it stands in the invariant's own file, else that of the scope: a line of a helper speaks
    of names that no reader has met."""
    is_own = part.place and start and part.place.file == start.file
    return part.place if is_own else scope.place or start


def _failing_part(formula: Formula, state: State) -> Formula | None:
    match formula.shape:
        case Shape.ALL:
            return next(part for part in formula.parts if not evaluate(part.expr, state))
        case Shape.IMPLIES:
            return formula.parts[1]
        case Shape.ANY:
            return formula.parts[0] if len(formula.parts) == 1 else None
        case Shape.NOT | Shape.ATOM:
            return None
        case _:
            assert_never(formula.shape)


def _readings(protocol: Protocol, part: Formula, state: State) -> tuple[Reading, ...]:
    """The variables that the part reads; of a sequence or set always the whole."""
    units = {_unit(protocol, cell) for cell in cells_read(part.expr)}
    return tuple(Reading(path, value) for path, value in show_state(protocol, state) if path in units)


def _unit(protocol: Protocol, number: int) -> str:
    """The path of the whole set or sequence that a cell belongs to, as `show_state` names it."""
    units = [path for path, _ in show_state(protocol, protocol.initial[0])]
    path = str(protocol.cells[number].path)
    return max((unit for unit in units if path == unit or path.startswith((f"{unit}[", f"{unit}."))), key=len)


# The condition as it was written


def _condition(place: Place) -> str:
    """The expression that begins with this line, on one line; the line as it stands if none does."""
    try:
        text = Path(place.file).read_text(encoding="utf-8")
        found = next(_expressions_at(text, place.line), None)
    except (OSError, ValueError, SyntaxError):  # the file has gone, or has changed since
        found = None
    return place.source() if found is None else ast.unparse(found)


def _expressions_at(text: str, line: int) -> Iterator[ast.expr]:
    """The expressions that a line begins with, the outermost first; of a statement its value."""
    indent = [len(each.encode()) - len(each.lstrip().encode()) for each in text.splitlines()]
    for node in ast.walk(ast.parse(text)):  # breadth first, hence the outermost first
        if isinstance(node, ast.Return | ast.Assign | ast.AnnAssign) and node.lineno == line and node.value:
            yield node.value
        elif isinstance(node, ast.expr) and (node.lineno, node.col_offset) == (line, indent[line - 1]):
            yield node


# The comparison that is false

_RELATIONS: Final = {(Op.EQUAL, True): "=", (Op.EQUAL, False): "≠", (Op.LESS, True): "<", (Op.LESS, False): "≥"}
_TURNED: Final = {"<": ">", "≥": "≤"}


def _comparison(protocol: Protocol, expr: Expr, state: State) -> str:
    """`replicas[B].log.length > 0, which would be 0 > 0`."""
    expr, wanted = _blamed(expr, state)
    relation = _RELATIONS.get((expr.op, wanted))
    if relation is None:
        return ""
    left, right = (_chosen(side, state) for side in expr.args)
    if left.op is right.op is Op.CONSTANT:
        return ""
    if relation in _TURNED and left.op is Op.CONSTANT:  # what varies is what a reader looks for
        left, right, relation = right, left, _TURNED[relation]
    told = f"{_side(protocol, left, right)} {relation} {_side(protocol, right, left)}"
    return f"{told}, which would be {_value(protocol, left, state)} {relation} {_value(protocol, right, state, left)}"


def _blamed(expr: Expr, state: State) -> tuple[Expr, bool]:
    """The smallest part that alone makes the whole false, and whether it should be true."""
    wanted = True
    while expr.op is Op.NOT or expr.op is (Op.AND if wanted else Op.OR):
        if expr.op is Op.NOT:
            expr, wanted = expr.args[0], not wanted
        else:
            expr = next(part for part in expr.args if bool(evaluate(part, state)) is not wanted)
    return expr, wanted


def _chosen(expr: Expr, state: State) -> Expr:
    """What an index or condition that depends on the state comes to in it."""
    while expr.op is Op.IF:
        condition, then, otherwise = expr.args
        expr = then if evaluate(condition, state) else otherwise
    return expr


def _side(protocol: Protocol, expr: Expr, other: Expr) -> str:
    """One side of a comparison. A constant is named as the variable that it is compared with would be."""
    if expr.op is Op.CONSTANT and other.op is Op.READ:
        domain, value = protocol.cells[other.value].domain, expr.value
        return domain.show(value) if domain.low <= value <= domain.high else shown_outside(domain, value)
    return show_expr(protocol, expr)


def _value(protocol: Protocol, expr: Expr, state: State, other: Expr | None = None) -> str:
    value = evaluate(expr, state)
    if expr.op is Op.READ:
        return protocol.cells[expr.value].domain.show(value)
    return _side(protocol, constant(value, expr.sort), other or expr)
