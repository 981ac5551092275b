"""Expressions: a closed set of operations on small integers, typed, hash-consed, and folded by ranges.

An expression is immutable and knows its sort (`bool`, `int`, or the name of an enumeration or scalarset) and the range
`low..high` of the values it can take. Equal expressions are the same object, so a lowering can cache by identity. The
constructors below are the only way to make one; each applies the typing rule of its operation and folds what its
ranges decide:

    >>> log_end = read(0, INT, 0, 2)
    >>> add(log_end, constant(1)).high
    3
    >>> less(log_end, constant(3)) is TRUE
    True
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator
from typing import TypeAlias
from weakref import WeakValueDictionary

from model.errors import ModelError
from model.language.domains import BOOL, INT


class Op(enum.Enum):
    """The operations. A lowering has one case for each and ends in `assert_never`."""

    CONSTANT = "constant"  # value
    READ = "read"  # value = the cell's number
    NOT = "not"
    AND = "and"  # two or more arguments
    OR = "or"  # two or more arguments
    EQUAL = "equal"  # two arguments of one sort
    LESS = "less"  # two integers
    ADD = "add"  # two integers
    SUBTRACT = "subtract"  # two integers
    MULTIPLY = "multiply"  # two integers
    IF = "if"  # condition, then, else: both branches of one sort


class Expr:
    """One node. Compare with `is`."""

    __slots__ = ("__weakref__", "args", "high", "low", "op", "sort", "value")

    op: Op
    args: tuple[Expr, ...]
    value: int
    sort: str
    low: int
    high: int

    @property
    def is_constant(self) -> bool:
        return self.op is Op.CONSTANT

    def __repr__(self) -> str:
        inner = [str(self.value)] if self.op in (Op.CONSTANT, Op.READ) else [repr(arg) for arg in self.args]
        return f"{self.op.value}({', '.join(inner)})"


_NodeKey: TypeAlias = "tuple[Op, tuple[Expr, ...], int, str, int, int]"

# Every live node by its content. The references are weak: nothing can be observed through this table.
_nodes: WeakValueDictionary[_NodeKey, Expr] = WeakValueDictionary()


def _node(op: Op, args: tuple[Expr, ...], value: int, sort: str, low: int, high: int) -> Expr:
    key = (op, args, value, sort, low, high)
    known = _nodes.get(key)
    if known is not None:
        return known
    node = Expr()
    node.op, node.args, node.value, node.sort, node.low, node.high = key
    _nodes[key] = node
    return node


def constant(value: int, sort: str = INT) -> Expr:
    return _node(Op.CONSTANT, (), value, sort, value, value)


TRUE = constant(1, BOOL)
FALSE = constant(0, BOOL)


def truth(value: bool) -> Expr:
    return TRUE if value else FALSE


def read(cell: int, sort: str, low: int, high: int) -> Expr:
    """The value of cell number `cell`; a cell with one possible value is a constant."""
    return constant(low, sort) if low == high else _node(Op.READ, (), cell, sort, low, high)


def negate(arg: Expr) -> Expr:
    _want(BOOL, arg)
    if arg.is_constant:
        return truth(not arg.value)
    if arg.op is Op.NOT:
        return arg.args[0]
    return _node(Op.NOT, (arg,), 0, BOOL, 0, 1)


def conjunction(args: Iterable[Expr]) -> Expr:
    return _junction(Op.AND, args, neutral=TRUE, absorbing=FALSE)


def disjunction(args: Iterable[Expr]) -> Expr:
    return _junction(Op.OR, args, neutral=FALSE, absorbing=TRUE)


def _junction(op: Op, args: Iterable[Expr], neutral: Expr, absorbing: Expr) -> Expr:
    parts: dict[Expr, None] = {}
    for arg in _flattened(op, args):
        _want(BOOL, arg)
        if arg is absorbing or negate(arg) in parts:
            return absorbing
        if arg is not neutral:
            parts[arg] = None
    if not parts:
        return neutral
    if len(parts) == 1:
        return next(iter(parts))
    return _node(op, tuple(parts), 0, BOOL, 0, 1)


def _flattened(op: Op, args: Iterable[Expr]) -> Iterator[Expr]:
    for arg in args:
        if arg.op is op:
            yield from arg.args
        else:
            yield arg


def equal(left: Expr, right: Expr) -> Expr:
    _same_sort(left, right)
    if left is right:
        return TRUE
    if left.high < right.low or right.high < left.low:
        return FALSE
    if left.is_constant:
        left, right = right, left
    if left.sort == BOOL and right.is_constant:
        return left if right.value else negate(left)
    return _node(Op.EQUAL, (left, right), 0, BOOL, 0, 1)


def less(left: Expr, right: Expr) -> Expr:
    _want(INT, left, right)
    if left is right or left.low >= right.high:
        return FALSE
    if left.high < right.low:
        return TRUE
    return _node(Op.LESS, (left, right), 0, BOOL, 0, 1)


def at_most(left: Expr, right: Expr) -> Expr:
    return negate(less(right, left))


def add(left: Expr, right: Expr) -> Expr:
    _want(INT, left, right)
    if left.is_constant:
        left, right = right, left
    if left.is_constant:
        return constant(left.value + right.value)
    if right.is_constant and right.value == 0:
        return left
    if right.is_constant and left.op is Op.ADD and left.args[1].is_constant:
        return add(left.args[0], constant(left.args[1].value + right.value))
    return _node(Op.ADD, (left, right), 0, INT, left.low + right.low, left.high + right.high)


def subtract(left: Expr, right: Expr) -> Expr:
    _want(INT, left, right)
    if right.is_constant:
        return add(left, constant(-right.value))
    if left is right:
        return constant(0)
    return _node(Op.SUBTRACT, (left, right), 0, INT, left.low - right.high, left.high - right.low)


def multiply(left: Expr, right: Expr) -> Expr:
    _want(INT, left, right)
    if left.is_constant:
        left, right = right, left
    if left.is_constant:
        return constant(left.value * right.value)
    if right.is_constant and right.value in (0, 1):
        return left if right.value else right
    corners = [a * b for a in (left.low, left.high) for b in (right.low, right.high)]
    return _node(Op.MULTIPLY, (left, right), 0, INT, min(corners), max(corners))


def choose(condition: Expr, then: Expr, otherwise: Expr) -> Expr:
    """`then` where `condition` holds, else `otherwise`."""
    _want(BOOL, condition)
    _same_sort(then, otherwise)
    if condition.is_constant:
        return then if condition.value else otherwise
    if condition.op is Op.NOT:
        return choose(condition.args[0], otherwise, then)
    then, otherwise = _under(condition, then, 1), _under(condition, otherwise, 2)
    if then is otherwise:
        return then
    if then.sort == BOOL and (then.is_constant or otherwise.is_constant):
        return _choose_truth(condition, then, otherwise)
    low, high = min(then.low, otherwise.low), max(then.high, otherwise.high)
    return _node(Op.IF, (condition, then, otherwise), 0, then.sort, low, high)


def _under(condition: Expr, branch: Expr, side: int) -> Expr:
    """A branch that asks for the same condition again already knows the answer."""
    return branch.args[side] if branch.op is Op.IF and branch.args[0] is condition else branch


def _choose_truth(condition: Expr, then: Expr, otherwise: Expr) -> Expr:
    if then.is_constant:
        rest = (condition, otherwise) if then.value else (negate(condition), otherwise)
        return disjunction(rest) if then.value else conjunction(rest)
    return disjunction((negate(condition), then)) if otherwise.value else conjunction((condition, then))


def minimum_of(left: Expr, right: Expr) -> Expr:
    """The smaller of two integers, with the tight range that a plain `choose` would lose."""
    return _clipped(choose(less(right, left), right, left), min(left.low, right.low), min(left.high, right.high))


def maximum_of(left: Expr, right: Expr) -> Expr:
    return _clipped(choose(less(left, right), right, left), max(left.low, right.low), max(left.high, right.high))


def _clipped(expr: Expr, low: int, high: int) -> Expr:
    if expr.op is not Op.IF or (expr.low >= low and expr.high <= high):
        return expr
    return _node(Op.IF, expr.args, 0, expr.sort, max(low, expr.low), min(high, expr.high))


def walk(roots: Iterable[Expr]) -> Iterator[Expr]:
    """Every node below the roots once, arguments before the nodes that use them."""
    seen: set[Expr] = set()
    stack = [(root, False) for root in reversed(list(roots))]
    while stack:
        node, ready = stack.pop()
        if node in seen:
            continue
        if ready:
            seen.add(node)
            yield node
        else:
            stack.append((node, True))
            stack.extend((arg, False) for arg in reversed(node.args))


def shifted(roots: Iterable[Expr], by: int) -> dict[Expr, Expr]:
    """The roots, and what is below them, over cells whose numbers are higher by so many."""
    moved: dict[Expr, Expr] = {}
    for node in walk(roots):
        args = tuple(moved[arg] for arg in node.args)
        value = node.value + by if node.op is Op.READ else node.value
        moved[node] = _node(node.op, args, value, node.sort, node.low, node.high)
    return moved


def cells_read(expr: Expr) -> tuple[int, ...]:
    """The numbers of the cells that `expr` reads, ascending."""
    return tuple(sorted({node.value for node in walk([expr]) if node.op is Op.READ}))


def _want(sort: str, *args: Expr) -> None:
    for arg in args:
        if arg.sort != sort:
            raise ModelError(f"a value of type {arg.sort} stands where {sort} is needed")


def _same_sort(left: Expr, right: Expr) -> None:
    if left.sort != right.sort:
        raise ModelError(f"a value of type {left.sort} cannot be compared or mixed with one of type {right.sort}")
