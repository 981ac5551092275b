"""A variant says which rule each mechanism follows; bounds say how large the model is.

The default of every feature is what the published model of KIP-320 does, so a named variant lists only what it changes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from model.errors import UsageError, nearest

LARGEST_BOUND: Final = 1_000


@dataclass(frozen=True, slots=True)
class Bounds:
    """How large: all are counts. `epochs` is the number of leader epochs (0, 1, …), `records` how many records
    producers may write, `log_size` how many of them one log can hold, `crashes` how often a broker may go down,
    `min_insync` is min.insync.replicas."""

    replicas: int = 3
    log_size: int = 2
    records: int = 2
    epochs: int = 3
    crashes: int = 0
    min_insync: int = 1

    def __post_init__(self) -> None:
        for name, value in dataclasses.asdict(self).items():
            least = 0 if name == "crashes" else 1
            if isinstance(value, bool) or not isinstance(value, int):
                raise UsageError(f"the bound {name} is {value!r}", instead="Give a whole number")
            if not least <= value <= LARGEST_BOUND:
                raise UsageError(
                    f"the bound {name} is {value}", instead=f"Give a number from {least} to {LARGEST_BOUND}"
                )


def _rule(
    *choices: str, doc: str, needs: tuple[str, ...] = (), choice_needs: Mapping[str, str] = MappingProxyType({})
) -> Any:
    """A feature: its choices (the first is the default), and `feature=choice` pairs of which one must hold if it is to
    be anything but the default; `choice_needs` has one more for single choices."""
    metadata = {"choices": choices, "doc": doc, "needs": needs, "choice_needs": choice_needs}
    return field(default=choices[0], metadata=metadata)


_CRASHES = ("crash=process", "crash=power")
_CACHES = ("truncates=by-asking", "truncates=on-fetch")


@dataclass(frozen=True, slots=True)
class Variant:
    """One rule for each mechanism. Fields are the features that a spec's `[features]` and `--set` may change."""

    start: str = _rule(
        "nobody-elected", "epoch-0-led", doc="whether epoch 0 has a leader already when the story begins"
    )
    truncation: str = _rule(
        "matching-prefix",
        "published-kip-101",
        "high-watermark",
        "none",
        "kip-101",
        "kip-101-first-form",
        "kip-279",
        "kip-279-first-form",
        doc="where a follower cuts its log; the file of a policy of your own is possible too",
    )
    truncates: str = _rule(
        "at-adoption", "lazily", "by-asking", "on-fetch", doc="when a follower cuts, and what it looks at"
    )
    synchrony: str = _rule(
        "leader-epoch", "leader", "record-epoch", "position", doc="how a leader concludes that a follower is caught up"
    )
    truncation_fencing: str = _rule(
        "leader-epoch", "none", "not-older", doc="in which epoch the leader must be that is asked where to truncate"
    )
    fetch_fencing: str = _rule(
        "leader-epoch", "none", doc="whether fetches carry the current leader epoch", needs=_CACHES
    )
    isr_expansion: str = _rule(
        "leader-epoch-start",
        "high-watermark",
        "fetched-epoch-start",
        doc="what it takes to join the ISR besides reaching the high watermark",
    )
    isr_change: str = _rule("instant", "in-flight", doc="whether ISR changes travel", needs=("synchrony=position",))
    positions: str = _rule(
        "reset",
        "kept",
        doc="whether followers' positions are forgotten at each new epoch",
        needs=("synchrony=position",),
    )
    epoch_cache: str = _rule(
        "at-election", "at-first-append", "none", doc="when an epoch enters the epoch cache", needs=_CACHES
    )
    commit_waits_for: str = _rule(
        "isr", "maximal-isr", doc="whom the high watermark waits for", needs=("isr_change=in-flight",)
    )
    commit_allowed: str = _rule(
        "always", "min-insync", doc="whether the high watermark moves below min.insync.replicas"
    )
    election: str = _rule("clean", "unclean", "eligible", doc="who may be elected")
    crash: str = _rule(
        "none", "process", "power", doc="what a crash takes along: memory, or unflushed records as well", needs=_CACHES
    )
    flush: str = _rule(
        "never", "background", doc="whether records reach the disk before a crash", needs=("crash=power",)
    )
    recovery: str = _rule(
        "drop-beyond-end",
        "keep-everything",
        "rebuild",
        "rebuild-skipping-epoch-zero",
        doc="what an unclean stop leaves of the epoch cache",
        needs=_CRASHES,
    )
    restart: str = _rule(
        "leaves-isr",
        "leaves-isr-and-elr",
        "new-epoch",
        "unnoticed",
        doc="what the controller makes of a broker that comes back",
        needs=_CRASHES,
        choice_needs={"leaves-isr-and-elr": "election=eligible"},
    )
    request_fencing: str = _rule(
        "registration", "none", doc="whether requests for an earlier life of a broker are refused", needs=_CRASHES
    )
    admission: str = _rule(
        "this-life", "any-life", doc="whether positions from a follower's earlier life count (KIP-903)", needs=_CRASHES
    )
    checkpoint: str = _rule("exact", "lost", doc="the high watermark that a broker finds on disk", needs=_CRASHES)
    shutdown: str = _rule("none", "controlled", doc="whether brokers also stop in good order", needs=_CRASHES)
    isr_members: str = _rule(
        "running", "any", doc="whether a broker that is shutting down may join the ISR", needs=("shutdown=controlled",)
    )
    acks: str = _rule("unobserved", "all", "1", doc="what producers wait for, and whether it is recorded")

    def __post_init__(self) -> None:
        for rule in dataclasses.fields(self):
            self._check_choice(rule.name, rule.metadata["choices"])
            self._check_needs(rule)
        self._check_truncation()

    def _check_choice(self, name: str, choices: tuple[str, ...]) -> None:
        value = getattr(self, name)
        own_policy = name == "truncation" and isinstance(value, str) and value.endswith(".py")
        if value not in choices and not own_policy:
            raise UsageError(
                f"the feature {name} cannot be {value!r}",
                instead=f"{nearest(str(value), choices)} It may be {', '.join(choices)}",
            )

    def _check_needs(self, rule: dataclasses.Field[str]) -> None:
        choice, needs = getattr(self, rule.name), rule.metadata["needs"]
        if choice != rule.default and not self._any(needs):
            wanted = " or ".join(needs)
            raise UsageError(f"the feature {rule.name} means nothing in this variant", instead=f"It needs {wanted}")
        wanted = rule.metadata["choice_needs"].get(choice)
        if wanted and not self._any((wanted,)):
            raise UsageError(f"the feature {rule.name} cannot be {choice} here", instead=f"It needs {wanted}")

    def _check_truncation(self) -> None:
        """Policies on whole logs belong to the published models, policies on epoch caches to the crash model."""
        on_logs = self.truncation in ("matching-prefix", "published-kip-101")
        if self.uses_epoch_caches and on_logs:
            raise UsageError(
                f"the policy {self.truncation} looks at whole logs",
                instead=f"With truncates = {self.truncates} use kip-279 or another policy on epoch caches",
            )
        if not self.uses_epoch_caches and not on_logs and self.truncation != "high-watermark":
            raise UsageError(
                f"the policy {self.truncation} looks at epoch caches",
                instead="Set truncates = by-asking or on-fetch, or use matching-prefix",
            )
        if self.uses_epoch_caches != (self.synchrony == "position"):
            raise UsageError("epoch caches and positions come together", instead="Set synchrony = position with them")

    def _any(self, needs: tuple[str, ...]) -> bool:
        pairs = [need.split("=") for need in needs]
        return not pairs or any(getattr(self, name) == value for name, value in pairs)

    @property
    def uses_epoch_caches(self) -> bool:
        return self.truncates in ("by-asking", "on-fetch")

    @property
    def unused_bounds(self) -> tuple[str, ...]:
        """Bounds that mean nothing in this variant."""
        unused = {"crashes": self.crash == "none", "min_insync": self.acks == "unobserved"}
        return tuple(name for name, is_unused in unused.items() if is_unused)

    def changed(self, features: dict[str, Any]) -> Variant:
        """This variant with some rules replaced. Raises `UsageError` for an unknown feature or rule."""
        known = [rule.name for rule in dataclasses.fields(self)]
        for name in features:
            if name not in known:
                raise UsageError(f"there is no feature {name!r}", instead=nearest(name, known))
        return dataclasses.replace(self, **features)


