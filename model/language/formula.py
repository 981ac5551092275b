"""What a condition was made of, kept so that a false one can be explained.

Expressions are folded and shared, so they no longer know that they were written as "for every member of the ISR and
every offset". A formula keeps that shape beside the expression: quantifiers with the values of their variables, the
parts of a conjunction, the line each part stands on. It means nothing; only `expr` does.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from model.errors import Place
from model.language.expr import Expr


class Shape(enum.Enum):
    """How the parts of a formula make up its truth."""

    ATOM = "atom"  # a comparison, or whatever has no parts worth telling
    ALL = "all"
    ANY = "any"
    NOT = "not"
    IMPLIES = "implies"  # two parts: if the first holds, so does the second


@dataclass(frozen=True, slots=True)
class Binding:
    """A quantified variable and the value it has in one part, as readers see it."""

    name: str
    shown: str


@dataclass(frozen=True, slots=True)
class Formula:
    """`bindings` are the quantified values for which this part stands; `place` is the line it was written on."""

    shape: Shape
    expr: Expr
    parts: tuple[Formula, ...] = ()
    bindings: tuple[Binding, ...] = ()
    place: Place | None = None
