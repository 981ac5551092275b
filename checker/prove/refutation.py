"""A permutation that does harm: the evaluator's word for it, the plainest state that shows it, and the sentence.

z3 proposes a state; here it is evaluated in plain Python before anyone believes it. Then everything that does not
matter is set back to what it is initially, as long as the harm still shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias, assert_never

from checker.prove.certificate import Kind, Obligation
from model.errors import InternalError, Place
from model.language.domains import Scalar
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
        """`A and B swapped`; `A renamed to B, B to C, C to A`."""
        scalarset = next(each for each in self.protocol.scalarsets if each.name == self.permutation.scalarset)
        names, pairs = scalarset.members, [(m, i) for m, i in enumerate(self.permutation.image) if m != i]
        whose = "" if len(self.protocol.scalarsets) == 1 else f" of {scalarset.name}"
        if len(pairs) == 2:
            return f"{names[pairs[0][0]]} and {names[pairs[0][1]]}{whose} swapped"
        first, *others = (f"{names[m]}{{}} to {names[i]}" for m, i in pairs)
        return ", ".join([first.format(f"{whose} renamed"), *(other.format("") for other in others)])

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
            lines.append(f"  {self.place}: {self.place.source()}".removesuffix(": "))
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
            finding = _step_finding(renaming, protocol.steps[obligation.step or 0], state)
        case Kind.INVARIANT | Kind.WITNESS:
            finding = _predicate_finding(renaming, obligation, state)
        case _:
            assert_never(obligation.kind)
    cells, hidden = _shown(renaming, state, finding.cells)
    sentence = f"Not harmless with {renaming.text}: {finding.text}."
    return Refutation(permutation, obligation, sentence, renaming.text, cells, hidden, finding.place)


@dataclass(frozen=True, slots=True)
class _Finding:
    """The second half of the sentence, the cells that matter (numbered as in the state), the line."""

    text: str
    cells: tuple[int, ...]
    place: Place | None


def _initial_finding(renaming: Renaming, state: State) -> _Finding:
    everything = tuple(range(len(state)))
    return _Finding("this initial state becomes one that is not initial", everything, None)


def _predicate_finding(renaming: Renaming, obligation: Obligation, state: State) -> _Finding:
    protocol = renaming.protocol
    found = next(p for p in (*protocol.invariants, *protocol.witnesses) if p.name == obligation.name)
    here, there = ("is true", "is false") if evaluate(found.expr, state) else ("is false", "is true")
    text = f"the {obligation.kind.value} {found.name} {here} in this state and {there} in the renamed one"
    return _Finding(text, _read([found.expr]), found.place)


def _step_finding(renaming: Renaming, step: Step, state: State) -> _Finding:
    twin, name = renaming.twin(step), step_text(renaming.protocol, step)
    if twin is None:
        text = f"in this state {name} is enabled, but the renamed step is never possible"
        return _Finding(text, _read(c.expr for c in step.guard), renaming.protocol.action_named[step.action].place)
    if enabled(step, state) and enabled(twin, renaming.state(state)):
        return _update_finding(renaming, step, twin, state)
    return _guard_finding(renaming, step, twin, state)


def _guard_finding(renaming: Renaming, step: Step, twin: Step, state: State) -> _Finding:
    protocol, able = renaming.protocol, enabled(step, state)
    other = "it" if twin is step else step_text(protocol, twin)
    verbs = ("is", "is not") if able else ("is not", "is")
    text = f"in this state {step_text(protocol, step)} {verbs[0]} enabled, but in the renamed one {other} {verbs[1]}"
    disabled, where = (twin, renaming.state(state)) if able else (step, state)
    failing = next(condition for condition in disabled.guard if not evaluate(condition.expr, where))
    mirror = [c for c in (*step.guard, *twin.guard) if c.place == failing.place]
    return _Finding(text, _read(c.expr for c in mirror), failing.place)


def _update_finding(renaming: Renaming, step: Step, twin: Step, state: State) -> _Finding:
    protocol, target = renaming.protocol, renaming.parted_cells(step, twin, state)[0]
    source, domain = renaming.moved.index(target), protocol.cells[target].domain
    here, there = _values_after(step, state)[source], _values_after(twin, renaming.state(state))[target]
    wanted = renaming.value(source, here)
    path, renamed_path = protocol.cells[source].path, protocol.cells[target].path
    text = (
        f"from this state {step_text(protocol, step)} leads to {path} = {_show(domain, here)}; "
        f"from the renamed one {step_text(protocol, twin)} should lead to {renamed_path} = {_show(domain, wanted)}, "
        f"and leads to {_show(domain, there)}"
    )
    writers = [u for u in step.updates if u.cell == source] + [u for u in twin.updates if u.cell == target]
    cells = _read(update.value for update in writers)
    return _Finding(text, cells, writers[-1].place)


def _show(domain: Scalar, value: int) -> str:
    return domain.show(value) if domain.low <= value <= domain.high else str(value)


def _read(exprs: Iterable[Expr]) -> tuple[int, ...]:
    return tuple(sorted({cell for expr in exprs for cell in cells_read(expr)}))


def _shown(renaming: Renaming, state: State, cells: tuple[int, ...]) -> tuple[tuple[Shown, ...], int]:
    """The cells worth showing, as they are in both states, and how many have been left out.

    Those that read differently come first when there are too many; the order is that of the state.
    """
    protocol, image = renaming.protocol, renaming.state(state)
    moving = [cell for cell in cells if state[cell] != image[cell]]
    still = [cell for cell in cells if state[cell] == image[cell]]
    kept = sorted(moving + still[: max(0, SHOWN_CELLS - len(moving))])
    rows = (_row(protocol.cells[cell], state[cell], image[cell]) for cell in kept)
    return tuple(rows), len(cells) - len(kept)


def _row(cell: Cell, value: int, renamed: int) -> Shown:
    return Shown(str(cell.path), cell.domain.show(value), cell.domain.show(renamed))
