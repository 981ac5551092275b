"""What a truncation policy is made of. See `policies` for the policies themselves, `policy_file` for a user's own.

Whatever the functions of a policy return is looked at before the model uses it: an epoch, an `EpochEnd`, a `Cut`. A cut
beyond the log's end, or below 0, leaves the domain of the log's length, which is a fault of the policy wherever the
follower gets there; it is never moved to where it fits.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn

from model.errors import ModelError, ModelFault, Place
from model.kafka.epoch_cache import NOT_KNOWN, UNDEFINED, EpochEnd
from model.kafka.policy_file import FUNCTIONS, SUFFIX, definition, line_in, read_policy
from model.kafka.state import ReplicaState
from model.kafka.variant import LARGEST_BOUND
from model.language import MapValue, Number, Truth, all_of, any_of, where
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

    def epoch_asked_by(self, follower: ReplicaState) -> Any:
        """The epoch that the follower asks about, or UNDEFINED."""
        return _epoch(self.asked, _called(self.asked, _read_only(follower.epoch_cache)))

    def is_silent(self, follower: ReplicaState) -> Any:
        """The follower has nothing to ask about."""
        return False if self.asks_without_epoch else self.epoch_asked_by(follower) == UNDEFINED

    def round(self, follower: ReplicaState, leader: ReplicaState) -> Cut:
        """Question, answer, cut."""
        epoch = self.epoch_asked_by(follower)
        return self._cut(follower, self._answer(leader.epoch_cache, leader.log.length, epoch))

    def fetch_check(self, cache: MapValue, log_end: Any, last_epoch: Any, fetch_offset: Any) -> FetchCheck:
        """The leader's comparison since Kafka 2.7: the logs diverge if the epoch it knows is older than the one asked
        about, or ends before the offset asked for."""
        answer = self._answer(cache, log_end, last_epoch)
        known = (answer.epoch != UNDEFINED) & (answer.end_offset != UNDEFINED)
        apart = (answer.epoch < last_epoch) | (answer.end_offset < fetch_offset)
        asked = last_epoch != UNDEFINED
        return FetchCheck(served=any_of(~as_truth(asked), known & ~apart), diverging=all_of(asked, known, apart))

    def without_answer(self, follower: ReplicaState) -> Cut:
        """What a follower does that has nothing to ask about; nothing if it asks nevertheless."""
        return Cut(follower.log.length, False) if self.asks_without_epoch else self._cut(follower, NOT_KNOWN)

    def _answer(self, cache: MapValue, log_end: Any, epoch: Any) -> EpochEnd:
        return _epoch_end(self.answer, _called(self.answer, _read_only(cache), log_end, epoch))

    def _cut(self, follower: ReplicaState, answer: EpochEnd) -> Cut:
        log_end = follower.log.length
        given = (_read_only(follower.epoch_cache), log_end, follower.high_watermark, answer)
        cut = _cut(self.cut, _called(self.cut, *given))
        low, high = _range_of(cut.offset)
        if high < 0 or low > log_end.domain.high:
            shown = low if low == high else f"{low}..{high}"
            _refuse(
                self.cut,
                f"a Cut at {shown}, outside every log",
                "Give an offset, 0 to log_end; the answer's may be UNDEFINED",
            )
        return _inside(cut, log_end)


# What the functions return


def _called(function: Callable[..., Any], *given: Any) -> Any:
    """Call a function of a policy; whatever goes wrong in it is told with its own line."""
    place = definition(function)
    try:
        return function(*given)
    except Exception as error:
        where = line_in(place.file, error.__traceback__) if place else None
        if isinstance(error, ModelError):
            error.where = where or error.where
            raise
        what = f"{_name(function)} raised {type(error).__name__}: {error}"
        raise ModelError(what, where=where or place) from error


def _read_only(cache: MapValue) -> MapValue:
    return cache.mapped(lambda _, start: start)


def _epoch(function: Callable[..., Any], found: Any) -> Any:
    if not _is_number(found):
        _refuse(function, f"{_shown(found)}, which is no epoch", "Return an epoch, or UNDEFINED")
    return found


def _epoch_end(function: Callable[..., Any], found: Any) -> EpochEnd:
    if not isinstance(found, EpochEnd):
        _refuse(function, f"{_shown(found)}, not an EpochEnd", "Return EpochEnd(epoch, end_offset)")
    for name, part in (("epoch", found.epoch), ("end_offset", found.end_offset)):
        if not _is_number(part):
            _refuse(function, f"an EpochEnd whose {name} is {_shown(part)}", "Give a number, or UNDEFINED")
    return found


def _cut(function: Callable[..., Any], found: Any) -> Cut:
    if not isinstance(found, Cut):
        _refuse(function, f"{_shown(found)}, not a Cut", "Return Cut(offset, finished)")
    if not _is_number(found.offset):
        _refuse(function, f"a Cut whose offset is {_shown(found.offset)}", "Give an offset, 0 to log_end")
    if not isinstance(found.finished, Truth | bool):
        _refuse(function, f"a Cut whose finished is {_shown(found.finished)}", "Give a condition, True or False")
    return found


def _is_number(found: Any) -> bool:
    return isinstance(found, Number) or (isinstance(found, int) and not isinstance(found, bool))


def _range_of(found: Any) -> tuple[int, int]:
    return (found.domain.low, found.domain.high) if isinstance(found, Number) else (found, found)


def _refuse(function: Callable[..., Any], what: str, instead: str) -> NoReturn:
    raise ModelError(f"{_name(function)} returns {what}", where=definition(function), instead=instead)


def _shown(found: Any) -> str:
    return "nothing" if found is None else repr(found)


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", repr(function))


# Cuts outside the log

#: A cut beyond the log's end becomes a number so far below 0 that it lies outside the domain of every log's length;
#: one above that domain would not do, as truncating to beyond the end changes nothing.
_FAR: Final = 10 * LARGEST_BOUND

_ASSIGNED_LENGTH: Final = re.compile(r"\S+\(.*\) assigns (-?\d+) to replicas\[(\w+)\]\.log\.length, .*")


def _inside(cut: Cut, log_end: Any) -> Cut:
    return Cut(where(cut.offset <= log_end, cut.offset, -_FAR - cut.offset), cut.finished)


def told(fault: ModelFault, name: str) -> ModelFault:
    """The fault in the words of whoever wrote the policy `name`, if it is one of a cut outside the log."""
    found = _ASSIGNED_LENGTH.fullmatch(fault.what)
    if not found or not name.endswith(SUFFIX):
        return fault
    offset, replica = int(found[1]), found[2]
    where = definition(load(name).cut)
    if offset > -_FAR:
        what, instead = f"cuts the log of {replica} at offset {offset}", "Ask first whether it is UNDEFINED"
    else:
        what = f"cuts the log of {replica} at offset {-_FAR - offset}, beyond its end"
        instead = "Write minimum(offset, log_end) where that is meant"
    return ModelFault(f"the truncation policy {what}", where=where, why=fault.why, instead=instead)


# Policies by name

DEFAULT: Final = "kip-279"


def load(name: str) -> Policy:
    """The policy of a shipped name, or of a user's file (a path ending in `.py`). Raises `ModelError`.

    A file is Python that is run: only a file that the user named is ever loaded, and nothing of it is kept.
    """
    default = _shipped(DEFAULT)
    given = read_policy(Path(name)) if name.endswith(SUFFIX) else _shipped(name)
    functions = {function: given.get(function, default[function]) for function in FUNCTIONS}
    return Policy(name, **functions, asks_without_epoch=_flag(name, given))


def _shipped(name: str) -> dict[str, Any]:
    return vars(importlib.import_module(f"model.kafka.policies.{name.replace('-', '_')}"))


def _flag(name: str, given: dict[str, Any]) -> bool:
    flag = given.get("ASKS_WITHOUT_EPOCH", False)
    if not isinstance(flag, bool):
        raise ModelError(f"ASKS_WITHOUT_EPOCH is {flag!r}", where=Place(name, 0), instead="Give True or False")
    return flag
