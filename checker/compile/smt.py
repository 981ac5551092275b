"""Expressions as z3 formulas, and a solver that answers with states. The only importer of z3.

Every cell is one z3 variable: a Bool, or a signed bit-vector. All bit-vectors of a protocol have one width, wide enough
for the range of every expression in it, so that nothing wraps. Domains become side conditions.

A question is put about *every type-correct state*: each cell within its domain and, if wanted, sequences in their
normal form (places beyond the length hold the lowest value). These are more than the reachable states, so what is
proved holds for those too; a refuting state, on the other hand, need not be reachable.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, assert_never

import z3

from model.errors import InternalError
from model.language.domains import BOOL, INT, Length, Path, Scalar, Slot
from model.language.expr import Expr, Op, walk
from model.language.protocol import Permutation, Protocol, State, Step

#: A z3 term. z3 ships no types; terms are made and combined in this file only, and passed around by others.
Term: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Proved:
    """The claim holds in every state asked about."""


@dataclass(frozen=True, slots=True)
class Refuted:
    """The claim is false in `state`, says z3; believe it when the evaluator says so too."""

    state: State


@dataclass(frozen=True, slots=True)
class Unknown:
    """Neither, for example because the budget ran out."""

    reason: str


BUDGET_SPENT = "the budget is spent"

Answer: TypeAlias = Proved | Refuted | Unknown


class Terms:
    """Makes terms of one protocol. `further` are expressions outside the protocol that will be lowered too."""

    def __init__(self, protocol: Protocol, further: Iterable[Expr] = ()) -> None:
        self.protocol = protocol
        self.places = tuple(sequence_places(protocol))
        # A context of its own: what was asked before, elsewhere in the process, has no influence on the search.
        self.context = z3.Context()
        self.width = bit_width(protocol, further)
        self.true, self.false = z3.BoolVal(True, self.context), z3.BoolVal(False, self.context)

    def constant(self, value: int, sort: str) -> Term:
        if sort == BOOL:
            return self.true if value else self.false
        return z3.BitVecVal(value, self.width, self.context)

    def variable(self, name: str, domain: Scalar) -> Term:
        if domain.low == domain.high:
            return self.constant(domain.low, domain.sort)
        return z3.Bool(name, self.context) if domain.sort == BOOL else z3.BitVec(name, self.width, self.context)

    def arbitrary(self) -> SymbolicState:
        """A state of which nothing is known yet."""
        cells = self.protocol.cells
        return SymbolicState(self, tuple(self.variable(f"{cell.number}:{cell.path}", cell.domain) for cell in cells))

    def concrete(self, state: State) -> SymbolicState:
        """A state of which everything is known."""
        cells = zip(self.protocol.cells, state, strict=True)
        return SymbolicState(self, tuple(self.constant(value, cell.domain.sort) for cell, value in cells))

    def within(self, domain: Scalar, value: Term) -> Term:
        """Whether a value lies in a domain."""
        if domain.sort == BOOL:
            return self.true
        return self.all_of((self.constant(domain.low, INT) <= value, value <= self.constant(domain.high, INT)))

    def renamed(self, permutation: Permutation, domain: Scalar, value: Term) -> Term:
        """What a value of `domain` becomes. Values outside the domain stay as they are."""
        result = value
        for code in domain.codes():
            image = permutation.code(domain, code)
            if image != code:
                found = value == self.constant(code, domain.sort)
                result = z3.If(found, self.constant(image, domain.sort), result)
        return result

    def all_of(self, terms: Iterable[Term]) -> Term:
        return self._junction(z3.Z3_mk_and, terms, self.true)

    def any_of(self, terms: Iterable[Term]) -> Term:
        return self._junction(z3.Z3_mk_or, terms, self.false)

    def _junction(self, make: Any, terms: Iterable[Term], neutral: Term) -> Term:
        parts = [term for term in terms if not _identical(term, neutral)]
        return self._connected(make, parts) if len(parts) > 1 else parts[0] if parts else neutral

    def _connected(self, make: Any, parts: Sequence[Term]) -> Term:
        """What `z3.And` and `z3.Or` do, but for looking whether a part needs to be converted: none does."""
        asts = (z3.Ast * len(parts))(*(part.as_ast() for part in parts))
        return z3.BoolRef(make(self.context.ref(), len(parts), asts), self.context)

    def negated(self, term: Term) -> Term:
        return z3.Not(term)

    def same(self, left: Term, right: Term) -> Term:
        return self.true if _identical(left, right) else left == right

    def implies(self, premise: Term, conclusion: Term) -> Term:
        return self.true if _identical(conclusion, self.true) else z3.Implies(premise, conclusion)

    def lowered(self, expr: Expr, cells: tuple[Term, ...], memo: dict[Expr, Term]) -> Term:
        """The value of `expr` where the cells have the given values."""
        known = memo.get(expr)
        if known is None:
            known = memo[expr] = self._operation(expr, cells, memo)
        return known

    def _operation(self, expr: Expr, cells: tuple[Term, ...], memo: dict[Expr, Term]) -> Term:
        if expr.sort != BOOL and not self._fits(expr):
            raise InternalError(f"{expr} needs more than {self.width} bits", instead="Name it when making the terms")
        args = [self.lowered(arg, cells, memo) for arg in expr.args]
        match expr.op:
            case Op.CONSTANT:
                return self.constant(expr.value, expr.sort)
            case Op.READ:
                return cells[expr.value]
            case Op.NOT:
                return z3.Not(args[0])
            case Op.AND:
                return self._connected(z3.Z3_mk_and, args)
            case Op.OR:
                return self._connected(z3.Z3_mk_or, args)
            case Op.EQUAL:
                return args[0] == args[1]
            case Op.LESS:
                return args[0] < args[1]
            case Op.ADD:
                return args[0] + args[1]
            case Op.SUBTRACT:
                return args[0] - args[1]
            case Op.MULTIPLY:
                return args[0] * args[1]
            case Op.IF:
                return z3.If(args[0], args[1], args[2])
            case _:
                assert_never(expr.op)

    def _fits(self, expr: Expr) -> bool:
        half = 1 << (self.width - 1)
        return -half <= expr.low and expr.high < half


def _identical(left: Term, right: Term) -> bool:
    """Whether two terms of one context are the same: z3 has each term once, so they have the same address."""
    return bool(left.ast.value == right.ast.value)


class SymbolicState:
    """A state whose cells are terms."""

    def __init__(self, terms: Terms, cells: tuple[Term, ...]) -> None:
        self.terms = terms
        self.cells = cells
        self._memo: dict[Expr, Term] = {}

    def value(self, expr: Expr) -> Term:
        return self.terms.lowered(expr, self.cells, self._memo)

    def enabled(self, step: Step) -> Term:
        return self.terms.all_of(self.value(condition.expr) for condition in step.guard)

    def updates(self, step: Step) -> dict[int, Term]:
        """The new values of the cells that an enabled step writes; the others keep theirs."""
        return {update.cell: self.value(update.value) for update in step.updates}

    def with_cells(self, changed: Mapping[int, Term]) -> SymbolicState:
        """The state in which some cells have new values."""
        return SymbolicState(self.terms, tuple(changed.get(number, old) for number, old in enumerate(self.cells)))

    def permuted(self, permutation: Permutation) -> SymbolicState:
        """The same state after members of a scalarset have changed names; the twin of `Protocol.permuted`."""
        protocol, image = self.terms.protocol, list(self.cells)
        for cell, target in zip(protocol.cells, protocol.moved_cells(permutation), strict=True):
            image[target] = self.terms.renamed(permutation, cell.domain, self.cells[cell.number])
        return SymbolicState(self.terms, tuple(image))

    def in_domains(self, changed: Collection[int] | None = None) -> Term:
        """Every cell within its domain; with `changed`, only these cells are looked at."""
        cells = zip(self.terms.protocol.cells, self.cells, strict=True)
        concerned = ((cell.domain, value) for cell, value in cells if changed is None or cell.number in changed)
        return self.terms.all_of(self.terms.within(domain, value) for domain, value in concerned)

    def in_normal_form(self, changed: Collection[int] | None = None) -> Term:
        """Every place of a sequence beyond its length holds the lowest value; with `changed`, only the places are
        looked at that these cells have to do with."""
        concerned = (p for p in self.terms.places if changed is None or p.cell in changed or p.length in changed)
        return self.terms.all_of(self._in_use_or_lowest(place) for place in concerned)

    def _in_use_or_lowest(self, place: SequencePlace) -> Term:
        terms, domain = self.terms, self.terms.protocol.cells[place.cell].domain
        in_use = terms.constant(place.index, INT) < self.cells[place.length]
        return terms.any_of((in_use, terms.same(self.cells[place.cell], terms.constant(domain.low, domain.sort))))


class Solver:
    """Proves claims about every state that `assuming` admits.

    `budget` is how much work all questions together may cost, in z3's resource units: the same on every machine, unlike
    seconds. It must be at least 1. When it is spent, every answer is `Unknown`.
    """

    def __init__(self, state: SymbolicState, assuming: Term, budget: int) -> None:
        self._state = state
        self._solver = z3.SolverFor("QF_BV", ctx=state.terms.context)
        self._solver.add(assuming)
        self._left = budget

    def prove(self, claim: Term) -> Answer:
        """Whether the claim holds in every such state. Ctrl-C raises `KeyboardInterrupt`, which z3 would swallow."""
        if self._left < 1:
            return Unknown(BUDGET_SPENT)
        self._solver.push()
        self._solver.add(z3.Not(claim))
        try:
            return self._answer(self._check())
        finally:
            self._solver.pop()

    def _check(self) -> Any:
        self._solver.set("rlimit", self._left)
        before = self._spent()
        result = self._solver.check()
        self._left -= self._spent() - before
        return result

    def _answer(self, result: Any) -> Answer:
        if result == z3.unsat:
            return Proved()
        if result == z3.sat:
            return Refuted(self._read(self._solver.model()))
        if self._left < 1:  # z3's own words for this vary with the place where it notices
            return Unknown(BUDGET_SPENT)
        reason = self._solver.reason_unknown()
        if "interrupted" in reason or "canceled" in reason:
            raise KeyboardInterrupt
        return Unknown(reason)

    def _read(self, model: Any) -> State:
        values = (model.eval(cell, model_completion=True) for cell in self._state.cells)
        return tuple(value.as_signed_long() if z3.is_bv(value) else int(z3.is_true(value)) for value in values)

    def _spent(self) -> int:
        # z3 counts for the whole context; the figure is missing until something has been counted.
        statistics = self._solver.statistics()
        return next((int(value) for name, value in statistics if name == "rlimit count"), 0)


@dataclass(frozen=True, slots=True)
class SequencePlace:
    """A cell that belongs to place `index` of a sequence: in use if index < the value of the cell `length`."""

    cell: int
    length: int
    index: int


def sequence_places(protocol: Protocol) -> Iterator[SequencePlace]:
    """Each cell of each place of each sequence; a sequence within a sequence gives its cells twice."""
    numbers = {cell.path: cell.number for cell in protocol.cells}
    for cell in protocol.cells:
        parts = cell.path.parts
        for depth, part in enumerate(parts):
            if isinstance(part, Slot):
                yield SequencePlace(cell.number, numbers[Path((*parts[:depth], Length()))], part.index)


def bit_width(protocol: Protocol, further: Iterable[Expr] = ()) -> int:
    """Bits of a signed number that holds every value of every cell and expression."""
    ranges = [(cell.domain.low, cell.domain.high) for cell in protocol.cells]
    ranges += [(node.low, node.high) for node in walk((*expressions(protocol), *further))]
    return max(max((~low if low < 0 else low), (~high if high < 0 else high)).bit_length() for low, high in ranges) + 1


def expressions(protocol: Protocol) -> Iterator[Expr]:
    """What guards, updates, invariants and witnesses consist of."""
    for step in protocol.steps:
        yield from (condition.expr for condition in step.guard)
        yield from (update.value for update in step.updates)
    yield from (predicate.expr for predicate in (*protocol.invariants, *protocol.witnesses))
