"""Where no more threads may be started, that is what is said, and whose limit it was."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from outlive.platforms.posix.meter.task_limits import (
    TaskLimit,
    TaskWatch,
    count_tasks,
    find_limits,
    limited_folders,
)
from tests.deaths import scenes
from tests.deaths.restrictions import as_nobody, as_root, linux_only
from tests.meter.trees import write

pytestmark = linux_only
OWN_USER = "54321"
PIDS = Path("/sys/fs/cgroup/pids")

MANY_THREADS = """
import resource
for name in {joined!r}:
    with open(name, "w") as file:
        file.write("0")
if {nproc}:
    resource.setrlimit(resource.RLIMIT_NPROC, (20, 20))
builtin = outlive.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
try:
    result(open_healthy(num_threads=64, experimental_op_resolver_type=builtin))
except outlive.ModelDied as error:
    say(code=error.finding.code, text=str(error), seen=error.flight.limits["threads"])

def start():
    import threading
    done = threading.Event()
    threads = [threading.Thread(target=done.wait, daemon=True) for _ in range(64)]
    try:
        for thread in threads:
            thread.start()
    finally:
        done.set()

try:
    outlive.guard(start)()
except RuntimeError as error:
    say(raised=str(error), cause=str(error.__cause__))
say(well=bool(result(open_healthy()).size))
"""


@pytest.fixture
def pids() -> Iterator[Path]:
    """A cgroup for twenty processes and threads."""
    folder = PIDS / f"outlive-test-{os.getpid()}"
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("needs leave to make a cgroup of the pids controller, version 1: root has it")
    (folder / "pids.max").write_text("20")
    yield folder
    folder.rmdir()


def test_a_container_for_few_threads_is_named(pids: Path) -> None:
    facts = scenes.play(MANY_THREADS.format(joined=[str(pids / "cgroup.procs")], nproc=False))
    assert (facts["code"], facts["well"]) == ("D516", True)
    assert "Cannot start more threads: pids.max is 20" in facts["text"]
    assert re.search(r"outlive run \S+ --threads", facts["text"])
    seen = facts["seen"]
    assert (seen["by"], seen["limit"]) == ("pids.max", 20)
    assert 0 < seen["running"] < 20
    assert facts["raised"] == "can't start new thread"
    assert "pids.max allows 20 processes and threads" in facts["cause"]


@as_root
def test_a_user_with_few_threads_is_named() -> None:
    # A user of its own: whatever else nobody has running would count.
    before = [OWN_USER if word == "65534" else word for word in as_nobody()]
    facts = scenes.play(MANY_THREADS.format(joined=[], nproc=True), before=before)
    assert (facts["code"], facts["seen"]["by"], facts["well"]) == ("D516", "RLIMIT_NPROC", True)
    assert f"RLIMIT_NPROC allows {facts['seen']['limit']} processes and threads" in facts["cause"]


def test_the_limits_on_the_way_up_are_found(tmp_path: Path) -> None:
    root = write(tmp_path, {
        "proc/self/cgroup": "4:memory:/x\n3:pids:/job/step\n0::/\n",
        "sys/fs/cgroup/pids/job/pids.max": "30\n",
        "sys/fs/cgroup/pids/job/pids.events": "max 2\n",
        "sys/fs/cgroup/pids/job/step/pids.max": "max\n",
        "proc/7/status": f"Name: a\nUid:\t{os.geteuid()}\t0\nThreads:\t5\n",
        "proc/8/status": f"Name: b\nUid:\t{os.geteuid() + 1}\t0\nThreads:\t7\n",
    })  # fmt: skip
    folders = limited_folders(root)
    assert folders == (root / "sys/fs/cgroup/pids/job",)
    assert find_limits(root)[0] == TaskLimit(name="pids.max", most=30)
    assert count_tasks(os.geteuid(), root) == 5
    watch = TaskWatch(folders, root)
    assert watch.refused_by() is None
    write(root, {"sys/fs/cgroup/pids/job/pids.events": "max 3\n"})
    assert watch.refused_by() == TaskLimit(name="pids.max", most=30)


def test_version_2_is_read_as_well(tmp_path: Path) -> None:
    root = write(tmp_path, {"proc/self/cgroup": "0::/app\n", "sys/fs/cgroup/app/pids.max": "9\n"})
    assert limited_folders(root) == (root / "sys/fs/cgroup/app",)
    assert limited_folders(tmp_path / "nothing") == ()


def test_a_folder_that_cannot_be_looked_at_limits_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: object, **_: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO), path)

    root = write(tmp_path, {"proc/self/cgroup": "0::/app\n", "sys/fs/cgroup/app/pids.max": "9\n"})
    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", refuse)
        assert limited_folders(root) == ()
