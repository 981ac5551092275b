"""Nothing that a spec is called, says or names makes a command write elsewhere than it was told to."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import elsewhere, tidegauge
from gate_specs import FALLING, spec_text

SPEC = spec_text("WeakIsr = { violated = 8 }\n", FALLING, head='source = "/tmp/source"\nnotes = "$HOME/notes"')
OWN = '''\
from model.language import Bool, action, invariant, protocol


@action
def set_it(state):
    state.it = True


def never(state):
    """It stays false."""
    return ~state.it


never.__name__ = "../../never"


def made():
    return protocol("../../made", variables={"it": Bool()}, actions=[set_it], invariants=[invariant(never)])
'''


@pytest.fixture
def desk(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, two folders deep, so that what goes astray is found."""
    here = tmp_path / "one" / "two"
    here.mkdir(parents=True)
    elsewhere(here, tmp_path_factory.getbasetemp() / "cache", monkeypatch)
    return tmp_path


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "name", ["..toml", "...toml", "a\\b.toml", "a:b.toml", "a\nb.toml", "~.toml", "%2e%2e%2fb.toml"]
)
def test_whatever_a_spec_is_called(desk: Path, name: str) -> None:
    spec = Path("specs") / name
    spec.parent.mkdir()
    spec.write_text(SPEC.replace('title = "', 'title = "../../'), encoding="utf-8")
    before = files(desk)
    assert tidegauge("check", str(spec), "--output", "out").code == 1
    assert tidegauge("compare", str(spec), str(spec), "--output", "out", "--report", "report").code == 0
    made = files(desk) - before
    assert made
    assert {path.split("/")[2] for path in made} == {"out", "report"}
    assert {path.count("/") for path in made} == {3}


def test_whatever_a_protocol_calls_its_promises(desk: Path) -> None:
    Path("mine.py").write_text(OWN, encoding="utf-8")
    Path("mine.toml").write_text(
        'title = "t"\nprotocol = "mine.py:made"\ninvariants = ["../../never"]\n', encoding="utf-8"
    )
    before = files(desk)
    assert tidegauge("check", "mine.toml", "--output", "out").code == 1
    assert files(desk) - before == {"one/two/out/mine-..-..-never.json"}
