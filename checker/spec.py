"""A spec: a variant of the protocol, bounds, what is checked, and what is expected of it.

    >>> spec = load_spec("kip-320")
    >>> spec.name, spec.bounds.epochs, spec.expect["StrongIsr"].text
    ('published/kip-320', 3, 'holds')
    >>> spec.changed(bounds={"epochs": 2}).is_as_written
    False

The format is described in `specs/README.md`, and for editors in `docs/spec.schema.json`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final

from checker.data import reading_order, shipped_specs
from checker.estimate import estimate
from checker.outcome import Verdict
from checker.spec_file import COUNTS, EXPECT, EXTENDS, INVARIANTS, Document, load_document
from checker.spec_table import Table, shown
from checker.vocabulary import vocabulary
from model.errors import Place, SpecError, TraceError, UsageError, nearest
from model.kafka import NAMED_VARIANTS, Bounds, Variant, kafka
from model.kafka.policy_file import SUFFIX as OWN_POLICY
from model.kafka.variant import named_variant
from model.language.protocol import Protocol

KEYS: Final = (
    *("title", "source", "notes", EXTENDS, "variant", INVARIANTS, "reachable", "never_enabled"),
    *("bounds", "features", EXPECT, "gate", "quick"),
)
HOLDS: Final = "holds"
VIOLATED: Final = "violated"
EXACT: Final = "exact"  # what [gate] may ask of counts
TRUNCATION: Final = "truncation"  # the feature whose rule may be a file of the user's own

#: Large enough for a truncation policy to be called: there is a follower, and an epoch for it to adopt.
REHEARSAL: Final = Bounds(replicas=2, log_size=1, records=1, epochs=2)


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

    `features` are the rules in which the spec differs from the variant it names. `expect` and `counts` are what the
    file says of its own variant, features and bounds; `is_as_written` is false once any of these is changed, and then
    nothing is expected. `quick` are smaller bounds for overviews. `policy_folder` is where a truncation policy of the
    user's own is, which `features` name as the spec does. `section` is where a shipped spec belongs.
    """

    name: str
    title: str
    source: str
    notes: str
    variant_name: str
    features: Mapping[str, str]
    bounds: Bounds
    quick: Bounds | None
    invariants: tuple[str, ...]
    reachable: tuple[str, ...]
    never_enabled: tuple[str, ...]
    expect: Mapping[str, Expectation]
    counts: ExpectedCounts | None
    is_as_written: bool = True
    document: Document = field(default=Document(""), repr=False, compare=False)
    policy_folder: Path = Path()
    section: str = ""
    exact_counts: bool = False  # `gate` is to judge every count, by a second search if need be

    @property
    def path(self) -> Path | None:
        """The spec's own file; none for a spec that was made from a trace."""
        return next(iter(self.files), None)

    @property
    def files(self) -> tuple[Path, ...]:
        """Every file that the spec was made of: its own, the one it extends, and so on."""
        return self.document.files

    @property
    def policy(self) -> Path | None:
        """The file of a truncation policy of the user's own; none if the policy is a shipped one."""
        rule = self.features.get(TRUNCATION, "")
        return self.policy_folder / rule if rule.endswith(OWN_POLICY) else None

    @property
    def variant(self) -> Variant:
        """The named variant with the spec's features, and the user's own policy as a path that can be opened."""
        variant, policy = self._as_named, self.policy
        return variant if policy is None else variant.changed({TRUNCATION: str(policy)})

    @property
    def _as_named(self) -> Variant:
        return named_variant(self.variant_name).changed(dict(self.features))

    def all_features(self) -> dict[str, str]:
        """Every feature with its rule, changed or not. The user's own policy is named as the spec names it."""
        return asdict(self._as_named)

    def all_bounds(self) -> dict[str, int]:
        return asdict(self.bounds)

    @property
    def built_on(self) -> str:
        """The spec that this one extends and shares its variant with; empty if there is none."""
        return "" if self._is_own("variant") else self.document.base

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
        written = asdict(_variant(Table(self.document, (), dict(self.document.data)), self.variant_name))
        return {name: rule for name, rule in self.all_features().items() if rule != written[name]}

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

    def full_protocol(self) -> Protocol:
        """The protocol with every invariant and witness that the variant has."""
        problems = estimate(self.variant, self.bounds).problems
        if problems:
            kind, where = (SpecError, self.place("bounds")) if self.is_as_written else (UsageError, None)
            bounds = ", ".join(f"{name} {getattr(self.bounds, name)}" for name in _used(self.variant))
            what = f"the bounds ({bounds}) are too large to be checked exhaustively: about {', '.join(problems)}"
            raise kind(what, where=where, instead="Choose smaller bounds")
        return kafka(self.variant, self.bounds)

    def changed(
        self,
        bounds: Mapping[str, int] | None = None,
        features: Mapping[str, str] | None = None,
        invariants: Sequence[str] | None = None,
    ) -> Spec:
        """The spec with some bounds and features replaced, and other invariants selected. Raises `UsageError` for
        unknown names and impossible values.

        Other bounds or features make another model, of which nothing is expected. Other invariants leave what is
        expected of the remaining ones, and all counts but that of the orbits, as invariants can break a symmetry.
        """
        spec = self._with_features(features or {})
        spec = replace(spec, bounds=self._changed_bounds(bounds or {}, spec.variant))
        if (spec.variant, spec.bounds) != (self.variant, self.bounds):
            spec = replace(spec, expect={}, counts=None, is_as_written=False)
        return spec._selecting(self.invariants if invariants is None else invariants)

    def at_quick_bounds(self) -> Spec:
        """The spec itself unless it has quick bounds."""
        return self if self.quick is None else self.changed(bounds=asdict(self.quick))

    def _changed_bounds(self, changes: Mapping[str, int], variant: Variant) -> Bounds:
        known = self.all_bounds()
        for name in changes:
            if name not in known:
                raise UsageError(f"there is no bound {name!r}", instead=nearest(name, known))
        bounds = Bounds(**{**known, **changes})
        useless = [name for name in _useless(bounds, variant) if name in changes]
        if useless:
            raise UsageError(
                f"{self.name} has no use for {' and '.join(map(_option, useless))}",
                why="Its rules do not look at that bound",
                instead=f"What it has: {', '.join(map(_option, _used(variant)))}",
            )
        # A bound that was of use until a feature changed goes back to where it does no harm.
        return replace(bounds, **{name: getattr(Bounds(), name) for name in variant.unused_bounds})

    def _with_features(self, changes: Mapping[str, str]) -> Spec:
        for name in changes:
            if name in self.all_bounds():
                raise UsageError(f"{name} is a bound, not a feature", instead=f"Write {_option(name)} {changes[name]}")
        features = _differences(self._as_named.changed(dict(changes)), self.variant_name)
        if TRUNCATION not in changes:
            return replace(self, features=features)
        return replace(self, features=features, policy_folder=Path())._rehearsed()

    def _rehearsed(self) -> Spec:
        """Itself, once a policy of the user's own has been staged where that is cheap: its mistakes are told before any
        search."""
        if self.policy is not None:
            kafka(self.variant, REHEARSAL)
        return self

    def _selecting(self, invariants: Sequence[str]) -> Spec:
        """With these invariants, and with what is known about the spec's (perhaps changed) variant."""
        known = vocabulary(self.variant)
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


