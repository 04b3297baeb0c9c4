"""Which lines asked for memory that some rounds never gave back: memray says so, where it is installed.

memray follows every allocation of the process, Python's and native ones, and slows it down; so this runs in a
worker of its own, after the verdict.
"""

from __future__ import annotations

import collections
import gc
import os
import shutil
import tempfile
from typing import Any, Iterable

from . import targets

_MOST_SITES = 3
_DEEPEST = 40
# A site that leaks does so in nearly every round; others are caches, and what is freed late.
_MOST_ROUNDS = 0.7
# Functions between the one that asked and the system: no news.
_ALLOCATORS = (
    "malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc", "memalign", "valloc", "pvalloc", "mmap",
    "mmap64", "_PyMem_", "PyMem_", "_PyObject_Malloc", "PyObject_Malloc", "_PyObject_Calloc", "operator new",
    "__libc_",
)  # fmt: skip
_MACHINERY = (
    "ffi_",
    "_ctypes",
    "_PyEval",
    "_PyFunction",
    "PyObject_",
    "_PyObject_",
    "PyEval",
    "method_",
    "cfunction_",
)


def sites(target: Any, warm: int, count: int, bounds: dict[str, Any]) -> list[dict[str, Any]]:
    """Where memory was asked for that `count` rounds left behind, in bytes per round; none without memray."""
    try:
        import memray
    except Exception:  # not installed, or not for this system
        return []
    targets.silence_output(bounds)
    action = targets.make_action(target)
    for _ in range(warm):
        action()
    gc.collect()
    folder = tempfile.mkdtemp(prefix="outlive-memray-")
    found: list[dict[str, Any]] = []
    try:
        path = os.path.join(folder, "allocations")
        with memray.Tracker(path, native_traces=True):
            for _ in range(count):
                action()
            gc.collect()
        with memray.FileReader(path) as reader:
            found = _largest(reader.get_leaked_allocation_records(merge_threads=True), count)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return found


def _largest(records: Iterable[Any], count: int) -> list[dict[str, Any]]:
    sizes: collections.Counter[str] = collections.Counter()
    numbers: collections.Counter[str] = collections.Counter()
    for record in records:
        name = _site(record)
        sizes[name] += record.size
        numbers[name] += record.n_allocations
    steady = [(name, size) for name, size in sizes.most_common() if numbers[name] >= _MOST_ROUNDS * count]
    return [{"name": name, "per_round": size / count} for name, size in steady[:_MOST_SITES]]


def _site(record: Any) -> str:
    """The native function that asked, and the line of Python that called it."""
    try:
        frames = record.hybrid_stack_trace(max_stacks=_DEEPEST)
    except Exception:  # frames that it cannot read
        frames = record.stack_trace(max_stacks=_DEEPEST)
    native = ""
    for function, file, line in frames:
        if file.endswith(".py") or (file.startswith("<") and file != "<unknown>"):
            where = "%s:%d in %s" % (os.path.basename(file), line, function)
            return "%s, called at %s" % (native, where) if native else where
        if not native and not function.startswith(_ALLOCATORS) and not function.startswith(_MACHINERY):
            native = function
    return native or "native code"
