"""What a report says of a spec: its name, its bounds, what it expects.

Reports know specs by the few attributes below, so that they depend neither on files nor on how a spec is made.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from checker.outcome import InvariantOutcome, Verdict
from checker.report.story import listed


class Expected(Protocol):
    """What is expected of an invariant; `steps` is none if it holds."""

    @property
    def steps(self) -> int | None: ...

    @property
    def verdict(self) -> Verdict: ...

    @property
    def text(self) -> str: ...


class Subject(Protocol):
    """The spec that something is reported of. `features` are the rules in which it differs from its variant,
    `own_features` those in which it differs from the spec that it is `built_on` (if any), `changed_features` those that
    are not as its file has them. `admission` are the options that let a command which reads its traces run code of the
    user's own, `section` is the part of the shipped specs that it belongs to."""

    @property
    def name(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def notes(self) -> str: ...

    @property
    def features(self) -> Mapping[str, str]: ...

    @property
    def built_on(self) -> str: ...

    @property
    def own_features(self) -> Mapping[str, str]: ...

    @property
    def changed_features(self) -> Mapping[str, str]: ...

    @property
    def section(self) -> str: ...

    @property
    def admission(self) -> tuple[str, ...]: ...

    @property
    def invariants(self) -> tuple[str, ...]: ...

    @property
    def expect(self) -> Mapping[str, Expected]: ...

    def model_document(self) -> dict[str, Any]: ...

    def all_bounds(self) -> dict[str, int]: ...

    def used_bounds(self) -> dict[str, int]: ...


def bounds_text(subject: Subject) -> str:
    """`3 replicas, log size 2, 1 record, 3 epochs`: the bounds that matter."""
    return in_words(subject.used_bounds())


def in_words(bounds: Mapping[str, int]) -> str:
    """Some bounds, each as one would say it."""
    return ", ".join(_bound_text(name, value) for name, value in bounds.items())


def _bound_text(name: str, value: int) -> str:
    words = name.replace("_", " ")
    if not words.endswith("s"):
        return f"{words} {value}"
    singular = words.removesuffix("es") if words.endswith("shes") else words.removesuffix("s")
    return f"{value} {singular if value == 1 else words}"


def features_text(subject: Subject) -> str:
    """`truncation=high-watermark and synchrony=leader`; empty if the spec is its variant."""
    return rules_of(subject.features)


def rules_of(features: Mapping[str, str]) -> str:
    return listed([f"{name}={rule}" for name, rule in features.items()])


def rules_text(subject: Subject) -> str:
    """`brokers/kip-320 with truncation=high-watermark` of a spec that is built on another; else as `features_text`."""
    if not subject.built_on:
        return features_text(subject)
    own = rules_of(subject.own_features)
    return f"{subject.built_on} with {own}" if own else f"the rules of {subject.built_on}"


def bounds_code(subject: Subject) -> str:
    """`3 2 1 3 - 1`: the bounds in the order of `bounds_names`, a dash for one that does not matter."""
    used = subject.used_bounds()
    return " ".join(str(value) if name in used else "-" for name, value in subject.all_bounds().items())


def bounds_names(subject: Subject) -> str:
    return ", ".join(name.replace("_", " ") for name in subject.all_bounds())


def explaining(subject: Subject, trace: Path, full: bool = False) -> str:
    """The command that tells a stored trace as a story."""
    return shlex.join(["tidegauge", "explain", *(["--full"] if full else []), str(trace), *subject.admission])


def within(subject: Subject) -> str:
    """The bounds and changed rules: `3 replicas, log size 2, 2 records, 3 epochs; truncation=high-watermark`."""
    return "; ".join(filter(None, (bounds_text(subject), features_text(subject))))


def surprise(subject: Subject, found: InvariantOutcome) -> str:
    """What the spec expects instead of what was found, in words; empty if it expects just that, or nothing.

    An inconclusive search is no surprise: it may still have come to what is expected.
    """
    expected = subject.expect.get(found.name)
    if expected is None or found.verdict is Verdict.INCONCLUSIVE:
        return ""
    return "" if (expected.verdict, expected.steps) == (found.verdict, found.steps) else expected.text
