"""The search loop's machine code: made once, kept, and made again when what was kept is not to be trusted."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import llvmlite.binding as llvm
import pytest
from small_systems import counters
from source_tree import ROOT

from checker.cache import NO_CACHE, Cache
from checker.explore import search_loop as module
from checker.explore.breadth_first import explore
from checker.explore.search_loop import CACHE_KIND, compiled, search_loop


def loaded_anew(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> int:
    """Load the loop for one word as a new process would; how often it was compiled for that."""
    compilations: list[int] = []

    def counted(words: int) -> bytes:
        compilations.append(words)
        return compiled(words)

    monkeypatch.setattr(module, "compiled", counted)
    search_loop.cache_clear()
    found = explore(counters(1, 9).functions, [(0,)], cache=cache)
    assert (found.distinct, found.depth) == (10, 10)
    return len(compilations)


def told_by_a_new_process(program: str, cache: Path, **environment: str) -> list[str]:
    path = os.pathsep.join((str(ROOT), str(ROOT / "tests")))
    settings = {**os.environ, "TIDEGAUGE_CACHE_DIR": str(cache), "PYTHONPATH": path, **environment}
    ended = subprocess.run([sys.executable, "-c", program], env=settings, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.split()


def test_it_is_compiled_once_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = Cache(tmp_path)
    assert [loaded_anew(cache, monkeypatch) for _ in range(2)] == [1, 0]
    assert len(list((tmp_path / CACHE_KIND).iterdir())) == 1


def test_it_is_compiled_without_a_place_to_keep_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert loaded_anew(NO_CACHE, monkeypatch) == 1


def test_a_damaged_one_is_compiled_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = Cache(tmp_path)
    assert loaded_anew(cache, monkeypatch) == 1
    (entry,) = (tmp_path / CACHE_KIND).iterdir()
    entry.write_bytes(entry.read_bytes()[:-1])
    assert [loaded_anew(cache, monkeypatch) for _ in range(2)] == [1, 0]


@pytest.mark.parametrize("part", ["source_hash", "machine"])
def test_one_made_elsewhere_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    cache = Cache(tmp_path)
    assert loaded_anew(cache, monkeypatch) == 1
    monkeypatch.setattr(module, part, lambda: "another")
    assert loaded_anew(cache, monkeypatch) == 1


def test_the_next_process_needs_no_numba(tmp_path: Path) -> None:
    program = (
        "import sys; from checker.explore.search_loop import search_loop; from checker.cache import user_cache\n"
        "search_loop(2, user_cache()); print('numba' in sys.modules)"
    )
    assert [told_by_a_new_process(program, tmp_path) for _ in range(2)] == [["True"], ["False"]]


def test_every_process_makes_the_same(tmp_path: Path) -> None:
    """No address of the process that compiled it, and nothing that depends on the hash seed."""
    program = (
        "import hashlib; from checker.explore.search_loop import compiled\n"
        "print(hashlib.sha256(compiled(2)).hexdigest())"
    )
    first, second = (told_by_a_new_process(program, tmp_path, PYTHONHASHSEED=seed) for seed in ("1", "2"))
    assert first == second


def test_it_refers_to_nothing_of_numba() -> None:
    """An object file that did could not be loaded by a process without numba."""
    names = {name for name in symbols(compiled(3)) if not name.startswith(".")}
    assert names == {"advance", "move", "<string>"}  # the last is what LLVM calls a module made from text


def symbols(content: bytes) -> list[str]:
    """The names in an object file's table of names; skips where it is no ELF file."""
    for section in llvm.ObjectFileRef.from_data(content).sections():
        if section.name() == b".strtab":
            return [name.decode() for name in section.data().split(b"\0") if name]
    pytest.skip("no ELF file")
