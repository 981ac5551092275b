"""The arrows of ARCHITECTURE.md, held by walking the imports: layers, doors, import budgets; and sizes and paths.

A new module fails here until it has a layer, a new library until it has a door.
"""

from __future__ import annotations

import graphlib
import json
import re
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from source_tree import PACKAGES, ROOT, functions, imports, module_imports, modules, python_files

# Lowest first. A module may import from any layer below its own, and within its own entry; two entries of one layer
# may not know each other. An entry is a module's name, `room.*` for a package with all that is in it, or a glob.
# Where two entries fit, the one named in full wins.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("model",),  # the package's docstring; imports nothing, as everything below it runs this first
    ("model.errors",),
    ("model.own_file",),
    ("model.language.domains", "model.language.drawing", "model.language.places", "model.language.sequence_diagram"),
    ("model.language.expr",),
    ("model.language.ranges",),
    ("model.language.formula",),
    ("model.language.protocol",),
    ("model.language.scalars", "model.language.sources"),
    ("model.language.composites",),
    ("model.language.quantifiers",),
    ("model.language.staging", "model.language.evaluate"),
    ("model.language.show",),  # text names steps as the evaluator does
    ("model.language",),  # what a protocol's author imports
    ("model.kafka.*",),
    # The wall: nothing above imports anything below.
    (
        "checker",
        "checker.compile",
        "checker.explore",
        "checker.prove",
        "checker.skeleton",
    ),  # docstrings: re-exports would load engines
    ("checker.data", "checker.cache", "checker.changes", "checker.files", "checker.mutants", "checker.processes"),
    ("checker.product", "checker.start"),
    ("checker.compile.packing", "checker.prove.certificate", "checker.explore.arrays"),
    ("checker.explore.front_end",),
    ("checker.coverage", "checker.reason"),
    ("checker.trace",),
    ("checker.outcome", "checker.turning_point"),
    ("checker.report.story",),
    ("checker.report.subject",),  # what reports and exports alike say of a spec
    ("checker.toml_lines",),
    ("checker.spec_file",),
    ("checker.spec_table",),
    ("checker.origin",),  # what is known of a protocol's origin, whichever it is
    ("checker.vocabulary",),
    ("checker.estimate",),
    ("checker.kafka_origin", "checker.own_origin"),
    ("checker.own_invariants",),
    ("checker.spec", "checker.equivalents"),
    ("checker.judgement", "checker.spec_schema", "checker.spec_search", "checker.spec_text"),
    ("checker.trace_file", "checker.fates"),
    ("checker.row",),
    (
        "checker.result_cache",
        "checker.spec_update",
        "checker.compile.native*",
        "checker.compile.smt",
        "checker.explore.reference",
        "checker.explore.kernels",
        "checker.export.*",
        "checker.report.*",
    ),
    ("checker.explore.search_loop",),
    (
        "checker.compile.calls",
        "checker.explore.covering",
        "checker.explore.store",
        "checker.prove.refutation",
        "checker.prove.type_correct",
        "checker.report.folder",  # has the pages of checker.export in it
        "checker.report.lanes",  # draws the frames of checker.export with characters
    ),
    ("checker.prove.equivariance",),
    ("checker.explore.breadth_first", "checker.prove.symmetry", "checker.prove.reduction"),
    ("checker.run",),
    ("checker.compare", "checker.gate", "checker.mutation", "checker.shortest"),
    ("checker.diff", "checker.shrink", "checker.sweep"),
    ("checker.vacuity",),  # asks of each invariant what mutants do to it
    ("checker.cli.*", "checker.pytest_plugin"),
)

# One door a foreign library, so that replacing one means rewriting one place.
DOORS: dict[str, tuple[str, ...]] = {
    "click": ("checker.cli.*",),
    "llvmlite": ("checker.compile.native*", "checker.explore.front_end", "checker.explore.kernels"),
    "networkx": ("checker.export.graph",),
    "numba": ("checker.explore.front_end", "checker.explore.kernels"),
    "numpy": ("checker.compile.*", "checker.explore.*"),
    "pydot": ("checker.export.graph",),
    "pytest": ("checker.pytest_plugin",),
    "rich": ("checker.report.console",),
    "z3": ("checker.compile.smt",),
}

# What `tidegauge --help` must not pay for.
HEAVY = ("llvmlite", "networkx", "numba", "numpy", "rich.progress", "z3")

LONGEST_FILE = 500
LONGEST_FUNCTION = 60
# "path" or "path:function", with the reason why splitting it would make it worse.
LONG_FOR_A_REASON: dict[str, str] = {}

# Homes and workplaces as they are usually called; the test adds those of the machine it runs on.
SOMEBODYS_FOLDER = r"(?<![\w.~-])/(?:home|root|Users|work|workspace)/[\w.]"


def fits(entry: str, module: str) -> bool:
    return fnmatchcase(module, entry) or entry == f"{module}.*"


def place(module: str) -> tuple[int, str] | None:
    """The layer (0 is the lowest) and the entry that a module belongs to."""
    candidates = [(depth, entry) for depth, layer in enumerate(LAYERS) for entry in layer if fits(entry, module)]
    in_full = [found for found in candidates if found[1] == module]
    return next(iter(in_full or candidates), None)


def may_import(importer: str, target: str) -> bool:
    above, below = place(importer), place(target)
    if above is None or below is None:
        return True  # another test asks for the missing layer; no need to complain twice
    return below[0] < above[0] or below == above


