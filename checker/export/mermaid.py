"""A trace as a Mermaid sequence diagram, which GitHub and many editors draw where it stands in Markdown.

What a step looks like is the protocol's to say (`model.language.sequence_diagram`); here is only how Mermaid writes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from checker.export.labels import printable
from checker.report.story import wrap
from checker.trace import Trace
from model.language.protocol import Protocol
from model.language.sequence_diagram import Drawn, Message, Note
from model.language.show import drawn_step, individuals

LINE: Final = 46  # columns of a text
WIDE_LINE: Final = 72  # of a text over all participants
EMPTY: Final = "#160;"
NAMELESS: Final = "state"  # whom notes stand over if the protocol names nobody

_PLAIN_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_ODD: Final = re.compile(r"""[^\w .,:()\[\]{}=+*/!?|'→-]|:(?! )|(?<=wrap):""")  # `wrap:` is a command to Mermaid
_RESERVED: Final = re.compile(
    "activate|actor|and|alt|as|autonumber|box|break|create|critical|deactivate|destroy|details|else|end|link|links|loop"
    "|note|off|opt|option|over|par|participant|properties|rect|title|acctitle|accdescr|sequencediagram",
    re.IGNORECASE,
)


def mermaid(trace: Trace, title: str) -> str:
    """The diagram, under a title."""
    return "\n".join(_Diagram(trace).lines(title)) + "\n"


class _Diagram:
    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._steps = [
            drawn_step(trace.protocol, step, before, after)
            for step, before, after in zip(trace.steps, trace.states, trace.states[1:], strict=False)
        ]
        participants = _participants(trace.protocol, [one for step in self._steps for one in step])
        self._ids = {name: _id(name, place) for place, name in enumerate(participants)}

    def lines(self, title: str) -> Iterator[str]:
        yield "sequenceDiagram"
        yield f"    accTitle: {_text(title)}"
        for name, identity in self._ids.items():
            yield f"    participant {identity}" + ("" if identity == name else f" as {_text(name)}")
        yield f"    Note over {self._span(())}: {_wrapped(title, WIDE_LINE)}"  # a title would be cut off
        for number, step in enumerate(self._steps, start=1):
            for place, one in enumerate(step):
                yield f"    {self._line(one, '' if place else f'{number}. ')}"
        if self._trace.is_counterexample:
            yield from self._violation()

    def _line(self, one: Drawn, head: str) -> str:
        match one:
            case Message(sender, receiver, text, is_answer):
                arrow = "-->>" if is_answer else "->>"
                return f"{self._ids[sender]}{arrow}{self._ids[receiver]}: {_wrapped(head + text)}"
            case Note(over, text):
                return f"Note over {self._span(over)}: {_wrapped(head + text)}"

    def _span(self, over: tuple[str, ...]) -> str:
        """Mermaid's notes stand over one participant, or over all from one to another."""
        names = list(self._ids)
        places = sorted(names.index(name) for name in over) or [0, len(names) - 1]
        return ",".join(self._ids[names[place]] for place in dict.fromkeys((places[0], places[-1])))

    def _violation(self) -> Iterator[str]:
        reason = self._trace.reason()
        bindings = ", ".join(dict.fromkeys(f"{each.name} = {each.shown}" for each in reason.bindings))
        told = [f"{self._trace.predicate.name} is violated", *([f"not for {bindings}"] if bindings else [])]
        yield "    rect rgba(200, 40, 30, 0.2)"
        yield f"    Note over {self._span(())}: {'<br/>'.join(_wrapped(each, WIDE_LINE) for each in told)}"
        yield "    end"


def _participants(protocol: Protocol, drawn: list[Drawn]) -> list[str]:
    """Whoever appears, those that are not one of many first; of a scalarset all members, or none."""
    named = dict.fromkeys(name for one in drawn for name in _named(one))
    members = [individuals(protocol, scalarset) for scalarset in protocol.scalarsets]
    present = [name for group in members if named.keys() & set(group) for name in group]
    return [name for name in named if name not in present] + present or [NAMELESS]


def _named(one: Drawn) -> tuple[str, ...]:
    match one:
        case Message(sender, receiver):
            return sender, receiver
        case Note(over):
            return over


def _id(name: str, place: int) -> str:
    """The name itself, where Mermaid cannot take it for anything else."""
    return name if _PLAIN_NAME.fullmatch(name) and not _RESERVED.fullmatch(name) else f"p_{place}"


def _wrapped(text: str, width: int = LINE) -> str:
    return "<br/>".join(map(_text, wrap(text, width))) or EMPTY


def _text(text: str) -> str:
    """Whatever Mermaid or HTML might read as their own becomes the number of the character; no text may be empty."""
    return _ODD.sub(lambda found: f"#{ord(found.group())};", printable(text).replace("\n", " ")) or EMPTY
