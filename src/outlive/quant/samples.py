"""Samples for a model, read one at a time and checked before the runtime sees them.

Sources are arrays, mappings of arrays, iterables, functions, .npy and .npz files, images and folders. None is
read as a whole: an .npz file is unpacked into temporary files and mapped, a folder is read file by file. A
bad sample raises `InputError` with a finding; counts and ranges over all samples are kept in `Samples`.
"""

from __future__ import annotations

import math
import os
import shutil
import tempfile
import weakref
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from outlive.arena.questions import find_input
from outlive.interpreter.affine import Affine, dequantize, quantize
from outlive.interpreter.feeds import IoTensor, describe_call, problem_with
from outlive.interpreter.judge import Call, Judge
from outlive.model import Model, Tensor
from outlive.quant.tensor_graph import affine, numpy_type

_WHOLE_BYTES = 64 << 20
_ARRAYS = (".npy", ".npz")
_PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".webp", ".gif")
Sample = Any  # a mapping of names to arrays, a list in the model's order, or an array for the only input
# Opens the samples from the start; `scratch` is a folder for what must be unpacked.
Opener = Callable[[Path], Iterator[Sample]]


def open_source(given: Any, model: Model) -> tuple[Opener, bool]:
    """A way to go through the samples, and whether it can be gone again; ValueError for what is none."""
    if isinstance(given, (str, os.PathLike)):
        return _from_path(Path(given), model), True
    if isinstance(given, np.ndarray):
        return lambda _: _rows([(_only(model), given)]), True
    if isinstance(given, Mapping):
        named = [(find_input(model, str(name)), np.asarray(value)) for name, value in given.items()]
        return lambda _: _rows(named), True
    if callable(given):
        return lambda _: iter(given()), True
    if isinstance(given, Iterable):
        return lambda _: iter(given), iter(given) is not given
    raise ValueError(
        "samples are arrays, a mapping of names to arrays, an iterable of samples, a function that gives "
        f"one, an .npz file or a folder; not {type(given).__name__}"
    )


def _only(model: Model) -> Tensor:
    if len(model.inputs) != 1:
        names = ", ".join(repr(tensor.name[:40]) for tensor in model.inputs[:8])
        raise ValueError(f"the model has {len(model.inputs)} inputs ({names}): say which array is for which")
    return model.inputs[0]


def _rows(arrays: Sequence[tuple[Tensor, NDArray[Any]]]) -> Iterator[Sample]:
    """Single samples from arrays that hold several along their first dimension."""
    cut = {tensor.name: list(_cut(array, tensor)) for tensor, array in arrays}
    if len({len(rows) for rows in cut.values()}) > 1:
        counts = ", ".join(f"{name[:40]!r} {len(rows)}" for name, rows in cut.items())
        raise ValueError(f"the arrays hold different numbers of samples: {counts}")
    for row in zip(*cut.values(), strict=True):
        yield dict(zip(cut, row, strict=True))


def _cut(array: NDArray[Any], tensor: Tensor) -> Iterator[NDArray[Any]]:
    """The samples in an array: itself, its rows, or its rows with a batch of one."""
    shape = tensor.shape
    if array.shape == shape or not array.ndim:
        yield array
    elif array.ndim == len(shape) + 1:
        yield from array
    elif array.ndim == len(shape) and shape[:1] == (1,):
        yield from (array[place : place + 1] for place in range(len(array)))
    else:
        yield array  # the check of samples says what is wrong


def _from_path(path: Path, model: Model) -> Opener:
    if path.is_dir():
        return lambda scratch: _folder(path, model, scratch)
    if not path.exists():
        raise ValueError(f"no samples at {str(path)!r}")
    if path.suffix.lower() not in (*_ARRAYS, *_PICTURES):
        raise ValueError(f"{str(path)!r} is not a folder, an .npz, .npy or image file")
    return lambda scratch: _file(path, model, scratch)


def _folder(path: Path, model: Model, scratch: Path) -> Iterator[Sample]:
    """Every file one sample or more, in the order of their names."""
    for file in sorted(path.iterdir()):
        yield from _file(file, model, scratch)