def load_spec(spec: str | Path) -> Spec:
    """Load a shipped spec by name (`published/kip-320`, or `kip-320` if no other is called so) or a TOML file by path.

    Raises `SpecError`, with file and line, for whatever is wrong in the file, and `UsageError` if there is none.
    """
    document = load_document(spec)
    top = Table(document, (), dict(document.data))
    top.want_only(KEYS)
    name = _variant_name(top)
    variant = _variant(top, name)
    bounds = _bounds(top, "bounds", Bounds(), variant)
    known = vocabulary(variant)
    invariants = top.names(INVARIANTS, known.invariants, "invariant")
    return Spec(
        name=document.name,
        title=top.text("title"),
        source=top.text("source", ""),
        notes=top.text("notes", "", lines=True),
        variant_name=name,
        features=_differences(variant, name),
        bounds=bounds,
        quick=_bounds(top, "quick", bounds, variant) if "quick" in top.values else None,
        invariants=invariants,
        reachable=top.names("reachable", known.witnesses, "witness", []),
        never_enabled=top.names("never_enabled", known.actions, "action", []),
        expect=_expectations(top, invariants, known.invariants),
        counts=_counts(top),
        document=document,
        policy_folder=_policy_folder(top),
        section=reading_order().get(document.name, ""),
        exact_counts=_exact_counts(top),
    )._rehearsed()


def load_shipped() -> tuple[Spec, ...]:
    """Every shipped spec, in the order to read them in; those that have no place in it come last, by name."""
    placed, names = list(reading_order()), shipped_specs()
    return tuple(map(load_spec, [*filter(names.__contains__, placed), *(name for name in names if name not in placed)]))


def spec_for_trace(document: Mapping[str, Any], policy: Path | None = None) -> Spec:
    """The spec that a stored trace tells of; its file need not exist any more. Reads the keys `spec`, `variant`,
    `features` and `bounds`. `policy` is the file of a truncation policy of the user's own, which must be named if the
    trace tells of one: no trace has code run by itself. Raises `TraceError` for wrong types and a policy too many or
    too few, `UsageError` for names that today's model lacks."""
    name, variant_name = document.get("spec"), document.get("variant")
    if not isinstance(name, str) or not isinstance(variant_name, str):
        raise TraceError("spec and variant are not both names")
    blank = Spec(name, "", "", "", variant_name, {}, Bounds(), None, (), (), (), {}, None, False, Document(name))
    everything = vocabulary(blank.variant).invariants
    features = _with_policy(_mapping(document, "features"), policy)
    return blank.changed(_mapping(document, "bounds"), features, everything)


