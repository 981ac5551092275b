"""The group of commands, and how whatever goes wrong ends: in one sentence and an exit code, never in a traceback."""

from __future__ import annotations

import io
import os
import sys
import traceback
from collections.abc import Sequence

import click

from checker.cli.check import check
from checker.cli.compare import compare
from checker.cli.diff import diff
from checker.cli.explain import explain
from checker.cli.export import export
from checker.cli.gate import gate
from checker.cli.graph import graph
from checker.cli.listing import list_specs
from checker.cli.mutate import mutate
from checker.cli.new import new
from checker.cli.prove import prove
from checker.cli.replay import replay
from checker.cli.shrink import shrink
from model.errors import InternalError, OutputError, TidegaugeError, nearest

NAME = "tidegauge"
DEBUG_VARIABLE = "TIDEGAUGE_DEBUG"

INCONCLUSIVE = 3
INTERNAL_ERROR = 70

#: What decides results, beside tidegauge itself; named without being loaded.
ENGINE = ("llvmlite", "numba", "numpy", "z3-solver")


class _Commands(click.Group):
    """A group that lists its commands in the order of use, and knows what a mistyped one may have meant."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            raise click.UsageError(f"there is no command {name!r}. {nearest(name, self.commands)}", ctx)
        return super().resolve_command(ctx, args)


def _versions(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if not wanted or context.resilient_parsing:
        return
    import platform

    click.echo(f"{NAME} {_version(NAME)}")
    click.echo(f"python {platform.python_version()}")
    for package in ENGINE:
        click.echo(f"{package} {_version(package)}")
    context.exit()


def _version(package: str) -> str:
    from importlib import metadata  # it brings half of the standard library along

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "(not installed)"


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_versions, help="Name all versions and exit."
)
def application() -> None:
    """Check Kafka-style log replication exhaustively: every interleaving within bounds, and the shortest story of
    every promise that breaks.

    Start with `tidegauge list` and `tidegauge check published/kip-279`.

    Exit codes: 0 as wished, 1 violated or not as expected, 2 a mistake in what was given, 3 inconclusive, 70 a fault
    of tidegauge itself.
    """


for command in (list_specs, check, compare, explain, export, graph, replay, prove, gate, mutate, diff, shrink, new):
    application.add_command(command)


def run(arguments: Sequence[str]) -> int:
    """Run one command and return the exit code; whatever goes wrong is told on the error stream."""
    _prepare_streams()
    try:
        code = application.main(list(arguments), prog_name=NAME, standalone_mode=False)
        return int(code or 0)
    except click.ClickException as error:
        return _usage(error)
    except TidegaugeError as error:
        return _mistake(error)
    except (click.Abort, KeyboardInterrupt):
        return _told("interrupted before there was a result", INCONCLUSIVE)
    except MemoryError:
        return _told("inconclusive: there is not enough memory; --memory-limit ends a search before that", INCONCLUSIVE)
    except BrokenPipeError:
        _point_at_nothing()
        return 0
    except OSError as error:
        return _told(f"error: the system refuses: {error.strerror or error}.", OutputError.exit_code)
    except Exception as error:  # noqa: BLE001  # the last line of defence: a user gets a sentence, not a traceback
        return _internal(f"{type(error).__name__}: {error}")


def _prepare_streams() -> None:
    """A closed standard output is one that nobody reads, and a character that it cannot show is no reason to end."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123  # for good
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _usage(error: click.ClickException) -> int:
    command = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else NAME
    message = error.format_message()
    stop = "" if message.endswith((".", "?")) else "."
    return _told(f"error: {message[:1].lower()}{message[1:]}{stop} See {command} --help.", error.exit_code)


def _mistake(error: TidegaugeError) -> int:
    return _internal(str(error)) if isinstance(error, InternalError) else _told(f"error: {error}", error.exit_code)


def _internal(message: str) -> int:
    if os.environ.get(DEBUG_VARIABLE):
        traceback.print_exc()
        advice = "Please report it, with the command line and the traceback above."
    else:
        advice = f"Please report it, with the command line and the traceback that {DEBUG_VARIABLE}=1 shows."
    what = " ".join(message.split())
    return _told(f"internal error: {what}\nThis is a fault of tidegauge. {advice}", INTERNAL_ERROR)


def _told(message: str, code: int) -> int:
    try:
        click.echo(f"{NAME}: {message}", err=True)
    except OSError:  # nobody is listening; the exit code says enough
        _point_at_nothing()
    return code


def _point_at_nothing() -> None:
    """Let what is still buffered go nowhere, so that Python does not complain about a closed pipe at its end."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nothing, stream.fileno())
