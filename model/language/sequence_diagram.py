"""What a step looks like in a sequence diagram: messages between participants, and notes over them.

An action says so with `@action(draws=...)`: a function of the state before, the state after and the parameters, as
`tells` is, which gives what to draw from top to bottom. By default a step is a note with its sentence.

    def draws(before, after, follower, leader):
        return Message(follower, leader, "fetch"), Message(leader, follower, "one record", is_answer=True)

Participants go by name. An individual is called as everywhere, `A`; in a protocol with several scalarsets by the set's
name too, `Client A`. Any other name is somebody who is not one of many: the controller, a disk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Message:
    """An arrow from one participant to another, or to itself; an answer is drawn with a broken line."""

    sender: str
    receiver: str
    text: str
    is_answer: bool = False


@dataclass(frozen=True, slots=True)
class Note:
    """A remark over some participants, or over all of them if none is named."""

    over: tuple[str, ...]
    text: str


Drawn: TypeAlias = Message | Note

#: Given the state before, the state after, and the parameters by name, all as readers see them.
StepDrawer: TypeAlias = Callable[..., Iterable[Drawn]]
