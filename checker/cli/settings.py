"""From what was asked for on the command line to specs and options of a check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.cli.options import ModelChoice, SearchChoice, option_of
from model.errors import UsageError

if TYPE_CHECKING:
    from checker.run import Options
    from checker.spec import Spec


def chosen_spec(name: str, model: ModelChoice) -> Spec:
    """The spec of that name or path, changed as the options say. Raises `UsageError` for what does not fit it."""
    from checker.spec import load_spec

    return changed(load_spec(name), model)


def changed(spec: Spec, model: ModelChoice) -> Spec:
    """The spec with the bounds, features and invariants that were asked for."""
    wanted = spec.changed(model.bounds, model.features, model.invariants or None)
    unused = [name for name in model.bounds if name in wanted.variant.unused_bounds]
    if unused:
        used = [option_of(name) for name in spec.all_bounds() if name not in wanted.variant.unused_bounds]
        raise UsageError(
            f"{spec.name} has no use for {' and '.join(map(option_of, unused))}",
            why="Its rules do not look at that bound",
            instead=f"What it has: {', '.join(used)}",
        )
    return wanted


def chosen_options(search: SearchChoice) -> Options:
    """How to check."""
    from checker.run import Options

    return Options(
        fail_fast=search.fail_fast,
        max_states=search.max_states,
        time_limit=search.time_limit,
        memory_limit=search.memory_limit,
        symmetry=search.symmetry,
        reductions=search.reductions,
        cache=search.cache,
    )
