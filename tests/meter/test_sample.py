"""Private bytes are what a process would give back by dying: not the mapped file, not what a fork shares."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from outlive.meter import Sample, cheap_sample, open_probe, read_sample
from tests.meter.processes import MIB, Servant, linux_only, servant
from tests.meter.trees import write

TOLERANCE = 2 * MIB


def sample(process: Servant) -> Sample:
    seen = read_sample(process.pid)
    assert seen is not None
    return seen


@linux_only
def test_allocated_memory_is_private() -> None:
    with servant() as process:
        before, cheap_before = sample(process), cheap_sample(process.pid)
        process.do(f"block = b'x' * {50 * MIB}")
        after, cheap_after = sample(process), cheap_sample(process.pid)
        assert cheap_before is not None
        assert cheap_after is not None
        assert abs(after.private_bytes - before.private_bytes - 50 * MIB) < TOLERANCE
        assert abs(cheap_after.private_bytes - cheap_before.private_bytes - 50 * MIB) < TOLERANCE
        assert after.rss_bytes - before.rss_bytes > 48 * MIB
        process.do("del block")
        assert sample(process).private_bytes - before.private_bytes < TOLERANCE


@linux_only
@pytest.mark.parametrize("folder", ["disk", "synced", "shm"])
def test_a_mapped_file_that_is_read_is_not_private(tmp_path: Path, folder: str) -> None:
    if folder == "shm" and not os.access("/dev/shm", os.W_OK):
        pytest.skip("needs a /dev/shm that can be written to, for a file on tmpfs")
    path = (Path("/dev/shm") if folder == "shm" else tmp_path) / f"outlive-test-{os.getpid()}"
    try:
        with path.open("wb") as file:
            file.write(b"x" * (64 * MIB))
            if folder == "synced":
                file.flush()
                os.fsync(file.fileno())
        with servant() as process:
            before, cheap_before = sample(process), cheap_sample(process.pid)
            process.do(f"f = open({str(path)!r}, 'rb'); m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)")
            process.do("total = sum(m[i] for i in range(0, len(m), 4096))")
            after, cheap_after = sample(process), cheap_sample(process.pid)
    finally:
        path.unlink(missing_ok=True)
    assert cheap_before is not None
    assert cheap_after is not None
    assert after.rss_bytes - before.rss_bytes > 60 * MIB
    assert after.shared_bytes - before.shared_bytes > 60 * MIB
    assert after.private_bytes - before.private_bytes < TOLERANCE
    assert cheap_after.private_bytes - cheap_before.private_bytes < TOLERANCE


@linux_only
def test_what_a_fork_shares_is_not_private_until_it_is_written_to() -> None:
    with servant() as process:
        process.do(f"block = bytearray(b'x' * {40 * MIB})")
        # The parent waits in this statement; its child answers, and obeys from now on.
        process.do("child = os.fork(); child and (os.waitpid(child, 0), os._exit(0))")
        child = int(process.ask("os.getpid()"))
        before, cheap_before = read_sample(child), cheap_sample(child)
        process.do("for i in range(0, len(block), 4096): block[i] = 1")
        after, cheap_after = read_sample(child), cheap_sample(child)
    assert before is not None
    assert after is not None
    assert before.private_bytes < 10 * MIB
    assert abs(after.private_bytes - before.private_bytes - 40 * MIB) < TOLERANCE
    # The cheap figure knows no difference: it is for changes between two exact ones.
    assert cheap_before is not None
    assert cheap_after is not None
    assert cheap_before.private_bytes > 40 * MIB
    assert abs(cheap_after.private_bytes - cheap_before.private_bytes) < TOLERANCE


def test_a_process_that_is_gone_reads_as_none() -> None:
    process = subprocess.Popen([sys.executable, "-c", "pass"])
    with open_probe(process.pid) as probe:
        process.wait()
        assert probe.read() is None
        assert probe.read_cheap() is None
    assert read_sample(process.pid) is None
    assert cheap_sample(process.pid) is None


@linux_only
def test_a_zombie_reads_as_none() -> None:
    process = subprocess.Popen([sys.executable, "-c", "pass"], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.read()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert read_sample(process.pid) is None
    assert cheap_sample(process.pid) is None
    process.communicate()


def test_without_smaps_the_counters_serve(tmp_path: Path) -> None:
    root = write(tmp_path, {"self/stat": "", "7/statm": "5000 300 100 1 0 200 0\n"})
    page = os.sysconf("SC_PAGE_SIZE")
    expected = Sample(private_bytes=200 * page, rss_bytes=300 * page, shared_bytes=100 * page)
    assert read_sample(7, root) == expected


SMAPS = """\
00400000-00452000 r--p 00000000 08:02 173521 /models/m.tflite
Rss:                1000 kB
Private_Clean:         0 kB
Private_Dirty:      1000 kB
Anonymous:             0 kB
SwapPss:               0 kB
00e03000-00e24000 rw-p 00000000 00:00 0 [heap]
Rss:                 500 kB
Private_Clean:        10 kB
Private_Dirty:       290 kB
Anonymous:           500 kB
SwapPss:              50 kB
"""


def test_smaps_is_counted_mapping_by_mapping(tmp_path: Path) -> None:
    root = write(tmp_path, {"self/stat": "", "7/statm": "5000 300 100 1 0 200 0\n", "7/smaps": SMAPS})
    assert read_sample(7, root) == Sample(
        private_bytes=350 * 1024, rss_bytes=1500 * 1024, shared_bytes=1200 * 1024
    )


@pytest.mark.parametrize("text", [b"", b"\xff\xfe\n", b"1 2\n", b"a b c\n", b"-1 -2 -3\n", b"5 0 0\n"])
def test_garbage_reads_as_gone(tmp_path: Path, text: bytes) -> None:
    root = write(tmp_path, {"self/stat": "", "7/statm": text, "7/smaps": b"\nRss: lots kB\n" + text})
    assert read_sample(7, root) is None


class FakePsutilError(Exception):
    """Stands for psutil.Error."""


def fake_psutil(uss: object) -> ModuleType:
    """psutil as it is on a system without /proc: process 7 is there, others are not."""

    def process(pid: int) -> SimpleNamespace:
        if pid != 7:
            raise FakePsutilError

        def full() -> SimpleNamespace:
            if isinstance(uss, Exception):
                raise uss
            return SimpleNamespace(uss=uss)

        info = SimpleNamespace(rss=100)
        return SimpleNamespace(
            is_running=lambda: True,
            status=lambda: "running",
            memory_info=lambda: info,
            memory_full_info=full,
        )

    module = ModuleType("psutil")
    module.__dict__.update(Process=process, Error=FakePsutilError, STATUS_ZOMBIE="zombie")
    return module


def test_without_proc_psutil_serves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psutil", fake_psutil(uss=60))
    assert read_sample(7, tmp_path) == Sample(private_bytes=60, rss_bytes=100, shared_bytes=40)
    assert cheap_sample(8, tmp_path) is None
    monkeypatch.setitem(sys.modules, "psutil", fake_psutil(uss=FakePsutilError()))
    assert read_sample(7, tmp_path) == Sample(private_bytes=100, rss_bytes=100, shared_bytes=0)


def test_without_proc_and_psutil_there_is_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psutil", None)
    assert read_sample(os.getpid(), tmp_path) is None
