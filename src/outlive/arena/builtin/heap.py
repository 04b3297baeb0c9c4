"""Tensors the runtime keeps on the heap, and what its own structures take."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from outlive.arena.builtin.layout import SubgraphLayout
from outlive.arena.builtin.preparation import Preparation
from outlive.arena.builtin.subgraphs import list_parts
from outlive.kernels.litert.tensor_table import sparse_bytes
from outlive.model import Model
from outlive.units import plural

# Fitted to private memory after allocate_tensors in fresh processes, heap tensors taken off: 74 models of the
# corpus, LiteRT, x86-64; 44 KB is the standard deviation of what is left.
_INTERPRETER_BYTES = 10_000
_BYTES_PER_TENSOR = 700
_BYTES_PER_SCALE = 11
# sizeof(TfLiteTensor): tflite/core/c/common.h. Their array grows by a tenth when kernels add temporaries
# (EnsureTensorsVectorCapacity: tflite/core/subgraph.h); what it was before stays behind in gaps, as measured.
_TENSOR_BYTES, _ARRAYS = 112, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class HeapTensors:
    """Bytes on the heap, and in words what is there without its size being known."""

    size_bytes: int
    unknown: tuple[str, ...]


def heap_of(layout: SubgraphLayout) -> HeapTensors:
    """The heap tensors of one subgraph: read-only ones, dynamic ones, those of kernels."""
    preparation = layout.preparation
    table = preparation.table
    grown = {part: size * table.bytes[source] for part, source, size in list_parts(preparation)}
    total = 0
    text = 0
    for tensor, where in enumerate(table.where):
        if where not in ("readonly", "dynamic"):
            continue
        total += max(table.bytes[tensor], grown.get(tensor, 0))
        text += table.dtypes[tensor] == "string"
    unknown = list(_waits(preparation))
    if text:
        unknown.append(f"the bytes of {plural(text, 'text tensor')}: they depend on the text")
    return HeapTensors(size_bytes=total, unknown=tuple(unknown))


def _waits(preparation: Preparation) -> Iterable[str]:
    """Operators whose output's size depends on data."""
    for index in preparation.waits:
        later = len(preparation.nodes) - 1 - index
        behind = f"; {plural(later, 'operator')} behind it as the file's shapes have it" if later else ""
        yield f"{preparation.name_of(index)}: its output's size is known only when it runs{behind}"


def variables_bytes(preparations: Iterable[Preparation]) -> int:
    """What resource variables keep, a copy of the value assigned: tflite/kernels/assign_variable.cc."""
    sizes: dict[tuple[object, object], int] = {}
    for preparation in preparations:
        handles: dict[int, tuple[object, object]] = {}
        for node in preparation.nodes:
            operator = node.operator
            if operator.type == "VAR_HANDLE" and operator.options is not None:
                name = operator.options.get("container"), operator.options.get("shared_name")
                handles.update(dict.fromkeys(node.outputs, name))
            elif operator.type == "ASSIGN_VARIABLE" and len(node.inputs) == 2:
                handle, value = node.inputs
                key = handles.get(handle, ("", handle))
                sizes[key] = max(sizes.get(key, 0), preparation.table.bytes[value])
    return sum(sizes.values())


def structures_bytes(model: Model) -> int:
    """About what the interpreter takes for itself, its tensors and their quantization."""
    total = _INTERPRETER_BYTES
    for tensor in model.tensors():
        total += _BYTES_PER_TENSOR
        if tensor.quantization is not None:
            total += _BYTES_PER_SCALE * len(tensor.quantization.scales)
        total += sparse_bytes(tensor)
    return total


def late_bytes(layouts: Iterable[SubgraphLayout]) -> int:
    """Arrays of tensors that grow as the model runs, because kernels are prepared only then."""
    grown = (layout for layout in layouts if len(layout.preparation.stages) > 1)
    return sum(_ARRAYS * _TENSOR_BYTES * len(layout.preparation.table.where) for layout in grown)
