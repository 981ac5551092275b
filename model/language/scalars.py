"""Symbolic scalars: what a protocol's functions compute with while they are staged.

`Truth`, `Number` and `Member` wrap an expression and give it Python's operators. They stand for *every* value at once,
so Python cannot branch on them: `if`, `and`, `or`, `not` and `in` on a symbolic value are errors that say what to write
instead (`where`, `&`, `|`, `~`, `has`).
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from model.errors import ModelError, nearest
from model.language import expr as ex
from model.language.domains import BOOL, INT, Bool, Enum, Json, Option, Range, Scalar, Scalarset
from model.language.expr import Expr
from model.language.formula import Formula, Shape
from model.language.places import here


class _None:
    """The value of an option that holds nothing."""

    def __repr__(self) -> str:
        return "none"


none: Final = _None()

#: What may stand where a scalar is wanted.
Liftable: TypeAlias = "Scalarlike | bool | int | str | _None"


class Scalarlike:
    """What the three kinds share. `domain` is what is known of the value's origin."""

    __slots__ = ("domain", "expr")

    def __init__(self, expr: Expr, domain: Scalar) -> None:
        self.expr = expr
        self.domain = domain

    def __eq__(self, other: object) -> Truth:  # type: ignore[override]  # symbolic, as in every embedded language
        return _atom(ex.equal(self.expr, lift(other, self.domain)), self._fixed_with(other))

    def __ne__(self, other: object) -> Truth:  # type: ignore[override]
        return ~(self == other)

    def __hash__(self) -> int:
        raise ModelError(
            "a symbolic value cannot stand in a Python set or be the key of a dictionary",
            where=here(),
            why="Whether two of them are equal differs from state to state",
            instead="Write empty_set(domain).including(x)",
        )

    @property
    def is_none(self) -> Truth:
        if not isinstance(self.domain, Option):
            raise ModelError(f"a value of {self.domain} is never none", where=here())
        return self == none

    @property
    def is_some(self) -> Truth:
        return ~self.is_none

    def __bool__(self) -> bool:
        raise ModelError(
            "a symbolic value has no single truth while the protocol is staged",
            where=here(),
            why="Python's if, and, or, not and in cannot look at every state at once",
            instead="Restrict a step with require(...), choose with where(condition, a, b), combine conditions with "
            "&, |, ~, all_of(...) and any_of(...)",
        )

    def _fixed_with(self, other: object) -> bool:
        return self.expr.is_constant and (not isinstance(other, Scalarlike) or other.expr.is_constant)

    def __repr__(self) -> str:
        return self.domain.show(self.expr.value) if self.expr.is_constant else f"a value of {self.domain}"


class Truth(Scalarlike):
    """A condition. `fixed` says that it depends on parameters alone, not on the state."""

    __slots__ = ("fixed", "formula")

    def __init__(self, formula: Formula, fixed: bool = False) -> None:
        super().__init__(formula.expr, Bool())
        self.formula = formula
        self.fixed = fixed

    def __and__(self, other: object) -> Truth:
        return both(Shape.ALL, self, as_truth(other))

    def __or__(self, other: object) -> Truth:
        return both(Shape.ANY, self, as_truth(other))

    __rand__ = __and__
    __ror__ = __or__

    def __invert__(self) -> Truth:
        formula = Formula(Shape.NOT, ex.negate(self.expr), (self.formula,), place=here())
        return Truth(formula, self.fixed)

    def __bool__(self) -> bool:
        if self.expr.is_constant:
            return bool(self.expr.value)
        return super().__bool__()


class Number(Scalarlike):
    """An integer, with exact ranges: arithmetic never wraps."""

    __slots__ = ()

    def __add__(self, other: object) -> Number:
        return number(ex.add(self.expr, lift(other, self.domain)))

    def __radd__(self, other: object) -> Number:
        return number(ex.add(lift(other, self.domain), self.expr))

    def __sub__(self, other: object) -> Number:
        return number(ex.subtract(self.expr, lift(other, self.domain)))

    def __rsub__(self, other: object) -> Number:
        return number(ex.subtract(lift(other, self.domain), self.expr))

    def __mul__(self, other: object) -> Number:
        return number(ex.multiply(self.expr, lift(other, self.domain)))

    __rmul__ = __mul__

    def __lt__(self, other: object) -> Truth:
        return _atom(ex.less(self.expr, lift(other, self.domain)), self._fixed_with(other))

    def __gt__(self, other: object) -> Truth:
        return _atom(ex.less(lift(other, self.domain), self.expr), self._fixed_with(other))

    def __le__(self, other: object) -> Truth:
        return _atom(ex.at_most(self.expr, lift(other, self.domain)), self._fixed_with(other))

    def __ge__(self, other: object) -> Truth:
        return _atom(ex.at_most(lift(other, self.domain), self.expr), self._fixed_with(other))

    def __index__(self) -> int:
        """A parameter's value, for Python's own use (`range(epoch)`)."""
        if not self.expr.is_constant:
            raise ModelError(
                "a symbolic number has no single value while the protocol is staged",
                where=here(),
                instead="Index the state with it, or quantify over every value with all_of or any_of",
            )
        return self.expr.value


