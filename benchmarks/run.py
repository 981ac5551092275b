"""How fast tidegauge is, beside Rumur on the same protocol and the same machine, in one run.

    python benchmarks/run.py [--quick] [--no-peer] [--repeat N]

The protocol is the published kip-320. Machines are shared and noisy: our measurements and the peer's take turns, and
the best of each is quoted, with the median beside it. A search runs on one thread, and its rate is by the processor
time of its own code, without the system's. No time is quoted unless both found the same number of states; exit code 1
if they did not.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import platform
import sys
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent / "peers"))

import rumur
from ours import Caches, Searched, checked, helped, searched
from rumur import Bounds, Cost, PeerError, PeerMissingError, PeerResult, Verifier

SMALL, LARGE = Bounds(3, 2, 2, 3), Bounds(3, 3, 3, 3)
MODES: dict[str, rumur.Symmetry] = {"off": "off", "on": "exhaustive"}

# What issue and README promise.
TIMES_THE_PEERS_RATE = 30
SHARE_OF_THE_PEERS_TIME = {"every cache cold": 1 / 5, "the protocol new": 1 / 10}
BYTES_A_STATE = 64
HELP_SECONDS = 0.3
FIRST_LEVEL_SECONDS = 1.0


class CountsDifferError(Exception):
    """Ours and the peer's numbers of states are not the same: a time would mean nothing."""


@dataclass(frozen=True, slots=True)
class Searches:
    """Everything about one search: bounds and mode; ours the first time and later; the peer's, if there is one."""

    bounds: Bounds
    symmetry: str
    cold: Searched
    ours: Sequence[Searched]
    verifier: Verifier | None
    peers: Sequence[PeerResult]

    @property
    def name(self) -> str:
        return f"{_text(self.bounds)} {self.symmetry:>4}"


def search(bounds: Bounds, symmetry: str, repeat: int, peer: bool) -> Searches:
    """Search `repeat` times, and let the peer do the same in between. Raises CountsDifferError."""
    with TemporaryDirectory(prefix="tidegauge-bench-") as folder:
        caches, verifier = Caches(Path(folder)), None
        if peer:
            verifier = rumur.build(bounds, MODES[symmetry], Path(folder))
        cold, ours, peers = searched(bounds, symmetry, caches), [], []
        for _ in range(repeat):
            ours.append(searched(bounds, symmetry, caches))
            peers += [verifier.run()] if verifier is not None else []
    _require_equal(bounds, [each.distinct for each in (cold, *ours)], [each.distinct for each in peers])
    return Searches(bounds, symmetry, cold, ours, verifier, peers)


def _require_equal(bounds: Bounds, ours: Sequence[int], peers: Sequence[int]) -> None:
    if len({*ours, *peers}) > 1:
        raise CountsDifferError(f"at {_text(bounds)} we found {sorted(set(ours))} and the peer {sorted(set(peers))}")


def commands(bounds: Bounds, symmetry: str, distinct: int, repeat: int) -> dict[str, list[Cost]]:
    """From the command to the verdict, everything included, by what is in the caches."""
    costs: dict[str, list[Cost]] = {"every cache cold": [], "the protocol new": [], "everything cached": []}
    for _ in range(repeat):
        with TemporaryDirectory(prefix="tidegauge-bench-") as folder:
            caches = Caches(Path(folder))
            for name, taken in costs.items():
                found, cost = checked(bounds, symmetry, caches)
                _require_equal(bounds, [found, distinct], [])
                taken.append(cost)
                if name == "every cache cold":
                    caches.forget_protocols()
    return costs


# The tables


def show_searches(rows: Sequence[Searches]) -> None:
    title("The search alone: distinct states (or orbits) a second of processor time, in millions, best and median")
    line("bounds   sym.", "states", "tidegauge", "Rumur", "times as fast", f"wanted: {TIMES_THE_PEERS_RATE}")
    for row in rows:
        ours = _rates([(each.distinct, each.search) for each in row.ours])
        peers = _rates([(each.distinct, each.run) for each in row.peers])
        ratios = [one / other for one, other in zip(ours, peers, strict=False)]
        wanted = judged(ratios[0] >= TIMES_THE_PEERS_RATE) if ratios else ""
        line(row.name, f"{row.cold.distinct:,}", _pair(ours, 2), _pair(peers, 3), _pair(ratios, 1), wanted)


def _rates(runs: Sequence[tuple[int, Cost]]) -> list[float]:
    """The best and the median rate, in millions a second; nothing of nothing."""
    rates = [distinct / cost.user / 1e6 for distinct, cost in runs]
    return [max(rates), median(rates)] if rates else []


