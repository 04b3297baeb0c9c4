"""A file that another program cuts short or rewrites gives a result or a `ModelError`, never a signal."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import outlive
from outlive.cli.main import main
from outlive.model import file_bytes, read_source
from outlive.rules.judgement import assess
from outlive.surgery import write
from tests.model.small import build, tensor

MB = 1_000_000
# One is read whole, the other chunk by chunk.
SIZES = (1 * MB, 12 * MB)


def layers(weight_bytes: int, count: int = 60) -> bytes:
    """A chain of layers that share so many bytes of weights."""
    each = weight_bytes // count // 4
    tensors: list[dict[str, object]] = [{"name": "x", "shape": [1, each]}]
    buffers: list[dict[str, object]] = [{}]
    operators: list[dict[str, object]] = []
    for index in range(count):
        buffers.append({"data": np.full(each, index, np.float32)})
        tensors += [
            {"name": f"w{index}", "shape": [1, each], "buffer": index + 1},
            {"name": f"y{index}", "shape": [1, each]},
        ]
        operators.append({"inputs": [2 * index, 2 * index + 1], "outputs": [2 * index + 2]})
    graph = {"tensors": tensors, "inputs": [0], "outputs": [2 * count], "operators": operators}
    codes = [{"deprecated_builtin_code": 0, "builtin_code": "ADD", "version": 1}]
    return write({"version": 3, "operator_codes": codes, "subgraphs": [graph], "buffers": buffers})


def put(tmp_path: Path, weight_bytes: int) -> Path:
    path = tmp_path / "model.tflite"
    path.write_bytes(layers(weight_bytes))
    return path


def cut_to_nothing(path: Path) -> None:
    os.truncate(path, 0)


def cut_in_half(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def rewrite(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(bytes(path.stat().st_size))


def replace(path: Path) -> None:
    other = path.with_suffix(".new")
    other.write_bytes(path.read_bytes())
    other.replace(path)


def remove(path: Path) -> None:
    path.unlink()


CHANGES = (cut_to_nothing, cut_in_half, rewrite, replace, remove)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("size", SIZES)
def test_weights_of_a_changed_file_are_refused(change: object, size: int, tmp_path: Path) -> None:
    path = put(tmp_path, size)
    model = outlive.read(path)
    weights = model.subgraphs[0].tensors[1]
    assert weights.stored_bytes
    change(path)  # type: ignore[operator]
    for ask in (lambda: weights.data, weights.array, lambda: model.content, lambda: model.sha256):
        with pytest.raises(outlive.ModelError) as caught:
            ask()
        assert caught.value.finding.code == "F124"


def test_rules_say_it_once_whoever_asks_them(tmp_path: Path) -> None:
    path = put(tmp_path, SIZES[0])
    reading = read_source(path)
    cut_in_half(path)
    assert [finding.code for finding in assess(reading)] == ["F124"]
    assert reading.model is not None
    assert [finding.code for finding in outlive.check(reading.model)] == ["F124"]


def test_a_change_in_the_middle_of_a_command_is_no_bug_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = put(tmp_path, SIZES[0])

    def run(args: object) -> int:
        model = outlive.read(path)
        cut_in_half(path)
        return len(model.content)

    monkeypatch.setattr("outlive.cli.commands.read.run", run)
    assert main(["read", str(path)]) == 1
    assert "F124" in capsys.readouterr().err


@pytest.mark.parametrize("size", SIZES)
def test_weights_that_were_asked_for_stay(size: int, tmp_path: Path) -> None:
    path = put(tmp_path, size)
    model = outlive.read(path)
    last = model.subgraphs[0].tensors[-2]
    array = last.array()
    cut_to_nothing(path)
    assert set(array.tolist()[0]) == {59.0}
    assert last.data is not None
    assert not array.flags.writeable


@pytest.mark.parametrize("size", SIZES)
def test_a_file_and_its_bytes_are_read_alike(size: int, tmp_path: Path) -> None:
    path = put(tmp_path, size)
    here, there = outlive.read(path), outlive.read(path.read_bytes())
    assert here.sha256 == there.sha256
    assert [bytes(one.data or b"") for one in here.tensors()] == [
        bytes(one.data or b"") for one in there.tensors()
    ]
    assert here.content == there.content
    assert here.subgraphs[0].tensors[1].data == there.subgraphs[0].tensors[1].data


def test_a_model_holds_no_descriptor(tmp_path: Path) -> None:
    path = put(tmp_path, SIZES[1])
    before = len(os.listdir("/proc/self/fd"))
    models = [outlive.read(path) for _ in range(5)]
    assert all(model.subgraphs[0].tensors[1].data for model in models)
    bad = tmp_path / "bad.tflite"
    bad.write_bytes(path.read_bytes()[: 9 * MB])
    for _ in range(3):
        with pytest.raises(outlive.ModelError):
            outlive.read(bad)
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_file_that_says_it_is_longer_than_it_is() -> None:
    """Files of the kernel say 4,096 bytes whatever they hold, as a file does that is cut short meanwhile."""
    path = Path("/sys/devices/system/cpu/online")
    if not path.exists() or path.stat().st_size != 4096:
        pytest.skip("this kernel has no file whose length is not true")
    with pytest.raises(outlive.ModelError) as caught:
        outlive.read(path)
    assert caught.value.finding.code == "F124"
    assert "had 4,096 bytes when opened" in str(caught.value)


def test_a_file_that_is_cut_short_between_two_reads(tmp_path: Path) -> None:
    path = put(tmp_path, SIZES[1])
    file = file_bytes.FileBytes.open(str(path))
    try:
        file.need(0, 8)
        cut_in_half(path)
        with pytest.raises(file_bytes.FileChanged, match="now ends at byte"):
            file.need(file.size - 8, file.size)
        with pytest.raises(file_bytes.FileChanged, match="now has"):
            file.close()
    finally:
        file.release()


PROGRAM = """
import sys, threading, os
import outlive

