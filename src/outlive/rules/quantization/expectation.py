"""What a quantization was to make of a model, and which of its parts did not become that.

A word such as "int8" gives an `Expectation`, and that with a model what is something else: operators,
weights, inputs and outputs.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod

from outlive.model import Model, Operator, Subgraph, Tensor

_FLOATS = frozenset({"float16", "float32", "float64", "bfloat16"})
_BYTES = frozenset({"int2", "int4", "int8", "uint4", "uint8"})
# Operators that stand at the border between floats and integers, pass on what subgraphs do, or look at the
# shape only. No quantizer takes custom ones.
_LEFT_ALONE = frozenset(
    {"CALL", "CALL_ONCE", "CAST", "DEQUANTIZE", "FAKE_QUANT", "IF", "QUANTIZE", "RANK", "SHAPE", "WHILE"}
)
# Operators whose weights are stored as integers by quantizers that leave the rest in floats.
_WEIGHING = frozenset(
    {"BATCH_MATMUL", "BIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_RNN", "CONV_2D",
     "DEPTHWISE_CONV_2D", "EMBEDDING_LOOKUP", "FULLY_CONNECTED", "LSTM", "RNN", "SVDF", "TRANSPOSE_CONV",
     "UNIDIRECTIONAL_SEQUENCE_LSTM", "UNIDIRECTIONAL_SEQUENCE_RNN"}
)  # fmt: skip
# Smaller weights are left as they are: TensorFlow, compiler/mlir/lite/quantization/lite/quantize_weights.cc.
_LEAST_WEIGHTS = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What was asked for: types of values that operators compute with, of weights, of inputs and outputs.

    An empty set asks for nothing.
    """

    word: str
    values: frozenset[str] = frozenset()
    weights: frozenset[str] = frozenset()
    ends: frozenset[str] = frozenset()


EXPECTATIONS: Mapping[str, Expectation] = {
    item.word: item
    for item in (
        Expectation(word="float16", weights=_BYTES | {"float16", "bfloat16"}),
        Expectation(word="dynamic", weights=_BYTES),
        Expectation(word="int8", values=_BYTES),
        Expectation(word="int8-io", values=_BYTES, ends=frozenset({"int8"})),
        Expectation(word="uint8-io", values=_BYTES, ends=frozenset({"uint8"})),
        Expectation(word="int16", values=frozenset({"int16"})),
        Expectation(word="int16-io", values=frozenset({"int16"}), ends=frozenset({"int16"})),
    )
}


def find_expectation(word: str) -> Expectation:
    """The expectation of that name; ValueError if there is none."""
    wanted = str(word).strip().lower()
    if wanted not in EXPECTATIONS:
        near = difflib.get_close_matches(wanted, EXPECTATIONS, 1)
        hint = f"did you mean {near[0]}?" if near else f"choose from {', '.join(EXPECTATIONS)}"
        raise ValueError(f"unknown expectation {str(word)[:40]!r}; {hint}")
    return EXPECTATIONS[wanted]


def strange_operators(model: Model, wanted: Expectation) -> Iterator[tuple[Subgraph, Operator, str]]:
    """Operators that compute with values of another type, and that type."""
    if not wanted.values:
        return
    for subgraph, operator in judged_operators(model):
        kinds = {tensor.dtype for tensor in _values(subgraph, operator) if _is_strange(tensor, wanted)}
        if kinds:
            yield subgraph, operator, min(kinds)


def judged_operators(model: Model) -> Iterator[tuple[Subgraph, Operator]]:
    """The operators that a quantizer could have changed."""
    for subgraph in model.subgraphs:
        for operator in subgraph.operators:
            if operator.type not in _LEFT_ALONE and not operator.is_custom:
                yield subgraph, operator


def has_expected(model: Model, wanted: Expectation) -> bool:
    """True if any value in a run is of a type that was asked for."""
    return any(
        tensor.dtype in wanted.values and not tensor.is_constant
        for subgraph in model.subgraphs
        for tensor in subgraph.tensors
    )


def strange_weights(model: Model, wanted: Expectation) -> Iterator[tuple[Subgraph, Operator, Tensor]]:
    """Weights of another type, with an operator that uses them; each buffer once."""
    seen: set[int] = set()
    for subgraph, operator in judged_operators(model) if wanted.weights else ():
        if operator.type not in _WEIGHING:
            continue
        for tensor in _tensors(subgraph, operator.inputs):
            is_float = tensor.is_constant and tensor.dtype in _FLOATS and tensor.dtype not in wanted.weights
            if is_float and _is_large(tensor) and tensor.buffer_index not in seen:
                seen.add(tensor.buffer_index)
                yield subgraph, operator, tensor


def strange_ends(model: Model, wanted: Expectation) -> Iterator[tuple[str, Tensor]]:
    """Inputs and outputs of the model that are of another type."""
    if not wanted.ends:
        return
    rows = [("input", tensor) for tensor in model.inputs] + [("output", tensor) for tensor in model.outputs]
    yield from ((word, tensor) for word, tensor in rows if _is_number(tensor, wanted.ends))


def _is_number(tensor: Tensor, wanted: frozenset[str]) -> bool:
    """True for a float or a quantized integer of another type; plain integers (tokens, counts) stay so."""
    small = tensor.dtype in _BYTES or (tensor.dtype == "int16" and tensor.quantization is not None)
    return tensor.dtype not in wanted and (tensor.dtype in _FLOATS or small)


def _is_strange(tensor: Tensor, wanted: Expectation) -> bool:
    if tensor.dtype in wanted.values:
        return False
    return tensor.dtype in _FLOATS or (tensor.quantization is not None and _is_number(tensor, wanted.values))


def _values(subgraph: Subgraph, operator: Operator) -> Iterator[Tensor]:
    """What an operator reads and writes in a run: no constants, no state."""
    for tensor in _tensors(subgraph, (*operator.inputs, *operator.outputs)):
        if not tensor.is_constant and not tensor.is_variable:
            yield tensor


def _tensors(subgraph: Subgraph, indices: tuple[int, ...]) -> Iterator[Tensor]:
    yield from (subgraph.tensors[index] for index in indices if 0 <= index < len(subgraph.tensors))


def _is_large(tensor: Tensor) -> bool:
    # A bias has one dimension, and stays as it is.
    return len(tensor.shape) > 1 and prod(tensor.shape) >= _LEAST_WEIGHTS
