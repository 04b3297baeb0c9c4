"""The tree of a part, from the tree of the whole: what is used is copied and renumbered, the rest left out.

subgraph 0   operators and tensors of the part          renumbered
subgraph n   whatever its operators call, whole         moved up
buffers      those that tensors and metadata refer to   0 stays the empty one

Records of the whole are never changed: many parts are cut from one tree.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from outlive.model import Model
from outlive.surgery.selection import Calls, Selection
from outlive.surgery.tree import Tree, check_options, check_tensor

_UNIONS = ("builtin_options", "builtin_options_2")
_SIDES = ("inputs", "outputs", "intermediates")
_SCALES = ("scales", "zero_points")
# CALL has the first, STABLEHLO_CASE the second, STABLEHLO_CUSTOM_CALL the last; others _subgraph_index.
_CALLING = ("subgraph", "branch_subgraph_indices", "called_computations")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What is different about one tensor of the main subgraph.

    A shape is fixed, unless the tensor `stays_open`: then sizes that its signature leaves open are still so.
    """

    shape: tuple[int, ...] | None = None
    stays_open: bool = False
    data: bytes | memoryview | None = None
    is_input: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AssembledPart:
    """The tree of a part, and which tensor and operator of the whole each of its main subgraph was."""

    tree: Tree
    tensors: tuple[int, ...]
    subgraphs: tuple[int, ...]
    outside: bool


@dataclass(slots=True)
class _Numbers:
    """New numbers for old things, given as they are asked for."""

    given: dict[int, int] = field(default_factory=dict)

    def of(self, old: int) -> int:
        return self.given.setdefault(old, len(self.given))


class _Assembly:
    """Copies records of one tree into another."""

    def __init__(self, whole: Tree, model: Model, subgraphs: Mapping[int, int]) -> None:
        self._whole, self._model, self._subgraphs = whole, model, subgraphs
        self._codes, self.buffers, self._external = _Numbers(), _Numbers({0: 0}), set[int]()
        self._new_data: list[bytes | memoryview] = []

    def main(self, chosen: Selection, tensors: Mapping[int, int], changes: Mapping[int, Change]) -> Tree:
        """The main subgraph of the part."""
        old = self._whole["subgraphs"][0]
        return {
            **old,
            "tensors": [
                self._tensor(old["tensors"][index], tensors, changes.get(index)) for index in tensors
            ],
            "inputs": [tensors[index] for index in chosen.inputs],
            "outputs": [tensors[index] for index in chosen.outputs],
            "operators": [self._operator(old["operators"][index], index, tensors) for index in chosen.ops],
        }

    def whole_subgraph(self, index: int) -> Tree:
        """A subgraph as it is, with what it refers to renumbered."""
        old = self._whole["subgraphs"][index]
        return {
            **old,
            "tensors": [self._tensor(tensor, {}, None) for tensor in old["tensors"]],
            "operators": [self._operator(op, place, {}) for place, op in enumerate(old["operators"] or ())],
        }

    def _tensor(self, old: Tree, tensors: Mapping[int, int], change: Change | None) -> Tree:
        check_tensor(old)
        new = renumbered_tensor(old, self._buffer(old["buffer"]), tensors)
        if old["external_buffer"]:
            self._external.add(old["external_buffer"])
        return self._changed(new, change) if change is not None else new

    def _changed(self, new: Tree, change: Change) -> Tree:
        if change.shape is not None:
            signature = new["shape_signature"] if change.stays_open else None
            new |= {"shape": list(change.shape), "shape_signature": _still_open(signature, change.shape)}
        if change.data is not None or change.is_input:
            new |= {"buffer": 0, "is_variable": False, "external_buffer": 0, "sparsity": None}
        if change.data is not None:
            # Numbers below zero cannot be buffers of the file, so they are free for new ones.
            self._new_data.append(change.data)
            new["buffer"] = self.buffers.of(-len(self._new_data))
        return new

    def _buffer(self, old: int) -> int:
        # An empty buffer says what buffer 0 says.
        return self.buffers.of(old) if old and self._whole["buffers"][old]["data"] is not None else 0

    def _operator(self, old: Tree, index: int, tensors: Mapping[int, int]) -> Tree:
        check_options(old, index)
        return renumbered_operator(old, self._codes.of(old["opcode_index"]), tensors, self._subgraphs)

    def external(self) -> Tree:
        """The lists of constants that lie in other files: only those still used."""
        rows = [row for row in self._whole["external_buffers"] or () if row["id"] in self._external]
        groups = _Numbers()
        rows = [{**row, "group": groups.of(row["group"])} for row in rows]
        names = [self._whole["external_buffer_groups"][old] for old in groups.given]
        return {"external_buffers": rows or None, "external_buffer_groups": names or None}

    def codes(self) -> list[Tree]:
        """The kinds of operators still used."""
        return [self._whole["operator_codes"][old] for old in self._codes.given]

    def buffer_list(self) -> tuple[list[Tree], bool]:
        """The buffers in their new order, and whether any of them lay behind the FlatBuffer."""
        given = list(self.buffers.given)[1:]
        kept = [self._whole["buffers"][old]["data"] if old > 0 else self._new_data[-old - 1] for old in given]
        outside = any(old > 0 and self._model.buffers[old].outside for old in given)
        return [{}, *({"data": data} for data in kept)], outside


