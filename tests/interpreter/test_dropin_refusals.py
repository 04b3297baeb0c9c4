"""Calls that LiteRT answers with a crash or with nonsense are refused beforehand, with a finding."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlive
from outlive.interpreter import session
from tests.interpreter.dropin_models import MODELS, unary

F4 = np.float32


def opened(name: str, **options: Any) -> outlive.Interpreter:
    interpreter = outlive.Interpreter(model_content=MODELS[name](), **options)
    interpreter.allocate_tensors()
    return interpreter


def opened_file(name: str, folder: Path) -> outlive.Interpreter:
    path = folder / f"{name}.tflite"
    path.write_bytes(MODELS[name]())
    interpreter = outlive.Interpreter(model_path=path)
    interpreter.allocate_tensors()
    return interpreter


@pytest.mark.parametrize(
    ("model", "value", "code"),
    [
        ("relu", np.zeros((1, 4)), "I204"),
        ("relu", np.zeros((1, 4), ">f4"), "I205"),
        ("relu", np.zeros((4,), F4), "I201"),
        ("relu", np.zeros((1, 5), F4), "I203"),
        ("image", np.zeros((1, 3, 8, 6), F4), "I202"),
    ],
)
def test_what_does_not_fit_is_refused_before_memory_is_touched(model: str, value: Any, code: str) -> None:
    interpreter = opened(model)
    before = interpreter.get_tensor(0)
    with pytest.raises(ValueError, match=r"error\[I\d+\]") as caught:
        interpreter.set_tensor(0, value)
    assert isinstance(caught.value, outlive.InputError)
    assert caught.value.finding.evidence
    assert caught.value.finding.code == code
    assert np.array_equal(interpreter.get_tensor(0), before)
    interpreter.invoke()


def test_the_missing_batch_comes_with_the_line_to_paste() -> None:
    with pytest.raises(outlive.InputError, match=r"np\.expand_dims"):
        opened("relu").set_tensor(0, np.zeros(4, F4))


@pytest.mark.parametrize("by_path", [False, True])
@pytest.mark.parametrize(("model", "index"), [("chain", 1), ("constant_input", 0)])
def test_a_constant_is_not_written_to(model: str, index: int, by_path: bool, tmp_path: Path) -> None:
    interpreter = opened_file(model, tmp_path) if by_path else opened(model)
    before = interpreter.get_tensor(index)
    with pytest.raises(outlive.InputError, match="constant"):
        interpreter.set_tensor(index, before + 1)
    assert np.array_equal(interpreter.get_tensor(index), before)


def test_an_output_is_not_read_before_it_is_computed() -> None:
    interpreter = opened("relu")
    with pytest.raises(outlive.InputError, match="no invoke\\(\\) since"):
        interpreter.get_tensor(1)
    interpreter.set_tensor(0, np.zeros((1, 4), F4))
    interpreter.invoke()
    assert np.array_equal(interpreter.get_tensor(1), np.zeros((1, 4), F4))
    interpreter.allocate_tensors()
    with pytest.raises(outlive.InputError, match="no invoke\\(\\) since"):
        interpreter.get_tensor(1)


@pytest.mark.parametrize("index", [0, 2])
def test_a_string_that_was_never_set_is_not_read(index: int) -> None:
    interpreter = opened("texts")
    with pytest.raises(outlive.InputError, match=r"no set_tensor\(\) before|no invoke\(\) since"):
        interpreter.get_tensor(index)
    interpreter.set_tensor(0, np.array([b"a", b"b", b"c", b"d"], dtype=object))
    interpreter.invoke()
    assert interpreter.get_tensor(2).tolist() == [b"c", b"a"]


def test_strings_may_come_as_a_list() -> None:
    interpreter = opened("texts")
    interpreter.set_tensor(0, [b"a", b"b", b"c", b"d"])
    interpreter.invoke()
    assert interpreter.get_tensor(2).tolist() == [b"c", b"a"]


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_a_model_may_come_as_any_bytes(kind: type) -> None:
    content = kind(MODELS["chain"]())
    with outlive.Interpreter(model_content=content) as interpreter:
        interpreter.allocate_tensors()
        if kind is bytearray:
            content[:] = bytes(len(content))  # what the caller does to it later is no matter
        interpreter.set_tensor(0, np.ones((1, 4), F4))
        interpreter.invoke()
        assert interpreter.get_tensor(3).tolist() == [[4, 9, 16, 25]]


def test_a_relative_path_means_the_folder_of_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "m.tflite").write_bytes(MODELS["relu"]())
    (tmp_path / "deep" / "m.tflite").write_bytes(MODELS["chain"]())
    monkeypatch.chdir(tmp_path)
    assert len(outlive.Interpreter("m.tflite").get_tensor_details()) == 2
    monkeypatch.chdir("deep")
    assert len(outlive.Interpreter("m.tflite").get_tensor_details()) == 4


def test_close_ends_the_worker_and_later_calls_say_so() -> None:
    with opened("relu") as interpreter:
        interpreter.invoke()
    later = (
        interpreter.invoke,
        interpreter.allocate_tensors,
        interpreter.get_input_details,
        lambda: interpreter.get_tensor(1),
        lambda: interpreter.set_tensor(0, np.zeros((1, 4), F4)),
        interpreter.tensor(0),
    )
    for call in later:
        with pytest.raises(RuntimeError, match="closed"):
            call()
    interpreter.close()


def test_big_outputs_come_whole_whatever_the_way() -> None:
    size = 20_000_000
    interpreter = opened("ranged")
    for index, value in enumerate((0, size, 1)):
        interpreter.set_tensor(index, np.int32(value))
    interpreter.invoke()
    assert np.array_equal(interpreter.get_tensor(3), np.arange(size, dtype=np.int32))


def test_a_tensor_too_big_for_the_machine_is_a_memory_error(monkeypatch: pytest.MonkeyPatch) -> None:
    interpreter = opened("ranged")
    for index, value in enumerate((0, 20_000_000, 1)):
        interpreter.set_tensor(index, np.int32(value))
    interpreter.invoke()
    poor = replace(session.read_machine(), available_bytes=1_000_000)
    monkeypatch.setattr(session, "read_machine", lambda: poor)
    with pytest.raises(MemoryError, match=r"a tensor of 76\.3 MiB"):
        interpreter.get_tensor(3)


def test_a_name_that_is_no_text_is_refused_as_by_the_runtime(tmp_path: Path) -> None:
    path = tmp_path / "odd.tflite"
    content = unary("FLOOR", "FLOAT32", [1, 4])
    path.write_bytes(content.replace(b"\x01\x00\x00\x00x\x00", b"\x01\x00\x00\x00\xff\x00"))
    interpreter = outlive.Interpreter(model_path=path)
    interpreter.allocate_tensors()
    with pytest.raises(ValueError, match="'utf-8' codec can't decode byte 0xff") as caught:
        interpreter.get_input_details()
    assert isinstance(caught.value, outlive.InputError)
    flight = outlive.run(path)
    assert (flight.died, flight.stage, flight.error_type) == (False, "get", "UnicodeDecodeError")