def newly_loaded(code: str, folder: Path = ROOT) -> set[str]:
    """The modules that running `code` adds to those of a bare interpreter."""
    program = (
        "import sys\nbefore = set(sys.modules)\n"
        f"{code}\n"
        "import json\nprint(json.dumps(sorted(set(sys.modules) - before)), file=sys.stderr)\n"
    )
    command = [sys.executable, "-c", program]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return set(json.loads(ended.stderr.splitlines()[-1]))


def tracked_files() -> list[Path]:
    """The files git knows or would add; skips outside a checkout, as in an unpacked source archive."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    except (FileNotFoundError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout: there is no list of tracked files")
    paths = (ROOT / name for name in listed.split("\0") if name)
    return [path for path in paths if path.is_file()]


def here() -> list[str]:
    """The folders that only this machine has: the project's, its parent's and the home of whoever runs this."""
    folders = (ROOT, ROOT.parent, Path.home())
    return [f"{folder}/" for folder in folders if len(folder.parts) > 2 or folder == Path.home() != Path("/")]


@pytest.mark.parametrize(
    ("importer", "target", "allowed"),
    [
        ("checker.run", "model.kafka.protocol", True),
        ("model.kafka.protocol", "checker.run", False),
        ("model.kafka.leader", "model.kafka.log", True),
        ("model.language.staging", "model.language.show", False),
        ("model.language.expr", "model.language", False),
        ("checker.compile.native_guards", "checker.compile.native", True),
        ("checker.report.console", "checker.report.story", True),
        ("checker.report.story", "checker.report.console", False),
        ("checker.gate", "checker.compare", False),
    ],
)
def test_the_layers_say_what_they_should(importer: str, target: str, allowed: bool) -> None:
    assert may_import(importer, target) is allowed


def test_lazy_relative_and_type_only_imports_are_seen(tmp_path: Path) -> None:
    source = """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import z3.z3util
def late():
    from . import packing
    from ..explore.store import Store
    from model import errors
"""
    path = tmp_path / "smt.py"
    path.write_text(source, encoding="utf-8")
    known = dict.fromkeys(("checker.compile.packing", "checker.explore.store", "model.errors"), path)
    targets = {found.target for found in module_imports("checker.compile.smt", path, known)}
    assert targets == {"typing", "z3", *known}


def test_every_module_has_a_layer() -> None:
    homeless = [module for module in modules() if place(module) is None]
    assert not homeless, f"give {', '.join(homeless)} a layer: add it to LAYERS in tests/test_architecture.py"


def test_no_module_has_two_layers() -> None:
    listed = [entry for layer in LAYERS for entry in layer]
    assert len(listed) == len(set(listed))


def test_arrows_go_down() -> None:
    ours = [found for found in imports() if found.target in modules()]
    upward = [str(found) for found in ours if not may_import(found.importer, found.target)]
    assert not upward, "an import must point to a lower layer (LAYERS):\n" + "\n".join(upward)


def test_model_knows_the_standard_library_and_itself_only() -> None:
    allowed = {*sys.stdlib_module_names, "model"}
    foreign = [
        str(found)
        for found in imports()
        if found.importer.partition(".")[0] == "model" and found.target.partition(".")[0] not in allowed
    ]
    assert not foreign, "\n".join(foreign)


def test_each_foreign_library_has_one_door() -> None:
    known = {*sys.stdlib_module_names, *PACKAGES}
    foreign = [found for found in imports() if found.target.partition(".")[0] not in known]
    wrong = [
        f"{found}; its door: {', '.join(DOORS.get(found.target, ('none yet, add one to DOORS',)))}"
        for found in foreign
        if not any(fits(door, found.importer) for door in DOORS.get(found.target, ()))
    ]
    assert not wrong, "\n".join(wrong)


def test_imports_have_no_cycle() -> None:
    graph: dict[str, set[str]] = {module: set() for module in modules()}
    for found in imports():
        if found.target in graph and found.target != found.importer:
            graph[found.importer].add(found.target)
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        pytest.fail("a cycle of imports: " + " <- ".join(error.args[1]))


def test_importing_model_loads_no_third_party_package() -> None:
    every_module = "\n".join(f"import {module}" for module in modules() if module.partition(".")[0] == "model")
    loaded = {name.partition(".")[0] for name in newly_loaded(every_module)}
    assert loaded - sys.stdlib_module_names == {"model"}


def test_importing_the_command_line_loads_no_engine() -> None:
    assert not newly_loaded("import checker.cli").intersection(HEAVY)


def test_help_loads_no_engine() -> None:
    ask = "from checker.cli.application import run\nassert run(['--help']) == 0"
    loaded = newly_loaded(ask)
    assert "click" in loaded, "the help was not shown by click: what was measured?"
    assert not loaded.intersection(HEAVY)


def test_files_and_functions_are_short() -> None:
    long = set(too_long())
    grown = sorted(long - LONG_FOR_A_REASON.keys())
    assert not grown, f"over {LONGEST_FILE} lines a file or {LONGEST_FUNCTION} a function: {', '.join(grown)}"
    stale = sorted(LONG_FOR_A_REASON.keys() - long)
    assert not stale, f"no longer too long, take it from LONG_FOR_A_REASON: {', '.join(stale)}"


def too_long() -> list[str]:
    found = []
    for path in python_files():
        name = path.relative_to(ROOT).as_posix()
        if len(path.read_text(encoding="utf-8").splitlines()) > LONGEST_FILE:
            found.append(name)
        found += [f"{name}:{function}" for function, lines in functions(path) if lines > LONGEST_FUNCTION]
    return found


def test_no_file_names_a_folder_of_somebodys_machine() -> None:
    pattern = re.compile("|".join([SOMEBODYS_FOLDER, *map(re.escape, here())]))
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}"
        for path in tracked_files()
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1)
        if pattern.search(line)
    ]
    assert not found, "\n".join(found)
