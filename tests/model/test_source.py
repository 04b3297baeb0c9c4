"""What may be called a model, and what a file really is when it is not one."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from outlive.model import Reading, read_source
from tests.model.small import build, tensor

MODEL = build([tensor("x")], description="a small model")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "model.tflite"
    file.write_bytes(MODEL)
    return file


def is_the_model(reading: Reading) -> bool:
    assert reading.model is not None
    assert (reading.identity.kind, reading.flaws) == ("model", ())
    assert reading.file_bytes == reading.model.file_bytes == len(MODEL)
    return reading.model.content == MODEL and reading.model.description == "a small model"


def test_a_path_as_text_or_as_a_path(path: Path) -> None:
    for source in (str(path), path):
        reading = read_source(source)
        assert is_the_model(reading)
        assert reading.path == str(path)


@pytest.mark.parametrize(
    "source",
    [MODEL, bytearray(MODEL), memoryview(MODEL), memoryview(b"x" + MODEL)[1:], io.BytesIO(MODEL)],
    ids=["bytes", "bytearray", "memoryview", "part of a memoryview", "BytesIO"],
)
def test_bytes_in_every_form(source: Any) -> None:
    reading = read_source(source)
    assert is_the_model(reading)
    assert reading.path is None


def test_a_memoryview_of_other_items_and_strides() -> None:
    padded = MODEL + bytes(-len(MODEL) % 4)
    for view in (
        memoryview(np.frombuffer(padded, np.int32)),
        memoryview(np.frombuffer(padded, np.uint8).repeat(2))[::2],
    ):
        reading = read_source(view)
        assert reading.model is not None
        assert reading.model.content == padded


def test_an_open_file_is_read_from_where_it_stands(path: Path) -> None:
    path.write_bytes(b"before" + MODEL)
    with path.open("rb") as file:
        file.seek(6)
        reading = read_source(file)
    assert is_the_model(reading)
    assert reading.path == str(path)
    with open(os.open(path, os.O_RDONLY), "rb") as file:
        file.seek(6)
        assert read_source(file).path is None


def test_a_model_that_is_read_already(path: Path) -> None:
    model = read_source(path).model
    assert model is not None
    assert read_source(model).model is model


def test_what_was_checked_does_not_change_with_the_callers_buffer() -> None:
    data = bytearray(MODEL)
    model = read_source(data).model
    assert model is not None
    data[:] = bytes(len(data))
    assert model.content == MODEL


def test_a_mapped_model_outlives_its_file(path: Path) -> None:
    model = read_source(path).model
    assert model is not None
    path.unlink()
    assert model.content == MODEL


@pytest.mark.parametrize(
    "source", [3, None, 1.5, ["model.tflite"], object()], ids=lambda one: type(one).__name__
)
def test_what_cannot_be_a_source_is_a_type_error(source: Any) -> None:
    with pytest.raises(TypeError, match=f"cannot read a model from {type(source).__name__}"):
        read_source(source)


def test_a_file_in_text_mode_is_a_type_error(path: Path) -> None:
    path.write_text("text")
    with path.open() as file, pytest.raises(TypeError, match="open it with mode 'rb'"):
        read_source(file)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="open it with mode 'rb'"):
        read_source(io.StringIO("text"))  # type: ignore[arg-type]


def refused(source: Any) -> tuple[str, str]:
    reading = read_source(source)
    assert reading.model is None
    return reading.identity.kind, reading.identity.detail


def test_a_missing_file_names_its_neighbours(path: Path) -> None:
    assert refused(path.with_name("modell.tflite")) == ("unreadable", "the folder contains model.tflite")
    nowhere = path.parent / "nowhere"
    assert refused(nowhere / "m.tflite") == ("unreadable", f"the folder {nowhere} does not exist")
    assert refused(path / "m.tflite")[0] == "unreadable"
    path.unlink()
    assert refused(path) == ("unreadable", "")


def test_a_directory_says_what_it_holds(path: Path) -> None:
    folder = path.parent
    assert refused(folder) == ("directory", "contains 1 .tflite file, model.tflite")
    path.unlink()
    assert refused(folder) == ("directory", "contains no .tflite file")
    (folder / "saved_model.pb").touch()
    assert refused(str(folder)) == ("directory", "a TensorFlow SavedModel")


@pytest.mark.timeout(20)
def test_pipes_and_devices_are_refused_without_waiting_for_them(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", "/dev/zero", "/dev/null"):
        assert refused(place) in (
            ("unreadable", "it is a named pipe, not a file"),
            ("unreadable", "it is a device, not a file"),
        )


def test_paths_that_the_system_refuses(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert refused(tmp_path / "loop") == ("unreadable", "Too many levels of symbolic links")
    assert refused("n" * 5000) == ("unreadable", "File name too long")
    assert refused("nul\0byte")[0] == "unreadable"


@pytest.fixture
def forbidden(path: Path) -> Iterator[Path]:
    """A file that may not be read; root may read every file, and is not root while the test runs."""
    path.chmod(0)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65_534)
    yield path
    os.seteuid(user)


def test_a_file_that_may_not_be_read(forbidden: Path) -> None:
    assert refused(forbidden) == ("unreadable", "Permission denied")


def archive(*names: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        for name in names:
            file.writestr(name, b"content")
    return stream.getvalue()


def saved(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345678\n"
PAGE = b"\xef\xbb\xbf\n<!DOCTYPE html><html><head><title> 404: Not Found </title></head></html>"
STRANGERS: dict[str, tuple[bytes, str, str]] = {
    "an empty file": (b"", "empty", ""),
    "text": (b"\n  I am no model\nat all", "text", "I am no model"),
    "one letter": (b"x", "text", "x"),
    "text of other alphabets": ("寸法\n".encode() * 2000, "text", "寸法"),
    "blank lines": (b"\n\n \t\n", "text", ""),
    "a git-lfs pointer": (POINTER, "git-lfs-pointer", "12,345,678"),
    "a git-lfs pointer without a size": (POINTER[:60], "git-lfs-pointer", ""),
    "a web page": (PAGE, "web-page", "404: Not Found"),
    "a web page in capitals": (b"<HTML><BODY>Sign in</BODY></HTML>", "web-page", ""),
    "a zip with a model": (archive("a/m.tflite", "x"), "zip-archive", "contains a/m.tflite"),
    "a Keras model": (
        archive("metadata.json", "config.json", "model.weights.h5"),
        "zip-archive",
        "a Keras model, saved with .keras",
    ),
    "another zip": (archive("a", "b"), "zip-archive", "contains a, b"),
    "a broken zip": (archive("a")[:30], "zip-archive", ""),
    "HDF5": (b"\x89HDF\r\n\x1a\n" + bytes(90), "other-format", "an HDF5 file, as Keras saves with .h5"),
    "gzip": (gzip.compress(MODEL), "other-format", "a gzip archive"),
    "a bundle": (b"LITERTLM" + bytes(9), "other-format", "a LiteRT-LM bundle of several models"),
    "a numpy array": (saved(np.zeros(3)), "other-format", "a numpy array"),
    "a pickle": (pickle.dumps({"a": 1}, protocol=4), "other-format", "a Python pickle"),
    "a GGUF model": (b"GGUF\3\0\0\0" + bytes(90), "other-format", "a GGUF model, for llama.cpp"),
    "an ONNX model": (b"\x08\x07\x12\x04onnx:\x80", "other-format", "an ONNX model"),
    "a model with its size before it": (
        struct.pack("<I", len(MODEL)) + MODEL,
        "other-format",
        "a model behind a four-byte size prefix",
    ),
    "other bytes": (bytes(range(128, 160)), "no-identifier", "80 81 82 83 84 85 86 87"),
    "another identifier": (b"\x1c\0\0\0TFL2" + MODEL[8:], "no-identifier", "1c 00 00 00 54 46 4c 32"),
    "zeros": (bytes(100), "no-identifier", "00 00 00 00 00 00 00 00"),
}  # fmt: skip


@pytest.mark.parametrize("name", STRANGERS)
def test_a_stranger_is_told_by_its_bytes(name: str, path: Path) -> None:
    data, kind, detail = STRANGERS[name]
    path.write_bytes(data)
    for source in (data, path):
        assert refused(source) == (kind, detail)
        assert read_source(source).flaws == ()


@pytest.mark.parametrize("part", [8, 12, len(MODEL) // 4, len(MODEL) // 2, len(MODEL) - 1])
def test_a_truncated_model_is_a_model_with_a_part_past_its_end(part: int) -> None:
    reading = read_source(MODEL[:part])
    assert reading.identity.kind == "model"
    assert "past-end" in {flaw.kind for flaw in reading.flaws}
    assert max(flaw.reach or 0 for flaw in reading.flaws) > part
