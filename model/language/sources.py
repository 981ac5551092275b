"""Where the leaves of a composite value come from: a computed value, one of several places, the elements of a sequence.

The state being staged is a source too (`staging.Draft`), the only one that assignments reach in the end.
"""

from __future__ import annotations

from typing import NoReturn, Protocol, TypeAlias

from model.errors import ModelError
from model.language import expr as ex
from model.language.domains import Scalar
from model.language.expr import Expr
from model.language.places import here

#: The condition under which a place is the one meant, and the place's first leaf.
Candidate: TypeAlias = "tuple[Expr, int]"


class Source(Protocol):
    """Numbered leaves that can be read and perhaps assigned."""

    def load(self, leaf: int) -> Expr: ...

    def store(self, leaf: int, value: Expr) -> None: ...

    def rely_on(self, value: Expr, domain: Scalar, what: str) -> None:
        """An assignment makes sense only where `value`, which is `what`, lies in `domain`. Ranges must show that it
        does once the step has been staged: a cell that is not there cannot report a fault."""


class Computed:
    """The leaves of a value that is not stored anywhere."""

    def __init__(self, exprs: tuple[Expr, ...]) -> None:
        self._exprs = exprs

    def load(self, leaf: int) -> Expr:
        return self._exprs[leaf]

    def store(self, leaf: int, value: Expr) -> None:  # noqa: ARG002  # a source's signature
        raise ModelError(
            "a computed value cannot be assigned to", where=here(), instead="Assign to a part of the state"
        )

    def rely_on(self, value: Expr, domain: Scalar, what: str) -> None:
        pass  # storing is refused anyway


class Elements:
    """The elements of a sequence, which are read only: assigned by offset, a place beyond the length could come to hold
    something, and then equal sequences would no longer be equal states."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def load(self, leaf: int) -> Expr:
        return self._source.load(leaf)

    def store(self, leaf: int, value: Expr) -> None:  # noqa: ARG002  # a source's signature
        refuse_element()

    def rely_on(self, value: Expr, domain: Scalar, what: str) -> None:
        pass  # storing is refused anyway


def refuse_element() -> NoReturn:
    raise ModelError(
        "an element of a sequence cannot be assigned to",
        where=here(),
        instead="Use truncate(...) and append(...), or keep what changes in a Map",
    )


class Chosen:
    """One of several equally shaped places, by a symbolic key (with the domain that it must be in when something is
    assigned). A key that fits none reads as the lowest value."""

    def __init__(
        self,
        source: Source,
        places: tuple[Candidate, ...],
        domains: tuple[Scalar, ...],
        key: tuple[Expr, Scalar] | None = None,
    ) -> None:
        self._source = source
        self._places = places
        self._domains = domains
        self._key = key

    def load(self, leaf: int) -> Expr:
        domain = self._domains[leaf]
        value = ex.constant(domain.low, domain.sort)
        for condition, base in reversed(self._places):
            value = ex.choose(condition, self._source.load(base + leaf), value)
        return value

    def store(self, leaf: int, value: Expr) -> None:
        if self._key is not None:
            self._source.rely_on(*self._key, "the key of this assignment")
        for condition, base in self._places:
            old = self._source.load(base + leaf)
            self._source.store(base + leaf, ex.choose(condition, value, old))

    def rely_on(self, value: Expr, domain: Scalar, what: str) -> None:
        self._source.rely_on(value, domain, what)
