"""LLVM's tool chain: text of a module in, machine code out, and machine code into memory.

The object is made for the processor at hand and loaded beside an empty module, so that code from the cache and code
made a moment ago take the same way. (A cache hook of the execution engine is not an option: it is not keyed by module.)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import llvmlite
import llvmlite.binding as llvm

#: How hard the code generator tries.
CODE_GENERATION_LEVEL = 2


@dataclass(frozen=True, slots=True)
class LoadedObject:
    """Functions in memory, by name. They stay callable as long as this object lives."""

    addresses: Mapping[str, int]
    engine: Any


def machine() -> str:
    """What machine code depends on beside its source: the version of LLVM, the processor and its features."""
    features = llvm.get_host_cpu_features().flatten()
    return f"llvmlite {llvmlite.__version__} {llvm.get_process_triple()} {llvm.get_host_cpu_name()} {features}"


def compile_object(source: str, speed_level: int | None = None) -> bytes:
    """The object file for a module in LLVM's language: instructions that are well arranged already, or as numba leaves
    them, for LLVM's standard pipeline at a level from 1 to 3."""
    _initialise()
    module = llvm.parse_assembly(source)
    target = _target_machine()
    module.triple, module.data_layout = target.triple, str(target.target_data)
    module.verify()
    if speed_level is None:
        _improve(module, target)
    else:
        _optimise(module, target, speed_level)
    emitted: bytes = target.emit_object(module)
    return emitted


def _improve(module: Any, target: Any) -> None:
    """Two passes and not the standard pipeline: the instructions come well arranged already, and what the other passes
    still find costs more to compile than it saves."""
    passes = llvm.create_new_module_pass_manager()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.run(module, llvm.create_pass_builder(target, llvm.create_pipeline_tuning_options()))


def _optimise(module: Any, target: Any, speed_level: int) -> None:
    builder = llvm.create_pass_builder(target, llvm.create_pipeline_tuning_options(speed_level=speed_level))
    builder.getModulePassManager().run(module, builder)


def load_object(content: bytes, names: Iterable[str]) -> LoadedObject:
    """Put an object file into memory and find the functions with these names."""
    _initialise()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target_machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(content))
    engine.finalize_object()
    return LoadedObject({name: engine.get_function_address(name) for name in names}, engine)


@cache
def _initialise() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


def _target_machine() -> Any:
    """A new one each time: an engine takes possession of its machine."""
    target = llvm.Target.from_triple(llvm.get_process_triple())
    features = llvm.get_host_cpu_features().flatten()
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=features, opt=CODE_GENERATION_LEVEL, jit=True
    )
