"""Cuts a part out of a model: some of its operators, as a model of their own.

Model + CutRequest ──> selection ──> assembly ──> kept_metadata ──> write ──> Cut

The words of a request are looked up here; a part never shares memory with the file it was cut from.

What a model says about itself, as far as it is still true of a part: metadata and signatures.
"""

import hashlib
import math
import operator
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from outlive.atomic_files import write_whole
from outlive.model import NOT_IN_NUMPY, Model, Signature, Tensor
from outlive.records import NOT_WRITTEN, ModelFile, in_document
from outlive.results import Result, file_name
from outlive.surgery.archive import moved_archive
from outlive.surgery.assembly import AssembledPart, Change, assemble
from outlive.surgery.lookup import Ops, TensorName, find_ops, find_tensor
from outlive.surgery.selection import CutTarget, Selection, select_operators
from outlive.surgery.tree import Tree, tree_of
from outlive.surgery.writer import is_large, write
from outlive.units import DTYPE_BITS, format_bytes, format_shape, plural

# True of every part: the least runtime is at most this one, the origin is the same, and so are the places in
# the source that operators refer to by debug_metadata_index.
_ALWAYS_TRUE = frozenset(
    {"min_runtime_version", "CONVERSION_METADATA", "reduced_precision_support", "debug_metadata"}
)
_CARD = "TFLITE_METADATA"
_OUTSIDE = "buffer_location"
_ORDER = "model_control_dependencies"
# kModelControlDependenciesMetadataVersion: LiteRT, tflite/converter/experimental/remat/metadata_util.h
_ORDER_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptMetadata:
    """Metadata entries with their bytes, signatures, and the names of what is no longer true."""

    metadata: tuple[tuple[str, bytes | memoryview | None], ...]
    signatures: tuple[Tree, ...]
    dropped: tuple[str, ...]
    keeps_card: bool

    def into(self, tree: Tree) -> Tree:
        """The tree with them; their bytes become its last buffers."""
        first = len(tree["buffers"])
        entries = [{"name": name, "buffer": first + place} for place, (name, _) in enumerate(self.metadata)]
        return {
            **tree,
            "buffers": [*tree["buffers"], *({"data": data} for _, data in self.metadata)],
            "metadata": entries or None,
            "signature_defs": list(self.signatures) or None,
        }


def keep(model: Model, whole: Tree, part: AssembledPart, chosen: Selection, is_changed: bool) -> KeptMetadata:
    """What is still true; `is_changed` if any tensor of the part has another shape or value than it had."""
    main = model.subgraphs[0]
    is_whole = (
        not is_changed
        and len(part.tensors) == len(main.tensors)
        and len(chosen.ops) == len(main.operators)
        and len(part.subgraphs) == len(model.subgraphs)
    )
    # The card speaks of inputs and outputs in their order, and not of shapes.
    ends = tuple(main.input_indices), tuple(main.output_indices)
    keeps_card = ends == (chosen.inputs, chosen.outputs)
    entries, dropped = [], []
    for entry in model.metadata:
        data: bytes | memoryview | None = entry.data
        if entry.name == _ORDER and not is_whole:
            data = _order(model, part, chosen)
        if is_whole or _is_true(entry.name, part, keeps_card, data):
            entries.append((entry.name, data))
        else:
            dropped.append(f"metadata {entry.name[:80]!r}")
    signatures = tuple(_signatures(model, whole, part, chosen))
    still = {signature["signature_key"] for signature in signatures}
    dropped += [f"signature {item.key[:80]!r}" for item in model.signatures if item.key not in still]
    return KeptMetadata(
        metadata=tuple(entries), signatures=signatures, dropped=tuple(dropped), keeps_card=keeps_card
    )


def signed_subgraphs(model: Model) -> tuple[int, ...]:
    """Other subgraphs than the main one that can be called by a signature."""
    found = {signature.subgraph_index for signature in model.signatures} - {0}
    return tuple(sorted(index for index in found if index < len(model.subgraphs)))


def _is_true(name: str, part: AssembledPart, keeps_card: bool, data: bytes | memoryview | None) -> bool:
    if name == _CARD:
        return keeps_card
    if name == _OUTSIDE:
        return part.outside
    if name == _ORDER:
        return data is not None
    return name in _ALWAYS_TRUE


def _signatures(model: Model, whole: Tree, part: AssembledPart, chosen: Selection) -> Iterator[Tree]:
    numbers = {old: new for new, old in enumerate(part.tensors)}
    subgraphs = {old: new for new, old in enumerate(part.subgraphs)}
    for signature, old in zip(model.signatures, whole["signature_defs"] or (), strict=True):
        if signature.subgraph_index != 0:
            if signature.subgraph_index in subgraphs:
                yield {**old, "subgraph_index": subgraphs[signature.subgraph_index]}
        elif _is_fulfilled(signature, model, chosen):
            inputs = [(name, index) for name, index in signature.inputs if index in chosen.inputs]
            inputs += _unnamed(model, chosen, inputs)
            yield {
                **old,
                "inputs": _maps(inputs, numbers),
                "outputs": _maps(signature.outputs, numbers),
            }


