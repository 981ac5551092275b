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
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from model.errors import ModelError, Place, nearest
from model.own_file import SUFFIX, Kind, definition, line_in, parsed, run

__all__ = ["FUNCTIONS", "SUFFIX", "definition", "line_in", "read_policy"]

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


def read_policy(path: Path) -> dict[str, Any]:
    """Run the file and return what it defines. Raises `ModelError`, with the file's line, for whatever is wrong."""
    tree = parsed(path, _POLICY)
    _want_known_functions(path, tree)
    namespace = run(path, _POLICY, tree)
    for name in FUNCTIONS.keys() & namespace.keys():
        _want_signature(path, name, namespace[name])
    if not FUNCTIONS.keys() & namespace.keys():
        raise ModelError(
            f"the file defines none of {', '.join(FUNCTIONS)}",
            where=Place(str(path), 0),
            instead=f"Define at least {_head('cut')}",
        )
    return namespace


# What it may import


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


_POLICY: Final = Kind(
    "truncation policy", "A policy is one file that computes where to cut", _importable, (*_OURS, f"{_POLICIES}.*")
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
