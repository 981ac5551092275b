"""What tidegauge takes, measured in fresh processes: a search, a whole check from the command on, a start.

Run as a program, with bounds and a mode, this is such a process: it prints its measures as JSON.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "peers"))

from rumur import Bounds, Cost

SPEC = "published/kip-320"
ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class Searched:
    """One search in a process of its own.

    `search` is the search alone. `proof` and `compile` are processor seconds, none for a proof without symmetry.
    `memory` is by how many bytes for each state the resident memory grew, at its peak. `imports` and `first_level` are
    processor seconds too: to load the modules, and then to staging, proof, machine code and the first states.
    """

    distinct: int
    search: Cost
    proof: float
    compile: float
    memory: float
    imports: float
    first_level: float


@dataclass(frozen=True, slots=True)
class Caches:
    """Where a process keeps what it compiled and proved: a folder of the benchmark's own."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a process that uses these, and Python's own cache of byte code, as usual."""
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        path = os.pathsep.join(filter(None, (str(ROOT), kept.get("PYTHONPATH"))))
        return {**kept, "TIDEGAUGE_CACHE_DIR": str(self.folder / "tidegauge"), "PYTHONPATH": path}

    def forget_protocols(self) -> None:
        """Lose proofs and machine code of protocols, but not of the search loop: each protocol is new again."""
        from checker.explore.search_loop import CACHE_KIND

        for kind in (self.folder / "tidegauge").iterdir():
            if kind.name != CACHE_KIND:
                shutil.rmtree(kind)


def searched(bounds: Bounds, symmetry: str, caches: Caches) -> Searched:
    """Search in a new process."""
    command = [sys.executable, __file__, json.dumps(asdict(bounds)), symmetry]
    done = subprocess.run(command, env=caches.environment, stdout=subprocess.PIPE, text=True, check=True)
    told = json.loads(done.stdout)
    return Searched(**{**told, "search": Cost(**told["search"])})


def checked(bounds: Bounds, symmetry: str, caches: Caches) -> tuple[int, Cost]:
    """How many states `tidegauge check` says there are, and what it took from the command to the verdict."""
    command = ["check", SPEC, "--json", "-", "--output", str(caches.folder / "traces")]
    for name, value in asdict(bounds).items():
        command += [f"--{name.replace('_', '-')}", str(value)]
    told, cost = _run([*command, *(["--no-symmetry"] if symmetry == "off" else [])], caches)
    return int(json.loads(told)["explored"]["distinct"]), cost


def helped(caches: Caches) -> Cost:
    """What `tidegauge --help` takes."""
    return _run(["--help"], caches)[1]


def _run(arguments: Sequence[str], caches: Caches) -> tuple[str, Cost]:
    """What the command prints on standard output, and what it costs."""
    command = [sys.executable, "-m", "checker.cli", *arguments]
    started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env=caches.environment, stdout=subprocess.PIPE, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    wall = time.perf_counter() - started
    return done.stdout, Cost(wall, after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime)


# In the process of a search


def measure(bounds: Bounds, symmetry: str) -> Searched:
    """Prove, compile, search, and say what each took."""
    import checker.compile.native
    import checker.explore.breadth_first
    import checker.prove.symmetry  # noqa: F401  # these are loaded late elsewhere
    from checker.run import Options, Watch, prepare
    from checker.spec import load_spec

    imported = time.process_time()
    phases: dict[str, float] = {}

    class Meter(Watch):
        """Notes the processor time at which a phase begins."""

        def phase(self, name: str) -> None:
            phases[name] = time.process_time()

    prepared = prepare(load_spec(SPEC).changed(bounds=asdict(bounds)).protocol(), Options(symmetry=symmetry), Meter())
    compiled = time.process_time()
    prepared.search(Options(max_states=100))  # loads the search loop, which is no part of the search
    reached = time.process_time()
    before = _resident("VmRSS")
    _forget_peak()
    started = _cost()
    found = prepared.search(Options()).exploration
    search = _cost() + Cost(-started.wall, -started.user, -started.system)
    return Searched(
        distinct=found.distinct,
        search=search,
        proof=phases["compiling"] - phases.get("proving symmetry", phases["compiling"]),
        compile=compiled - phases["compiling"],
        memory=(_resident("VmHWM") - before) / found.distinct,
        imports=imported,
        first_level=reached - imported,
    )


def _cost() -> Cost:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return Cost(time.perf_counter(), usage.ru_utime, usage.ru_stime)


def _resident(field: str) -> int:
    """Bytes in use now (VmRSS) or at the most (VmHWM)."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))


def _forget_peak() -> None:
    """Let VmHWM start anew. Where that is not allowed, compiling may have had the peak; it is far below a search's."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


if __name__ == "__main__":
    print(json.dumps(asdict(measure(Bounds(**json.loads(sys.argv[1])), sys.argv[2]))))
