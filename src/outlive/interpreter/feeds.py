"""Inputs for a run: given arrays, zeros, or seeded random numbers in the model's own range.

Does a value fit an input? Checked before any memory is touched, refused in LiteRT's words.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlive.errors import InputError
from outlive.interpreter.affine import affine_of, quantize
from outlive.interpreter.judge import Call, Judge
from outlive.units import may_become


@dataclass(frozen=True, slots=True, kw_only=True)
class IoTensor:
    """An input or output; `offset` is its place in the shared block, None if it has none."""

    index: int
    dtype: str
    shape: tuple[int, ...]
    size: int = 0
    offset: int | None = None
    constant: bool = False


def problem_with(array: NDArray[Any], tensor: IoTensor) -> str:
    """What is wrong with a value for this tensor; empty if it fits."""
    wanted = np.dtype(tensor.dtype) if tensor.dtype else None
    if wanted is None:
        return ""
    if array.dtype != wanted:
        if array.dtype.newbyteorder("=") == wanted:
            return "byte-order"
        return "wrong-dtype"
    if array.shape != tensor.shape:
        return _shape_problem(array.shape, tensor.shape)
    return ""


def _shape_problem(given: tuple[int, ...], wanted: tuple[int, ...]) -> str:
    if (1, *given) == wanted:
        return "missing-batch"
    moved = ((given[0], *given[2:], given[1]), (given[0], given[-1], *given[1:-1])) if len(given) >= 3 else ()
    if wanted in moved:
        return "wrong-layout"
    return "wrong-shape"


def wrong_shape(judge: Judge, row: dict[str, Any], given: tuple[int, ...]) -> InputError:
    """The error for a shape that the model was resized to, and that the runtime then refused."""
    shape = tuple(map(int, row["shape"]))
    tensor = IoTensor(index=row["index"], dtype=np.dtype(row["dtype"]).name, shape=shape)
    array = np.broadcast_to(np.zeros((), row["dtype"]), given)
    text = mismatch_text("wrong-shape", array, tensor, row["name"])
    return judge.refused(describe_call("wrong-shape", array, tensor, row["name"], text, resizable=False))


def describe_call(
    problem: str, array: NDArray[Any], tensor: IoTensor, name: str, text: str, resizable: bool | None = None
) -> Call:
    """The refused call as a fact; `resizable` if the model can be resized to the shape, None if unknown."""
    return Call(
        problem=problem,
        index=tensor.index,
        name=name,
        wanted_shape=tensor.shape,
        wanted_dtype=np.dtype(tensor.dtype).name if tensor.dtype else "string",
        given_shape=array.shape,
        given_dtype=array.dtype.name if array.dtype.isnative else f"{array.dtype.name}, bytes swapped",
        text=text,
        resizable=resizable,
    )


def mismatch_text(problem: str, array: NDArray[Any], tensor: IoTensor, name: str) -> str:
    """What LiteRT would have said: tflite/python/interpreter_wrapper/interpreter_wrapper.cc."""
    if problem == "wrong-dtype":
        given = "STRING" if array.dtype.kind in "OSU" else array.dtype.name.upper()
        wanted = np.dtype(tensor.dtype).name.upper()
        return (
            f"Cannot set tensor: Got value of type {given} but expected type {wanted} "
            f"for input {tensor.index}, name: {name} "
        )
    if problem == "byte-order":
        return ""
    start = "Cannot set tensor: Dimension mismatch. Got"
    if len(array.shape) != len(tensor.shape):
        return f"{start} {array.ndim} but expected {len(tensor.shape)} for input {tensor.index}."
    for place, (got, size) in enumerate(zip(array.shape, tensor.shape, strict=True)):
        if got != size:
            return f"{start} {got} but expected {size} for dimension {place} of input {tensor.index}."
    return ""


Feeds = Mapping[str, Any] | str | None
_PIECE = 1 << 20  # numbers


def make_feeds(
    details: list[dict[str, Any]], given: Any, seed: int = 0, quantized: bool = False
) -> dict[int, NDArray[Any]]:
    """An array for each input, by its index; ValueError for a name that no input has.

    With `quantized`, floats for an input of quantized integers become the integers that stand for them.
    """
    feeds = {row["index"]: _array(row, value, seed) for row, value in _paired(details, given)}
    if not quantized:
        return feeds
    return {row["index"]: _quantized(row, feeds[row["index"]]) for row in details}


def _quantized(row: dict[str, Any], value: NDArray[Any]) -> NDArray[Any]:
    affine = affine_of(row)
    return quantize(affine, value) if affine.is_quantized and value.dtype.kind == "f" else value


def given_shapes(details: list[dict[str, Any]], given: Any) -> dict[int, tuple[int, ...]]:
    """Shapes of given arrays that are others than those of their inputs, where the file allows them."""
    try:
        pairs = _paired(details, given)
        shapes = [(row, np.shape(value)) for row, value in pairs if not isinstance(value, str)]
    except ValueError:
        return {}  # told when the values are set
    return {row["index"]: shape for row, shape in shapes if _becomes(row, shape)}


def left_out(details: list[dict[str, Any]], given: Any) -> tuple[tuple[int, str], ...]:
    """The inputs that a mapping says nothing about, which are filled with random numbers: index and name."""
    if not isinstance(given, Mapping):
        return ()
    return tuple((int(row["index"]), str(row["name"])) for row in details if row["name"] not in given)


def _becomes(row: dict[str, Any], given: tuple[int, ...]) -> bool:
    shape, signature = (tuple(map(int, row.get(key, ()))) for key in ("shape", "shape_signature"))
    return given != shape and may_become(shape, signature, given)


def _paired(details: list[dict[str, Any]], given: Any) -> list[tuple[dict[str, Any], Any]]:
    """Each input with what is given for it: an array, or a word."""
    if given is None or isinstance(given, str):
        by_name: Mapping[str, Any] = dict.fromkeys((row["name"] for row in details), given or "random")
    elif isinstance(given, Mapping):
        by_name = given
    else:
        values = list(given) if isinstance(given, (list, tuple)) else [given]
        if len(values) != len(details):
            raise ValueError(f"the model has {len(details)} inputs, and {len(values)} were given")
        return list(zip(details, values, strict=True))
    names = [row["name"] for row in details]
    for name in by_name:
        if name not in names:
            raise ValueError(f"no input is named {name!r}; the inputs are {', '.join(map(repr, names))}")
    return [(row, by_name.get(row["name"], "random")) for row in details]


def _array(row: dict[str, Any], value: Any, seed: int) -> NDArray[Any]:
    if not isinstance(value, str):
        return np.asarray(value)
    shape = tuple(int(size) for size in row["shape"])
    if value == "zeros":
        return _filled(row["dtype"], shape, 0)
    if value == "ones":
        return _filled(row["dtype"], shape, 1)
    if value == "random":
        return _random(row, shape, np.random.default_rng((seed, int(row["index"]))))
    raise ValueError(f"{value!r} is not a valid input; use zeros, ones, random or an array")


def _filled(dtype: Any, shape: tuple[int, ...], number: int) -> NDArray[Any]:
    kind = np.dtype(dtype).kind
    if kind in "OSU":
        return np.full(shape, b"", dtype=object)
    return np.full(shape, number, dtype=dtype)


def _random(row: dict[str, Any], shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[Any]:
    """Numbers that a model of this type may be given: quantized ones over their whole range, others small."""
    dtype = np.dtype(row["dtype"])
    if dtype.kind in "OSU":
        return np.full(shape, b"outlive", dtype=object)
    array = np.empty(shape, dtype)
    flat = array.reshape(-1)
    # Generators make numbers of eight bytes: at once, those of a large input would take eight times its size.
    for start in range(0, flat.size, _PIECE):
        piece = flat[start : start + _PIECE]
        piece[...] = _numbers(row, dtype, piece.size, rng)
    return array


def _numbers(row: dict[str, Any], dtype: np.dtype[Any], count: int, rng: np.random.Generator) -> NDArray[Any]:
    if dtype.kind == "f":
        return rng.uniform(-1, 1, count).astype(dtype)
    if dtype.kind == "c":
        return (rng.uniform(-1, 1, count) + 1j * rng.uniform(-1, 1, count)).astype(dtype)
    if dtype.kind != "b" and dtype.itemsize <= 2 and len(row["quantization_parameters"]["scales"]) > 0:
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max + 1, count).astype(dtype)
    # Indices, lengths and tokens: small numbers are the only ones that are nearly always in range.
    return rng.integers(0, 2, count).astype(dtype)
