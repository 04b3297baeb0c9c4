"""Reads one file in a process of its own and tells what it cost: `python -m tests.properties.trial FILE`."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tracemalloc
from dataclasses import dataclass
from pathlib import Path

from outlive.model import Reading, read_source
from tests.properties.visiting import read_everything, say_json, say_text

REPOSITORY = Path(__file__).parents[2]
# What reading a hostile file may take: this many bytes for each of its own, and a little for the start. The
# greatest honest share is 41 (vectors of int32 that overlap: 40 bytes for a Python number and its place in a
# tuple, four bytes of file each, claimed four times, which is the reader's budget).
PEAK_PER_BYTE = 48
PEAK_START_BYTES = 500_000
# Room for a reading gone wrong to be measured, not for it to take the machine along.
_ADDRESS_SPACE_BYTES = 4 << 30
_WARM_UP = b"\0\0\0\0TFL3" + bytes(16)


@dataclass(frozen=True)
class Cost:
    """What reading took at most, and whether a model came of it."""

    peak_bytes: int
    has_model: bool
    flaw_kinds: tuple[str, ...]


def allowed_bytes(data: bytes) -> int:
    """The most that reading these bytes may take."""
    return PEAK_PER_BYTE * len(data) + PEAK_START_BYTES


def measure(data: bytes) -> tuple[Reading, int]:
    """The reading, and the most memory that Python held for it at any time."""
    read_source(_WARM_UP)  # the schema is loaded once, and is not the file's fault
    tracemalloc.start()
    try:
        reading = read_source(data)
        return reading, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def try_apart(data: bytes, folder: Path, *, timeout_s: float) -> Cost:
    """What reading costs, found in a child that is stopped if it does not come to an end."""
    path = folder / "hostile.tflite"
    path.write_bytes(data)
    command = [sys.executable, "-m", "tests.properties.trial", str(path)]
    done = subprocess.run(
        command, cwd=REPOSITORY, capture_output=True, text=True, timeout=timeout_s, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    answer = json.loads(done.stdout)
    return Cost(answer["peak_bytes"], answer["has_model"], tuple(answer["flaw_kinds"]))


def main(path: str) -> None:
    """Measure, then look at everything and say it, all in the time our parent allows."""
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESS_SPACE_BYTES, _ADDRESS_SPACE_BYTES))
    data = Path(path).read_bytes()
    reading, peak_bytes = measure(data)
    read_everything(data)
    say_json(data, reading)
    say_text(data, reading)
    kinds = sorted({flaw.kind for flaw in reading.flaws})
    print(json.dumps({"peak_bytes": peak_bytes, "has_model": reading.model is not None, "flaw_kinds": kinds}))


if __name__ == "__main__":
    main(sys.argv[1])
