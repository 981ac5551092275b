"""A truncation policy of the user's own: one Python file, looked at before it is run, and run for its functions.

    asked(own_cache) -> epoch                               which epoch the follower asks the leader about
    answer(cache, log_end, epoch) -> EpochEnd               what the leader says
    cut(own_cache, log_end, high_watermark, answer) -> Cut  where the follower cuts, and whether it is finished

The file computes, from epoch caches, log ends and high watermarks, and nothing else: what it may import can neither
restrict a step nor change the state, and there is no second file that would have to be found again. That keeps honest
policies honest; it is no sandbox. Whoever names a file on the command line or in a spec has its code run.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NoReturn

from model.errors import ModelError, Place, nearest

#: How a rule ends that is a file.
SUFFIX: Final = ".py"

#: What a policy may define, with the names of what each function is given.
FUNCTIONS: Final = {
    "asked": ("own_cache",),
    "answer": ("cache", "log_end", "epoch"),
    "cut": ("own_cache", "log_end", "high_watermark", "answer"),
}

_POLICIES: Final = "model.kafka.policies"
_COMPUTING: Final = (
    *("MapValue", "Member", "Number", "Truth", "all_of", "any_of", "count", "first", "implies", "maximum"),
    *("minimum", "none", "where"),
)
#: What may be imported from tidegauge, by module; none stands for everything the module defines.
_OURS: Final[dict[str, tuple[str, ...] | None]] = {
    "model.language": _COMPUTING,
    "model.kafka.epoch_cache": None,
    "model.kafka.policy": ("Cut", "either_cut"),
}
_FROM_POLICIES: Final = (*FUNCTIONS, "ASKS_WITHOUT_EPOCH")
_STANDARD: Final = ("__future__", "collections.abc", "functools", "itertools", "math", "operator", "typing")

_WHAT_IT_IS: Final = "A policy is one file that computes where to cut"


def read_policy(path: Path) -> dict[str, Any]:
    """Run the file and return what it defines. Raises `ModelError`, with the file's line, for whatever is wrong."""
    tree = _parsed(path)
    for node in ast.walk(tree):
        _want_harmless(path, node)
    _want_known_functions(path, tree)
    namespace = _run(path, tree)
    for name in FUNCTIONS.keys() & namespace.keys():
        _want_signature(path, name, namespace[name])
    if not FUNCTIONS.keys() & namespace.keys():
        raise ModelError(
            f"the file defines none of {', '.join(FUNCTIONS)}",
            where=Place(str(path), 0),
            instead=f"Define at least {_head('cut')}",
        )
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


def _parsed(path: Path) -> ast.Module:
    where = Place(str(path), 0)
    try:
        return ast.parse(path.read_bytes(), filename=str(path))
    except OSError as error:
        raise ModelError(f"the truncation policy cannot be read: {error.strerror or error}", where=where) from error
    except SyntaxError as error:
        what = f"the truncation policy is not Python: {error.msg}"
        raise ModelError(what, where=Place(str(path), error.lineno or 0)) from error
    except (ValueError, RecursionError, MemoryError) as error:  # NUL bytes, or nested far too deep
        raise ModelError("the truncation policy cannot be parsed as Python", where=where) from error


# What it may import


def _want_harmless(path: Path, node: ast.AST) -> None:
    match node:
        case ast.Import(names=aliases):
            for alias in aliases:
                if alias.name not in _STANDARD:
                    _refuse_module(path, node, alias.name)
        case ast.ImportFrom(level=0, module=str(module), names=aliases):
            _want_names(path, node, module, [alias.name for alias in aliases])
        case ast.ImportFrom(level=level, module=module, names=aliases):
            _refuse_module(path, node, f"{'.' * level}{module or aliases[0].name}")
        case _:
            pass


def _want_names(path: Path, node: ast.ImportFrom, module: str, names: list[str]) -> None:
    if module in _STANDARD:
        return
    known = _importable(module)
    if known is None:
        _refuse_module(path, node, module)
    for name in names:
        if name not in known:
            raise ModelError(
                f"a truncation policy cannot import {name!r} from {module}",
                where=Place(str(path), node.lineno),
                why="There is no such name" if _is_lacking(module, name) else _WHAT_IT_IS,
                instead=nearest(name, known),
            )


def _is_lacking(module: str, name: str) -> bool:
    return name != "*" and not hasattr(importlib.import_module(module), name)


def _importable(module: str) -> tuple[str, ...] | None:
    """The names that a policy may import from one of tidegauge's modules; none if it may not import it at all."""
    package = module.rpartition(".")[0]
    if package == _POLICIES and importlib.util.find_spec(module) is not None:
        return tuple(name for name in _FROM_POLICIES if hasattr(importlib.import_module(module), name))
    if module not in _OURS:
        return None
    return _OURS[module] or tuple(_defined_in(module))


def _defined_in(module: str) -> Iterator[str]:
    for name, value in vars(importlib.import_module(module)).items():
        if not name.startswith("_") and getattr(value, "__module__", module) == module:
            yield name


def _refuse_module(path: Path, node: ast.Import | ast.ImportFrom, module: str) -> NoReturn:
    in_full = f"Write from {module} import …, with the names you need" if module in _OURS else ""
    raise ModelError(
        f"a truncation policy cannot import {module}",
        where=Place(str(path), node.lineno),
        why="" if in_full else _WHAT_IT_IS,
        instead=in_full or f"What it may import from: {', '.join((*_OURS, f'{_POLICIES}.*', *_STANDARD))}",
    )


# What it defines


def _want_known_functions(path: Path, tree: ast.Module) -> None:
    """A function that nobody will call is a misspelt one, or a helper."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and node.name not in FUNCTIONS:
            raise ModelError(
                f"a truncation policy has no function {node.name!r}",
                where=Place(str(path), node.lineno),
                instead=f"{nearest(node.name, FUNCTIONS)} A helper's name begins with an underscore",
            )


def _run(path: Path, tree: ast.Module) -> dict[str, Any]:
    namespace: dict[str, Any] = {"__name__": path.stem, "__file__": str(path)}
    try:
        exec(compile(tree, str(path), "exec", dont_inherit=True), namespace)
    except (Exception, SystemExit) as error:
        raise ModelError(
            f"the truncation policy raised {type(error).__name__} while it was loaded: {error}",
            where=line_in(str(path), error.__traceback__) or Place(str(path), 0),
        ) from error
    return namespace


def _want_signature(path: Path, name: str, function: Any) -> None:
    where = Place(str(path), 0)
    if not callable(function):
        raise ModelError(f"{name} is {function!r}, not a function", where=where, instead=f"Write def {_head(name)}")
    try:
        inspect.signature(function).bind(*FUNCTIONS[name])
    except (TypeError, ValueError) as error:
        raise ModelError(
            f"{name} cannot be called as {_head(name)}",
            where=definition(function) or where,
            instead=f"Write def {_head(name)}",
        ) from error


def _head(name: str) -> str:
    return f"{name}({', '.join(FUNCTIONS[name])})"
