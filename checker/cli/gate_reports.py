"""Where the findings of a gate go: the screen, and every file that was asked for."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from checker.cli.emit import STANDARD_OUTPUT, Stored, emit, require_reportable, require_writable
from model.errors import OutputError, TidegaugeError

if TYPE_CHECKING:
    from checker.judgement import Gate
    from checker.report.findings import Repository
    from checker.report.story import Line

SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"


@dataclass(frozen=True, slots=True)
class Wanted:
    """The files that were asked for; `annotations` is the option, or none to go by the environment."""

    junit: Path | None
    sarif: Path | None
    summary: Path | None
    report: Path | None
    annotations: str | None

    @property
    def annotates(self) -> bool:
        chosen = self.annotations or ("github" if os.environ.get("GITHUB_ACTIONS") == "true" else "none")
        return chosen == "github"

    def require_writable(self) -> None:
        """Raise `OutputError` now, and not after an hour of search."""
        for path in filter(None, (self.junit, self.sarif, self.summary)):
            require_writable(None, "./-" if str(path) == STANDARD_OUTPUT else str(path))
        if self.report is not None:
            require_reportable(self.report)


def deliver_gate(found: Gate, wanted: Wanted, output: Path, json_file: str | None, quiet: bool, seconds: float) -> None:
    """Every report. Raises `OutputError` for the first that cannot be written, once all others are."""
    from checker.report.annotations import github_annotations
    from checker.report.findings import Repository
    from checker.report.gate import gate_document, gate_lines

    repository, stored = Repository.around(Path.cwd()), Stored()
    for judged in found.specs:
        if judged.spec is not None:
            stored.add_texts(judged.spec, {name: judged.traces[name] for name in judged.told}, output)
    _write_files(found, wanted, repository, stored)
    pages = _write_pages(found, wanted, stored)
    if wanted.annotates:
        click.echo(github_annotations(found, repository), nl=False, err=json_file == STANDARD_OUTPUT)
    emit(
        lambda width: (*gate_lines(found, stored.paths, repository, width, seconds), *pages),
        gate_document(found, stored.paths, repository),
        json_file,
        quiet,
    )
    stored.raise_failure()


def _write_files(found: Gate, wanted: Wanted, repository: Repository, stored: Stored) -> None:
    from checker.files import append_text, write_text
    from checker.report.junit import junit
    from checker.report.markdown import markdown
    from checker.report.sarif import sarif

    for path, report in ((wanted.junit, junit), (wanted.sarif, sarif), (wanted.summary, markdown)):
        if path is not None:
            _trying(stored, write_text, path, report(found, repository))
    shared = os.environ.get(SUMMARY_VARIABLE)
    if shared:
        _trying(stored, append_text, Path(shared), markdown(found, repository))


def _write_pages(found: Gate, wanted: Wanted, stored: Stored) -> list[Line]:
    from checker.gate import rows
    from checker.report.folder import report_pages

    if wanted.report is None:
        return []
    notes = [
        f"{judged.name}: {each.kind.value}: {each.sentence}" for judged in found.specs for each in judged.surprises
    ]
    try:
        pages = report_pages(rows(found), [*found.remarks, *notes])
    except TidegaugeError as error:  # a policy's file has gone since, and its counterexamples cannot be replayed
        stored.failure = stored.failure or OutputError(f"{wanted.report} cannot be written: {error}")
        return []
    return stored.add_report(wanted.report, pages)


def _trying(stored: Stored, write: Callable[[Path, str], None], path: Path, text: str) -> None:
    try:
        write(path, text)
    except OutputError as error:
        stored.failure = stored.failure or error
