"""Which models the lowerings are compared on, and how to walk through one.

The list keeps itself up to date: the named variants, the variants of all shipped specs, some combinations, and as few
further variants as it takes for every rule of every feature to be in one of them.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from native_calls import Calls

from checker.cache import user_cache
from checker.explore.breadth_first import Exploration, NativeFunctions, explore
from checker.prove.certificate import Component, Group
from checker.spec import load_shipped
from model.errors import UsageError
from model.kafka import NAMED_VARIANTS, Bounds, Variant, kafka
from model.language.evaluate import successors
from model.language.protocol import Protocol, State

Rule: TypeAlias = tuple[str, str]  # a feature and one of its choices

COMBINATIONS: Final[tuple[dict[str, str], ...]] = (
    {"crash": "process"},
    {"crash": "power", "flush": "background"},
    {"crash": "process", "election": "eligible", "restart": "leaves-isr-and-elr"},
    {"isr_change": "in-flight", "commit_waits_for": "maximal-isr"},
)
"""Changes of brokers/kip-320."""


@dataclass(frozen=True)
class Model:
    """A variant, to be staged at whatever bounds a test can afford."""

    name: str
    variant: Variant

    def __str__(self) -> str:
        return self.name

    def at(self, replicas: int, log_size: int, records: int, epochs: int, crashes: int = 1) -> Protocol:
        """With crashes only where brokers can crash; min.insync.replicas is 2 where the high watermark waits for it."""
        used = 0 if "crashes" in self.variant.unused_bounds else crashes
        min_insync = 2 if self.variant.commit_allowed == "min-insync" else 1
        return kafka(self.variant, Bounds(replicas, log_size, records, epochs, used, min_insync))


def models() -> list[Model]:
    """No two of them have the same rules."""
    named = [named_model(name) for name in NAMED_VARIANTS]
    shipped = [Model(spec.name, spec.variant) for spec in load_shipped()]
    found: dict[Variant, Model] = {}
    for model in (*named, *shipped, *map(changed_model, COMBINATIONS)):
        found.setdefault(model.variant, model)
    for number, variant in enumerate(covering(every_rule() - rules_of(found)), start=1):
        found[variant] = Model(f"further-rules-{number}", variant)
    return list(found.values())


def named_model(name: str) -> Model:
    return Model(name, NAMED_VARIANTS[name])


def changed_model(changes: dict[str, str]) -> Model:
    """One that does not do everything that brokers/kip-320 does."""
    text = "+".join(f"{feature}={choice}" for feature, choice in changes.items())
    return Model(f"brokers/kip-320+{text}", NAMED_VARIANTS["brokers/kip-320"].changed(changes))


def few_of(models: Iterable[Model]) -> list[Model]:
    """As few as it takes to have every rule that any of them has."""
    chosen: list[Model] = []
    left = list(models)
    while left:
        known = rules_of(model.variant for model in chosen)
        best = max(left, key=lambda model: len(rules_of([model.variant]) - known))
        if not rules_of([best.variant]) - known:
            break
        chosen.append(best)
        left.remove(best)
    return chosen


def every_rule() -> set[Rule]:
    return {(feature.name, choice) for feature in dataclasses.fields(Variant) for choice in feature.metadata["choices"]}


def rules_of(variants: Iterable[Variant]) -> set[Rule]:
    return {rule for variant in variants for rule in dataclasses.asdict(variant).items()}


def covering(missing: set[Rule]) -> Iterator[Variant]:
    """Variants that have these rules, each as many of them as go together."""
    while missing:
        filled = (with_rules(NAMED_VARIANTS[name], missing) for name in reversed(NAMED_VARIANTS))
        variant = next((each for each in filled if rules_of([each]) & missing), None)
        assert variant is not None, f"no variant has any of {sorted(missing)}: add one to COMBINATIONS"
        yield variant
        missing = missing - rules_of([variant])


def with_rules(variant: Variant, wanted: set[Rule]) -> Variant:
    """The variant with one rule after the other, and a second one that it may need, as long as that gains something."""
    for feature, choice in sorted(wanted):
        for needed in ({}, *({name: rule} for name, rule in sorted(every_rule()))):
            changed = _changed(variant, {**needed, feature: choice})
            if len(rules_of([changed]) & wanted) > len(rules_of([variant]) & wanted):
                variant = changed
                break
    return variant


def _changed(variant: Variant, changes: dict[str, str]) -> Variant:
    try:
        return variant.changed(changes)
    except UsageError:
        return variant


# Looking at a model


def whole_group(protocol: Protocol) -> Group:
    """Every permutation of every scalarset's members, harmless or not."""
    parts = (Component(each.name, tuple(range(each.count))) for each in protocol.scalarsets if each.count > 1)
    return Group(tuple(parts), protocol.scalarsets)


def walk(protocol: Protocol, seed: str, length: int) -> list[State]:
    """The states met in `length` steps, each once; the same for the same seed. Rare actions are taken as often as
    frequent ones. Where nothing new is met, the walk goes on from some state that it has been in."""
    rng, state = random.Random(seed), protocol.initial[0]
    found = [state]
    for _ in range(length):
        steps = list(successors(protocol, state))
        action = rng.choice(sorted({step.action for step, _ in steps} or {""}))
        state = rng.choice([after for step, after in steps if step.action == action] or found)
        if state in found:
            state = rng.choice(found)
        else:
            found.append(state)
    return found


def searched(calls: Calls, symmetric: bool) -> Exploration:
    """What the fast search finds, with the compiled group or without any."""
    protocol, native = calls.protocol, calls.native
    functions = NativeFunctions(
        words=native.words,
        max_successors=native.max_successors,
        steps=len(protocol.steps),
        expand=native.expand,
        violated=native.violated,
        canonical=native.canonical if symmetric else 0,
    )
    initial = [calls.packing.pack(state) for state in protocol.initial]
    predicates = len(protocol.invariants) + len(protocol.witnesses)
    return explore(functions, initial, predicates=predicates, cache=user_cache())


def states_of(calls: Calls, found: Exploration) -> list[State]:
    return [calls.packing.unpack(words) for words in found.store.states.tolist()]
