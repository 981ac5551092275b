"""The door for pytest: specs as test items, and two functions for tests that are written in Python.

    [tool.pytest.ini_options]
    tidegauge_specs = ["specs"]               every TOML file below is a spec, and each spec a test

    from checker.pytest_plugin import assert_holds, assert_violates

pytest loads this file in every project beside which tidegauge is installed. So it imports nothing but pytest until
there is a spec to check, and without the option and without a TOML file on the command line it does nothing.

One item is one spec, not one promise of it: all promises of a spec are judged by one search, and workers of xdist that
share its promises would each repeat it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import pytest

if TYPE_CHECKING:
    from checker.judgement import Finding
    from checker.outcome import Explored, InvariantOutcome, Outcome
    from checker.spec import Spec
    from model.language.protocol import Protocol

#: A spec by name, by path or loaded, or a protocol of one's own.
Checkable: TypeAlias = "str | Path | Spec | Protocol"

FOLDERS: Final = "tidegauge_specs"
WIDTH: Final = 100

__all__ = ["assert_holds", "assert_violates"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """The one option."""
    parser.addini(
        FOLDERS,
        "folders of tidegauge specs: every TOML file below them is a test, which checks that the spec's promises are "
        "kept and broken as its [expect] says",
        type="paths",
        default=[],
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A spec, if it is a TOML file that was named, or that is where specs are."""
    if file_path.suffix != ".toml":
        return None
    folders = parent.config.getini(FOLDERS)
    if parent.session.isinitpath(file_path) or any(file_path.is_relative_to(folder) for folder in folders):
        return SpecFile.from_parent(parent, path=file_path)
    return None


class SpecFile(pytest.File):
    """A TOML file with one spec in it."""

    def collect(self) -> Iterator[pytest.Item]:
        """The spec as a test. A file that is no spec is told in one sentence, with its line."""
        from checker.spec import load_spec
        from model.errors import TidegaugeError

        try:
            spec = load_spec(self.path)
        except TidegaugeError as error:
            raise self.CollectError(str(error)) from None
        yield SpecItem.from_parent(self, name=spec.name, spec=spec)


class SpecItem(pytest.Item):
    """One spec: it passes if everything is as the spec expects, and all of it is known."""

    def __init__(self, *, spec: Spec, **settings: Any) -> None:
        super().__init__(**settings)
        self.spec = spec

    def runtest(self) -> None:
        """Check the spec; raises `NotAsExpected`."""
        found, outcome = _surprises(self.spec)
        if found:
            told = [_told(each, self.config.rootpath) for each in found]
            story = _story(self.spec.name, outcome, {each.name for each in found})
            raise NotAsExpected("\n".join([*told, *story]))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What a reader needs to know, which is not where in tidegauge it was found out."""
        from model.errors import InternalError, TidegaugeError

        if isinstance(excinfo.value, NotAsExpected | TidegaugeError) and not isinstance(excinfo.value, InternalError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The file, the line (from 0) where the expectations begin, unless another spec has them, and the name."""
        place = self.spec.place("expect")
        own = place is not None and place.line and Path(place.file) == self.path
        return self.path, place.line - 1 if place and own else None, self.name


class NotAsExpected(Exception):  # a failed test, not an error
    """What is not as a spec expects, ready to be read."""


# Judging, as the gate does


def _surprises(spec: Spec) -> tuple[list[Finding], Outcome]:
    """Check a spec; everything that is not as it expects, or not known."""
    from checker.judgement import judge, require_expectations
    from checker.run import Options, check

    require_expectations(spec)
    # Which idle actions the spec declares is a part of what is judged.
    outcome = check(replace(spec, never_enabled=()), Options(coverage=spec.counts is not None))
    _heed_the_keyboard(outcome)
    return [each for each in judge(spec, outcome, _unreduced(outcome)) if not each.is_wished], outcome


def _unreduced(outcome: Outcome) -> Explored | None:
    """What a search without symmetry would have walked: coverage has gone through all states whatever was used."""
    covered = outcome.coverage
    if covered is None or not covered.complete:
        return None
    taken = sum(action.taken for action in covered.actions)
    return replace(outcome.explored, distinct=covered.states, generated=taken)


