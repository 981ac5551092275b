"""A protocol: variables, actions unrolled into steps, predicates, initial states. What staging makes, what every
lowering reads.

A state is a tuple of integers, one for each cell; `Protocol.cells` says what each one means. An action with its
parameters fixed is a *step*: a guard and updates, all over the cells of the state before the step.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

from model.errors import ModelError, Place, nearest
from model.language.domains import (
    Domain,
    Key,
    Map,
    Option,
    Part,
    Path,
    Record,
    Scalar,
    Scalarset,
    Set,
    leaves,
)
from model.language.domains import Sequence as SequenceDomain
from model.language.drawing import Drawer
from model.language.expr import Expr, Op, read, walk
from model.language.formula import Formula
from model.language.sequence_diagram import StepDrawer

State: TypeAlias = tuple[int, ...]

#: Told of a step: the state before, the state after, and the parameters by name, all as readers see them.
Teller: TypeAlias = "Callable[..., str]"

STEP_LIMIT = 65_535  # a step's number is stored in 16 bits
PREDICATE_LIMIT = 64  # one bit of a machine word for each


@dataclass(frozen=True, slots=True)
class Cell:
    """One scalar of the state; its number is its place in the tuple."""

    number: int
    path: Path
    domain: Scalar

    def read(self) -> Expr:
        return read(self.number, self.domain.sort, self.domain.low, self.domain.high)


@dataclass(frozen=True, slots=True)
class Condition:
    """One conjunct of a guard, and the line that requires it. `formula` keeps what it was made of, if that is known."""

    expr: Expr
    place: Place | None
    formula: Formula | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Update:
    """The new value of one cell. `proved` says that ranges show it inside the cell's domain; otherwise every lowering
    checks it whenever the step is taken."""

    cell: int
    value: Expr
    place: Place | None
    proved: bool


@dataclass(frozen=True, slots=True)
class Step:
    """An action with its parameters fixed (`arguments` are codes, in the order of the action's parameters)."""

    number: int
    action: str
    arguments: tuple[int, ...]
    guard: tuple[Condition, ...]
    updates: tuple[Update, ...]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of an action, and what it ranges over."""

    name: str
    domain: Scalar


@dataclass(frozen=True, slots=True)
class Action:
    """`possible` is false when no choice of the parameters makes sense at these bounds (one replica has no peer);
    such an action has no steps, and nobody is warned that it is never enabled."""

    name: str
    parameters: tuple[Parameter, ...]
    possible: bool
    place: Place | None
    summary: str
    tells: Teller | None = field(default=None, compare=False)
    draws: StepDrawer | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Predicate:
    """An invariant (must be true in every reachable state) or a witness (must be true in some)."""

    name: str
    formula: Formula
    place: Place | None
    summary: str

    @property
    def expr(self) -> Expr:
        return self.formula.expr


@dataclass(frozen=True, slots=True)
class Permutation:
    """Members of one scalarset change names: member `i` becomes `image[i]`."""

    scalarset: str
    image: tuple[int, ...]

    def code(self, domain: Scalar, code: int) -> int:
        """What a value of `domain` becomes."""
        named = domain.inner if isinstance(domain, Option) else domain
        touched = isinstance(named, Scalarset) and named.name == self.scalarset and code >= 0
        return self.image[code] if touched else code

    def path(self, path: Path) -> Path:
        """Where the cell at `path` goes."""
        return Path(tuple(self._part(part) for part in path.parts))

    def _part(self, part: Part) -> Part:
        return Key(part.domain, self.code(part.domain, part.code)) if isinstance(part, Key) else part


@dataclass(frozen=True)
class Protocol:
    """The whole definition. Make one with `staging.protocol`; `check()` may be called at any time."""

    name: str
    variables: Mapping[str, Domain]
    actions: tuple[Action, ...]
    steps: tuple[Step, ...]
    invariants: tuple[Predicate, ...]
    witnesses: tuple[Predicate, ...]
    initial: tuple[State, ...]
    draws_state: Drawer | None = field(default=None, compare=False)  # looks only: no part of the content hash

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        found = leaves(Record(**self.variables))
        return tuple(Cell(number, leaf.path, leaf.domain) for number, leaf in enumerate(found))

    @cached_property
    def scalarsets(self) -> tuple[Scalarset, ...]:
        """Every scalarset that variables or parameters mention, by name."""
        found = {domain.name: domain for domain in self._scalars() if isinstance(domain, Scalarset)}
        return tuple(found[name] for name in sorted(found))

    @cached_property
    def named_domains(self) -> tuple[Scalar, ...]:
        """Every enumeration and scalarset that variables or parameters mention."""
        return tuple(domain for domain in self._scalars() if domain.sort not in ("bool", "int"))

    @cached_property
    def action_named(self) -> dict[str, Action]:
        return {action.name: action for action in self.actions}

    @cached_property
    def step_numbers(self) -> dict[tuple[str, tuple[int, ...]], int]:
        """From an action and its arguments to the step's number."""
        return {(step.action, step.arguments): step.number for step in self.steps}

    def arguments(self, step: Step) -> dict[str, str]:
        """A step's parameters as readers see them."""
        parameters = self.action_named[step.action].parameters
        return {p.name: p.domain.show(code) for p, code in zip(parameters, step.arguments, strict=True)}

    @property
    def invariant_names(self) -> tuple[str, ...]:
        return tuple(invariant.name for invariant in self.invariants)

    @property
    def witness_names(self) -> tuple[str, ...]:
        return tuple(witness.name for witness in self.witnesses)

    def selecting(self, invariants: Sequence[str], witnesses: Sequence[str] | None = None) -> Protocol:
        """The same protocol with only the named invariants (and witnesses, unless all are to stay), in that order."""
        return replace(
            self,
            invariants=_named("invariant", self.invariants, invariants),
            witnesses=self.witnesses if witnesses is None else _named("witness", self.witnesses, witnesses),
        )

    # Permutations of a scalarset's members

    def moved_cells(self, permutation: Permutation) -> tuple[int, ...]:
        """For each cell the number of the cell that its value moves to."""
        numbers = {cell.path: cell.number for cell in self.cells}
        return tuple(numbers[permutation.path(cell.path)] for cell in self.cells)

    def permuted(self, state: State, permutation: Permutation) -> State:
        image = list(state)
        for cell, target in zip(self.cells, self.moved_cells(permutation), strict=True):
            image[target] = permutation.code(cell.domain, state[cell.number])
        return tuple(image)

    def permuted_step(self, step: Step, permutation: Permutation) -> Step | None:
        """The same action for the renamed members; none if staging showed that one impossible."""
        parameters = self.action_named[step.action].parameters
        arguments = tuple(permutation.code(p.domain, a) for p, a in zip(parameters, step.arguments, strict=True))
        number = self.step_numbers.get((step.action, arguments))
        return None if number is None else self.steps[number]

    # Well-formedness

    def check(self) -> None:
        """Raise `ModelError` unless everything below fits together."""
        self._check_names()
        self._check_scalarsets()
        for step in self.steps:
            self._check_step(step)
        for predicate in (*self.invariants, *self.witnesses):
            _check_expression(predicate.expr, "bool", predicate.name, predicate.place)
        self._check_reads()
        self._check_initial()

    def _check_names(self) -> None:
        for kind, names in (
            ("actions", [action.name for action in self.actions]),
            ("invariants or witnesses", [p.name for p in (*self.invariants, *self.witnesses)]),
        ):
            for name in names:
                if names.count(name) > 1:
                    raise ModelError(f"{self.name} has two {kind} named {name!r}", instead="Rename one of them")
        if len(self.steps) > STEP_LIMIT:
            raise ModelError(f"{self.name} has {len(self.steps)} steps; at most {STEP_LIMIT} can be numbered")
        if len(self.invariants) + len(self.witnesses) > PREDICATE_LIMIT:
            raise ModelError(f"{self.name} has more than {PREDICATE_LIMIT} invariants and witnesses")

    def _check_scalarsets(self) -> None:
        known: dict[str, Scalar] = {}
        for domain in self._scalars():
            if known.setdefault(domain.sort, domain) != domain and domain.sort not in ("bool", "int"):
                raise ModelError(f"two different domains are named {domain.sort!r}", instead="Rename one of them")

    def _scalars(self) -> Iterator[Scalar]:
        for domain in self.variables.values():
            yield from scalars_of(domain)
        for action in self.actions:
            for parameter in action.parameters:
                yield from scalars_of(parameter.domain)

    def _check_step(self, step: Step) -> None:
        if self.steps[step.number] is not step or step.action not in self.action_named:
            raise ModelError(f"step {step.number} of {step.action} is out of place in {self.name}")
        for condition in step.guard:
            _check_expression(condition.expr, "bool", step.action, condition.place)
        assigned = [update.cell for update in step.updates]
        if len(set(assigned)) != len(assigned):
            raise ModelError(f"{step.action} updates a cell twice")
        for update in step.updates:
            _check_expression(update.value, self.cells[update.cell].domain.sort, step.action, update.place)

    def _check_reads(self) -> None:
        known = {cell.read() for cell in self.cells}
        for node in walk(self._roots()):
            if node.op is Op.READ and node not in known:
                raise ModelError(
                    f"{self.name} reads cell {node.value}, of type {node.sort}, which it does not have",
                    instead="Keep no symbolic value of one protocol for use in another",
                )

    def _check_initial(self) -> None:
        if not self.initial:
            raise ModelError(f"{self.name} has no initial state", instead="Let initial(...) leave one possible")
        for state in self.initial:
            for cell, code in zip(self.cells, state, strict=True):
                if code not in cell.domain.codes():
                    raise ModelError(f"{cell.path} starts as {code}, which is not in {cell.domain}")

    # Identity

    @cached_property
    def content_hash(self) -> str:
        """A digest of the meaning: variables, staged graph, names. Comments, line numbers and order of definition of
        helpers do not count."""
        digest = hashlib.sha256()
        for line in self._description():
            digest.update(line.encode())
            digest.update(b"\n")
        return digest.hexdigest()[:32]

    def _description(self) -> Iterator[str]:
        names = _node_names(self._roots())
        yield from (f"domain {type(domain).__name__} {domain}" for domain in self.named_domains)
        yield from (f"action {a.name} {[(p.name, str(p.domain)) for p in a.parameters]}" for a in self.actions)
        yield from (f"cell {cell.path} {_key_sorts(cell)}: {cell.domain} {cell.domain.sort}" for cell in self.cells)
        yield from (f"initial {state}" for state in self.initial)
        for action in self.actions:
            yield f"action {action.name} {[(p.name, str(p.domain)) for p in action.parameters]}"
        yield from names.values()
        index = {node: position for position, node in enumerate(names)}
        for step in self.steps:
            guard = [index[condition.expr] for condition in step.guard]
            updates = [(update.cell, index[update.value]) for update in step.updates]
            yield f"step {step.action}{step.arguments} {guard} {updates}"
        yield from (f"invariant {p.name} {index[p.expr]}" for p in self.invariants)
        yield from (f"witness {p.name} {index[p.expr]}" for p in self.witnesses)

    def _roots(self) -> Iterator[Expr]:
        for step in self.steps:
            yield from (condition.expr for condition in step.guard)
            yield from (update.value for update in step.updates)
        yield from (predicate.expr for predicate in (*self.invariants, *self.witnesses))


def _named(kind: str, known: tuple[Predicate, ...], names: Sequence[str]) -> tuple[Predicate, ...]:
    by_name = {predicate.name: predicate for predicate in known}
    for name in names:
        if name not in by_name:
            raise ModelError(f"there is no {kind} {name!r}", instead=nearest(name, by_name))
    return tuple(by_name[name] for name in dict.fromkeys(names))


def _key_sorts(cell: Cell) -> list[str]:
    """Whose members the keys of a path are: `[A]` alone does not say."""
    return [part.domain.sort for part in cell.path.parts if isinstance(part, Key)]


def _node_names(roots: Iterator[Expr]) -> dict[Expr, str]:
    names: dict[Expr, str] = {}
    index: dict[Expr, int] = {}
    for node in walk(roots):
        index[node] = len(index)
        names[node] = f"{node.op.value} {[index[arg] for arg in node.args]} {node.value} {node.sort}"
    return names


def scalars_of(domain: Domain) -> Iterator[Scalar]:
    """Every scalar that a domain mentions: leaves, keys, elements, and what options are options of."""
    match domain:
        case Map(key, value):
            yield from scalars_of(key)
            yield from scalars_of(value)
        case Set(element):
            yield from scalars_of(element)
        case SequenceDomain(element):
            yield from scalars_of(element)
        case Record(fields=fields):
            for part in fields.values():
                yield from scalars_of(part)
        case Option(inner):
            yield from scalars_of(inner)
        case Scalar():
            yield domain


def _check_expression(expr: Expr, sort: str, owner: str, place: Place | None) -> None:
    if expr.sort != sort:
        raise ModelError(f"{owner} has a value of type {expr.sort} where {sort} is needed", where=place)
    if expr.low > expr.high or (expr.op is Op.CONSTANT and expr.low != expr.value):
        raise ModelError(f"{owner} holds an expression with an impossible range", where=place)
