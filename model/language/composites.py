"""Symbolic records, maps, sets and sequences.

A composite value is a view of consecutive leaves (see `domains.leaves`) in a *source*: the state being staged, a value
computed from it, or a choice among several places by a symbolic key. Reading a part gives another view; assigning to a
part of the state updates its leaves.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, TypeAlias

from model.errors import ModelError, nearest
from model.language import expr as ex
from model.language.domains import Domain, Leaf, Map, Path, Range, Record, Scalar, Sequence, Set, leaves, slot_domain
from model.language.expr import Expr
from model.language.formula import Binding, Formula, Shape
from model.language.places import here
from model.language.scalars import (
    Member,
    Number,
    Scalarlike,
    Truth,
    as_truth,
    lift,
    member,
    number,
    want_same_none,
    wrap,
)
from model.language.sources import Candidate, Chosen, Computed, Elements, Source, refuse_element

Value: TypeAlias = Any  # a symbolic scalar or composite; which one depends on the domain


class Composite:
    """A view of `width(domain)` leaves of a source, from `base` on."""

    __slots__ = ("_base", "_domain", "_source")
    __hash__ = None  # type: ignore[assignment]  # equality is symbolic

    _domain: Domain
    _source: Source
    _base: int

    def __init__(self, domain: Domain, source: Source, base: int) -> None:
        object.__setattr__(self, "_domain", domain)
        object.__setattr__(self, "_source", source)
        object.__setattr__(self, "_base", base)

    def __eq__(self, other: object) -> Truth:  # type: ignore[override]  # symbolic
        pairs = zip(load(self), lift_composite(other, self._domain), strict=True)
        return Truth(Formula(Shape.ATOM, ex.conjunction(ex.equal(a, b) for a, b in pairs), place=here()))

    def __ne__(self, other: object) -> Truth:  # type: ignore[override]
        return ~(self == other)

    def __bool__(self) -> bool:
        raise ModelError(
            f"a symbolic {type(self).__name__.removesuffix('Value').lower()} has no single truth",
            where=here(),
            instead="Ask for what you mean: is_empty, has(...), length",
        )

    def __repr__(self) -> str:
        return describe(self._domain)

    def _at(self, domain: Domain, offset: int) -> Value:
        return view(domain, self._source, self._base + offset)

    def _assign(self, domain: Domain, offset: int, value: object) -> None:
        for leaf, expr in enumerate(lift_composite(value, domain)):
            self._source.store(self._base + offset + leaf, expr)


class RecordValue(Composite):
    """Named parts, read and assigned as attributes."""

    __slots__ = ()
    _domain: Record

    def __getattr__(self, name: str) -> Value:
        if name.startswith("__"):
            raise AttributeError(name)
        domain, offset = self._field(name)
        return self._at(domain, offset)

    def __setattr__(self, name: str, value: object) -> None:
        self._assign(*self._field(name), value)

    def _field(self, wanted: str) -> tuple[Domain, int]:
        offset = 0
        for name, domain in self._domain.fields.items():
            if name == wanted:
                return domain, offset
            offset += width(domain)
        what = f"there is no variable or field {wanted!r}"
        raise ModelError(what, where=here(), instead=nearest(wanted, self._domain.fields))


class MapValue(Composite):
    """One value for each key; iterating gives the keys."""

    __slots__ = ()
    _domain: Map

    def __iter__(self) -> Iterator[Value]:
        return (member(self._domain.key, code) for code in self._domain.key.codes())

    def __getitem__(self, key: object) -> Value:
        return view(self._domain.value, *self._entry(key))

    def __setitem__(self, key: object, value: object) -> None:
        Composite(self._domain.value, *self._entry(key))._assign(self._domain.value, 0, value)

    def mapped(self, entry: Callable[[Value, Value], object]) -> MapValue:
        """A map with other values: `entry(key, value)` for each key."""
        exprs = (expr for key in self for expr in lift_composite(entry(key, self[key]), self._domain.value))
        return MapValue(self._domain, Computed(tuple(exprs)), 0)

    def _entry(self, key: object) -> tuple[Source, int]:
        domain, size = self._domain, width(self._domain.value)
        index = lift(key, domain.key)
        places = tuple(
            (ex.equal(index, ex.constant(code, index.sort)), self._base + position * size)
            for position, code in enumerate(domain.key.codes())
        )
        return _one_of(domain.value, self._source, places, (index, domain.key))


class SetValue(Composite):
    """A subset. `has` asks, `add` and `remove` change the state, `including` and `without` compute another set."""

    __slots__ = ()
    _domain: Set

    def members(self) -> Iterator[Value]:
        """Everything that could be a member."""
        return (member(self._domain.element, code) for code in self._domain.element.codes())

    def __iter__(self) -> Iterator[Value]:
        raise ModelError(
            "a symbolic set cannot be listed while the protocol is staged",
            where=here(),
            instead="Write all_of(implies(s.has(x), ...) for x in s.members()), or s.all(lambda x: ...)",
        )

    def __contains__(self, item: object) -> bool:
        raise ModelError("`in` would need the set's value while staging", where=here(), instead="Write s.has(x)")

    def __len__(self) -> int:
        raise ModelError("len() would need the set's value while staging", where=here(), instead="Write s.size")

    def has(self, item: object) -> Truth:
        index = lift(item, self._domain.element)
        hits = (ex.conjunction((self._is(index, code), flag)) for code, flag in self._flags())
        return Truth(Formula(Shape.ATOM, ex.disjunction(hits), place=here()))

    def including(self, item: object) -> SetValue:
        index = lift(item, self._domain.element)
        return self._with(lambda code, flag: ex.disjunction((flag, self._is(index, code))))

    def without(self, item: object) -> SetValue:
        index = lift(item, self._domain.element)
        return self._with(lambda code, flag: ex.conjunction((flag, ex.negate(self._is(index, code)))))

    def union(self, other: object) -> SetValue:
        """Everything in this set or the other."""
        pairs = zip(load(self), lift_composite(other, self._domain), strict=True)
        return SetValue(self._domain, Computed(tuple(ex.disjunction(pair) for pair in pairs)), 0)

    def minus(self, other: object) -> SetValue:
        """Everything in this set but not in the other."""
        pairs = zip(load(self), lift_composite(other, self._domain), strict=True)
        return SetValue(self._domain, Computed(tuple(ex.conjunction((a, ex.negate(b))) for a, b in pairs)), 0)

    def just(self, item: object) -> SetValue:
        """The set whose one and only member is `item`."""
        return empty_set(self._domain.element).including(item)

    def add(self, item: object) -> None:
        element = self._domain.element
        self._source.rely_on(lift(item, element), element, "what is added here")
        self._assign(self._domain, 0, self.including(item))

    def remove(self, item: object) -> None:
        self._assign(self._domain, 0, self.without(item))

    @property
    def size(self) -> Number:
        total = ex.constant(0)
        for _, flag in self._flags():
            total = ex.add(total, ex.choose(flag, ex.constant(1), ex.constant(0)))
        return number(total)

    @property
    def is_empty(self) -> Truth:
        flags = (flag for _, flag in self._flags())
        return Truth(Formula(Shape.ATOM, ex.negate(ex.disjunction(flags)), place=here()))

    def is_just(self, item: object) -> Truth:
        """Whether `item` is the one and only member."""
        return self == self.just(item)

    def all(self, holds: Callable[[Value], Truth]) -> Truth:
        """Whether every member satisfies `holds`."""
        return self._quantified(Shape.ALL, holds)

    def any(self, holds: Callable[[Value], Truth]) -> Truth:
        """Whether some member satisfies `holds`."""
        return self._quantified(Shape.ANY, holds)

    def _quantified(self, shape: Shape, holds: Callable[[Value], Truth]) -> Truth:
        name = next(iter(inspect.signature(holds).parameters), "")
        parts = []
        for code, flag in self._flags():
            held = as_truth(holds(member(self._domain.element, code)))
            guard = ex.negate(flag) if shape is Shape.ALL else flag
            combine = ex.disjunction if shape is Shape.ALL else ex.conjunction
            bindings = (Binding(name, self._domain.element.show(code)),)
            inner = (Formula(Shape.ATOM, flag, place=here()), held.formula)
            kind = Shape.IMPLIES if shape is Shape.ALL else Shape.ALL
            parts.append(Formula(kind, combine((guard, held.expr)), inner, bindings, here()))
        junction = ex.conjunction if shape is Shape.ALL else ex.disjunction
        return Truth(Formula(shape, junction(part.expr for part in parts), tuple(parts), place=here()))

    def _flags(self) -> Iterator[tuple[int, Expr]]:
        for position, code in enumerate(self._domain.element.codes()):
            yield code, self._source.load(self._base + position)

    def _is(self, index: Expr, code: int) -> Expr:
        return ex.equal(index, ex.constant(code, index.sort))

    def _with(self, flag_of: Callable[[int, Expr], Expr]) -> SetValue:
        flags = tuple(flag_of(code, flag) for code, flag in self._flags())
        return SetValue(self._domain, Computed(flags), 0)


class SequenceValue(Composite):
    """At most `capacity` elements, numbered from 0. Where there is none, reading gives what an unused place holds: the
    lowest values."""

    __slots__ = ()
    _domain: Sequence

    @property
    def capacity(self) -> int:
        return self._domain.capacity

    @property
    def length(self) -> Number:
        return Number(self._source.load(self._base), length_domain(self._domain))

    @property
    def offsets(self) -> range:
        """Every offset that an element could have."""
        return range(self.capacity)

    @property
    def is_empty(self) -> Truth:
        return self.length == 0

    @property
    def is_full(self) -> Truth:
        return self.length == self.capacity

    def has(self, offset: object) -> Truth:
        """Whether there is an element at `offset`."""
        index = number(lift(offset, length_domain(self._domain)))
        inside = (index >= 0) & (index < self.length)
        return Truth(Formula(Shape.ATOM, inside.expr, place=here()))

    def __getitem__(self, offset: object) -> Value:
        source, base = self._slot(offset)
        return view(self._element, Elements(source), base)

    def __setitem__(self, offset: object, element: object) -> None:
        refuse_element()

    def __iter__(self) -> Iterator[Value]:
        raise ModelError(
            "a symbolic sequence cannot be listed while the protocol is staged",
            where=here(),
            instead="Write all_of(implies(s.has(offset), ...) for offset in s.offsets)",
        )

    def __len__(self) -> int:
        raise ModelError("len() would need the sequence's value while staging", where=here(), instead="Write s.length")

    @property
    def last(self) -> Value:
        """The last element; of an empty sequence, what an unused place holds."""
        return self[self.length - 1]

    def append(self, element: object) -> None:
        """Add one element at the end. On a full sequence this is a fault of the model: require `~is_full` first."""
        length = self.length
        source, base = self._slot(length)
        for leaf, expr in enumerate(self._lifted(element)):
            source.store(base + leaf, expr)
        self._source.store(self._base, (length + 1).expr)

    def _lifted(self, element: object) -> tuple[Expr, ...]:
        """The leaves of a new element, which must name individuals where an unused place need not."""
        exprs = lift_composite(element, self._domain.element)
        stored = leaves_of(self._element)
        for expr, declared, slot in zip(exprs, leaves_of(self._domain.element), stored, strict=True):
            if declared.domain != slot.domain:
                self._source.rely_on(expr, declared.domain, "what is appended here")
        return exprs

    def truncate(self, to: object) -> None:
        """Keep the elements below offset `to`; nothing happens if there are no others."""
        kept = lift(to, length_domain(self._domain))
        unused = [ex.constant(leaf.domain.low, leaf.domain.sort) for leaf in leaves_of(self._element)]
        for offset in self.offsets:
            stays = ex.less(ex.constant(offset), kept)
            base = self._slot_base(offset)
            for leaf, lowest in enumerate(unused):
                self._source.store(base + leaf, ex.choose(stays, self._source.load(base + leaf), lowest))
        self._source.store(self._base, ex.minimum_of(self.length.expr, kept))

    @property
    def _element(self) -> Domain:
        return slot_domain(self._domain.element)

    def _slot_base(self, offset: int) -> int:
        return self._base + 1 + offset * width(self._element)

    def _slot(self, offset: object) -> tuple[Source, int]:
        index = lift(offset, length_domain(self._domain))
        places = tuple((ex.equal(index, ex.constant(at)), self._slot_base(at)) for at in self.offsets)
        return _one_of(self._element, self._source, places)


def length_domain(domain: Sequence) -> Scalar:
    return Range(0, domain.capacity)


def _one_of(
    domain: Domain, source: Source, places: tuple[Candidate, ...], key: tuple[Expr, Scalar] | None = None
) -> tuple[Source, int]:
    """The place whose condition holds: the only one left, when staging can tell."""
    for condition, base in places:
        if condition is ex.TRUE:
            return source, base
    scalars = tuple(leaf.domain for leaf in leaves_of(domain))
    live = tuple((condition, base) for condition, base in places if condition is not ex.FALSE)
    return Chosen(source, live, scalars, key), 0


def view(domain: Domain, source: Source, base: int) -> Value:
    """The value of `domain` that the leaves from `base` on hold."""
    match domain:
        case Record():
            return RecordValue(domain, source, base)
        case Map():
            return MapValue(domain, source, base)
        case Set():
            return SetValue(domain, source, base)
        case Sequence():
            return SequenceValue(domain, source, base)
        case Scalar():
            return wrap(source.load(base), domain)


def load(value: Composite) -> tuple[Expr, ...]:
    """Every leaf of a composite value."""
    return tuple(value._source.load(value._base + leaf) for leaf in range(width(value._domain)))


def lift_composite(value: object, domain: Domain) -> tuple[Expr, ...]:
    """The leaves of anything that can stand for a value of `domain`: a symbolic value, `record(...)`, a Python set."""
    if isinstance(domain, Scalar):
        return (lift(value, domain),)
    if isinstance(value, Composite):
        return _same_shape(value, domain)
    match domain:
        case Record(fields=fields) if isinstance(value, Mapping):
            return _lift_record(value, fields)
        case Set(element) if isinstance(value, set | frozenset):
            return load(_set_of(value, element))
        case _:
            instead = _INSTEAD[type(domain)]
            raise ModelError(f"{value!r} is not a value of {describe(domain)}", where=here(), instead=instead)


_INSTEAD: dict[type[Domain], str] = {
    Record: "Write record(name=value, ...)",
    Map: "Assign to its entries one by one",
    Set: "Write empty_set(domain), full_set(domain) or another set, with including(x) and without(x)",
    Sequence: "Write another sequence, or change this one with append(...) and truncate(...)",
}


def _same_shape(value: Composite, domain: Domain) -> tuple[Expr, ...]:
    if _shape(value._domain) != _shape(domain):
        message = f"{describe(value._domain)} cannot be compared with or assigned to {describe(domain)}"
        raise ModelError(message, where=here())
    for one, other in zip(leaves_of(value._domain), leaves_of(domain), strict=True):
        want_same_none(one.domain, other.domain)
    return load(value)


def _shape(domain: Domain) -> list[tuple[Path, str]]:
    return [(leaf.path, leaf.domain.sort) for leaf in leaves_of(domain)]


def _lift_record(value: Mapping[Any, object], fields: Mapping[str, Domain]) -> tuple[Expr, ...]:
    for name in value:
        if name not in fields:
            raise ModelError(f"there is no field {name!r}", where=here(), instead=nearest(str(name), fields))
    missing = [name for name in fields if name not in value]
    if missing:
        raise ModelError(f"the record lacks {', '.join(missing)}", where=here(), instead="Give every field a value")
    return tuple(expr for name, part in fields.items() for expr in lift_composite(value[name], part))


def record(**fields: object) -> Mapping[str, object]:
    """A record to assign, append or compare: `log.append(record(id=next_id, epoch=epoch))`."""
    return fields


def declares(value: RecordValue, name: str) -> bool:
    """Whether the record's domain has a field of that name."""
    return name in value._domain.fields


