"""Writing files so that nobody ever finds half of one."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from model.errors import OutputError


def readable(text: str) -> str:
    """The text without what UTF-8 cannot hold: the bytes of a file's name that is none."""
    return text.encode("utf-8", "replace").decode("utf-8")


def write_text(path: Path, text: str) -> None:
    """Write beside the target, then rename over it. Raises `OutputError`; on any failure the target is untouched."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, data: bytes) -> None:
    """As `write_text`, for bytes."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, data)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror or error}") from error


def append_text(path: Path, text: str) -> None:
    """Add to a file that others add to as well, in one piece. Raises `OutputError`."""
    try:
        with path.open("ab", buffering=0) as file:
            file.write(text.encode("utf-8"))
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror or error}") from error


def _replace(path: Path, data: bytes) -> None:
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    beside = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        beside.chmod(0o666 & ~_umask())
        beside.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise


def write_folder(path: Path, texts: Mapping[str, str], sign: str | None = None) -> None:
    """Write a folder of files beside the target, then rename. It takes the place of an empty one, or of an older one
    that has the `sign` as well. Raises `OutputError`; on any failure the target is as it was.
    """
    require_replaceable(path, sign)
    target = Path(os.path.realpath(path))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as workplace:
            new, old = Path(workplace) / "new", Path(workplace) / "old"
            new.mkdir()
            for name, text in texts.items():
                (new / name).parent.mkdir(parents=True, exist_ok=True)
                (new / name).write_text(text, encoding="utf-8")
            _put_in_place(new, target, old)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror or error}") from error


def _put_in_place(new: Path, target: Path, old: Path) -> None:
    if not target.exists():
        new.rename(target)
        return
    target.rename(old)
    try:
        new.rename(target)
    except OSError:
        old.rename(target)
        raise


def require_replaceable(path: Path, sign: str | None) -> None:
    """Raise `OutputError` unless nothing would be lost if `path` became a new folder: it is not there, empty, or its
    index.html has the `sign` of what is ours."""
    try:
        if not os.path.lexists(path) or (path.is_dir() and not any(path.iterdir())):
            return
        index = path / "index.html"
        is_ours = sign is not None and index.is_file() and sign in index.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise OutputError(f"{path} cannot be read: {error.strerror or error}") from error
    if not is_ours:
        raise OutputError(
            f"{path} is there already, and is no report of tidegauge",
            instead="Name a folder that is new, empty or an older report",
        )


def _umask() -> int:
    """The process's mask, which can only be read by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
