"""Text and JSON forms: states, steps, differences, expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, TypeAlias, assert_never

from model.language.domains import (
    Domain,
    Json,
    Map,
    Option,
    Range,
    Record,
    Scalar,
    Scalarset,
    Sequence,
    Set,
    leaves,
    slot_domain,
)
from model.language.drawing import Fact, Lane
from model.language.evaluate import step_text
from model.language.expr import Expr, Op
from model.language.protocol import Protocol, State, Step
from model.language.sequence_diagram import Drawn, Note

ScalarForm: TypeAlias = Callable[[Scalar, int], Any]


@dataclass(frozen=True, slots=True)
class Change:
    """One variable, or part of one, that differs between two states."""

    path: str
    before: str
    after: str


# Whole states


def to_json(protocol: Protocol, state: State) -> dict[str, Json]:
    """A state as plain JSON: records and maps are objects, sets and sequences are arrays, none is null."""
    tree: dict[str, Json] = _tree(Record(**protocol.variables), iter(state), lambda domain, code: domain.to_json(code))
    return tree


def from_json(protocol: Protocol, data: object) -> State:
    """The inverse of `to_json`. Raises `ValueError`, naming the variable, for anything else."""
    return tuple(_codes(Record(**protocol.variables), data, "the state"))


def snapshot(protocol: Protocol, state: State) -> SimpleNamespace:
    """A state for the functions that tell stories: attributes for fields, dictionaries for maps, lists for sequences
    and sets; integers, None, or the shown name for scalars."""
    made: SimpleNamespace = _as_namespace(_tree(Record(**protocol.variables), iter(state), _plain))
    return made


def _plain(domain: Scalar, code: int) -> Any:
    inner = domain.inner if isinstance(domain, Option) else domain
    if isinstance(domain, Option) and code == domain.none:
        return None
    return inner.show(code) if isinstance(inner, Range) and inner.label != "{}" else inner.to_json(code)


class _Fields(dict[str, Any]):
    """A record, as distinct from a map, until it becomes a namespace."""


def _as_namespace(tree: Any) -> Any:
    if isinstance(tree, _Fields):
        return SimpleNamespace(**{name: _as_namespace(value) for name, value in tree.items()})
    if isinstance(tree, dict):
        return {key: _as_namespace(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_as_namespace(value) for value in tree]
    return tree


def _tree(domain: Domain, codes: Iterator[int], form: ScalarForm) -> Any:
    match domain:
        case Record(fields=fields):
            return _Fields({name: _tree(part, codes, form) for name, part in fields.items()})
        case Map(key, value):
            return {key.show(code): _tree(value, codes, form) for code in key.codes()}
        case Set(element):
            return [form(element, code) for code in element.codes() if next(codes)]
        case Sequence(element, capacity):
            length = next(codes)
            return [_tree(slot_domain(element), codes, form) for _ in range(capacity)][:length]
        case Scalar():
            return form(domain, next(codes))


def _codes(domain: Domain, data: object, name: str) -> Iterator[int]:
    match domain:
        case Record(fields=fields):
            yield from _object_codes(dict(fields), data, name)
        case Map(key, value):
            yield from _object_codes({key.show(code): value for code in key.codes()}, data, name)
        case Set(element):
            present = {_code(element, item, name) for item in _list(data, name, element.size)}
            yield from (int(code in present) for code in element.codes())
        case Sequence(element, capacity):
            items = _list(data, name, capacity)
            yield len(items)
            for position, item in enumerate(items):
                yield from _codes(slot_domain(element), item, f"{name}[{position}]")
            for _ in range(capacity - len(items)):
                yield from (leaf.domain.low for leaf in leaves(slot_domain(element)))
        case Scalar():
            yield _code(domain, data, name)


def _object_codes(parts: dict[str, Domain], data: object, name: str) -> Iterator[int]:
    if not isinstance(data, dict) or set(data) != set(parts):
        raise ValueError(f"{name} needs exactly the keys {', '.join(parts)}")
    for key, part in parts.items():
        yield from _codes(part, data[key], key if name == "the state" else f"{name}.{key}")


def _list(data: object, name: str, limit: int) -> list[Any]:
    if not isinstance(data, list) or len(data) > limit:
        raise ValueError(f"{name} needs a list of at most {limit}")
    return data


def _code(domain: Scalar, data: Any, name: str) -> int:
    try:
        return domain.code_of(data)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


# Differences


def differences(protocol: Protocol, before: State, after: State) -> tuple[Change, ...]:
    """What changed, in the order of declaration: whole sequences and sets, single scalars."""
    units = zip(_units(protocol, before), _units(protocol, after), strict=True)
    return tuple(Change(path, old, new) for (path, old), (_, new) in units if old != new)


def _units(protocol: Protocol, state: State) -> Iterator[tuple[str, str]]:
    codes = iter(state)
    for name, domain in protocol.variables.items():
        yield from _units_of(domain, codes, name)


def _units_of(domain: Domain, codes: Iterator[int], path: str) -> Iterator[tuple[str, str]]:
    match domain:
        case Record(fields=fields):
            for name, part in fields.items():
                yield from _units_of(part, codes, f"{path}.{name}")
        case Map(key, value):
            for code in key.codes():
                yield from _units_of(value, codes, f"{path}[{key.show(code)}]")
        case Set() | Sequence() | Scalar():
            yield path, show_value(_tree(domain, codes, lambda scalar, code: scalar.show(code)), domain)


def show_value(tree: Any, domain: Domain) -> str:
    """A value whose scalars are shown already: `[m0(e0), m1(e2)]`, `{A, B}`."""
    match domain:
        case Set():
            return "{" + ", ".join(tree) + "}"
        case Sequence(element):
            return "[" + ", ".join(show_value(item, element) for item in tree) + "]"
        case Record(fields=fields):
            parts = {name: show_value(tree[name], part) for name, part in fields.items()}
            return domain.form.format(**parts) if domain.form else _listed(parts)
        case Map(value=value):
            return _listed({key: show_value(item, value) for key, item in tree.items()})
        case Scalar():
            return str(tree)


def _listed(parts: dict[str, str]) -> str:
    return "{" + ", ".join(f"{name}: {text}" for name, text in parts.items()) + "}"


def show_state(protocol: Protocol, state: State) -> list[tuple[str, str]]:
    """Every variable with its value, as `(path, text)`."""
    return list(_units(protocol, state))


def drawn(protocol: Protocol, state: State) -> tuple[Lane, ...]:
    """The lanes of a state's picture, as the protocol declares them; by default its variables as text."""
    if protocol.draws_state is not None:
        return protocol.draws_state(snapshot(protocol, state))
    codes = iter(state)
    return tuple(
        Lane(name, facts=tuple(Fact(path, text) for path, text in _units_of(domain, codes, name)))
        for name, domain in protocol.variables.items()
    )


