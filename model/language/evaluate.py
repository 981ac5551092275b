"""The meaning of a protocol: expressions, guards and updates evaluated in plain Python.

Everything else that computes with a protocol (machine code, z3) is compared with this file, and every counterexample
is replayed by it before anyone sees it.

    >>> from model.language.expr import add, constant, read
    >>> evaluate(add(read(0, "int", 0, 3), constant(1)), (2,))
    3
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias, assert_never

from model.errors import ModelFault
from model.language.domains import shown_outside
from model.language.expr import Expr, Op
from model.language.protocol import Protocol, State, Step

#: Values already known in one state, so that shared nodes are computed once.
Memo: TypeAlias = dict[Expr, int]


def evaluate(expr: Expr, state: State, memo: Memo | None = None) -> int:
    """The value of `expr` in `state`; truth is 0 or 1. Branches that do not matter are not evaluated."""
    memo = {} if memo is None else memo
    known = memo.get(expr)
    if known is None:
        known = memo[expr] = _compute(expr, state, memo)
    return known


def _compute(expr: Expr, state: State, memo: Memo) -> int:
    args = expr.args
    match expr.op:
        case Op.CONSTANT:
            return expr.value
        case Op.READ:
            return state[expr.value]
        case Op.NOT:
            return 1 - evaluate(args[0], state, memo)
        case Op.AND:
            return int(all(evaluate(arg, state, memo) for arg in args))
        case Op.OR:
            return int(any(evaluate(arg, state, memo) for arg in args))
        case Op.EQUAL:
            return int(evaluate(args[0], state, memo) == evaluate(args[1], state, memo))
        case Op.LESS:
            return int(evaluate(args[0], state, memo) < evaluate(args[1], state, memo))
        case Op.ADD:
            return evaluate(args[0], state, memo) + evaluate(args[1], state, memo)
        case Op.SUBTRACT:
            return evaluate(args[0], state, memo) - evaluate(args[1], state, memo)
        case Op.MULTIPLY:
            return evaluate(args[0], state, memo) * evaluate(args[1], state, memo)
        case Op.IF:
            return evaluate(_branch(expr, state, memo), state, memo)
        case _:
            assert_never(expr.op)


def _branch(expr: Expr, state: State, memo: Memo) -> Expr:
    """Where a cascade of conditions ends: a loop, since reading from a long sequence would exhaust Python's stack."""
    while expr.op is Op.IF:
        condition, then, otherwise = expr.args
        expr = then if evaluate(condition, state, memo) else otherwise
    return expr


def enabled(step: Step, state: State, memo: Memo | None = None) -> bool:
    """Whether every conjunct of the step's guard holds."""
    memo = {} if memo is None else memo
    return all(evaluate(condition.expr, state, memo) for condition in step.guard)


def apply(protocol: Protocol, step: Step, state: State, memo: Memo | None = None) -> State:
    """The state after an enabled step. Raises `ModelFault` when a value leaves its cell's domain."""
    memo = {} if memo is None else memo
    after = list(state)
    for update in step.updates:
        value = evaluate(update.value, state, memo)
        cell = protocol.cells[update.cell]
        if not cell.domain.low <= value <= cell.domain.high:
            shown = shown_outside(cell.domain, value)
            raise ModelFault(
                f"{step_text(protocol, step)} assigns {shown} to {cell.path}, which ranges over {cell.domain}",
                where=update.place,
                instead="Widen the domain, or require the condition under which the value fits",
            )
        after[update.cell] = value
    return tuple(after)


def successors(protocol: Protocol, state: State) -> Iterator[tuple[Step, State]]:
    """Every enabled step with the state after it, in the order of the steps' numbers."""
    memo: Memo = {}
    for step in protocol.steps:
        if enabled(step, state, memo):
            yield step, apply(protocol, step, state, memo)


def step_text(protocol: Protocol, step: Step) -> str:
    """`replicate(follower=B, leader=A)`."""
    arguments = ", ".join(f"{name}={shown}" for name, shown in protocol.arguments(step).items())
    return f"{step.action}({arguments})"
