"""A spec: a variant of the protocol, or a protocol of the user's own, bounds, what is checked and what is expected.

    >>> spec = load_spec("kip-320")
    >>> spec.name, spec.bounds.epochs, spec.expect["StrongIsr"].text
    ('published/kip-320', 3, 'holds')
    >>> spec.changed(bounds={"epochs": 2}).is_as_written
    False

The format is described in `specs/README.md`, and for editors in `docs/spec.schema.json`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any, Final

from checker.data import EXAMPLES, reading_order, shipped_specs
from checker.kafka_origin import FEATURES, KafkaOrigin, kafka_origin, kafka_origin_of
from checker.origin import NOTHING_ADMITTED, Admitted, Origin, Vocabulary
from checker.outcome import Verdict
from checker.own_invariants import OWN_INVARIANTS, WithOwnInvariants, with_own_invariants, with_own_invariants_of
from checker.own_origin import PROTOCOL, own_origin, own_origin_of
from checker.spec_file import COUNTS, EXPECT, EXTENDS, INVARIANTS, Document, load_document
from checker.spec_table import Table, shown
from model.errors import ModelFault, Place, SpecError, TraceError, UsageError, nearest
from model.kafka import Bounds, Variant
from model.language.protocol import Protocol

SWEEP: Final = "sweep"
KEYS: Final = (
    *("title", "source", "notes", EXTENDS, "variant", PROTOCOL, OWN_INVARIANTS, INVARIANTS, "reachable"),
    *("never_enabled", "bounds", "features", EXPECT, "gate", "quick", SWEEP),
)
HOLDS: Final = "holds"
VIOLATED: Final = "violated"
EXACT: Final = "exact"  # what [gate] may ask of counts


@contextmanager
def _aside() -> Iterator[None]:
    """What the user's own code prints goes to the error stream: standard output is for results."""
    with redirect_stdout(sys.stderr):
        yield


@dataclass(frozen=True, slots=True)
class Expectation:
    """What is expected of one invariant. `steps` is the length of its shortest violation; none if it holds."""

    steps: int | None = None

    @property
    def verdict(self) -> Verdict:
        return Verdict.HOLDS if self.steps is None else Verdict.VIOLATED

    @property
    def text(self) -> str:
        return HOLDS if self.steps is None else f"violated in {self.steps} step{'s' * (self.steps != 1)}"


@dataclass(frozen=True, slots=True)
class ExpectedCounts:
    """Exact sizes, without any reduction: states, orbits of states under the replicas' permutations, levels (the
    initial state is at depth 1), successors. None where the spec says nothing."""

    distinct: int | None = None
    orbits: int | None = None
    depth: int | None = None
    generated: int | None = None


LEAST_COUNT: Final = {"distinct": 1, "orbits": 1, "depth": 1, "generated": 0}


