"""The project's own sources, read as syntax trees: modules, what they import, how long they are.

Only tests use this. Nothing here imports the modules it looks at.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("model", "checker")
FOLDERS = (*PACKAGES, "tests", "benchmarks")

AnyFunction = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Import:
    """One imported name. `target` is a module for the project's own modules, a top-level name for everything else."""

    importer: str
    target: str
    line: int

    def __str__(self) -> str:
        return f"{self.importer} (line {self.line}) imports {self.target}"


@cache
def modules() -> dict[str, Path]:
    """Every module of `model` and `checker`, by its dotted name."""
    paths = (path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py")))
    return {module_name(path.relative_to(ROOT)): path for path in paths}


def module_name(path: Path) -> str:
    """`checker/cli/__init__.py` is `checker.cli`, `checker/run.py` is `checker.run`."""
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def python_files() -> list[Path]:
    """Every Python file that people read and mend, tests and benchmarks included."""
    return [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]


@cache
def syntax_tree(path: Path) -> ast.Module:
    """The file's syntax tree."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


@cache
def imports() -> tuple[Import, ...]:
    """Every import of the project's modules, wherever it stands: a lazy or a type-only import is a dependency too."""
    every = (found for name, path in modules().items() for found in module_imports(name, path, modules()))
    return tuple(dict.fromkeys(every))


def module_imports(name: str, path: Path, known: Mapping[str, Path]) -> Iterator[Import]:
    """The imports that the file at `path` makes as module `name`, where `known` are the project's modules."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(syntax_tree(path)):
        match node:
            case ast.Import(names=aliases):
                dotted = [alias.name for alias in aliases]
            case ast.ImportFrom(names=aliases):
                origin = absolute(node, package)
                dotted = [f"{origin}.{alias.name}" for alias in aliases]
            case _:
                continue
        for each in dotted:
            yield Import(name, resolved(each, known), node.lineno)


def absolute(node: ast.ImportFrom, package: str) -> str:
    """The dotted name behind `from`, relative ones made absolute from the importer's `package`."""
    if not node.level:
        return node.module or ""
    parents = package.split(".")
    base = parents[: len(parents) - node.level + 1]
    return ".".join([*base, node.module] if node.module else base)


def resolved(dotted: str, known: Mapping[str, Path]) -> str:
    """The longest prefix of `dotted` that is a known module; for foreign names the top-level name."""
    top = dotted.partition(".")[0]
    if top not in PACKAGES:
        return top
    while dotted not in known and dotted != top:
        dotted = dotted.rpartition(".")[0]
    return dotted


def functions(path: Path) -> Iterator[tuple[str, int]]:
    """Name and number of lines of every function of a file, methods and inner functions included."""
    for node in ast.walk(syntax_tree(path)):
        if isinstance(node, AnyFunction):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1
