"""What a model could do without: operators that only copy, operators that nothing uses, repeated constants.

    copies_of        result -> source     readers of the result may read the source
    dead_in          operators            nothing they compute reaches an output
    shared_buffers   repeat -> first      the same bytes, which may safely be stored once

The first two hold for the shapes that the file declares. What may act beyond its outputs is not called dead.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from outlive.model import Buffer, Model, Operator, Subgraph, Tensor
from outlive.surgery.tree import Tree

# Operators that do something even if nothing reads their outputs.
_ACTING = frozenset(
    {
        "ASSIGN_VARIABLE", "CALL", "CALL_ONCE", "CUSTOM", "DELEGATE", "HASHTABLE", "HASHTABLE_IMPORT", "IF",
        "MULTINOMIAL", "RANDOM_STANDARD_NORMAL", "RANDOM_UNIFORM", "STABLEHLO_CASE", "STABLEHLO_COMPOSITE",
        "STABLEHLO_CUSTOM_CALL", "STABLEHLO_RNG_BIT_GENERATOR", "STABLEHLO_WHILE", "VAR_HANDLE", "WHILE",
    }
)  # fmt: skip
_WIDTHS = {"int32": 4, "int64": 8}
_MOST_BYTES = 256
# Floats hold these exactly enough for a value to come back from them as it was.
_COMES_BACK = frozenset({"int8", "uint8", "int16"})
# Scales from here to there leave room for every product of a 16-bit number.
_LEAST_SCALE, _MOST_SCALE = 1e-30, 1e30


def copies_of(subgraph: Subgraph, rows: list[Tree], named: frozenset[int]) -> dict[int, int]:
    """Tensors that are the same as another one, which can be read in their place; `named` ones must stay."""
    must_stay = {*subgraph.input_indices, *subgraph.output_indices, *named}
    writes = Counter(tensor for operator in subgraph.operators for tensor in operator.outputs)
    producers = {op.outputs[0]: op for op in subgraph.operators if len(op.outputs) == 1}
    found: dict[int, int] = {}
    for operator in subgraph.operators:
        source = _source(operator, subgraph, producers)
        if source is None or operator.outputs[0] in must_stay:
            continue
        result = operator.outputs[0]
        if any(_is_odd(subgraph.tensors[index], writes[index]) for index in (source, result)):
            continue
        if rows[source]["quantization"] == rows[result]["quantization"]:
            found[result] = found.get(source, source)
    return found


def _is_odd(tensor: Tensor, writes: int) -> bool:
    """True if its value may change under its readers, or is no plain value."""
    return tensor.is_variable or tensor.is_constant or tensor.is_dynamic or not tensor.shape or writes > 1


def _source(operator: Operator, subgraph: Subgraph, producers: Mapping[int, Operator]) -> int | None:
    """The tensor that an operator's only output is a copy of; None if it is none."""
    if not operator.inputs or len(operator.outputs) != 1:
        return None
    first, result = operator.inputs[0], operator.outputs[0]
    if min(first, result) < 0:
        return None
    if operator.type == "QUANTIZE":
        return _before_floats(producers.get(first), subgraph.tensors[result], subgraph)
    source, copy = subgraph.tensors[first], subgraph.tensors[result]
    if source.shape != copy.shape or source.dtype != copy.dtype:
        return None
    return first if _changes_nothing(operator, subgraph, source.shape) else None


def _before_floats(maker: Operator | None, result: Tensor, subgraph: Subgraph) -> int | None:
    """The integers that were turned into floats and are quantized again with the same parameters."""
    if maker is None or maker.type != "DEQUANTIZE" or len(maker.inputs) != 1 or maker.inputs[0] < 0:
        return None
    source = subgraph.tensors[maker.inputs[0]]
    scales = source.quantization.scales if source.quantization is not None else ()
    if len(scales) != 1 or not _LEAST_SCALE < scales[0] < _MOST_SCALE or source.dtype not in _COMES_BACK:
        return None
    return source.index if (source.dtype, source.shape) == (result.dtype, result.shape) else None


def _changes_nothing(operator: Operator, subgraph: Subgraph, shape: tuple[int, ...]) -> bool:
    rank = len(shape)
    match operator.type:
        case "CAST":
            return True
        case "RESHAPE":
            return _wanted_shape(operator, subgraph) == list(shape)
        case "SQUEEZE":
            return not _option(operator, "squeeze_dims") and 1 not in shape
        case "CONCATENATION":
            return len(operator.inputs) == 1 and _option(operator, "fused_activation_function") == "NONE"
        case "TRANSPOSE":
            return constant_integers(operator, subgraph) == list(range(rank))
        case "PAD":
            return constant_integers(operator, subgraph) == [0] * (2 * rank)
    return False