def renumbered(indices: Iterable[int] | None, numbers: Mapping[int, int]) -> list[int] | None:
    """The new numbers; what has none, such as the -1 of a tensor that is left out, stays as it is."""
    return None if indices is None else [numbers.get(index, index) for index in indices]


def renumbered_tensor(row: Tree, buffer: int, tensors: Mapping[int, int]) -> Tree:
    """The tensor with this buffer, and the new numbers of the tensors that hold its scales."""
    new, details = {**row, "buffer": buffer}, _details(row)
    moved = {name: tensors.get(details[name], details[name]) for name in _SCALES if name in details}
    if moved:
        new["quantization"] = {**row["quantization"], "details": {**details, **moved}}
    return new


def renumbered_operator(
    row: Tree, code: int, tensors: Mapping[int, int], subgraphs: Mapping[int, int]
) -> Tree:
    """The operator with this code, and the new numbers of its tensors and of the subgraphs that it calls."""
    new = {**row, "opcode_index": code, **{side: renumbered(row[side], tensors) for side in _SIDES}}
    for union in _UNIONS:
        if row[union]:
            new[union] = {name: _option(name, value, subgraphs) for name, value in row[union].items()}
    return new


def _option(name: str, value: Any, subgraphs: Mapping[int, int]) -> Any:
    """The value of an option; if it names subgraphs, by their new numbers."""
    if name not in _CALLING and not name.endswith("_subgraph_index"):
        return value
    if isinstance(value, tuple):
        return renumbered(value, subgraphs)
    return subgraphs.get(value, value)


def with_scales(used: Iterable[int], tensors: Sequence[Tree]) -> set[int]:
    """These tensors, and those that hold their scales and zero points; none of the numbers below zero."""
    found: set[int] = set()
    waiting = [index for index in used if index >= 0]
    while waiting:
        index = waiting.pop()
        if index not in found:
            found.add(index)
            details = _details(tensors[index])
            waiting += [details[name] for name in _SCALES if details.get(name, -1) >= 0]
    return found


def _details(row: Tree) -> Tree:
    return (row["quantization"] and row["quantization"]["details"]) or {}


def _still_open(signature: tuple[int, ...] | None, shape: tuple[int, ...]) -> list[int] | None:
    if signature is None or len(signature) != len(shape) or -1 not in signature:
        return None
    return [-1 if was == -1 else size for was, size in zip(signature, shape, strict=True)]


def assemble(
    model: Model, whole: Tree, chosen: Selection, changes: Mapping[int, Change], signed: tuple[int, ...] = ()
) -> AssembledPart:
    """The part's tree, without metadata and signatures; `signed` subgraphs are kept, called or not."""
    calls, operators = Calls(model), model.subgraphs[0].operators
    reached = calls.reached_from(signed).union(*(calls.reached_by(operators[index]) for index in chosen.ops))
    kept = sorted(reached)
    # A subgraph that calls the main one (few do) gets the whole of it, beside the part.
    numbers = {old: new for new, old in enumerate(kept, start=1)}
    tensors = {old: new for new, old in enumerate(_used_tensors(whole, chosen, changes))}
    assembly = _Assembly(whole, model, numbers)
    subgraphs = [assembly.main(chosen, tensors, changes), *map(assembly.whole_subgraph, kept)]
    buffers, outside = assembly.buffer_list()
    tree = {
        **whole,
        "subgraphs": subgraphs,
        "operator_codes": assembly.codes(),
        "buffers": buffers,
        "metadata_buffer": None,
        "metadata": None,
        "signature_defs": None,
        **assembly.external(),
    }
    return AssembledPart(tree=tree, tensors=tuple(tensors), subgraphs=(0, *kept), outside=outside)


def _used_tensors(whole: Tree, chosen: Selection, changes: Mapping[int, Change]) -> list[int]:
    """The tensors the part refers to, in the order of the whole."""
    old = whole["subgraphs"][0]
    used = {*chosen.inputs, *chosen.outputs, *changes}
    for index in chosen.ops:
        operator = old["operators"][index]
        for side in _SIDES:
            used.update(operator[side] or ())
    return sorted(with_scales(used, old["tensors"]))
