"""The pytest plugin, in processes of pytest's own: what passes, what fails and how, and what stays untouched."""

from __future__ import annotations

import json
import re
import sys

import pytest
import test_mutation
from source_tree import ROOT
from test_architecture import HEAVY, newly_loaded

from checker.cache import DIRECTORY_VARIABLE
from checker.pytest_plugin import assert_holds, assert_violates
from checker.spec import load_spec
from model.errors import UsageError

pytest_plugins = ["pytester"]

SMALL: dict[str, int] = {"replicas": 2, "log_size": 1, "records": 1, "epochs": 2}

AS_WISHED = """\
title = "The cut at the high watermark loses what was counted"
variant = "published/truncate-to-high-watermark"
invariants = ["LeaderInIsr", "WeakIsr"]
reachable = ["SecondElection"]

[bounds]
replicas = 2
log_size = 1
records = 1
epochs = 2

[expect]
LeaderInIsr = "holds"
WeakIsr = { violated = 8 }
"""
UNWISHED = AS_WISHED.replace("{ violated = 8 }", '"holds"')
UNREACHED = AS_WISHED.replace("epochs = 2", "epochs = 1").replace("{ violated = 8 }", '"holds"')
OPTION = "[pytest]\ntidegauge_specs = specs\naddopts = -p no:cacheprovider -p no:syrupy -p no:hypothesispytest\n"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"PYTHONPATH": str(ROOT), "COLUMNS": "100", "NO_COLOR": "1"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(tmp_path_factory.getbasetemp() / "cache"))


def project(pytester: pytest.Pytester, **specs: str) -> None:
    """A project with these specs in the folder that its option names."""
    pytester.makeini(OPTION)
    folder = pytester.mkdir("specs")
    for name, text in specs.items():
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")


def ran(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return pytester.runpytest_subprocess(*arguments)


def line_of(text: str, part: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), start=1) if part in line)


def test_a_spec_that_is_as_it_expects_passes(pytester: pytest.Pytester) -> None:
    project(pytester, wished=AS_WISHED)
    result = ran(pytester, "-v")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["specs/wished.toml::wished PASSED*"])


def test_a_spec_that_is_not_fails_with_the_line_and_the_story(pytester: pytest.Pytester) -> None:
    project(pytester, unwished=UNWISHED)
    result = ran(pytester)
    result.assert_outcomes(failed=1)
    line = line_of(UNWISHED, "WeakIsr = ")
    told = result.stdout.str()
    assert (
        f"specs/unwished.toml:{line}: unexpectedly violated: WeakIsr is violated in 8 steps; the spec expects: holds"
        in told
    )
    assert "Why WeakIsr fails here" in told
    assert re.search(r"(?m)^ 1  .*\.$", told), "the first sentence of the story"
    assert "Traceback" not in told
    assert "checker/" not in told.split("Why WeakIsr")[0], "where tidegauge noticed is nobody's concern"


def test_lines_are_those_of_the_file_that_says_so(pytester: pytest.Pytester) -> None:
    """A spec that extends another one fails at a line of the other one, if that is what expects otherwise."""
    project(pytester, base=UNWISHED, more='extends = "base.toml"\ntitle = "The same"\n')
    result = ran(pytester, "specs/more.toml")
    result.assert_outcomes(failed=1)
    assert (
        f"specs/base.toml:{line_of(UNWISHED, 'WeakIsr = ')}: unexpectedly violated: WeakIsr is violated in 8"
        in result.stdout.str()
    )


def test_another_length_is_not_what_was_expected(pytester: pytest.Pytester) -> None:
    project(pytester, longer=AS_WISHED.replace("violated = 8", "violated = 9"))
    result = ran(pytester)
    result.assert_outcomes(failed=1)
    assert "WeakIsr is violated in 8 steps; the spec expects: violated in 9 steps" in result.stdout.str()


def test_what_is_inconclusive_fails(pytester: pytest.Pytester) -> None:
    project(pytester, unreached=UNREACHED)
    result = ran(pytester)
    result.assert_outcomes(failed=1)
    line = line_of(UNREACHED, "reachable")
    assert f"specs/unreached.toml:{line}: witness not reached: SecondElection is not reached" in result.stdout.str()


