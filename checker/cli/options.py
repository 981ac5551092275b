"""Options that several commands share, and the values they take."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import click

Option: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]

#: Whether a path can be read or written is found out by whoever does it, and told in one way everywhere.
PATH = click.Path(path_type=Path)

DEFAULT_FOLDER = "tidegauge-out"

BOUNDS = ("replicas", "log_size", "records", "epochs", "crashes", "min_insync")

_SECONDS = {"s": 1, "m": 60, "h": 3_600}
_LAST_STEP = 2**31
_BYTES = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


# Values, as callbacks of options: given what was written, or none if nothing was.


def duration(_context: click.Context, _parameter: click.Parameter, value: str | None) -> float | None:
    """`90s`, `10m`, `1.5h` in seconds."""
    return None if value is None else _measure(value, _SECONDS, "duration", "90s, 10m or 1h")


def size(_context: click.Context, _parameter: click.Parameter, value: str | None) -> int | None:
    """`512MiB`, `4GiB` in bytes."""
    return None if value is None else round(_measure(value, _BYTES, "size of memory", "512MiB or 4GiB"))


def _measure(value: str, units: dict[str, int], kind: str, examples: str) -> float:
    found = re.fullmatch(rf"(\d{{1,9}}(?:\.\d{{1,9}})?)({'|'.join(units)})", value)
    measure = float(found[1]) * units[found[2]] if found else 0.0
    if not measure:
        raise click.BadParameter(f"{value!r} is no {kind}; write it as {examples}")
    return measure


def settings(_context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """`truncation=high-watermark` and the like, as a dictionary."""
    chosen: dict[str, str] = {}
    for text in values:
        key, _, value = (part.strip() for part in text.partition("="))
        if not key or not value:
            raise click.BadParameter(f"{text!r} sets nothing; write it as truncation=high-watermark")
        if chosen.setdefault(key, value) != value:
            raise click.BadParameter(f"{key} is given two values, {chosen[key]} and {value}")
    return chosen


def steps(_context: click.Context, _parameter: click.Parameter, value: str | None) -> tuple[int, int] | None:
    """`3..6`, `3..`, `..6`, `3` as the first and the last step."""
    if value is None:
        return None
    found = re.fullmatch(r"(\d{0,9})(\.\.)?(\d{0,9})", value)
    if not found or not (found[1] or found[3]) or (found[3] and not found[2]):
        raise click.BadParameter(f"{value!r} names no steps; write them as 3..6, 3.. or 3")
    first = int(found[1] or 1)
    return first, int(found[3]) if found[3] else _LAST_STEP if found[2] else first


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """How the spec is to be changed; `bounds` and `features` hold only what was given, `invariants` may be empty."""

    bounds: dict[str, int]
    features: dict[str, str]
    invariants: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SearchChoice:
    """How to search. Times are in seconds, sizes in bytes; `symmetry` is on, off or audit."""

    fail_fast: bool
    max_states: int | None
    time_limit: float | None
    memory_limit: int | None
    symmetry: str
    reductions: bool
    cache: bool


def option_of(bound: str) -> str:
    """`--log-size` for `log_size`."""
    return f"--{bound.replace('_', '-')}"


def _option(*names: str, help: str, **settings: Any) -> Option:  # noqa: A002  # click's own name
    return click.option(*names, help=help, **settings)


_COUNT = click.IntRange(min=1)

_MODEL = (
    _option("--replicas", type=int, metavar="N", help="How many replicas."),
    _option("--log-size", type=int, metavar="N", help="How many records one log can hold."),
    _option("--records", type=int, metavar="N", help="How many records producers may write."),
    _option("--epochs", type=int, metavar="N", help="How many leader epochs there may be."),
    _option("--crashes", type=int, metavar="N", help="How often replicas may crash, in variants that have crashes."),
    _option("--min-insync", type=int, metavar="N", help="min.insync.replicas, in variants with acknowledgements."),
    _option(
        "--set",
        "settings",
        callback=settings,
        multiple=True,
        metavar="KEY=VALUE",
        help="Choose the rule for a feature (truncation=high-watermark), or a bound of your own protocol; repeatable.",
    ),
    _option("--invariant", "invariants", multiple=True, metavar="NAME", help="Check this one, not all; repeatable."),
)

_SEARCH = (
    _option("--fail-fast", is_flag=True, help="End after the level of the first violation."),
    _option("--workers", type=int, default=1, metavar="N", help="Only 1 for now: the search runs on one core."),
    _option("--max-states", type=_COUNT, metavar="N", help="Give up when so many states (or orbits) are stored."),
    _option("--time-limit", callback=duration, metavar="TIME", help="Give up after that long: 90s, 10m, 1h."),
    _option("--memory-limit", callback=size, metavar="SIZE", help="Give up when that much is resident: 512MiB, 4GiB."),
    _option(
        "--symmetry",
        type=click.Choice(["on", "off", "audit"]),
        help="on is the default; audit explores with and without symmetry and compares.",
    ),
    _option("--no-symmetry", is_flag=True, help="The same as --symmetry=off: explore every state."),
    _option("--no-reductions", is_flag=True, help="No reduction but symmetry; there is none to switch off yet."),
)

_NO_CACHE = _option("--no-cache", is_flag=True, help="Neither read nor write kept proofs and machine code.")


def model_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """What changes a spec; the command gets it as `model`."""

    @functools.wraps(function)
    def command(**given: Any) -> Any:
        bounds = {name: given.pop(name) for name in BOUNDS}
        model = ModelChoice(
            bounds={name: value for name, value in bounds.items() if value is not None},
            features=given.pop("settings"),
            invariants=given.pop("invariants"),
        )
        return function(model=model, **given)

    return _with(_MODEL, command)


def search_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """How to search, and with what limits; the command gets it as `search`."""

    @functools.wraps(function)
    def command(**given: Any) -> Any:
        _require_one_worker(given.pop("workers"))
        search = SearchChoice(
            fail_fast=given.pop("fail_fast"),
            max_states=given.pop("max_states"),
            time_limit=given.pop("time_limit"),
            memory_limit=given.pop("memory_limit"),
            symmetry=_symmetry(given.pop("symmetry"), given.pop("no_symmetry")),
            reductions=not given.pop("no_reductions"),
            cache=not given.pop("no_cache"),
        )
        return function(search=search, **given)

    return _with((*_SEARCH, _NO_CACHE), command)


def cache_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--no-cache` alone."""
    return _NO_CACHE(function)


