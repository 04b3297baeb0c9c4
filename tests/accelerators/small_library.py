"""The delegate library of `small_delegate.c`, built once for all tests; they say so where it cannot be."""

from __future__ import annotations

import functools
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

SOURCE = Path(__file__).with_name("small_delegate.c")
FLAGS = ("-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror")


@functools.cache
def build() -> str:
    """The path of the library; empty if this system has no C compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return ""
    path = Path(tempfile.mkdtemp(prefix="outlive-tests-")) / "libsmall_delegate.so"
    subprocess.run([compiler, *FLAGS, "-o", str(path), str(SOURCE)], check=True)
    return str(path)


needs_compiler = pytest.mark.skipif(
    not (shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")),
    reason="needs a C compiler to build a delegate library: apt install gcc",
)
