"""A variant says which rule each mechanism follows; bounds say how large the model is.

The five named variants are those of the published TLA+ models (github hachikuji/kafka-specification).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, Final

from model.errors import UsageError, nearest

LARGEST_BOUND = 1_000


@dataclass(frozen=True, slots=True)
class Bounds:
    """How large: all are counts, and all are at least 1.

    `epochs` is the number of leader epochs (0, 1, …), `records` the number of records that producers may write,
    `log_size` how many of them one log can hold.
    """

    replicas: int = 3
    log_size: int = 2
    records: int = 2
    epochs: int = 3

    def __post_init__(self) -> None:
        for name, value in dataclasses.asdict(self).items():
            if isinstance(value, bool) or not isinstance(value, int):
                raise UsageError(f"the bound {name} is {value!r}", instead="Give a whole number")
            if not 1 <= value <= LARGEST_BOUND:
                raise UsageError(f"the bound {name} is {value}", instead=f"Give a number from 1 to {LARGEST_BOUND}")


def _rule(default: str, *choices: str, doc: str) -> Any:
    return field(default=default, metadata={"choices": (default, *choices), "doc": doc})


@dataclass(frozen=True, slots=True)
class Variant:
    """One rule for each mechanism. Fields are the features that a spec's `[features]` and `--set` may change."""

    truncation: str = _rule(
        "matching-prefix", "published-kip-101", "high-watermark", doc="where a follower cuts its log (truncation.py)"
    )
    truncates: str = _rule("at-adoption", "lazily", doc="when it cuts: on adopting a leader, or later on its own")
    synchrony: str = _rule(
        "leader-epoch", "leader", "record-epoch", doc="how a fetch shows that a follower is caught up (synchrony.py)"
    )
    truncation_fencing: str = _rule("leader-epoch", "none", doc="whether the leader must be in the follower's epoch")
    isr_expansion: str = _rule(
        "leader-epoch-start", "high-watermark", doc="what the high watermark must have reached before the ISR grows"
    )

    def __post_init__(self) -> None:
        for rule in dataclasses.fields(self):
            value, choices = getattr(self, rule.name), rule.metadata["choices"]
            if value not in choices:
                raise UsageError(
                    f"the feature {rule.name} cannot be {value!r}",
                    instead=f"{nearest(str(value), choices)} It may be {', '.join(choices)}",
                )

    def changed(self, features: dict[str, Any]) -> Variant:
        """This variant with some rules replaced. Raises `UsageError` for an unknown feature or rule."""
        known = [rule.name for rule in dataclasses.fields(self)]
        for name in features:
            if name not in known:
                raise UsageError(f"there is no feature {name!r}", instead=nearest(name, known))
        return dataclasses.replace(self, **features)


_UNFENCED: Final = {"synchrony": "leader", "truncation_fencing": "none", "isr_expansion": "high-watermark"}

NAMED_VARIANTS: Final[dict[str, Variant]] = {
    "published/truncate-to-high-watermark": Variant(truncation="high-watermark", **_UNFENCED),
    "published/kip-101": Variant(truncation="published-kip-101", **_UNFENCED),
    "published/kip-279": Variant(truncation="matching-prefix", **_UNFENCED),
    "published/kip-320-first-try": Variant(truncates="lazily", synchrony="record-epoch", truncation_fencing="none"),
    "published/kip-320": Variant(),
}


def named_variant(name: str) -> Variant:
    if name not in NAMED_VARIANTS:
        raise UsageError(f"there is no variant {name!r}", instead=nearest(name, NAMED_VARIANTS))
    return NAMED_VARIANTS[name]
