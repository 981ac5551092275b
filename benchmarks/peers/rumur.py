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
print()
print(os.waitstatus_to_exitcode(status), wall, usage.ru_utime, usage.ru_stime, usage.ru_maxrss)
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
class Cost:
    """Seconds that a program took: on the clock, and of the processor (its own code, and the system for it)."""

    wall: float
    user: float
    system: float = 0.0

    @property
    def cpu(self) -> float:
        return self.user + self.system

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.wall + other.wall, self.user + other.user, self.system + other.system)


@dataclass(frozen=True, slots=True)
class PeerResult:
    """What one complete run found (states, or orbits with symmetry) and cost; the initial state is not a fired rule.

    `peak_memory_bytes` is what the verifier had resident; what lies under 9 MB is reported as 8 to 9 MB.
    """

    distinct: int
    rules_fired: int
    run: Cost
    peak_memory_bytes: int


@dataclass(frozen=True, slots=True)
class Verifier:
    """A verifier that is ready to run, as often as one likes, and what making it cost: rumur, then gcc."""

    path: Path
    generate: Cost
    compile: Cost

    def run(self) -> PeerResult:
        """Explore to exhaustion, the three invariants checked in every state. Raises PeerError if the verifier fails
        or an invariant is violated."""
        report, cost, peak_memory_bytes, exit_code = _metered([str(self.path)])
        summary = _summary(report, exit_code)
        return PeerResult(int(summary["states"]), int(summary["rules_fired"]), cost, peak_memory_bytes)


def build(bounds: Bounds, symmetry: Symmetry, folder: Path) -> Verifier:
    """Make a verifier of kip-320 at `bounds`, in a folder that must outlive it.

    Raises PeerMissingError without rumur or gcc, and PeerError if one of them fails.
    """
    rumur, gcc = _find("rumur"), _find("gcc")
    model, source, verifier = (folder / f"{symmetry}{suffix}" for suffix in (".m", ".c", ".verifier"))
    model.write_text(model_text(bounds))
    generate = [rumur, *RUMUR_OPTIONS, "--symmetry-reduction", symmetry, "--output", str(source), str(model)]
    generated = _done(generate)
    return Verifier(verifier, generated, _done([gcc, *GCC_OPTIONS, str(source), "-o", str(verifier), "-lpthread"]))


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


def _done(command: Sequence[str]) -> Cost:
    """What a program cost that must succeed."""
    _, cost, _, exit_code = _metered(command)
    if exit_code != 0:
        raise PeerError(f"{Path(command[0]).name} ended with {exit_code}")
    return cost


def _output(command: Sequence[str]) -> str:
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode != 0:
        raise PeerError(f"{Path(command[0]).name} ended with {finished.returncode}: {finished.stderr.strip()}")
    return finished.stdout


def _metered(command: Sequence[str]) -> tuple[str, Cost, int, int]:
    """What a program printed, what it cost, the most memory it had (bytes), and its exit code."""
    told = _output([sys.executable, "-I", "-S", "-c", METER, *command])
    report, _, measures = told.rstrip("\n").rpartition("\n")
    exit_code, wall, user, system, peak_kib = measures.split()
    return report, Cost(float(wall), float(user), float(system)), int(peak_kib) * 1024, int(exit_code)


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
        with TemporaryDirectory(prefix="tidegauge-rumur-") as folder:
            verifier = build(bounds, chosen.symmetry, Path(folder))
            result = verifier.run()
    except (PeerError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for name in ("distinct", "rules_fired", "peak_memory_bytes"):
        print(f"{name:<18} {getattr(result, name)}")
    for name, cost in (("generate", verifier.generate), ("compile", verifier.compile), ("run", result.run)):
        print(f"{name:<18} {cost.cpu:.2f} s of processor time, {cost.wall:.2f} s in all")
    return 0


if __name__ == "__main__":
    sys.exit(main())
