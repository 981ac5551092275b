"""From plain Python functions to a `Protocol`.

Each action is run once for every choice of its parameters, on a *draft* of the state whose cells hold expressions.
`require` adds to the guard; assignments replace the draft's expressions, so a later read sees them (sequential updates,
as in Murphi). Parameters are named after domains in their annotations; keyword-only parameters are *mechanisms*: plain
objects given to `protocol(...)` by name, the same for every state.
"""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, TypeVar, cast, overload

from model.errors import ModelError, Place, nearest
from model.language import expr as ex
from model.language.composites import Composite, RecordValue, Source, leaves_of, view
from model.language.domains import INT, Domain, Leaf, Record, Scalar, shown_outside
from model.language.drawing import Drawer
from model.language.expr import Expr
from model.language.formula import Formula
from model.language.places import here, raised_at
from model.language.protocol import (
    STEP_LIMIT,
    Action,
    Condition,
    Parameter,
    Predicate,
    Protocol,
    State,
    Step,
    Teller,
    Update,
)
from model.language.ranges import Known, facts, span
from model.language.scalars import Scalarlike, Truth, as_truth, member
from model.language.sequence_diagram import StepDrawer

Function: TypeAlias = Callable[..., Any]
Marked = TypeVar("Marked")


@dataclass(frozen=True, slots=True)
class ActionFunction:
    """A function marked with `@action`."""

    function: Function
    tells: Teller | None
    draws: StepDrawer | None

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self.function(*arguments, **keywords)


@dataclass(frozen=True, slots=True)
class PredicateFunction:
    """A function marked with `@invariant` or `@reachable`. Its name in reports is CamelCase: `WeakIsr`."""

    function: Function
    is_witness: bool = False

    @property
    def name(self) -> str:
        return "".join(word[:1].upper() + word[1:] for word in self.function.__name__.split("_"))

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self.function(*arguments, **keywords)


@overload
def action(function: Function) -> ActionFunction: ...


@overload
def action(*, tells: Teller | None = None, draws: StepDrawer | None = None) -> Callable[[Function], ActionFunction]: ...


def action(
    function: Function | None = None, *, tells: Teller | None = None, draws: StepDrawer | None = None
) -> ActionFunction | Callable[[Function], ActionFunction]:
    """Mark a function as an action. `tells(before, after, **parameters)` gives the sentence for a step in a story,
    `draws`, called alike, what the step is in a sequence diagram (see `sequence_diagram`)."""
    if function is not None:
        return ActionFunction(function, tells, draws)
    return lambda marked: ActionFunction(marked, tells, draws)


def invariant(function: Function) -> PredicateFunction:
    """Mark a function of the state as a promise: true in every reachable state."""
    return PredicateFunction(function)


def reachable(function: Function) -> PredicateFunction:
    """Mark a function of the state as a witness: true in some reachable state, or the model is vacuous."""
    return PredicateFunction(function, is_witness=True)


@dataclass(frozen=True, slots=True)
class Reliance:
    """An assignment makes sense only where `value`, which is `what`, lies in `domain`."""

    value: Expr
    domain: Scalar
    what: str
    place: Place | None


class Draft(Source):
    """The state being staged: one expression for each cell, and the guard collected so far."""

    def __init__(self, cells: list[Expr]) -> None:
        self.cells = cells
        self.guard: list[Condition] = []
        self.assigned: dict[int, Place | None] = {}
        self.reliances: list[Reliance] = []
        self.is_ruled_out = False  # a required condition is false in every state
        self.impossible = False  # the parameters alone rule this step out
        self._unread: set[int] = set()
        self._open = True

    def load(self, leaf: int) -> Expr:
        self._want_open()
        self._unread.discard(leaf)
        return self.cells[leaf]

    def store(self, leaf: int, value: Expr) -> None:
        self._want_open()
        if leaf in self._unread:
            raise ModelError(
                "this is assigned a second time, and the first value was never read",
                where=here(),
                why=f"The first assignment is at {self.assigned[leaf]}",
                instead="Remove one of the two, or combine them with where(condition, a, b)",
            )
        self.cells[leaf] = value
        self.assigned[leaf] = here()
        self._unread.add(leaf)

    def rely_on(self, value: Expr, domain: Scalar, what: str) -> None:
        self.reliances.append(Reliance(value, domain, what, here()))

    def require(self, condition: Truth) -> None:
        self._want_open()
        if condition.expr is ex.FALSE:
            self.is_ruled_out = True
            self.impossible = condition.fixed
            raise _Impossible
        if condition.expr is not ex.TRUE:
            self.guard.append(Condition(condition.expr, here(), condition.formula))

    def close(self) -> None:
        self._open = False

    def _want_open(self) -> None:
        if not self._open:
            raise ModelError(
                "this symbolic state belongs to an action that has been staged already",
                where=here(),
                instead="Use the state that the function is given, and keep no part of it elsewhere",
            )


