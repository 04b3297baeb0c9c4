"""What an installed LiteRT says of itself: schema, registered operators, functions and microkernels.

Nothing of it is imported here: its schema module is parsed, its libraries are searched for names, and what
only the running library knows is asked in a process of its own.
"""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from compare_schema import DISTRIBUTION, PACKAGE, Outline, outline
from runtime_tiles import tiles_of

from outlive.kernels.xnnpack.node_memory import instruction_set, instruction_sets
from outlive.platforms.posix.child.tracing.demangle import demangle
from outlive.process.child import kernel_names
from outlive.surgery import write

HIGHEST_VERSION = 20
_KERNEL = re.compile(rb"_ZN6tflite3ops7builtin[\w.]+")
_MICROKERNEL = re.compile(rb"xnn_[a-z0-9_]+_ukernel_[a-z0-9_]+")
_PHASE = re.compile(r"Eval|Prepare")
# They stand for what no kernel is looked up for by version.
_NO_KERNEL = frozenset({"CUSTOM", "DELEGATE", "PLACEHOLDER_FOR_GREATER_OP_CODES"})
# Reads a model a line; 0 where the runtime says that it has no kernel for the operator.
_RESOLVE = """
import base64, sys
from ai_edge_litert.interpreter import Interpreter, OpResolverType
kind = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
for line in sys.stdin:
    try:
        Interpreter(model_content=base64.b64decode(line), experimental_op_resolver_type=kind)
        found = True
    except Exception as error:
        found = "Didn't find op for builtin opcode" not in str(error)
    print(int(found), flush=True)
"""
_ABOUT = """
import importlib.metadata, importlib.util, json
place, = importlib.util.find_spec("%s").submodule_search_locations
print(json.dumps([importlib.metadata.version("%s"), place]))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeFacts:
    """One version of the runtime."""

    version: str
    schema: Outline
    op_versions: Mapping[str, tuple[int, int]]
    kernel_functions: frozenset[str]
    unnamed_functions: frozenset[str]  # kernels that `kernel_names` gives no operator for
    microkernels: frozenset[str]
    tiles: Mapping[str, Any]  # rows of the tile table by instruction set, and of this machine under ""


def facts_of(python: str) -> RuntimeFacts:
    """The facts of the runtime that this Python has."""
    version, place = json.loads(_run(python, _ABOUT % (PACKAGE, DISTRIBUTION)))
    schema = outline((Path(place) / "schema_py_generated.py").read_text("utf-8"))
    libraries = [path.read_bytes() for path in sorted(Path(place).glob("*.so"))]
    kernels = {name.decode() for library in libraries for name in _KERNEL.findall(library)}
    readable = {raw: demangle(raw) for raw in kernels}
    functions = {raw: name for raw, name in readable.items() if _PHASE.search(name.rpartition("::")[2])}
    return RuntimeFacts(
        version=version,
        schema=schema,
        op_versions=dict(_op_versions(python, schema.enums["BuiltinOperator"])),
        kernel_functions=frozenset(functions.values()),
        unnamed_functions=frozenset(name for raw, name in functions.items() if not _is_named(raw, name)),
        microkernels=frozenset(
            name.decode() for library in libraries for name in _MICROKERNEL.findall(library)
        ),
        tiles=tiles_of(python, place, gemm_kinds()),
    )


def gemm_kinds() -> list[str]:
    """The kinds of matrix products in the tile table."""
    return sorted({kind for name in instruction_sets() for kind in instruction_set(name).gemm})


def _is_named(raw: str, name: str) -> bool:
    found = kernel_names.candidates(name, (raw,), "")
    return found is not None and bool(found.ops)


def _run(python: str, program: str) -> str:
    return subprocess.run([python, "-c", program], capture_output=True, text=True, check=True).stdout


def _op_versions(python: str, operators: Mapping[str, int]) -> Iterator[tuple[str, tuple[int, int]]]:
    """The versions of each operator that the runtime has a kernel for, least and most."""
    with _Resolver(python) as resolver:
        for name in operators.keys() - _NO_KERNEL:
            found = [n for n in range(1, HIGHEST_VERSION) if resolver.has(_one_op(name, operators[name], n))]
            if found:
                yield name, (min(found), max(found))


def _one_op(name: str, number: int, version: int) -> bytes:
    """A model of one operator, which only has to be looked up."""
    code = {"builtin_code": name, "deprecated_builtin_code": min(number, 127), "version": version}
    tensors = [{"name": word, "shape": [1], "type": "FLOAT32", "has_rank": True} for word in ("in", "out")]
    graph = {
        "tensors": tensors,
        "inputs": [0],
        "outputs": [1],
        "operators": [{"opcode_index": 0, "inputs": [0], "outputs": [1]}],
    }
    return write({"version": 3, "operator_codes": [code], "subgraphs": [graph], "buffers": [{}]})


class _Resolver:
    """A process with the runtime in it; started again after an operator has killed it."""

    def __init__(self, python: str) -> None:
        self._python = python
        self._child: subprocess.Popen[str] | None = None

    def __enter__(self) -> _Resolver:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def has(self, content: bytes) -> bool:
        """Whether there is a kernel for the operator; a runtime that dies over it had one."""
        child = self._child = self._child or self._start()
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            child.stdin.write(base64.b64encode(content).decode() + "\n")
            child.stdin.flush()
            answer = child.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            self._end()
        return answer.strip() != "0"

    def _start(self) -> Any:
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        return subprocess.Popen([self._python, "-c", _RESOLVE], stderr=subprocess.DEVNULL, text=True, **pipes)

    def _end(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child.communicate()
            self._child = None
