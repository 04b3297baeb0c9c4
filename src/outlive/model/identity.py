"""Tells what a file really is from its first bytes, when it is called .tflite and is something else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from outlive.model.attachments import BadArchive, list_zip
from outlive.model.file_bytes import FileBytes
from outlive.model.source import Content

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
    (b"LITERTLM", "a LiteRT-LM bundle, which holds several models"),
    (b"\x7fELF", "a compiled program or library"),
    (b"%PDF", "a PDF document"),
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
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
        return f"it holds {', '.join(models[:3])}"
    keras = "config.json" in names and any(name.endswith(".h5") for name in names)
    return "it is a Keras model, saved with .keras" if keras else f"it holds {', '.join(names[:3])}"
