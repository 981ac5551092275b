"""What `tidegauge new` starts a project of the user's with: a spec, a policy, an invariant, a test, a job for CI.

The files lie in `skeleton/`, as texts with `$NAME` in them for the project's name.
"""

from __future__ import annotations

import os
import re
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Final

from checker import skeleton
from checker.files import write_folder
from model.errors import OutputError, UsageError

#: What becomes of each text.
_NAMES: Final = {
    "README.md.txt": "README.md",
    "spec.toml.txt": "$NAME.toml",
    "older.toml.txt": "$NAME-older.toml",
    "policy.py.txt": "policy.py",
    "invariants.py.txt": "invariants.py",
    "test.py.txt": "$TEST.py",
    "workflow.yml.txt": ".github/workflows/tidegauge.yml",
    "gitignore.txt": ".gitignore",
}
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*([-_][A-Za-z0-9]+)*")


def start(folder: Path) -> list[str]:
    """Make a folder that is not there yet, or is empty; returns the names of its files. It is there whole or not at
    all. Raises `UsageError` for a name that files and tests cannot have, `OutputError` if something is in the way."""
    name = folder.absolute().name
    if _NAME.fullmatch(name) is None:
        what = f"{name!r} cannot be the name of a project: specs and tests are called after it"
        raise UsageError(what, instead="Use letters, digits, - and _, such as our-policy")
    if os.path.lexists(folder) and not (folder.is_dir() and not any(folder.iterdir())):
        raise OutputError(f"{folder} is there already", instead="Name a folder that is new or empty")
    words = {"NAME": name, "TEST": f"test_{name.replace('-', '_')}"}
    texts = {Template(target).substitute(words): _text(source, words) for source, target in _NAMES.items()}
    write_folder(folder, texts)
    return list(texts)


def _text(source: str, words: dict[str, str]) -> str:
    return Template(files(skeleton).joinpath(source).read_text(encoding="utf-8")).substitute(words)
