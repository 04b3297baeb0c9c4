"""The compilers at hand, with warnings as errors, against declarations of the interfaces in `interfaces/`."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

INTERFACES = Path(__file__).parent / "interfaces"
_STRICT = ("-Wall", "-Wextra", "-Werror", "-pedantic", "-Wshadow", "-Wconversion", "-Wno-sign-conversion")


def needs(*programs: str) -> pytest.MarkDecorator:
    """Skip, in words, where a compiler is missing."""
    missing = [name for name in programs if shutil.which(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"needs {', '.join(missing)}, and there is none here")


def compile_c(source: Path) -> None:
    """Compile C11; what the compiler says is the failure."""
    _run("gcc", "-std=c11", *_STRICT, "-I", str(INTERFACES / "litert"), "-fsyntax-only", str(source))


def compile_cpp(source: Path, *flags: str, interface: str = "litert") -> None:
    """Compile C++17."""
    where = str(INTERFACES / interface)
    _run("g++", "-std=c++17", *_STRICT, "-I", where, *(flags or ("-fsyntax-only",)), str(source))


def compile_java(folder: Path, *sources: Path) -> None:
    """Compile Java 8 and later, all sources at once: starting the compiler is what takes time."""
    here = sorted((INTERFACES / "java").rglob("*.java"))
    _run("javac", "-Xlint:all,-options", "-Werror", "-d", str(folder), *map(str, (*here, *sources)))


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
