"""Domains: the finite sets that variables, parameters and their parts range over.

A *scalar* domain is a run of integers `low..high`; its members are written as their codes everywhere below the surface
(`False, True` = 0, 1; members of an enumeration or a scalarset = 0, 1, …; `none` of an option = one below the lowest
value). A *composite* domain is a tree of scalars: `leaves` lists them, and a variable of that domain is stored as one
cell for each leaf.

    >>> Option(Scalarset("Replica", 3)).size
    4
    >>> [str(leaf.path) for leaf in leaves(Map(Scalarset("Replica", 2), Record(up=Bool())))]
    ['[A].up', '[B].up']
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from model.errors import ModelError

Json: TypeAlias = "bool | int | str | list[Json] | dict[str, Json] | None"

BOOL = "bool"
INT = "int"


class Scalar:
    """A finite run of integers. Subclasses say what the integers mean."""

    __slots__ = ()

    low: int
    high: int

    @property
    def sort(self) -> str:
        """What the values may be compared with: `bool`, `int`, or the name of an enumeration or scalarset."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        return self.high - self.low + 1

    @property
    def bits(self) -> int:
        """Bits that a packed value takes; a domain of one member takes none."""
        return (self.size - 1).bit_length()

    def codes(self) -> range:
        return range(self.low, self.high + 1)

    def covers(self, low: int, high: int) -> bool:
        """Whether every integer of `low..high` is a code of this domain (of an empty run, every one is)."""
        return low > high or (self.low <= low and high <= self.high)

    def show(self, code: int) -> str:
        """How a reader sees the value."""
        return str(code)

    def to_json(self, code: int) -> Json:
        return code

    def code_of(self, value: Json) -> int:
        """The inverse of `to_json`; raises `ValueError` for what is no member."""
        if isinstance(value, bool) or not isinstance(value, int) or not self.low <= value <= self.high:
            raise ValueError(f"{value!r} is not in {self}")
        return value

    def __str__(self) -> str:
        return f"{self.low}..{self.high}"


def shown_outside(domain: Scalar, code: int) -> str:
    """How a reader sees a code that is not in the domain: where members have names, it can only be none."""
    return str(code) if domain.sort == INT else "none"


def _require_nonempty(domain: Scalar) -> None:
    if domain.size < 1:
        raise ModelError(f"the domain {domain} is empty", instead="A range needs low <= high, other domains a member")


def _require_own_name(name: str) -> None:
    if name in (BOOL, INT):
        raise ModelError(f"a domain cannot be named {name!r}", instead="Name it after what its members are")


@dataclass(frozen=True, slots=True)
class Bool(Scalar):
    """False and true."""

    low: int = field(default=0, init=False)
    high: int = field(default=1, init=False)

    @property
    def sort(self) -> str:
        return BOOL

    def show(self, code: int) -> str:
        return "yes" if code else "no"

    def to_json(self, code: int) -> Json:
        return bool(code)

    def code_of(self, value: Json) -> int:
        if not isinstance(value, bool):
            raise ValueError(f"{value!r} is not true or false")
        return int(value)

    def __str__(self) -> str:
        return "boolean"


@dataclass(frozen=True, slots=True)
class Range(Scalar):
    """The integers `low..high`. `label` is how stories name a value: `Range(0, 2, label="m{}")` shows m0, m1, m2."""

    low: int
    high: int
    label: str = field(default="{}", compare=False)

    def __post_init__(self) -> None:
        _require_nonempty(self)
        if "{}" not in self.label:
            raise ModelError(f"the label {self.label!r} names every value alike", instead="Write {} for the number")

    @property
    def sort(self) -> str:
        return INT

    def show(self, code: int) -> str:
        return self.label.format(code)

    def __str__(self) -> str:
        return f"{self.low}..{self.high}"


