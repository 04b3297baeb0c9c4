"""What TensorFlow says when it ends the process: failed checks, the op that ran, sizes that were asked for.

Seen in TensorFlow 2.18 and 2.21: `absl` prints a fatal line with file and line, then native frames; the
Python stack names the function of the op, which is made from its name (tensorflow/python/ops/gen_*_ops.py).
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass

from outlive.process.flight import Flight
from outlive.units import parse_bytes, tensor_bytes

# F0000 00:00:1794798364.010606   16640 tensor_shape.cc:362] Check failed: d < dims() (1 vs. 0)
# 2024-05-01 10:00:00.123456: F tensorflow/core/framework/tensor_shape.cc:356] Check failed: ...
_CHECK = re.compile(
    r"^(?:F\d{4} |\d{4}-\d\d-\d\d [\d:.]+: F ).*?(?P<file>[\w./+-]+\.(?:cc|h|cpp|cu)):(?P<line>\d+)\] "
    r"(?P<text>(?:Check failed|Non-OK-status).*)$",
    re.MULTILINE,
)
_GENERATED = re.compile(r'File ".*?[/\\]tensorflow[/\\]python[/\\]ops[/\\]gen_\w+\.py", line \d+ in (\w+)')
_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+) in (?P<function>.+)')
# How the stack of a process begins that was asked for it, and went on (process/child/guard/variables.py).
_LOOK = "Stack (most recent call first)"
_LIBRARIES = ("site-packages", "dist-packages", "importlib", "<frozen", "lib/python", "outlive/worker")
# Allocation of 40000000000 exceeds 10% of free system memory.     tsl/framework/cpu_allocator_impl.cc
# ran out of memory trying to allocate 13.41GiB (rounded to 14400000000)    tsl/framework/bfc_allocator.cc
# Unable to allocate 74.5 GiB for an array with ...                numpy/_core/_exceptions.py
_ASKED = re.compile(r"Allocation of (\d+) exceeds|\(rounded to (\d+)\)|Unable to allocate ([\d.]+ \w+)")
# OOM when allocating tensor with shape[100000,100000] and type float on ...   tensorflow/core/framework
# ... for an array with shape (100000, 100000) and data type float64
_SHAPED = re.compile(r"with shape ?[\[(]([\d, ]+)[\])] and (?:data )?type (\w+)")
_TYPES = {"float": "float32", "double": "float64", "half": "float16"}
_OUT_OF_BOUNDS = re.compile(r"index|out of (?:range|bounds)|offset", re.IGNORECASE)
_OVERFLOW = re.compile(r"num_elements|overflow|too (?:large|big|many)|kint\d+max|kMax|exceed", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedCheck:
    """A check that ended the process: where it stands in the source, and what it says."""

    file: str
    line: int
    text: str

    @property
    def cause(self) -> str:
        """The word of the taxonomy: what kind of number it refused."""
        if _OVERFLOW.search(self.text):
            return "tf-size-overflow"
        return "tf-out-of-bounds" if _OUT_OF_BOUNDS.search(self.text) else "tf-check-failed"


def failed_check(flight: Flight) -> FailedCheck | None:
    """The last check that failed, if one was printed."""
    found = list(_CHECK.finditer(flight.stderr_tail))
    if not found:
        return None
    last = found[-1]
    return FailedCheck(file=last["file"], line=int(last["line"]), text=last["text"].strip())


def in_tensorflow(flight: Flight) -> bool:
    """True if TensorFlow's own kernels were at work, not those of its interpreter for small models."""
    return bool(running_op(flight)) or any(frame.startswith("tensorflow::") for frame in flight.frames)


def running_op(flight: Flight) -> str:
    """The TensorFlow op whose Python function was running, by its name there; empty if none was."""
    found = _GENERATED.search(_current_thread(flight))
    if found is None:
        return ""
    name = "".join(
        part[:1].upper() + part[1:] for part in found[1].removesuffix("_eager_fallback").split("_")
    )
    return re.sub(r"(\d)d", r"\1D", name)


def own_line(flight: Flight) -> str:
    """The innermost line of the user's own code on the stack: `script.py:12 in train`; empty if unknown."""
    return _own_frame(_current_thread(flight))


def any_own_line(flight: Flight) -> str:
    """The same of whichever thread has one: a signal that asks for the stacks may reach another thread."""
    return own_line(flight) or _own_frame(flight.fault_trace)


def last_line(flight: Flight) -> str:
    """The same; of a process that was killed where nothing can be written, its line a moment before."""
    _, asked, last = flight.fault_trace.rpartition(_LOOK)
    return own_line(flight) or (_own_frame(last) if asked else "")


def _own_frame(stack: str) -> str:
    for frame in _FRAME.finditer(stack):
        if not any(word in frame["file"] for word in _LIBRARIES):
            return f"{frame['file']}:{frame['line']} in {frame['function'].strip()}"
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedMemory:
    """Memory that was asked for in vain, in one piece; the shape of the array it was for, if known."""

    bytes: int
    shape: tuple[int, ...] = ()
    dtype: str = ""


def requested_memory(flight: Flight) -> RequestedMemory | None:
    """What was asked for last, as the library says it; None if nothing says so."""
    words = flight.error_text if flight.error_type else flight.stderr_tail
    shaped = list(_SHAPED.finditer(words))
    if shaped:
        shape = tuple(int(size) for size in re.findall(r"\d+", shaped[-1][1]))
        dtype = _TYPES.get(shaped[-1][2], shaped[-1][2])
        size = tensor_bytes(shape, dtype)
        if size is not None:
            return RequestedMemory(bytes=size, shape=shape, dtype=dtype)
    sizes = [group for found in _ASKED.finditer(words) for group in found.groups() if group]
    with contextlib.suppress(ValueError):
        return RequestedMemory(bytes=parse_bytes(sizes[-1])) if sizes else None
    return None


def _current_thread(flight: Flight) -> str:
    """The stack of the thread that died: faulthandler writes it first or marks it "Current thread"."""
    trace = flight.fault_trace
    start = trace.find("Current thread")
    if start < 0:
        return "" if flight.stage == "call" and _LOOK in trace else trace
    end = trace.find("\n\n", start)
    return trace[start:] if end < 0 else trace[start:end]
