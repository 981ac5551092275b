"""Logic over many: conjunction, disjunction, counting, extremes and choice by condition.

`all_of`, `any_of` and `count` take conditions or one iterable of them. Of a generator the first two also learn the
names and values of its loop variables, so that a violated invariant can say for which replica and offset it fails:

    all_of(agree(leader, follower, offset) for follower in state.replicas for offset in log.offsets)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from types import GeneratorType
from typing import Any

from model.errors import ModelError
from model.language import expr as ex
from model.language.composites import Composite, Computed, Value, lift_composite, load, view
from model.language.domains import Bool, Option, Range, Scalar
from model.language.formula import Binding, Formula, Shape
from model.language.places import here
from model.language.scalars import Number, Scalarlike, Truth, as_truth, lift, none, number, wrap


def all_of(*conditions: Any) -> Truth:
    """Whether every condition holds (true of none)."""
    return _junction(Shape.ALL, conditions)


def any_of(*conditions: Any) -> Truth:
    """Whether some condition holds (false of none)."""
    return _junction(Shape.ANY, conditions)


def implies(condition: Any, consequence: Any) -> Truth:
    """Whether `consequence` holds wherever `condition` does."""
    left, right = as_truth(condition), as_truth(consequence)
    expr = ex.disjunction((ex.negate(left.expr), right.expr))
    return Truth(Formula(Shape.IMPLIES, expr, (left.formula, right.formula), place=here()), left.fixed and right.fixed)


def count(*conditions: Any) -> Number:
    """How many of the conditions hold."""
    total = ex.constant(0)
    for condition, _ in _items(conditions):
        total = ex.add(total, ex.choose(as_truth(condition).expr, ex.constant(1), ex.constant(0)))
    return number(total)


def where(condition: Any, then: Value, otherwise: Value) -> Value:
    """`then` in the states where the condition holds, `otherwise` in the others."""
    test = as_truth(condition).expr
    for value, other in ((then, otherwise), (otherwise, then)):
        if isinstance(value, Composite):
            pairs = zip(load(value), lift_composite(other, value._domain), strict=True)
            return view(value._domain, Computed(tuple(_choose(test, value is then, a, b) for a, b in pairs)), 0)
    domain = _domain_of(then, otherwise)
    chosen = ex.choose(test, lift(then, domain), lift(otherwise, domain))
    return number(chosen) if isinstance(domain, Range) else wrap(chosen, domain)


def _choose(test: ex.Expr, in_order: bool, value: ex.Expr, other: ex.Expr) -> ex.Expr:
    return ex.choose(test, value, other) if in_order else ex.choose(test, other, value)


def first(cases: Iterable[tuple[Any, Value]], *, otherwise: Value) -> Value:
    """The value of the first case whose condition holds, else `otherwise`."""
    result = otherwise
    for condition, value in reversed(list(cases)):
        result = where(condition, value, result)
    return result


def minimum(*values: Any) -> Number:
    """The smallest of the integers given, or of one iterable of them."""
    return _extreme(ex.minimum_of, values)


def maximum(*values: Any) -> Number:
    """The largest of the integers given, or of one iterable of them."""
    return _extreme(ex.maximum_of, values)


def _extreme(pick: Callable[[ex.Expr, ex.Expr], ex.Expr], values: tuple[Any, ...]) -> Number:
    only_one = len(values) == 1 and not isinstance(values[0], Scalarlike | int)
    items = list(values[0]) if only_one else list(values)
    if not items:
        raise ModelError("the smallest or largest of nothing is not defined", where=here(), instead="Give one value")
    result = lift(items[0], Range(0, 0))
    for item in items[1:]:
        result = pick(result, lift(item, Range(0, 0)))
    return number(result)


def _junction(shape: Shape, conditions: tuple[Any, ...]) -> Truth:
    place = here()
    items = list(_items(conditions))
    truths = [as_truth(condition) for condition, _ in items]
    parts = tuple(_bound(truth.formula, bindings) for truth, (_, bindings) in zip(truths, items, strict=True))
    combine = ex.conjunction if shape is Shape.ALL else ex.disjunction
    formula = Formula(shape, combine(truth.expr for truth in truths), parts, place=place)
    return Truth(formula, all(truth.fixed for truth in truths))


def _bound(formula: Formula, bindings: tuple[Binding, ...]) -> Formula:
    if not bindings:
        return formula
    return Formula(formula.shape, formula.expr, formula.parts, (*bindings, *formula.bindings), formula.place)


def _items(conditions: tuple[Any, ...]) -> Iterator[tuple[Any, tuple[Binding, ...]]]:
    if len(conditions) == 1 and isinstance(conditions[0], GeneratorType):
        generator = conditions[0]
        for condition in generator:
            yield condition, _bindings(generator)
    elif len(conditions) == 1 and not isinstance(conditions[0], Scalarlike | bool):
        yield from ((condition, ()) for condition in conditions[0])
    else:
        yield from ((condition, ()) for condition in conditions)


def _bindings(generator: GeneratorType[Any, Any, Any]) -> tuple[Binding, ...]:
    """The loop variables: what the generator sees of the functions around it is not one of them."""
    found = []
    for name, value in inspect.getgeneratorlocals(generator).items():
        if name in generator.gi_code.co_freevars:
            continue
        if isinstance(value, int) and not isinstance(value, bool):
            found.append(Binding(name, str(value)))
        elif isinstance(value, Scalarlike) and value.expr.is_constant:
            found.append(Binding(name, value.domain.show(value.expr.value)))
    return tuple(found)


def _domain_of(*values: object) -> Scalar:
    found = [value.domain for value in values if isinstance(value, Scalarlike)]
    if found:
        options = [domain for domain in found if isinstance(domain, Option)]
        maybe_none = none in [value for value in values if not isinstance(value, Scalarlike)]
        return options[0] if options else Option(found[0]) if maybe_none else found[0]
    if all(isinstance(value, bool) for value in values):
        return Bool()
    numbers = [value for value in values if value is not none]
    if numbers and all(isinstance(value, int) and not isinstance(value, bool) for value in numbers):
        return Range(0, 0) if len(numbers) == len(values) else Option(Range(0, 0))
    raise ModelError("the two alternatives have no common type", where=here(), instead="Give two values of one domain")


__all__ = ["all_of", "any_of", "count", "first", "implies", "maximum", "minimum", "where"]