class _Impossible(Exception):  # not an error: this choice of parameters has no step
    """Raised by `require` when staging shows that the step can never be enabled."""


_drafts: list[Draft] = []  # the draft being staged, innermost last; empty outside `protocol(...)`


def require(*conditions: Any) -> None:
    """Every condition must hold for the step to be enabled."""
    if not _drafts:
        raise ModelError("require() works only inside an action that is being staged", where=here())
    for condition in conditions:
        _drafts[-1].require(as_truth(condition))


@dataclass(frozen=True)
class _Stage:
    """What every function of one protocol is staged with."""

    record: Record
    domains: Mapping[str, Scalar]
    mechanisms: Mapping[str, object]
    start: State | None = field(default=None)

    def draft(self) -> Draft:
        return Draft(
            [
                ex.read(number, leaf.domain.sort, leaf.domain.low, leaf.domain.high)
                for number, leaf in enumerate(leaves_of(self.record))
            ]
        )

    def blank(self) -> Draft:
        """A draft of the state in which everything has its lowest value."""
        return Draft([ex.constant(leaf.domain.low, leaf.domain.sort) for leaf in leaves_of(self.record)])


def protocol(
    name: str,
    *,
    variables: Mapping[str, Domain],
    actions: Iterable[ActionFunction],
    invariants: Iterable[PredicateFunction] = (),
    witnesses: Iterable[PredicateFunction] = (),
    initial: Function | None = None,
    domains: Mapping[str, Scalar] | None = None,
    mechanisms: Mapping[str, object] | None = None,
    draws_state: Drawer | None = None,
) -> Protocol:
    """Stage a protocol.

    `variables` name the state; everything starts with its lowest value (false, none, empty, the low end of a range)
    unless `initial(state, …)` assigns something else; its parameters, if any, give several initial states.
    `domains` are the names that annotations of parameters may use beside those their module defines.
    `draws_state(snapshot)` gives the lanes that pictures of a state consist of (`model.language.drawing`).
    Raises `ModelError`, with the line, for whatever is not well formed.
    """
    stage = _Stage(Record(**variables), domains or {}, mechanisms or {})
    staged = [_stage_action(stage, _marked(function, ActionFunction, "@action")) for function in actions]
    result = Protocol(
        name=name,
        variables=dict(variables),
        actions=tuple(made for made, _ in staged),
        steps=_numbered(step for _, steps in staged for step in steps),
        invariants=_stage_predicates(stage, invariants, "@invariant"),
        witnesses=_stage_predicates(stage, witnesses, "@reachable"),
        initial=_stage_initial(stage, initial),
        draws_state=draws_state,
    )
    result.check()
    return result


def adding(
    to: Protocol, invariants: Iterable[PredicateFunction], witnesses: Iterable[PredicateFunction] = ()
) -> Protocol:
    """A staged protocol with more invariants and witnesses, which look at its state and ask for no mechanism."""
    stage = _Stage(Record(**to.variables), {}, {})
    result = replace(
        to,
        invariants=(*to.invariants, *_stage_predicates(stage, invariants, "@invariant")),
        witnesses=(*to.witnesses, *_stage_predicates(stage, witnesses, "@reachable")),
    )
    result.check()
    return result


def _marked(function: object, kind: type[Marked], mark: str) -> Marked:
    if isinstance(function, kind):
        return function
    plain = getattr(function, "function", function)
    name = getattr(plain, "__name__", repr(plain))
    raise ModelError(f"{name} is not marked with {mark}", where=_definition(plain), instead=f"Write {mark} above it")


def _numbered(steps: Iterable[Step]) -> tuple[Step, ...]:
    return tuple(Step(n, s.action, s.arguments, s.guard, s.updates) for n, s in enumerate(steps))


