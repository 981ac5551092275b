"""The cache never gets in the way: whatever is wrong with it, entries are absent and nothing is raised."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from checker.cache import NO_CACHE, Cache, key_of, source_hash, user_cache


def test_what_was_stored_is_found(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "not" / "there" / "yet")
    assert cache.load("proof", "key") is None
    cache.store("proof", "key", b"content")
    cache.store("proof", "empty", b"")
    assert (cache.load("proof", "key"), cache.load("proof", "empty")) == (b"content", b"")
    assert cache.load("native", "key") is None
    assert sorted(path.name for path in (cache.directory or tmp_path).rglob("*")) == ["empty", "key", "proof"]


def test_the_last_content_counts(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.store("proof", "key", b"old")
    cache.store("proof", "key", b"new")
    assert cache.load("proof", "key") == b"new"


@pytest.mark.parametrize("damage", [b"", b"short", b"\0" * 40])
def test_a_damaged_entry_is_absent(tmp_path: Path, damage: bytes) -> None:
    cache = Cache(tmp_path)
    cache.store("proof", "key", b"content")
    (tmp_path / "proof" / "key").write_bytes(damage)
    assert cache.load("proof", "key") is None


def test_an_entry_cut_short_is_absent(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.store("proof", "key", b"content")
    entry = tmp_path / "proof" / "key"
    entry.write_bytes(entry.read_bytes()[:-1])
    assert cache.load("proof", "key") is None


def test_a_file_where_the_directory_should_be(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    cache = Cache(tmp_path / "cache")
    cache.store("proof", "key", b"content")
    assert cache.load("proof", "key") is None


def test_a_directory_where_the_entry_should_be(tmp_path: Path) -> None:
    (tmp_path / "proof" / "key").mkdir(parents=True)
    cache = Cache(tmp_path)
    cache.store("proof", "key", b"content")
    assert cache.load("proof", "key") is None
    assert [path.name for path in (tmp_path / "proof").iterdir()] == ["key"], "nothing half-written is left"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_where_the_entry_should_be(tmp_path: Path) -> None:
    (tmp_path / "proof").mkdir()
    os.mkfifo(tmp_path / "proof" / "key")
    assert Cache(tmp_path).load("proof", "key") is None


def test_a_read_only_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not by permissions: those do not bind a superuser, who may be the one running the tests."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    cache = Cache(tmp_path)
    cache.store("proof", "old", b"content")
    monkeypatch.setattr("tempfile.mkstemp", refuse)
    cache.store("proof", "new", b"content")
    assert (cache.load("proof", "old"), cache.load("proof", "new")) == (b"content", None)


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", refuse)
    Cache(tmp_path).store("proof", "key", b"content")
    assert list((tmp_path / "proof").iterdir()) == []


def test_no_cache_keeps_nothing() -> None:
    NO_CACHE.store("proof", "key", b"content")
    assert NO_CACHE.load("proof", "key") is None


def test_where_the_users_cache_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TIDEGAUGE_CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert user_cache().directory == tmp_path / ".cache" / "tidegauge"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert user_cache().directory == tmp_path / "xdg" / "tidegauge"
    monkeypatch.setenv("TIDEGAUGE_CACHE_DIR", str(tmp_path / "mine"))
    assert user_cache().directory == tmp_path / "mine"


def test_keys_depend_on_each_part() -> None:
    keys = [key_of(), key_of(""), key_of("ab"), key_of("a", "b"), key_of("b", "a"), key_of("ab", "")]
    assert len(set(keys)) == len(keys)
    assert key_of("a", "b") == key_of("a", "b")


def test_the_source_hash_is_a_key() -> None:
    assert source_hash() == source_hash()
    assert len(source_hash()) == len(key_of())
