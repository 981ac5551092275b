"""The fast search: equal to a plain one in everything it tells, and ended by nothing but its limits."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import pairwise
from math import comb, factorial
from pathlib import Path
from typing import Any

import pytest
from small_systems import PlainSearch, State, System, counters, endless, faulty, necklaces, pancakes, scattered, still

from checker.cache import user_cache
from checker.explore import breadth_first, kernels, store
from checker.explore.breadth_first import (
    Exploration,
    Fault,
    Limits,
    NativeFunctions,
    Progress,
    Sighting,
    Stopped,
    explore,
    resident_memory,
)
from checker.explore.search_loop import search_loop
from checker.explore.store import VisitedStore

ROOT = Path(__file__).parents[1]

SYSTEMS: dict[str, Callable[[], System]] = {
    "counter": lambda: counters(1, 300),
    "2-counters": lambda: counters(2, 90),
    "3-counters": lambda: counters(3, 20),
    "4-counters": lambda: counters(4, 9),
    "pancakes": lambda: pancakes(7, 1),
    "pancakes-in-2-words": lambda: pancakes(7, 2),
    "necklaces": lambda: necklaces(12),
    "scattered": lambda: scattered(1, 4_000),
    "scattered-in-2-words": lambda: scattered(2, 40_000),
    "scattered-in-3-words": lambda: scattered(3, 10_000),
    "scattered-in-4-words": lambda: scattered(4, 10_000),
    "still": still,
}


@cache
def system(name: str) -> System:
    return SYSTEMS[name]()


@cache
def plain(name: str, most: int | None = None) -> PlainSearch:
    return PlainSearch(system(name), most)


def findings(found: Exploration) -> tuple[Any, ...]:
    """Everything but the time."""
    origins = [found.store.origin(index) for index in range(found.distinct)]
    states = [tuple(words) for words in found.store.states.tolist()]
    return states, origins, list(found.level_sizes), list(found.steps_taken), list(found.first), found.complete


def expected(search: PlainSearch) -> tuple[Any, ...]:
    return search.states, search.origins, search.level_sizes, search.steps_taken, search.first, search.complete


class TestFindings:
    @pytest.mark.parametrize("name", SYSTEMS)
    def test_equal_those_of_a_plain_search(self, name: str) -> None:
        assert findings(system(name).explored()) == expected(plain(name))

    def test_of_counters_are_known(self) -> None:
        found = counters(3, 9).explored()
        assert (found.distinct, found.depth, found.generated) == (1000, 28, 3 * 900)
        assert found.steps_taken == (900, 900, 900)
        assert found.level_sizes[:4] == tuple(comb(depth + 2, 2) for depth in range(4))
        assert [sighting.depth if sighting else None for sighting in found.first[:11]] == [*range(1, 29, 3), None]

    # The pancake numbers: the most turns that a stack of 4, 5, 6, 7, 8 pancakes needs.
    @pytest.mark.parametrize(("size", "turns"), [(4, 4), (5, 5), (6, 7), (7, 8), (8, 9)])
    @pytest.mark.parametrize("words", [1, 2])
    def test_of_pancakes_are_known(self, size: int, turns: int, words: int) -> None:
        found = pancakes(size, words).explored()
        assert (found.distinct, found.depth) == (factorial(size), turns + 1)
        assert found.steps_taken == (factorial(size),) * (size - 1)
        assert found.first == (Sighting(size - 1, 2),)  # the last turn of the first state does it

    # The numbers of necklaces with 8, 12 and 16 beads of two colours, less the one that is all white.
    @pytest.mark.parametrize(("beads", "orbits"), [(8, 35), (12, 351), (16, 4115)])
    def test_of_necklaces_are_known(self, beads: int, orbits: int) -> None:
        found = necklaces(beads).explored()
        assert (found.distinct, found.depth) == (orbits, beads)
        assert found.store.state(0) == (1,)  # the initial state is replaced by its representative too
        assert found.first == (Sighting(orbits - 1, beads), None)  # and predicates see nothing else

    def test_of_nothing_are_nothing(self) -> None:
        found = explore(still().functions, [])
        assert (found.distinct, found.depth, found.generated, found.complete) == (0, 0, 0, True)

    def test_of_a_single_state(self) -> None:
        found = still().explored()
        assert (found.distinct, found.depth, found.generated, found.complete) == (1, 1, 0, True)

    def test_count_equal_initial_states_once(self) -> None:
        many = replace(system("necklaces"), initial=(*((1 << bit,) for bit in range(12)), (0b11,)))
        found = many.explored()
        assert found.level_sizes[0] == 2
        assert findings(found) == expected(PlainSearch(many))

    def test_include_more_initial_states_than_a_batch_and_the_first_table_hold(self) -> None:
        many = replace(system("counter"), initial=tuple((number,) for number in range(20_000, 0, -1)))
        assert findings(many.explored()) == expected(PlainSearch(many))

    def test_leave_out_predicates_that_are_not_asked_for(self) -> None:
        assert explore(system("2-counters").functions, [(0, 0)]).first == ()
        assert explore(system("2-counters").functions, [(0, 0)], predicates=2).first == (Sighting(0, 1), Sighting(6, 4))


class TestPaths:
    @pytest.mark.parametrize("name", ["2-counters", "pancakes", "scattered-in-3-words"])
    def test_lead_step_by_step_from_an_initial_state(self, name: str) -> None:
        found, depths = system(name).explored(), plain(name).depths
        for index in range(0, found.distinct, 97):
            path = found.path(index)
            assert (path[0], path[-1][0], len(path)) == (
                (system(name).initial[0], None),
                found.store.state(index),
                depths[index],
            )
            for (before, _), (after, step) in pairwise(path):
                assert (step, after) in system(name).successors(before)

    def test_of_an_initial_state_is_itself(self) -> None:
        assert system("pancakes-in-2-words").explored().path(0) == [((0x3210, 0x654), None)]


class TestOrder:
    """What is found does not depend on how the work is cut."""

    @pytest.mark.parametrize("batch", [1, 7, 128, 5_000])
    @pytest.mark.parametrize("slice_seconds", [0.0, 0.05])
    def test_is_the_same_for_all_sizes(self, batch: int, slice_seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(store, "BATCH", batch)
        monkeypatch.setattr(breadth_first, "SLICE_SECONDS", slice_seconds)
        monkeypatch.setattr(breadth_first, "FIRST_SLICE", 3)
        name = "scattered-in-2-words"
        assert findings(system(name).explored()) == expected(plain(name))

    @pytest.mark.parametrize("batch", [1, 128, 5_000])
    @pytest.mark.parametrize("most", [1, 2, 1_000, 4_567])
    def test_is_the_same_where_a_limit_cuts_it(self, batch: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(store, "BATCH", batch)
        found = system("scattered-in-2-words").explored(limits=Limits(max_states=most))
        assert findings(found) == expected(plain("scattered-in-2-words", most))


class TestTable:
    def test_grows_from_small_to_large(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(store, "FIRST_SLOTS", 8)
        monkeypatch.setattr(store, "BATCH", 4)
        monkeypatch.setattr(store, "SWEEP", 512)  # a page of memory, so that sweeps have several parts
        name = "scattered-in-2-words"
        found = system(name).explored()
        assert findings(found) == expected(plain(name))
        assert found.store.growth >= 2**16 * 8

    @pytest.mark.parametrize("tag", [0, 1, 0x12345678, 0xFFFFFFFF])
    def test_tells_states_of_one_tag_apart(self, tag: int, monkeypatch: pytest.MonkeyPatch) -> None:
        """All in one home line, the first or the last of the table among others; nothing but the states differs."""
        monkeypatch.setattr(store, "FIRST_SLOTS", 8)
        monkeypatch.setattr(store, "BATCH", 4)
        states = [state_with_hash(tag << 32 | number) for number in range(2_000)]
        found = explore(still().functions, states + states[::-1])
        assert found.store.states.tolist() == [list(state) for state in states]

    def test_reserves_what_the_system_gives(self, monkeypatch: pytest.MonkeyPatch) -> None:
        reserve = store._reserve

        def miserly(size: int) -> Any:
            if size > 200_000:
                raise OSError
            return reserve(size)

        monkeypatch.setattr(store, "_reserve", miserly)
        assert 12_500 < VisitedStore(system("counter").functions, 0).capacity <= 25_000
        assert system("counter").explored().distinct == 301

    def test_takes_at_most_64_bytes_a_state(self) -> None:
        wide = counters(2, 1023)
        wide.explored(limits=Limits(max_states=1))  # what compiling takes does not count
        before, peak = resident_memory(), 0

        def look() -> bool:
            nonlocal peak
            peak = max(peak, resident_memory())
            return False

        found = wide.explored(interrupted=look)
        look()
        assert found.distinct == 2**20
        assert peak - before < 64 * found.distinct


def state_with_hash(hashed: int) -> State:
    """The state of one word that has a hash: the hash function backwards."""
    modulus = 2**64
    mixed = hashed * pow(int(kernels._LAST), -1, modulus) % modulus
    mixed ^= mixed >> 32
    return (mixed * pow(int(kernels._MIX), -1, modulus) % modulus ^ int(kernels._SEED),)


class TestLimits:
    @pytest.mark.parametrize("name", ["3-counters", "necklaces", "scattered-in-3-words"])
    def test_states_are_exact(self, name: str) -> None:
        total = len(plain(name).states)
        for most in (1, 2, 150, total - 1, total, total + 1):
            found = system(name).explored(limits=Limits(max_states=most))
            assert findings(found) == expected(plain(name, most))
            assert found.distinct == min(most, total)
            assert found.stopped is (None if most >= total else Stopped.MAX_STATES)

    def test_states_hold_for_initial_states(self) -> None:
        found = explore(still().functions, [(1,), (2,), (1,), (3,)], limits=Limits(max_states=2))
        assert (found.distinct, found.stopped) == (2, Stopped.MAX_STATES)

    def test_time(self) -> None:
        endless().explored(limits=Limits(max_states=1))  # compiles
        found = endless().explored(limits=Limits(time_limit=0.3))
        assert found.stopped is Stopped.TIME_LIMIT
        assert 0.3 <= found.seconds < 1.5  # on an idle machine 0.4
        assert found.level_sizes[:8] == (1, 2, 4, 8, 16, 32, 64, 128)

    def test_time_that_is_up_leaves_the_initial_states(self) -> None:
        found = endless().explored(limits=Limits(time_limit=0))
        assert (found.distinct, found.depth, found.stopped) == (1, 1, Stopped.TIME_LIMIT)

    def test_memory(self) -> None:
        endless().explored(limits=Limits(max_states=1))
        limit = resident_memory() + 80 * 2**20
        found = endless().explored(limits=Limits(memory_limit=limit))
        assert found.stopped is Stopped.MEMORY_LIMIT
        assert limit - 50 * 2**20 < resident_memory() <= limit
        assert found.distinct > 500_000

    def test_memory_of_the_machine(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(store, "_memory_of_machine", lambda: 22 * 1_000)
        found = endless().explored()
        assert (found.distinct, found.stopped) == (1_000, Stopped.MEMORY_LIMIT)

    def test_memory_that_the_system_refuses(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def refused(_: int) -> None:
            raise OSError

        few = VisitedStore(endless().functions, 0)
        monkeypatch.setattr(breadth_first, "VisitedStore", lambda *_: few)
        monkeypatch.setattr(store, "_empty_table", refused)
        found = endless().explored()
        assert found.stopped is Stopped.MEMORY_LIMIT
        assert found.distinct > 10_000

    @pytest.mark.parametrize("limits", [Limits(max_states=0), Limits(max_states=-1)])
    def test_that_make_no_sense(self, limits: Limits) -> None:
        with pytest.raises(ValueError, match="max_states must be at least 1"):
            system("counter").explored(limits=limits)

    @pytest.mark.parametrize(("predicates", "stop_mask"), [(65, 0), (-1, 0), (2, 0b100)])
    def test_of_predicates(self, predicates: int, stop_mask: int) -> None:
        with pytest.raises(ValueError, match="predicates"):
            explore(system("counter").functions, [(0,)], predicates=predicates, stop_mask=stop_mask)

    @pytest.mark.parametrize(("words", "steps"), [(0, 1), (1, 2**16), (1, -1)])
    def test_of_functions(self, words: int, steps: int) -> None:
        with pytest.raises(ValueError, match="at most 65535 steps"):
            NativeFunctions(words, 1, steps, 0, 0, 0)


class TestStopMask:
    def test_ends_with_the_level_that_is_generated(self) -> None:
        name = "3-counters"
        found = system(name).explored(stop_mask=0b1000)  # the sum is 9: depth 10
        assert (found.stopped, found.depth, found.complete) == (Stopped.FAIL_FAST, 10, False)
        assert list(found.level_sizes) == plain(name).level_sizes[:10]
        assert found.first[3] == plain(name).first[3]
        assert found.first[4] is None

    def test_may_be_met_at_once(self) -> None:
        found = system("3-counters").explored(stop_mask=1)
        assert (found.stopped, found.depth, found.generated) == (Stopped.FAIL_FAST, 1, 0)

    def test_is_about_the_chosen_predicates_only(self) -> None:
        found = system("pancakes").explored(stop_mask=0)
        assert found.complete
        assert found.first != (None,)


class TestFaults:
    @pytest.mark.parametrize("batch", [1, 3, 128])
    def test_tell_the_state_and_the_step(self, batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(store, "BATCH", batch)
        found = faulty(100).explored()
        assert (found.stopped, found.complete) == (Stopped.FAULT, False)
        assert found.fault is not None
        assert (found.store.state(found.fault.index), found.fault.step) == ((99,), 1)
        assert (found.distinct, found.generated) == (101, 2 * 99)
        assert found.first == (Sighting(10, 6),)
        assert len(found.path(found.fault.index)) == 51

    def test_in_an_initial_state(self) -> None:
        found = faulty(1).explored()
        assert (found.fault, found.distinct, found.generated) == (Fault(0, 1), 1, 0)


class TestInterruption:
    def test_when_asked(self) -> None:
        answers = iter([False] * 9 + [True])
        found = endless().explored(interrupted=lambda: next(answers))
        assert (found.stopped, found.complete, found.depth) == (Stopped.INTERRUPTED, False, 10)
        assert found.level_sizes == tuple(2**level for level in range(10))

    def test_by_ctrl_c_loses_nothing(self) -> None:
        """The signal strikes in the middle of a slice. What is there is a beginning of what would have been found."""
        endless().explored(limits=Limits(max_states=1))
        before = signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        try:
            found = endless().explored()
        finally:
            signal.signal(signal.SIGALRM, before)
        assert found.stopped is Stopped.INTERRUPTED
        assert found.seconds < 2
        assert found.distinct == len(found.store.states) == found.generated + 1
        assert found.store.states[:, 0].tolist() == list(range(found.distinct))
        assert found.level_sizes[:-2] == tuple(2**level for level in range(found.depth - 2))

    def test_by_ctrl_c_while_the_table_grows(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def struck(*_: Any) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(store, "_give_back", struck)
        found = endless().explored()
        assert found.stopped is Stopped.INTERRUPTED
        assert found.store.states[:, 0].tolist() == list(range(found.distinct))
        assert len(found.path(found.distinct - 1)) == found.depth

    def test_while_the_table_grows(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(store, "FIRST_SLOTS", 2**16)
        monkeypatch.setattr(store, "SWEEP", 2**12)
        sweeps, loop = 0, search_loop(endless().words, user_cache())

        def counted(*arguments: object) -> int:
            nonlocal sweeps
            sweeps += 1
            return loop.move(*arguments)

        monkeypatch.setattr(store, "search_loop", lambda *_: replace(loop, move=counted))
        found = endless().explored(interrupted=lambda: sweeps > 5)
        assert (found.stopped, sweeps) == (Stopped.INTERRUPTED, 6)
        assert found.store.states[:, 0].tolist() == list(range(found.distinct))

    def test_while_compiling(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def struck(_: VisitedStore) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(VisitedStore, "compile", struck)
        found = endless().explored()
        assert (found.stopped, found.distinct, found.depth) == (Stopped.INTERRUPTED, 0, 0)


class TestProgress:
    def test_comes_now_and_then(self) -> None:
        seen: list[Progress] = []
        started = time.perf_counter()
        found = endless().explored(limits=Limits(time_limit=0.6), progress=seen.append)
        assert 1 <= len(seen) <= 10 * (time.perf_counter() - started)
        last = seen[-1]
        assert 0 < last.distinct <= found.distinct
        assert last.generated == last.distinct - 1
        assert found.depth - 2 <= last.level <= found.depth
        assert 0 <= last.frontier <= 2 ** (last.level - 1)
        assert last.rate > 0
        assert last.resident > 2**20
        assert 0.1 <= last.elapsed <= found.seconds

    def test_may_be_the_place_where_ctrl_c_strikes(self) -> None:
        def struck(_: Progress) -> None:
            raise KeyboardInterrupt

        assert endless().explored(progress=struck).stopped is Stopped.INTERRUPTED
