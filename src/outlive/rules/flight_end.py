"""How a run ended: the cause in a word, and evidence in words that rules share."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

from outlive.finding import Evidence, OpPlace, Remedy, Tag, shell_path
from outlive.process.flight import Flight
from outlive.rules.tensorflow_log import failed_check, last_line, own_line, running_op
from outlive.units import format_bytes

STAGE_WORDS = {
    "start": "while starting the worker",
    "load": "while loading the model",
    "allocate": "while allocating tensors",
    "set": "while setting an input",
    "invoke": "during invoke",
    "get": "while reading a tensor",
    "free": "while freeing the interpreter",
    "idle": "between two calls",
    "call": "in the function",
    "function": "in the function",
    "script": "in the script",
    "cell": "in a cell",
    "between cells": "between two cells",
}
_TAKING_MEMORY = ("load", "allocate", "invoke")
_BY_SIGNAL = {
    "SIGSEGV": "memory-fault",
    "SIGBUS": "memory-fault",
    "SIGABRT": "abort",
    "SIGFPE": "arithmetic-fault",
    "SIGKILL": "outside",
    "SIGTERM": "outside",
    "SIGINT": "outside",
    "SIGHUP": "outside",
}
# What Python, numpy, TensorFlow and PyTorch raise.
_OUT_OF_MEMORY = ("MemoryError", "_ArrayMemoryError", "ResourceExhaustedError", "OutOfMemoryError")
# What XNNPACK says when it gets no memory, among other things: tflite/delegates/xnnpack/xnnpack_delegate.cc.
_RESHAPE = "reshape runtime"
# Words of a RuntimeError near a limit. A ValueError is about the file: "The model allocation is null/empty"
# (tensorflow/compiler/mlir/lite/allocation.h).
_LIMIT_WORDS = ("memory", "bad_alloc", "to allocate", "failed to create xnnpack runtime", _RESHAPE)
_GAVE_UP = ("memory allocation still failed", "cannot allocate memory", "out of memory")
_MEMORY_WORDS = (
    "failed to create xnnpack runtime",
    "failed to reshape runtime",
    "failed to delegate",
    "failed to allocate",
)
# Below this lies no mapping (vm.mmap_min_addr): such an address is a null pointer with a small offset.
_NULL_PAGE_BYTES = 0x10000
# A runtime asks for large pieces: with this share of its limit in use, the next one may well not be had.
_NEAR_LIMIT = 0.5
# A process that waits takes less of a processor than this, one that computes far more.
_BUSY_SHARE = 0.2
# On a crowded machine it may get less, and wants it all the time.
_WANTING_SHARE = 0.6
# What libraries say when a thread is refused: TensorFlow (tsl/platform/default/env.cc), libstdc++, Python.
_NO_THREAD = re.compile(
    r"^.*(?:pthread_create\b.*failed|can't start new thread|std::system_error|"
    r"thread.*Resource temporarily unavailable).*$",
    re.MULTILINE,
)
_FEW_FRAMES = 4
# faulthandler shows a hundred calls (CPython, Python/traceback.c: MAX_FRAME_DEPTH).
_DEEP = 45
# Frames between the signal and the code that asked for it.
_MESSENGERS = ("absl::", "libc.so", "libstdc++", "gsignal", "raise", "abort", "__", "_Z", "None")


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedValues:
    """A run that was refused with inputs that we chose, what its words mean, and where it was."""

    values: str
    flight: Flight
    cause: str
    meaning: str
    op: OpPlace | None = None


def cause(flight: Flight) -> str:
    """What ended the run, in a word: one for every run that did not end well, so that one rule speaks."""
    if not flight.died:
        if not flight.error_type:
            return ""
        if flight.error_type == "OSError":  # LiteRT raises none: it is what outlive's own code met
            return "system-refusal"
        if thread_words(flight):
            return "threads-refused"
        return "memory-limit" if starved(flight) else "refusal"
    if flight.ended_by == "deadline":
        return "forked" if has_stuck_forks(flight) else "deadline"
    if flight.ended_by == "malformed":
        return "malformed"
    if not flight.ended_by and lacked_threads(flight):
        return "threads-refused"
    if starved(flight):
        return "memory-limit"
    if flight.ended_by:
        return "outside"
    if flight.signal == "SIGKILL" and oom_kills_rose(flight):
        return "killed-for-memory"
    if flight.signal == "SIGABRT" and failed_check(flight) is not None:
        return "check-failed"
    if flight.signal is not None:
        return _BY_SIGNAL.get(flight.signal, "other-signal")
    return "left" if flight.exit_code is not None else "unknown"


def may_lack_memory(flight: Flight) -> bool:
    """True of a complaint in words that LiteRT has for a lack of memory, among other things."""
    return not flight.died and any(word in flight.error_text.lower() for word in _MEMORY_WORDS)


def lacked_memory(flight: Flight) -> bool:
    """True if it ended for want of memory, at a limit of its own or at that of the machine."""
    return cause(flight) in ("memory-limit", "killed-for-memory")


def complains_at_limit(flight: Flight) -> bool:
    """True if the runtime said, in words or by saying nothing, that it could not get memory, at a limit.

    A limit that was asked for counts, however far away, but not for a delegate that cannot be reshaped, which
    may have other reasons; any limit counts where half of it is in use.
    """
    if flight.died or flight.ended_by or flight.stage not in _TAKING_MEMORY:
        return False
    words = flight.error_text.lower()
    silent = not words.strip() or any(word in words for word in _LIMIT_WORDS)
    if flight.error_type != "MemoryError" and not (flight.error_type == "RuntimeError" and silent):
        return False
    asked = amount(flight.limits.get("memory_bytes")) is not None
    return _near_limit(flight) or (asked and _RESHAPE not in words)


def starved(flight: Flight) -> bool:
    """True if the runtime asked for memory that a limit, or the machine, did not let it have."""
    if not flight.died and flight.planned.get("needed_bytes", 0) > flight.planned.get("room_bytes", math.inf):
        return True
    if flight.ended_by:
        return flight.ended_by == "memory"
    if not flight.died:
        # LiteRT's RuntimeError has no text when the arena cannot be had.
        silent = flight.error_type == "RuntimeError" and not flight.error_text.strip()
        return (
            complains_at_limit(flight)
            or flight.error_type in _OUT_OF_MEMORY
            or (silent and flight.stage in _TAKING_MEMORY)
        )
    if flight.signal == "SIGABRT":
        return "bad_alloc" in flight.stderr_tail
    if flight.signal is None and flight.exit_code:
        # A library that gives up, as OpenBLAS does in numpy's import (driver/others/memory.c).
        asked = amount(flight.limits.get("memory_bytes")) is not None
        return asked and any(words in flight.stderr_tail.lower() for words in _GAVE_UP)
    return flight.signal == "SIGSEGV" and is_null(flight) and _near_limit(flight)


def thread_words(flight: Flight) -> str:
    """What was said of a thread that could not be started; empty if nothing was."""
    found = list(_NO_THREAD.finditer(flight.stderr_tail if flight.died else flight.error_text))
    # Without the head of a line of absl's log: `F0000 00:00:1794 7775 env.cc:84] `.
    return found[-1][0].rpartition("] ")[2].strip()[:200] if found else ""


def lacked_threads(flight: Flight) -> bool:
    """True if it died because a thread was refused.

    LiteRT's own kernels throw then, and the binding makes a Python exception of it in a thread that does not
    hold Python's lock.
    """
    if flight.signal in ("SIGABRT", "SIGSEGV") and thread_words(flight):
        return True
    seen = flight.limits.get("threads")
    translating = any("translate_exception" in frame for frame in flight.frames[:_FEW_FRAMES])
    return isinstance(seen, dict) and bool(seen.get("by")) and translating


def is_function(flight: Flight) -> bool:
    """True if it was a function of the user's own that ran, and not a model."""
    return flight.stage in ("call", "cell", "between cells")


