"""A cgroup of our own: made where we may, gone afterwards, and the kernel keeps its limit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from outlive.meter import Cgroup, find_memory_cgroup, make_cgroup, read_oom_counters
from tests.meter.processes import MIB, linux_only, servant
from tests.meter.trees import GIB, UNLIMITED_V1, v1, v2, write

ABLE_V2 = {"cgroup.subtree_control": "memory\n", "cgroup.procs": ""}


def v2_session(root: Path, **more: object) -> Path:
    """A user's session: the slice may have children with limits, our own scope in it may not."""
    files = {f"user.slice/{name}": content for name, content in ABLE_V2.items()}
    files |= {
        "cgroup.subtree_control": "",
        "user.slice/app.scope/cgroup.procs": "1\n",
        "user.slice/app.scope/memory.max": "max",
    }
    return v2(root, "/user.slice/app.scope", {**files, **more})


def children(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir() if entry.name.startswith("outlive-"))


def test_v2_a_sibling_is_made_where_the_slice_hands_memory_on(tmp_path: Path) -> None:
    root = v2_session(tmp_path)
    scope = root / "sys/fs/cgroup/user.slice/app.scope"
    # What the kernel would do with the switch of a cgroup that holds processes: refuse.
    (scope / "cgroup.subtree_control").mkdir()
    cgroup = make_cgroup(GIB, root)
    assert cgroup is not None
    assert cgroup.path.parent == scope.parent
    assert (cgroup.path / "memory.max").read_text() == f"{GIB}\n"
    assert (cgroup.path / "memory.swap.max").read_text() == "0\n"
    assert cgroup.add(123)
    assert (cgroup.path / "cgroup.procs").read_text() == "123\n"


def test_v2_a_sibling_does_not_escape_our_own_limit(tmp_path: Path) -> None:
    root = v2_session(tmp_path)
    scope = write(root, {"sys/fs/cgroup/user.slice/app.scope/memory.max": GIB // 4})
    (root / "sys/fs/cgroup/user.slice/app.scope/cgroup.subtree_control").mkdir()
    cgroup = make_cgroup(GIB, scope)
    assert cgroup is not None
    assert cgroup.limit_bytes == GIB // 4


def test_v2_our_own_is_asked_to_hand_memory_on_and_has_to_show_it(tmp_path: Path) -> None:
    root = v2(tmp_path, "/", {"cgroup.procs": "", "cgroup.subtree_control": "pids"})
    assert make_cgroup(GIB, root) is None  # a plain file keeps what we wrote; the kernel would show "memory"
    assert (root / "sys/fs/cgroup/cgroup.subtree_control").read_text() == "+memory\n"
    assert children(root / "sys/fs/cgroup") == []


def test_v2_counts(tmp_path: Path) -> None:
    root = v2(tmp_path, "/", ABLE_V2)
    cgroup = make_cgroup(GIB, root)
    assert cgroup is not None
    assert (cgroup.oom_kills(), cgroup.peak_bytes()) == (None, None)
    write(cgroup.path, {"memory.events": "oom 2\noom_kill 1\n", "memory.peak": 4096})
    assert (cgroup.oom_kills(), cgroup.peak_bytes()) == (1, 4096)
    assert read_oom_counters(cgroup=cgroup.place(), root=root).cgroup_oom == 2


def test_v1_a_child_of_our_own_is_made(tmp_path: Path) -> None:
    root = v1(tmp_path, "/job", {"job/memory.limit_in_bytes": UNLIMITED_V1, "memory.limit_in_bytes": 1})
    cgroup = make_cgroup(GIB, root)
    assert cgroup is not None
    assert cgroup.path.parent == root / "sys/fs/cgroup/memory/job"
    write(cgroup.path, {"memory.oom_control": "oom_kill 3\n", "memory.max_usage_in_bytes": 8192})
    assert (cgroup.oom_kills(), cgroup.peak_bytes()) == (3, 8192)


def test_where_there_is_no_memory_cgroup_none_is_made(tmp_path: Path) -> None:
    assert make_cgroup(GIB, tmp_path) is None


def test_leftovers_of_dead_owners_are_removed_and_no_others(tmp_path: Path) -> None:
    root = v2(tmp_path, "/", ABLE_V2)
    folder = root / "sys/fs/cgroup"
    write(root, {"proc/50/stat": "50 (a ) b) S " + " ".join(["0"] * 18) + " 777 0 0\n"})
    for name in ("outlive-49-1-0", "outlive-50-111-0", "outlive-50-777-3", "outlive-x", "other-49-1-0"):
        (folder / name).mkdir()
    write(folder, {"outlive-48-5-0/still-busy": ""})
    cgroup = make_cgroup(GIB, root)
    assert cgroup is not None
    assert children(folder) == sorted(["outlive-48-5-0", "outlive-50-777-3", "outlive-x", cgroup.path.name])
    assert (folder / "other-49-1-0").is_dir()


def test_close_removes_it_once(tmp_path: Path) -> None:
    path = tmp_path / "group"
    path.mkdir()
    with Cgroup(path, 2, GIB) as cgroup:
        pass
    assert not path.exists()
    assert cgroup.close()


def test_a_fork_does_not_remove_its_parents_cgroup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "group"
    path.mkdir()
    cgroup = Cgroup(path, 2, GIB)
    monkeypatch.setattr(os, "getpid", lambda: 1)
    assert not cgroup.close()
    assert path.is_dir()


@pytest.fixture
def real() -> Iterator[Cgroup]:
    """A real cgroup of 64 MiB, removed at the end; the test is skipped where none can be made."""
    cgroup = make_cgroup(64 * MIB)
    if cgroup is None:
        pytest.skip(
            "needs leave to make a memory cgroup: root, or a delegated one (systemd-run --user --scope)"
        )
    yield cgroup
    assert cgroup.close(), f"{cgroup.path} is left behind"


@linux_only
def test_a_real_cgroup_sees_the_memory_of_its_process(real: Cgroup) -> None:
    with servant() as process:
        assert real.add(process.pid)
        place = find_memory_cgroup(process.pid)
        assert place is not None
        assert place.path == real.path
        assert place.tightest() == (real.path, 64 * MIB)
        process.do(f"block = b'x' * {30 * MIB}")
        assert (real.peak_bytes() or 30 * MIB) >= 29 * MIB
        assert real.oom_kills() == 0


@linux_only
def test_a_real_out_of_memory_kill_is_counted(real: Cgroup) -> None:
    before = read_oom_counters(cgroup=real.place())
    with servant() as process:
        assert real.add(process.pid)
        process.tell(f"block = b'x' * {200 * MIB}")
        assert process.process.wait(timeout=300) == -signal.SIGKILL
    after = read_oom_counters(cgroup=real.place())
    assert (before.cgroup_oom_kill, after.cgroup_oom_kill) == (0, 1)
    assert before.machine_oom_kill is not None
    assert after.machine_oom_kill is not None
    assert after.machine_oom_kill > before.machine_oom_kill
    assert real.oom_kills() == 1


@linux_only
def test_the_cgroup_of_a_crashed_owner_is_removed_by_the_next(real: Cgroup) -> None:
    script = (
        "import os; from outlive.meter import make_cgroup; "
        "print(make_cgroup(1 << 26).path, flush=True); os.kill(os.getpid(), 9)"
    )
    crashed = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    left = Path(crashed.stdout.strip())
    assert crashed.returncode == -signal.SIGKILL
    assert left.parent == real.path.parent
    assert left.is_dir()
    second = make_cgroup(64 * MIB)
    assert second is not None
    assert second.close()
    assert not left.exists()