def _file(path: Path, model: Model, scratch: Path) -> Iterator[Sample]:
    """The samples in a file; none if it is of another kind."""
    if path.suffix.lower() in _ARRAYS:
        yield from _rows(_arrays(path, model, scratch))
    elif path.suffix.lower() in _PICTURES:
        yield _picture(path, model)


def _arrays(path: Path, model: Model, scratch: Path) -> list[tuple[Tensor, NDArray[Any]]]:
    try:
        if path.suffix.lower() == ".npy":
            return [(_only(model), _array(path, scratch))]
        named = _unpacked(path, scratch)
    except (OSError, ValueError, EOFError, MemoryError, zipfile.BadZipFile) as error:
        raise ValueError(f"cannot read arrays from {str(path)!r}: {error}") from error
    if len(named) == 1 and len(model.inputs) == 1:
        return [(model.inputs[0], next(iter(named.values())))]
    return [(find_input(model, name), array) for name, array in named.items()]


def _array(path: Path, scratch: Path) -> NDArray[Any]:
    """The array in a file; a large one is mapped from a copy."""
    if path.stat().st_size <= _WHOLE_BYTES:
        found: NDArray[Any] = np.load(path, allow_pickle=False)
        return found
    return _mapped(path.open("rb"), scratch)


def _unpacked(path: Path, scratch: Path) -> dict[str, NDArray[Any]]:
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        return {name.removesuffix(".npy"): _mapped(archive.open(name), scratch) for name in names}


def _mapped(content: IO[bytes], scratch: Path) -> NDArray[Any]:
    """The array in a stream, mapped from a file without a name: no other program can cut it short."""
    with content, tempfile.NamedTemporaryFile(prefix="outlive-", suffix=".npy", dir=scratch) as plain:
        shutil.copyfileobj(content, plain, 1 << 20)
        plain.flush()
        found: NDArray[Any] = np.load(plain.name, mmap_mode="r", allow_pickle=False)
        return found


def _picture(path: Path, model: Model) -> Sample:
    """A picture at the input's size: by the metadata's mean and deviation if there are any, else 0 to 1."""
    try:
        from PIL import Image
    except ImportError:
        raise ValueError("reading images needs Pillow: pip install pillow") from None
    tensor = _only(model)
    if len(tensor.shape) != 4 or tensor.shape[3] not in (1, 3):
        raise ValueError(f"input {tensor.name[:80]!r} takes no images: its shape is {tensor.shape}")
    _, high, wide, channels = tensor.shape
    try:
        with Image.open(path) as image:
            pixels = image.convert("RGB" if channels == 3 else "L").resize((wide, high))
            array = np.asarray(pixels).reshape(1, high, wide, channels)
    except OSError as error:
        raise ValueError(f"cannot read an image from {str(path)!r}: {error}") from error
    if tensor.dtype == "uint8":
        return array
    cards = model.card.inputs if model.card is not None else ()
    mean, std = (cards[0].mean, cards[0].std) if len(cards) == 1 else ((), ())
    if mean and len(mean) == len(std) and min(std) > 0:
        return ((array - np.array(mean)) / np.array(std)).astype(np.float32)
    return (array / np.float32(255)).astype(np.float32)


def count_samples(given: Any, model: Model) -> int | None:
    """How many samples there are, where that can be known before they are read."""
    try:
        if isinstance(given, (str, os.PathLike)):
            path = Path(given)
            files = sorted(path.iterdir()) if path.is_dir() else [path]
            return sum(_count_in(file, model) for file in files)
        if isinstance(given, Mapping):
            name, value = next(iter(given.items()))
            return _count_rows(np.shape(value), find_input(model, str(name)))
        if isinstance(given, np.ndarray):
            return _count_rows(given.shape, model.inputs[0])
        return len(given) if isinstance(given, Sized) else None
    except (OSError, ValueError, IndexError, StopIteration, zipfile.BadZipFile):
        return None  # reading them says what is wrong


def _count_in(path: Path, model: Model) -> int:
    """The samples in a file, by the header of its first array."""
    suffix = path.suffix.lower()
    if suffix not in _ARRAYS:
        return int(suffix in _PICTURES)
    with ExitStack() as stack:
        name, tensor = "", model.inputs[0]
        if suffix == ".npy":
            file: IO[bytes] = stack.enter_context(path.open("rb"))
        else:
            archive = stack.enter_context(zipfile.ZipFile(path))
            name = archive.namelist()[0]
            file = stack.enter_context(archive.open(name))
        version = np.lib.format.read_magic(file)
        read = (
            np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        )
        shape = read(file)[0]
        if name and len(model.inputs) > 1:
            tensor = find_input(model, name.removesuffix(".npy"))
    return _count_rows(shape, tensor)


