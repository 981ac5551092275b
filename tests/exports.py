"""Traces to export: of any length, with a variable of every kind, and with names that would like to be markup."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest

from checker.spec import load_spec
from checker.trace import Trace, replay
from checker.trace_file import StoredTrace
from model.language import (
    Bool,
    Enum,
    Map,
    Option,
    Protocol,
    Range,
    Record,
    Scalarset,
    Sequence,
    Set,
    action,
    invariant,
    none,
    protocol,
    record,
    require,
)
from model.language.sequence_diagram import Message, Note

LENGTHS: Final = (1, 2, 40)  # states
ODD: Final = (
    'quo"te',
    "a<b>&amp;c",
    "naïve – 数",
    r"back\slash \N",
    "semi;colon #1 %% wrap: x",
    "<script>alert(1)</script>",
    "bell\x07",
)
CLERK: Final = 'the <clerk> "A&B"'

CLIENTS: Final = Scalarset("Client", 2)
WORDS: Final = Enum("Word", ODD)
Client: TypeAlias = Any  # names of domains; for the type checker they are types
Word: TypeAlias = Any


def told(_before: Any, after: Any, client: str, word: str) -> str:
    return f"{client} says {word}, and is number {after.count}."


def drawn(_before: Any, after: Any, client: str, word: str) -> tuple[Message | Note, ...]:
    return (
        Message(client, CLERK, f"say {word}"),
        Message(CLERK, client, word, is_answer=True),
        Note((client, CLERK), f"number {after.count}"),
    )


def counting(limit: int) -> Protocol:
    """The invariant falls when something has been said `limit` times."""

    @action(tells=told, draws=drawn)
    def say(state: Any, client: Client, word: Word) -> None:
        require(state.count < 39)
        state.count = state.count + 1
        state.last = word
        state.callers.add(client)
        state.table[client] = state.count
        state.pair.by = client
        state.pair.flag = ~state.pair.flag

    @action
    def note(state: Any, client: Client) -> None:
        require(state.last != none, ~state.log.is_full)
        state.log.append(record(by=client, word=state.last))

    @invariant
    def few(state: Any) -> Any:
        """Not too much is said."""
        return state.count < limit

    return protocol(
        "counting",
        variables={
            "count": Range(0, 39),
            "last": Option(WORDS),
            "callers": Set(CLIENTS),
            "table": Map(CLIENTS, Option(Range(1, 39))),
            "ages": Map(Range(-1, 1), Bool()),
            "pair": Record(by=Option(CLIENTS), flag=Bool()),
            "log": Sequence(Record(by=CLIENTS, word=Option(WORDS)), 2),
        },
        domains={"Client": CLIENTS, "Word": WORDS},
        actions=[say, note],
        invariants=[few],
    )


def trace_of(states: int) -> Trace:
    """So many states. In the longer ones every odd word is said, and two are noted."""
    notes = [("note", (0,)), ("note", (1,))] if states > 20 else []
    limit = states - 1 - len(notes)
    says = [("say", (position % 2, position % len(ODD))) for position in range(limit)]
    model = counting(limit)
    steps = [model.steps[model.step_numbers[each]] for each in (*says[:20], *notes, *says[20:])]
    return replay(model, model.invariants[0], model.initial[0], steps)


def stored(states: int) -> StoredTrace:
    """As if it had been read from a file; the spec has odd names, too."""
    spec = load_spec("published/kip-320")
    return StoredTrace(trace_of(states), replace(spec, name=ODD[5], title=ODD[1]), "")


def needed(found: str | Path | None, missing: str) -> str:
    """Skips a test that needs what is not there; in continuous integration, where it should be, fails it."""
    if found:
        return str(found)
    if os.environ.get("CI") == "true":
        pytest.fail(missing)
    pytest.skip(missing)


def program(name: str, package: str) -> str:
    """The path of a program of a Debian package."""
    return needed(shutil.which(name), f"there is no {name}; Debian has it in the package {package}")
