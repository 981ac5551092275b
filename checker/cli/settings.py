"""From what was asked for on the command line to specs and options of a check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from checker.cli.options import ModelChoice, SearchChoice, option_of
from model.errors import UsageError

if TYPE_CHECKING:
    from checker.run import Options
    from checker.spec import Spec


def chosen_spec(name: str, model: ModelChoice) -> Spec:
    """The spec of that name or path, changed as the options say. Raises `UsageError` for what does not fit it."""
    from checker.spec import load_spec

    return changed(load_spec(name), model)


SLOW: Final = "slow/"


def chosen_specs(names: tuple[str, ...], model: ModelChoice) -> list[Spec]:
    """The specs named, or all that are shipped, each changed as the options say."""
    from checker.spec import load_shipped, load_spec

    specs = [changed(spec, model) for spec in [load_spec(name) for name in dict.fromkeys(names)] or load_shipped()]
    twice = [spec.name for spec in specs if [each.name for each in specs].count(spec.name) > 1]
    if twice:
        raise UsageError(f"two of the specs are called {twice[0]!r}", why="Their results could not be told apart")
    return specs


def compared_specs(names: tuple[str, ...], model: ModelChoice) -> list[Spec]:
    """The specs named, each at every point of its sweep; or all shipped ones but those in `slow/`, which repeat others
    at larger bounds."""
    specs = chosen_specs(names, model)
    return (
        [point for spec in specs for point in spec.points()]
        if names
        else [spec for spec in specs if not spec.name.startswith(SLOW)]
    )


def standing_specs(names: tuple[str, ...], model: ModelChoice) -> list[Spec]:
    """The specs named, or all shipped ones that expect every promise to hold, the smaller ones first; at their quick
    bounds, and none of them twice under two names."""
    specs = chosen_specs(names, model)
    if not names:
        specs = sorted(filter(_stands, specs), key=_size)
    quick = [spec.at_quick_bounds() if spec.is_as_written else spec for spec in specs]
    return list({(spec.origin, spec.invariants): spec for spec in reversed(quick)}.values())[::-1]


def _stands(spec: Spec) -> bool:
    return bool(spec.expect) and all(expected.steps is None for expected in spec.expect.values())


def _size(spec: Spec) -> float:
    known = spec.counts.distinct if spec.counts else None
    return float("inf") if known is None else known


def changed(spec: Spec, model: ModelChoice) -> Spec:
    """The spec with the bounds, features and invariants that were asked for."""
    wanted = spec.changed(model.bounds, model.features, model.invariants or None)
    unused = [name for name in model.bounds if name not in wanted.used_bounds()]
    if unused:
        used = [option_of(name) for name in wanted.used_bounds()]
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
