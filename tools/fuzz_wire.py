"""Throws bytes at what reads a worker's words: python tools/fuzz_wire.py [--seconds 10] [--seed N].

    data ──> fuzz_guard_frames ──> decoded, or `Malformed`; anything else is a fault

The first byte says what the others are: a stream, a head with lengths and checksum that are right, or a body.
A fuzzer that follows coverage (atheris) calls the same function; by itself this file changes the payloads of
tests/guarding at random.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import sys
import time
from collections.abc import Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from outlive.guarding import worker_output as outputs
from outlive.guarding.guard_process import read_applied
from outlive.guarding.worker_errors import rebuild_plain
from outlive.process.child.guard import plain_values
from outlive.process.child.guard.message_frames import MOST_PLAIN_HEAD_BYTES, FrameReader, Malformed
from outlive.process.flight import Flight
from outlive.verbs.judging import JUDGE
from tests.guarding.payloads import BODIES, ERRORS, LOGS, STREAMS, frame

_MOST_BYTES = 1 << 16


def fuzz_guard_frames(data: bytes) -> object:
    """What is read of these bytes; None if they are `Malformed`, and nothing else is ever raised."""
    readers = (
        _read_stream,
        _read_frame,
        plain_values.loads,
        _read_value,
        _read_error,
        _read_log,
        read_applied,
    )
    try:
        return readers[data[0] % len(readers)](data[1:]) if data else None
    except Malformed:
        return None


def _read_stream(data: bytes) -> object:
    inlet = FrameReader()
    inlet.most_head_bytes = MOST_PLAIN_HEAD_BYTES
    found = []
    for start in range(0, len(data), 1000):
        inlet.feed(data[start : start + 1000])
        while (taken := inlet.take()) is not None:
            found.append(taken)
    return found


def _read_frame(data: bytes) -> object:
    size = data[0] if data else 0
    return _read_stream(frame(data[1 : 1 + size], data[1 + size :]))


def _read_value(data: bytes) -> object:
    """A value with two buffers beside it."""
    return plain_values.loads(data, [bytearray(8), bytearray(4096)])


def _read_error(data: bytes) -> object:
    return rebuild_plain(data, Flight(died=False, stage="call"), JUDGE)


def _read_log(data: bytes) -> object:
    outputs.deliver_log(data, is_plain=True)
    return None


def seeds() -> list[bytes]:
    """Where to begin: the payloads of the tests, each under the number of its reader."""
    errors = [json.dumps({"d": one}).encode() for one in ERRORS.values()]
    kinds: tuple[Iterable[bytes], ...] = (
        STREAMS.values(),
        [],
        BODIES.values(),
        BODIES.values(),
        errors,
        LOGS.values(),
        [b'{"a": 1}'],
    )
    return [
        bytes([number]) + one for number, kind in enumerate(kinds) for one in kind if len(one) < _MOST_BYTES
    ]


def main() -> int:
    """Change seeds at random for some seconds."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    logging.disable()
    chance, known, count = random.Random(given.seed), seeds(), 0
    end = time.monotonic() + given.seconds
    while time.monotonic() < end:
        data = bytearray(chance.choice(known))
        for _ in range(chance.randrange(6)):
            start = chance.randrange(len(data) + 1)
            data[start : start + chance.randrange(4)] = chance.randbytes(chance.randrange(4))
        fuzz_guard_frames(bytes(data))
        count += 1
    print(f"{count} inputs, none of which raised anything but Malformed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
