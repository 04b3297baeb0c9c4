"""What surrounds a model is read as it is, on this machine and on made-up ones."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

import pytest

from outlive import Interpreter, demo_models
from outlive.environment.surroundings import as_version, look_around
from outlive.errors import RuntimeMissing

HEALTHY = demo_models.path("healthy")


def machine(folder: Path, **files: str) -> Path:
    """A folder that looks like the root of a machine."""
    for name, text in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_this_machine() -> None:
    seen = look_around()
    assert (seen.system, seen.architecture) == (platform.system(), platform.machine())
    assert seen.python == sys.version_info[:2]
    assert as_version(seen.packages["numpy"]) >= (1, 26)
    assert "litert" in seen.runtimes
    assert "numpy" not in seen.runtimes
    assert not {"ai_edge_litert", "tensorflow"} & set(sys.modules)


def test_a_machine_that_says_nothing(tmp_path: Path) -> None:
    seen = look_around(tmp_path)
    assert (seen.cpu_flags, seen.process_limit, seen.overcommit, seen.commit_left_bytes) == (None,) * 4


def test_a_machine_that_says_all(tmp_path: Path) -> None:
    root = machine(
        tmp_path,
        proc__cpuinfo="processor\t: 0\nflags\t\t: fpu sse2 avx\n\nprocessor\t: 1\nflags\t\t: fpu\n",
        proc__meminfo="CommitLimit:    2000 kB\nCommitted_AS:   500 kB\n",
        proc__sys__vm__overcommit_memory="2\n",
        sys__fs__cgroup__pids="",
    )
    (root / "sys/fs/cgroup/pids.max").write_text("77\n")
    seen = look_around(root)
    assert seen.cpu_flags == frozenset({"fpu", "sse2", "avx"})
    assert (seen.overcommit, seen.commit_left_bytes, seen.process_limit) == (2, 1500 * 1024, 77)


@pytest.mark.parametrize(
    ("text", "version"),
    [("2.14.0", (2, 14, 0)), ("2.18.0rc1", (2, 18, 0)), ("", ()), ("dev", ()), ("9" * 400, (int("9" * 40),))],
)
def test_versions_are_numbers_or_nothing(text: str, version: tuple[int, ...]) -> None:
    assert as_version(text) == version


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("numpy.core.multiarray failed to import", "E402"),
        ("libGL.so.1: cannot open shared object file: No such file or directory", "E403"),
        ("/lib/libc.so.6: version `GLIBC_2.34' not found", "E404"),
        ("something else", "E401"),
    ],
)
def test_a_runtime_that_cannot_be_imported_is_told_by_its_reason(
    text: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "tflite_runtime"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "interpreter.py").write_text(f"raise ImportError({text!r})\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(RuntimeMissing) as caught:
        Interpreter(HEALTHY, runtime="tflite_runtime")
    assert (caught.value.finding.code, caught.value.finding.cause) == (code, "missing-runtime")
