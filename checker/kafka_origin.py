"""Specs of the Kafka protocol: a named variant, the features in which they differ from it, and bounds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final

from checker.estimate import estimate
from checker.origin import Admitted, Vocabulary
from checker.spec_table import Table, shown
from checker.vocabulary import vocabulary
from model.errors import ModelFault, TraceError, UsageError, nearest
from model.kafka import NAMED_VARIANTS, Bounds, Variant, kafka
from model.kafka.policy import told
from model.kafka.policy_file import SUFFIX as OWN_POLICY
from model.kafka.variant import named_variant
from model.language.protocol import Protocol

VARIANT: Final = "variant"
FEATURES: Final = "features"
TRUNCATION: Final = "truncation"  # the feature whose rule may be a file of the user's own

#: Named variants that keep every promise (a test asks their specs).
SAFE: Final = ("published/kip-320", "brokers/kip-320", "brokers/truncate-on-fetch")

#: Large enough for a truncation policy to be called: there is a follower, and an epoch for it to adopt.
REHEARSAL: Final = Bounds(replicas=2, log_size=1, records=1, epochs=2)


@dataclass(frozen=True, slots=True)
class KafkaOrigin:
    """`rules` are those of the named variant with the spec's features, a policy of the user's own as the spec names it;
    `policy_folder` is where that policy is. The same rules under two names are the same."""

    name: str = field(compare=False)
    rules: Variant
    size: Bounds = field(default_factory=Bounds)
    policy_folder: Path = Path()

    @property
    def features(self) -> dict[str, str]:
        return differences(self.rules, named_variant(self.name))

    @property
    def policy(self) -> Path | None:
        """The file of a truncation policy of the user's own; none if the policy is a shipped one."""
        rule = self.rules.truncation
        return self.policy_folder / rule if rule.endswith(OWN_POLICY) else None

    @property
    def variant(self) -> Variant:
        """The rules, with the user's own policy as a path that can be opened."""
        return self.rules if self.policy is None else replace(self.rules, truncation=str(self.policy))

    @property
    def code(self) -> tuple[Path, ...]:
        return () if self.policy is None else (self.policy,)

    @property
    def admission(self) -> tuple[str, ...]:
        return () if self.policy is None else ("--policy", str(self.policy))

    def bounds(self) -> dict[str, int]:
        return asdict(self.size)

    def used_bounds(self) -> dict[str, int]:
        return {name: value for name, value in self.bounds().items() if name not in self.rules.unused_bounds}

    def document(self) -> dict[str, Any]:
        return {VARIANT: self.name, FEATURES: asdict(self.rules)}

    def vocabulary(self) -> Vocabulary:
        return vocabulary(self.variant)

    def protocol(self) -> Protocol:
        """Nothing of the size of bounds that are too large is made."""
        problems = estimate(self.variant, self.size).problems
        if problems:
            bounds = ", ".join(f"{name} {value}" for name, value in self.used_bounds().items())
            what = f"the bounds ({bounds}) are too large to be checked exhaustively: about {', '.join(problems)}"
            raise UsageError(what, instead="Choose smaller bounds")
        return kafka(self.variant, self.size)

    def with_bounds(self, changes: Mapping[str, int], owner: str) -> KafkaOrigin:
        known = self.bounds()
        for name in changes:
            if name not in known:
                raise UsageError(f"there is no bound {name!r}", instead=nearest(name, known))
        size = Bounds(**{**known, **changes})
        useless = [name for name in _useless(size, self.rules) if name in changes]
        if useless:
            raise UsageError(
                f"{owner} has no use for {' and '.join(map(option_of, useless))}",
                why="Its rules do not look at that bound",
                instead=f"What it has: {', '.join(map(option_of, self.used_bounds()))}",
            )
        # A bound that was of use until a feature changed goes back to where it does no harm.
        harmless = {name: getattr(Bounds(), name) for name in self.rules.unused_bounds}
        return replace(self, size=replace(size, **harmless))

    def with_settings(self, changes: Mapping[str, str]) -> KafkaOrigin:
        for name in changes:
            if name in self.bounds():
                raise UsageError(
                    f"{name} is a bound, not a feature", instead=f"Write {option_of(name)} {changes[name]}"
                )
        changed = replace(self, rules=self.rules.changed(dict(changes)))
        return replace(changed, policy_folder=Path()).rehearsed() if TRUNCATION in changes else changed

    def within(self, table: Table) -> KafkaOrigin:
        table.want_only(self.bounds())
        size = self.size
        for name in table.values:
            try:
                size = replace(size, **{name: table.bound(name)})
            except UsageError as error:
                raise table.error(error.what, name, why=error.why, instead=error.instead) from error
        for name in _useless(size, self.rules):
            raise table.error(f"the rules of this spec do not look at the bound {name}", name, instead="Take it out")
        return replace(self, size=size)

    def told_safely(self) -> KafkaOrigin:
        nearest_safe = min(SAFE, key=lambda name: len(differences(self.rules, named_variant(name))))
        return replace(self, name=nearest_safe)

    def safe_features(self) -> dict[str, str]:
        return asdict(named_variant(self.name))

    def rehearsed(self) -> KafkaOrigin:
        if self.policy is not None:
            kafka(self.variant, REHEARSAL)
        return self

    def told(self, fault: ModelFault) -> ModelFault:
        return told(fault, self.variant.truncation)