def _count_rows(shape: tuple[int, ...], tensor: Tensor) -> int:
    """How many samples `_cut` makes of an array."""
    own = tensor.shape
    is_one = shape == own or not shape
    is_several = len(shape) == len(own) + 1 or (len(shape) == len(own) and own[:1] == (1,))
    return shape[0] if is_several and not is_one else 1


Feed = tuple[NDArray[Any], ...]  # a value for each input, in the model's order


@dataclass(slots=True)
class InputSeen:
    """The extremes of the values of one input, over all samples so far."""

    name: str
    low: float = math.inf
    high: float = -math.inf


class Samples:
    """The samples for a model, checked as they pass; they can be gone through again and again.

    Samples that come only once are written to a temporary folder on their first way through, if `keep` is
    set, and read from there afterwards.
    """

    def __init__(self, given: Any, model: Model, judge: Judge, *, keep: bool = True) -> None:
        """Remember where they come from; nothing is read yet."""
        self.model, self.count, self._judge = model, 0, judge
        self.total = count_samples(given, model)
        self._open, again = open_source(given, model)
        self._keep = keep and not again
        self._scratch = Path(tempfile.mkdtemp(prefix="outlive-samples-"))
        # Also if they are not closed: with the object, or with the program.
        self._remove = weakref.finalize(self, shutil.rmtree, self._scratch, ignore_errors=True)
        self._kept: list[Path] = []
        self._once: Iterator[Any] | None = None
        self.seen = tuple(InputSeen(name=tensor.name) for tensor in model.inputs)

    def __iter__(self) -> Iterator[Feed]:
        """Every sample, checked; `InputError` at the first that cannot be used, or if there is none."""
        self.count = 0
        for feed in self._once_kept() if self._keep else map(self._checked, self._open(self._scratch)):
            self.count += 1
            yield feed
        self.total = self.count
        if not self.count:
            raise self._judge.refused(Call(problem="no-samples"))

    def close(self) -> None:
        """Remove what was written to temporary files."""
        self._remove()

    def __enter__(self) -> Samples:
        """The samples themselves."""
        return self

    def __exit__(self, *error: object) -> None:
        """Remove what was written to temporary files."""
        self.close()

    def _once_kept(self) -> Iterator[Feed]:
        """What has been kept so far, and then what is still to come, which is kept as it passes."""
        yield from map(load_arrays, tuple(self._kept))
        if self._once is None:
            self._once = self._open(self._scratch)
        for item in self._once:
            feed = self._checked(item)
            self._kept.append(self._scratch / f"sample-{len(self._kept)}.npz")
            np.savez(self._kept[-1], *feed)
            yield feed

    def _checked(self, item: Any) -> Feed:
        pairs = list(zip(self.model.inputs, _by_input(self.model, item), strict=True))
        feed = tuple(checked(tensor, np.asarray(value), self._judge) for tensor, value in pairs)
        for seen, value, (tensor, _) in zip(self.seen, feed, pairs, strict=True):
            if value.size and value.dtype.kind in "biuf":
                real = to_real(affine(tensor), value)
                seen.low, seen.high = min(seen.low, float(real.min())), max(seen.high, float(real.max()))
        return feed


def load_arrays(path: Path) -> Feed:
    """The arrays that `np.savez` wrote, in their order."""
    with np.load(path, allow_pickle=False) as stored:
        return tuple(stored[name] for name in stored.files)


def _by_input(model: Model, item: Any) -> list[Any]:
    """The values of one sample in the order of the inputs; ValueError if one is missing."""
    tensors = model.inputs
    if isinstance(item, Mapping):
        found = {find_input(model, str(name)).index: value for name, value in item.items()}
        missing = [tensor.name for tensor in tensors if tensor.index not in found]
        if missing:
            raise ValueError(f"a sample has no value for input {missing[0][:80]!r}")
        return [found[tensor.index] for tensor in tensors]
    if isinstance(item, (list, tuple)) and len(item) == len(tensors):
        return list(item)
    if len(tensors) == 1:
        return [item]
    raise ValueError(
        f"the model has {len(tensors)} inputs: a sample is a mapping of names, or a list of them all"
    )


