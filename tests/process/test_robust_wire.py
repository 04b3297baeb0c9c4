"""Nothing that a worker says is believed: each answer fits its schema, or ends the worker with a finding."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlive
from outlive.interpreter import details
from outlive.process import answers
from outlive.process.answers import MalformedAnswer
from outlive.process.child import codec, wire
from tests.deaths import scenes
from tests.process.hostile import python_with

END = {"index": 0, "dtype": "<f4", "shape": [1, 4], "fixed": True, "constant": False, "residue": None}
ENDS = {"answer": "ok", "inputs": [END], "outputs": [END], "moving": False}
HEAD = {"dtype": "<f4", "shape": [2, 2], "size": 16}

# --- headers: one hostile answer each ---------------------------------------------------------------

HOSTILE: dict[str, tuple[str, Any]] = {
    "no JSON": ("open", b"\x00\xff"),
    "nothing": ("open", b""),
    "a number": ("open", 7),
    "a list": ("open", [[]]),
    "lists in lists": ("open", b"[" * 100_000),
    "objects in objects": ("allocate", b'{"answer":' * 50_000),
    "many lists": ("open", b"[" + b"[]," * 300_000 + b"[]]"),
    "no answer": ("open", {}),
    "an unknown answer": ("open", {"answer": "perhaps"}),
    "an answer that is a number": ("open", {"answer": 1}),
    "an unknown field": ("open", {"answer": "ok", "run": "rm"}),
    "an error without words": ("open", {"answer": "error"}),
    "an error that is a list": ("open", {"answer": "error", "error": [], "text": ""}),
    "an error with a long name": ("open", {"answer": "error", "error": "E" * 1000, "text": ""}),
    "negative memory": ("open", {"answer": "ok", "memory": {"private_bytes": -1, "rss_bytes": 0}}),
    "absurd memory": ("open", {"answer": "ok", "memory": {"private_bytes": 1 << 60, "rss_bytes": 0}}),
    "memory in words": ("open", {"answer": "ok", "memory": {"private_bytes": "1", "rss_bytes": 0}}),
    "half a memory": ("open", {"answer": "ok", "memory": {"private_bytes": 1}}),
    "no ends": ("allocate", {"answer": "ok"}),
    "ends that are a string": ("allocate", {**ENDS, "inputs": "abc"}),
    "an end without a shape": ("allocate", {**ENDS, "inputs": [{"index": 0}]}),
    "an end at -1": ("allocate", {**ENDS, "inputs": [{**END, "index": -1}]}),
    "an end at 2 to the 40": ("allocate", {**ENDS, "inputs": [{**END, "index": 1 << 40}]}),
    "an end of half an index": ("allocate", {**ENDS, "inputs": [{**END, "index": 0.5}]}),
    "a negative size": ("allocate", {**ENDS, "inputs": [{**END, "shape": [1, -4]}]}),
    "a size beyond 32 bits": ("allocate", {**ENDS, "inputs": [{**END, "shape": [1 << 40]}]}),
    "a thousand dimensions": ("allocate", {**ENDS, "inputs": [{**END, "shape": [1] * 1000}]}),
    "long strings as a type": ("allocate", {**ENDS, "inputs": [{**END, "dtype": "U200000000"}]}),
    "long bytes as a type": ("allocate", {**ENDS, "inputs": [{**END, "dtype": "S900000000"}]}),
    "objects as a type": ("allocate", {**ENDS, "inputs": [{**END, "dtype": "|O"}]}),
    "a type with fields": ("allocate", {**ENDS, "inputs": [{**END, "dtype": "f4,f4"}]}),
    "a type that is no type": ("allocate", {**ENDS, "inputs": [{**END, "dtype": "__class__"}]}),
    "a fixed tensor without a type": ("allocate", {**ENDS, "inputs": [{**END, "dtype": ""}]}),
    "a negative residue": ("allocate", {**ENDS, "inputs": [{**END, "residue": -64}]}),
    "moving in words": ("allocate", {**ENDS, "moving": "no"}),
    "a negative overlay": ("share", {"answer": "ok", "overlaid": -1}),
    "no overlay": ("share", {"answer": "ok"}),
    "values without a list": ("get", {"answer": "ok", "outputs": None}),
    "a size that the shape does not have": ("get", {"answer": "ok", "outputs": [{**HEAD, "size": 17}]}),
    "more than there is": ("get", {"answer": "ok", "outputs": [{**HEAD, "shape": [1 << 30, 1 << 30]}]}),
    "a negative dimension": ("get", {"answer": "ok", "outputs": [{**HEAD, "shape": [-2, -2]}]}),
    "more strings than bytes": (
        "get",
        {"answer": "ok", "outputs": [{"dtype": "strings", "shape": [1 << 30], "size": 8}]},
    ),
    "a type for strings": ("get", {"answer": "ok", "outputs": [{**HEAD, "fixed": "U900000000"}]}),
    "held in words": ("call", {"answer": "ok", "outputs": [HEAD], "held": "yes"}),
    "ready without facts": ("ready", {"answer": "ok", "ready": 1}),
    "facts in facts": (
        "ready",
        {"answer": "ok", "ready": 1, "limits": {}, "facts": {"a": {"b": {"c": {"d": 1}}}}},
    ),
    "a thousand facts": (
        "ready",
        {"answer": "ok", "ready": 1, "limits": {}, "facts": {str(i): i for i in range(1000)}},
    ),
    "absent without words": ("ready", {"answer": "absent"}),
    "accelerated in numbers": ("report", {"answer": "ok", "fully_accelerated": 3}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_header_that_breaks_the_protocol(name: str) -> None:
    verb, header = HOSTILE[name]
    data = header if isinstance(header, bytes) else json.dumps(header).encode()
    with pytest.raises(MalformedAnswer):
        answers.decode(verb, data)


def test_headers_that_keep_it() -> None:
    assert answers.decode("allocate", json.dumps(ENDS).encode()).inputs[0].shape == (1, 4)
    assert answers.decode("open", b'{"answer": "error", "error": "ValueError", "text": "no"}').text == "no"


# --- payloads ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        np.arange(6, dtype=np.float32).reshape(2, 3),
        np.zeros((0, 3), np.int8),
        np.array(True),
        np.array(["one", b"two", ""], dtype=object).reshape(3, 1),
        np.array([], dtype=object),
        np.array(1 + 2j, np.complex64),
    ],
)
def test_arrays_come_as_they_were(value: Any) -> None:
    head, data = codec.pack_array(value)
    answer = answers.decode("get", json.dumps({"answer": "ok", "outputs": [head]}).encode())
    [found] = answers.split(answer, 1, memoryview(bytes(data)))
    assert found.shape == value.shape
    assert found.tolist() == value.tolist()


@pytest.mark.parametrize(
    ("lengths", "text"),
    [([5], b"ab"), ([1], b"abc"), ([1 << 63, 1 << 63], b""), ([(1 << 64) - 1, 3], b"ab"), ([2], b"\xff\xfe")],
)
def test_strings_that_are_longer_than_what_came(lengths: list[int], text: bytes) -> None:
    data = np.array(lengths, "<u8").tobytes() + b"s" * len(lengths) + text
    head = answers.ArrayHead(dtype="strings", shape=(len(lengths),), size=len(data))
    with pytest.raises(MalformedAnswer):
        answers.as_array(head, memoryview(data))


def tree(text: bytes, more: bytes = b"") -> memoryview:
    return memoryview(struct.pack("<I", len(text)) + text + more)


@pytest.mark.parametrize(
    "payload",
    [
        memoryview(b""),
        memoryview(b"\xff\xff\xff\xff"),
        tree(b"{"),
        tree(b'{"~": "array", "dtype": "<f4", "shape": [4], "at": 0}', b"\0" * 15),
        tree(b'{"~": "array", "dtype": "<f4", "shape": [4], "at": 4}', b"\0" * 16),
        tree(b'{"~": "array", "dtype": "|O", "shape": [1], "at": 0}', b"\0" * 16),
        tree(b'{"~": "array", "dtype": "|V0", "shape": [1000000000], "at": 0}'),
        tree(b'{"~": "array", "dtype": "<f4", "shape": [-1], "at": 0}'),
        tree(b'{"~": "type", "name": "os"}'),
        tree(b'{"~": "type", "name": "load"}'),
        tree(b'{"~": "scalar", "dtype": "<i4", "value": {}}'),
        tree(b'{"~": "scalar", "dtype": "<i1", "value": 1e400}'),
        tree(b'{"~": "dict", "items": [[{"~": "list", "items": []}, 1]]}'),
        tree(b'{"~": "list", "items": [' * 5000 + b"]}" * 5000),
        tree(b'{"~": "python/object"}'),
    ],
)
def test_trees_that_break_the_protocol(payload: memoryview) -> None:
    with pytest.raises(MalformedAnswer):
        details.read("inputs", payload)


@pytest.mark.parametrize("question", list(details._FORMS))
@pytest.mark.parametrize(
    "value", ["text", [1], {"inputs": 1}, [{"name": 1}], {"a": None}, [["a", 1, 2]], 1.5]
)
def test_details_have_the_form_that_callers_rely_on(question: str, value: Any) -> None:
    with pytest.raises(MalformedAnswer):
        details.read(question, memoryview(codec.pack_tree(value)))


def test_trees_come_as_they_were() -> None:
    value = [{"a": (1.5, None, True), "b": np.arange(3), "c": np.float32, "d": float("inf"), "e": [[]]}]
    [found] = details.unpack(memoryview(codec.pack_tree(value)))
    assert found["b"].tolist() == [0, 1, 2]
    assert {**found, "b": 0} == {**value[0], "b": 0}


# --- workers that were taken over -------------------------------------------------------------------

_TAKEN_OVER = """
    import os, signal, struct, time
    from outlive_child import model_host, wire
    plain, at_it = wire.send, []
    def begin(self, header, payload):
        at_it.append(1)
        return {}, b""
    model_host.ModelHost.do_%s = begin
    def write(fd, data):
        while data:
            data = data[os.write(fd, data):]
    def frame(header, payload=b"", more=0):
        return wire._HEAD.pack(wire.MARKER, len(header), len(payload) + more) + header + payload
    def send(fd, header, payload=b""):
        if not at_it:
            return plain(fd, header, payload)
        %s
        time.sleep(1000)
    wire.send = send
