"""A smaller file with the same results: what nothing uses is left out, repeated constants are stored once.

    Model ──> copies, dead operators ──> tensors ──> buffers ──> kinds of operators ──> write ──> Trimmed
              (waste.py)                             (sharing.py)

Nothing is refused: a model that cannot be rewritten safely, or has nothing to spare, comes back as it is.

A model whose weights with many zeros are stored sparsely, as the converter for pruned models writes them.

    weight (dense) ──> sparse constant ──> DENSIFY ──> the tensor that operators read

Compressed rows along the last dimension: LiteRT, tflite/kernels/densify.cc unpacks them when a model is
prepared or first run, into memory of its own.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlive.model import Model
from outlive.model.zeros import WeightZeros, count_zeros
from outlive.surgery.archive import moved_archive
from outlive.surgery.assembly import renumbered, renumbered_operator, renumbered_tensor, with_scales
from outlive.surgery.selection import Calls
from outlive.surgery.tree import Tree, check_options, tree_of
from outlive.surgery.waste import copies_of, dead_in, shared_buffers, through
from outlive.surgery.writer import is_large, write
from outlive.units import format_bytes, list_some, plural

# Metadata that names no tensor and no operator by its number.
NUMBERLESS = frozenset(
    {
        "min_runtime_version",
        "CONVERSION_METADATA",
        "TFLITE_METADATA",
        "reduced_precision_support",
        "buffer_location",
        "debug_metadata",
    }
)
_DEBUG = "debug_metadata"
# It keeps programs for an accelerator in buffers that no tensor names: LiteRT, litert/core/model.
_DISPATCH = "DISPATCH_OP"
_SIDES = ("inputs", "outputs", "intermediates")
_LISTED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Trimmed:
    """The smaller file, how many bytes it saves, and what was left out, in sentences."""

    data: bytes = field(repr=False)
    saved_bytes: int = 0
    removed: tuple[str, ...] = ()


def trim(model: Model) -> Trimmed:
    """The model without what it does not use; at the shapes it declares its results are the same to the bit.

    Inputs, outputs, signatures and their names stay; numbers of tensors and operators in between change.
    """
    same = Trimmed(data=bytes(model.content))
    if model.flaws or not model.subgraphs or any(c.custom_name == _DISPATCH for c in model.operator_codes):
        return same
    try:
        trimming = _Trimming(model)
        data = trimming.written()
    except ValueError:  # of the writer, or `UnknownOptions`
        return same  # not all that this file says can be written
    if data is None or len(data) >= len(same.data):
        return same
    return Trimmed(data=data, saved_bytes=len(same.data) - len(data), removed=trimming.removed)


class _Trimming:
    """Decides what stays, and writes it."""

    def __init__(self, model: Model) -> None:
        self._model, self._tree = model, tree_of(model.content)
        self._graphs = self._tree["subgraphs"]
        for graph in self._graphs:
            for index, operator in enumerate(graph["operators"] or ()):
                check_options(operator, index)
        # A plan or an order that came with the file speaks of tensors and operators by number.
        self._may_renumber = all(entry.name in NUMBERLESS for entry in model.metadata)
        signed = {signature.subgraph_index for signature in model.signatures}
        self._named = {graph: model.signature_tensors(graph) for graph in signed}

    @cached_property
    def _subgraphs(self) -> dict[int, int]:
        """The subgraphs that stay, with their new numbers."""
        everyone = range(len(self._graphs))
        if not self._may_renumber:
            return {old: old for old in everyone}
        reached = Calls(self._model).reached_from((0, *sorted(self._named)))
        return {old: new for new, old in enumerate(old for old in everyone if old in reached)}

    @cached_property
    def _copies(self) -> dict[int, dict[int, int]]:
        """Per subgraph, tensors that are copies of others."""
        found: dict[int, dict[int, int]] = {old: {} for old in self._subgraphs}
        if self._may_renumber:
            for old in found:
                rows = self._graphs[old]["tensors"] or []
                found[old] = copies_of(self._model.subgraphs[old], rows, self._named.get(old, frozenset()))
        return found

    @cached_property
    def _dead(self) -> dict[int, frozenset[int]]:
        """Per subgraph, operators that nothing needs."""
        found: dict[int, frozenset[int]] = {old: frozenset() for old in self._subgraphs}
        if self._may_renumber:
            for old in found:
                named = self._named.get(old, frozenset())
                found[old] = dead_in(self._model.subgraphs[old], named, self._copies[old])
        return found

    @cached_property
    def _tensors(self) -> dict[int, dict[int, int]]:
        """Per subgraph, the tensors that stay, with their new numbers."""
        found = {}
        for old in self._subgraphs:
            rows = self._graphs[old]["tensors"] or ()
            used = self._used_tensors(old) if self._may_renumber else frozenset(range(len(rows)))
            found[old] = {index: new for new, index in enumerate(i for i in range(len(rows)) if i in used)}
        return found

    def _used_tensors(self, old: int) -> frozenset[int]:
        graph, copies = self._graphs[old], self._copies[old]
        used = {*(graph["inputs"] or ()), *(graph["outputs"] or ()), *self._named.get(old, ())}
        for index, operator in enumerate(graph["operators"] or ()):
            if index not in self._dead[old]:
                for side in _SIDES:
                    used.update(through(copies, operator[side] or ()))
        return frozenset(with_scales(used, graph["tensors"]))

    @cached_property
    def _tensor_buffers(self) -> frozenset[int]:
        """The buffers of tensors that stay."""
        return frozenset(
            self._graphs[old]["tensors"][index]["buffer"]
            for old, tensors in self._tensors.items()
            for index in tensors
        )

    @cached_property
    def _repeats(self) -> dict[int, int]:
        return shared_buffers(self._model, self._tensor_buffers)

    @cached_property
    def _metadata(self) -> list[Tree]:
        """The metadata that stays: places in the source are for those who debug a converter."""
        return [entry for entry in self._tree["metadata"] or () if entry["name"] != _DEBUG]

    @cached_property
    def _buffers(self) -> dict[int, int]:
        """The buffers that stay, with their new numbers. The first is everyone's empty one."""
        kept = {index for index in self._tensor_buffers - {*self._repeats} if not self._says_nothing(index)}
        kept.update(entry["buffer"] for entry in self._metadata)
        kept.update(self._tree["metadata_buffer"] or ())
        order = [index for index in range(1, len(self._model.buffers)) if index in kept]
        return {old: new for new, old in enumerate([0, *order])}

    def _says_nothing(self, buffer: int) -> bool:
        """True if it is empty as the first one is."""
        return not self._model.buffers[buffer].has_data and not self._model.buffers[0].has_data

    @cached_property
    def _codes(self) -> dict[int, int]:
        """For each kind of operator in use its new number; kinds that are listed twice get one."""
        rows = self._tree["operator_codes"] or ()
        used = {
            operator["opcode_index"]
            for old in self._subgraphs
            for index, operator in enumerate(self._graphs[old]["operators"] or ())
            if index not in self._dead[old]
        }
        first: dict[tuple[object, ...], int] = {}
        return {old: first.setdefault(tuple(rows[old].values()), len(first)) for old in sorted(used)}

    def written(self) -> bytes | None:
        """The file without what it does not need; None if it needs all."""
        if not self.removed:
            return None
        model, tree = self._model, self._new_tree()
        outside = any(model.buffers[old].outside for old in self._buffers)
        data = write(tree, outside=outside or is_large(tree))
        if not model.attached_files:
            return data
        archive = moved_archive(model, len(data))
        return None if archive is None else data + archive

    def _new_tree(self) -> Tree:
        tree = self._tree
        codes = {new: tree["operator_codes"][old] for old, new in self._codes.items()}
        return {
            **tree,
            "operator_codes": [codes[new] for new in sorted(codes)],
            "subgraphs": [self._subgraph(old) for old in self._subgraphs],
            "buffers": [{"data": tree["buffers"][old]["data"]} for old in self._buffers],
            "metadata": [{**e, "buffer": self._buffers[e["buffer"]]} for e in self._metadata] or None,
            "metadata_buffer": renumbered(tree["metadata_buffer"], self._buffers),
            "signature_defs": [self._signature(row) for row in tree["signature_defs"] or ()] or None,
        }

    def _subgraph(self, old: int) -> Tree:
        graph, tensors = self._graphs[old], self._tensors[old]
        operators = enumerate(graph["operators"] or ())
        return {
            **graph,
            "tensors": [self._tensor(graph["tensors"][index], tensors) for index in tensors],
            "inputs": renumbered(graph["inputs"], tensors),
            "outputs": renumbered(graph["outputs"], tensors),
            "operators": [self._operator(op, old) for index, op in operators if index not in self._dead[old]],
            "debug_metadata_index": None if self._drops_debug else graph["debug_metadata_index"],
        }

    def _tensor(self, row: Tree, tensors: Mapping[int, int]) -> Tree:
        old: int = row["buffer"]
        return renumbered_tensor(row, self._buffers.get(self._repeats.get(old, old), 0), tensors)

    def _operator(self, row: Tree, old: int) -> Tree:
        tensors = self._tensors[old]
        sources = {copy: tensors.get(source, source) for copy, source in self._copies[old].items()}
        code = self._codes[row["opcode_index"]]
        new = renumbered_operator(row, code, {**tensors, **sources}, self._subgraphs)
        if self._drops_debug:
            new["debug_metadata_index"] = None
        return new

    def _signature(self, row: Tree) -> Tree:
        tensors = self._tensors[row["subgraph_index"]]
        sides = {
            side: row[side] and [{**end, "tensor_index": tensors[end["tensor_index"]]} for end in row[side]]
            for side in ("inputs", "outputs")
        }
        return {**row, **sides, "subgraph_index": self._subgraphs[row["subgraph_index"]]}

    @property
    def _drops_debug(self) -> bool:
        return len(self._metadata) < len(self._tree["metadata"] or ())

    @cached_property
    def removed(self) -> tuple[str, ...]:
        """What is left out, in sentences; none if nothing is."""
        return (*self._removed_steps(), *self._removed_data())

    def _removed_steps(self) -> Iterable[str]:
        uncalled = len(self._graphs) - len(self._subgraphs)
        if uncalled:
            yield f"{plural(uncalled, 'subgraph')} that nothing calls"
        copying: list[str] = []
        dead: list[str] = []
        for old, gone in self._dead.items():
            for index in sorted(gone):
                operator = self._model.subgraphs[old].operators[index]
                is_copy = operator.outputs and operator.outputs[0] in self._copies[old]
                (copying if is_copy else dead).append(f"{index} {operator.name[:40]}")
        if copying:
            yield f"{plural(len(copying), 'operator')} that only copied: {list_some(copying, _LISTED)}"
        if dead:
            yield f"{plural(len(dead), 'unused operator')}: {list_some(dead, _LISTED)}"
        tensors = sum(len(self._graphs[old]["tensors"] or ()) for old in self._subgraphs)
        unused = tensors - sum(map(len, self._tensors.values()))
        if unused:
            yield f"{plural(unused, 'unused tensor')}"

    def _removed_data(self) -> Iterable[str]:
        buffers = self._model.buffers
        if self._repeats:
            saved = sum(buffers[index].size_bytes for index in self._repeats)
            yield f"{plural(len(self._repeats), 'copy', 'copies')} of constants: {format_bytes(saved)}"
        gone = {*range(1, len(buffers))} - {*self._buffers} - {*self._repeats}
        if self._drops_debug:
            rows = [row["buffer"] for row in self._tree["metadata"] if row["name"] == _DEBUG]
            saved = sum(buffers[index].size_bytes for index in rows)
            gone -= {*rows}
            yield f"places in the source, kept for debugging: {format_bytes(saved)}"
        full = [index for index in gone if buffers[index].has_data]
        if full:
            saved = sum(buffers[index].size_bytes for index in full)
            yield f"{plural(len(full), 'unused constant')}: {format_bytes(saved)}"
        if len(gone) > len(full):
            yield f"{plural(len(gone) - len(full), 'empty buffer')}"
        codes = len(self._tree["operator_codes"] or ()) - len({*self._codes.values()})
        if codes:
            yield f"{plural(codes, 'unused operator code')}"


