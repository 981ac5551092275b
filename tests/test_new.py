"""`tidegauge new`: a folder that passes at once, whole or not at all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from command_line import tidegauge
from syrupy.assertion import SnapshotAssertion

from checker.spec import load_spec

SPECS = ("our-rule.toml", "our-rule-older.toml")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new project, as the working directory."""
    monkeypatch.chdir(tmp_path)
    assert tidegauge("new", "our-rule").code == 0
    monkeypatch.chdir(tmp_path / "our-rule")
    return tmp_path / "our-rule"


def test_what_it_says_and_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion) -> None:
    monkeypatch.chdir(tmp_path)
    ended = tidegauge("new", "our-rule")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == snapshot
    made = sorted(path for path in Path("our-rule").rglob("*") if path.is_file())
    assert {path.as_posix(): path.read_text(encoding="utf-8") for path in made} == snapshot
    assert [path.name for path in tmp_path.iterdir()] == ["our-rule"]


def test_the_gate_passes_at_once(project: Path) -> None:
    ended = tidegauge("gate", ".")
    assert ended.code == 0, ended.out
    assert ended.out.splitlines()[-1].startswith("2 specs: 2 as wished.")
    assert sorted(path.name for path in project.glob("*.toml")) == sorted(SPECS)


def test_its_tests_pass_at_once(project: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(project)]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout


def test_the_rule_is_todays(project: Path) -> None:
    """So whatever falls after a change is due to the change."""
    own = load_spec(project / SPECS[0])
    assert own.protocol().content_hash == own.changed(features={"truncation": "kip-279"}).protocol().content_hash


def test_a_change_for_the_worse_is_noticed(project: Path) -> None:
    policy = project / "policy.py"
    text = policy.read_text(encoding="utf-8")
    policy.write_text(text.replace("minimum(own.end_offset, answer.end_offset, log_end)", "log_end"), encoding="utf-8")
    ended = tidegauge("gate", "our-rule.toml")
    assert ended.code == 1
    assert "unexpectedly violated: NoDivergenceBelowHighWatermark" in ended.out


def test_the_job_is_read_as_it_is_meant(project: Path) -> None:
    job = yaml.safe_load((project / ".github/workflows/tidegauge.yml").read_text(encoding="utf-8"))
    runs = [step["run"] for step in job["jobs"]["tidegauge"]["steps"] if "run" in step]
    assert runs[0].endswith('"$TIDEGAUGE_PACKAGE"')
    assert runs[1].startswith("tidegauge gate . ")


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    folder = tmp_path / "our-rule"
    folder.mkdir()
    assert tidegauge("new", str(folder)).code == 0
    assert (folder / SPECS[0]).is_file()


def test_what_is_there_is_left_alone(tmp_path: Path) -> None:
    for name in ("a-file", "a-folder/with-something"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine", encoding="utf-8")
        taken = tmp_path / Path(name).parts[0]
        ended = tidegauge("new", str(taken))
        message = f"tidegauge: error: {taken} is there already. Name a folder that is new or empty.\n"
        assert (ended.code, ended.out, ended.err) == (2, "", message)
        assert path.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("name", ["9lives", "a b", "näme", "a.b", "-x-", "a--b", "$(x)"])
def test_a_name_that_files_cannot_have_is_refused(tmp_path: Path, name: str) -> None:
    ended = tidegauge("new", str(tmp_path / name))
    assert (ended.code, ended.out) == (2, "")
    assert "cannot be the name of a project" in ended.err
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_may_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    ended = tidegauge("new", str(tmp_path / "file" / "our-rule"))
    assert ended.code == 2
    assert "cannot be written" in ended.err