"""
_ZEROS = "while True: os.write(fd, bytes(4096))"
ATTACKS: dict[str, tuple[str, str, str]] = {
    # name: (verb, what the worker does in place of its answer, the code of the finding)
    "zeros without end": ("allocate", _ZEROS, "D514"),
    "noise": ("allocate", "write(fd, bytes(range(200)) * 50)\n        os._exit(0)", "D509"),
    "a header of 4 GB": ("allocate", 'write(fd, struct.pack("<BIQ", wire.MARKER, 0xFFFFFFFF, 0))', "D514"),
    "a payload of 8 EB": ("allocate", "write(fd, frame(b'{\"answer\":\"ok\"}', b'', 1 << 62))", "D514"),
    "a payload that nobody asked for": ("allocate", "write(fd, frame(b'{\"answer\":\"ok\"}', b'x'))", "D514"),
    "60 MB of lists": ("allocate", "write(fd, frame(b'[' + b'[],' * 20000000 + b'1]'))", "D514"),
    "another form": ("details", 'write(fd, frame(b\'{"answer":"ok"}\', b\'\\x02\\0\\0\\0"x\'))', "D514"),
    "a frame cut short": (
        "details",
        "write(fd, frame(b'{\"answer\":\"ok\"}', b'', 99)); os._exit(3)",
        "D509",
    ),
    "values of another number": (
        "get",
        'write(fd, frame(b\'{"answer":"ok","outputs":[]}\'))',
        "D514",
    ),
    "parts that are too long": (
        "get",
        'write(fd, frame(b\'{"answer":"ok","held":true,"outputs":['
        '{"dtype":"|u1","shape":[9],"size":9}]}\')); plain(fd, {"answer": "ok"}, bytes(99))',
        "D514",
    ),
}


def ask_everything(python: str) -> None:
    interpreter = outlive.Interpreter(scenes.HEALTHY, python=python)
    interpreter.allocate_tensors()
    interpreter.get_input_details()
    interpreter.get_tensor(3)


@pytest.mark.parametrize("name", ATTACKS)
def test_a_worker_that_was_taken_over(name: str, tmp_path: Path) -> None:
    verb, action, code = ATTACKS[name]
    python = python_with(tmp_path, _TAKEN_OVER % (verb, action))
    before = scenes.private_bytes()
    with pytest.raises(outlive.ModelDied) as raised:
        ask_everything(python)
    assert raised.value.finding.code == code
    assert scenes.private_bytes() - before < 150_000_000


def test_bytes_without_end_do_not_outlast_the_deadline(tmp_path: Path) -> None:
    slow = "while True: os.write(fd, bytes(1)); time.sleep(0.001)"
    python = python_with(tmp_path, _TAKEN_OVER % ("allocate", slow))
    interpreter = outlive.Interpreter(scenes.HEALTHY, python=python, seconds=60)
    scenes.set_deadline(interpreter, 0.5)
    with pytest.raises(outlive.LimitReached) as raised:
        interpreter.allocate_tensors()
    assert raised.value.finding.code == "D503"


def test_a_header_is_shorter_than_a_megabyte() -> None:
    assert wire.MAX_HEADER_BYTES <= 1 << 20
