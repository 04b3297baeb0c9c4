"""What a user asks in a user's words (`image=1x512x512x3`, `batch=1,2,4`), turned into shapes of tensors."""

import difflib
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from outlive.arena.plan import Question, Shapes
from outlive.kernels.tflm import abi as tflm_abi
from outlive.model import Model, Tensor
from outlive.units import format_shape, plural

Shape = tuple[int, ...]

ACCELERATORS = ("cpu", "builtin", "reference", "tflm")
ABIS, KERNELS = tuple(tflm_abi.ABIS), tflm_abi.KERNELS
# The runtime keeps a dimension in an int; tensors of more elements are a slip of the finger.
_MOST_SIZE = 2**31 - 1
_MOST_ELEMENTS = 2**40
_MOST_THREADS = 1024
_MOST_ROWS = 64
_CHANNELS = (1, 3, 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """A question before the model is looked at: inputs by name, the batch, the settings."""

    accelerator: str = "cpu"
    inputs: Mapping[str, Shape] = field(default_factory=dict)
    batch: int | None = None
    threads: int | None = None
    preserve_all_tensors: bool = False
    weight_cache: bool = False
    abi: str = "cortex-m"
    kernels: str = "reference"

    def __post_init__(self) -> None:
        """ValueError for a setting that there is not."""
        _one_of("accelerator", self.accelerator, ACCELERATORS)
        _one_of("abi", self.abi, ABIS)
        _one_of("kernels", self.kernels, KERNELS)
        _number("threads", self.threads, _MOST_THREADS)
        _number("batch", self.batch, _MOST_SIZE)

    def question(self, shapes: Shapes | None = None) -> Question:
        """What a planner is asked."""
        return Question(
            accelerator=self.accelerator,
            threads=self.threads,
            preserve_all_tensors=self.preserve_all_tensors,
            weight_cache=self.weight_cache,
            shapes=shapes or {},
            abi=self.abi,
            kernels=self.kernels,
        )


def choose_abi(word: int | None, abi: str | None) -> str:
    """The ABI for a word size and a name: 32 bits are Cortex-M, 64 a host, if nothing else is said."""
    if word not in (None, 32, 64):
        raise ValueError(f"a word has 32 or 64 bits, not {word}")
    if abi is None:
        return "host64" if word == 64 else "cortex-m"
    _one_of("abi", abi, ABIS)
    if word is not None and (word == 64) != (abi == "host64"):
        raise ValueError(f"the ABI {abi} has no words of {word} bits")
    return abi


def parse_shape(text: str) -> Shape:
    """A shape such as `1x512x512x3`; ValueError for anything that cannot be one."""
    words = text.lower().replace("×", "x").strip().strip("[]()").split("x")
    try:
        sizes = tuple(int(word) for word in words if len(word) < 32)
    except ValueError:
        sizes = ()
    if len(sizes) != len(words):
        raise ValueError(f"{text[:80]!r} is not a shape; write its dimensions as in 1x224x224x3")
    return _possible(sizes, text)


def parse_input(word: str) -> tuple[str, Shape]:
    """Name and shape in `image=1x512x512x3` or `image=photo.npy`; the name is empty if none was given."""
    name, _, text = word.rpartition("=")
    return name, _shape_in_file(text) if text.lower().endswith(".npy") else parse_shape(text)


def _shape_in_file(path: str) -> Shape:
    """The shape of the array in an .npy file, of which only the beginning is read."""
    import numpy as np

    try:
        shape = np.load(path, mmap_mode="r", allow_pickle=False).shape
    except (OSError, ValueError, EOFError) as error:
        raise ValueError(f"{path[-80:]!r} is no array that can be read: {error}") from error
    return _possible(tuple(int(size) for size in shape), path)


def parse_sweep(word: str) -> tuple[str, tuple[Shape, ...]]:
    """What is varied, and its values: `batch=1,2,4`, `threads=1,4`, `image=224,320` or whole shapes."""
    name, _, text = word.rpartition("=")
    if not name or not text.strip(", "):
        raise ValueError(f"{word[:80]!r} is no sweep; write it as batch=1,2,4,8 or image=224,320,512")
    return name, tuple(parse_shape(part) for part in text.split(",") if part.strip())


def parse_setting(word: str, request: PlanRequest) -> PlanRequest:
    """The request with what a word of `--compare` says: `builtin`, `cpu+weight-cache`, `tflm+int-enum`."""
    accelerator, *settings = word.strip().split("+")
    request = replace(request, accelerator=accelerator)
    for setting in settings:
        name, _, value = setting.strip().replace("_", "-").partition("=")
        if name == "threads" and value.isdecimal() and len(value) < 10:
            request = replace(request, threads=int(value))
        elif setting in ABIS:
            request = replace(request, abi=setting)
        elif setting in KERNELS:
            request = replace(request, kernels=setting)
        elif name == "weight-cache":
            request = replace(request, weight_cache=True)
        elif name == "preserve-all-tensors":
            request = replace(request, preserve_all_tensors=True)
        else:
            known = "weight-cache, preserve-all-tensors, threads=N, an ABI or kernels of tflm"
            raise ValueError(f"{word[:80]!r} cannot be compared: after + comes {known}")
    return request


def vary(
    model: Model, request: PlanRequest, sweeps: Sequence[str]
) -> Iterator[tuple[dict[str, str], PlanRequest]]:
    """Every combination of what is swept, each with its request, the first sweep slowest."""
    axes = [parse_sweep(word) for word in sweeps]
    if math.prod(len(values) for _, values in axes) > _MOST_ROWS:
        raise ValueError(f"a sweep has at most {_MOST_ROWS} combinations")
    for values in itertools.product(*(values for _, values in axes)):
        varied, label = request, {}
        for (name, _), value in zip(axes, values, strict=True):
            varied = _set(model, varied, name, value)
            label[name] = format_shape(value)
        yield label, varied


def input_shapes(model: Model, request: PlanRequest) -> dict[int, Shape]:
    """New shapes by tensor index, for the inputs whose shape is to change. ValueError for what cannot be.

    The file's own shapes are not judged here: what no machine can hold is planned all the same.
    """
    wanted = {tensor.index: tensor.shape for tensor in model.inputs}
    for name, shape in request.inputs.items():
        tensor = find_input(model, name)
        wanted[tensor.index] = full_shape(tensor, shape)
    if request.batch is not None:
        if not any(wanted.values()):
            raise ValueError("no input has a dimension, so there is no batch to set")
        wanted = {index: (request.batch, *shape[1:]) if shape else shape for index, shape in wanted.items()}
    changed = {tensor.index: wanted[tensor.index] for tensor in model.inputs if _changes(tensor, wanted)}
    for shape in changed.values():
        _possible(shape, format_shape(shape), least=0)
    return changed


def find_input(model: Model, name: str) -> Tensor:
    """The input of that name, as a tensor or in a signature; ValueError with near names if there is none."""
    names = _input_names(model)
    if not name and len(model.inputs) == 1:
        return model.inputs[0]
    if name in names:
        return names[name]
    shown = sorted({tensor.name for tensor in model.inputs})
    near = difflib.get_close_matches(name, names, 3, 0.4)
    if not name:
        raise ValueError(f"say which input is meant; the inputs are {_quoted(shown)}")
    hint = f"did you mean {_quoted(near)}?" if near else f"the inputs are {_quoted(shown)}"
    raise ValueError(f"no input is named {name[:80]!r}; {hint}")


def input_rows(model: Model) -> list[dict[str, Any]]:
    """The inputs as an interpreter describes them before tensors are allocated, from the file."""
    return [
        {
            "name": tensor.name,
            "index": tensor.index,
            "shape": tensor.shape,
            "shape_signature": tensor.shape_signature or tensor.shape,
            "dtype": object if tensor.dtype == "string" else tensor.dtype,
            "quantization_parameters": {
                "scales": () if tensor.quantization is None else tensor.quantization.scales
            },
        }
        for tensor in model.inputs
    ]


def full_shape(tensor: Tensor, sizes: Shape) -> Shape:
    """The whole shape: as given, or with the size of a picture (`512`, `480x640`) or length of a sequence."""
    shape, rank = tensor.shape, len(tensor.shape)
    if len(sizes) == rank or not rank:
        return sizes
    if rank == 4 and len(sizes) <= 2:
        high, wide = sizes[0], sizes[-1]
        first = shape[1] in _CHANNELS and shape[3] not in _CHANNELS
        return (shape[0], shape[1], high, wide) if first else (shape[0], high, wide, shape[3])
    if rank == 3 and len(sizes) <= 2 and shape[2] in _CHANNELS and shape[0] not in (1, -1):
        return (sizes[0], sizes[-1], shape[2])
    if rank in (2, 3) and len(sizes) == 1:
        return (shape[0], sizes[0], *shape[2:])
    raise ValueError(
        f"input {tensor.name[:80]!r} has {plural(rank, 'dimension')} ({format_shape(shape)}), "
        f"and {format_shape(sizes)} has {len(sizes)}"
    )


def check_shape(sizes: Sequence[object] | str) -> Shape:
    """A shape as Python gives it: text, or a sequence of numbers."""
    if isinstance(sizes, str):
        return parse_shape(sizes)
    try:
        numbers = tuple(int(size) for size in sizes)  # type: ignore[call-overload]
    except (TypeError, ValueError):
        raise ValueError(f"{sizes!r:.80} is not a shape; give numbers, as in (1, 224, 224, 3)") from None
    return _possible(numbers, format_shape(numbers))


def _set(model: Model, request: PlanRequest, name: str, value: Shape) -> PlanRequest:
    if name in ("batch", "threads"):
        if len(value) != 1:
            raise ValueError(f"{name} is a number, not {format_shape(value)}")
        return replace(request, batch=value[0]) if name == "batch" else replace(request, threads=value[0])
    full_shape(find_input(model, name), value)  # a mistake is reported before anything is planned
    return replace(request, inputs={**request.inputs, name: value})


def _input_names(model: Model) -> dict[str, Tensor]:
    """Inputs by every name a user may know them by; a tensor's own name wins."""
    by_index = {tensor.index: tensor for tensor in model.inputs}
    names: dict[str, Tensor] = {}
    for tensor in reversed(model.inputs):
        names[tensor.name.removeprefix("serving_default_").split(":")[0]] = tensor
    for signature in model.signatures:
        if signature.subgraph_index == 0:
            names.update({name: by_index[index] for name, index in signature.inputs if index in by_index})
    names.update({tensor.name: tensor for tensor in model.inputs})
    return names


def _changes(tensor: Tensor, wanted: Mapping[int, Shape]) -> bool:
    return wanted[tensor.index] != tensor.shape


def _possible(sizes: Shape, text: str, least: int = 1) -> Shape:
    for size in sizes:
        if not least <= size <= _MOST_SIZE:
            raise ValueError(f"{text[:80]} is no possible shape: a dimension is between 1 and {_MOST_SIZE:,}")
    if len(sizes) > 32 or math.prod(sizes) > _MOST_ELEMENTS:
        raise ValueError(f"{text[:80]} is no possible shape: it has more than {_MOST_ELEMENTS:,} elements")
    return sizes


def _number(name: str, value: int | None, most: int) -> None:
    if value is not None and (isinstance(value, bool) or not 1 <= value <= most):
        raise ValueError(f"{name} is a number between 1 and {most:,}, not {value}")


def _one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        near = difflib.get_close_matches(str(value), known, 1)
        hint = f"; did you mean {near[0]}?" if near else f"; choose one of {', '.join(known)}"
        raise ValueError(f"there is no {name} {str(value)[:80]!r}{hint}")


def _quoted(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name[:80]) for name in names[:8])
    return shown + (f" and {len(names) - 8} more" if len(names) > 8 else "")
