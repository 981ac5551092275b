"""Films to draw: short and long ones, and one whose every name would like to be markup."""

from __future__ import annotations

from typing import Any

from little_traces import shortest

from checker.export.frames import Film, film
from checker.trace import Trace
from model.kafka import NAMED_VARIANTS, Bounds, kafka
from model.language import Range, action, invariant, protocol
from model.language.drawing import Badge, CellText, Fact, Lane, Mark, Role

HOSTILE = "</script><script>alert(\"1\")</script> & 'é' ]]> <!-- 数"


def truncated() -> Trace:
    """The oldest rule loses a committed record, in eight steps."""
    model = kafka(NAMED_VARIANTS["published/truncate-to-high-watermark"], Bounds(2, 1, 1, 2))
    return shortest(model, next(each for each in model.invariants if each.name == "WeakIsr"))


def climbing(steps: int, draws: Any = None, tells: Any = None) -> Trace:
    """Exactly so many steps of a counter."""

    @action(tells=tells)
    def climb(state: Any) -> None:
        state.height = state.height + 1

    @invariant
    def low(state: Any) -> Any:
        """The height stays low."""
        return state.height < steps

    model = protocol(
        "climbing", variables={"height": Range(0, 63)}, actions=[climb], invariants=[low], draws_state=draws
    )
    return shortest(model, model.invariants[0])


def hostile_lanes(state: Any) -> tuple[Lane, ...]:
    cell = CellText(HOSTILE, state.height, HOSTILE, HOSTILE, HOSTILE)
    mark = Mark(state.height, HOSTILE, HOSTILE)
    return (
        Lane(HOSTILE, (cell,) * state.height, (mark, mark), (Badge(HOSTILE, Role.STALE),), (Fact(HOSTILE, HOSTILE),)),
    )


def hostile() -> Film:
    """Two steps in which everything that a protocol or a spec can name is markup."""
    return film(climbing(2, draws=hostile_lanes, tells=lambda *_: HOSTILE), HOSTILE)
