"""A worker's cgroup: the kernel keeps its limit, and nothing of it is left, however things end."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import outlive
from outlive.meter import find_cgroup_home, find_memory_cgroup, make_cgroup
from outlive.platforms.posix.child.worker_cgroups import CgroupEnd, WorkerCgroups
from outlive.process import factories
from tests.deaths import scenes
from tests.deaths.restrictions import linux_only
from tests.meter.trees import GIB, UNLIMITED_V1, v1, v2

MIB = 1 << 20


def cgroup_of(pid: int) -> Path:
    place = find_memory_cgroup(pid)
    assert place is not None
    return place.path


def wait_until(holds: Callable[[], bool]) -> None:
    while not holds():  # the test's own time-out ends it
        time.sleep(0.01)


@pytest.fixture
def home() -> Path:
    """Where cgroups of workers are made."""
    found = find_cgroup_home()
    if found is None:
        pytest.skip(
            "needs leave to make a memory cgroup: root, or a delegated one (systemd-run --user --scope)"
        )
    return Path(str(found["path"]))


@linux_only
def test_the_kernel_ends_a_worker_that_nobody_watches(home: Path) -> None:
    resource = pytest.importorskip("resource")
    interpreter = outlive.Interpreter(scenes.TOO_BIG, memory="100MB")
    resource.prlimit(interpreter.pid, resource.RLIMIT_DATA, (-1, -1))
    nursery = next(one.pid for one in factories._factories.values() if one.in_use)  # type: ignore[attr-defined]
    folder = cgroup_of(interpreter.pid)
    assert folder.parent == home

    def wait() -> None:
        """The nursery is its tracer: without it the worker could not even end."""
        while "oom_kill 0" in (folder / events).read_text():
            time.sleep(0.01)
        os.kill(nursery, signal.SIGCONT)

    events = "memory.events" if (folder / "memory.events").exists() else "memory.oom_control"
    os.kill(nursery, signal.SIGSTOP)
    threading.Thread(target=wait, daemon=True).start()
    with pytest.raises(outlive.LimitReached) as caught:
        scenes.run_whole(interpreter)
    flight = caught.value.flight
    assert (caught.value.finding.code, flight.ended_by, flight.signal) == ("D502", "memory", "SIGKILL")
    # Its own limit, what it had from its nursery and could have copied, the file, and some slack.
    assert flight.peak_bytes < 100_000_000 + flight.baseline_bytes + 40 * MIB


@linux_only
def test_a_worker_takes_its_cgroup_with_it(home: Path) -> None:
    with scenes.open_healthy() as interpreter:
        folder = cgroup_of(interpreter.pid)
    assert folder.parent == home
    wait_until(lambda: not folder.exists())


KILLED = """
interpreter = open_healthy()
from outlive.meter import find_memory_cgroup
say(cgroup=str(find_memory_cgroup(interpreter.pid).path))
for pid in {victims}:
    os.kill(pid, signal.SIGKILL)
"""


def killed(victims: str) -> Path:
    """The cgroup of a worker whose program was killed, with others."""
    with scenes.start(KILLED.format(victims=victims)) as process:
        out, _ = process.communicate()
    assert process.returncode == -signal.SIGKILL
    return Path(json.loads(out)["cgroup"])


@linux_only
def test_a_killed_program_leaves_no_cgroup(home: Path) -> None:
    left = killed("[os.getpid()]")
    wait_until(lambda: not left.exists())


@linux_only
def test_the_next_start_removes_what_nobody_could(home: Path) -> None:
    left = killed("[*scenes.children(), os.getpid()]")
    assert left.exists()
    wait_until(lambda: find_cgroup_home() is not None and not left.exists())


@pytest.fixture
def made(tmp_path: Path) -> tuple[WorkerCgroups, Path]:
    """As on a machine with version 2, in plain files: there may be none here with a memory controller."""
    return WorkerCgroups({"path": str(tmp_path), "version": 2, "ceiling": 200 * MIB}), tmp_path


def test_version_2_limits_memory_and_swap_below_the_ceiling(made: tuple[WorkerCgroups, Path]) -> None:
    cgroups, home = made
    cgroups.take_in(123)
    (folder,) = home.iterdir()
    assert (folder / "cgroup.procs").read_text() == "123"
    cgroups.limit(123, 100 * MIB, no_swap=True)
    assert (folder / "memory.max").read_text() == str(100 * MIB)
    assert (folder / "memory.swap.max").read_text() == "0"
    cgroups.share(123, 10 * MIB)
    assert (folder / "memory.max").read_text() == str(110 * MIB)
    cgroups.limit(123, 300 * MIB, no_swap=False)
    assert (folder / "memory.max").read_text() == str(200 * MIB)


@pytest.mark.parametrize(
    ("events", "end"),
    [
        ("oom 0\noom_kill 0\n", CgroupEnd(0, False)),
        ("oom 1\noom_kill 1\n", CgroupEnd(1, True)),
        ("oom 0\noom_kill 1\n", CgroupEnd(1, False)),  # a limit further up was reached
    ],
)
def test_version_2_tells_its_own_kills_from_those_of_others(
    made: tuple[WorkerCgroups, Path], events: str, end: CgroupEnd
) -> None:
    cgroups, home = made
    cgroups.take_in(123)
    (folder,) = home.iterdir()
    (folder / "memory.events").write_text(events)
    assert cgroups.leave(123) == end
    assert cgroups.pause_ms() is not None  # a process is still in it: it is tried again
    for file in folder.iterdir():
        file.unlink()
    assert cgroups.remove_left()
    assert (cgroups.pause_ms(), list(home.iterdir())) == (None, [])


def test_where_no_cgroup_may_be_made_nothing_is_tried_again(tmp_path: Path) -> None:
    cgroups = WorkerCgroups({"path": str(tmp_path / "gone"), "version": 1, "ceiling": None})
    cgroups.take_in(123)
    cgroups.limit(123, MIB, no_swap=True)
    assert cgroups.leave(123) == CgroupEnd()


SLICE = {"user.slice/cgroup.subtree_control": "memory", "user.slice/cgroup.procs": ""}


@pytest.mark.parametrize(
    ("own", "found"),
    [
        ({"cgroup.procs": "1"}, ("user.slice", None)),
        ({"cgroup.procs": "1", "memory.max": GIB}, ("user.slice", GIB)),
        ({"cgroup.procs": "1", "cpu.max": "50000 100000"}, None),  # a sibling would escape that
    ],
)
def test_version_2_has_a_home_beside_our_own(tmp_path: Path, own: dict[str, Any], found: Any) -> None:
    scope = {f"user.slice/app.scope/{name}": content for name, content in own.items()}
    root = v2(tmp_path, "/user.slice/app.scope", {"cgroup.subtree_control": "", **SLICE, **scope})
    (root / "sys/fs/cgroup/user.slice/app.scope/cgroup.subtree_control").mkdir()
    home = find_cgroup_home(root)
    if found is None:
        assert home is None
    else:
        assert home == {"path": str(root / "sys/fs/cgroup" / found[0]), "version": 2, "ceiling": found[1]}


@pytest.mark.parametrize(("counts", "has_home"), [("1\n", True), ("0\n", False)])
def test_version_1_has_a_home_only_where_children_count(tmp_path: Path, counts: str, has_home: bool) -> None:
    files = {"job/memory.limit_in_bytes": UNLIMITED_V1, "job/memory.use_hierarchy": counts}
    assert (find_cgroup_home(v1(tmp_path, "/job", files)) is not None) == has_home
    assert (make_cgroup(GIB, tmp_path) is not None) == has_home