def _stage_action(stage: _Stage, function: ActionFunction) -> tuple[Action, list[Step]]:
    name = function.function.__name__
    parameters = _parameters(stage, function.function)
    choices = math.prod(parameter.domain.size for parameter in parameters)
    if choices > STEP_LIMIT:
        raise ModelError(
            f"{name} has {choices} choices of parameters; at most {STEP_LIMIT} steps can be numbered",
            where=_definition(function.function),
            instead="Use smaller domains",
        )
    steps: list[Step] = []
    possible = False
    for arguments in _choices(parameters):
        draft = stage.draft()
        if _runs(stage, draft, function.function, parameters, arguments):
            steps.append(_step(stage, draft, name, arguments))
        possible = possible or not draft.impossible
    summary = inspect.getdoc(function.function) or ""
    made = Action(name, parameters, possible, _definition(function.function), summary, function.tells, function.draws)
    return made, steps


def _step(stage: _Stage, draft: Draft, name: str, arguments: tuple[int, ...]) -> Step:
    known = facts(condition.expr for condition in draft.guard)
    _check_reliances(draft, known)
    leaves = leaves_of(stage.record)
    changed = sorted(number for number in draft.assigned if not _unchanged(draft.cells[number], number))
    updates = tuple(_update(draft, number, leaves[number], known) for number in changed)
    return Step(0, name, arguments, tuple(draft.guard), updates)


def _update(draft: Draft, number: int, leaf: Leaf, known: Known) -> Update:
    value, place = draft.cells[number], draft.assigned[number]
    if leaf.domain.covers(value.low, value.high):
        return Update(number, value, place, proved=True)
    low, high = span(value, known)
    if low <= high and (high < leaf.domain.low or leaf.domain.high < low):
        shown = shown_outside(leaf.domain, low) if low == high else f"{low}..{high}"
        raise ModelError(f"{shown} is assigned to {leaf.path}, which ranges over {leaf.domain}", where=place)
    return Update(number, value, place, leaf.domain.covers(low, high))


def _check_reliances(draft: Draft, known: Known) -> None:
    for relied in draft.reliances:
        low, high = span(relied.value, known)
        if relied.domain.covers(low, high):
            continue
        outside = low if low < relied.domain.low else high
        verb = "is" if low == high else "may be"
        raise ModelError(
            f"{relied.what} {verb} {shown_outside(relied.domain, outside)}, which is outside {relied.domain}",
            where=relied.place,
            instead="Require first that it is inside" if relied.domain.sort == INT else "Require is_some of it first",
        )


def _unchanged(value: Expr, number: int) -> bool:
    return value.op is ex.Op.READ and value.value == number


def _runs(
    stage: _Stage, draft: Draft, function: Function, parameters: tuple[Parameter, ...], arguments: tuple[int, ...]
) -> bool:
    """Run an action on a draft; false when this choice of parameters can never be enabled."""
    chosen = [member(p.domain, code) for p, code in zip(parameters, arguments, strict=True)]
    try:
        _call(stage, draft, function, chosen)
    except _Impossible:
        return False
    return True


def _call(stage: _Stage, draft: Draft, function: Function, chosen: Iterable[object]) -> Any:
    state = view(stage.record, draft, 0)
    with _located(function), _staging(draft):
        return function(state, *chosen, **_mechanisms(stage, function))


@contextmanager
def _staging(draft: Draft) -> Iterator[None]:
    _drafts.append(draft)
    try:
        yield
    finally:
        _drafts.pop()
        draft.close()


@contextmanager
def _located(function: Function) -> Iterator[None]:
    """Turn whatever goes wrong in a protocol's function into one sentence with its line."""
    try:
        yield
    except _Impossible:
        raise
    except ModelError as error:
        if error.where is None:
            error.where = raised_at(error.__traceback__) or _definition(function)
        raise
    except Exception as error:
        name = getattr(function, "__name__", "a function")
        what = f"{name} raised {type(error).__name__} while it was staged: {error}"
        raise ModelError(what, where=raised_at(error.__traceback__) or _definition(function)) from error


def _stage_predicates(stage: _Stage, functions: Iterable[PredicateFunction], mark: str) -> tuple[Predicate, ...]:
    return tuple(_stage_predicate(stage, _marked(function, PredicateFunction, mark)) for function in functions)


