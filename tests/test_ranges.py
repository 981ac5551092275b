"""What is folded and what is told of ranges is true: constructors keep the meaning, and no value leaves its range."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from playground import stage
from strategies import expression_pools, protocol_of, scalarsets, states, variables

from model.errors import ModelError
from model.language import Range, Set, evaluate, where
from model.language import expr as ex
from model.language.domains import BOOL, INT
from model.language.expr import Expr, Op
from model.language.protocol import State
from model.language.ranges import facts, span

X = ex.read(0, INT, 0, 3)
Y = ex.read(1, INT, -2, 2)
FLAG = ex.read(2, BOOL, 0, 1)
STATES: tuple[State, ...] = tuple(itertools.product(range(4), range(-2, 3), range(2)))


# Folding


@dataclass(frozen=True)
class Recipe:
    """An operation before it is folded: how to build it, and how Python computes it from the values of its parts."""

    build: Callable[..., Expr]
    compute: Callable[..., int]
    parts: tuple[Recipe, ...]

    def expr(self) -> Expr:
        return self.build(*(part.expr() for part in self.parts))

    def value(self, state: State) -> int:
        return self.compute(*(part.value(state) for part in self.parts))


@dataclass(frozen=True)
class Leaf(Recipe):
    """A constant or a cell."""

    @staticmethod
    def of(expr: Expr) -> Leaf:
        return Leaf(lambda: expr, lambda: 0, ())

    def value(self, state: State) -> int:
        expr = self.expr()
        return state[expr.value] if expr.op is Op.READ else expr.value


Operation: TypeAlias = tuple[Callable[..., Expr], Callable[..., int]]

ON_NUMBERS: Sequence[Operation] = (
    (ex.add, lambda a, b: a + b),
    (ex.subtract, lambda a, b: a - b),
    (ex.multiply, lambda a, b: a * b),
    (ex.minimum_of, min),
    (ex.maximum_of, max),
)
COMPARING_NUMBERS: Sequence[Operation] = (
    (ex.equal, lambda a, b: int(a == b)),
    (ex.less, lambda a, b: int(a < b)),
    (ex.at_most, lambda a, b: int(a <= b)),
)
ON_TRUTHS: Sequence[Operation] = (
    (lambda *parts: ex.conjunction(parts), lambda *values: int(all(values))),
    (lambda *parts: ex.disjunction(parts), lambda *values: int(any(values))),
    (lambda a, b, _: ex.equal(a, b), lambda a, b, _: int(a == b)),
    (lambda a, *_: ex.negate(a), lambda a, *_: 1 - a),
    (ex.choose, lambda condition, then, otherwise: then if condition else otherwise),
)

PLAIN_NUMBERS = [Leaf.of(X), Leaf.of(Y), *(Leaf.of(ex.constant(value)) for value in range(-2, 4))]
PLAIN_TRUTHS = [Leaf.of(FLAG), Leaf.of(ex.TRUE), Leaf.of(ex.FALSE)]


@st.composite
def recipes(draw: DrawFn, sort: str, depth: int = 4) -> Recipe:
    """Recipes of a sort, at most `depth` operations deep. Operands are often equal, for that is what folds."""
    if not depth or draw(st.booleans()):
        return draw(st.sampled_from(PLAIN_NUMBERS if sort == INT else PLAIN_TRUTHS))

    def parts(wanted: str, count: int) -> tuple[Recipe, ...]:
        drawn: list[Recipe] = []
        for _ in range(count):
            again = bool(drawn) and draw(st.booleans())
            drawn.append(draw(st.sampled_from(drawn)) if again else draw(recipes(wanted, depth - 1)))
        return tuple(drawn)

    if sort == INT and draw(st.booleans()):
        return Recipe(*draw(st.sampled_from(ON_NUMBERS)), parts(INT, 2))
    if sort == INT:
        return Recipe(*ON_TRUTHS[-1], (*parts(BOOL, 1), *parts(INT, 2)))
    if draw(st.booleans()):
        return Recipe(*draw(st.sampled_from(COMPARING_NUMBERS)), parts(INT, 2))
    return Recipe(*draw(st.sampled_from(ON_TRUTHS)), parts(BOOL, 3))


@given(st.sampled_from([INT, BOOL]).flatmap(recipes))
def test_constructors_keep_the_meaning_and_the_range(recipe: Recipe) -> None:
    expr = recipe.expr()
    for state in STATES:
        value = evaluate(expr, state)
        assert value == recipe.value(state)
        assert expr.low <= value <= expr.high


@given(st.sampled_from([INT, BOOL]).flatmap(recipes))
def test_equal_expressions_are_the_same_object(recipe: Recipe) -> None:
    first, again = recipe.expr(), recipe.expr()
    assert first is again


@pytest.mark.parametrize(
    ("folded", "to"),
    [
        (ex.add(ex.add(X, ex.constant(2)), ex.constant(-2)), X),
        (ex.subtract(X, X), ex.constant(0)),
        (ex.multiply(X, ex.constant(0)), ex.constant(0)),
        (ex.less(X, ex.constant(4)), ex.TRUE),
        (ex.less(X, ex.constant(0)), ex.FALSE),
        (ex.less(Y, X), ex.less(Y, X)),
        (ex.equal(X, ex.constant(4)), ex.FALSE),
        (ex.equal(FLAG, ex.TRUE), FLAG),
        (ex.equal(ex.FALSE, FLAG), ex.negate(FLAG)),
        (ex.negate(ex.negate(FLAG)), FLAG),
        (ex.conjunction([FLAG, ex.negate(FLAG)]), ex.FALSE),
        (ex.disjunction([FLAG, ex.TRUE]), ex.TRUE),
        (ex.conjunction([]), ex.TRUE),
        (ex.conjunction([FLAG, FLAG]), FLAG),
        (ex.choose(FLAG, X, X), X),
        (ex.choose(ex.negate(FLAG), X, Y), ex.choose(FLAG, Y, X)),
        (ex.choose(FLAG, ex.choose(FLAG, X, Y), Y), ex.choose(FLAG, X, Y)),
        (ex.choose(FLAG, ex.TRUE, ex.FALSE), FLAG),
        (ex.choose(FLAG, ex.FALSE, ex.TRUE), ex.negate(FLAG)),
        (ex.minimum_of(X, ex.constant(5)), X),
        (ex.maximum_of(ex.constant(-3), Y), Y),
        (ex.read(0, INT, 2, 2), ex.constant(2)),
    ],
)
def test_what_is_folded(folded: Expr, to: Expr) -> None:
    assert folded is to


@pytest.mark.parametrize(
    ("expr", "low", "high"),
    [
        (ex.add(X, Y), -2, 5),
        (ex.subtract(X, Y), -2, 5),
        (ex.multiply(X, Y), -6, 6),
        (ex.choose(FLAG, X, Y), -2, 3),
        (ex.minimum_of(X, Y), -2, 2),
        (ex.maximum_of(X, Y), 0, 3),
    ],
)
def test_ranges_are_tight(expr: Expr, low: int, high: int) -> None:
    assert (expr.low, expr.high) == (low, high)


@pytest.mark.parametrize(
    "mistake",
    [
        lambda: ex.negate(X),
        lambda: ex.conjunction([FLAG, X]),
        lambda: ex.less(X, FLAG),
        lambda: ex.add(FLAG, FLAG),
        lambda: ex.equal(X, FLAG),
        lambda: ex.equal(X, ex.constant(1, "Client")),
        lambda: ex.choose(X, X, X),
        lambda: ex.choose(FLAG, X, FLAG),
    ],
)
def test_sorts_do_not_mix(mistake: Callable[[], Expr]) -> None:
    with pytest.raises(ModelError, match="a value of type"):
        mistake()


def test_every_node_is_visited_once_and_after_its_arguments() -> None:
    shared = ex.add(X, Y)
    root = ex.choose(ex.less(shared, X), ex.multiply(shared, shared), Y)
    nodes = list(ex.walk([root, shared]))
    assert len(nodes) == len(set(nodes)) == 6
    assert all(nodes.index(arg) < nodes.index(node) for node in nodes for arg in node.args)
    assert ex.cells_read(root) == (0, 1)


def test_a_long_cascade_of_conditions_does_not_exhaust_the_stack() -> None:
    index = ex.read(0, INT, 0, 5_000)
    value = ex.constant(-1)
    for at in range(5_000):
        value = ex.choose(ex.equal(index, ex.constant(at)), ex.constant(at), value)
    assert evaluate(value, (0,)) == 0
    assert evaluate(value, (5_000,)) == -1
    assert span(value, {}) == (-1, 4_999)


# Ranges under a guard


@given(st.data())
def test_no_value_leaves_its_span_where_the_guard_holds(data: st.DataObject) -> None:
    found = data.draw(variables(data.draw(scalarsets()), largest=8))
    bare = protocol_of(found)
    pools = data.draw(expression_pools(bare.cells, size=20))
    guard = data.draw(st.lists(st.sampled_from(pools[BOOL]), max_size=3))
    known = facts(guard)
    for state in data.draw(st.lists(states(bare), min_size=1, max_size=10)):
        if all(evaluate(conjunct, state) for conjunct in guard):
            for expr in (expr for pool in pools.values() for expr in pool):
                low, high = span(expr, known)
                assert low <= evaluate(expr, state) <= high, expr


@settings(max_examples=200)
@given(st.lists(recipes(BOOL), max_size=3), recipes(INT))
def test_spans_are_right_in_every_state(guard: list[Recipe], recipe: Recipe) -> None:
    conjuncts, expr = [part.expr() for part in guard], recipe.expr()
    low, high = span(expr, facts(conjuncts))
    reached = [evaluate(expr, state) for state in STATES if all(evaluate(part, state) for part in conjuncts)]
    assert all(low <= value <= high for value in reached)


@pytest.mark.parametrize(
    ("guard", "expr", "expected"),
    [
        ([ex.less(X, ex.constant(3))], ex.add(X, ex.constant(1)), (1, 3)),
        ([ex.at_most(ex.constant(1), X)], ex.subtract(X, ex.constant(1)), (0, 2)),
        ([ex.less(X, Y)], X, (0, 1)),
        ([ex.less(X, Y)], Y, (1, 2)),
        ([ex.equal(X, Y)], ex.add(X, Y), (0, 4)),
        ([ex.negate(ex.equal(Y, ex.constant(-2)))], Y, (-1, 2)),
        ([ex.negate(ex.equal(Y, ex.constant(0)))], Y, (-2, 2)),
        ([ex.negate(ex.disjunction([FLAG, ex.less(X, ex.constant(2))]))], X, (2, 3)),
        ([ex.less(ex.add(X, ex.constant(1)), ex.constant(3))], X, (0, 1)),
        ([ex.less(X, ex.constant(1)), ex.less(ex.constant(1), X)], X, (2, 0)),
        ([ex.negate(ex.conjunction([FLAG, ex.less(X, ex.constant(2))]))], X, (0, 3)),
        ([ex.disjunction([FLAG, ex.less(X, ex.constant(2))])], X, (0, 3)),
        ([], ex.choose(ex.conjunction([FLAG, ex.less(X, ex.constant(2))]), X, ex.constant(0)), (0, 1)),
        ([], ex.choose(ex.conjunction([FLAG, ex.less(X, ex.constant(2))]), ex.constant(0), X), (0, 3)),
        ([FLAG], ex.choose(FLAG, X, Y), (0, 3)),
        ([ex.negate(FLAG)], ex.choose(FLAG, X, Y), (-2, 2)),
        ([], ex.choose(ex.less(X, ex.constant(3)), ex.add(X, ex.constant(1)), X), (1, 3)),
        ([ex.less(X, ex.constant(2))], ex.choose(ex.less(X, ex.constant(2)), X, Y), (0, 1)),
    ],
)
def test_what_a_guard_tells(guard: list[Expr], expr: Expr, expected: tuple[int, int]) -> None:
    assert span(expr, facts(guard)) == expected


def test_many_conditional_updates_are_staged_in_reasonable_time() -> None:
    """Each alternative is looked at twice, so that without a limit the work would double forty times."""

    def act(state: Any) -> None:
        for mark in state.marks.members():
            state.number = where(state.marks.has(mark), state.number + 1, state.number)

    made = stage(act, extra={"marks": Set(Range(0, 39))})
    assert not made.steps[0].updates[0].proved