def test_a_spec_without_expectations_fails(pytester: pytest.Pytester) -> None:
    project(pytester, idle=AS_WISHED[: AS_WISHED.index("[expect]")])
    result = ran(pytester)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*nothing is expected of LeaderInIsr and WeakIsr. What expects nothing cannot fail.*"])


def test_a_file_that_is_no_spec_is_one_sentence(pytester: pytest.Pytester) -> None:
    project(pytester, broken=AS_WISHED.replace('"WeakIsr"]', '"WeakISR"]'), wished=AS_WISHED)
    result = ran(pytester)
    result.assert_outcomes(errors=1)
    path, line = pytester.path / "specs" / "broken.toml", line_of(AS_WISHED, "invariants")
    told = result.stdout.str()
    assert f"{path}:{line}: there is no invariant 'WeakISR'. Did you mean 'WeakIsr'?" in told
    assert "Traceback" not in told


def test_with_xdist(pytester: pytest.Pytester) -> None:
    project(pytester, wished=AS_WISHED, unwished=UNWISHED)
    result = ran(pytester, "-n", "2")
    result.assert_outcomes(passed=1, failed=1)
    assert "WeakIsr is violated in 8 steps; the spec expects: holds" in result.stdout.str()


def test_a_file_named_on_the_command_line_needs_no_option(pytester: pytest.Pytester) -> None:
    path = pytester.path / "wished.toml"
    path.write_text(AS_WISHED, encoding="utf-8")
    ran(pytester, str(path)).assert_outcomes(passed=1)


def test_other_projects_are_left_alone(pytester: pytest.Pytester) -> None:
    """Their TOML files are not looked at, and nothing of tidegauge is loaded but the plugin."""
    (pytester.path / "settings.toml").write_text("this is no TOML", encoding="utf-8")
    pytester.makepyfile(
        """
        import sys

        def test_nothing_is_loaded():
            ours = {name for name in sys.modules if name.split(".")[0] in ("model", "checker")}
            assert ours == {"checker", "checker.pytest_plugin"}
            assert not {"numba", "z3", "llvmlite", "click"}.intersection(sys.modules)
        """
    )
    ran(pytester, ".", "-p", "no:hypothesispytest", "-p", "no:syrupy").assert_outcomes(passed=1)


def test_the_plugin_itself_loads_no_engine() -> None:
    loaded = newly_loaded("import checker.pytest_plugin")
    assert not loaded.intersection(HEAVY)
    assert not {name for name in loaded if name.partition(".")[0] == "model"}


def test_help_shows_the_option(pytester: pytest.Pytester) -> None:
    ran(pytester, "--help").stdout.fnmatch_lines(["*tidegauge_specs (paths):*"])


def explored(pytester: pytest.Pytester, symmetry: str) -> dict[str, int]:
    """What a check counts, in a process of its own: a library loaded here would be forgotten, and cannot come again."""
    command = [sys.executable, "-m", "checker.cli", "check", "specs/plain.toml", "--json", "-", "--quiet"]
    found: dict[str, int] = json.loads(pytester.run(*command, f"--symmetry={symmetry}").stdout.str())["explored"]
    return found


def test_counts_are_judged_whatever_symmetry_was_used(pytester: pytest.Pytester) -> None:
    project(pytester, plain=AS_WISHED)
    all_states, orbits = (explored(pytester, each) for each in ("off", "on"))
    right = {**{name: all_states[name] for name in ("distinct", "depth", "generated")}, "orbits": orbits["distinct"]}
    assert right["orbits"] < right["distinct"]
    wrong = {name: number + 1 for name, number in right.items()}
    for name, counts in (("right", right), ("wrong", wrong)):
        lines = ["\n[expect.counts]", *(f"{count} = {number}" for count, number in counts.items())]
        (pytester.path / "specs" / f"{name}.toml").write_text(AS_WISHED + "\n".join(lines), encoding="utf-8")
    result = ran(pytester)
    result.assert_outcomes(passed=2, failed=1)
    for name, number in right.items():
        result.stdout.fnmatch_lines(
            [f"specs/wrong.toml:*: different counts: {name} is {number:,}; the spec expects: {number + 1:,}"]
        )


