"""What is ready to use in CI: the action, the hook for pre-commit, the job for GitLab.

Their scripts are run as GitHub and GitLab run them, by a shell, with inputs as environment variables. The `tidegauge`
that they find writes down what it is given and ends as it is told; the tests at the end, of the real `gate`, are left
out as long as this copy has none.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from pages import Page
from source_tree import ROOT
from test_pytest_plugin import AS_WISHED, UNWISHED

from checker.cache import DIRECTORY_VARIABLE
from checker.cli.gate import gate

ACTION: Final = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
HOOKS: Final = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
JOB: Final = yaml.safe_load((ROOT / "docs/gitlab-ci.yml").read_text(encoding="utf-8"))[".tidegauge"]
PAGE: Final = Page(ROOT / "docs/ci.md")

#: How GitHub runs `shell: bash`.
BASH: Final = ("bash", "--noprofile", "--norc", "-e", "-o", "pipefail")
EXPRESSION: Final = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")

#: What somebody might put into an input to have it run.
EVIL: Final = (
    '"; touch pwned; "',
    "$(touch pwned)",
    "`touch pwned`",
    "' ; touch pwned ; '",
    "*",
    "$HOME",
    "a && touch pwned",
)

RECORDER: Final = f"""#!{sys.executable}
import json, os, sys
with open(os.environ["RECORD"], "w", encoding="utf-8") as file:
    json.dump(sys.argv[1:], file)