_ADMISSION = (
    _option(
        "--policy",
        type=PATH,
        metavar="FILE",
        help="The file of the truncation policy, if the trace is of a model with one of somebody's own.",
    ),
    _option("--protocol", metavar="FILE:NAME", help="The file and function of the protocol, if it is somebody's own."),
    _option("--invariants", type=PATH, metavar="FILE", help="The file of the invariant, if it is somebody's own."),
)


def admission_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """For commands that read a trace: no trace has code run by itself. The command gets them as `admitted`."""

    @functools.wraps(function)
    def command(**given: Any) -> Any:
        from checker.origin import Admitted

        admitted = Admitted(given.pop("policy"), given.pop("protocol"), given.pop("invariants"))
        return function(admitted=admitted, **given)

    return _with(_ADMISSION, command)


def output_file(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--output FILE`, for commands that write one thing."""
    return _option("-o", "--output", required=True, metavar="FILE", help="Where to; - is standard output.")(function)


def size_option(most: int, help: str) -> Option:  # noqa: A002  # click's own name
    """`--max-size`, for commands that draw states; none if it is not given, which means `most`."""
    return _option("--max-size", type=_COUNT, metavar="N", help=f"{help}  [default: {most:,}]")


def output_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--output`, `--json` and `--quiet`, for commands that store traces."""
    output = _option(
        "--output",
        type=PATH,
        default=DEFAULT_FOLDER,
        metavar="DIR",
        help=f"Where traces go.  [default: {DEFAULT_FOLDER}]",
    )
    return output(document_options(function))


def document_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--json` and `--quiet`."""
    to_file = _option("--json", "json_file", metavar="FILE", help="Write the result as JSON; - is standard output.")
    quiet = _option("--quiet", is_flag=True, help="No report and no progress: the exit code says it all.")
    return _with((to_file, quiet), function)


def _with(options: Sequence[Option], function: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(options):
        function = option(function)
    return function


def _require_one_worker(workers: int) -> None:
    if workers != 1:
        raise click.UsageError(f"--workers {workers} is not possible: this version searches on one core, so only 1 is")


def _symmetry(mode: str | None, switched_off: bool) -> str:
    if switched_off and mode not in (None, "off"):
        raise click.UsageError(f"--no-symmetry and --symmetry={mode} contradict each other")
    return "off" if switched_off else mode or "on"
