"""Values from Kafka's own tests, against the very functions that the model explores.

The functions are staged on constants here, so everything folds to a number. Rows that do not apply to the model are
listed with the reason; a new row that fits neither list fails.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from model.kafka import epoch_cache
from model.kafka.policy import Policy, load
from model.language import Map, MapValue, Number, Option, Range
from model.language import expr as ex
from model.language.composites import Computed
from model.language.scalars import member

DATA = Path(__file__).parent / "data"
EPOCHS = Range(0, 31)
OFFSETS = Range(0, 300)
CACHE = Map(EPOCHS, Option(OFFSETS))
NONE = -1


def rows(name: str) -> dict[str, dict[str, str]]:
    with (DATA / f"kafka-{name}.csv").open(encoding="utf-8", newline="") as file:
        return {row["id"]: row for row in csv.DictReader(file)}


def cache_of(text: str) -> MapValue:
    """`0:0;2:7`: epoch and start offset."""
    pairs = (entry.split(":") for entry in text.split(";") if entry)
    entries = {int(epoch): int(start) for epoch, start in pairs}
    return MapValue(CACHE, Computed(tuple(ex.constant(entries.get(epoch, NONE)) for epoch in EPOCHS.codes())), 0)


def text_of(cache: MapValue) -> str:
    starts = [(epoch, value(cache[epoch])) for epoch in EPOCHS.codes()]
    return ";".join(f"{epoch}:{start}" for epoch, start in starts if start != NONE)


def value(symbolic: Any) -> int:
    expr = symbolic.expr if hasattr(symbolic, "expr") else ex.constant(int(symbolic))
    assert expr.is_constant, f"{expr!r} did not fold"
    return int(expr.value)


def offset(number: int | str) -> Number:
    symbolic = member(Range(-1, 400), int(number))
    assert isinstance(symbolic, Number)
    return symbolic


# OffsetsForLeaderEpoch: the leader's answer

END_OFFSETS = rows("epoch-end-offset")
RAFT = {name for name, row in END_OFFSETS.items() if row["impl"] != "cache"}  # KRaft's metadata log has other rules


@pytest.mark.parametrize("name", sorted(END_OFFSETS.keys() - RAFT))
def test_end_offset_for_an_epoch(name: str) -> None:
    row = END_OFFSETS[name]
    answer = epoch_cache.end_offset_for(cache_of(row["cache"]), offset(row["leo"]), offset(row["requested_epoch"]))
    found = (value(answer.epoch), value(answer.end_offset))
    assert found == (int(row["expect_epoch"]), int(row["expect_end_offset"]))


def test_every_raft_row_is_known_not_to_apply() -> None:
    assert {name for name in END_OFFSETS if name.startswith("RA")} == RAFT


# The epoch cache

CACHE_OPERATIONS = rows("cache-ops")
CACHE_ROWS_THAT_DO_NOT_APPLY = {
    **dict.fromkeys(
        ("CO12", "CO13", "CO15", "CO17", "CO18", "CO19", "CO21", "CO24", "CO32", "CO33"),
        "logs start at offset 0 in the model: nothing is ever deleted from the start",
    ),
    "CO34": "a log of offsets from 104 on: the model scans logs from offset 0 (of_log is tested in the model's tests)",
    "CO35": "as CO34: recovery there adds to a cache that was truncated; the model drops or rebuilds",
    "CO38": "one message format a model: a cache is never cleared by an append",
}


@pytest.mark.parametrize("name", sorted(CACHE_OPERATIONS.keys() - CACHE_ROWS_THAT_DO_NOT_APPLY.keys()))
def test_operations_on_the_cache(name: str) -> None:
    row = CACHE_OPERATIONS[name]
    cache = cache_of("")
    for operation in row["ops"].split("|"):
        match operation.split():
            case ["assign", epoch, start]:
                cache = epoch_cache.assigned(cache, offset(epoch), offset(start))
            case ["truncEnd", "-1"]:
                pass  # an undefined offset is never passed on in the model
            case ["truncEnd", end]:
                cache = epoch_cache.truncated(cache, offset(end))
            case ["reload"]:
                cache = cache_of(text_of(cache))
            case other:
                pytest.fail(f"the operation {other} is new")
    assert text_of(cache) == row["expect_cache"]


# Truncation: rounds of question, answer and cut

TRUNCATIONS = rows("truncation")
TRUNCATION_ROWS_THAT_DO_NOT_APPLY = {
    "TR09": "errors are retried without truncating: in the model a question that is refused is no step at all",
    "TR17": "partitions are never removed",
    "TR18": "re-adding a partition with the same epoch: a request of the same epoch is not taken twice",
    "TR19": "partitions are never removed",
    "TR20": "out of range: the action fetch_out_of_range, which cuts to the leader's log end",
    "TR21": "logs start at offset 0",
    "TR25": "moves between log directories",
}
LOOPS = {name for name, row in TRUNCATIONS.items() if row["path"] == "LOOP"}
POLICY = load("kip-279")


def rounds(policy: Policy, own: str, own_end: int, high_watermark: int, leader: str, leader_end: int) -> list[int]:
    """Where a follower cuts, round by round, with the leader's real answers. The cache follows the log."""
    cuts: list[int] = []
    cache = cache_of(own)
    for _ in range(10):
        asked = policy.asked(cache)
        answer = policy.answer(cache_of(leader), offset(leader_end), asked)
        cut = policy.cut(cache, offset(own_end), offset(high_watermark), answer)
        if value(cut.offset) != own_end or not cuts:
            cuts.append(value(cut.offset))
        own_end = value(cut.offset)
        cache = epoch_cache.truncated(cache, offset(own_end))
        if value(cut.finished):
            return cuts
    return pytest.fail("the follower asks for ever")