path, whole, verb = sys.argv[1:4]
data = open(whole, "rb").read()
ends, stop = set(), threading.Event()

def spoil():
    turn = 0
    while not stop.is_set():
        turn += 1
        with open(path, "r+b") as file:
            if turn % 3:
                os.ftruncate(file.fileno(), 0 if turn % 3 == 1 else len(data) // 2)
            file.write(data)

def once():
    if verb == "data":
        model = outlive.read(path)
        return [bytes(tensor.data or b"")[:1] for tensor in model.tensors()]
    return getattr(outlive, verb)(path)

thread = threading.Thread(target=spoil)
thread.start()
for _ in range(40):
    try:
        once()
        ends.add("result")
    except outlive.ModelError as error:
        ends.add(error.finding.code[0])
stop.set()
thread.join()
assert ends <= {"result", "F"}, ends
print("survived")
"""


@pytest.mark.parametrize("verb", ["read", "check", "plan", "data"])
def test_a_file_that_never_keeps_still(verb: str, tmp_path: Path) -> None:
    path = put(tmp_path, SIZES[1] if verb in ("read", "data") else SIZES[0])
    whole = tmp_path / "whole"
    whole.write_bytes(path.read_bytes())
    command = [sys.executable, "-c", textwrap.dedent(PROGRAM), str(path), str(whole), verb]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "survived\n"), done.stderr[-2000:]


@pytest.mark.parametrize("verb", ["read", "check", "plan"])
def test_the_command_line_says_it_without_a_traceback(verb: str) -> None:
    path = Path("/sys/devices/system/cpu/online")
    if not path.exists() or path.stat().st_size != 4096:
        pytest.skip("this kernel has no file whose length is not true")
    command = [sys.executable, "-m", "outlive", verb, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert "F124" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


MEMORY = """
import sys
import outlive

def peak():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM"))

outlive.plan(sys.argv[1]), outlive.check(sys.argv[1])  # what is loaded on first use is not the file's cost
before = peak()
model = outlive.read(sys.argv[2])
outlive.plan(model, "builtin"), outlive.plan(model), outlive.check(sys.argv[2])
assert model.sha256
print(peak() - before)
"""


def test_memory_does_not_grow_with_weights(tmp_path: Path) -> None:
    """A sparse file of 300 MB takes no more than a small part of it."""
    small, large = tmp_path / "small.tflite", tmp_path / "large.tflite"
    small.write_bytes(layers(1 * MB))
    sizes, offset = 100 * MB, 4096
    buffers = [{"offset": offset + sizes * index, "size": sizes} for index in range(3)]
    tensors = [
        tensor("x", shape=[1, 25 * MB]),
        *(tensor(f"w{i}", shape=[1, 25 * MB], buffer=i + 1) for i in range(3)),
        *(tensor(f"y{i}", shape=[1, 25 * MB]) for i in range(3)),
    ]
    ends = [(0, 1, 4), (4, 2, 5), (5, 3, 6)]
    operators = [{"inputs": [a, b], "outputs": [c]} for a, b, c in ends]
    codes = [{"deprecated_builtin_code": 0, "builtin_code": "ADD", "version": 1}]
    data = build(tensors, buffers, operators, codes)
    assert len(data) < offset
    large.write_bytes(data)
    os.truncate(large, offset + 3 * sizes)
    with large.open("r+b") as file:
        for index in range(3):  # weights whose beginning is no zeros, and another each time: nothing to count
            file.seek(offset + sizes * index)
            file.write(np.full(1024, index + 1, np.float32).tobytes())
    command = [sys.executable, "-c", MEMORY, str(small), str(large)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) < 40 * MB
