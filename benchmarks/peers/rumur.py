"""The benchmark's peer: Rumur, a model checker for Murphi, on the states of the published kip-320 protocol.

    python benchmarks/peers/rumur.py --replicas 3 --log-size 2 --records 2 --epochs 3 --symmetry off

Rumur turns `kip-320.m` into C, gcc turns that into a verifier, and the verifier walks the states on one thread. Each of
the three is timed on its own. Nothing but `rumur` and `gcc` is needed (Debian: `apt-get install rumur gcc`).
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, get_args
from xml.etree import ElementTree

Symmetry = Literal["off", "exhaustive"]

MODEL = Path(__file__).with_name("kip-320.m")

# tidegauge does not judge states without a successor either.
RUMUR_OPTIONS = ("--quiet", "--threads", "1", "--deadlock-detection", "off", "--output-format", "machine-readable")

# Rumur reads and writes each variable through a general function, given offset and width as arguments. Only when all
# of these are inlined do the arguments become constants: that makes the verifier 6 times faster. gcc stops short of it
# unless all three limits are raised: with any one of them at its default at least half of the gain is lost. Limits ten
# times as high make the verifier slower again and compile about twice as long.
GCC_OPTIONS = (
    "-O3",
    "-march=native",
    "-mcx16",
    "-fwhole-program",
    "-finline-limit=10000",
    "--param=large-function-growth=10000",
    "--param=inline-unit-growth=1000",
)

# Linux counts the peak memory of a process's parent, up to the moment of its start, as its own. So the verifier is
# started by a bare interpreter of 8 MB, and not by a benchmark that has loaded numpy and holds millions of states.
METER = """
import os, sys, time
started = time.perf_counter()
process = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(process, 0)
wall = time.perf_counter() - started
print(os.waitstatus_to_exitcode(status), usage.ru_utime, wall, usage.ru_maxrss)
"""


class PeerError(Exception):
    """The peer gave no result that could be compared; the message says why, in one sentence."""


class PeerMissingError(PeerError):
    """A program that the peer needs is not installed: a benchmark may leave the peer out."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How large the protocol is, in tidegauge's own terms: `epochs` and `records` are numbers, each at least 1."""

    replicas: int
    log_size: int
    records: int
    epochs: int

    def __post_init__(self) -> None:
        for field in fields(self):
            if getattr(self, field.name) < 1:
                raise ValueError(f"{field.name} is {getattr(self, field.name)}, but every bound starts at 1")


@dataclass(frozen=True, slots=True)
class PeerResult:
    """What one complete run found (states, or orbits with symmetry) and cost; the initial state is not a fired rule.

    `generate_seconds` (rumur) and `compile_seconds` (gcc) are wall-clock time, and no part of the two `run_` times.
    `peak_memory_bytes` is what the verifier had resident; what lies under 9 MB is reported as 8 to 9 MB.
    """

    distinct: int
    rules_fired: int
    generate_seconds: float
    compile_seconds: float
    run_user_seconds: float
    run_wall_seconds: float
    peak_memory_bytes: int


def run(bounds: Bounds, symmetry: Symmetry) -> PeerResult:
    """Explore kip-320 at `bounds` to exhaustion, its three invariants checked in every state.

    Raises PeerMissingError without rumur or gcc, and PeerError if a program fails or an invariant is violated.
    """
    rumur, gcc = _find("rumur"), _find("gcc")
    with TemporaryDirectory(prefix="tidegauge-rumur-") as folder:
        model, source, verifier = (Path(folder, name) for name in ("model.m", "verifier.c", "verifier"))
        model.write_text(model_text(bounds))
        generate = [rumur, *RUMUR_OPTIONS, "--symmetry-reduction", symmetry, "--output", str(source), str(model)]
        generate_seconds = _timed(generate)
        compile_seconds = _timed([gcc, *GCC_OPTIONS, str(source), "-o", str(verifier), "-lpthread"])
        return _measured(verifier, generate_seconds, compile_seconds)


def model_text(bounds: Bounds) -> str:
    """The Murphi model with its `const` lines set to `bounds`."""
    text = MODEL.read_text()
    for name, value in asdict(bounds).items():
        text, found = re.subn(rf"(?m)^(  {name.upper()}: )\d+;", rf"\g<1>{value};", text)
        if found != 1:
            raise PeerError(f"{MODEL.name} has {found} lines that set {name.upper()}, but exactly one is needed")
    return text


def version() -> str:
    """Rumur's own version, such as `v2022.08.20-1`, for the caption of a table."""
    return _output([_find("rumur"), "--version"]).split()[-1]


def _find(program: str) -> str:
    path = shutil.which(program)
    if path is None:
        raise PeerMissingError(f"{program} is not installed, but the peer needs it: apt-get install {program}")
    return path


def _timed(command: Sequence[str]) -> float:
    started = time.perf_counter()
    _output(command)
    return time.perf_counter() - started


def _output(command: Sequence[str]) -> str:
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode != 0:
        raise PeerError(f"{Path(command[0]).name} ended with {finished.returncode}: {finished.stderr.strip()}")
    return finished.stdout


def _measured(verifier: Path, generate_seconds: float, compile_seconds: float) -> PeerResult:
    told = _output([sys.executable, "-I", "-S", "-c", METER, str(verifier)])
    report, _, measures = told.rstrip("\n").rpartition("\n")
    exit_code, user_seconds, wall_seconds, peak_kib = measures.split()
    summary = _summary(report, int(exit_code))
    return PeerResult(
        distinct=int(summary["states"]),
        rules_fired=int(summary["rules_fired"]),
        generate_seconds=generate_seconds,
        compile_seconds=compile_seconds,
        run_user_seconds=float(user_seconds),
        run_wall_seconds=float(wall_seconds),
        peak_memory_bytes=int(peak_kib) * 1024,
    )


def _summary(report: str, exit_code: int) -> dict[str, str]:
    """The attributes of `<summary>` in the verifier's XML report; an `<error>` is a violated invariant or a fault."""
    try:
        root = ElementTree.fromstring(report)
    except ElementTree.ParseError as error:
        raise PeerError(f"the verifier ended with {exit_code} before its report was complete ({error})") from error
    message, summary = root.findtext("error/message"), root.find("summary")
    if message is not None or summary is None or exit_code != 0:
        raise PeerError(f"the verifier ended with {exit_code}: {message or 'no reason given'}")
    return summary.attrib


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Time the model checker Rumur on the published kip-320 protocol.")
    for field, default in zip(fields(Bounds), (3, 2, 2, 3), strict=True):
        option = f"--{field.name.replace('_', '-')}"
        parser.add_argument(option, type=int, default=default, metavar="N", help=f"default: {default}")
    parser.add_argument("--symmetry", choices=get_args(Symmetry), default="off", help="default: off")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line: one `name value` line for each measure; exit code 2 when there is no result."""
    chosen = _arguments().parse_args(arguments)
    try:
        bounds = Bounds(chosen.replicas, chosen.log_size, chosen.records, chosen.epochs)
        result = run(bounds, chosen.symmetry)
    except (PeerError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for name, value in asdict(result).items():
        print(f"{name:<18} {value:.2f}" if isinstance(value, float) else f"{name:<18} {value}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
