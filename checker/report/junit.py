"""The gate as JUnit XML, in the form that Jenkins' junit-10.xsd describes: a suite for each spec, a case for each
invariant, and one each for counts, witnesses and idle actions where there is something to judge.

What is not as wished is a failure; what was not decided is an error, as no test tool knows the word `inconclusive`.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from typing import Final

from checker.judgement import About, Finding, Gate, Judged, Kind
from checker.report.findings import Repository, place_in_spec, shown_place

#: What XML 1.0 cannot hold, not even escaped.
_FORBIDDEN: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_TOGETHER: Final = {About.COUNT: "counts", About.WITNESS: "witnesses", About.ACTION: "never enabled"}


def junit(gate: Gate, repository: Repository) -> str:
    """The text of the file."""
    suites = [_suite(judged, repository) for judged in gate.specs]
    root = ET.Element("testsuites", name="tidegauge gate")
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in suites)))
    root.set("time", _seconds(sum(judged.seconds for judged in gate.specs)))
    root.extend(suites)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _suite(judged: Judged, repository: Repository) -> ET.Element:
    cases = [_case(judged, name, found, repository) for name, found in _grouped(judged.findings)]
    if cases:
        cases[0].set("time", _seconds(judged.seconds))  # one search judges them all
    suite = ET.Element("testsuite", name=_allowed(judged.name), tests=str(len(cases)))
    suite.set("failures", str(sum(case.find("failure") is not None for case in cases)))
    suite.set("errors", str(sum(case.find("error") is not None for case in cases)))
    suite.set("skipped", "0")
    suite.set("time", _seconds(judged.seconds))
    properties = ET.SubElement(suite, "properties")
    for name, value in (("file", repository.path(judged.file) or judged.name), ("cached", str(judged.cached).lower())):
        ET.SubElement(properties, "property", name=name, value=_allowed(value))
    suite.extend(cases)
    return suite


def _grouped(findings: Sequence[Finding]) -> Iterator[tuple[str, list[Finding]]]:
    """The cases of a spec: each with its name and the findings that decide it."""
    cases: dict[str, list[Finding]] = {}
    for found in findings:
        cases.setdefault(_TOGETHER.get(found.about, found.name), []).append(found)
    yield from cases.items()


def _case(judged: Judged, name: str, findings: Sequence[Finding], repository: Repository) -> ET.Element:
    case = ET.Element("testcase", name=_allowed(name), classname=_allowed(judged.name), time=_seconds(0))
    surprises = [found for found in findings if not found.is_wished]
    if surprises:
        decided = [found for found in surprises if found.kind not in (Kind.INCONCLUSIVE, Kind.ERROR)]
        first = (decided or surprises)[0]
        told = ET.SubElement(case, "failure" if decided else "error", type=first.kind.value)
        told.set("message", _allowed("; ".join(found.sentence for found in surprises)))
        told.text = _allowed("\n".join(_body(judged, found, repository) for found in surprises))
    return case


def _body(judged: Judged, found: Finding, repository: Repository) -> str:
    told = judged.told.get(found.name) if found.about is About.INVARIANT else None
    place = shown_place(place_in_spec(judged, found), repository)
    return f"{place}: {found.sentence}\n" + (f"\n{told.story}" if told else "")


def _seconds(seconds: float) -> str:
    return f"{seconds:.3f}"


def _allowed(text: str) -> str:
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