def _stage_predicate(stage: _Stage, marked: PredicateFunction) -> Predicate:
    formula = _condition(stage, marked.function)
    summary = inspect.getdoc(marked.function) or ""
    return Predicate(marked.name, formula, _definition(marked.function), summary)


def _condition(stage: _Stage, function: Function) -> Formula:
    draft = stage.draft()
    result = None
    with suppress(_Impossible):
        result = _call(stage, draft, function, ())
    if draft.assigned or draft.guard or draft.is_ruled_out:
        raise ModelError(
            f"{function.__name__} changes or restricts the state",
            where=_definition(function),
            instead="An invariant only returns a condition",
        )
    if not isinstance(result, Truth | bool):
        raise ModelError(
            f"{function.__name__} returns {type(result).__name__}, not a condition",
            where=_definition(function),
            instead="End it with `return` and a condition",
        )
    return as_truth(result).formula


def _stage_initial(stage: _Stage, function: Function | None) -> tuple[State, ...]:
    if function is None:
        return (tuple(leaf.domain.low for leaf in leaves_of(stage.record)),)
    parameters = _parameters(stage, function)
    states: dict[State, None] = {}
    for arguments in _choices(parameters):
        draft = stage.blank()
        if _runs(stage, draft, function, parameters, arguments):
            states[_initial_state(stage, draft)] = None
    return tuple(states)


def _initial_state(stage: _Stage, draft: Draft) -> State:
    _check_reliances(draft, {})
    for number, leaf in enumerate(leaves_of(stage.record)):
        code = draft.cells[number].value
        if code not in leaf.domain.codes():
            what = f"{leaf.path} starts as {code}, which is not in {leaf.domain}"
            raise ModelError(what, where=draft.assigned[number])
    return tuple(expr.value for expr in draft.cells)


def _choices(parameters: tuple[Parameter, ...]) -> Iterator[tuple[int, ...]]:
    return itertools.product(*(parameter.domain.codes() for parameter in parameters))


def _parameters(stage: _Stage, function: Function) -> tuple[Parameter, ...]:
    """The positional parameters after the state, with the domains that their annotations name."""
    declared = list(inspect.signature(function).parameters.values())
    positional = [p for p in declared if p.kind is not inspect.Parameter.KEYWORD_ONLY]
    if not positional:
        raise ModelError(
            f"{function.__name__} does not take the state",
            where=_definition(function),
            instead=f"Write def {function.__name__}(state, ...)",
        )
    return tuple(Parameter(p.name, _domain(stage, function, p)) for p in positional[1:])


def _domain(stage: _Stage, function: Function, parameter: inspect.Parameter) -> Scalar:
    annotation = parameter.annotation
    found = _resolve(stage, function, annotation) if isinstance(annotation, str) else annotation
    if isinstance(found, Scalar):
        return found
    shown = "nothing" if annotation is inspect.Parameter.empty else repr(annotation)
    raise ModelError(
        f"the parameter {parameter.name!r} of {function.__name__} is annotated with {shown}, which names no domain",
        where=_definition(function),
        instead=nearest(str(annotation), stage.domains) if stage.domains else _NAME_A_DOMAIN,
    )


_NAME_A_DOMAIN = "Annotate it with a scalar domain of its module, or name the domain in protocol(domains={...})"


def _resolve(stage: _Stage, function: Function, name: str) -> object:
    if name in stage.domains:
        return stage.domains[name]
    closure = inspect.getclosurevars(function)
    for scope in (closure.nonlocals, function.__globals__):
        if name in scope:
            return cast(object, scope[name])
    return None


def _mechanisms(stage: _Stage, function: Function) -> dict[str, object]:
    declared = inspect.signature(function).parameters.values()
    wanted = [p.name for p in declared if p.kind is inspect.Parameter.KEYWORD_ONLY]
    for name in wanted:
        if name not in stage.mechanisms:
            raise ModelError(
                f"{function.__name__} asks for the mechanism {name!r}, which the protocol does not have",
                where=_definition(function),
                instead=nearest(name, stage.mechanisms),
            )
    return {name: stage.mechanisms[name] for name in wanted}


def _definition(function: object) -> Place | None:
    code = getattr(function, "__code__", None)
    return None if code is None else Place(code.co_filename, code.co_firstlineno)


__all__ = ["Composite", "RecordValue", "Scalarlike", "action", "invariant", "protocol", "reachable", "require"]
