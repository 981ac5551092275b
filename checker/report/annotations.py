"""The gate as workflow commands: GitHub shows them beside the lines of the specs."""

from __future__ import annotations

from checker.judgement import About, Finding, Gate, Judged
from checker.report.findings import Repository, place_in_spec, title


def github_annotations(gate: Gate, repository: Repository) -> str:
    """One line for each finding that is not as wished; what was not decided is a warning."""
    return "".join(_command(judged, found, repository) for judged in gate.specs for found in judged.surprises)


def _command(judged: Judged, found: Finding, repository: Repository) -> str:
    place = place_in_spec(judged, found)
    path = repository.path(place.file)
    where = {} if path is None else {"file": path, **({"line": str(place.line)} if place.line else {})}
    properties = {**where, "title": title(judged, found)}
    shown = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    level = "warning" if found.is_inconclusive else "error"
    return f"::{level} {shown}::{_data(_message(judged, found))}\n"


def _message(judged: Judged, found: Finding) -> str:
    told = judged.told.get(found.name) if found.about is About.INVARIANT else None
    steps = enumerate(told.sentences, start=1) if told else ()
    return "\n".join([found.sentence, *(f"{number}. {sentence}" for number, sentence in steps)])


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
