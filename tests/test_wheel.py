"""What a person gets who installs the wheel: two packages, the shipped specs and traces, and one command."""

from __future__ import annotations

import configparser
import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from source_tree import ROOT, modules

VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
DIST_INFO = f"tidegauge-{VERSION}.dist-info"


def run(command: list[str], folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command's end, with its output; fails the test with that output unless the exit code is 0."""
    ended = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, f"{' '.join(command)}: {ended.stdout}{ended.stderr}"
    return ended


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built by the backend itself: no network, no isolated environment."""
    folder = tmp_path_factory.mktemp("wheel")
    run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], ROOT)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def contents(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def shipped(folder: str, suffix: str) -> set[str]:
    return {path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob(f"*{suffix}")}


def test_top_level_is_the_two_packages_and_nothing_else(contents: set[str]) -> None:
    assert {name.partition("/")[0] for name in contents} == {"model", "checker", DIST_INFO}


def test_every_module_is_in_it(contents: set[str]) -> None:
    ours = {path.relative_to(ROOT).as_posix() for path in modules().values()}
    assert {name for name in contents if name.endswith(".py") and "/_data/" not in name} == ours


@pytest.mark.parametrize(("folder", "suffix"), [("specs", ".toml"), ("specs", ".py"), ("counterexamples", ".json")])
def test_data_travels_inside_checker(contents: set[str], folder: str, suffix: str) -> None:
    expected = {f"checker/_data/{name}" for name in shipped(folder, suffix)}
    assert expected, f"{folder}/ ships nothing"
    assert {name for name in contents if name.startswith("checker/_data/") and name.endswith(suffix)} >= expected


def test_it_declares_the_command(wheel: Path) -> None:
    declared = configparser.ConfigParser()
    with zipfile.ZipFile(wheel) as archive:
        declared.read_string(archive.read(f"{DIST_INFO}/entry_points.txt").decode())
    assert dict(declared["console_scripts"]) == {"tidegauge": "checker.cli:main"}


def test_it_carries_the_licence(contents: set[str]) -> None:
    assert f"{DIST_INFO}/licenses/LICENSE" in contents


@pytest.mark.slow
def test_installed_elsewhere_it_does_the_main_job(wheel: Path, tmp_path: Path) -> None:
    # The libraries come from the running environment, so that no network is needed; tidegauge itself must come from
    # the wheel and not from this checkout, which an editable install has put on the path too (later than PYTHONPATH).
    site, elsewhere = tmp_path / "site", tmp_path / "elsewhere"
    elsewhere.mkdir()
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    run([*pip, "--target", str(site), str(wheel)], elsewhere)
    settings = {"PYTHONPATH": str(site), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    whereabouts = "import checker, model; print(checker.__file__); print(model.__file__)"
    origins = run([sys.executable, "-c", whereabouts], elsewhere, **settings).stdout.split("\n")
    assert [Path(origin).is_relative_to(site) for origin in origins if origin] == [True, True]

    tidegauge = str(site / "bin" / "tidegauge")
    listed = run([tidegauge, "list"], elsewhere, **settings).stdout
    assert "published/kip-320" in listed
    matrix = run([tidegauge, "compare"], elsewhere, **settings).stdout
    assert "holds" in matrix