class Member(Scalarlike):
    """A member of an enumeration or scalarset, or an option of one."""

    __slots__ = ()

    @property
    def position(self) -> int:
        """Where a parameter stands among the members. A protocol that uses it treats members differently, and the
        prover will find that out."""
        if not self.expr.is_constant:
            raise ModelError("only a parameter or a quantified member has a position", where=here())
        return self.expr.value


def number(expr: Expr) -> Number:
    return Number(expr, Range(expr.low, expr.high))


def as_truth(value: object) -> Truth:
    """A condition, from a condition or from Python's True and False."""
    if isinstance(value, Truth):
        return value
    if isinstance(value, bool):
        return Truth(Formula(Shape.ATOM, ex.truth(value), place=here()), fixed=True)
    raise ModelError(f"{value!r} is not a condition", where=here(), instead="Write a comparison such as x == y")


def both(shape: Shape, left: Truth, right: Truth) -> Truth:
    """A conjunction or disjunction of two, kept flat so that a chain of & reads as one list of parts."""
    parts = (*_parts(shape, left.formula), *_parts(shape, right.formula))
    junction = ex.conjunction if shape is Shape.ALL else ex.disjunction
    formula = Formula(shape, junction((left.expr, right.expr)), parts, place=here())
    return Truth(formula, left.fixed and right.fixed)


def _parts(shape: Shape, formula: Formula) -> tuple[Formula, ...]:
    return formula.parts if formula.shape is shape and not formula.bindings else (formula,)


def _atom(expr: Expr, fixed: bool) -> Truth:
    return Truth(Formula(Shape.ATOM, expr, place=here()), fixed)


def wrap(expr: Expr, domain: Scalar) -> Truth | Number | Member:
    """The symbolic value of an expression whose values come from `domain`."""
    match domain.sort:
        case "bool":
            return Truth(Formula(Shape.ATOM, expr, place=here()), fixed=expr.is_constant)
        case "int":
            return Number(expr, domain)
        case _:
            return Member(expr, domain)


def member(domain: Scalar, code: int) -> Truth | Number | Member:
    """One fixed value of a domain."""
    return wrap(ex.constant(code, domain.sort), domain)


def lift(value: object, domain: Scalar) -> Expr:
    """The expression of anything that can stand for a value of `domain`'s sort. Raises `ModelError` otherwise."""
    if isinstance(value, Scalarlike):
        if value.expr.sort != domain.sort:
            raise ModelError(
                f"a value of {value.domain} cannot be compared with or assigned to one of {domain}", where=here()
            )
        want_same_none(value.domain, domain)
        return value.expr
    if isinstance(value, _None):
        return _none_of(domain)
    if domain.sort == BOOL and isinstance(value, bool):
        return ex.truth(value)
    if domain.sort == INT and isinstance(value, int) and not isinstance(value, bool):
        return ex.constant(value)
    if isinstance(value, str) and domain.sort not in (BOOL, INT):
        return ex.constant(_code_named(value, domain), domain.sort)
    instead = "Write none, which model.language defines" if value is None else ""
    raise ModelError(f"{value!r} is not a value of {domain}", where=here(), instead=instead)


def want_same_none(one: Scalar, other: Scalar) -> None:
    """None is stored as the number below the lowest, which another option may need for a value."""
    if isinstance(one, Option) and isinstance(other, Option) and one.none != other.none:
        raise ModelError(
            f"{one} cannot be compared with, or assigned to, {other}",
            where=here(),
            why="None lies just below the numbers, so it differs between the two",
            instead="Let both ranges begin with the same number",
        )


def _none_of(domain: Scalar) -> Expr:
    if not isinstance(domain, Option):
        raise ModelError(
            f"none is not a value of {domain}", where=here(), instead="Declare the domain as Option(...) if it may be"
        )
    return ex.constant(domain.none, domain.sort)


def _code_named(name: str, domain: Scalar) -> int:
    named: Any = domain.inner if isinstance(domain, Option) else domain
    assert isinstance(named, Enum | Scalarset)
    as_json: Json = name
    try:
        return named.code_of(as_json)
    except ValueError:
        why = f"{named.name} has no member {name!r}"
        raise ModelError(why, where=here(), instead=nearest(name, named.members)) from None
