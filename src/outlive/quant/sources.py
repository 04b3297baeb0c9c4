"""Where samples come from: arrays, mappings of arrays, generators, functions, .npy and .npz files, folders.

Whatever it is, it is opened as an iterator over single samples, and never read as a whole: an .npz file is
unpacked into temporary files and mapped, a large .npy file is copied into one, a folder is read file by file.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from outlive.arena.questions import find_input
from outlive.model import Model, Tensor

_WHOLE_BYTES = 64 << 20
_PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".webp", ".gif")
Sample = Any  # a mapping of names to arrays, a list in the model's order, or an array for the only input
# Opens the samples from the start; `scratch` is a folder for what must be unpacked.
Opener = Callable[[Path], Iterator[Sample]]


def open_source(given: Any, model: Model) -> tuple[Opener, bool]:
    """A way to go through the samples, and whether it can be gone again; ValueError for what is none."""
    if isinstance(given, (str, os.PathLike)):
        return _from_path(Path(given), model), True
    if isinstance(given, np.ndarray):
        return lambda _: _rows({_only(model).index: given}, model), True
    if isinstance(given, Mapping):
        named = {find_input(model, str(name)).index: np.asarray(value) for name, value in given.items()}
        return lambda _: _rows(named, model), True
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


def _rows(arrays: Mapping[int, NDArray[Any]], model: Model) -> Iterator[Sample]:
    """Single samples from arrays that hold several along their first dimension."""
    cut = {index: list(_cut(array, _tensor(model, index))) for index, array in arrays.items()}
    counts = {len(rows) for rows in cut.values()}
    if len(counts) > 1:
        told = ", ".join(f"{_tensor(model, index).name[:40]!r} {len(rows)}" for index, rows in cut.items())
        raise ValueError(f"the arrays hold different numbers of samples: {told}")
    for place in range(counts.pop() if counts else 0):
        yield {_tensor(model, index).name: rows[place] for index, rows in cut.items()}


def _tensor(model: Model, index: int) -> Tensor:
    return next(tensor for tensor in model.inputs if tensor.index == index)


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
        yield array  # whoever checks it says what is wrong


def _from_path(path: Path, model: Model) -> Opener:
    suffix = path.suffix.lower()
    if path.is_dir():
        return lambda scratch: _folder(path, model, scratch)
    if not path.exists():
        raise ValueError(f"there are no samples at {str(path)!r}")
    if suffix in (".npy", ".npz"):
        return lambda scratch: _rows(_arrays(path, model, scratch), model)
    if suffix in _PICTURES:
        return lambda _: iter([_picture(path, model)])
    raise ValueError(f"{str(path)!r} is not a folder, an .npz, .npy or picture file")


def _arrays(path: Path, model: Model, scratch: Path) -> dict[int, NDArray[Any]]:
    try:
        if path.suffix.lower() == ".npy":
            return {_only(model).index: _array(path, scratch)}
        named = _unpacked(path, scratch)
    except (OSError, ValueError, EOFError, MemoryError, zipfile.BadZipFile) as error:
        raise ValueError(f"no arrays can be read from {str(path)!r}: {error}") from error
    if len(named) == 1 and len(model.inputs) == 1:
        return {model.inputs[0].index: next(iter(named.values()))}
    return {find_input(model, name).index: array for name, array in named.items()}


def _array(path: Path, scratch: Path) -> NDArray[Any]:
    """The array in a file; a large one is mapped from a copy."""
    if path.stat().st_size <= _WHOLE_BYTES:
        found: NDArray[Any] = np.load(path, allow_pickle=False)
        return found
    with path.open("rb") as file:
        return _mapped(file, scratch)


def _unpacked(path: Path, scratch: Path) -> dict[str, NDArray[Any]]:
    found = {}
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            with archive.open(member) as packed:
                found[member.filename.removesuffix(".npy")] = _mapped(packed, scratch)
    return found


def _mapped(content: IO[bytes], scratch: Path) -> NDArray[Any]:
    """The array in a stream, mapped from a file without a name: nobody can cut it short and so end us."""
    handle, name = tempfile.mkstemp(".npy", prefix="outlive-samples-", dir=scratch)
    try:
        with open(handle, "wb") as plain:
            shutil.copyfileobj(content, plain, 1 << 20)
        found: NDArray[Any] = np.load(name, mmap_mode="r", allow_pickle=False)
        return found
    finally:
        with contextlib.suppress(OSError):
            os.unlink(name)


def _folder(path: Path, model: Model, scratch: Path) -> Iterator[Sample]:
    """Every file one sample or more, in the order of their names; what is no sample is passed over."""
    for file in sorted(path.iterdir()):
        suffix = file.suffix.lower()
        if suffix in (".npy", ".npz"):
            yield from _rows(_arrays(file, model, scratch), model)
        elif suffix in _PICTURES:
            yield _picture(file, model)


def _picture(path: Path, model: Model) -> Sample:
    """A picture at the input's size: by the metadata's mean and deviation if there are any, else 0 to 1."""
    try:
        from PIL import Image
    except ImportError:
        raise ValueError("reading pictures needs Pillow: pip install pillow") from None
    tensor = _only(model)
    if len(tensor.shape) != 4 or tensor.shape[3] not in (1, 3):
        raise ValueError(f"input {tensor.name[:80]!r} takes no pictures: its shape is {tensor.shape}")
    _, high, wide, channels = tensor.shape
    try:
        with Image.open(path) as image:
            pixels = image.convert("RGB" if channels == 3 else "L").resize((wide, high))
            array = np.asarray(pixels).reshape(1, high, wide, channels)
    except OSError as error:
        raise ValueError(f"no picture can be read from {str(path)!r}: {error}") from error
    if tensor.dtype == "uint8":
        return array
    cards = model.card.inputs if model.card is not None else ()
    mean, std = (cards[0].mean, cards[0].std) if len(cards) == 1 else ((), ())
    if mean and len(mean) == len(std) and min(std) > 0:
        return ((array - np.array(mean)) / np.array(std)).astype(np.float32)
    return (array / np.float32(255)).astype(np.float32)