def show_preparation(rows: Sequence[Searches]) -> None:
    title("Before the search: seconds of processor time (Rumur: rumur and gcc), the first time and later")
    line("bounds   sym.", "proof", "machine code", "Rumur", "bytes a state", f"wanted: {BYTES_A_STATE}")
    for row in rows:
        proof = [row.cold.proof, min(each.proof for each in row.ours)]
        compiled = [row.cold.compile, min(each.compile for each in row.ours)]
        made = f"{(row.verifier.generate + row.verifier.compile).cpu:.2f}" if row.verifier else ""
        memory = max(each.memory for each in row.ours)
        wanted = judged(memory <= BYTES_A_STATE) if row.bounds == LARGE else ""
        line(row.name, _pair(proof, 2), _pair(compiled, 2), made, f"{memory:.1f}", wanted)


def show_commands(row: Searches, repeat: int) -> None:
    title(f"From the command to the verdict at {row.name}: seconds on the clock and of processor time, best and median")
    line("", "on the clock", "processor", "of Rumur's", "", "wanted")
    peers = [row.verifier.generate + row.verifier.compile + each.run for each in row.peers] if row.verifier else []
    for name, costs in commands(row.bounds, row.symmetry, row.cold.distinct, repeat).items():
        shares = [best(costs, part) / best(peers, part) for part in ("wall", "cpu")] if peers else []
        share = SHARE_OF_THE_PEERS_TIME.get(name)
        wanted = f"1/{1 / share:.0f}: {judged(max(shares) <= share)}" if share and shares else ""
        _show_costs(name, costs, " ".join(f"1/{1 / each:.1f}" for each in shares), wanted)
    if peers:
        _show_costs("Rumur, gcc and verifier", peers, "", "")


def _show_costs(name: str, costs: Sequence[Cost], shares: str, wanted: str) -> None:
    columns = [[best(costs, part), median(getattr(each, part) for each in costs)] for part in ("wall", "cpu")]
    line(name, *(_pair(column, 2) for column in columns), shares, "", wanted)


def show_start(rows: Sequence[Searches], repeat: int) -> None:
    title("Starting: seconds of processor time, best and median")
    with TemporaryDirectory(prefix="tidegauge-bench-") as folder:
        helps = [helped(Caches(Path(folder))) for _ in range(repeat + 1)]
    _show_start("tidegauge --help", [each.cpu for each in helps], HELP_SECONDS)
    for row in rows:
        name = f"second run, first level, {row.symmetry}"
        _show_start(name, [each.first_level for each in row.ours], FIRST_LEVEL_SECONDS)
    _show_start("importing everything", [each.imports for row in rows for each in row.ours], None)


def _show_start(name: str, seconds: Sequence[float], most: float | None) -> None:
    wanted = f"{most}: {judged(min(seconds) < most)}" if most else ""
    line(name, "", _pair([min(seconds), median(seconds)], 2), "", "", wanted)


def best(costs: Sequence[Cost], part: str) -> float:
    return min(float(getattr(each, part)) for each in costs)


def judged(good: bool) -> str:
    return "yes" if good else "NO"


def title(text: str) -> None:
    print(f"\n{text}\n", flush=True)


def line(*cells: str) -> None:
    widths = (24, 12, 14, 14, 14, 12)
    first, *rest = (cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
    print(" ".join([first.strip().ljust(widths[0]), *rest]).rstrip(), flush=True)


def _pair(numbers: Sequence[float], digits: int) -> str:
    return "  ".join(f"{number:.{digits}f}" for number in numbers)


def _text(bounds: Bounds) -> str:
    return "({},{},{},{})".format(*astuple(bounds))


# The program


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the smaller bounds only, once")
    parser.add_argument("--no-peer", action="store_true", help="leave Rumur out")
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="how often each is measured (default: 5)")
    arguments = parser.parse_args()
    try:
        run(
            1 if arguments.quick else max(1, arguments.repeat),
            SMALL if arguments.quick else LARGE,
            not arguments.no_peer,
        )
    except PeerMissingError as error:
        sys.exit(f"{error}; or run with --no-peer")
    except (PeerError, CountsDifferError) as error:
        sys.exit(f"no time is quoted: {error}")
    return 0


def run(repeat: int, largest: Bounds, peer: bool) -> None:
    """Measure and show everything."""
    packages = ("numba", "llvmlite", "numpy", "z3-solver")
    versions = [
        f"Python {platform.python_version()}",
        *(f"{name} {importlib.metadata.version(name)}" for name in packages),
    ]
    print(", ".join([*versions, *([f"Rumur {rumur.version()}"] if peer else [])]))
    bounds = dict.fromkeys((SMALL, largest))
    rows = [search(each, symmetry, repeat, peer) for each in bounds for symmetry in MODES]
    show_searches(rows)
    show_preparation(rows)
    for row in rows[-2:]:
        show_commands(row, repeat)
    show_start(rows[-2:], repeat)


if __name__ == "__main__":
    sys.exit(main())
