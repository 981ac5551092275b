"""A permutation that does harm: the evaluator's word for it, the plainest state that shows it, and the sentence.

z3 proposes a state; here it is evaluated in plain Python before anyone believes it. Then everything that does not
matter is set back to what it is initially, as long as the harm still shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias, assert_never

from checker.prove.certificate import Kind, Obligation
from model.errors import InternalError, Place
from model.language.domains import Scalar, Scalarset
from model.language.evaluate import enabled, evaluate, step_text
from model.language.expr import Expr, cells_read
from model.language.protocol import Cell, Permutation, Predicate, Protocol, State, Step

#: Something that may be said of a state.
Test: TypeAlias = Callable[[State], bool]

#: Cells that do not change are shown beside those that do, up to so many in all.
SHOWN_CELLS = 12


@dataclass(frozen=True)
class Renaming:
    """A permutation of one protocol, and what does not commute with it according to the evaluator."""

    protocol: Protocol
    permutation: Permutation

    @cached_property
    def moved(self) -> tuple[int, ...]:
        """For each cell the number of the cell that its value moves to."""
        return self.protocol.moved_cells(self.permutation)

    @cached_property
    def text(self) -> str:
        """`A and B swapped`; `A renamed to B, B to C, C to A`; with the scalarset if there are several."""
        first, *others = self._pairs
        if self._is_swap:
            return f"{' and '.join(first)}{self._whose} swapped"
        tail = "".join(f", {one} to {other}" for one, other in others)
        return f"{first[0]}{self._whose} renamed to {first[1]}{tail}"

    @cached_property
    def doing(self) -> str:
        """`Swapping A and B`; `Renaming A to B, B to C, C to A`."""
        if self._is_swap:
            return f"Swapping {' and '.join(self._pairs[0])}{self._whose}"
        return f"Renaming {', '.join(f'{one} to {other}' for one, other in self._pairs)}{self._whose}"

    @cached_property
    def _pairs(self) -> tuple[tuple[str, str], ...]:
        names = self._scalarset.members
        moves = ((m, image) for m, image in enumerate(self.permutation.image) if m != image)
        return tuple((names[member], names[image]) for member, image in moves)

    @property
    def _is_swap(self) -> bool:
        return len(self._pairs) == 2

    @property
    def _whose(self) -> str:
        return "" if len(self.protocol.scalarsets) == 1 else f" of {self._scalarset.name}"

    @cached_property
    def _scalarset(self) -> Scalarset:
        return next(each for each in self.protocol.scalarsets if each.name == self.permutation.scalarset)

    def state(self, state: State) -> State:
        image = list(state)
        for cell, value in enumerate(state):
            image[self.moved[cell]] = self.value(cell, value)
        return tuple(image)

    def value(self, cell: int, value: int) -> int:
        """What becomes of a value of that cell; what is no value of it stays."""
        domain = self.protocol.cells[cell].domain
        return self.permutation.code(domain, value) if domain.low <= value <= domain.high else value

    def twin(self, step: Step) -> Step | None:
        """The same action for the renamed members."""
        return self.protocol.permuted_step(step, self.permutation)

    def harms_initial(self, state: State) -> bool:
        return self.state(state) not in self.protocol.initial

    def harms_predicate(self, predicate: Predicate, state: State) -> bool:
        return evaluate(predicate.expr, state) != evaluate(predicate.expr, self.state(state))

    def harms_step(self, step: Step, state: State) -> bool:
        """Whether the step here and its twin in the renamed state are not the same but for names."""
        twin, can = self.twin(step), enabled(step, state)
        twin_can = twin is not None and enabled(twin, self.state(state))
        if twin is None or not (can and twin_can):
            return can != twin_can
        return bool(self.parted_cells(step, twin, state))

    def parted_cells(self, step: Step, twin: Step, state: State) -> tuple[int, ...]:
        """The cells, as numbered in the renamed state, on which its successor is not the renamed successor. Values
        outside a domain, which would be a fault of the model, are compared as they are."""
        expected, actual = self.expected(step, state), _values_after(twin, self.state(state))
        return tuple(cell for cell in expected if expected[cell] != actual[cell])

    def expected(self, step: Step, state: State) -> dict[int, int]:
        """The renamed successor."""
        after = _values_after(step, state)
        return {self.moved[cell]: self.value(cell, value) for cell, value in after.items()}


def _values_after(step: Step, state: State) -> dict[int, int]:
    return dict(enumerate(state)) | {update.cell: evaluate(update.value, state) for update in step.updates}


def is_harm(renaming: Renaming, obligation: Obligation) -> bool:
    """Whether a refuted obligation is one, says the evaluator."""
    protocol, state = renaming.protocol, obligation.state
    if state is None:
        return False
    match obligation.kind:
        case Kind.INITIAL:
            return renaming.harms_initial(state)
        case Kind.ACTION:
            return obligation.step is not None and renaming.harms_step(protocol.steps[obligation.step], state)
        case Kind.INVARIANT | Kind.WITNESS:
            return renaming.harms_predicate(_predicate(protocol, obligation.name), state)
        case _:
            assert_never(obligation.kind)


def plainest(harms: Test, admitted: Test, state: State, plain: State) -> State:
    """A harmful state that is as much like `plain` as can be, given one. Raises `InternalError` if `state` is none."""
    if not (admitted(state) and harms(state)):
        raise InternalError(f"z3 refutes with the state {state}, and the evaluator does not agree")
    simpler = state
    for cell, value in enumerate(plain):
        candidate = (*simpler[:cell], value, *simpler[cell + 1 :])
        if candidate != simpler and admitted(candidate) and harms(candidate):
            simpler = candidate
    return state if simpler == state else plainest(harms, admitted, simpler, plain)


@dataclass(frozen=True, slots=True)
class Shown:
    """What a cell holds in a state, and in the state with members renamed."""

    path: str
    value: str
    renamed_value: str


@dataclass(frozen=True, slots=True)
class Refutation:
    """Why a permutation is not harmless. `str()` gives the sentence, the cells that matter, and the line.

    The state fits the types; whether it can be reached is not known.
    """

    permutation: Permutation
    obligation: Obligation
    sentence: str
    renaming: str
    cells: tuple[Shown, ...]
    hidden: int
    place: Place | None

    def __str__(self) -> str:
        lines = [self.sentence, *self._table()]
        if self.hidden:
            lines.append(f"  ({self.hidden} more that are the same in both)")
        if self.place is not None:
            lines.append(f"  {self.place.portable}: {self.place.source()}".removesuffix(": "))
        return "\n".join(lines)

    def _table(self) -> Iterator[str]:
        rows = [("", "this state", f"with {self.renaming}"), *((c.path, c.value, c.renamed_value) for c in self.cells)]
        widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
        for path, value, renamed in rows if self.cells else ():
            yield f"  {path:{widths[0]}}  {value:{widths[1]}}  {renamed}"


def told(protocol: Protocol, permutation: Permutation, obligation: Obligation) -> Refutation:
    """A refuted obligation in words."""
    renaming, state = Renaming(protocol, permutation), obligation.state
    assert state is not None
    match obligation.kind:
        case Kind.INITIAL:
            finding = _initial_finding(renaming, state)
        case Kind.ACTION:
            assert obligation.step is not None
            finding = _step_finding(renaming, protocol.steps[obligation.step], state)
        case Kind.INVARIANT | Kind.WITNESS:
            finding = _predicate_finding(renaming, obligation, state)
        case _:
            assert_never(obligation.kind)
    cells, hidden = _shown(renaming, state, finding.cells)
    sentence = f"{renaming.doing} is not harmless: {finding.text}."
    return Refutation(permutation, obligation, sentence, renaming.text, cells, hidden, finding.place)


@dataclass(frozen=True, slots=True)
class _Finding:
    """The second half of the sentence; the cells that matter, as numbered in the state, the most telling first; the
    line."""

    text: str
    cells: tuple[int, ...]
    place: Place | None


def _predicate(protocol: Protocol, name: str) -> Predicate:
    return next(each for each in (*protocol.invariants, *protocol.witnesses) if each.name == name)


def _initial_finding(renaming: Renaming, state: State) -> _Finding:
    differing = tuple(cell for cell, value in enumerate(renaming.state(state)) if value != state[cell])
    return _Finding("it turns this initial state into one that is not initial", differing, None)


def _predicate_finding(renaming: Renaming, obligation: Obligation, state: State) -> _Finding:
    found = _predicate(renaming.protocol, obligation.name)
    here, there = ("true", "false") if evaluate(found.expr, state) else ("false", "true")
    text = (
        f"the {obligation.kind.value} {found.name} is {here} in this state, "
        f"but {there} in the same state with {renaming.text}"
    )
    return _Finding(text, _read([found.expr]), found.formula.place or found.place)


def _step_finding(renaming: Renaming, step: Step, state: State) -> _Finding:
    twin = renaming.twin(step)
    if twin is None:
        return _missing_finding(renaming, step)
    if enabled(step, state) and enabled(twin, renaming.state(state)):
        return _update_finding(renaming, step, twin, state)
    return _guard_finding(renaming, step, twin, state)


def _missing_finding(renaming: Renaming, step: Step) -> _Finding:
    protocol, action = renaming.protocol, renaming.protocol.action_named[step.action]
    chosen = zip(action.parameters, step.arguments, strict=True)
    renamed = tuple(renaming.permutation.code(parameter.domain, code) for parameter, code in chosen)
    never = step_text(protocol, replace(step, arguments=renamed))
    text = f"in this state {step_text(protocol, step)} is enabled, but {never} is never possible"
    return _Finding(text, _read(condition.expr for condition in step.guard), action.place)


def _guard_finding(renaming: Renaming, step: Step, twin: Step, state: State) -> _Finding:
    protocol, able = renaming.protocol, enabled(step, state)
    other = "it" if twin is step else step_text(protocol, twin)
    here, there = ("is", "is not") if able else ("is not", "is")
    text = (
        f"in this state {step_text(protocol, step)} {here} enabled, "
        f"but in the same state with {renaming.text} {other} {there}"
    )
    disabled, where = (twin, renaming.state(state)) if able else (step, state)
    failing = next(condition for condition in disabled.guard if not evaluate(condition.expr, where))
    telling = (condition.expr for condition in (*step.guard, *twin.guard) if condition.place == failing.place)
    rest = (condition.expr for condition in (*step.guard, *twin.guard))
    return _Finding(text, _read(telling, rest), failing.place)


def _update_finding(renaming: Renaming, step: Step, twin: Step, state: State) -> _Finding:
    protocol, target = renaming.protocol, renaming.parted_cells(step, twin, state)[0]
    source, domain = renaming.moved.index(target), protocol.cells[target].domain
    here, there = _values_after(step, state)[source], _values_after(twin, renaming.state(state))[target]
    wanted = renaming.value(source, here)
    text = (
        f"from this state {step_text(protocol, step)} leads to "
        f"{protocol.cells[source].path} = {_show(domain, here)}; from the same state with {renaming.text}, "
        f"{step_text(protocol, twin)} should lead to {protocol.cells[target].path} = {_show(domain, wanted)}, "
        f"but leads to {_show(domain, there)}"
    )
    writers = [u for u in step.updates if u.cell == source] + [u for u in twin.updates if u.cell == target]
    guards = (condition.expr for condition in (*step.guard, *twin.guard))
    return _Finding(text, _read((update.value for update in writers), guards), writers[-1].place)


def _show(domain: Scalar, value: int) -> str:
    return domain.show(value) if domain.low <= value <= domain.high else str(value)


def _read(*groups: Iterable[Expr]) -> tuple[int, ...]:
    """The cells that expressions read, each once, those of earlier groups first."""
    return tuple(dict.fromkeys(cell for exprs in groups for expr in exprs for cell in cells_read(expr)))


def _shown(renaming: Renaming, state: State, cells: tuple[int, ...]) -> tuple[tuple[Shown, ...], int]:
    """The cells worth showing, in the order of the state, and how many have been left out: all that differ between the
    two states, and some of the others."""
    protocol, image = renaming.protocol, renaming.state(state)
    moving = [cell for cell in cells if state[cell] != image[cell]]
    still = [cell for cell in cells if state[cell] == image[cell]]
    kept = sorted(moving + still[: max(0, SHOWN_CELLS - len(moving))])
    rows = (_row(protocol.cells[cell], state[cell], image[cell]) for cell in kept)
    return tuple(rows), len(cells) - len(kept)


def _row(cell: Cell, value: int, renamed: int) -> Shown:
    return Shown(str(cell.path), cell.domain.show(value), cell.domain.show(renamed))
