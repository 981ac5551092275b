"""The function `expand`: every enabled step's successor, written one after the other.

expand(state, successors, step_ids) -> count, or -(step + 1) if that enabled step assigns outside a domain
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from llvmlite import ir

from checker.compile.native_comparisons import copy_of, same_coding
from checker.compile.native_expressions import WORD, Emitter, joined, load_words, move, number_type, word
from checker.compile.native_guards import Branch, Leaf, Node, plan
from checker.compile.packing import WORD_BITS, Packing
from model.language.domains import BOOL
from model.language.expr import Expr, Op
from model.language.protocol import Protocol, Step, Update

NAME = "expand"

_STEP_ID = ir.IntType(16)
_POINTER = ir.PointerType()


def emit_expand(module: ir.Module, protocol: Protocol, packing: Packing) -> None:
    """Add the function to the module."""
    function = ir.Function(module, ir.FunctionType(WORD, [_POINTER] * 3), NAME)
    for argument, name in zip(function.args, ("state", "successors", "step_ids"), strict=True):
        argument.name = name
        argument.add_attribute("noalias")
    _Expand(function, protocol, packing).emit()


class _Expand:
    """One function under construction. The number of successors so far is threaded through the blocks."""

    def __init__(self, function: ir.Function, protocol: Protocol, packing: Packing) -> None:
        self.state, self.successors, self.step_ids = function.args
        self.protocol = protocol
        self.packing = packing
        self.builder = ir.IRBuilder(function.append_basic_block("entry"))
        self.words = load_words(self.builder, self.state, packing.words)
        assigned = [protocol.cells[update.cell].domain for step in protocol.steps for update in step.updates]
        self.emitter = Emitter(self.builder, packing, number_type(_roots(protocol), assigned), self.words)
        self.fault = function.append_basic_block("fault")
        self.faults: dict[ir.Block, ir.Value] = {}

    def emit(self) -> None:
        count = self._nodes(plan(self.protocol.steps), word(0))
        self.builder.ret(count)
        self.builder.position_at_end(self.fault)
        if self.faults:
            self.builder.ret(joined(self.builder, self.faults))
        else:
            self.builder.unreachable()

    def _nodes(self, nodes: Iterable[Node], count: ir.Value) -> ir.Value:
        for node in nodes:
            count = self._branch(node, count)
        return count

    def _branch(self, node: Node, count: ir.Value) -> ir.Value:
        condition = self.emitter.all_of(node.conditions)
        before = self.builder.block
        inside, after = self.builder.append_basic_block(), self.builder.append_basic_block()
        self.builder.cbranch(condition, inside, after)
        self.builder.position_at_end(inside)
        with self.emitter.branch():
            more = self._nodes(node.inside, count) if isinstance(node, Branch) else self._leaf(node, count)
        last = self.builder.block
        self.builder.branch(after)
        self.builder.position_at_end(after)
        return joined(self.builder, {before: count, last: more})

    def _leaf(self, leaf: Leaf, count: ir.Value) -> ir.Value:
        step = leaf.step
        self._check(step)
        self._write(step, count)
        return self.builder.add(count, word(1))

    def _check(self, step: Step) -> None:
        for update in step.updates:
            if not update.proved and update.value.sort != BOOL:
                self._check_one(step, update)

    def _check_one(self, step: Step, update: Update) -> None:
        domain = self.protocol.cells[update.cell].domain
        value, kind = self.emitter.value(update.value), self.emitter.number
        code = self.builder.sub(value, ir.Constant(kind, domain.low))
        outside = self.builder.icmp_unsigned(">", code, ir.Constant(kind, domain.high - domain.low))
        self.faults[self.builder.block] = word(-(step.number + 1))
        inside = self.builder.append_basic_block()
        self.builder.cbranch(outside, self.fault, inside)
        self.builder.position_at_end(inside)

    def _write(self, step: Step, count: ir.Value) -> None:
        target = self.builder.mul(count, word(self.packing.words))
        for number, value in enumerate(self.words):
            updates = [(u.cell, u.value) for u in step.updates if self.packing.positions[u.cell].word == number]
            changed = self._changed(value, updates)
            place = self.builder.add(target, word(number))
            self.builder.store(changed, self.builder.gep(self.successors, [place], source_etype=WORD))
        place = self.builder.gep(self.step_ids, [count], source_etype=_STEP_ID)
        self.builder.store(ir.Constant(_STEP_ID, step.number), place)

    # One word of a successor

    def _changed(self, base: ir.Value, updates: Sequence[tuple[int, Expr]]) -> ir.Value:
        """The word after these updates of cells in it. All reads are of the state before."""
        changes = Changes(self.packing, updates)
        result = self._plain(base, changes)
        for condition, (then, otherwise) in changes.choices.items():
            result = self.builder.select(
                self.emitter.value(condition), self._changed(result, then), self._changed(result, otherwise)
            )
        return result

    def _plain(self, base: ir.Value, changes: Changes) -> ir.Value:
        build, result = self.builder, base
        if changes.cleared:
            result = build.and_(result, word(~changes.cleared & (1 << WORD_BITS) - 1))
        if changes.constant:
            result = build.or_(result, word(changes.constant))
        for (source, distance), mask in changes.copies.items():
            result = build.or_(result, build.and_(self.emitter.shifted(source, distance), word(mask)))
        for cell, value in changes.computed:
            result = build.or_(result, self._placed(cell, value))
        if changes.increment:
            result = build.add(result, word(changes.increment))
        return result

    def _placed(self, cell: int, expr: Expr) -> ir.Value:
        """The code of a value, where the cell stands."""
        build, position, value = self.builder, self.packing.positions[cell], self.emitter.value(expr)
        low = self.protocol.cells[cell].domain.low
        if expr.sort != BOOL and low:
            value = build.sub(value, ir.Constant(self.emitter.number, low))
        if value.type.width < WORD_BITS:
            value = build.zext(value, WORD)
        return move(build, value, position.shift)


class Changes:
    """Updates of the cells of one word, sorted by how they are best done."""

    def __init__(self, packing: Packing, updates: Sequence[tuple[int, Expr]]) -> None:
        self.packing = packing
        self.cleared = 0
        self.constant = 0
        self.increment = 0
        self.copies: dict[tuple[int, int], int] = {}
        self.computed: list[tuple[int, Expr]] = []
        self.choices: dict[Expr, tuple[list[tuple[int, Expr]], list[tuple[int, Expr]]]] = {}
        for cell, value in updates:
            self._add(cell, value)

    def _add(self, cell: int, value: Expr) -> None:
        position, low = self.packing.positions[cell], self.packing.protocol.cells[cell].domain.low
        match value.op:
            case Op.READ if value.value == cell:
                return
            case Op.IF:
                condition, then, otherwise = value.args
                sides = self.choices.setdefault(condition, ([], []))
                sides[0].append((cell, then))
                sides[1].append((cell, otherwise))
                return
            case Op.ADD if value.args[0].op is Op.READ and value.args[0].value == cell and value.args[1].is_constant:
                self.increment += value.args[1].value << position.shift
                return
            case Op.CONSTANT:
                self.constant |= (value.value - low) << position.shift
            case Op.READ if same_coding(value.value, cell, self.packing):
                copy = copy_of(value.value, cell, self.packing)
                key = (copy.source, copy.distance)
                self.copies[key] = self.copies.get(key, 0) | copy.mask
            case _:
                self.computed.append((cell, value))
        self.cleared |= position.mask


def _roots(protocol: Protocol) -> Iterable[Expr]:
    for step in protocol.steps:
        yield from (condition.expr for condition in step.guard)
        yield from (update.value for update in step.updates)