def empty_set(element: Scalar) -> SetValue:
    return SetValue(Set(element), Computed((ex.FALSE,) * element.size), 0)


def full_set(element: Scalar) -> SetValue:
    return SetValue(Set(element), Computed((ex.TRUE,) * element.size), 0)


def _set_of(items: set[Any] | frozenset[Any], element: Scalar) -> SetValue:
    result = empty_set(element)
    for item in items:
        result = result.including(item)
    return result


@cache
def width(domain: Domain) -> int:
    """How many leaves a value of the domain has."""
    return len(leaves_of(domain))


@cache
def leaves_of(domain: Domain) -> tuple[Leaf, ...]:
    return tuple(leaves(domain))


def describe(domain: Domain) -> str:
    match domain:
        case Record(fields=fields):
            return f"a record of {', '.join(fields)}"
        case Map(key):
            return f"a map from {key}"
        case Set(element):
            return f"a set of {element}"
        case Sequence(capacity=capacity):
            return f"a sequence of at most {capacity}"
        case Scalar():
            return str(domain)


__all__ = [
    "Composite",
    "Computed",
    "MapValue",
    "Member",
    "RecordValue",
    "Scalarlike",
    "SequenceValue",
    "SetValue",
    "Source",
    "Value",
    "describe",
    "empty_set",
    "full_set",
    "leaves_of",
    "lift_composite",
    "load",
    "record",
    "view",
    "width",
]
