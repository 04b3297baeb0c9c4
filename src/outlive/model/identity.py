"""Tells what a file really is from its first bytes, when it is called .tflite and is something else.

Opens what the user calls a model: a path, bytes or a file object, without trusting any of them.
"""

import os
import stat
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import BinaryIO, Literal

from outlive.model.attachments import BadArchive, list_zip
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
        data = source.read()
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError("the file is open in text mode; open it with mode 'rb'")
        name = getattr(source, "name", None)
        return Content(path=name if isinstance(name, str) else None, file=FileBytes(memoryview(bytes(data))))
    raise TypeError(f"cannot read a model from {type(source).__name__}; give a path, bytes or a binary file")


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
        return _blocked(path, "denied", "the path contains a zero byte")
    except OSError as error:
        return _blocked(path, "denied", error.strerror or str(error))


def _kind_of(mode: int) -> str:
    kinds = ((stat.S_ISFIFO, "a named pipe"), (stat.S_ISSOCK, "a socket"))
    return next((name for test, name in kinds if test(mode)), "a device")


def _blocked(path: str, obstacle: Obstacle, detail: str) -> Content:
    return Content(path=path, file=FileBytes(memoryview(b"")), obstacle=obstacle, detail=detail)


def _describe_directory(path: Path) -> str:
    if (path / "saved_model.pb").exists() or (path / "saved_model.pbtxt").exists():
        return "a TensorFlow SavedModel"
    models = sorted(item.name for item in path.glob("*.tflite"))
    if models:
        first = f"the first is {models[0]}" if len(models) > 1 else models[0]
        return f"contains {plural(len(models), '.tflite file')}, {first}"
    return "contains no .tflite file"


def _describe_neighbours(path: Path) -> str:
    parent = path.parent
    if not parent.is_dir():
        return f"the folder {parent} does not exist"
    models = sorted(item.name for item in parent.glob("*.tflite"))
    models.sort(key=lambda name: SequenceMatcher(None, name, path.name).ratio(), reverse=True)
    return f"the folder contains {', '.join(models[:3])}" if models else ""


Kind = Literal[
    "model", "unreadable", "directory", "empty", "git-lfs-pointer", "web-page", "zip-archive", "text",
    "other-format", "no-identifier", "changed",
]  # fmt: skip

_IDENTIFIER = b"TFL3"
_MAGIC = (
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file, as Keras saves with .h5"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"LITERTLM", "a LiteRT-LM bundle of several models"),
    (b"\x7fELF", "a compiled program or library"),
    (b"%PDF", "a PDF document"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"\x93NUMPY", "a numpy array"),
    (b"GGUF", "a GGUF model, for llama.cpp"),
    (b"\x80\x02", "a Python pickle, as PyTorch saves"),
    (b"\x80\x04", "a Python pickle"),
    (b"\x80\x05", "a Python pickle"),
)
_LOOKED_AT = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What the bytes are, and what more could be told about them."""

    kind: Kind
    detail: str = ""


def identify(content: Content) -> Identity:
    """What the file is; `model` if it carries the identifier of one."""
    if content.obstacle:
        kind: Kind = "directory" if content.obstacle == "directory" else "unreadable"
        return Identity(kind=kind, detail=content.detail)
    head = bytes(content.file.look(0, min(_LOOKED_AT, content.file.size)))
    if not head:
        return Identity(kind="empty")
    if head[4:8] == _IDENTIFIER:
        return Identity(kind="model")
    return _identify_stranger(content.file, head)


def _identify_stranger(file: FileBytes, head: bytes) -> Identity:
    if head.startswith(b"version https://git-lfs"):
        return Identity(kind="git-lfs-pointer", detail=_lfs_size(head))
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return Identity(kind="zip-archive", detail=_zip_members(file))
    for magic, what in _MAGIC:
        if head.startswith(magic):
            return Identity(kind="other-format", detail=what)
    if head[8:12] == _IDENTIFIER:
        return Identity(kind="other-format", detail="a model behind a four-byte size prefix")
    text = _as_text(head)
    if text is not None:
        return _identify_text(text)
    if head[0] == 0x08 and (b"onnx" in head or b"pytorch" in head[:64]):
        return Identity(kind="other-format", detail="an ONNX model")
    return Identity(kind="no-identifier", detail=head[:8].hex(" "))


def _identify_text(text: str) -> Identity:
    start = text.lstrip("\ufeff \t\r\n").lower()
    if start.startswith(("<!doctype html", "<html", "<head", "<body")):
        return Identity(kind="web-page", detail=_title(text))
    first_line = text.strip().splitlines()[0][:300] if text.strip() else ""
    return Identity(kind="text", detail=first_line)


def _as_text(head: bytes) -> str | None:
    """The head as text, or None if it holds what text does not."""
    try:
        text = head.decode("utf-8")
    except UnicodeDecodeError as error:
        # A character cut in two by the end of what we look at is no sign of binary data.
        if error.start < len(head) - 4:
            return None
        text = head[: error.start].decode("utf-8")
    return text if all(char.isprintable() or char in "\t\r\n\f\ufeff" for char in text) else None


def _title(text: str) -> str:
    lower = text.lower()
    start, stop = lower.find("<title>"), lower.find("</title>")
    return text[start + 7 : stop].strip()[:80] if 0 <= start < stop else ""


def _lfs_size(head: bytes) -> str:
    for line in head.decode("utf-8", "replace").splitlines():
        if line.startswith("size ") and line[5:].strip().isdecimal() and len(line) < 30:
            return f"{int(line[5:].strip()):,}"
    return ""


def _zip_members(file: FileBytes) -> str:
    try:
        names = [item.name for item in list_zip(file)]
    except BadArchive:
        return ""
    models = [name for name in names if name.endswith(".tflite")]
    if models:
        return f"contains {', '.join(models[:3])}"
    keras = "config.json" in names and any(name.endswith(".h5") for name in names)
    return "a Keras model, saved with .keras" if keras else f"contains {', '.join(names[:3])}"