def checked(tensor: Tensor, value: NDArray[Any], judge: Judge) -> NDArray[Any]:
    """The value in a type that means what the input takes; `InputError` if it cannot be used."""
    wanted = numpy_type(tensor)
    if wanted is None:
        return value  # text and the like: the runtime looks at it
    value = _converted(tensor, value, wanted, judge)
    end = IoTensor(index=tensor.index, dtype=value.dtype.str, shape=tensor.shape)
    problem = problem_with(value, end)
    if problem and not tensor.says_open(value.shape):
        raise judge.refused(describe_call(problem, value, end, tensor.name, ""))
    if value.dtype.kind == "f" and value.size:
        _refuse_odd(tensor, value, judge)
    return value


def _converted(tensor: Tensor, value: NDArray[Any], wanted: np.dtype[Any], judge: Judge) -> NDArray[Any]:
    """Real numbers as float32, integers as the input's own; `InputError` where that would change them."""
    quantized = affine(tensor).is_quantized
    if value.dtype == wanted:
        return value
    if value.dtype.kind == "f" and (wanted.kind == "f" or quantized):
        return value.astype(wanted if wanted.kind == "f" else np.float32)
    if value.dtype.kind in "iu" and wanted.kind in "iu" and not quantized:
        narrow = value.astype(wanted)
        if np.array_equal(narrow, value):
            return narrow
    end = IoTensor(index=tensor.index, dtype=wanted.str, shape=tensor.shape)
    raise judge.refused(describe_call("wrong-dtype", value, end, tensor.name, ""))


def _refuse_odd(tensor: Tensor, value: NDArray[Any], judge: Judge) -> None:
    """`InputError` for NaN and infinity: one is enough to make every range meaningless."""
    low, high = float(value.min()), float(value.max())
    if math.isfinite(low) and math.isfinite(high):
        return
    missing = int(np.count_nonzero(np.isnan(value)))
    problem = "nan-in-sample" if missing else "infinity-in-sample"
    count = missing or int(np.count_nonzero(np.isinf(value)))
    text = f"{count} of {value.size} values"
    given = {"given_shape": value.shape, "given_dtype": value.dtype.name}
    raise judge.refused(Call(problem=problem, index=tensor.index, name=tensor.name, text=text, **given))


def to_real(parameters: Affine, value: NDArray[Any]) -> NDArray[Any]:
    """The real numbers a value stands for; one that is float already is what it is."""
    return value if value.dtype.kind == "f" else dequantize(parameters, value)


def convert_sample(value: NDArray[Any], giver: Tensor, taker: Tensor) -> NDArray[Any]:
    """A sample made for one model's input as the other model's input takes it."""
    wanted = numpy_type(taker)
    if wanted is None:
        return value
    theirs, ours = affine(giver), affine(taker)
    if value.dtype == wanted and (theirs.scales, theirs.zero_points) == (ours.scales, ours.zero_points):
        return value
    real = to_real(theirs, value)
    return quantize(ours, real) if ours.is_quantized else real.astype(wanted)


def random_samples(model: Model, count: int, seed: int = 0) -> Iterator[list[NDArray[Any]]]:
    """Seeded random samples: real numbers from 0 to 1 (or what the input can hold), small whole numbers."""
    chance = np.random.default_rng(seed)
    for _ in range(count):
        yield [_random(tensor, chance) for tensor in model.inputs]


def _random(tensor: Tensor, chance: np.random.Generator) -> NDArray[Any]:
    wanted = numpy_type(tensor)
    if wanted is None:
        raise ValueError(f"input {tensor.name[:80]!r} takes {tensor.dtype}: give samples")
    if wanted.kind == "f":
        return chance.random(tensor.shape).astype(wanted)
    if affine(tensor).is_quantized:
        limits = np.iinfo(tensor.dtype)
        return chance.integers(limits.min, limits.max, tensor.shape, endpoint=True).astype(wanted)
    return chance.integers(0, 2, tensor.shape).astype(wanted)