def is_kernel(flight: Flight) -> bool:
    """True if it was a notebook's kernel, and no worker of ours."""
    return flight.stage in ("cell", "between cells")


def subject(flight: Flight) -> str:
    """Whose process it was, in the user's words."""
    if is_kernel(flight):
        return "the kernel"
    return f"the {doer(flight)}'s process"


def doer(flight: Flight) -> str:
    """What ran, in a word: a model, a function, a script, or a cell."""
    if flight.stage == "call":
        return next((word for word in ("script", "cell") if flight.runtime.get(word)), "function")
    return "cell" if is_kernel(flight) else "model"


def limited_command(flight: Flight, size: str) -> str:
    """How to run it again with a memory limit."""
    if doer(flight) == "script":
        return f"outlive guard --memory {size} {shell_path(str(flight.runtime['script']))}"
    if doer(flight) == "cell":
        return f"%%outlive --memory {size}"
    if is_function(flight):
        return f'outlive.guard(function, memory="{size}")'
    return f"outlive run FILE --memory {size}"


def was_busy(flight: Flight) -> bool | None:
    """Whether it used a processor at its deadline; None if that is unknown."""
    share = flight.activity.get("cpu_share")
    if not isinstance(share, (int, float)):
        return None
    children = [child.get("cpu_share", 0) for child in flight.activity.get("children", ())]
    wanting = flight.activity.get("runnable_share", 0)
    return bool(max([share, *children]) >= _BUSY_SHARE or wanting >= _WANTING_SHARE)