sys.exit(int(os.environ.get("CODE", "0")))
"""


def steps() -> dict[str, dict[str, Any]]:
    return {step["name"]: step for step in ACTION["runs"]["steps"]}


def scripts() -> dict[str, tuple[str, str]]:
    """Every script with the shell it is written for."""
    found = {name: (step["shell"], step["run"]) for name, step in steps().items() if "run" in step}
    return {**found, "GitLab": ("sh", "\n".join(JOB["script"])), "before": ("sh", "\n".join(JOB["before_script"]))}


@dataclass(frozen=True)
class Runner:
    """A folder to run scripts in, with a `tidegauge` that writes down what it is given."""

    folder: Path

    def __post_init__(self) -> None:
        for name in ("bin", "temp", "work"):
            (self.folder / name).mkdir()
        self.program("tidegauge", RECORDER)

    def program(self, name: str, text: str) -> None:
        path = self.folder / "bin" / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)

    def run(self, shell: tuple[str, ...], script: str, settings: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        path = self.folder / "script.sh"
        path.write_text(script, encoding="utf-8")
        surroundings = {
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "RECORD": str(self.folder / "record.json"),
            "RUNNER_TEMP": str(self.folder / "temp"),
            "RUNNER_OS": "Linux",
            "GITHUB_OUTPUT": str(self.folder / "output"),
            "GITHUB_PATH": str(self.folder / "path"),
        }
        return subprocess.run(
            [*shell, str(path)],
            cwd=self.folder / "work",
            env={**surroundings, **settings},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def action(self, name: str, inputs: Mapping[str, str], code: int = 0) -> subprocess.CompletedProcess[str]:
        """Run a step of the action with these inputs, and its own settings for the others."""
        step = steps()[name]
        given = {key: inputs.get(key, each.get("default", "")) for key, each in ACTION["inputs"].items()}
        settings = {key: self._filled_in(value, given) for key, value in step["env"].items()}
        return self.run(BASH, step["run"], {**settings, "CODE": str(code)})

    def _filled_in(self, text: str, inputs: Mapping[str, str]) -> str:
        known = {
            **{f"inputs.{name}": value for name, value in inputs.items()},
            "runner.temp": str(self.folder / "temp"),
            "github.action_path": str(ROOT),
            "steps.python.outputs.python-path": sys.executable,
        }
        return EXPRESSION.sub(lambda found: known[found[1]], text)

    @property
    def arguments(self) -> list[str]:
        """What tidegauge was given."""
        found: list[str] = json.loads((self.folder / "record.json").read_text(encoding="utf-8"))
        return found

    @property
    def was_called(self) -> bool:
        return (self.folder / "record.json").exists()

    @property
    def output(self) -> str:
        return (self.folder / "output").read_text(encoding="utf-8")


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    return Runner(tmp_path)


REPORTS: Final = ["--junit", "tidegauge.junit.xml", "--sarif", "tidegauge.sarif", "--report", "tidegauge-report"]


# The action: its form


def test_every_input_is_used_and_no_other() -> None:
    used = set(re.findall(r"inputs\.([\w-]+)", json.dumps([ACTION["runs"], ACTION["outputs"]])))
    assert used == set(ACTION["inputs"])


@pytest.mark.parametrize("kind", ["inputs", "outputs"])
def test_every_input_and_output_is_documented(kind: str) -> None:
    heading = kind.removesuffix("s")
    (rows,) = (rows[1:] for rows in PAGE.tables() if rows[0][0] == heading)
    assert [row[0].strip("`") for row in rows] == list(ACTION[kind])
    if kind == "inputs":
        shown = {row[0].strip("`"): row[1].strip("`") for row in rows}
        assert shown == {name: each.get("default", "required") or "empty" for name, each in ACTION["inputs"].items()}
    assert all(each["description"] for each in ACTION[kind].values())


def test_only_what_has_a_default_may_be_left_out() -> None:
    for name, each in ACTION["inputs"].items():
        assert each.get("required", False) is ("default" not in each), name
        assert isinstance(each.get("default", ""), str), f"{name}: YAML would make {each['default']!r} of it"


def test_no_input_is_part_of_a_script() -> None:
    for name, step in steps().items():
        assert "${{" not in step.get("run", ""), f"{name}: hand it over in env"
        assert ("run" in step) == ("shell" in step), name
    for line in (*JOB["script"], *JOB["before_script"]):
        assert "${{" not in line


@pytest.mark.parametrize("name", scripts())
def test_scripts_are_clean(name: str) -> None:
    if shutil.which("shellcheck") is None:
        pytest.skip("shellcheck is not installed")
    shell, text = scripts()[name]
    ended = subprocess.run(
        ["shellcheck", f"--shell={shell}", "-"], input=text, capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 0, ended.stdout


# The action: its steps


def test_the_gate_with_nothing_but_specs(runner: Runner) -> None:
    ended = runner.action("Judge the specs", {"specs": "specs"})
    assert ended.returncode == 0, ended.stderr
    assert runner.arguments == ["gate", "--annotations", "github", *REPORTS, "--", "specs"]
    assert runner.output == "exit-code=0\n"


def test_the_gate_with_everything(runner: Runner) -> None:
    inputs = {
        "time-limit": "10m",
        "changed-since": "origin/main",
        "shard": "2/5",
        "junit": "a b.xml",
        "sarif": "",
        "report": "out/pages",
        "cache": "false",
    }
    runner.action("Judge the specs", {"specs": "specs/one.toml\r\n\n  more specs \nlast", **inputs})
    options = ["--time-limit", "10m", "--changed-since", "origin/main", "--shard", "2/5", "--junit", "a b.xml"]
    expected = [*options, "--report", "out/pages", "--no-cache", "--", "specs/one.toml", "more specs", "last"]
    assert runner.arguments == ["gate", "--annotations", "github", *expected]


@pytest.mark.parametrize("code", [0, 1, 2, 3, 70])
def test_the_gate_ends_as_tidegauge_does(runner: Runner, code: int) -> None:
    assert runner.action("Judge the specs", {"specs": "specs"}, code).returncode == code
    assert runner.output == f"exit-code={code}\n"


@pytest.mark.parametrize("specs", ["", "\n  \n", "\r\n"])
def test_without_specs_nothing_is_judged_and_that_is_an_error(runner: Runner, specs: str) -> None:
    ended = runner.action("Judge the specs", {"specs": specs})
    assert (ended.returncode, runner.was_called, runner.output) == (2, False, "exit-code=2\n")
    assert ended.stdout == "::error::the input 'specs' names no spec and no folder of specs\n"


TEXTS: Final = ("specs", "time-limit", "changed-since", "shard", "junit", "sarif", "report")


@pytest.mark.parametrize("text", EVIL)
@pytest.mark.parametrize("name", TEXTS)
def test_an_input_is_never_run(runner: Runner, name: str, text: str) -> None:
    ended = runner.action("Judge the specs", {"specs": "specs", name: text})
    assert ended.returncode == 0, ended.stderr
    assert text in runner.arguments
    assert list((runner.folder / "work").iterdir()) == []


def test_a_spec_is_never_an_option(runner: Runner) -> None:
    runner.action("Judge the specs", {"specs": "--update\n--yes"})
    assert runner.arguments[-3:] == ["--", "--update", "--yes"]


FAKE_PYTHON: Final = """#!/bin/sh
echo "$0 $*" >>"$RECORD"
if [ "$2" = venv ]; then mkdir -p "$3/bin" && cp "$0" "$3/bin/python"; fi
"""


def test_the_installation(runner: Runner) -> None:
    runner.program("python", FAKE_PYTHON)
    step = steps()["Install tidegauge"]
    settings = {"PYTHON": str(runner.folder / "bin/python"), "SOURCE": "/with space"}
    assert set(settings) == set(step["env"])
    ended = runner.run(BASH, step["run"], settings)
    assert ended.returncode == 0, ended.stderr
    home = runner.folder / "temp/tidegauge"
    options = "--quiet --disable-pip-version-check --constraint /with space/constraints.txt"
    assert (runner.folder / "record.json").read_text(encoding="utf-8").splitlines() == [
        f"{runner.folder}/bin/python -m venv {home}/environment",
        f"{home}/environment/bin/python -m pip install {options} /with space",
    ]
    assert (runner.folder / "path").read_text(encoding="utf-8") == f"{home}/bin\n"
    assert (home / "bin/tidegauge").readlink() == home / "environment/bin/tidegauge"


def test_windows_is_told(runner: Runner) -> None:
    ended = runner.run(BASH, steps()["Install tidegauge"]["run"], {"RUNNER_OS": "Windows", "PYTHON": "", "SOURCE": ""})
    assert ended.returncode == 2
    assert ended.stdout.startswith("::error::tidegauge does not run on Windows")


@pytest.mark.slow
def test_a_real_installation(runner: Runner) -> None:
    """The versions of constraints.txt, and one command on the path."""
    names = ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_CONFIG_FILE", "PIP_FIND_LINKS", "PIP_CERT")
    here = {name: os.environ[name] for name in names if name in os.environ}
    ended = runner.run(
        BASH,
        steps()["Install tidegauge"]["run"],
        {"PYTHON": sys.executable, "SOURCE": str(ROOT), "HOME": os.environ["HOME"], **here},
    )
    assert ended.returncode == 0, ended.stderr
    folder = Path((runner.folder / "path").read_text(encoding="utf-8").strip())
    assert [path.name for path in folder.iterdir()] == ["tidegauge"]
    listed = subprocess.run([folder / "tidegauge", "list"], capture_output=True, text=True, timeout=60, check=True)
    assert "published/kip-320" in listed.stdout


# pre-commit


def test_the_hook(runner: Runner) -> None:
    (hook,) = HOOKS
    assert set(hook) == {
        "id", "name", "description", "entry", "args", "language", "files", "pass_filenames", "require_serial"
    }  # fmt: skip
    assert (hook["language"], hook["pass_filenames"], hook["require_serial"]) == ("python", False, True)
    ended = runner.run(BASH, shlex.join([*shlex.split(hook["entry"]), *hook["args"]]), {})
    assert (ended.returncode, runner.arguments) == (0, ["gate", "specs"])
    changed = ("specs/lock.toml", "specs/brokers/mine.toml", "specs/policy.py", "src/policy.py", "pyproject.toml")
    assert [name for name in changed if re.search(hook["files"], name)] == list(changed[:3])


# GitLab


def gitlab(runner: Runner, shell: str, code: int = 0, **variables: str) -> subprocess.CompletedProcess[str]:
    script = "\n".join(JOB["script"])
    own = {name: value for name, value in JOB["variables"].items() if "$" not in value}
    return runner.run((shell, "-e"), script, {**own, **variables, "CODE": str(code)})


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_the_job_for_gitlab(runner: Runner, shell: str) -> None:
    assert gitlab(runner, shell).returncode == 0
    assert runner.arguments == ["gate", *REPORTS, "--", "specs"]
    variables = {
        "TIDEGAUGE_SPECS": "one.toml\nmore specs\n--update",
        "TIDEGAUGE_TIME_LIMIT": "10m",
        "TIDEGAUGE_CHANGED_SINCE": "$(touch pwned)",
        "CI_NODE_INDEX": "2",
        "CI_NODE_TOTAL": "5",
    }
    assert gitlab(runner, shell, 3, **variables).returncode == 3
    options = ["--time-limit", "10m", "--changed-since", "$(touch pwned)", "--shard", "2/5"]
    assert runner.arguments == ["gate", *REPORTS, *options, "--", "one.toml", "more specs", "--update"]
    assert list((runner.folder / "work").iterdir()) == []


def test_the_job_for_gitlab_wants_specs(runner: Runner) -> None:
    ended = gitlab(runner, "sh", TIDEGAUGE_SPECS=" \n")
    assert (ended.returncode, runner.was_called) == (2, False)
    assert ended.stderr == "TIDEGAUGE_SPECS names no spec and no folder of specs\n"


def test_the_job_for_gitlab_keeps_what_the_gate_writes() -> None:
    kept = [JOB["artifacts"]["reports"]["junit"], *JOB["artifacts"]["paths"]]
    assert kept == REPORTS[1::2]
    assert JOB["artifacts"]["when"] == "always"


def test_every_variable_for_gitlab_is_documented() -> None:
    (rows,) = (rows[1:] for rows in PAGE.tables() if rows[0][0] == "variable")
    assert [row[0].strip("`") for row in rows] == [each for each in JOB["variables"] if each != DIRECTORY_VARIABLE]


# The real gate


def options_used() -> Iterator[str]:
    for _, text in scripts().values():
        yield from (option for option in re.findall(r"(?<=[ (])--[a-z-]+", text) if not _is_of_pip(option))


def _is_of_pip(option: str) -> bool:
    return option in ("--quiet", "--disable-pip-version-check", "--constraint")


def test_the_gate_knows_every_option() -> None:
    known = {option for parameter in gate.params for option in parameter.opts}
    assert set(options_used()) <= known


@pytest.mark.parametrize(("text", "code"), [(AS_WISHED, 0), (UNWISHED, 1)])
def test_the_step_with_the_real_gate(runner: Runner, text: str, code: int, tmp_path_factory: Any) -> None:
    runner.program("tidegauge", f'#!/bin/sh\nexec "{sys.executable}" -m checker.cli "$@"\n')
    work = runner.folder / "work"
    (work / "specs").mkdir()
    (work / "specs" / "mine.toml").write_text(text, encoding="utf-8")
    step = steps()["Judge the specs"]
    settings = dict.fromkeys(step["env"], "") | {"SPECS": "specs", "CACHE": "true", "PYTHONPATH": str(ROOT)}
    settings |= {"JUNIT": "out.xml", "SARIF": "out.sarif", "REPORT": "pages"}
    settings[DIRECTORY_VARIABLE] = str(tmp_path_factory.getbasetemp() / "cache")
    ended = runner.run(BASH, step["run"], {**settings, "GITHUB_ACTIONS": "true"})
    assert ended.returncode == code, ended.stdout + ended.stderr
    assert runner.output == f"exit-code={code}\n"
    assert {"out.xml", "out.sarif", "pages"} <= {path.name for path in work.iterdir()}
    assert ("::error file=specs/mine.toml," in ended.stdout) is (code == 1)
