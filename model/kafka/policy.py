"""What a truncation policy is made of. See `policies` for the policies themselves."""

from __future__ import annotations

import importlib
import runpy
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from model.errors import ModelError, Place
from model.kafka.epoch_cache import NOT_KNOWN, UNDEFINED, EpochEnd
from model.kafka.state import ReplicaState
from model.language import MapValue, all_of, any_of, where
from model.language.places import raised_at
from model.language.scalars import as_truth


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a follower cuts its log. Not `finished` means: cut, then ask again."""

    offset: Any
    finished: Any


def either_cut(condition: Any, then: Cut, otherwise: Cut) -> Cut:
    """`where` for cuts."""
    return Cut(where(condition, then.offset, otherwise.offset), where(condition, then.finished, otherwise.finished))


@dataclass(frozen=True, slots=True)
class FetchCheck:
    """What a leader makes of a fetch that carries its last epoch: it serves it, or answers that the logs diverge. If
    neither, the fetch is out of range."""

    served: Any
    diverging: Any


@dataclass(frozen=True, slots=True)
class Policy:
    """Three functions over epoch caches, log ends and high watermarks."""

    name: str
    asked: Callable[[MapValue], Any]
    answer: Callable[[MapValue, Any, Any], EpochEnd]
    cut: Callable[[MapValue, Any, Any, EpochEnd], Cut]
    asks_without_epoch: bool = False  # before KAFKA-6859 a follower asked even about no epoch at all

    def is_silent(self, follower: ReplicaState) -> Any:
        """The follower has nothing to ask about."""
        return False if self.asks_without_epoch else self.asked(follower.epoch_cache) == UNDEFINED

    def round(self, follower: ReplicaState, leader: ReplicaState) -> Cut:
        """Question, answer, cut."""
        epoch = self.asked(follower.epoch_cache)
        answer = self.answer(leader.epoch_cache, leader.log.length, epoch)
        return self.cut(follower.epoch_cache, follower.log.length, follower.high_watermark, answer)

    def fetch_check(self, cache: MapValue, log_end: Any, last_epoch: Any, fetch_offset: Any) -> FetchCheck:
        """The leader's comparison since Kafka 2.7: the logs diverge if the epoch it knows is older than the one asked
        about, or ends before the offset asked for."""
        answer = self.answer(cache, log_end, last_epoch)
        known = (answer.epoch != UNDEFINED) & (answer.end_offset != UNDEFINED)
        apart = (answer.epoch < last_epoch) | (answer.end_offset < fetch_offset)
        asked = last_epoch != UNDEFINED
        return FetchCheck(served=any_of(~as_truth(asked), known & ~apart), diverging=all_of(asked, known, apart))

    def without_answer(self, follower: ReplicaState) -> Cut:
        """What a follower does that has nothing to ask about."""
        return self.cut(follower.epoch_cache, follower.log.length, follower.high_watermark, NOT_KNOWN)


FUNCTIONS: Final = ("asked", "answer", "cut")
SHIPPED: Final = ("none", "high-watermark", "kip-101", "kip-101-first-form", "kip-279", "kip-279-first-form")
DEFAULT: Final = "kip-279"


def load(name: str) -> Policy:
    """The policy of a shipped name, or of a user's file (a path ending in `.py`). Raises `ModelError`.

    A file is Python that is run: only a file that the user named is ever loaded.
    """
    default = vars(importlib.import_module(_module(DEFAULT)))
    if name.endswith(".py"):
        return _policy(name, _run(Path(name)), default, Place(name, 1))
    return _policy(name, vars(importlib.import_module(_module(name))), default, None)


def _module(name: str) -> str:
    return f"model.kafka.policies.{name.replace('-', '_')}"


def _run(path: Path) -> dict[str, Any]:
    try:
        return runpy.run_path(str(path), run_name=path.stem)
    except OSError as error:
        why = f"the truncation policy cannot be read: {error.strerror or error}"
        raise ModelError(why, where=Place(str(path), 0)) from error
    except Exception as error:
        what = f"the truncation policy raised {type(error).__name__} while it was loaded: {error}"
        raise ModelError(what, where=raised_at(error.__traceback__) or Place(str(path), 0)) from error


def _policy(name: str, given: dict[str, Any], default: dict[str, Any], place: Place | None) -> Policy:
    own = {function: given[function] for function in FUNCTIONS if callable(given.get(function))}
    if not own:
        raise ModelError(
            f"the file defines none of {', '.join(FUNCTIONS)}",
            where=place,
            instead="Define at least cut(own_cache, log_end, high_watermark, answer)",
        )
    functions = {function: own.get(function, default[function]) for function in FUNCTIONS}
    return Policy(name, **functions, asks_without_epoch=bool(given.get("ASKS_WITHOUT_EPOCH", False)))