def has_stuck_forks(flight: Flight) -> bool:
    """True if copies of a process with threads wait beside it: threads are not copied, what they hold is."""
    forks = [child for child in flight.activity.get("children", ()) if child.get("forked")]
    return bool(forks) and flight.activity.get("threads", 0) > 1 and not was_busy(flight)


def oom_kills_rose(flight: Flight) -> bool:
    """True if the system counted a kill for memory while the worker lived."""
    return flight.oom_kills is not None and flight.oom_kills[1] > flight.oom_kills[0]


def is_null(flight: Flight) -> bool:
    """True if the address that was touched is a null pointer with a small offset."""
    return flight.fault_address is not None and 0 <= flight.fault_address < _NULL_PAGE_BYTES


def _near_limit(flight: Flight) -> bool:
    used, limit = flight.last_memory.get("data_bytes"), amount(flight.limits.get("data_bytes"))
    return used is not None and limit is not None and used > _NEAR_LIMIT * limit


def amount(value: Any) -> int | None:
    """A number of bytes that limits hold; None if they hold none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def place(flight: Flight) -> str:
    """Where it happened: the operator if it is known, and the stage."""
    key = doer(flight) if flight.stage == "call" else flight.stage
    stage = own_place(flight) or STAGE_WORDS.get(key, flight.stage)
    if flight.op is None:
        return ", ".join(word for word in (running_op(flight), stage) if word)
    index = "" if flight.op.index is None else f"operator {flight.op.index}, "
    subgraph = f"subgraph {flight.op.subgraph}, " if flight.op.subgraph else ""
    return f"{subgraph}{index}{flight.op.type}, {stage}"


def own_place(flight: Flight) -> str:
    """The line of the user's own code that ran: `cell [2]:3 in main`; empty if unknown, or a model ran."""
    return (last_line if lacked_memory(flight) else own_line)(flight) if is_function(flight) else ""


def recursion(flight: Flight) -> str:
    """The function that the thread that died had called again and again; empty if there is none."""
    _, _, stack = flight.fault_trace.rpartition("Current thread ")
    calls = [line.rpartition(" in ")[2].strip() for line in stack.splitlines() if line.startswith("  File ")]
    counted = Counter(calls).most_common(1)
    return counted[0][0] if counted and counted[0][1] >= _DEEP else ""


