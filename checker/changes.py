"""Which files differ from a revision, as git sees it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

from model.errors import UsageError


def changed_since(revision: str) -> frozenset[str]:
    """The real paths of all files that differ from `revision` or are not tracked yet, deleted ones included. Raises
    `UsageError` outside a git work tree and for a revision that git does not know."""
    top = _git("rev-parse", "--show-toplevel")
    if top is None:
        raise UsageError("--changed-since needs a git work tree, and this is none", instead="Leave the option out")
    root = Path(top.rstrip("\n"))
    name = None if revision.startswith("-") else _git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    if name is None:
        raise UsageError(
            f"git knows no revision {revision!r}",
            instead="Name a commit, branch or tag; a shallow clone has only the newest (fetch-depth: 0 in GitHub)",
        )
    differing = _listed(root, "diff", "--name-only", "--no-renames", "-z", name.strip(), "--")
    untracked = _listed(root, "ls-files", "--others", "--exclude-standard", "-z")
    names = [each for each in (differing + untracked).split("\0") if each]
    return frozenset(os.path.realpath(root / each) for each in names)


def touches(files: Iterable[Path], changed: frozenset[str]) -> bool:
    """Whether one of the files, or of those in folders, is among the changed ones."""
    real = [os.path.realpath(path) for path in files]
    return any(path in changed or any(each.startswith(f"{path}{os.sep}") for each in changed) for path in real)


def _listed(root: Path, *arguments: str) -> str:
    """A list that git must give: taking a failure for an empty one would call everything unchanged."""
    found = _git("-C", str(root), *arguments)
    if found is None:
        raise UsageError(f"git {arguments[0]} fails in {str(root)!r}", instead="Leave --changed-since out")
    return found


def _git(*arguments: str) -> str | None:
    """What git prints; none if it refuses. Raises `UsageError` if there is no git."""
    try:
        ended = subprocess.run(["git", *arguments], capture_output=True, check=False)
    except OSError as error:
        raise UsageError(f"--changed-since needs git, which cannot be run: {error.strerror or error}") from error
    return os.fsdecode(ended.stdout) if ended.returncode == 0 else None
