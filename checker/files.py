"""Writing files so that nobody ever finds half of one."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from model.errors import OutputError


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


def _umask() -> int:
    """The process's mask, which can only be read by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
