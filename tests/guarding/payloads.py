"""What a worker that a model has taken over could send: bodies of answers, and frames."""

from __future__ import annotations

import base64
import json
import pickle
import struct
import zlib

from outlive.process.child.guard import message_frames as wire


def frame(head: bytes, body: bytes = b"") -> bytes:
    """A frame with lengths and checksum that are right, whatever is in it."""
    checksum = zlib.crc32(body, zlib.crc32(head))
    return struct.pack("<III", len(head), len(body), checksum) + head + body


def head(
    kind: int = wire.VALUE,
    *,
    late: int = 0,
    segment: int = 0,
    size: int = 0,
    counts: tuple[int, int, int] = (0, 0, 0),
    rest: bytes = struct.pack("<QQQQ", 0, 0, 0, 1),
) -> bytes:
    """The head of a frame, with any numbers in it."""
    return struct.pack("<IIIQIII", kind, late, segment, size, *counts) + rest


class _Evil:
    def __reduce__(self) -> tuple[object, ...]:
        return exec, ("raise SystemExit('code of the worker ran')",)


def _array(dtype: object, shape: object, held: bytes = b"\0" * 8) -> bytes:
    return json.dumps({"a": [base64.b64encode(held).decode(), dtype, shape]}).encode()


# Bodies that are no plain value.
BODIES: dict[str, bytes] = {
    "nothing": b"",
    "a pickle": pickle.dumps(_Evil()),
    "a pickle of protocol 0": pickle.dumps(_Evil(), 0),
    "deep lists": b"[" * 100_000 + b"]" * 100_000,
    "deep tables": b'{"d":{"x":' * 50_000 + b"1" + b"}}" * 50_000,
    "as deep as JSON may be": b"[" * 100 + b"]" * 100,
    "60 MB of empty lists": b"[" + b"[]," * 20_000_000 + b"[]]",
    "a long text": b'"' + b"x" * (2 << 20) + b'"',
    "a number of a million digits": b"1" * 1_000_000,
    "no text": b"\xff\xfe\x00\x01",
    "cut short": b'{"d": {"a": [1, 2',
    "two values": b"1 2",
    "two forms": b'{"t": [], "b": ""}',
    "no form": b"{}",
    "an unknown form": b'{"reduce": ["os.system", "true"]}',
    "a tuple of no list": b'{"t": 5}',
    "a table of no table": b'{"d": [1]}',
    "bytes of no text": b'{"b": [1]}',
    "bytes that are no base64": b'{"b": "%%%%"}',
    "a buffer that is not there": b'{"b": 0}',
    "a negative buffer": b'{"b": -1}',
    "a truth as a buffer": b'{"b": true}',
    "an array of nothing": b'{"a": []}',
    "an array of a number": b'{"a": 7}',
    "text of 800 MB": _array("<U200000000", [1]),
    "bytes of 900 MB": _array("S900000000", [1]),
    "objects": _array("|O", [1]),
    "records": _array("i4,f8", [1]),
    "times": _array("<M8[s]", [1]),
    "a type that is a number": _array(4, [1]),
    "a type of many": _array([["a", "<i4"]], [1]),
    "a negative shape": _array("<f8", [-1]),
    "a huge shape": _array("<f8", [1 << 60]),
    "a shape whose product is right by chance": _array("<f8", [1 << 32, 1 << 32]),
    "a shape of truths": _array("<f8", [True]),
    "a shape of text": _array("<f8", "1"),
    "many dimensions": _array("<f8", [1] * 100),
    "a shape of more than its bytes": _array("<f8", [2]),
    "a shape of fewer than its bytes": _array("|u1", [4]),
}