_UNFENCED: Final = {"synchrony": "leader", "truncation_fencing": "none", "isr_expansion": "high-watermark"}

#: Brokers as they are: epoch caches, positions learned from fetches, a ledger of promises. Everything of KIP-320.
_BROKERS: Final = {
    "start": "epoch-0-led",
    "truncation": "kip-279",
    "truncates": "by-asking",
    "synchrony": "position",
    "isr_expansion": "fetched-epoch-start",
    "acks": "all",
}
_BEFORE_320: Final = {**_BROKERS, "truncation_fencing": "none", "fetch_fencing": "none"}

NAMED_VARIANTS: Final[dict[str, Variant]] = {
    "published/truncate-to-high-watermark": Variant(truncation="high-watermark", **_UNFENCED),
    "published/kip-101": Variant(truncation="published-kip-101", **_UNFENCED),
    "published/kip-279": Variant(truncation="matching-prefix", **_UNFENCED),
    "published/kip-320-first-try": Variant(truncates="lazily", synchrony="record-epoch", truncation_fencing="none"),
    "published/kip-320": Variant(),
    "brokers/no-truncation": Variant(**{**_BEFORE_320, "truncation": "none"}),
    "brokers/high-watermark": Variant(**{**_BEFORE_320, "truncation": "high-watermark"}),
    "brokers/kip-101": Variant(**{**_BEFORE_320, "truncation": "kip-101", "epoch_cache": "at-first-append"}),
    "brokers/kip-279": Variant(**_BEFORE_320),
    "brokers/kip-320": Variant(**_BROKERS),
    "brokers/truncate-on-fetch": Variant(**{**_BROKERS, "truncates": "on-fetch"}),
}


def named_variant(name: str) -> Variant:
    if name not in NAMED_VARIANTS:
        raise UsageError(f"there is no variant {name!r}", instead=nearest(name, NAMED_VARIANTS))
    return NAMED_VARIANTS[name]