# Judging, of which tests/test_gate.py has every case


def test_what_the_gate_finds_the_plugin_finds(pytester: pytest.Pytester) -> None:
    idle = AS_WISHED.replace("[bounds]", 'never_enabled = ["write"]\n\n[bounds]')
    silent = AS_WISHED.replace("WeakIsr = { violated = 8 }\n", "")
    project(pytester, idle=idle, silent=silent)
    result = ran(pytester)
    result.assert_outcomes(failed=2)
    told = "action enabled after all: write is declared never enabled, and is taken * times"
    result.stdout.fnmatch_lines([f"specs/idle.toml:{line_of(idle, 'never_enabled')}: {told}"])
    result.stdout.fnmatch_lines(["*silent.toml:*: nothing is expected of WeakIsr.*"])


# In tests written in Python


def test_what_holds() -> None:
    assert_holds("published/kip-320", **SMALL)
    assert_holds(load_spec("published/kip-320"), **SMALL)
    assert_holds(test_mutation.lock())


def test_what_was_said_to_hold_and_falls() -> None:
    with pytest.raises(AssertionError) as raised:
        assert_holds("published/truncate-to-high-watermark", **SMALL)
    told = str(raised.value)
    assert told.startswith("published/truncate-to-high-watermark: WeakIsr is violated in 8 steps\n")
    assert "Why WeakIsr fails here" in told


def test_what_is_not_known_does_not_hold() -> None:
    with pytest.raises(AssertionError, match=r"inconclusive: The search is not complete: the limit on stored states"):
        assert_holds("published/kip-320", max_states=20, **SMALL)
    with pytest.raises(AssertionError, match=r"WeakIsr is not violated as far as explored, and was to be violated"):
        assert_violates("published/kip-320", "WeakIsr", max_states=20, **SMALL)


def test_what_is_violated() -> None:
    assert_violates("published/truncate-to-high-watermark", "WeakIsr", **SMALL)
    assert_violates("published/truncate-to-high-watermark", "WeakIsr", 8, **SMALL)
    with pytest.raises(AssertionError, match=r"WeakIsr is violated in 8 steps, not in 7\n(?s:.*)Why WeakIsr fails"):
        assert_violates("published/truncate-to-high-watermark", "WeakIsr", steps=7, **SMALL)
    with pytest.raises(AssertionError, match="LeaderInIsr holds, and was to be violated"):
        assert_violates("published/truncate-to-high-watermark", "LeaderInIsr", **SMALL)
    with pytest.raises(AssertionError, match="OneInside holds, and was to be violated"):
        assert_violates(test_mutation.lock(), "OneInside")


def test_a_ctrl_c_ends_the_tests_and_fails_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search itself ends in good order, so that somebody has to pass it on."""
    monkeypatch.setattr("checker.explore.store.VisitedStore.advance", _interrupted)
    with pytest.raises(KeyboardInterrupt):
        assert_holds("published/kip-320", **SMALL)


def _interrupted(*_arguments: object) -> None:
    raise KeyboardInterrupt


def test_mistakes_are_no_failed_assertions() -> None:
    with pytest.raises(UsageError, match="there is no bound 'replica'"):
        assert_holds("published/kip-320", replica=2)
    with pytest.raises(UsageError, match="lock is a protocol, which has its bounds"):
        assert_holds(test_mutation.lock(), replicas=2)


def test_a_failure_in_a_test_shows_the_story_and_not_tidegauge(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        from checker.pytest_plugin import assert_holds

        def test_it():
            assert_holds("published/truncate-to-high-watermark", replicas=2, log_size=1, records=1, epochs=2)
        """
    )
    result = ran(pytester)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*AssertionError: published/truncate-to-high-watermark: WeakIsr is violated in 8*"])
    result.stdout.no_fnmatch_line("*pytest_plugin.py*")
