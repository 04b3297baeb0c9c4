"""What is tried with a damaged model, by verb; which errors may come of it is said here, too.

    attempt(verb, data, seed) ──> a word for how it ended, or an exception that no user should ever see

Settings (which device, which accelerator, which operators) follow from the seed, as the mutant does.
"""

from __future__ import annotations

import random
import traceback
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

import outlive
from outlive.arena.devices import known_devices
from outlive.arena.questions import ABIS, ACCELERATORS, KERNELS
from outlive.model import read_source
from outlive.rules.judgement import file_errors
from outlive.verbs.checking import check_reading, make_criteria

_RAMS = ("64KB", "8MB", "2GB")
# What the user asked of a part cannot be had; `outlive.cut` says so with a ValueError.
_ASKING_FILES = ("naming.py", "cutting.py", "choosing.py")
_RUN_LIMITS = outlive.Limits(memory="512MB", seconds=5.0)


class Wrong(AssertionError):
    """The verb came back, but not with what it promises."""


def attempt(verb: str, data: bytes, seed: int) -> str:
    """One verb on one mutant; the end in a word. Whatever is raised is a bug."""
    try:
        return VERBS[verb](data, random.Random(seed))
    except outlive.OutliveError as error:
        if not error.finding.code:
            raise Wrong("an error without a finding") from error
        return f"{type(error).__name__} {error.finding.code}"


def _check(data: bytes, chance: random.Random) -> str:
    """Read it and check it: against nothing, an amount of RAM or a device, for one of the accelerators."""
    settings: list[dict[str, str]] = [{}, {"accelerator": chance.choice(ACCELERATORS)}]
    settings.append({"ram": chance.choice(_RAMS), "accelerator": chance.choice(ACCELERATORS)})
    settings.append({"device": chance.choice(_device_names())})
    order = make_criteria(**chance.choice(settings))  # type: ignore[arg-type]
    checked = check_reading(read_source(data), order)
    failed = [item for item in checked.judgement.not_checked if _is_failure(item.reason)]
    if failed:
        raise Wrong(f"not checked: {failed[0].code}: {failed[0].reason}")
    return "errors" if checked.judgement.errors else "no errors"


def _is_failure(reason: str) -> bool:
    return "failed" in reason or "cannot be planned" in reason


def _plan(data: bytes, chance: random.Random) -> str:
    """Plan it for every accelerator."""
    model = outlive.read(data)
    for accelerator in ACCELERATORS:
        micro = {"abi": chance.choice(ABIS), "kernels": chance.choice(KERNELS)}
        plan = outlive.plan(model, accelerator, **(micro if accelerator == "tflm" else {}))  # type: ignore[arg-type]
        sizes = (plan.arena_bytes, plan.persistent_bytes, plan.peak_bytes, plan.min_arena_bytes)
        if any(size is not None and size < 0 for size in sizes):
            raise Wrong(f"{accelerator}: a size below zero")
    return "planned"


def _cut(data: bytes, chance: random.Random) -> str:
    """Cut one operator out, or all up to it; the part is a model that can be read."""
    model = outlive.read(data)
    count = len(model.subgraphs[0].operators) if model.subgraphs else 0
    if not count:
        return "nothing to cut"
    at = chance.randrange(count)
    request: dict[str, int] = {"until": at} if chance.random() < 0.5 else {"ops": at}
    try:
        part = outlive.cut(model, **request)  # type: ignore[arg-type]
    except outlive.OutliveError:
        raise
    except ValueError as error:
        if Path(traceback.extract_tb(error.__traceback__)[-1].filename).name not in _ASKING_FILES:
            raise
        return "no such part"
    errors = file_errors(read_source(part.model))
    if errors:
        raise Wrong(f"the part is broken: {errors[0].headline}")
    return "cut"


def _run(data: bytes, _: random.Random) -> str:
    """Run it in a worker with limits."""
    flight = outlive.run(data, limits=_RUN_LIMITS)
    if flight.died:
        return f"died: {flight.signal or flight.ended_by or flight.exit_code}"
    return f"refused: {flight.error_type}" if flight.error_type else "ran"


def handed_over(data: bytes) -> int:
    """Bytes that a caller of `run` has to hold: inputs and outputs, as arrays and as the worker's own."""
    with outlive.Interpreter(model_content=data) as interpreter:
        interpreter.allocate_tensors()
        rows = interpreter.get_input_details() + interpreter.get_output_details()
    return sum(2 * int(np.prod(row["shape"])) * int(np.dtype(row["dtype"]).itemsize) for row in rows)


@cache
def _device_names() -> tuple[str, ...]:
    return tuple(device.name for device in known_devices())


VERBS: dict[str, Callable[[bytes, random.Random], str]] = {
    "read": _check,
    "plan": _plan,
    "cut": _cut,
    "run": _run,
}
