"""Every stage of every verb, failing as it does in everyday use: nothing may be left of it, however often.

python -m tests.faults.failures [--times 300] [--only open,guard]      a JSON line for each failure
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import outlive
from tests.deaths import models, scenes
from tests.faults.verbs import DEADLY, HEALTHY, SAMPLES, command

MOST_BYTES = 1_000_000
SETTLE_S = 120.0
BAD = b"no model at all"
MISSING = os.path.join(os.sep, "nonexistent", "model.tflite")
# What a failure may be: an error of outlive's, or what Python raises for arguments that make no sense.
KNOWN = (outlive.OutliveError, ValueError, TypeError, LookupError, MemoryError, FileNotFoundError)

Failure = Callable[[], Any]


def opened(**options: Any) -> Any:
    return scenes.open_healthy(**options)


# --- the interpreter ------------------------------------------------------------------------------------


def invoke_too_early() -> None:
    with outlive.Interpreter(HEALTHY) as one:
        one.invoke()


def set_misfit() -> None:
    with opened() as one:
        one.set_tensor(one.get_input_details()[0]["index"], np.zeros((3, 3), np.float32))


def get_unknown() -> None:
    with opened() as one:
        one.get_tensor(99_999)


def resize_refused() -> None:
    with opened() as one:
        one.resize_tensor_input(one.get_input_details()[0]["index"], [1, 2])
        one.allocate_tensors()


def unknown_signature() -> None:
    with opened() as one:
        one.get_signature_runner("there is none")


def die_at_invoke() -> None:
    scenes.run_whole(outlive.Interpreter(DEADLY))


def abort_at_invoke() -> None:
    scenes.run_whole(outlive.Interpreter(model_content=models.aborting()))


def be_killed() -> None:
    one = opened()
    os.kill(one.pid, signal.SIGKILL)
    scenes.run_often(one, 1000)


def reach_the_deadline() -> None:
    one = outlive.Interpreter(model_content=models.endless(), seconds=0.05)
    scenes.run_whole(one)


def restart_with_a_broken_file() -> None:
    """The file is broken while its worker is dead: the call that would start another one says so."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.tflite"
        path.write_bytes(Path(HEALTHY).read_bytes())
        one = outlive.Interpreter(str(path), on_death="restart")
        one.allocate_tensors()
        path.write_bytes(BAD)
        os.kill(one.pid, signal.SIGKILL)
        with contextlib.suppress(outlive.ModelDied):
            scenes.run_often(one, 1000)
        try:
            scenes.run_often(one, 2)
        finally:
            one.close()


# --- the other verbs ------------------------------------------------------------------------------------


def compare_bad_samples() -> None:
    outlive.compare(HEALTHY, HEALTHY, [np.zeros((2, 2), np.float32)])


def _raising() -> Iterator[Any]:
    yield SAMPLES[0]
    raise LookupError("no more samples")


def guarded(function: Callable[..., Any], *arguments: Any, **options: Any) -> Failure:
    return lambda: outlive.guard(function, **options)(*arguments)


def _refuse() -> None:
    raise LookupError("refused")


def _sleep() -> None:
    time.sleep(100)


def _hold() -> Any:
    return threading.Lock()


def _grow() -> int:
    return len(bytearray(400_000_000))


def must_end_badly(*words: str) -> Failure:
    """A command that cannot end well; it ends with a code that is documented."""

    def call() -> None:
        with tempfile.TemporaryDirectory() as folder:
            if command(*words)(Path(folder)) == 0:
                raise AssertionError(f"{words} ended well")
        raise ValueError("as it should")

    return call


def scan_in(python: str) -> Failure:
    """A scan whose engine processes are this program: one that there is not, or that ends at once."""

    def call() -> None:
        with mock.patch.object(sys, "executable", python):
            [row] = outlive.scan(HEALTHY, cache=False, jobs=1)
        _needs(row.outcome == "lost")

    return call


