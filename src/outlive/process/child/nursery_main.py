"""A nursery: the platform forks, traces and reaps; here is what it loads, and what a worker then does."""

from __future__ import annotations

import os
from typing import Any

from . import running_op, runtimes
from .operating_system import nursery


def main(**arguments: Any) -> None:
    """Become a nursery."""
    start = os.path.join(os.path.dirname(os.path.abspath(__file__)), "start.py")
    code = nursery.WorkerCode(start, runtimes.NO_RUNTIME, prepare, run, running_op.identify)
    nursery.main(code, **arguments)


def prepare(runtime: str) -> dict[str, Any]:
    """Load what workers need; nothing if they are fresh Pythons that load it themselves."""
    if runtime == runtimes.NO_RUNTIME:
        return {"runtime": runtime}
    facts = runtimes.preload(runtime)
    # After the runtime, because it imports numpy too, and numpy starts threads if it comes first.
    from . import worker_main

    # TensorFlow's compiler works in threads too, and deeply.
    worker_main.prepare(small_stacks=runtime != "tensorflow")
    return facts


def run(message: dict[str, Any], descriptors: list[int]) -> int:
    """In a fork: be a worker; the exit code."""
    from . import worker_main

    return worker_main.run(message, descriptors)
