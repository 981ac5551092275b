"""numba as a front end only: Python functions in, LLVM's language out.

numba types the functions and writes them down. It would also optimise and compile each piece for itself, although all
of them end up in one kernel, and keep the result in a cache of its own. Here the pieces are collected as they are, to
be optimised and compiled once, together, and kept where the rest of the machine code is (`search_loop.py`).

    @part      a piece of a kernel, always inlined
    @kernel    a function to be called from outside, through an *entry*: i64 NAME(const i64 *arguments)

An entry's arguments are those of the kernel, one word each, and a tuple is its items, one after the other.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

import numba
from llvmlite import ir
from numba.core import typed_passes, types, untyped_passes
from numba.core.codegen import AOTCodeLibrary, AOTCPUCodegen
from numba.core.compiler import CompilerBase
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import PassManager
from numba.extending import intrinsic as numba_intrinsic

from checker.explore.arrays import leaves

_WORD: Final = ir.IntType(64)


class _Collection(AOTCodeLibrary):
    """A function and those that it calls, left as they are."""

    def _optimize_functions(self, module: Any) -> None:
        pass

    def _optimize_final_module(self) -> None:
        pass

    def get_pointer_to_function(self, _name: str) -> int:
        """No address: there is no machine code."""
        return 0

    def text(self, names: Collection[str]) -> str:
        """In LLVM's language, with only these functions to be seen from outside."""
        for each in (*self._final_module.functions, *self._final_module.global_variables):
            if not each.is_declaration and each.name not in names:
                each.linkage = "internal"
        return str(self._final_module)


class _Collector(AOTCPUCodegen):
    """Where numba would compile."""

    _library_class = _Collection

    def set_env(self, _name: str, _environment: Any) -> None:
        """Python's side of a function, which would be put beside the machine code."""


_COLLECTOR: Final[Any] = _Collector("kernels")  # type: ignore[no-untyped-call]


# numba's default passes without those for what kernels do not have: closures, `with`, `raise`, array expressions,
# overloads to inline, branches never taken, values to be counted. The machine code is the same, a fifth of numba's time
# is saved. (Without `ReconstructSSA` too it is the same today, but two types of one variable would become a float.)
_PASSES: Final = (
    untyped_passes.TranslateByteCode,
    untyped_passes.FixupArgs,
    untyped_passes.IRProcessing,
    untyped_passes.ReconstructSSA,
    typed_passes.NopythonTypeInference,
    typed_passes.PreLowerStripPhis,
    typed_passes.NativeLowering,
    typed_passes.NoPythonBackend,
)


class _FrontEnd(CompilerBase):
    """From Python's byte code to a collection."""

    def define_pipelines(self) -> list[PassManager]:
        self.state.library = _COLLECTOR.create_library(self.state.func_id.func_qualname)
        manager = PassManager("kernels")  # type: ignore[no-untyped-call]
        for each in _PASSES:
            manager.add_pass(each, each.__name__)  # type: ignore[no-untyped-call]
        manager.finalize()  # type: ignore[no-untyped-call]
        return [manager]


# Nothing is allocated, so numba's runtime for that is not needed. (Any: numba's annotations lack some options.)
_OPTIONS: Final[dict[str, Any]] = {
    "pipeline_class": _FrontEnd,
    "error_model": "numpy",
    "_nrt": False,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}


def kernel(function: Callable[..., Any]) -> Any:
    """Let a function be written down by `text_of`."""
    return numba.njit(**_OPTIONS)(function)


def part(function: Callable[..., Any]) -> Any:
    """Make a function a piece of kernels."""
    return numba.njit(forceinline=True, **_OPTIONS)(function)


def intrinsic(signature: Any) -> Callable[[Callable[..., Any]], Any]:
    """Let kernels call what a function emits, given the context, the builder and the arguments of a call."""

    def decorate(emit: Callable[..., Any]) -> Any:
        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            value = emit(context, builder, *arguments)
            return context.get_dummy_value() if signature.return_type == types.none else value

        def typing(*_: Any) -> Any:
            return signature, generate

        context, _builder, *arguments = inspect.signature(emit).parameters.values()
        typing.__signature__ = inspect.Signature([context, *arguments])  # type: ignore[attr-defined]  # numba reads it
        return numba_intrinsic(typing)

    return decorate


def text_of(kernels: Mapping[Any, Sequence[object]]) -> str:
    """Kernels and their entries, as a module in LLVM's language, for arguments of the same types as the examples."""
    entries, collection = ir.Module("entries"), _COLLECTOR.create_library("kernels")
    with global_compiler_lock:  # numba's own, which it insists on
        for each, examples in kernels.items():
            kinds = tuple(map(numba.typeof, examples))
            each.compile(kinds)
            compiled = each.overloads[kinds]
            _emit_entry(entries, each.__name__, compiled.fndesc.mangled_name, len(list(leaves(examples))))
            collection.add_linking_library(compiled.library)
        collection.add_ir_module(entries)
        collection.finalize()
    text: str = collection.text([each.__name__ for each in kernels])
    return text


def _emit_entry(module: ir.Module, name: str, mangled: str, count: int) -> None:
    """A C function around a kernel, which returns as numba's functions do: a status, and the result by a pointer."""
    pointer, number = ir.PointerType(), ir.IntType(32)
    kernel = ir.Function(module, ir.FunctionType(number, [pointer, pointer, *[_WORD] * count]), mangled)
    entry = ir.Function(module, ir.FunctionType(_WORD, [pointer]), name)
    builder = ir.IRBuilder(entry.append_basic_block("entry"))
    result, error = builder.alloca(_WORD), builder.alloca(pointer)
    places = (builder.gep(entry.args[0], [number(place)], source_etype=_WORD) for place in range(count))
    builder.call(kernel, [result, error, *(builder.load(place, typ=_WORD) for place in places)])
    builder.ret(builder.load(result, typ=_WORD))