@dataclass(frozen=True, slots=True)
class Spec:
    """Make one with `load_spec`; change one with `changed`.

    `origin` is where its protocol comes from, bounds included. `expect` and `counts` are what the file says of just
    that; `is_as_written` is false once anything about it is changed, and then nothing is expected. `quick_origin` has
    smaller bounds for overviews. `sweep` has for some bounds the values to go through. `section` is where a shipped
    spec belongs.
    """

    name: str
    title: str
    source: str
    notes: str
    origin: Origin
    quick_origin: Origin | None
    invariants: tuple[str, ...]
    reachable: tuple[str, ...]
    never_enabled: tuple[str, ...]
    expect: Mapping[str, Expectation]
    counts: ExpectedCounts | None
    is_as_written: bool = True
    sweep: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    document: Document = field(default=Document(""), repr=False, compare=False)
    section: str = ""
    exact_counts: bool = False  # `gate` is to judge every count, by a second search if need be

    @property
    def path(self) -> Path | None:
        """The spec's own file; none for a spec that was made from a trace."""
        return next(iter(self.document.files), None)

    @property
    def files(self) -> tuple[Path, ...]:
        """Every file that the spec was made of: its own, the one it extends, and so on; then those of its own code but
        for a policy."""
        return (*self.document.files, *(path for path in self.origin.code if path != self.policy))

    @property
    def variant_name(self) -> str:
        """The named variant; of a protocol of the user's own, its file and function."""
        return self.origin.name

    @property
    def features(self) -> Mapping[str, str]:
        """The rules in which the spec differs from the variant it names."""
        return self.origin.features

    @property
    def admission(self) -> tuple[str, ...]:
        """The options that let a command which reads a trace run the user's own code."""
        return self.origin.admission

    def all_features(self) -> dict[str, str]:
        """Every feature with its rule, changed or not. The user's own policy is named as the spec names it."""
        features: dict[str, str] = self.model_document().get(FEATURES, {})
        return features

    def all_bounds(self) -> dict[str, int]:
        return self.origin.bounds()

    def used_bounds(self) -> dict[str, int]:
        """The bounds that mean something to the spec's rules."""
        return self.origin.used_bounds()

    def model_document(self) -> dict[str, Any]:
        """What results and traces say of the spec's protocol, beside its bounds."""
        return self.origin.document()

    @_aside()
    def vocabulary(self) -> Vocabulary:
        """The names of invariants, witnesses and actions that the spec's protocol has."""
        return self.origin.vocabulary()

    # What only specs of the Kafka protocol have

    @property
    def policy(self) -> Path | None:
        """The file of a truncation policy of the user's own; none if the policy is a shipped one."""
        origin = _plain(self.origin)
        return origin.policy if isinstance(origin, KafkaOrigin) else None

    @property
    def variant(self) -> Variant:
        """The named variant with the spec's features, and the user's own policy as a path that can be opened."""
        return self._kafka.variant

    @property
    def bounds(self) -> Bounds:
        return self._kafka.size

    @property
    def quick(self) -> Bounds | None:
        origin = _plain(self.quick_origin)
        return origin.size if isinstance(origin, KafkaOrigin) else None

    @property
    def _kafka(self) -> KafkaOrigin:
        origin = _plain(self.origin)
        if not isinstance(origin, KafkaOrigin):
            raise UsageError(f"{self.name} has a protocol of its own, {self.origin.name}, and no variant")
        return origin

    # What the file says, and the protocol

    @property
    def built_on(self) -> str:
        """The spec that this one extends and shares its variant with; empty if there is none."""
        return "" if self._is_own("variant") or self._is_own(PROTOCOL) else self.document.base

    @property
    def own_features(self) -> dict[str, str]:
        """The rules in which it differs from the spec it is built on, or else from its variant."""
        if not self.built_on:
            return dict(self.features)
        changed, rules = self.changed_features, self.all_features()
        return {name: rules[name] for name in rules if name in changed or self._is_own("features", name)}

    @property
    def changed_features(self) -> dict[str, str]:
        """The rules that are no longer those of its file."""
        rules = self.all_features()
        if not rules:
            return {}
        written = kafka_origin(Table(self.document, (), dict(self.document.data))).document()[FEATURES]
        return {name: rule for name, rule in rules.items() if rule != written[name]}

    def _is_own(self, *key: str) -> bool:
        """Whether it stands in the spec's own file, and not in one that the spec extends."""
        place = self.document.lines.get(key)
        return place is not None and Path(place.file) == self.path

    def place(self, *path: str | int) -> Place | None:
        """The line of a key in the file that says it, or of the nearest table around it."""
        return self.document.place(*path)

    def place_of(self, invariant: str) -> Place | None:
        """Where the spec says what it expects of an invariant, else where it selects the invariant."""
        if (EXPECT, invariant) in self.document.lines:
            return self.place(EXPECT, invariant)
        listed = self.document.data.get(INVARIANTS, [])
        return self.place(INVARIANTS, listed.index(invariant)) if invariant in listed else self.place(INVARIANTS)

    def protocol(self) -> Protocol:
        """The protocol with the spec's invariants and witnesses, in the spec's order. Raises `UsageError` or
        `SpecError` for bounds beyond what can be checked, before anything of their size is made."""
        return self.full_protocol().selecting(self.invariants, self.reachable)

    @_aside()
    def full_protocol(self) -> Protocol:
        """The protocol with every invariant and witness that it has."""
        with _blaming(self.place("bounds")) if self.is_as_written else nullcontext():
            return self.origin.protocol()

    def told(self, fault: ModelFault) -> ModelFault:
        """A fault of the model in the words of whoever wrote it."""
        return self.origin.told(fault)

    @_aside()
    def changed(
        self,
        bounds: Mapping[str, int] | None = None,
        features: Mapping[str, str] | None = None,
        invariants: Sequence[str] | None = None,
    ) -> Spec:
        """The spec with some bounds and features replaced, and other invariants selected. `features` of a protocol of
        the user's own are its bounds as text. Raises `UsageError` for unknown names and impossible values.

        Other bounds or features make another model, of which nothing is expected; a bound that is given is no longer
        swept. Other invariants leave what is
        expected of the remaining ones, and all counts but that of the orbits, as invariants can break a symmetry.
        """
        origin = self.origin.with_settings(features or {}).with_bounds(bounds or {}, self.name)
        given = {*(bounds or {}), *(features or {})}
        sweep = {name: values for name, values in self.sweep.items() if name not in given}
        spec = replace(self, origin=origin, sweep=sweep)
        if origin != self.origin:
            spec = replace(spec, expect={}, counts=None, is_as_written=False)
        return spec._selecting(self.invariants if invariants is None else invariants)

    def at_quick_bounds(self) -> Spec:
        """The spec itself unless it has quick bounds."""
        return self if self.quick_origin is None else self.changed(bounds=self.quick_origin.bounds())

    def told_safely(self) -> Spec:
        """The same protocol, told as what it changes in the nearest one that keeps every promise."""
        return replace(self, origin=self.origin.told_safely())

    def safe_features(self) -> dict[str, str]:
        """What each feature is in the protocol that the spec is told as a change of."""
        return self.origin.safe_features()

    def points(self) -> tuple[Spec, ...]:
        """The spec at each point of its sweep, in order; itself if it has none. A point is named after its bounds, and
        what the spec expects counts where they are the spec's own."""
        if not self.sweep:
            return (self,)
        points = (dict(zip(self.sweep, values, strict=True)) for values in product(*self.sweep.values()))
        return tuple(
            replace(self.changed(bounds=point), name=f"{self.name}/{_named(point)}", quick_origin=None)
            for point in points
        )

    def _selecting(self, invariants: Sequence[str]) -> Spec:
        """With these invariants, and with what is known about the spec's (perhaps changed) protocol."""
        known = self.vocabulary()
        chosen = tuple(dict.fromkeys(invariants))
        _want_known("invariant", chosen, known.invariants)
        _want_known("witness", self.reachable, known.witnesses)
        if not chosen:
            raise UsageError("no invariant is selected, so nothing would be checked")
        counts = self.counts
        if counts is not None and set(chosen) != set(self.invariants):
            counts = replace(counts, orbits=None)
        return replace(
            self,
            invariants=chosen,
            never_enabled=tuple(action for action in self.never_enabled if action in known.actions),
            expect={name: expected for name, expected in self.expect.items() if name in chosen},
            counts=counts,
        )


