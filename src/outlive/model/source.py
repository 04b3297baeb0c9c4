"""Opens what the user calls a model: a path, bytes or a file object, without trusting any of them."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Literal

from outlive.model.file_bytes import FileBytes, Refusal, as_it_is
from outlive.units import plural

Source = str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO
Obstacle = Literal["", "missing", "directory", "not-regular", "denied"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Content:
    """The bytes behind a source, or the obstacle that kept us from them."""

    path: str | None
    file: FileBytes = field(repr=False)
    obstacle: Obstacle = ""
    detail: str = ""


def open_source(source: Source, refusal: Refusal = as_it_is) -> Content:
    """The bytes of a path, none of which is read yet, of a bytes-like object or of a binary file object."""
    if isinstance(source, (str, os.PathLike)):
        return _open_path(os.fspath(source), refusal)
    if isinstance(source, bytes):
        return Content(path=None, file=FileBytes(memoryview(source)))
    if isinstance(source, (bytearray, memoryview)):
        # A copy: what was checked must not change under us afterwards.
        return Content(path=None, file=FileBytes(memoryview(bytes(source))))
    if hasattr(source, "read"):
        return _read_file_object(source)
    raise TypeError(f"cannot read a model from {type(source).__name__}; give a path, bytes or a binary file")


def _read_file_object(file: BinaryIO) -> Content:
    data = file.read()
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError("the file is open in text mode; open it with mode 'rb'")
    name = getattr(file, "name", None)
    return Content(path=name if isinstance(name, str) else None, file=FileBytes(memoryview(bytes(data))))


def _open_path(path: str, refusal: Refusal) -> Content:
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            return _blocked(path, "directory", _describe_directory(Path(path)))
        if not stat.S_ISREG(mode):
            return _blocked(path, "not-regular", f"it is {_kind_of(mode)}, not a file")
        return Content(path=path, file=FileBytes.open(path, refusal))
    except (FileNotFoundError, NotADirectoryError):
        return _blocked(path, "missing", _describe_neighbours(Path(path)))
    except ValueError:
        return _blocked(path, "denied", "the path holds a zero byte")
    except OSError as error:
        return _blocked(path, "denied", error.strerror or str(error))


def _kind_of(mode: int) -> str:
    kinds = ((stat.S_ISFIFO, "a named pipe"), (stat.S_ISSOCK, "a socket"))
    return next((name for test, name in kinds if test(mode)), "a device")


def _blocked(path: str, obstacle: Obstacle, detail: str) -> Content:
    return Content(path=path, file=FileBytes(memoryview(b"")), obstacle=obstacle, detail=detail)


def _describe_directory(path: Path) -> str:
    if (path / "saved_model.pb").exists() or (path / "saved_model.pbtxt").exists():
        return "it is a TensorFlow SavedModel"
    models = sorted(item.name for item in path.glob("*.tflite"))
    if models:
        first = f"the first is {models[0]}" if len(models) > 1 else models[0]
        return f"it holds {plural(len(models), '.tflite file')}, {first}"
    return "it holds no .tflite file"


def _describe_neighbours(path: Path) -> str:
    parent = path.parent
    if not parent.is_dir():
        return f"the folder {parent} does not exist either"
    models = sorted(item.name for item in parent.glob("*.tflite"))
    return f"the folder holds {', '.join(models[:3])}" if models else ""