# Streams of bytes that are no frames. The last one is the head of a frame whose end never comes.
STREAMS: dict[str, bytes] = {
    "ones": b"\xff" * 4096,
    "a wrong checksum": frame(head())[:-1] + b"\x7f",
    "an endless head": struct.pack("<III", 0xFFFFFFFF, 0, 0) + b"\0" * 4096,
    "an endless body": struct.pack("<III", 40, 0xFFFFFFFF, 0) + b"\0" * 4096,
    "no kind": frame(head(0)),
    "an unknown kind": frame(head(4_000_000_000)),
    "an empty head": frame(b"", b"x"),
    "a short head": frame(head()[:17]),
    "no facts": frame(head(rest=b"")),
    "half of the facts": frame(head(rest=b"\0" * 13)),
    "spans that are not there": frame(head(counts=(4_000_000_000, 0, 0))),
    "numbers that are not there": frame(head(counts=(0, 4_000_000_000, 4_000_000_000))),
    "a span outside of its segment": frame(
        head(segment=1, size=4096, counts=(1, 0, 0), rest=struct.pack("<QQQQQQ", 4000, 97, 0, 0, 0, 1))
    ),
    "a span that ends beyond all memory": frame(
        head(segment=1, size=4096, counts=(1, 0, 0), rest=struct.pack("<QQQQQQ", 1, 2**64 - 1, 0, 0, 0, 1))
    ),
    "one place twice": frame(
        head(segment=1, size=8, counts=(2, 0, 0), rest=struct.pack("<QQQQQQQQ", 0, 8, 0, 8, 0, 0, 0, 1))
    ),
}

# Log records that are none, as JSON.
_LOG = ["name", 20, "path", 1, "text", "function", "", "", 1.5]
LOGS: dict[str, bytes] = {
    "no list": b"{}",
    "too few": json.dumps(_LOG[:-1]).encode(),
    "too many": json.dumps([*_LOG, 1]).encode(),
    "a time that never comes": json.dumps([*_LOG[:-1], float("inf")]).encode(),
    "no time": json.dumps([*_LOG[:-1], float("nan")]).encode(),
    "deep": b"[" * 100_000,
    **{
        f"field {place} of another type": json.dumps([*_LOG[:place], [1], *_LOG[place + 1 :]]).encode()
        for place in range(len(_LOG))
    },
}

ERROR = {
    "module": "builtins",
    "name": "ValueError",
    "type": "ValueError",
    "text": "words",
    "traceback": "Traceback",
    "bases": ["ValueError", "Exception"],
    "arguments": ["words"],
    "refusal": None,
    "memory": None,
    "model_file": "",
}
_VARIABLE = {"name": "kept", "type": "list", "items": 3, "bytes": 4}
_HELD = {"trace": "", "variables": [_VARIABLE], "held": {"private_bytes": 1}}
# Descriptions of exceptions that are none.
ERRORS: dict[str, object] = {
    "no table": [],
    "nothing in it": {},
    "a field too many": {**ERROR, "pickle": "x"},
    "types without a name": {**ERROR, "bases": [[1]]},
    "a refusal of nothing": {**ERROR, "refusal": {}},
    "an unknown refusal": {**ERROR, "refusal": {"problem": "x", "text": "y"}},
    "a refusal with more": {**ERROR, "refusal": {"problem": "no-samples", "text": "y", "more": 1}},
    "a refusal of other shapes": {
        **ERROR,
        "refusal": {"problem": "no-samples", "text": "y", "given_shape": ["x"]},
    },
    "memory of nothing": {**ERROR, "memory": {}},
    "memory that is no number": {**ERROR, "memory": {**_HELD, "held": {"private_bytes": "x"}}},
    "memory below nothing": {**ERROR, "memory": {**_HELD, "held": {"private_bytes": -1}}},
    "too many variables": {**ERROR, "memory": {**_HELD, "variables": [_VARIABLE] * 4}},
    "a variable without a size": {**ERROR, "memory": {**_HELD, "variables": [{"name": "kept"}]}},
    "a name without end": {**ERROR, "memory": {**_HELD, "variables": [{**_VARIABLE, "name": "x" * 161}]}},
    **{f"{name} of another type": {**ERROR, name: 1.5} for name in ERROR},
}
