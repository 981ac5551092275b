"""A trace in Apalache's Informal Trace Format (ADR-015), which Apalache, Quint and their tools read.

    domain                      value in the trace
    Bool                        true
    Range                       {"#bigint": "3"}: never a plain number
    Enum, Scalarset             "A"
    Option                      the value; none is "none", or the number below the lowest, as it is in the language
    Map                         {"#map": [[key, value], …]}
    Set, Sequence, Record       {"#set": […]}, […], {"field": …}

None is no variant, as Quint would have it, since not every reader takes variants of numbers: `itf-py` does not. With
`mbt` a trace is written as Quint's own are: options are `Some` and `None`, and every state tells the action that led to
it in `mbt::actionTaken` and its parameters in `mbt::nondetPicks`. Readers that drive a system with traces want that.

There is no time in it, so that the same trace gives the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from checker.trace import Trace
from model.language.domains import Domain, Map, Option, Range, Record, Scalar, Sequence, Set, leaves
from model.language.protocol import Protocol, State, Step

DESCRIPTION: Final = "https://apalache-mc.org/docs/adr/015adr-trace.html"
TAKEN: Final = "mbt::actionTaken"
PICKS: Final = "mbt::nondetPicks"
START: Final = "init"
NONE: Final = {"tag": "None", "value": {"#tup": []}}


def itf(trace: Trace, about: str, description: str, mbt: bool = False) -> str:
    """The trace. `about` names what it is a trace of, `description` says what happens in it."""
    return json.dumps(_Writer(trace, mbt).document(about, description), indent=1, ensure_ascii=False) + "\n"


@dataclass(frozen=True, slots=True)
class _Writer:
    trace: Trace
    mbt: bool

    @property
    def protocol(self) -> Protocol:
        return self.trace.protocol

    def document(self, about: str, description: str) -> dict[str, Any]:
        types = {name: self._type(domain) for name, domain in self.protocol.variables.items()}
        if self.mbt:
            types.update({TAKEN: "Str", PICKS: self._picks_type()})
        return {
            "#meta": {
                "format": "ITF",
                "format-description": DESCRIPTION,
                "source": about,
                "status": "violation" if self.trace.is_counterexample else "ok",
                "description": description,
                "varTypes": types,
            },
            "vars": list(types),
            "states": list(self._states()),
        }

    def _states(self) -> Iterator[dict[str, Any]]:
        steps: tuple[Step | None, ...] = (None, *self.trace.steps)
        sentences = ("", *self.trace.sentences())
        for index, (step, sentence, state) in enumerate(zip(steps, sentences, self.trace.states, strict=True)):
            meta = {"index": index, **(self._told(step, sentence) if step else {})}
            yield {"#meta": meta, **self._values(state), **(self._choice(step) if self.mbt else {})}

    def _told(self, step: Step, sentence: str) -> dict[str, Any]:
        return {"action": step.action, "parameters": self._arguments(step), "sentence": sentence}

    def _arguments(self, step: Step) -> dict[str, Any]:
        parameters = self.protocol.action_named[step.action].parameters
        return {p.name: self._scalar(p.domain, code) for p, code in zip(parameters, step.arguments, strict=True)}

    # Values

    def _values(self, state: State) -> dict[str, Any]:
        codes = iter(state)
        return {name: self._value(domain, codes) for name, domain in self.protocol.variables.items()}

    def _value(self, domain: Domain, codes: Iterator[int]) -> Any:
        match domain:
            case Record(fields=fields):
                return {name: self._value(part, codes) for name, part in fields.items()}
            case Map(key, value):
                return {"#map": [[self._scalar(key, code), self._value(value, codes)] for code in key.codes()]}
            case Set(element):
                return {"#set": [self._scalar(element, code) for code in element.codes() if next(codes)]}
            case Sequence(element, capacity):
                return self._elements(element, next(codes), [next(codes) for _ in range(capacity * _cells(element))])
            case Scalar():
                return self._scalar(domain, next(codes))

    def _elements(self, element: Domain, length: int, codes: list[int]) -> list[Any]:
        width = _cells(element)
        return [self._value(element, iter(codes[place * width : (place + 1) * width])) for place in range(length)]

    def _scalar(self, domain: Scalar, code: int) -> Any:
        match domain:
            case Option(inner) if self.mbt:
                return NONE if code == domain.none else _some(self._scalar(inner, code))
            case Option(inner) if code == domain.none:
                return _integer(code) if isinstance(inner, Range) else _none_beside(inner)
            case Option(inner):
                return self._scalar(inner, code)
            case Range():
                return _integer(code)
            case _:
                return domain.to_json(code)

    # Types, in the notation of Apalache's type system 1.2

    def _type(self, domain: Domain) -> str:
        match domain:
            case Record(fields=fields):
                return "{ " + ", ".join(f"{name}: {self._type(part)}" for name, part in fields.items()) + " }"
            case Map(key, value):
                return f"({self._type(key)} -> {self._type(value)})"
            case Set(element):
                return f"Set({self._type(element)})"
            case Sequence(element):
                return f"Seq({self._type(element)})"
            case Option(inner) if self.mbt:
                return self._option_type(inner)
            case Scalar():
                return {"bool": "Bool", "int": "Int"}.get(domain.sort, "Str")

    def _option_type(self, inner: Scalar) -> str:
        return f"(Some({self._type(inner)}) | None(UNIT))"

    # What was chosen, as Quint tells it: every parameter of every action, most of them not picked

    def _choice(self, step: Step | None) -> dict[str, Any]:
        arguments = self._arguments(step) if step else {}
        picks = {name: _some(arguments[name]) if name in arguments else NONE for name in self._all_parameters()}
        return {TAKEN: step.action if step else START, PICKS: picks}

    def _picks_type(self) -> str:
        parts = (f"{name}: {self._option_type(domain)}" for name, domain in self._all_parameters().items())
        return "{ " + ", ".join(parts) + " }"

    def _all_parameters(self) -> dict[str, Scalar]:
        """By name; of parameters that share one, the first says what type it is."""
        found: dict[str, Scalar] = {}
        for action in self.protocol.actions:
            for parameter in action.parameters:
                found.setdefault(parameter.name, parameter.domain)
        return found


def _integer(number: int) -> dict[str, str]:
    return {"#bigint": str(number)}


def _some(value: Any) -> dict[str, Any]:
    return {"tag": "Some", "value": value}


def _none_beside(domain: Scalar) -> str:
    """A name for none that no member has."""
    name, members = "none", [domain.to_json(code) for code in domain.codes()]
    while name in members:
        name = f"({name})"
    return name


def _cells(domain: Domain) -> int:
    return len(list(leaves(domain)))