# Steps and expressions


def sentence(protocol: Protocol, step: Step, before: State, after: State) -> str:
    """What a step does, in the protocol's own words; by default its name and parameters."""
    tells = protocol.action_named[step.action].tells
    if tells is None:
        return step_text(protocol, step)
    return tells(snapshot(protocol, before), snapshot(protocol, after), **_arguments(protocol, step))


def _arguments(protocol: Protocol, step: Step) -> dict[str, Any]:
    """A step's parameters for the functions that tell and draw it."""
    parameters = protocol.action_named[step.action].parameters
    return {p.name: _plain(p.domain, code) for p, code in zip(parameters, step.arguments, strict=True)}


def drawn_step(protocol: Protocol, step: Step, before: State, after: State) -> tuple[Drawn, ...]:
    """What a step is in a sequence diagram; by default a note with its sentence, over the individuals it names."""
    draws = protocol.action_named[step.action].draws
    if draws is None:
        return (Note(_individuals_of(protocol, step), sentence(protocol, step, before, after)),)
    return tuple(draws(snapshot(protocol, before), snapshot(protocol, after), **_arguments(protocol, step)))


def _individuals_of(protocol: Protocol, step: Step) -> tuple[str, ...]:
    found = []
    for parameter, code in zip(protocol.action_named[step.action].parameters, step.arguments, strict=True):
        domain = parameter.domain.inner if isinstance(parameter.domain, Option) else parameter.domain
        if isinstance(domain, Scalarset) and code in domain.codes():
            found.append(individuals(protocol, domain)[code])
    return tuple(dict.fromkeys(found))


def individuals(protocol: Protocol, scalarset: Scalarset) -> tuple[str, ...]:
    """The members of a scalarset as participants: `A`, or `Client A` where several scalarsets have an A."""
    alone = len(protocol.scalarsets) == 1
    return tuple(member if alone else f"{scalarset.name} {member}" for member in scalarset.members)


_INFIX = {
    Op.AND: " & ",
    Op.OR: " | ",
    Op.EQUAL: " = ",
    Op.LESS: " < ",
    Op.ADD: " + ",
    Op.SUBTRACT: " - ",
    Op.MULTIPLY: " * ",
}


def show_expr(protocol: Protocol, expr: Expr) -> str:
    """An expression over the protocol's cells, for messages and documentation."""
    match expr.op:
        case Op.CONSTANT:
            return _show_constant(protocol, expr)
        case Op.READ:
            return str(protocol.cells[expr.value].path)
        case Op.NOT:
            return f"~{show_expr(protocol, expr.args[0])}"
        case Op.IF:
            condition, then, otherwise = (show_expr(protocol, arg) for arg in expr.args)
            return f"where({condition}, {then}, {otherwise})"
        case Op.AND | Op.OR | Op.EQUAL | Op.LESS | Op.ADD | Op.SUBTRACT | Op.MULTIPLY:
            return "(" + _INFIX[expr.op].join(show_expr(protocol, arg) for arg in expr.args) + ")"
        case _:
            assert_never(expr.op)


def _show_constant(protocol: Protocol, expr: Expr) -> str:
    if expr.sort == "bool":
        return "true" if expr.value else "false"
    named = [domain for domain in protocol.named_domains if domain.sort == expr.sort]
    if not named:
        return str(expr.value)
    return named[0].show(expr.value) if expr.value >= 0 else "none"