class _Named(Scalar):
    """What enumerations and scalarsets share: members with names, coded 0, 1, …"""

    __slots__ = ()

    name: str

    @property
    def members(self) -> tuple[str, ...]:
        raise NotImplementedError

    @property
    def sort(self) -> str:
        return self.name

    def show(self, code: int) -> str:
        return self.members[code]

    def to_json(self, code: int) -> Json:
        return self.members[code]

    def code_of(self, value: Json) -> int:
        if value not in self.members:
            raise ValueError(f"{value!r} is not one of {', '.join(self.members)}")
        return self.members.index(str(value))

    def __str__(self) -> str:
        return f"{self.name}({', '.join(self.members)})"


@dataclass(frozen=True, slots=True)
class Enum(_Named):
    """Named alternatives, each with a meaning of its own: `Enum("Phase", ("idle", "preparing"))`."""

    name: str
    members: tuple[str, ...]
    low: int = field(default=0, init=False)
    high: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "members", tuple(self.members))
        object.__setattr__(self, "high", len(self.members) - 1)
        _require_own_name(self.name)
        _require_nonempty(self)
        if len(set(self.members)) < len(self.members):
            raise ModelError(f"{self} names a member twice", instead="Give every member a name of its own")


@dataclass(frozen=True, slots=True)
class Scalarset(_Named):
    """Interchangeable individuals, such as replicas: `Scalarset("Replica", 3)` has the members A, B and C.

    Being a scalarset licenses nothing by itself: the prover decides which permutations are harmless.
    """

    name: str
    count: int
    low: int = field(default=0, init=False)
    high: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "high", self.count - 1)
        _require_own_name(self.name)
        _require_nonempty(self)

    @property
    def members(self) -> tuple[str, ...]:
        return tuple(individual_name(index) for index in range(self.count))


def individual_name(index: int) -> str:
    """A, B, …, Z, A1, B1, …"""
    letter = chr(ord("A") + index % 26)
    return letter if index < 26 else f"{letter}{index // 26}"


@dataclass(frozen=True, slots=True)
class Option(Scalar):
    """A value of `inner`, or none. Among numbers none lies just below them: in `Option(Range(0, 3))` it compares, and
    computes, as -1."""

    inner: Scalar
    low: int = field(default=0, init=False)
    high: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        if isinstance(self.inner, Option | Bool):
            raise ModelError(f"an option of {self.inner} is ambiguous", instead="Use an Enum that names the cases")
        object.__setattr__(self, "low", self.inner.low - 1)
        object.__setattr__(self, "high", self.inner.high)

    @property
    def sort(self) -> str:
        return self.inner.sort

    @property
    def none(self) -> int:
        return self.low

    def show(self, code: int) -> str:
        return "none" if code == self.none else self.inner.show(code)

    def to_json(self, code: int) -> Json:
        return None if code == self.none else self.inner.to_json(code)

    def code_of(self, value: Json) -> int:
        return self.none if value is None else self.inner.code_of(value)

    def __str__(self) -> str:
        return f"none or {self.inner}"


@dataclass(frozen=True, slots=True)
class Map:
    """A total function from a scalar domain to any domain."""

    key: Scalar
    value: Domain

    def __post_init__(self) -> None:
        _require_scalar(self.key, "the keys of a map")


@dataclass(frozen=True, slots=True)
class Set:
    """A subset of a scalar domain."""

    element: Scalar

    def __post_init__(self) -> None:
        _require_scalar(self.element, "the elements of a set")


@dataclass(frozen=True, slots=True)
class Sequence:
    """At most `capacity` elements. Places beyond the length hold the element's lowest value, so equal sequences are
    equal states."""

    element: Domain
    capacity: int

    def __post_init__(self) -> None:
        if self.capacity < 0:
            raise ModelError(f"a sequence of capacity {self.capacity} is impossible", instead="Use 0 or more")


