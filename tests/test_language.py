"""What a step changes, when it is enabled, and what a condition says."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playground import CLIENT, Client, Small, after, holds, is_enabled, stage, steps_of

from model.errors import ModelFault
from model.language import (
    Range,
    action,
    all_of,
    any_of,
    apply,
    count,
    empty_set,
    first,
    implies,
    maximum,
    minimum,
    none,
    protocol,
    record,
    require,
    successors,
    where,
)
from model.language.formula import Formula, Shape
from model.language.show import to_json


class TestUpdates:
    def test_what_is_not_assigned_stays(self) -> None:
        def act(state: Any) -> None:
            state.number = 2

        assert after(act, number=1, other=3, queue=[{"id": 1, "by": "A"}]) == {"number": 2}

    def test_a_read_after_an_assignment_sees_it(self) -> None:
        def act(state: Any) -> None:
            state.number = state.number + 1
            state.other = state.number
            state.number = state.number + 1

        assert after(act, number=1) == {"number": 3, "other": 2}

    def test_a_scalar_that_was_read_keeps_its_value(self) -> None:
        def swap(state: Any) -> None:
            old = state.number
            state.number = state.other
            state.other = old

        assert after(swap, number=1, other=2) == {"number": 2, "other": 1}

    def test_a_composite_that_was_read_is_a_view(self) -> None:
        def act(state: Any) -> None:
            pair = state.pair
            pair.left = 2
            state.number = state.pair.left

        assert after(act) == {"pair": {"left": 2, "right": 0}, "number": 2}

    def test_a_guard_after_an_assignment_sees_it(self) -> None:
        def act(state: Any) -> None:
            state.number = state.number + 1
            require(state.number == 2)

        assert is_enabled(act, number=1)
        assert not is_enabled(act, number=2)

    def test_a_value_put_back_is_no_update(self) -> None:
        def act(state: Any) -> None:
            before = state.number
            state.number = 3
            require(state.number == 3)
            state.number = before

        assert stage(act).steps[0].updates == ()

    def test_composites_are_assigned_as_a_whole(self) -> None:
        def act(state: Any) -> None:
            state.guests = state.members
            state.slots[0] = state.slots[1]
            state.spare = state.queue

        queue = [{"id": 2, "by": "C"}]
        slot = {"value": 3, "by": "B"}
        changed = after(act, members=["A", "C"], slots={"0": {"value": 0, "by": None}, "1": slot}, queue=queue)
        assert changed == {"guests": ["A", "C"], "slots": {"0": slot, "1": slot}, "spare": queue}

    def test_mechanisms_are_given_by_name(self) -> None:
        def act(state: Any, *, limit: int, grown: Any) -> None:
            state.number = grown(state.number, limit)

        made = stage(act, mechanisms={"limit": 2, "grown": maximum, "unused": None})
        [(_, reached)] = successors(made, made.initial[0])
        assert to_json(made, reached)["number"] == 2

    def test_an_action_may_be_built_from_functions(self) -> None:
        def set_number(state: Any, to: Any) -> None:
            require(to <= 2)
            state.number = to

        def act(state: Any, small: Small) -> None:
            set_number(state, small)

        assert [changed for _, changed in steps_of(act)] == [{}, {"number": 1}, {"number": 2}]

    @given(st.data())
    def test_a_sequence_of_assignments_is_what_python_would_do(self, data: st.DataObject) -> None:
        names = ("x", "y", "z")
        variable = st.sampled_from(names)
        small = st.integers(-3, 3)
        program = data.draw(st.lists(st.tuples(variable, variable, variable, small), max_size=6))

        def run(state: Any) -> None:
            for target, left, right, constant in program:
                old, a, b = getattr(state, target), getattr(state, left), getattr(state, right)
                setattr(state, target, where(a < b, a + constant, old + b))

        wide = Range(-10_000, 10_000)
        made = protocol("program", variables=dict.fromkeys(names, wide), actions=[action(run)])
        start = data.draw(st.tuples(small, small, small))
        values = dict(zip(names, start, strict=True))
        for target, left, right, constant in program:
            a, b = values[left], values[right]
            values[target] = a + constant if a < b else values[target] + b
        assert apply(made, made.steps[0], start) == tuple(values.values())


class TestGuards:
    def test_every_condition_must_hold(self) -> None:
        def act(state: Any) -> None:
            require(state.number > 0, state.flag)
            require(state.other == 2)

        assert is_enabled(act, number=1, flag=True, other=2)
        assert not is_enabled(act, number=0, flag=True, other=2)
        assert not is_enabled(act, number=1, flag=False, other=2)
        assert not is_enabled(act, number=1, flag=True, other=1)

    def test_parameters_that_rule_a_step_out_leave_none(self) -> None:
        def meet(state: Any, one: Client, other: Client) -> None:
            require(one != other)
            state.holder = one

        made = stage(meet)
        assert [step.arguments for step in made.steps] == list(itertools.permutations(range(3), 2))
        assert made.actions[0].possible

    def test_an_action_that_its_parameters_rule_out_is_not_possible(self) -> None:
        def alone(state: Any, one: Client, other: Client) -> None:
            require(one != other, one == other)
            state.holder = one

        made = stage(alone)
        assert made.steps == ()
        assert not made.actions[0].possible

    def test_an_action_that_the_state_rules_out_is_possible(self) -> None:
        """It has no step either, but that is worth a warning: the model may be wrong."""

        def never(state: Any, one: Client) -> None:
            require(state.number > 3)
            state.holder = one

        made = stage(never)
        assert made.steps == ()
        assert made.actions[0].possible

    def test_a_mechanism_that_says_false_makes_an_action_impossible(self) -> None:
        def act(state: Any, *, feature: Any) -> None:
            require(feature(state))
            state.number = 1

        assert not stage(act, mechanisms={"feature": lambda _: False}).actions[0].possible
        assert stage(act, mechanisms={"feature": lambda _: True}).actions[0].possible


class TestFaults:
    """Assignments outside a domain never wrap or clamp."""

    def test_a_sum_that_does_not_fit(self) -> None:
        def act(state: Any) -> None:
            state.number = state.number + 1  # one too many at 3

        assert after(act, number=2) == {"number": 3}
        with pytest.raises(ModelFault) as raised:
            after(act, number=3)
        assert raised.value.what == "act() assigns 4 to number, which ranges over 0..3"
        assert raised.value.where is not None
        assert raised.value.where.source().endswith("# one too many at 3")

    def test_a_guard_proves_that_it_fits(self) -> None:
        def unguarded(state: Any) -> None:
            state.number = state.number + 1

        def guarded(state: Any) -> None:
            require(state.number < 3)
            state.number = state.number + 1

        made = stage(unguarded, guarded)
        assert [update.proved for step in made.steps for update in step.updates] == [False, True]

    def test_appending_to_a_full_sequence(self) -> None:
        def put(state: Any, client: Client) -> None:
            require(client == "B")
            state.queue.append(record(id=3, by=client))  # no room for a third

        one = {"id": 0, "by": "A"}
        assert after(put, queue=[one]) == {"queue": [one, {"id": 3, "by": "B"}]}
        with pytest.raises(ModelFault) as raised:
            after(put, queue=[one, one])
        assert raised.value.what == "put(client=B) assigns 3 to queue.length, which ranges over 0..2"
        assert raised.value.where is not None
        assert raised.value.where.source().endswith("# no room for a third")

    def test_none_where_it_does_not_belong(self) -> None:
        def act(state: Any) -> None:
            state.owner = state.holder

        assert after(act, holder="B") == {"owner": "B"}
        with pytest.raises(ModelFault, match=r"act\(\) assigns none to owner"):
            after(act, holder=None)

    def test_truncating_to_less_than_nothing(self) -> None:
        def act(state: Any) -> None:
            state.queue.truncate(state.number - 2)

        assert after(act, number=2, queue=[{"id": 1, "by": "A"}]) == {"queue": []}
        with pytest.raises(ModelFault, match=r"assigns -1 to queue\.length"):
            after(act, number=1)


class TestConditions:
    @pytest.mark.parametrize("number", range(4))
    @pytest.mark.parametrize("other", range(4))
    def test_comparisons_and_arithmetic(self, number: int, other: int) -> None:
        def same(x: Any, y: Any) -> list[Any]:
            compared = [x < y, x <= y, x > y, x >= y, x == y, x != y]
            return [*compared, x + y == 3, x - y == 1, x * y == 2, 3 - x == y, 2 * x == 1 + y, x < 2, 1 + x == y]

        def condition(state: Any) -> Any:
            wanted = same(number, other)
            return all_of(is_so == wish for is_so, wish in zip(same(state.number, state.other), wanted, strict=True))

        assert holds(condition, number=number, other=other)

    @pytest.mark.parametrize(("flag", "number"), list(itertools.product([False, True], [0, 1])))
    def test_logic(self, flag: bool, number: int) -> None:
        one = number == 1

        def check(state: Any) -> Any:
            is_one = state.number == 1
            pairs = [
                (state.flag & is_one, flag and one),
                (state.flag | is_one, flag or one),
                (~state.flag, not flag),
                (True & state.flag, flag),
                (False | state.flag, flag),
                (implies(state.flag, is_one), not flag or one),
                (all_of(state.flag, is_one), flag and one),
                (any_of([state.flag, is_one]), flag or one),
                (all_of(), True),
                (any_of(()), False),
                (all_of(True), True),
                (state.flag == is_one, flag == one),
                (state.flag != is_one, flag != one),
                (count([state.flag, is_one, True]) == 2, flag != one),
                (where(is_one, state.flag, True), flag if one else True),
            ]
            return all_of(symbolic == expected for symbolic, expected in pairs)

        assert holds(check, flag=flag, number=number)

    @pytest.mark.parametrize(("number", "other"), list(itertools.product(range(4), repeat=2)))
    def test_extremes_and_cases(self, number: int, other: int) -> None:
        def check(state: Any) -> Any:
            x, y = state.number, state.other
            cases = [(x == 0, y), (y == 0, x), (x == y, 3)]
            expected = other if number == 0 else number if other == 0 else 3 if number == other else 1
            return all_of(
                minimum(x, y) == min(number, other),
                maximum(x, y, 2) == max(number, other, 2),
                minimum(value for value in (x, y, 1)) == min(number, other, 1),
                maximum(x) == number,
                maximum([2]) == 2,
                first(cases, otherwise=1) == expected,
            )

        assert holds(check, number=number, other=other)

    @pytest.mark.parametrize("late", [None, 0, 1, 3])
    def test_none_is_below_every_number(self, late: int | None) -> None:
        def check(state: Any) -> Any:
            return all_of(
                state.late.is_none == (late is None),
                state.late.is_some == (late is not None),
                (state.late == none) == (late is None),
                (state.late < 1) == (late is None or late < 1),
                all_of((state.late >= value) == (late is not None and late >= value) for value in range(4)),
                (none == state.late) == (late is None),
            )

        assert holds(check, late=late)

    def test_members_are_compared_by_name(self) -> None:
        assert holds(lambda state: state.phase == "busy", phase="busy")
        assert not holds(lambda state: state.phase == "busy", phase="done")
        assert holds(lambda state: state.owner == state.holder, owner="B", holder="B")
        assert not holds(lambda state: state.owner == state.holder, owner="A", holder=None)
        assert holds(lambda state: state.holder != "C", holder=None)

    def test_a_choice_between_scalars(self) -> None:
        def act(state: Any) -> None:
            state.holder = where(state.flag, none, state.owner)
            state.phase = where(state.flag, "busy", state.phase)
            state.number = where(state.flag, 3, 1)
            state.late = where(state.flag, state.late, 2)

        assert after(act, flag=True, owner="B", holder="A") == {"holder": None, "phase": "busy", "number": 3}
        assert after(act, flag=False, owner="B", holder="A") == {"holder": "B", "number": 1, "late": 2}

    def test_a_choice_between_a_number_and_none(self) -> None:
        def act(state: Any) -> None:
            state.late = first([(state.number == 1, 2), (state.number == 2, none)], otherwise=3)

        assert [after(act, number=number, late=0)["late"] for number in range(4)] == [3, 2, None, 3]

    def test_a_choice_between_composites(self) -> None:
        def act(state: Any) -> None:
            state.members = where(state.flag, state.guests, empty_set(CLIENT))
            state.pair = where(state.flag, record(left=1, right=state.number), state.pair)
            state.queue = where(state.flag, state.queue, state.spare)
            state.slots[0] = where(state.flag, state.slots[1], state.slots[0])

        slots = {"0": {"value": 0, "by": None}, "1": {"value": 2, "by": "A"}}
        spare = [{"id": 2, "by": "C"}]
        chosen = after(act, flag=True, guests=["B"], number=2, slots=slots, spare=spare)
        assert chosen == {"members": ["B"], "pair": {"left": 1, "right": 2}, "slots": {**slots, "0": slots["1"]}}
        assert after(act, flag=False, guests=["B"], number=2, slots=slots, spare=spare) == {"queue": spare}

    def test_composites_are_compared_by_value(self) -> None:
        assert holds(lambda state: state.members == state.guests, members=["A"], guests=["A"])
        assert not holds(lambda state: state.members == state.guests, members=["A"], guests=["B"])
        assert holds(lambda state: state.pair == record(left=1, right=2), pair={"left": 1, "right": 2})
        assert holds(lambda state: state.queue != state.spare, queue=[{"id": 0, "by": "A"}])
        assert holds(lambda state: state.members == {"A", "C"}, members=["A", "C"])


class TestInitialStates:
    def test_everything_starts_with_its_lowest_value(self) -> None:
        made = stage()
        assert made.initial == (tuple(cell.domain.low for cell in made.cells),)

    def test_parameters_give_several(self) -> None:
        def start(state: Any, client: Client, small: Small) -> None:
            require(small >= 2)
            state.holder = client
            state.number = small
            state.members.add(client)

        made = stage(initial=start)
        shown = [to_json(made, state) for state in made.initial]
        assert [(state["holder"], state["number"], state["members"]) for state in shown] == [
            (name, number, [name]) for name in "ABC" for number in (2, 3)
        ]

    def test_equal_ones_count_once(self) -> None:
        def start(state: Any, small: Small) -> None:
            state.number = minimum(small, 1)

        assert len(stage(initial=start).initial) == 2


class TestFormulas:
    """Quantifiers remember their variables, so that a false invariant can say for whom."""

    @staticmethod
    def bindings(formula: Formula) -> list[tuple[str, str]]:
        return [(binding.name, binding.shown) for binding in formula.bindings]

    def formula(self, condition: Any) -> Formula:
        return stage(invariants=(condition,)).invariants[0].formula

    def test_loop_variables_of_a_generator(self) -> None:
        limit = 2
        found = self.formula(
            lambda state: all_of(state.table[client] < limit + offset for client in state.table for offset in range(2))
        )
        assert found.shape is Shape.ALL
        shown = [(("client", client), ("offset", str(offset))) for client in "ABC" for offset in range(2)]
        assert [tuple(self.bindings(part)) for part in found.parts] == shown

    def test_what_a_generator_only_sees_is_not_its_variable(self) -> None:
        def condition(state: Any) -> Any:
            return all_of(any_of(state.table[inner] > outer.position for inner in state.table) for outer in state.table)

        found = self.formula(condition)
        assert [self.bindings(part) for part in found.parts] == [[("outer", name)] for name in "ABC"]
        assert [self.bindings(part) for part in found.parts[0].parts] == [[("inner", name)] for name in "ABC"]

    def test_members_of_a_set(self) -> None:
        found = self.formula(lambda state: state.members.all(lambda client: state.table[client] > 0))
        assert found.shape is Shape.ALL
        assert [self.bindings(part) for part in found.parts] == [[("client", name)] for name in "ABC"]
        assert {part.shape for part in found.parts} == {Shape.IMPLIES}

    def test_any_callable_may_ask_about_members(self) -> None:
        assert holds(lambda state: state.members.all(Limit(2)), members=["A"])

    def test_parts_that_are_not_quantified_have_none(self) -> None:
        found = self.formula(lambda state: all_of([state.flag, state.number > 1]))
        assert [self.bindings(part) for part in found.parts] == [[], []]


class Limit:
    """A condition that is no function."""

    def __init__(self, limit: int) -> None:
        self.limit = limit

    def __call__(self, client: Any) -> Any:
        return client.position < self.limit