def _option(operator: Operator, name: str) -> object:
    return None if operator.options is None else operator.options.get(name)


def _wanted_shape(operator: Operator, subgraph: Subgraph) -> list[int] | None:
    if len(operator.inputs) > 1:
        return constant_integers(operator, subgraph)
    wanted = _option(operator, "new_shape")
    return list(wanted) if isinstance(wanted, tuple) else None


def constant_integers(operator: Operator, subgraph: Subgraph) -> list[int] | None:
    """The values of the operator's second input, if they are constant integers."""
    if len(operator.inputs) < 2 or operator.inputs[1] < 0:
        return None
    tensor = subgraph.tensors[operator.inputs[1]]
    width = _WIDTHS.get(tensor.dtype)
    if width is None or tensor.buffer is None or not tensor.has_data or tensor.sparsity is not None:
        return None
    if tensor.stored_bytes != tensor.size_bytes or tensor.stored_bytes > _MOST_BYTES:
        return None
    raw = bytes(tensor.buffer.part(0, tensor.stored_bytes))
    return [int.from_bytes(raw[at : at + width], "little", signed=True) for at in range(0, len(raw), width)]


def dead_in(subgraph: Subgraph, named: frozenset[int], copies: Mapping[int, int]) -> frozenset[int]:
    """Operators that nothing needs once `copies` are read at their sources."""
    needed = {*subgraph.output_indices, *named}
    dead = set()
    for operator in reversed(subgraph.operators):
        if _acts(operator, subgraph) or needed.intersection(operator.outputs):
            needed.update(through(copies, operator.inputs))
        else:
            dead.add(operator.index)
    return frozenset(dead)


def through(copies: Mapping[int, int], tensors: Iterable[int]) -> list[int]:
    """The tensors, copies replaced by what they are copies of."""
    return [copies.get(tensor, tensor) for tensor in tensors]


def _acts(operator: Operator, subgraph: Subgraph) -> bool:
    if operator.type in _ACTING or operator.type.startswith("unknown") or not operator.outputs:
        return True
    if any(operator.mutating_inputs) or not operator.inputs:
        return True
    ends = [subgraph.tensors[index] for index in (*operator.inputs, *operator.outputs) if index >= 0]
    if any(tensor.is_variable or tensor.dtype in ("resource", "variant") for tensor in ends):
        return True
    # Who writes into an input or a constant changes what others read.
    written = [subgraph.tensors[index] for index in operator.outputs if index >= 0]
    inputs = frozenset(subgraph.input_indices)
    return any(tensor.is_constant or tensor.index in inputs for tensor in written)


_BIAS_TYPES = frozenset({"int32", "int64"})


def shared_buffers(model: Model, used: Iterable[int]) -> dict[int, int]:
    """For each buffer of `used` that repeats an earlier one, that one; only where that changes nothing."""
    alone = _alone(model)
    alike: dict[int, list[Buffer]] = defaultdict(list)
    for index in sorted(used):
        buffer = model.buffers[index]
        if buffer.size_bytes and index not in alone:
            alike[buffer.size_bytes].append(buffer)
    found: dict[int, int] = {}
    for candidates in alike.values():
        if len(candidates) > 1:
            found |= _repeats(candidates)
    return found


def _repeats(candidates: list[Buffer]) -> dict[int, int]:
    first: dict[bytes, int] = {}
    found = {}
    for buffer in candidates:
        earlier = first.setdefault(buffer.digest(), buffer.index)
        if earlier != buffer.index:
            found[buffer.index] = earlier
    return found


def _alone(model: Model) -> frozenset[int]:
    """Buffers that must stay what they are: metadata, and constants that are written or looked up by."""
    found = {entry.buffer_index for entry in model.metadata}
    for subgraph in model.subgraphs:
        written = {*subgraph.input_indices}
        written.update(index for operator in subgraph.operators for index in operator.outputs)
        found.update(
            tensor.buffer_index for tensor in subgraph.tensors if tensor.index in written or _is_own(tensor)
        )
    return frozenset(found)


def _is_own(tensor: Tensor) -> bool:
    """True if what the runtime makes of its bytes depends on more than the bytes.

    XNNPACK's weight cache finds packed weights by the buffers of weights and bias (LiteRT,
    tflite/delegates/xnnpack/weight_cache.cc: PackIdentifier); what is packed for quantized weights holds the
    scales of the operator as well, so two operators must not meet there.
    """
    if tensor.is_variable or tensor.sparsity is not None:
        return True
    return tensor.quantization is not None and tensor.dtype not in _BIAS_TYPES