@pytest.mark.parametrize("name", sorted(LOOPS))
def test_truncation_against_a_real_leader(name: str) -> None:
    row = TRUNCATIONS[name]
    high_watermark = 0 if row["follower_hw"] == "?" else int(row["follower_hw"])
    cuts = rounds(
        POLICY,
        row["follower_cache_or_stub"],
        int(row["follower_leo"]),
        high_watermark,
        row["leader_cache_or_replies"],
        int(row["leader_leo"]),
    )
    assert cuts == [int(cut) for cut in row["expect_truncations"].split(";")]


def stubbed(name: str) -> tuple[dict[int, tuple[int, int]], list[tuple[int, int]]]:
    """A row whose follower's cache is given as look-ups: what each epoch is answered with, and the leader's replies."""
    row = TRUNCATIONS[name]
    lookups = {}
    for part in row["follower_cache_or_stub"].removeprefix("stub: ").split("; "):
        if part.startswith("lookup"):
            epoch, found = part.removeprefix("lookup").split("=")
            lookups[int(epoch)] = tuple(map(int, found.split("/")))
    replies = row["leader_cache_or_replies"].removeprefix("reply ").removeprefix("diverging ").split(" (")[0]
    return lookups, [tuple(map(int, reply.split("/"))) for reply in replies.split(" then ")]  # type: ignore[return-value,misc]


STUBS = {name for name, row in TRUNCATIONS.items() if row["follower_cache_or_stub"].startswith("stub")}


@pytest.mark.parametrize("name", sorted(STUBS - TRUNCATION_ROWS_THAT_DO_NOT_APPLY.keys()))
def test_truncation_with_given_lookups(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`cut` alone, with the follower's own look-up given, as Kafka's mocks do."""
    row = TRUNCATIONS[name]
    lookups, replies = stubbed(name)
    unknown = epoch_cache.NOT_KNOWN

    def look_up(_cache: Any, _log_end: Any, epoch: Any) -> epoch_cache.EpochEnd:
        found = lookups.get(value(epoch))
        return epoch_cache.EpochEnd(offset(found[0]), offset(found[1])) if found else unknown

    monkeypatch.setitem(POLICY.cut.__globals__, "end_offset_for", look_up)
    log_end = 300 if row["follower_leo"] == "?" else int(row["follower_leo"])
    high_watermark = 0 if row["follower_hw"] == "?" else int(row["follower_hw"])
    cuts: list[int] = []
    for epoch, end in replies:
        answer = epoch_cache.EpochEnd(offset(epoch), offset(end))
        log_end = value(POLICY.cut(cache_of(""), offset(log_end), offset(high_watermark), answer).offset)
        cuts.append(log_end)
    assert cuts == [int(cut) for cut in row["expect_truncations"].split(";")]


def test_without_epochs_a_follower_cuts_to_its_high_watermark() -> None:
    """TR15, TR16: no answer can be had, or nothing can be asked (KAFKA-6859)."""
    for name in ("TR15", "TR16"):
        row = TRUNCATIONS[name]
        own = "" if row["follower_cache_or_stub"] == "none" else row["follower_cache_or_stub"]
        cut = POLICY.cut(cache_of(own), offset(row["follower_leo"]), offset(row["follower_hw"]), epoch_cache.NOT_KNOWN)
        assert (value(cut.offset), value(cut.finished)) == (int(row["final_offset"]), 1)


def test_every_truncation_row_is_tested_or_explained() -> None:
    tested = LOOPS | STUBS | {"TR15", "TR16"}
    assert TRUNCATIONS.keys() == tested | TRUNCATION_ROWS_THAT_DO_NOT_APPLY.keys()


# The leader's comparison of a fetch

FETCHES = rows("fetch-divergence")
RAFT_FETCHES = {name for name in FETCHES if name.startswith("RV")}
FETCHES_BELOW_THE_START = {name for name, row in FETCHES.items() if int(row["fetch_offset"]) < int(row["log_start"])}


@pytest.mark.parametrize("name", sorted(FETCHES.keys() - RAFT_FETCHES - FETCHES_BELOW_THE_START))
def test_a_fetch_that_carries_its_last_epoch(name: str) -> None:
    """A fetch below the log start is refused whatever it carries; logs start at 0 in the model, so there is none."""
    row = FETCHES[name]
    cache, log_end, epoch = cache_of(row["cache"]), offset(row["leo"]), offset(row["last_fetched_epoch"])
    check = POLICY.fetch_check(cache, log_end, epoch, offset(row["fetch_offset"]))
    answer = POLICY.answer(cache, log_end, epoch)
    served, diverging = value(check.served), value(check.diverging)
    if row["expect"] == "ok":
        assert (served, diverging) == (1, 0)
    elif row["expect"].startswith("diverging"):
        assert (served, diverging) == (0, 1)
        assert row["expect"] == f"diverging {value(answer.epoch)} {value(answer.end_offset)}"
    else:
        assert row["expect"] == "OFFSET_OUT_OF_RANGE"
        assert (served, diverging) == (0, 0)