def _with_policy(features: dict[str, str], policy: Path | None) -> dict[str, str]:
    """The features of a trace with the file of its own policy, as it is named now."""
    rule = features.get(TRUNCATION)
    is_own = isinstance(rule, str) and rule.endswith(OWN_POLICY)
    if policy is None and is_own:
        raise TraceError(
            f"the trace is of a model with a truncation policy of somebody's own, {rule}",
            why="That is code, and a trace alone has no code run",
            instead="Name the file: --policy path/to/policy.py",
        )
    if policy is not None and not is_own:
        raise TraceError(f"the truncation policy of the trace is {rule!r}, not a file", instead="Leave out --policy")
    if policy is not None and policy.suffix != OWN_POLICY:
        raise TraceError(f"{str(policy)!r} is no Python file", instead=f"A policy's name ends in {OWN_POLICY}")
    return features if policy is None else {**features, TRUNCATION: str(policy)}


def _mapping(document: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = document.get(key)
    if not isinstance(value, dict):
        raise TraceError(f"{key} is no table of names and values")
    return value


# What the tables say


def _variant_name(top: Table) -> str:
    name = top.text("variant")
    if name not in NAMED_VARIANTS:
        raise top.error(f"there is no variant {shown(name)}", "variant", instead=nearest(name, NAMED_VARIANTS))
    return name


def _variant(top: Table, name: str) -> Variant:
    table = top.table("features")
    if table is None:
        return named_variant(name)
    for feature, rule in table.values.items():
        if not isinstance(rule, str):
            raise table.error(f"the feature {shown(feature)} is {shown(rule)}", feature, instead="Give a string")
    try:
        return named_variant(name).changed(table.values)
    except UsageError as error:
        raise table.error(error.what, *_blamed(table, error.what), why=error.why, instead=error.instead) from error


def _policy_folder(top: Table) -> Path:
    """A policy of the user's own is beside the spec that names it. Raises `SpecError` if there is none."""
    table = top.table("features")
    rule = str(table.values.get(TRUNCATION, "")) if table else ""
    if table is None or not rule.endswith(OWN_POLICY):
        return Path()
    where = table.document.place(*table.path, TRUNCATION)
    folder = Path(where.file).parent if where else Path()
    if not (folder / rule).exists():
        raise table.error(f"there is no file {shown(rule)} beside this spec", TRUNCATION)
    return folder


def _blamed(table: Table, what: str) -> list[str]:
    """The key that a message is about: it is named there, or its rule is."""
    words = re.findall(r"[\w./-]+", what)
    by_name = [key for key in table.values if key in words]
    by_rule = [key for key, rule in table.values.items() if rule in words]
    return (by_name or by_rule)[:1]


def _bounds(top: Table, key: str, default: Bounds, variant: Variant) -> Bounds:
    table = top.table(key)
    if table is None:
        return default
    table.want_only(asdict(default))
    bounds = default
    for name, value in table.values.items():
        if type(value) is not int:
            raise table.error(f"the bound {name} is {shown(value)}", name, instead="Give a whole number")
        try:
            bounds = replace(bounds, **{name: value})
        except UsageError as error:
            raise table.error(error.what, name, why=error.why, instead=error.instead) from error
    for name in _useless(bounds, variant):
        raise table.error(f"the rules of this spec do not look at the bound {name}", name, instead="Take it out")
    return bounds


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


def _exact_counts(top: Table) -> bool:
    table = top.table("gate")
    if table is None:
        return False
    table.want_only([COUNTS])
    if table.values.get(COUNTS, EXACT) != EXACT:
        what = f"{COUNTS} is {shown(table.values[COUNTS])}"
        raise table.error(what, COUNTS, instead=f'Write {COUNTS} = "{EXACT}", or drop it')
    return COUNTS in table.values


# Names and rules


def _used(variant: Variant) -> list[str]:
    """The bounds that the variant looks at."""
    return [name for name in asdict(Bounds()) if name not in variant.unused_bounds]


def _useless(bounds: Bounds, variant: Variant) -> list[str]:
    """Bounds that ask for what the variant does not have. To ask for no crash where there is none is fine."""
    return [name for name in variant.unused_bounds if getattr(bounds, name) != getattr(Bounds(), name)]


def _option(bound: str) -> str:
    return f"--{bound.replace('_', '-')}"


def _differences(variant: Variant, name: str) -> dict[str, str]:
    """The rules in which a variant differs from the one of that name."""
    named = named_variant(name)
    rules = [rule.name for rule in fields(variant)]
    return {rule: getattr(variant, rule) for rule in rules if getattr(variant, rule) != getattr(named, rule)}


def _want_known(kind: str, names: Iterable[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            raise UsageError(f"there is no {kind} {name!r}", instead=nearest(name, known))
