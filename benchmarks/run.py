"""How fast tidegauge is, beside Rumur on the same protocol and the same machine, in one run.

    python benchmarks/run.py [--quick] [--no-peer] [--repeat N]

The protocol is the published kip-320. Ours and the peer's measurements alternate, because machines are shared and
noisy; of each the best is quoted. Searches are timed in CPU seconds of one thread. No time is quoted unless both found
the same number of states.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "peers"))

import rumur

BOUNDS = ((3, 2, 2, 3), (3, 3, 3, 3))
NAMES = ("replicas", "log_size", "records", "epochs")
MODES: tuple[tuple[str, rumur.Symmetry], ...] = (("off", "off"), ("on", "exhaustive"))
FASTER = 30  # times the peer's states a second
BYTES_A_STATE = 64


@dataclass(frozen=True, slots=True)
class Ours:
    """One search of ours, in a process of its own. Seconds are CPU seconds; memory is in bytes for each state."""

    distinct: int
    search: float
    proof: float
    compile: float
    memory: float

    @property
    def rate(self) -> float:
        return self.distinct / self.search


def measure(bounds: tuple[int, ...], symmetry: str) -> dict[str, float]:
    """Run in a fresh process: prove, compile, search, and say what each took."""
    from checker.run import Options, Watch, prepare
    from checker.spec import load_spec

    marks: dict[str, float] = {}

    class Meter(Watch):
        """Notes the CPU time at which a phase begins."""

        def phase(self, name: str) -> None:
            marks[name] = cpu_seconds()

    spec = load_spec("published/kip-320").changed(bounds=dict(zip(NAMES, bounds, strict=True)))
    prepared = prepare(spec.protocol(), Options(symmetry=symmetry), Meter())
    compiled = cpu_seconds()
    prepared.search(Options(max_states=1))  # loads the search loop, which is no part of the search
    before, started = resident("VmRSS"), cpu_seconds()
    found = prepared.search(Options()).exploration
    return {
        "distinct": found.distinct,
        "search": cpu_seconds() - started,
        "proof": marks["compiling"] - marks.get("proving symmetry", marks["compiling"]),
        "compile": compiled - marks["compiling"],
        "memory": (resident("VmHWM") - before) / found.distinct,
    }


def cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def resident(field: str) -> int:
    """Bytes in use now (VmRSS) or at the most (VmHWM)."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))


def ours(bounds: tuple[int, ...], symmetry: str, caches: Path) -> Ours:
    command = [sys.executable, __file__, "--measure", json.dumps([bounds, symmetry])]
    done = subprocess.run(command, env=environment(caches), capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return Ours(**found)


def environment(caches: Path) -> dict[str, str]:
    return {**os.environ, "TIDEGAUGE_CACHE_DIR": str(caches / "tidegauge"), "NUMBA_CACHE_DIR": str(caches / "numba")}


def compare_search(bounds: tuple[int, ...], mode: tuple[str, rumur.Symmetry], repeat: int, peer: bool) -> None:
    """One row of the table: the search alone, ours and the peer's by turns."""
    with tempfile.TemporaryDirectory() as folder:
        cold = ours(bounds, mode[0], Path(folder))
        runs, peers = [], []
        for _ in range(repeat):
            runs.append(ours(bounds, mode[0], Path(folder)))
            if peer:
                peers.append(rumur.run(rumur.Bounds(*bounds), mode[1]))
    best = min(runs, key=lambda run: run.search)
    show(
        f"{bounds} symmetry {mode[0]:3}  {best.distinct:>9,}  {best.rate / 1e6:5.2f} M/s",
        f"proof {cold.proof:4.2f} s cold {best.proof:4.2f} s cached",
        f"compile {cold.compile:4.2f} s cold {best.compile:4.2f} s cached",
        f"{best.memory:3.0f} bytes a state",
        f"(wanted at most {BYTES_A_STATE}: {judged(best.memory <= BYTES_A_STATE)})" if bounds == BOUNDS[-1] else "",
    )
    if peers:
        show_peer(best, peers)


def show_peer(best: Ours, peers: list[rumur.PeerResult]) -> None:
    fastest = min(peers, key=lambda run: run.run_user_seconds)
    if fastest.distinct != best.distinct:
        sys.exit(f"the peer found {fastest.distinct:,} states and we {best.distinct:,}: no time is quoted")
    rate = fastest.distinct / fastest.run_user_seconds
    ratio = best.rate / rate
    show(
        f"{'':>24} Rumur  {fastest.distinct:>9,}  {rate / 1e6:5.2f} M/s",
        f"gcc {fastest.compile_seconds:.1f} s",
        f"we are {ratio:.1f} times as fast (wanted {FASTER}: {judged(ratio >= FASTER)})",
    )


def compare_command(repeat: int, peer: bool) -> None:
    """From the command to the verdict at the larger bounds, everything included."""
    command = [sys.executable, "-m", "checker.cli", "check", "published/kip-320", "--quiet"]
    command += [text for name, value in zip(NAMES, BOUNDS[-1], strict=True) for text in (option(name), str(value))]
    best: dict[str, float] = {}
    peers = []
    for _ in range(repeat):
        with tempfile.TemporaryDirectory() as folder:
            caches = Path(folder)
            keep("every cache cold", timed(command, caches), best)
            keep("everything cached", timed(command, caches), best)
            for entry in (caches / "tidegauge").rglob("*"):
                if entry.is_file():
                    entry.unlink()
            keep("the protocol new, our own code cached", timed(command, caches), best)
        if peer:
            found = rumur.run(rumur.Bounds(*BOUNDS[-1]), "exhaustive")
            peers.append(found.generate_seconds + found.compile_seconds + found.run_wall_seconds)
    show("\nFrom the command to the verdict at", str(BOUNDS[-1]), "wall-clock seconds, symmetry on")
    wanted = {"every cache cold": 5, "the protocol new, our own code cached": 10}
    for name, seconds in best.items():
        verdict = f"Rumur takes {min(peers):.1f} s, {min(peers) / seconds:.1f} times as long" if peers else ""
        is_judged = bool(peers) and name in wanted
        target = f"(wanted {wanted[name]}: {judged(min(peers) / seconds >= wanted[name])})" if is_judged else ""
        show(f"  {name:40} {seconds:5.2f} s", verdict, target)


def timed(command: list[str], caches: Path) -> float:
    started = time.perf_counter()
    subprocess.run(command, env=environment(caches), check=True)
    return time.perf_counter() - started


def keep(name: str, seconds: float, best: dict[str, float]) -> None:
    best[name] = min(seconds, best.get(name, seconds))


def option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def judged(good: bool) -> str:
    return "yes" if good else "NO"


def show(*parts: str) -> None:
    print("  ".join(filter(None, parts)), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the smaller bounds only, once")
    parser.add_argument("--no-peer", action="store_true", help="leave Rumur out")
    parser.add_argument("--repeat", type=int, default=3, help="how often each is measured")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        bounds, symmetry = json.loads(arguments.measure)
        show(json.dumps(measure(tuple(bounds), symmetry)))
        return 0
    repeat, peer = 1 if arguments.quick else arguments.repeat, not arguments.no_peer
    try:
        for bounds in BOUNDS[:1] if arguments.quick else BOUNDS:
            for mode in MODES:
                compare_search(bounds, mode, repeat, peer)
        if not arguments.quick:
            compare_command(repeat, peer)
    except rumur.PeerMissingError as error:
        sys.exit(f"{error}; or run with --no-peer")
    return 0


if __name__ == "__main__":
    sys.exit(main())