FAILURES: dict[str, Failure] = {
    "open a missing file": lambda: outlive.Interpreter(MISSING),
    "open bytes that are no model": lambda: outlive.Interpreter(model_content=BAD),
    "open half a model": lambda: outlive.Interpreter(model_content=Path(HEALTHY).read_bytes()[:3000]),
    "open for a runtime that is not here": lambda: outlive.Interpreter(HEALTHY, runtime="tflite_runtime"),
    "invoke before allocate": invoke_too_early,
    "set a misfit": set_misfit,
    "get what there is not": get_unknown,
    "resize to what cannot be": resize_refused,
    "ask for a signature that there is not": unknown_signature,
    "die at invoke": die_at_invoke,
    "abort at invoke": abort_at_invoke,
    "be killed": be_killed,
    "reach the deadline": reach_the_deadline,
    "restart with a broken file": restart_with_a_broken_file,
    "compile bytes that are no model": lambda: outlive.CompiledModel.from_buffer(BAD),
    "read a missing file": lambda: outlive.read(MISSING),
    "read bytes that are no model": lambda: outlive.read(BAD),
    "check for a device that there is not": lambda: outlive.check(HEALTHY, device="no-such-device"),
    "plan bytes that are no model": lambda: outlive.plan(BAD),
    "plan for an input that there is not": lambda: outlive.plan(HEALTHY, inputs={"sound": (1, 2)}),
    "cut what there is not": lambda: outlive.cut(HEALTHY, ops=99_999),
    "run with a misfit": lambda: outlive.run(HEALTHY, [np.zeros((2, 2), np.float32)]),
    "run with too little memory": lambda: outlive.run(HEALTHY, limits=outlive.Limits(memory="1KB")),
    "guard what raises": guarded(_refuse),
    "guard what dies": guarded(os.abort),
    "guard what hangs": guarded(_sleep, seconds=0.05),
    "guard what grows": guarded(_grow, memory="50MB"),
    "guard what gives what cannot be sent": guarded(_hold),
    "guard what cannot be sent": guarded(len, threading.Lock()),
    "diagnose a missing file": lambda: _needs(outlive.diagnose(MISSING).cause),
    "diagnose bytes that are no model": lambda: _needs(outlive.diagnose(BAD).cause),
    "diagnose a death": lambda: _needs(outlive.diagnose(DEADLY).cause),
    "probe bytes that are no model": lambda: outlive.probe(BAD, only=("builtin",), cache=False),
    "compare with bad samples": compare_bad_samples,
    "compare with a model that dies": lambda: outlive.compare(HEALTHY, DEADLY, SAMPLES),
    "quantize by a recipe that there is not": lambda: outlive.quantize(HEALTHY, "no-such-recipe"),
    "quantize with samples that raise": lambda: outlive.quantize(HEALTHY, "static-int8", _raising),
    "quantize bytes that are no model": lambda: outlive.quantize(BAD),
    "fit bytes that are no model": lambda: outlive.fit(BAD, ram="1MB"),
    "leak of what raises": lambda: outlive.leak(_refuse, repeat=5),
    "leak of what dies": lambda: _needs(outlive.leak(os.abort, repeat=5)),
    "leak of bytes that are no model": lambda: outlive.leak(BAD),
    "export a missing file": must_end_badly("export", MISSING, "--tflm", "--output", "FOLDER/out"),
    "report on a missing file": must_end_badly("report", MISSING, "-o", "FOLDER/out.html"),
    "report where nothing can be written": must_end_badly("report", HEALTHY, "--no-run", "-o", "/dev/full"),
    "autopsy of a missing file": must_end_badly("autopsy", MISSING),
    "blackbox without a record": must_end_badly("blackbox", "show", "no-such-record"),
    "scan a missing folder": must_end_badly("scan", "FOLDER/nothing", "--no-cache"),
    "scan where no process starts": scan_in(MISSING),
    "scan whose processes die": scan_in(shutil.which("false") or ""),
}


def _needs(told: object) -> None:
    """What ends in a result that tells of the failure."""
    if not told:
        raise AssertionError("it tells of nothing")
    raise ValueError("as it should")


def fail(name: str) -> None:
    """Fail once; AssertionError if it does not, or in a way that nobody would expect."""
    try:
        FAILURES[name]()
    except KNOWN:
        return
    except Exception as error:
        raise AssertionError(f"{name}: {error!r}") from error
    raise AssertionError(f"{name}: it did not fail")


def measure(name: str, times: int) -> dict[str, Any]:
    """What one failure leaves behind, so many times, after half as many.

    Errors with their frames are collected now and then only, and Python keeps the memory of the largest heap
    of them: it is there after some hundred, and grows no more.
    """
    for _ in range(max(times // 2, 3)):
        fail(name)
    before, start = _settled(), time.monotonic()
    for _ in range(times):
        fail(name)
    seconds = time.monotonic() - start
    end = time.monotonic() + SETTLE_S
    while _grown(before, after := _held()) and time.monotonic() < end:
        time.sleep(0.1)
    return {"failure": name, "times": times, "seconds": round(seconds, 2), **_differences(before, after)}


def _settled() -> dict[str, int]:
    """The most that is held within a second: workers may just be starting in the background."""
    looks = []
    for _ in range(5):
        looks.append(_held())
        time.sleep(0.2)
    return {name: max(look[name] for look in looks) for name in looks[0]}


def _held() -> dict[str, int]:
    processes, descriptors, blocks = scenes.holdings()
    return {
        "grown_descriptors": len(descriptors),
        "grown_processes": len(processes),
        "grown_blocks": blocks,
        "grown_bytes": scenes.private_bytes(),
    }


def _differences(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    return {name: after[name] - before[name] for name in before}


def _grown(before: dict[str, int], after: dict[str, int]) -> bool:
    return not holds(_differences(before, after))


def holds(row: dict[str, Any]) -> bool:
    """True if nothing has grown; memory may, by less than a megabyte."""
    counted = (row["grown_descriptors"], row["grown_processes"], row["grown_blocks"])
    return max(counted) <= 0 and bool(row["grown_bytes"] < MOST_BYTES)


def main() -> int:
    """Measure all of them, or some; 1 if something grows."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--times", type=int, default=300)
    parser.add_argument("--only", type=lambda words: words.split(","), default=list(FAILURES))
    parser.add_argument("--list", action="store_true", help="print their names only")
    args = parser.parse_args()
    if args.list:
        print(*FAILURES, sep="\n")
        return 0
    fine = True
    for name in args.only:
        try:
            row = measure(name, args.times)
            if not holds(row):  # what is opened once, and late, does not grow a second time
                row = measure(name, args.times)
            row["holds"] = holds(row)
        except AssertionError as error:
            row = {"failure": name, "holds": False, "problem": str(error)}
        fine &= row["holds"]
        print(json.dumps(row), flush=True)
    gc.collect()
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