def _told(finding: Finding, root: Path) -> str:
    """What is wrong, behind file and line; the file as seen from a folder that it is below."""
    from model.errors import Place

    text = f"{finding.kind.value}: {finding.sentence}"
    if finding.place is None:
        return text
    file = Path(finding.place.file)
    seen = file.relative_to(root) if file.is_relative_to(root) else file
    return f"{Place(str(seen), finding.place.line)}: {text}"


def _said(found: InvariantOutcome) -> str:
    """`WeakIsr is violated in 8 steps`."""
    from checker.outcome import Verdict
    from checker.report.story import steps_text

    if found.verdict is Verdict.INCONCLUSIVE:
        return f"{found.name} is not violated as far as explored"
    return f"{found.name} is violated in {steps_text(found.steps or 0)}" if found.trace else f"{found.name} holds"


def _story(about: str, outcome: Outcome, names: Collection[str] | None = None) -> list[str]:
    """The shortest counterexample of some invariants, or of any."""
    from checker.report.story import Telling, tell

    traces = [each.trace for each in outcome.invariants if each.trace and (names is None or each.name in names)]
    if not traces:
        return []
    shortest = min(traces, key=lambda trace: len(trace.steps))
    return ["", *(each.text for each in tell([shortest], about, telling=Telling(WIDTH)))]


def _heed_the_keyboard(outcome: Outcome) -> None:
    """A search ends with what it has at a Ctrl-C; a test run ends."""
    if outcome.was_interrupted:
        raise KeyboardInterrupt


# For tests written in Python


def assert_holds(
    spec: Checkable, *, max_states: int | None = None, time_limit: float | None = None, **bounds: int
) -> None:
    """Assert that every invariant of a spec (or of a protocol) holds in every reachable state.

    `bounds` replace those of the spec: `assert_holds("published/kip-320", replicas=2)`. Raises `AssertionError`, with
    the story of the shortest counterexample, if an invariant is violated, and if anything is not known: a limit was
    reached (`max_states`, `time_limit` in seconds), or a witness was not. Raises `TidegaugeError` for a spec that is
    none. What the spec expects plays no part.
    """
    __tracebackhide__ = True
    name, outcome = _checked(spec, None, max_states, time_limit, bounds)
    if outcome.exit_code == 0:
        return
    said = [_said(found) for found in outcome.invariants if found.trace]
    said += [f"inconclusive: {doubt}" for doubt in outcome.doubts]
    raise AssertionError("\n".join([f"{name}: {each}" for each in said] + _story(name, outcome)))


def assert_violates(
    spec: Checkable,
    invariant: str,
    steps: int | None = None,
    *,
    max_states: int | None = None,
    time_limit: float | None = None,
    **bounds: int,
) -> None:
    """Assert that an invariant of a spec (or of a protocol) is violated, and its shortest counterexample has so many
    `steps`, if that is given.

    Raises `AssertionError` if it holds, if it is violated in more or fewer steps (with the story), or if that is not
    known. The rest is as in `assert_holds`.
    """
    __tracebackhide__ = True
    name, outcome = _checked(spec, invariant, max_states, time_limit, bounds)
    found = outcome.invariants[0]
    if found.trace is None:
        doubts = "".join(f" {doubt}" for doubt in outcome.doubts)
        raise AssertionError(f"{name}: {_said(found)}, and was to be violated.{doubts}")
    if steps is not None and found.steps != steps:
        wrong = f"{name}: {_said(found)}, not in {steps}"
        raise AssertionError("\n".join([wrong, *_story(name, outcome)]))


def _checked(
    subject: Checkable,
    invariant: str | None,
    max_states: int | None,
    time_limit: float | None,
    bounds: dict[str, int],
) -> tuple[str, Outcome]:
    """The name of what was checked, with all its invariants or one of them, and the outcome."""
    from checker.run import Options, check, check_protocol
    from checker.spec import Spec, load_spec
    from model.errors import UsageError
    from model.language.protocol import Protocol

    options = Options(max_states=max_states, time_limit=time_limit)
    wanted = None if invariant is None else [invariant]
    if isinstance(subject, Protocol):
        if bounds:
            raise UsageError(f"{subject.name} is a protocol, which has its bounds", instead="Make it with other ones")
        chosen = subject if wanted is None else subject.selecting(wanted)
        name, outcome = subject.name, check_protocol(chosen, options)
    else:
        spec = (subject if isinstance(subject, Spec) else load_spec(subject)).changed(bounds, invariants=wanted)
        name, outcome = spec.name, check(spec, options)
    _heed_the_keyboard(outcome)
    return name, outcome
