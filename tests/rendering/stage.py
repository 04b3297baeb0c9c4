"""What the tests of the report share: a model full of hostile names, and text as a pipe gets it."""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Iterable
from typing import Any

import flatbuffers  # type: ignore[import-untyped,unused-ignore]
import numpy as np

from outlive.rendering import page_of
from outlive.rendering.console import print_parts
from outlive.rendering.media.text import draw_text
from outlive.surgery import write
from tests.rules.small import archive, graph, operator, tensor, tree

UNSAFE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
HOSTILE = {
    "colour": "\x1b[95mpainted\x1b[0m",
    "title": "\x1b]0;owned\x07",
    "clear": "\x1b[2J\x1b[H",
    "one-byte escape": "\x9b95m",
    "newline": "first\nerror[F999]: forged",
    "carriage return": "long name\rshort",
    "backspace": "abc\b\b\b",
    "bidi": "\u202egnp.exe\u202c\u2066x\u2069",
    "zero width": "pay\u200bpal\ufeff",
    "line separator": "a\u2028b\u2029c\x85d",
    "tab": "a\tb",
    "nul": "a\0b",
    "tag": "a\U000e0041b",
    "private": "\ue000",
    "megabyte": "\x1b[5m" + "n" * 1_000_000,
}


def plain(parts: Iterable[Any]) -> str:
    """The parts as they go into a pipe."""
    stream = io.StringIO()
    print_parts(parts, stream)
    return stream.getvalue()


def drawn(result: Any, detail: int = 0) -> str:
    """The page of a result as it goes into a pipe."""
    return plain(draw_text(page_of(result), detail))


def unsafe(text: str) -> set[str]:
    """Characters that can change what a terminal shows; a newline ends a line and is none."""
    return {char for char in text if char != "\n" and unicodedata.category(char) in UNSAFE}


def named(name: str) -> bytes:
    """A model in which every text is `name`, and which gives each rule that shows names a reason to speak."""
    signature = {"signature_key": name, "inputs": [{"name": name, "tensor_index": 0}]}
    made = tree(
        _named_graph(name) | {"name": name},
        _named_graph(name) | {"name": name},
        buffers=[np.ones(1500, np.float32)] * 2 + [name.encode()[:60], _card(name)],
        description=name,
        signature_defs=[signature | {"outputs": [{"name": name, "tensor_index": 1}]}],
        metadata=[
            {"name": name, "buffer": 3},
            {"name": "min_runtime_version", "buffer": 3},
            {"name": "TFLITE_METADATA", "buffer": 4},
        ],
    )
    return write(made) + archive(name.replace("\0", "")[:1000])


def _named_graph(name: str) -> dict[str, Any]:
    tensors = [tensor(name, [1500]) for _ in range(5)]
    tensors += [tensor(name, [1500], buffer=1), tensor(name, [1500], buffer=2), tensor(name, [1500])]
    steps = [
        operator(name, [0, 5, 6], [1]),
        operator("RESHAPE", [0], [2], "ReshapeOptions", new_shape=[1500]),
        operator("VAR_HANDLE", [], [3], "VarHandleOptions", container=name, shared_name=name),
        operator("LOGISTIC", [0], [4]),
    ]
    return graph(tensors, steps, [0], [1, 2, 3])


def _card(name: str) -> bytes:
    """A model card in which every text is `name`."""
    builder = flatbuffers.Builder(256)
    text = builder.CreateString(name)

    def table(slots: int, offsets: dict[int, int]) -> int:
        builder.StartObject(slots)
        for slot, offset in offsets.items():
            builder.PrependUOffsetTRelativeSlot(slot, offset, 0)
        return int(builder.EndObject())

    def vector(offset: int) -> int:
        builder.StartVector(4, 1, 4)
        builder.PrependUOffsetTRelative(offset)
        return int(builder.EndVector())

    described = table(7, {0: text, 1: text, 6: vector(table(5, {0: text}))})
    main = table(10, {0: text, 2: vector(described), 3: vector(described)})
    builder.Finish(table(8, {0: text, 1: text, 2: text, 3: vector(main), 4: text, 5: text, 7: text}))
    return bytes(builder.Output())
