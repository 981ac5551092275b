"""The language that protocols are written in.

A protocol is plain Python functions over a typed state. This one is complete: two clients share a lock, and a client
may also break it.

    >>> from model.language import *
    >>> Client = Scalarset("Client", 2)
    >>> @action
    ... def acquire(state, client: Client):
    ...     require(state.holder == none)
    ...     state.holder = client
    ...     state.inside.add(client)
    >>> @action
    ... def release(state, client: Client):
    ...     require(state.holder == client)
    ...     state.holder = none
    ...     state.inside.remove(client)
    >>> @action
    ... def break_lock(state):
    ...     require(state.holder != none)
    ...     state.holder = none
    >>> @invariant
    ... def one_inside(state):
    ...     return state.inside.size <= 1
    >>> lock = protocol(
    ...     "lock",
    ...     variables={"holder": Option(Client), "inside": Set(Client)},
    ...     actions=[acquire, release, break_lock],
    ...     invariants=[one_inside],
    ... )
    >>> [step_text(lock, step) for step, after in successors(lock, lock.initial[0])]
    ['acquire(client=A)', 'acquire(client=B)']

Read on in `domains` (what variables range over), `staging` (how functions become steps) and `evaluate` (what it all
means).
"""

from model.language.composites import (
    MapValue,
    RecordValue,
    SequenceValue,
    SetValue,
    declares,
    empty_set,
    full_set,
    record,
)
from model.language.domains import Bool, Enum, Map, Option, Range, Record, Scalarset, Sequence, Set
from model.language.evaluate import apply, enabled, evaluate, step_text, successors
from model.language.protocol import Protocol
from model.language.quantifiers import all_of, any_of, count, first, implies, maximum, minimum, where
from model.language.scalars import Member, Number, Truth, none
from model.language.staging import action, invariant, protocol, reachable, require

__all__ = [
    "Bool",
    "Enum",
    "Map",
    "MapValue",
    "Member",
    "Number",
    "Option",
    "Protocol",
    "Range",
    "Record",
    "RecordValue",
    "Scalarset",
    "Sequence",
    "SequenceValue",
    "Set",
    "SetValue",
    "Truth",
    "action",
    "all_of",
    "any_of",
    "apply",
    "count",
    "declares",
    "empty_set",
    "enabled",
    "evaluate",
    "first",
    "full_set",
    "implies",
    "invariant",
    "maximum",
    "minimum",
    "none",
    "protocol",
    "reachable",
    "record",
    "require",
    "step_text",
    "successors",
    "where",
]
