"""From what was asked for on the command line to specs and options of a check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.cli.options import ModelChoice, SearchChoice
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
    for bound in model.bounds:
        if bound not in spec.all_bounds():
            raise UsageError(
                f"{spec.name} has no use for --{bound.replace('_', '-')}",
                why=f"The variant {spec.variant_name} does not have that bound",
                instead=f"Its bounds are {', '.join('--' + name.replace('_', '-') for name in spec.all_bounds())}",
            )
    return spec.changed(model.bounds, model.features, model.invariants or None)


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
