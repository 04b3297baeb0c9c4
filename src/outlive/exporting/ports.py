"""The inputs and outputs of a model as a program sees them: place, shape, type, quantization, a name."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from outlive.exporting.foreign import Foreign, identifier
from outlive.model import Model, Signature, Subgraph, Tensor
from outlive.records import NOT_WRITTEN, in_document, written
from outlive.units import count_elements

# One end of a subgraph: the tensor's index, and its name in a signature.
_End = tuple[int, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """An input or output. `open_shape` has -1 where the size is the caller's choice, or is known after a run.

    `label` is a name to show and to look up, unlike all others of the model; `variable` is that name in code,
    with a prefix that no other name there begins with: `in_` or `out_`. With a `scale` the integers stand for
    scale * (stored - zero_point).
    """

    position: int = field(metadata=NOT_WRITTEN)
    name: Foreign
    label: str = field(metadata=NOT_WRITTEN)
    variable: str
    index: int
    shape: tuple[int, ...] = field(metadata=NOT_WRITTEN)
    open_shape: tuple[int, ...] = field(metadata=written("shape"))
    dtype: str
    scale: float | None = None
    zero_point: int = 0
    per_channel: bool = field(default=False, metadata=NOT_WRITTEN)
    is_constant: bool = field(default=False, metadata=NOT_WRITTEN)

    @property
    @in_document("name")
    def name_text(self) -> str:
        """The name as the file has it."""
        return self.name.text

    @property
    @in_document("zero_point")
    def zero_point_of_scale(self) -> int | None:
        """The integer that stands for 0; None where integers are just numbers."""
        return None if self.scale is None else self.zero_point

    @property
    def is_open(self) -> bool:
        """True if a dimension is left open."""
        return -1 in self.open_shape

    @property
    def is_string(self) -> bool:
        """True if its elements are texts."""
        return self.dtype == "string"

    @property
    def count(self) -> int:
        """Elements at the file's own shape."""
        return count_elements(self.shape) or 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelInterface:
    """What a program has to know to call a model; `signature` is the one to call, None for the main graph.

    `inputs` are those to feed. A file may name a constant as an input: a program that writes to it
    writes into the mapped file, and dies; such ones are among `all_inputs` only.
    """

    file: Foreign
    path: Foreign
    inputs: tuple[Port, ...]
    all_inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    signature: Foreign | None
    signatures: tuple[Foreign, ...]


def layout_of(model: Model, signature: str | None = None) -> ModelInterface:
    """The layout of a model, or of one of its signatures; ValueError if it has no such signature.

    A model with several signatures, or one that is not the main graph's, is called by the first of them.
    """
    chosen = _choose(model, signature)
    graph = model.subgraphs[0 if chosen is None else chosen.subgraph_index]
    if chosen is None:
        # A single signature still has the better names.
        named = model.signatures[0] if len(model.signatures) == 1 else None
        inputs = _ends(graph.input_indices, named.inputs if named else ())
        outputs = _ends(graph.output_indices, named.outputs if named else ())
    else:
        inputs = [(index, name) for name, index in chosen.inputs]
        outputs = [(index, name) for name, index in chosen.outputs]
    path = model.path or "model.tflite"
    taken: set[str] = set()
    listed = tuple(_ports(graph, inputs, "input", taken))
    return ModelInterface(
        file=Foreign(os.path.basename(path)),
        path=Foreign(path),
        inputs=tuple(port for port in listed if not port.is_constant),
        all_inputs=listed,
        outputs=tuple(_ports(graph, outputs, "output", taken)),
        signature=None if chosen is None else Foreign(chosen.key),
        signatures=tuple(Foreign(item.key) for item in model.signatures),
    )


def _choose(model: Model, wanted: str | None) -> Signature | None:
    if wanted is not None:
        for item in model.signatures:
            if item.key == wanted:
                return item
        there = ", ".join(repr(item.key[:40]) for item in model.signatures[:8]) or "none"
        raise ValueError(f"there is no signature {wanted[:80]!r}; there is {there}")
    is_plain = len(model.signatures) == 1 and model.signatures[0].subgraph_index == 0
    return None if is_plain or not model.signatures else model.signatures[0]


def _ends(indices: Sequence[int], named: Sequence[tuple[str, int]]) -> list[_End]:
    names = {index: name for name, index in named}
    return [(index, names.get(index)) for index in indices]


def _ports(graph: Subgraph, ends: Iterable[_End], word: str, taken: set[str]) -> Iterable[Port]:
    for position, (index, name) in enumerate(ends):
        tensor = graph.tensors[index]
        called = tensor.name if name is None else name
        short = called.removeprefix("serving_default_").split(":")[0].rsplit("/", 1)[-1]
        label = identifier(short, f"{word}_{position}", taken)
        taken.add(label)
        yield _port(tensor, position, called, label, word)


def _port(tensor: Tensor, position: int, name: str, label: str, word: str) -> Port:
    found = tensor.quantization
    scales = found.scales if found is not None else ()
    zeros = found.zero_points if found is not None else ()
    # A scale that is no number, or on floats, is no scale to compute with.
    is_usable = len(scales) == 1 and math.isfinite(scales[0]) and scales[0] > 0
    is_integer = tensor.dtype.startswith(("int", "uint"))
    return Port(
        position=position,
        index=tensor.index,
        name=Foreign(name),
        label=label,
        variable=f"{word.removesuffix('put')}_{label}",
        shape=tensor.shape,
        open_shape=_open_shape(tensor),
        dtype=tensor.dtype,
        scale=scales[0] if is_usable and is_integer else None,
        zero_point=zeros[0] if is_usable and is_integer and zeros else 0,
        per_channel=len(scales) > 1,
        is_constant=tensor.is_constant,
    )


def _open_shape(tensor: Tensor) -> tuple[int, ...]:
    signature = tensor.shape_signature
    return signature if signature is not None and len(signature) == len(tensor.shape) else tensor.shape