def _is_fulfilled(signature: Signature, model: Model, chosen: Selection) -> bool:
    outputs = {index for _, index in signature.outputs}
    same = chosen.outputs == tuple(model.subgraphs[0].output_indices)
    return outputs <= {*chosen.outputs} if outputs else same


def _unnamed(model: Model, chosen: Selection, named: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """Inputs that the signature does not know yet, by the names of their tensors."""
    names, known = {name for name, _ in named}, {index for _, index in named}
    found = []
    for index in chosen.inputs:
        if index not in known:
            name = model.subgraphs[0].tensors[index].name or "input"
            name = name if name not in names else f"{name}#{index}"
            names.add(name)
            found.append((name, index))
    return found


def _maps(pairs: Sequence[tuple[str, int]], numbers: Mapping[int, int]) -> list[Tree]:
    return [{"name": name, "tensor_index": numbers[index]} for name, index in pairs]


def _order(model: Model, part: AssembledPart, chosen: Selection) -> bytes | None:
    """The order of operators that data does not show, for those that are left; None if there is none."""
    # -1 and -2 stand for the ends of the subgraph.
    kept = {-1: -1, -2: -2, **{old: new for new, old in enumerate(chosen.ops)}}
    edges = model.subgraphs[0].control_dependencies
    main = [(kept[a], kept[b]) for a, b in edges if a in kept and b in kept]
    others = [model.subgraphs[index].control_dependencies for index in part.subgraphs[1:]]
    graphs = [tuple(main), *others]
    return _encode(graphs) if any(graphs) else None


def _encode(graphs: Sequence[Sequence[tuple[int, int]]]) -> bytes:
    # Numbers of seven bits to a byte, signed ones in zigzag: LiteRT, tflite/converter/experimental/remat/
    # metadata_util.cc
    written = bytearray()

    def unsigned(value: int) -> None:
        while value > 127:
            written.append(value & 127 | 128)
            value >>= 7
        written.append(value)

    unsigned(_ORDER_VERSION)
    unsigned(len(graphs))
    for edges in graphs:
        unsigned(len(edges))
        for pair in edges:
            for value in pair:
                unsigned(2 * value if value >= 0 else -2 * value - 1)
    return bytes(written)


Shape = tuple[int, ...]
ShapesFrom = Literal["file", "runtime"]

_MOST_SIZE = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class CutTensor:
    """An input or output of a part: where it is in it, and which tensor of the whole it was."""

    index: int
    original: int
    name: str
    shape: Shape
    dtype: str


class CutOperator(NamedTuple):
    """An operator of a part, and which it was in the whole."""

    index: int  # type: ignore[assignment]
    original: int
    type: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Cut(Result):
    """A part of a model as a separate model.

    `model` is the file's bytes, accepted wherever a source is. `ops[i]` and `tensors[i]` say which operator
    and tensor of the whole number i of the part was; `came_along` are the operators that were not asked for
    but make what cannot be fed from outside. `state` says what the part remembers between runs, `dropped`
    what the whole says about itself that is not true of the part. `shapes_from` is "runtime" where LiteRT
    carried new input shapes through the graph, and "file" where the shapes are those of the whole.
    """

    kind: ClassVar[str] = "cut"

    model: bytes = field(repr=False, metadata=NOT_WRITTEN)
    inputs: tuple[CutTensor, ...]
    outputs: tuple[CutTensor, ...]
    ops: tuple[int, ...] = field(metadata=NOT_WRITTEN)
    tensors: tuple[int, ...] = field(repr=False)
    subgraphs: tuple[int, ...]
    came_along: tuple[int, ...] = ()
    state: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    shapes_from: ShapesFrom = "file"
    path: str | None = field(default=None, metadata=NOT_WRITTEN)  # where the part was written
    whole: Model | None = field(default=None, repr=False, metadata=NOT_WRITTEN)  # what it was cut from

    def _summary(self) -> tuple[str, str]:
        """What it was cut from, how many operators it has, and its size."""
        name = "" if self.whole is None else file_name(self.whole.path)
        return name, f"{plural(len(self.ops), 'operator')}, {format_bytes(self.file_bytes)}"

    @property
    @in_document("model")
    def whole_file(self) -> ModelFile | None:
        """The file that it was cut from."""
        return None if self.whole is None else self.whole.model

    @property
    @in_document()
    def part(self) -> ModelFile:
        """The file of the part."""
        digest = hashlib.sha256(self.model).hexdigest()
        return ModelFile(path=self.path, sha256=digest, file_bytes=self.file_bytes)

    @property
    @in_document("ops")
    def cut_ops(self) -> tuple[CutOperator, ...]:
        """Its operators, and which they were in the whole."""
        types = () if self.whole is None else self.whole.subgraphs[0].operators
        return tuple(CutOperator(index, old, types[old].name) for index, old in enumerate(self.ops) if types)

    @property
    def file_bytes(self) -> int:
        """The size of the part's file."""
        return len(self.model)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the part to a file, whole or not at all."""
        write_whole(path, self.model)


@dataclass(frozen=True, slots=True, kw_only=True)
class CutRequest:
    """What to cut, in the user's words; see `outlive.cut`."""

    ops: Ops | None = None
    until: int | None = None
    outputs: Sequence[TensorName] | TensorName | None = None
    input_shapes: Mapping[TensorName, Sequence[int]] = field(default_factory=dict)
    make_input: Sequence[TensorName] | TensorName = ()
    make_constant: Mapping[TensorName, object] = field(default_factory=dict)


# Cutting again and again, as bisection does, reads the tables once.
_trees: WeakKeyDictionary[Model, Tree] = WeakKeyDictionary()


def cut_model(model: Model, request: CutRequest, shapes: Mapping[int, Shape] | None = None) -> Cut:
    """The part asked for; `shapes` of its tensors, by their indices in the whole, take the file's place.

    For a sound model only. ValueError for what is not there, and for a part that would be empty.
    """
    changes = _changes(model, request)
    wanted = CutTarget(
        ops=_ops(model, request),
        outputs=None if request.outputs is None else _outputs(model, request.outputs),
        new_inputs=frozenset(index for index, change in changes.items() if change.is_input),
        new_constants=frozenset(index for index, change in changes.items() if change.data is not None),
    )
    chosen = select_operators(model, wanted)
    changes |= _fixed_shapes(model, request, chosen, changes)
    known = {
        index: Change(shape=shape, stays_open=True)
        for index, shape in (shapes or {}).items()
        if index not in changes
    }
    if model not in _trees:
        _trees[model] = tree_of(model.content)
    whole = _trees[model]
    signed = signed_subgraphs(model) if wanted.keeps_interface else ()
    part = assemble(model, whole, chosen, {**changes, **known}, signed)
    kept = keep(model, whole, part, chosen, bool(changes))
    return _made(model, chosen, part, kept, "file" if shapes is None else "runtime")


def _made(
    model: Model, chosen: Selection, part: AssembledPart, kept: KeptMetadata, shapes_from: ShapesFrom
) -> Cut:
    numbers = {old: new for new, old in enumerate(part.tensors)}
    tree = kept.into(part.tree)
    rows = tree["subgraphs"][0]["tensors"]

    def described(index: int) -> CutTensor:
        tensor, row = model.subgraphs[0].tensors[index], rows[numbers[index]]
        return CutTensor(
            index=numbers[index],
            original=index,
            name=tensor.name,
            shape=tuple(row["shape"] or ()),
            dtype=tensor.dtype,
        )

    data = write(tree, outside=part.outside or is_large(tree))
    archive = moved_archive(model, len(data)) if kept.keeps_card else None
    left = ("attached files",) if model.attached_files and archive is None else ()
    return Cut(
        model=data + archive if archive else data,
        inputs=tuple(map(described, chosen.inputs)),
        outputs=tuple(map(described, chosen.outputs)),
        ops=chosen.ops,
        tensors=part.tensors,
        subgraphs=part.subgraphs,
        came_along=chosen.came_along,
        state=chosen.state,
        dropped=(*kept.dropped, *left),
        shapes_from=shapes_from,
    )


def _ops(model: Model, request: CutRequest) -> tuple[int, ...] | None:
    count = len(model.subgraphs[0].operators)
    if request.until is None:
        return None if request.ops is None else find_ops(request.ops, count)
    if request.ops is not None:
        raise ValueError("`ops` and `until` cannot be given together")
    [last] = find_ops(request.until, count)
    return tuple(range(last + 1))


def _outputs(model: Model, words: Sequence[TensorName] | TensorName) -> tuple[int, ...]:
    found = _indices(model, words)
    if not found:
        raise ValueError("no output was chosen: name at least one tensor")
    return found


def _indices(model: Model, words: Sequence[TensorName] | TensorName) -> tuple[int, ...]:
    listed = [words] if isinstance(words, str) or not isinstance(words, Iterable) else words
    return tuple(dict.fromkeys(find_tensor(model, word).index for word in listed))


def _changes(model: Model, request: CutRequest) -> dict[int, Change]:
    changes: dict[int, Change] = {}
    for index in _indices(model, request.make_input):
        changes[index] = Change(is_input=True)
    for word, value in request.make_constant.items():
        tensor = find_tensor(model, word)
        if tensor.index in changes:
            raise ValueError(f"tensor #{tensor.index} cannot be an input and a constant at once")
        changes[tensor.index] = constant(tensor, value)
    return changes


def _fixed_shapes(
    model: Model, request: CutRequest, chosen: Selection, changes: Mapping[int, Change]
) -> dict[int, Change]:
    found = {}
    for word, given in request.input_shapes.items():
        tensor = find_tensor(model, word)
        if tensor.index not in chosen.inputs:
            known = [model.subgraphs[0].tensors[index].name[:40] for index in chosen.inputs[:8]]
            there = f"inputs are {', '.join(map(repr, known))}" if known else "it has none"
            raise ValueError(f"tensor {str(word)[:80]!r} is not an input of this part; {there}")
        shape = _possible(tensor, given)
        found[tensor.index] = Change(shape=shape, is_input=tensor.index in changes)
    return found


def _possible(tensor: Tensor, given: Sequence[int]) -> Shape:
    try:
        shape = tuple(operator.index(size) for size in given)
    except TypeError:
        raise ValueError(
            f"a shape is a sequence of sizes such as (1, 96, 96, 3), not {given!r:.80}"
        ) from None
    what = f"tensor #{tensor.index} {tensor.name[:80]!r}"
    if any(not 0 < size <= _MOST_SIZE for size in shape):
        raise ValueError(f"{what} cannot be {format_shape(shape)}: sizes are from 1 to {_MOST_SIZE}")
    if tensor.shape and len(shape) != len(tensor.shape):
        wanted = format_shape(tensor.shape_signature or tensor.shape)
        raise ValueError(f"{what} is {wanted}: {format_shape(shape)} has another number of dimensions")
    if math.prod(shape) * DTYPE_BITS.get(tensor.dtype, 8) >= 2**63:
        raise ValueError(f"{what} cannot be {format_shape(shape)}: no machine can hold it")
    return shape


_NOT_FROM_ARRAYS = NOT_IN_NUMPY - {"string"}


def constant(tensor: Tensor, value: object) -> Change:
    """A tensor that has this value from now on. ValueError for an array of another type or shape."""
    name = f"tensor #{tensor.index} {tensor.name[:80]!r}"
    if tensor.dtype in _NOT_FROM_ARRAYS or tensor.dtype.startswith("unknown"):
        raise ValueError(f"{name} is {tensor.dtype}, which no array can hold: it cannot be made a constant")
    given = np.asarray(value)
    if not isinstance(value, (np.ndarray, np.generic)) and tensor.dtype != "string":
        given = _like(given, tensor.dtype)
    if given.shape != tensor.shape and not tensor.says_open(given.shape):
        wanted = format_shape(tensor.shape_signature or tensor.shape)
        raise ValueError(f"{name} is {wanted}, and the array is {format_shape(given.shape)}")
    if tensor.dtype == "string":
        return Change(shape=given.shape, data=_strings(given, name))
    if given.dtype != tensor.dtype:
        raise ValueError(f"{name} is {tensor.dtype}, and the array is {given.dtype}")
    little = np.ascontiguousarray(given, given.dtype.newbyteorder("<"))
    return Change(shape=given.shape, data=little.tobytes())


def _like(given: NDArray[Any], dtype: str) -> NDArray[Any]:
    """Plain numbers in the tensor's own type, if that changes none of them."""
    if given.dtype.kind not in "biuf":
        return given
    with np.errstate(all="ignore"):
        converted = given.astype(dtype)
    is_float = converted.dtype.kind in "fc"
    return converted if is_float or np.array_equal(converted, given) else given


def _strings(given: NDArray[Any], name: str) -> bytes:
    """Strings as the runtime packs them: count, offsets, bytes (LiteRT, tflite/string_util.h)."""
    words = [_encoded(item, name) for item in given.reshape(-1).tolist()]
    start = 4 * (len(words) + 2)
    ends = np.cumsum([start, *map(len, words)], dtype=np.int64)
    if ends[-1] > np.iinfo(np.int32).max:
        raise ValueError(f"{name}: the strings do not fit a tensor, which ends at 2 GiB")
    return np.array([len(words), *ends], "<i4").tobytes() + b"".join(words)


def _encoded(item: object, name: str) -> bytes:
    if isinstance(item, bytes):
        return item
    if isinstance(item, str):
        return item.encode()
    raise ValueError(f"{name} holds strings, and the array holds {type(item).__name__}")