@_aside()
def load_spec(spec: str | Path) -> Spec:
    """Load a shipped spec by name (`published/kip-320`, or `kip-320` if no other is called so) or a TOML file by path.

    Raises `SpecError`, with file and line, for whatever is wrong in the file, `UsageError` if there is none, and
    `ModelError` for a mistake in a file of the user's own that the spec names, which is run.
    """
    document = load_document(spec)
    top = Table(document, (), dict(document.data))
    top.want_only(KEYS)
    origin = _origin(top)
    bounds = top.table("bounds")
    if bounds is not None:
        origin = origin.within(bounds)
    quick = top.table("quick")
    with _blaming(document.place("bounds")):
        known = origin.vocabulary()
    invariants = top.names(INVARIANTS, known.invariants, "invariant")
    return Spec(
        name=document.name,
        title=top.text("title"),
        source=top.text("source", ""),
        notes=top.text("notes", "", lines=True),
        origin=origin.rehearsed(),
        quick_origin=None if quick is None else origin.within(quick),
        invariants=invariants,
        reachable=top.names("reachable", known.witnesses, "witness", []),
        never_enabled=top.names("never_enabled", known.actions, "action", []),
        expect=_expectations(top, invariants, known.invariants),
        counts=_counts(top),
        sweep=_sweep(top, origin, document.name),
        document=document,
        section=reading_order().get(document.name, ""),
        exact_counts=_exact_counts(top),
    )


def load_shipped() -> tuple[Spec, ...]:
    """Every shipped spec of the Kafka protocol, in the order to read them in; those that have no place in it come last,
    by name."""
    placed, names = list(reading_order()), [name for name in shipped_specs() if not name.startswith(EXAMPLES)]
    ordered = [*(name for name in placed if name in names), *(name for name in names if name not in placed)]
    return tuple(map(load_spec, ordered))


def load_examples() -> tuple[Spec, ...]:
    """The shipped specs of other protocols, which show how to write one."""
    return tuple(load_spec(name) for name in shipped_specs() if name.startswith(EXAMPLES))


@_aside()
def spec_for_trace(document: Mapping[str, Any], admitted: Admitted = NOTHING_ADMITTED) -> Spec:
    """The spec that a stored trace tells of; its file need not exist any more. Reads the keys `spec`, `bounds`, and
    `variant` and `features` or `protocol`. `admitted` are the files of the user's own that may be run: the trace must
    tell of the same. Raises `TraceError` for wrong types and a file too many or too few, `UsageError` for names that
    today's model lacks."""
    name = document.get("spec")
    if not isinstance(name, str):
        raise TraceError("spec and variant are not both names")
    origin = _origin_of(document, admitted)
    bounds = document.get("bounds")
    if not isinstance(bounds, dict):
        raise TraceError("bounds is no table of names and values")
    blank = Spec(name, "", "", "", origin, None, (), (), (), {}, None, False, document=Document(name))
    changed = replace(blank, origin=origin.with_bounds(bounds, name))
    return changed.changed(invariants=changed.origin.vocabulary().invariants)


