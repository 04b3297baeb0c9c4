"""Hostile answers of workers: what comes through the pipe is a value that fits its schema, or `Malformed`.

byte 0: the question; byte 1: 0 for raw bytes of the pipe, else a frame whose sizes are right:
length of the header (2 bytes), header, payload
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator

import numpy as np

from outlive.interpreter import details
from outlive.platforms.posix.process.pipes import Channel
from outlive.process import answers
from outlive.process.answers import MalformedAnswer
from outlive.process.child import codec, wire
from tests.process.test_robust_wire import END, ENDS, HEAD, HOSTILE

QUESTIONS = ("open", "allocate", "share", "get", "call", "report", "ready", *details._FORMS)
_PIPE_BYTES = 1 << 20
_MOST_BYTES = 1 << 18


def try_one(data: bytes) -> None:
    question = QUESTIONS[data[0] % len(QUESTIONS)] if data else QUESTIONS[0]
    try:
        _receive(question, _frame(data[1:_MOST_BYTES]))
    except (MalformedAnswer, wire.ConnectionClosed):
        return


def _frame(data: bytes) -> bytes:
    if not data or not data[0]:
        return data[1:]
    size = int.from_bytes(data[1:3], "little")
    header, payload = data[3 : 3 + size], data[3 + size :]
    return wire._HEAD.pack(wire.MARKER, len(header), len(payload)) + header + payload


def _receive(question: str, frame: bytes) -> None:
    """What `Session` does with an answer, through a real pipe."""
    replies, theirs = os.pipe()
    fcntl.fcntl(theirs, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    channel = Channel(os.open(os.devnull, os.O_WRONLY), replies)
    try:
        os.write(theirs, frame)
        os.close(theirs)
        verb = "describe" if question in details._FORMS else question
        answer, payload = channel.receive(verb, None, _MOST_BYTES)
        if isinstance(answer, answers.Arrays) and not answer.held:
            answers.split(answer, len(answer.outputs), payload)
        elif question in details._FORMS and not isinstance(answer, answers.Failure):
            details.read(question, payload)
    finally:
        channel.close()


def seeds() -> Iterator[bytes]:
    """The answers that the tests of the wire know, good and hostile, and one of each kind of value."""
    known = [(verb, header) for verb, header in HOSTILE.values()]
    known += [("allocate", ENDS), ("get", {"answer": "ok", "outputs": [HEAD]}), ("open", {"answer": "ok"})]
    for verb, header in known:
        text = header if isinstance(header, bytes) else json.dumps(header).encode()
        yield _input(verb, text[:4000], bytes(16))
    for question, value in _values():
        yield _input(question, b'{"answer": "ok"}', codec.pack_tree(value))
    for value in (np.zeros(2, np.int8), np.array(["a", b"b"], object)):
        head, data = codec.pack_array(value)
        yield _input("get", json.dumps({"answer": "ok", "outputs": [head]}).encode(), bytes(data))


def _input(question: str, header: bytes, payload: bytes) -> bytes:
    number = QUESTIONS.index(question)
    return bytes([number, 1]) + len(header).to_bytes(2, "little") + header + payload


def _values() -> Iterator[tuple[str, object]]:
    row = {
        "name": "a", "index": 0, "shape": np.array([1, 4], np.int32), "dtype": np.float32,
        "quantization": (0.0, 0),
        "quantization_parameters": {
            "scales": np.zeros(0, np.float32), "zero_points": np.zeros(0, np.int32), "quantized_dimension": 0,
        },
    }  # fmt: skip
    yield "inputs", [row]
    yield "signatures", {"serving": {"inputs": {"a": 0}, "outputs": {"b": END["index"]}}}
    yield "ops", [{"index": 0, "op_name": "ADD", "inputs": np.array([0]), "outputs": np.array([1])}]
    yield "nodes", [["ADD", [0], [1]]]
    yield "shapes", [[[1, 4], None]]
    yield "subgraphs", 1
    yield "get_input_tensor_details", {"a": {"dtype": "float32", "shape": (1, 4)}}