def status(flight: Flight) -> Evidence:
    """How the process ended."""
    if flight.signal is not None:
        return Evidence(f"ended by {flight.signal}", "exit status")
    if flight.exit_code is not None:
        return Evidence(f"ended with exit code {flight.exit_code}", "exit status")
    return Evidence("exit status unknown", "exit status")


def witness(flight: Flight) -> tuple[Evidence, ...]:
    """Everything worth saying about a death, the strongest first."""
    found = [status(flight), *native_stack(flight)]
    if flight.fault_address is not None and flight.signal in ("SIGSEGV", "SIGBUS"):
        found.append(Evidence(f"accessed address {flight.fault_address:#x}", "signal"))
    found += memory(flight)
    last = last_words(flight)
    if last:
        found.append(Evidence(f"last output: {last}", "standard error"))
    return tuple(found)


def native_stack(flight: Flight) -> list[Evidence]:
    """The function it died in, and the kernel that called it; why there is no stack, if there is none."""
    telling = [frame for frame in flight.frames if not frame.startswith(_MESSENGERS)]
    if not telling:
        reason = flight.untraced
        return [Evidence(f"no native stack: {reason}", "tracer")] if reason else []
    kernel = next((frame for frame in telling if "tflite::ops" in frame), telling[0])
    inner = "" if kernel == telling[0] else f", called by {kernel}"
    return [Evidence(f"in {telling[0]}{inner}", "native stack")]


def memory(flight: Flight) -> list[Evidence]:
    """What is known of its memory."""
    found = []
    if flight.peak_bytes is not None:
        what = {"function": "call"}.get(doer(flight), doer(flight))
        fact = f"used at least {format_bytes(flight.peak_bytes)} more than before the {what}"
        found.append(Evidence(fact, "memory timeline"))
    limit = amount(flight.limits.get("memory_bytes"))
    if limit is not None:
        found.append(Evidence(f"limit {format_bytes(limit, limit)}", "limits"))
    return [*found, *gpu_memory(flight)]


def gpu_memory(flight: Flight) -> list[Evidence]:
    """What is known of its memory on GPUs."""
    seen = [point.gpu_bytes for point in flight.timeline if point.gpu_bytes]
    gpu = flight.runtime.get("gpu")
    if not seen or not isinstance(gpu, dict):
        return []
    whole = amount(gpu.get("total_bytes"))
    of = f" of {format_bytes(whole)}" if whole else ""
    fact = f"used at least {format_bytes(max(seen))}{of} on the GPU"
    if gpu.get("counted") != "process":
        fact = f"GPU memory use of all processes rose by at least {format_bytes(max(seen))}{of}"
    return [Evidence(fact, "NVML")]


def last_words(flight: Flight) -> str:
    """The last line of standard error that is not the runtime's usual chatter."""
    lines = [line.strip() for line in flight.stderr_tail.splitlines()]
    telling = [line for line in lines if line and not line.startswith("INFO:")]
    return telling[-1][:200] if telling else ""


def other_kernels(flight: Flight) -> tuple[Remedy, ...]:
    """Other kernels to try, where the stack says which ones were at work, or there is no stack."""
    if is_function(flight):
        return ()
    seen = " ".join(flight.frames)
    if "xnn" in seen.lower():
        action, kernels = "run the model without XNNPACK, in which it crashed", "builtin"
    elif "tflite::optimized_ops" in seen:
        action, kernels = (
            "run the model with the reference kernels (slower); it crashed in an optimized one",
            "reference",
        )
    elif not flight.frames:
        action, kernels = "run the model without XNNPACK", "builtin"
    else:
        return ()  # code that runs whatever the kernels
    command = f"outlive run FILE --accelerator {kernels}"
    return (Remedy(action, Tag.SAME_RESULTS, command=command),)
