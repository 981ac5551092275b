"""A Python file of the user's own: looked at before it is run, and run for what it defines.

Whoever names a file on the command line or in a spec has its code run; nothing else has. A file may import the language
and what computes, and no second file, which would have to be found again. That keeps honest files honest; it is no
sandbox.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NoReturn

from model.errors import ModelError, Place, nearest

#: How the name of such a file ends.
SUFFIX: Final = ".py"

#: What any of them may import from the standard library: what computes, and is the same on every run.
STANDARD: Final = ("__future__", "collections.abc", "functools", "itertools", "math", "operator", "typing")


@dataclass(frozen=True, slots=True)
class Kind:
    """What a file is for. Messages call it `name`, and say `purpose` of it where an import goes too far.

    `importable` gives the names that may be imported from one of tidegauge's modules, none if that may not be imported
    at all; `listed` are those modules for readers. `standard` are the modules of the standard library.
    """

    name: str
    purpose: str
    importable: Callable[[str], tuple[str, ...] | None]
    listed: tuple[str, ...]
    standard: tuple[str, ...] = STANDARD


def parsed(path: Path, kind: Kind) -> ast.Module:
    """The file as Python, with nothing in it run. Raises `ModelError`, with the line, for what it may not import."""
    tree = _tree(path, kind)
    for node in ast.walk(tree):
        _want_harmless(path, kind, node)
    return tree


def run(path: Path, kind: Kind, tree: ast.Module) -> dict[str, Any]:
    """Run the file and return what it defines. Raises `ModelError`, with the file's line, for whatever goes wrong."""
    namespace: dict[str, Any] = {"__name__": path.stem, "__file__": str(path)}
    try:
        exec(compile(tree, str(path), "exec", dont_inherit=True), namespace)
    except ModelError as error:  # of a protocol that is staged while the file is loaded
        error.where = error.where or line_in(str(path), error.__traceback__)
        raise
    except (Exception, SystemExit) as error:
        raise ModelError(
            f"the {kind.name} raised {type(error).__name__} while it was loaded: {error}",
            where=line_in(str(path), error.__traceback__) or Place(str(path), 0),
        ) from error
    return namespace


def definition(function: Callable[..., Any]) -> Place | None:
    """Where a function is defined; none if it is not plain Python."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return None if code is None else Place(code.co_filename, code.co_firstlineno)


def line_in(file: str, traceback: TracebackType | None) -> Place | None:
    """The innermost line of one file that an exception went through."""
    found = None
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == file:
            found = Place(file, traceback.tb_lineno)
        traceback = traceback.tb_next
    return found


def _tree(path: Path, kind: Kind) -> ast.Module:
    where = Place(str(path), 0)
    try:
        return ast.parse(path.read_bytes(), filename=str(path))
    except OSError as error:
        raise ModelError(f"the {kind.name} cannot be read: {error.strerror or error}", where=where) from error
    except SyntaxError as error:
        what = f"the {kind.name} is not Python: {error.msg}"
        raise ModelError(what, where=Place(str(path), error.lineno or 0)) from error
    except (ValueError, RecursionError, MemoryError) as error:  # NUL bytes, or nested far too deep
        raise ModelError(f"the {kind.name} cannot be parsed as Python", where=where) from error


def _want_harmless(path: Path, kind: Kind, node: ast.AST) -> None:
    match node:
        case ast.Import(names=aliases):
            for alias in aliases:
                if alias.name not in kind.standard:
                    _refuse_module(path, kind, node, alias.name)
        case ast.ImportFrom(level=0, module=str(module), names=aliases):
            _want_names(path, kind, node, module, [alias.name for alias in aliases])
        case ast.ImportFrom(level=level, module=module, names=aliases):
            _refuse_module(path, kind, node, f"{'.' * level}{module or aliases[0].name}")
        case _:
            pass


def _want_names(path: Path, kind: Kind, node: ast.ImportFrom, module: str, names: list[str]) -> None:
    if module in kind.standard:
        return
    known = kind.importable(module)
    if known is None:
        _refuse_module(path, kind, node, module)
    for name in names:
        if name not in known:
            raise ModelError(
                f"a {kind.name} cannot import {name!r} from {module}",
                where=Place(str(path), node.lineno),
                why="There is no such name" if _is_lacking(module, name) else kind.purpose,
                instead=nearest(name, known),
            )


def _is_lacking(module: str, name: str) -> bool:
    return name != "*" and not hasattr(importlib.import_module(module), name)


def _refuse_module(path: Path, kind: Kind, node: ast.Import | ast.ImportFrom, module: str) -> NoReturn:
    in_full = f"Write from {module} import …, with the names you need" if kind.importable(module) else ""
    raise ModelError(
        f"a {kind.name} cannot import {module}",
        where=Place(str(path), node.lineno),
        why="" if in_full else kind.purpose,
        instead=in_full or f"What it may import from: {', '.join((*kind.listed, *kind.standard))}",
    )