def differences(rules: Variant, named: Variant) -> dict[str, str]:
    """The features in which some rules differ from those of a named variant."""
    names = [rule.name for rule in fields(rules)]
    return {name: getattr(rules, name) for name in names if getattr(rules, name) != getattr(named, name)}


def option_of(bound: str) -> str:
    """`--log-size` for `log_size`."""
    return f"--{bound.replace('_', '-')}"


def _useless(bounds: Bounds, variant: Variant) -> list[str]:
    """Bounds that ask for what the variant does not have. To ask for no crash where there is none is fine."""
    return [name for name in variant.unused_bounds if getattr(bounds, name) != getattr(Bounds(), name)]


# From a spec


def kafka_origin(top: Table) -> KafkaOrigin:
    """What a spec says of its rules; its bounds are the usual ones. Raises `SpecError`, with the line."""
    name = top.text(VARIANT)
    if name not in NAMED_VARIANTS:
        raise top.error(f"there is no variant {shown(name)}", VARIANT, instead=nearest(name, NAMED_VARIANTS))
    return KafkaOrigin(name, _rules(top, name), policy_folder=_policy_folder(top))


def _rules(top: Table, name: str) -> Variant:
    table = top.table(FEATURES)
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
    table = top.table(FEATURES)
    rule = str(table.values.get(TRUNCATION, "")) if table else ""
    if table is None or not rule.endswith(OWN_POLICY):
        return Path()
    folder = table.folder(TRUNCATION)
    if not (folder / rule).exists():
        raise table.error(f"there is no file {shown(rule)} beside this spec", TRUNCATION)
    return folder


def _blamed(table: Table, what: str) -> list[str]:
    """The key that a message is about: it is named there, or its rule is."""
    words = re.findall(r"[\w./-]+", what)
    by_name = [key for key in table.values if key in words]
    by_rule = [key for key, rule in table.values.items() if rule in words]
    return (by_name or by_rule)[:1]


# From a trace


def kafka_origin_of(document: Mapping[str, Any], admitted: Admitted) -> KafkaOrigin:
    """The origin that a stored trace tells of. Raises `TraceError` for a policy too many or too few, `UsageError` for
    names that today's model lacks."""
    name = document.get(VARIANT)
    if not isinstance(name, str):
        raise TraceError("spec and variant are not both names")
    features = document.get(FEATURES)
    if not isinstance(features, dict):
        raise TraceError("features is no table of names and values")
    blank = KafkaOrigin(name, named_variant(name))
    return blank.with_settings(_with_policy(features, admitted.policy))


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