@dataclass(frozen=True, init=False, eq=False)
class Record:
    """Named parts: `Record(leader=Option(replicas), isr=Set(replicas))`. `form` is how a whole record is written where
    it stands inside a sequence; by default its fields are listed."""

    fields: Mapping[str, Domain]
    form: str

    def __init__(self, /, **fields: Domain) -> None:
        for name in fields:
            if name.startswith("_"):
                raise ModelError(f"a field cannot be named {name!r}", instead="Begin its name with a letter")
        object.__setattr__(self, "fields", fields)
        object.__setattr__(self, "form", "")

    def written(self, form: str) -> Record:
        """The same domain, its values written as `form` says: `"{id}(e{epoch})"`."""
        record = Record(**self.fields)
        object.__setattr__(record, "form", form)
        return record

    def __eq__(self, other: object) -> bool:
        """The order of the fields counts, since it is the order of the cells; the form does not."""
        return isinstance(other, Record) and tuple(self.fields.items()) == tuple(other.fields.items())

    def __hash__(self) -> int:
        return hash(tuple(self.fields.items()))


Domain: TypeAlias = "Scalar | Map | Set | Sequence | Record"

_KINDS = "Use Bool(), Range, Enum, Scalarset, Option, Map, Set, Sequence or Record"


def _require_scalar(domain: object, role: str) -> None:
    if not isinstance(domain, Scalar):
        shown = f"a {type(domain).__name__}" if isinstance(domain, Map | Set | Sequence | Record) else repr(domain)
        raise ModelError(f"{role} cannot be {shown}", instead="Use Bool(), Range, Enum, Scalarset or Option")


@dataclass(frozen=True, slots=True)
class Field:
    """A step into a record."""

    name: str


@dataclass(frozen=True, slots=True)
class Key:
    """A step into a map, or the membership of one element in a set."""

    domain: Scalar
    code: int


@dataclass(frozen=True, slots=True)
class Slot:
    """A step to one place of a sequence."""

    index: int


@dataclass(frozen=True, slots=True)
class Length:
    """The length of a sequence."""


Part: TypeAlias = "Field | Key | Slot | Length"


@dataclass(frozen=True, slots=True)
class Path:
    """Where a leaf is: `replicas[A].log[0].epoch`."""

    parts: tuple[Part, ...] = ()

    def __add__(self, part: Part) -> Path:
        return Path((*self.parts, part))

    def __str__(self) -> str:
        return "".join(map(_show_part, self.parts)).removeprefix(".")


def _show_part(part: Part) -> str:
    match part:
        case Field(name):
            return f".{name}"
        case Key(domain, code):
            return f"[{domain.show(code)}]"
        case Slot(index):
            return f"[{index}]"
        case Length():
            return ".length"


@dataclass(frozen=True, slots=True)
class Leaf:
    """One scalar of a composite domain."""

    path: Path
    domain: Scalar


def leaves(domain: Domain, path: Path = Path()) -> Iterator[Leaf]:
    """The scalars that a value of `domain` consists of, in the order of declaration."""
    match domain:
        case Map(key, value):
            for code in key.codes():
                yield from leaves(value, path + Key(key, code))
        case Set(element):
            for code in element.codes():
                yield Leaf(path + Key(element, code), Bool())
        case Sequence(element, capacity):
            yield Leaf(path + Length(), Range(0, capacity))
            for index in range(capacity):
                yield from leaves(slot_domain(element), path + Slot(index))
        case Record(fields=fields):
            for name, part in fields.items():
                yield from leaves(part, path + Field(name))
        case Scalar():
            yield Leaf(path, domain)
        case _:
            raise ModelError(f"{path or 'a part'} is declared as {domain!r}, which is no domain", instead=_KINDS)


def slot_domain(element: Domain) -> Domain:
    """The domain of one place of a sequence: an unused place must not name an individual, or permuting the individuals
    would change it; so a scalarset becomes an option there."""
    match element:
        case Scalarset():
            return Option(element)
        case Map(key, value):
            return Map(key, slot_domain(value))
        case Record(fields=fields):
            return Record(**{name: slot_domain(part) for name, part in fields.items()}).written(element.form)
        case _:
            return element
