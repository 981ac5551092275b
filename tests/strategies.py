"""Random domains, expressions, states, protocols and groups, for tests that compare one lowering with another.

    @given(protocols(), st.data())
    def test_something(protocol, data):
        state = data.draw(states(protocol))

Sizes are small on purpose: a fault that shows with large numbers nearly always shows with small ones, and shrinks
better.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations as arrangements

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from checker.prove.certificate import Component, Group
from model.language import expr as ex
from model.language.domains import (
    BOOL,
    INT,
    Bool,
    Domain,
    Enum,
    Map,
    Option,
    Range,
    Record,
    Scalar,
    Scalarset,
    Set,
    leaves,
)
from model.language.domains import Sequence as SequenceDomain
from model.language.expr import Expr
from model.language.formula import Formula, Shape
from model.language.protocol import Action, Cell, Condition, Permutation, Predicate, Protocol, State, Step, Update

LARGEST_RANGE = 2**40
"""No expression of the pools gets wider than this, so that machine integers hold them all."""

Pools = dict[str, list[Expr]]


# Domains


@st.composite
def scalarsets(draw: DrawFn, largest: int = 4) -> tuple[Scalarset, ...]:
    """One or two scalarsets, named Replica and Client."""
    counts = draw(st.lists(st.integers(1, largest), min_size=1, max_size=2))
    return tuple(Scalarset(name, count) for name, count in zip(("Replica", "Client"), counts, strict=False))


def scalars(individuals: Sequence[Scalarset]) -> SearchStrategy[Scalar]:
    """Scalar domains over these scalarsets, domains with a single member included."""
    plain = st.one_of(
        st.builds(lambda low, size: Range(low, low + size), st.integers(-3, 3), st.integers(0, 6)),
        st.just(Enum("Phase", ("idle", "busy", "done"))),
        st.sampled_from(list(individuals)),
    )
    return st.one_of(st.just(Bool()), plain, plain.map(Option))


def domains(individuals: Sequence[Scalarset]) -> SearchStrategy[Domain]:
    """Scalar and composite domains, up to sets of members in records in maps."""
    scalar = scalars(individuals)
    key = st.one_of(st.sampled_from(list(individuals)), st.builds(lambda high: Range(0, high), st.integers(0, 2)))

    def composites(inner: SearchStrategy[Domain]) -> SearchStrategy[Domain]:
        records = st.lists(inner, min_size=1, max_size=3).map(lambda parts: Record(**named(parts)))
        sequences = st.builds(SequenceDomain, inner, st.integers(0, 2))
        return st.one_of(st.builds(Map, key, inner), key.map(Set), records, sequences)

    return st.recursive(st.one_of(scalar, key.map(Set)), composites, max_leaves=4)


def variables(individuals: Sequence[Scalarset], largest: int = 60) -> SearchStrategy[dict[str, Domain]]:
    """One to four variables with at most `largest` cells in all."""
    found = st.lists(domains(individuals), min_size=1, max_size=4).map(named)
    return found.filter(lambda each: sum(1 for _ in leaves(Record(**each))) <= largest)


def named(parts: Sequence[Domain]) -> dict[str, Domain]:
    """The parts under the names first, second, …"""
    return dict(zip(("first", "second", "third", "fourth"), parts, strict=False))


# Expressions


@st.composite
def expression_pools(draw: DrawFn, cells: Sequence[Cell], size: int = 12) -> Pools:
    """Expressions over the cells, by sort. Later ones are made of earlier ones, so that they share much."""
    pools: Pools = {BOOL: [ex.TRUE, ex.FALSE], INT: [ex.constant(draw(st.integers(-3, 5))) for _ in range(2)]}
    for cell in cells:
        values = pools.setdefault(cell.domain.sort, [])
        values.append(cell.read())
        values.append(ex.constant(draw(st.sampled_from(cell.domain.codes())), cell.domain.sort))
    for _ in range(draw(st.integers(0, size))):
        made = draw(_grown(pools))
        if made.high - made.low <= LARGEST_RANGE:
            pools[made.sort].append(made)
    return pools


@st.composite
def _grown(draw: DrawFn, pools: Pools) -> Expr:
    """One more operation on what is there."""

    def one(sort: str) -> Expr:
        return draw(st.sampled_from(pools[sort]))

    def several() -> list[Expr]:
        return draw(st.lists(st.sampled_from(pools[BOOL]), min_size=2, max_size=4))

    sort = draw(st.sampled_from(sorted(pools)))
    makers = {
        "negate": lambda: ex.negate(one(BOOL)),
        "conjunction": lambda: ex.conjunction(several()),
        "disjunction": lambda: ex.disjunction(several()),
        "equal": lambda: ex.equal(one(sort), one(sort)),
        "less": lambda: ex.less(one(INT), one(INT)),
        "add": lambda: ex.add(one(INT), one(INT)),
        "subtract": lambda: ex.subtract(one(INT), one(INT)),
        "multiply": lambda: ex.multiply(one(INT), one(INT)),
        "minimum": lambda: ex.minimum_of(one(INT), one(INT)),
        "maximum": lambda: ex.maximum_of(one(INT), one(INT)),
        "choose": lambda: ex.choose(one(BOOL), one(sort), one(sort)),
    }
    return makers[draw(st.sampled_from(sorted(makers)))]()


# Protocols


@st.composite
def protocols(draw: DrawFn, individuals: Sequence[Scalarset] | None = None, largest: int = 40) -> Protocol:
    """A protocol with up to eight steps over random variables; its expressions come from one pool.

    Some steps assign outside a domain, in some states or in all. Nothing in it is symmetric, except by chance.
    """
    found = draw(variables(individuals or draw(scalarsets()), largest))
    bare = protocol_of(found)
    pools = draw(expression_pools(bare.cells, size=30))
    steps = tuple(draw(_step(number, bare.cells, pools)) for number in range(draw(st.integers(0, 8))))
    predicates = tuple(draw(_predicate(number, pools)) for number in range(draw(st.integers(0, 6))))
    middle = draw(st.integers(0, len(predicates)))
    return protocol_of(found, steps, predicates[:middle], predicates[middle:], (draw(states(bare)),))


def protocol_of(
    variables: Mapping[str, Domain],
    steps: Sequence[Step] = (),
    invariants: Sequence[Predicate] = (),
    witnesses: Sequence[Predicate] = (),
    initial: Sequence[State] = (),
) -> Protocol:
    """A protocol in which each step is an action of its own."""
    actions = tuple(Action(step.action, (), True, None, "") for step in steps)
    lowest = tuple(leaf.domain.low for leaf in leaves(Record(**variables)))
    parts = tuple(steps), tuple(invariants), tuple(witnesses), tuple(initial) or (lowest,)
    protocol = Protocol("random", variables, actions, *parts)
    protocol.check()
    return protocol


@st.composite
def _step(draw: DrawFn, number: int, cells: Sequence[Cell], pools: Pools) -> Step:
    guard = draw(st.lists(st.sampled_from(pools[BOOL]), max_size=3))
    assigned = draw(st.lists(st.sampled_from(list(cells)), max_size=4, unique=True)) if cells else []
    updates = tuple(update(cell, draw(st.sampled_from(pools[cell.domain.sort]))) for cell in assigned)
    return Step(number, f"action{number}", (), tuple(Condition(expr, None) for expr in guard), updates)


def update(cell: Cell, value: Expr) -> Update:
    """Assign the value; it counts as proved if its own range shows that it fits."""
    return Update(cell.number, value, None, cell.domain.low <= value.low and value.high <= cell.domain.high)


@st.composite
def _predicate(draw: DrawFn, number: int, pools: Pools) -> Predicate:
    return predicate(f"Predicate{number}", draw(st.sampled_from(pools[BOOL])))


def predicate(name: str, expr: Expr) -> Predicate:
    return Predicate(name, Formula(Shape.ATOM, expr), None, "")


# States


def states(protocol: Protocol) -> SearchStrategy[State]:
    """Any type-correct state, reachable or not; half of them with nearly all cells at their lowest value, where
    individuals are hard to tell apart."""
    anything = st.tuples(*(st.sampled_from(cell.domain.codes()) for cell in protocol.cells))
    return st.one_of(anything, _plain_states(protocol))


@st.composite
def _plain_states(draw: DrawFn, protocol: Protocol) -> State:
    state = [cell.domain.low for cell in protocol.cells]
    for cell in draw(st.lists(st.sampled_from(protocol.cells), max_size=4)) if protocol.cells else []:
        state[cell.number] = draw(st.sampled_from(cell.domain.codes()))
    return tuple(state)


# Groups


@st.composite
def groups(draw: DrawFn, protocol: Protocol) -> Group:
    """A product of full permutation groups on disjoint sets of members; trivial now and then."""
    components = []
    for scalarset in protocol.scalarsets:
        part_of = draw(st.lists(st.integers(0, 2), min_size=scalarset.count, max_size=scalarset.count))
        for part in (0, 1):  # members of part 2 stay where they are
            members = tuple(member for member, drawn in enumerate(part_of) if drawn == part)
            if len(members) > 1:
                components.append(Component(scalarset.name, members))
    return Group(tuple(components), protocol.scalarsets)


@st.composite
def elements(draw: DrawFn, group: Group) -> tuple[Permutation, ...]:
    """One permutation for each component; apply them one after the other."""
    counts = {scalarset.name: scalarset.count for scalarset in group.scalarsets}
    return tuple(draw(_arrangement(part, counts[part.scalarset])) for part in group.components)


@st.composite
def _arrangement(draw: DrawFn, part: Component, count: int) -> Permutation:
    image = list(range(count))
    for member, target in zip(part.members, draw(st.sampled_from(list(arrangements(part.members)))), strict=True):
        image[member] = target
    return Permutation(part.scalarset, tuple(image))


def permuted(protocol: Protocol, state: State, element: Sequence[Permutation]) -> State:
    """The state after the permutations of an element, in any order."""
    for permutation in element:
        state = protocol.permuted(state, permutation)
    return state
