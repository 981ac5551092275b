"""What is worth keeping between runs: machine code, proofs, results. Losing any of it costs time and nothing else.

An entry is a file `KIND/KEY` in the user's cache directory: a digest, then the content. Entries are written beside
their place and renamed, so that a reader sees a whole one or none. Whatever is wrong with the directory or an entry
(missing, read-only, full, cut short, altered) counts as absent. The directory is trusted: whoever may write there may
make tidegauge run their code.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

DIRECTORY_VARIABLE = "TIDEGAUGE_CACHE_DIR"

_DIGEST_BYTES = hashlib.sha256().digest_size


@dataclass(frozen=True, slots=True)
class Cache:
    """Entries below one directory; without a directory nothing is kept and nothing found."""

    directory: Path | None

    def load(self, kind: str, key: str) -> bytes | None:
        """The content stored under `key`, or none if it is absent or damaged."""
        try:
            path = self._path(kind, key)
            entry = path.read_bytes() if path is not None and path.is_file() else b""
        except OSError:
            return None
        digest, content = entry[:_DIGEST_BYTES], entry[_DIGEST_BYTES:]
        return content if hashlib.sha256(content).digest() == digest else None

    def store(self, kind: str, key: str, content: bytes) -> None:
        """Keep `content` under `key` if that is possible."""
        path = self._path(kind, key)
        if path is not None:
            with contextlib.suppress(OSError):
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                _replace(path, hashlib.sha256(content).digest() + content)

    def _path(self, kind: str, key: str) -> Path | None:
        return None if self.directory is None else self.directory / kind / key


#: For `--no-cache`.
NO_CACHE = Cache(None)


def user_cache() -> Cache:
    """The cache below `TIDEGAUGE_CACHE_DIR`, else `XDG_CACHE_HOME`, else `.cache` in the user's home."""
    chosen = os.environ.get(DIRECTORY_VARIABLE)
    if chosen:
        return Cache(Path(chosen))
    shared = os.environ.get("XDG_CACHE_HOME", "")
    if Path(shared).is_absolute():  # the XDG specification asks for relative paths to be ignored
        return Cache(Path(shared) / "tidegauge")
    try:
        return Cache(Path.home() / ".cache" / "tidegauge")
    except RuntimeError:  # a user without a home
        return NO_CACHE


def key_of(*parts: str) -> str:
    """A key that depends on every part and on nothing else."""
    digest = hashlib.sha256()
    for part in parts:
        encoded = part.encode()
        digest.update(len(encoded).to_bytes(8, "little") + encoded)
    return digest.hexdigest()


@cache
def source_hash() -> str:
    """A digest of tidegauge's own sources: an entry made by another version of them is not used."""
    return key_of(*_sources())


@cache
def engine_hash() -> str:
    """As `source_hash`, without the Kafka protocol: for entries that are about a staged protocol, whose content hash
    says all there is to say of it."""
    return key_of(*(source for source in _sources() if not source.startswith("model/kafka/")))


def _sources() -> list[str]:
    root = Path(__file__).resolve().parent.parent
    files = [path for package in ("model", "checker") for path in sorted((root / package).rglob("*.py"))]
    return [f"{path.relative_to(root).as_posix()}\n{path.read_text('utf-8')}" for path in files]


def _replace(path: Path, entry: bytes) -> None:
    """Write a file under another name first; no half-written entry is ever seen, and none is left behind."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(entry)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