def _origin_of(document: Mapping[str, Any], admitted: Admitted) -> Origin:
    return with_own_invariants_of(_protocol_of(document, admitted), document, admitted)


def _protocol_of(document: Mapping[str, Any], admitted: Admitted) -> Origin:
    if PROTOCOL in document:
        return own_origin_of(document, admitted)
    if admitted.protocol is not None:
        raise TraceError("the trace is of the Kafka protocol", instead="Leave out --protocol")
    return kafka_origin_of(document, admitted)


# What the tables say


def _origin(top: Table) -> Origin:
    origin: Origin = own_origin(top) if PROTOCOL in top.values else kafka_origin(top)
    return with_own_invariants(origin, top)


def _plain(origin: Origin | None) -> Origin | None:
    """The origin without invariants of the user's own."""
    return origin.base if isinstance(origin, WithOwnInvariants) else origin


@contextmanager
def _blaming(place: Place | None) -> Iterator[None]:
    """What is impossible about the bounds is a mistake in the file that gives them."""
    try:
        yield
    except UsageError as error:
        raise SpecError(error.what, where=place, why=error.why, instead=error.instead) from error


def _expectations(top: Table, checked: Sequence[str], known: Sequence[str]) -> dict[str, Expectation]:
    table = top.table(EXPECT)
    if table is None:
        return {}
    if not table.values:
        raise table.error(
            "[expect] is empty", why="A spec that expects nothing cannot fail", instead="Fill it or drop it"
        )
    names = [name for name in table.values if name != COUNTS]
    for name in names:
        if name not in known:
            raise table.error(f"there is no invariant {shown(name)}", name, instead=nearest(name, known))
        if name not in checked:
            raise table.error(f"{name} is not checked by this spec", name, instead="Add it to invariants")
    return {name: _expectation(table, name) for name in names}


def _expectation(table: Table, name: str) -> Expectation:
    value = table.values[name]
    if value == HOLDS:
        return Expectation()
    steps = value[VIOLATED] if isinstance(value, dict) and list(value) == [VIOLATED] else None
    if type(steps) is int and steps > 0:
        return Expectation(steps)
    told = shown(value) if steps is None else f"violated in {shown(steps)} steps"
    instead = f'Write "{HOLDS}", or {{ {VIOLATED} = n }} if the shortest violation has n steps (at least 1)'
    raise table.error(f"the expectation of {name} is {told}", name, instead=instead)


def _counts(top: Table) -> ExpectedCounts | None:
    expect = top.table(EXPECT)
    table = expect.table(COUNTS) if expect else None
    if table is None:
        return None
    table.want_only(LEAST_COUNT)
    if not table.values:
        raise table.error("[expect.counts] is empty", instead=f"Give some of {', '.join(LEAST_COUNT)}, or drop it")
    return ExpectedCounts(**{name: table.count(name, least) for name, least in LEAST_COUNT.items()})


def _sweep(top: Table, origin: Origin, name: str) -> dict[str, tuple[int, ...]]:
    table = top.table(SWEEP)
    if table is None:
        return {}
    if not table.values:
        raise table.error("[sweep] is empty", instead="Give a bound several values: epochs = [2, 3], or drop it")
    return {bound: _swept(table, bound, origin, name) for bound in table.values}


def _swept(table: Table, bound: str, origin: Origin, name: str) -> tuple[int, ...]:
    """The values of a bound that is swept; each must be possible."""
    values = table.values[bound]
    if not isinstance(values, list) or not values:
        raise table.error(f"{bound} is {shown(values)}", bound, instead=f"Give a list of numbers: {bound} = [2, 3]")
    for index, value in enumerate(values):
        if value in values[:index]:
            raise table.error(f"{bound} has {shown(value)} twice", bound, index, instead="Take one of the two out")
        with _blaming(table.document.place(*table.path, bound, index)):
            origin.with_bounds({bound: value}, name)
    return tuple(values)


def _named(point: Mapping[str, int]) -> str:
    """`epochs-2-log-size-1`."""
    return "-".join(f"{bound.replace('_', '-')}-{value}" for bound, value in point.items())


def _exact_counts(top: Table) -> bool:
    table = top.table("gate")
    if table is None:
        return False
    table.want_only([COUNTS])
    if table.values.get(COUNTS, EXACT) != EXACT:
        what = f"{COUNTS} is {shown(table.values[COUNTS])}"
        raise table.error(what, COUNTS, instead=f'Write {COUNTS} = "{EXACT}", or drop it')
    return COUNTS in table.values


def _want_known(kind: str, names: Iterable[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            raise UsageError(f"there is no {kind} {name!r}", instead=nearest(name, known))