# The types that DENSIFY unpacks.
_TYPES = {"float32": np.uint32, "float16": np.uint16, "int8": np.int8}
_SIGNLESS = {"float32": 0x7FFFFFFF, "float16": 0x7FFF, "int8": -1}
_VECTORS = ((2**8, "Uint8Vector", np.uint8), (2**16, "Uint16Vector", np.uint16))
_READERS = frozenset({"CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "DEQUANTIZE"})
_KIND: Tree = {"builtin_code": "DENSIFY", "deprecated_builtin_code": 124, "version": 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sparsified:
    """The file with sparse weights, and how many there are; `data` is None if none would be smaller."""

    data: bytes | None
    weights: int
    dense_bytes: int


def sparsify(model: Model) -> Sparsified:
    """The model with every weight stored sparsely that is smaller so. For a model that was found sound.

    Results stay the same: the runtime unpacks the same numbers; only zeros lose their sign. A model with
    metadata that speaks of operators by number has no sparse form here: it would be wrong in it.
    """
    if any(entry.name not in NUMBERLESS for entry in model.metadata):
        return Sparsified(data=None, weights=0, dense_bytes=0)
    tree = tree_of(model.content)
    for graph in tree["subgraphs"]:
        for index, operator in enumerate(graph["operators"] or ()):
            check_options(operator, index)
    weights = [weight for weight in count_zeros(model, 0.3) if _is_unpackable(model, weight)]
    chosen = [(weight, made) for weight in weights if (made := _encoded(weight)) is not None]
    if not chosen:
        return Sparsified(data=None, weights=0, dense_bytes=0)
    code = len(tree["operator_codes"])
    tree["operator_codes"] = [*tree["operator_codes"], _KIND]
    tree["buffers"] = [{"data": buffer["data"]} for buffer in tree["buffers"]]
    steps: dict[int, list[Tree]] = {}
    for weight, made in chosen:
        step = _put(tree, weight, made, code)
        steps.setdefault(weight.subgraph, []).append(step)
    for index, before in steps.items():
        graph = tree["subgraphs"][index]
        graph["operators"] = [*before, *(graph["operators"] or ())]
    outside = any(buffer.outside for buffer in model.buffers)
    return Sparsified(
        data=write(tree, outside=outside),
        weights=len(chosen),
        dense_bytes=sum(weight.dense_bytes for weight, _ in chosen),
    )


def _is_unpackable(model: Model, weight: WeightZeros) -> bool:
    """True if all that read it take a weight that is computed as well."""
    graph, index = model.subgraphs[weight.subgraph], weight.tensor.index
    readers = [operator for operator in graph.operators if index in operator.inputs]
    ends = {*graph.input_indices, *graph.output_indices}
    # LiteRT with XNNPACK: "failed to delegate FULLY_CONNECTED" for 8-bit weights from DENSIFY.
    taken = _READERS - {"FULLY_CONNECTED"} if weight.tensor.dtype == "int8" else _READERS
    return index not in ends and all(operator.type in taken for operator in readers)


def _encoded(weight: WeightZeros) -> tuple[Tree, NDArray[Any]] | None:
    """The sparsity of a weight and the elements it keeps; None if it is no smaller so."""
    tensor = weight.tensor
    kind = _TYPES.get(tensor.dtype)
    if kind is None or weight.is_sparse or len(tensor.shape) < 2 or tensor.data is None:
        return None
    rows = np.frombuffer(tensor.data[: weight.dense_bytes], kind).reshape(-1, tensor.shape[-1])
    # Floats have a zero of each sign, and pruning makes both.
    kept = rows & _SIGNLESS[tensor.dtype] != 0
    segments = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
    indices = np.nonzero(kept)[1]
    lists = {"array_segments": _vector(segments), "array_indices": _vector(indices)}
    size = kept.sum() * rows.itemsize + sum(values["values"].nbytes for _, values in lists.values())
    if size >= weight.dense_bytes:
        return None
    last: Tree = {"format": "SPARSE_CSR"}
    for name, (vector, values) in lists.items():
        last |= {f"{name}_type": vector, name: values}
    dense = [{"format": "DENSE", "dense_size": size} for size in tensor.shape[:-1]]
    order = list(range(len(tensor.shape)))
    return {"traversal_order": order, "dim_metadata": [*dense, last]}, rows[kept]


def _vector(values: NDArray[Any]) -> tuple[str, Tree]:
    largest = int(values.max()) if values.size else 0
    for limit, name, kind in _VECTORS:
        if largest < limit:
            return name, {"values": values.astype(kind)}
    return "Int32Vector", {"values": values.astype(np.int32)}


def _put(tree: Tree, weight: WeightZeros, made: tuple[Tree, NDArray[Any]], code: int) -> Tree:
    """Put the sparse constant beside the tensor; the operator that unpacks it."""
    sparsity, kept = made
    tensors = tree["subgraphs"][weight.subgraph]["tensors"]
    old = tensors[weight.tensor.index]
    tree["buffers"].append({"data": kept})
    name = f"{old['name'] or ''}_sparse"
    tensors.append({**old, "name": name, "buffer": len(tree["buffers"]) - 1, "sparsity": sparsity})
    # The bytes of the dense weight stay if another tensor refers to them.
    users = [row for graph in tree["subgraphs"] for row in graph["tensors"] if row["buffer"] == old["buffer"]]
    if len(users) == 1:
        tree["buffers"][old["buffer"]] = {}
    tensors[weight.tensor.index] = {**old, "buffer": 0}
    return {"opcode_index": code, "inputs": [len(tensors) - 1], "outputs": [weight.tensor.index]}
