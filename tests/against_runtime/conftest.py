"""What LiteRT says about each corpus model, asked in a process per model, two at a time."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

PROBE = Path(__file__).parent / "runtime_probe.py"
TIMEOUT_S = 300


@dataclass(frozen=True)
class Answers:
    """The views of one model; None where the process died or hung before it could give one."""

    schema: dict[str, Any] | None
    runtime: dict[str, Any] | None
    ended: str


def ask(path: Path, probe: Path = PROBE, timeout_s: float = TIMEOUT_S) -> Answers:
    """Both views of a model; if it kills or hangs the probe, that costs the views it had not given yet."""
    command = [sys.executable, str(probe), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        try:
            printed, complaints = child.communicate(timeout=timeout_s)
            ended = "" if child.returncode == 0 else f"{child.returncode}: {complaints[-500:].decode()}"
        except subprocess.TimeoutExpired:
            child.kill()
            printed, _ = child.communicate()
            ended = f"no answer in {timeout_s} s"
    views = [json.loads(line) for line in printed.splitlines(keepends=True) if line.endswith(b"\n")]
    schema, runtime = [*views, None, None][:2]
    return Answers(schema, runtime, ended)


@pytest.fixture(scope="session")
def answers(corpus_models: tuple[Path, ...]) -> dict[str, Answers]:
    """What LiteRT says about each corpus model, by file name."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        return {
            path.name: answer
            for path, answer in zip(corpus_models, pool.map(ask, corpus_models), strict=True)
        }
