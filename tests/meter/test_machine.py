"""The true limit is found in every kind of cgroup tree, and no broken file makes it fail."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outlive.meter import (
    MemoryCgroup,
    find_container,
    find_memory_cgroup,
    read_machine,
    read_oom_counters,
    read_rlimit,
)
from tests.meter.processes import linux_only
from tests.meter.trees import GIB, MEMINFO, UNLIMITED_V1, V1_MOUNT, V2_MOUNT, v1, v2, write

MEMORY_V2 = {"cgroup.controllers": "memory\n"}


def test_plain_machine(tmp_path: Path) -> None:
    machine = read_machine(write(tmp_path, {"proc/meminfo": MEMINFO}))
    assert machine.total_bytes == 16 * GIB
    assert machine.available_bytes == 8 * GIB
    assert (machine.swap_total_bytes, machine.swap_free_bytes) == (2 << 20, 1 << 20)
    assert (machine.cgroup_version, machine.cgroup_limit_bytes, machine.cgroup_used_bytes) == (0, None, None)
    assert machine.container == ""


def test_v2_own_limit(tmp_path: Path) -> None:
    files = {"app/memory.max": 2 * GIB, "app/memory.current": GIB, "app/memory.stat": "inactive_file 4096\n"}
    machine = read_machine(v2(tmp_path, "/app", files))
    assert machine.cgroup_version == 2
    assert machine.cgroup_limit_bytes == 2 * GIB
    assert machine.cgroup_used_bytes == GIB - 4096


def test_v2_the_smallest_limit_on_the_way_up_counts(tmp_path: Path) -> None:
    files = {
        "a/memory.max": 3 * GIB,
        "a/memory.high": "max",
        "a/b/memory.max": GIB,
        "a/b/memory.high": GIB // 2,
        "a/b/memory.current": 77,
        "a/b/c/memory.max": "max\n",
        "a/b/c/memory.high": 2 * GIB,
        "a/b/c/memory.current": 5,
        "a/other/memory.max": 1,
    }
    machine = read_machine(v2(tmp_path, "/a/b/c", files))
    assert machine.cgroup_limit_bytes == GIB
    assert machine.cgroup_high_bytes == GIB // 2
    assert machine.cgroup_used_bytes == 77


@pytest.mark.parametrize(("group", "spares"), [("1\n", False), ("0\n", True)])
def test_v2_says_whether_a_container_is_ended_as_a_whole(tmp_path: Path, group: str, spares: bool) -> None:
    files = {"a/memory.max": GIB, "a/memory.oom.group": group, "a/b/memory.max": "max\n"}
    assert read_machine(v2(tmp_path, "/a/b", files)).oom_spares_others is spares


def test_v2_unlimited(tmp_path: Path) -> None:
    machine = read_machine(v2(tmp_path, "/a", {"a/memory.max": "max\n", "a/memory.current": "9\n"}))
    assert (machine.cgroup_version, machine.cgroup_limit_bytes, machine.cgroup_used_bytes) == (2, None, 9)


@pytest.mark.parametrize("own", ["/", "/../../outside", "/not/here"])
def test_v2_in_a_container_that_sees_only_itself(tmp_path: Path, own: str) -> None:
    machine = read_machine(v2(tmp_path, own, {"memory.max": GIB}))
    assert machine.cgroup_limit_bytes == GIB


def test_v2_mounted_from_below_its_root(tmp_path: Path) -> None:
    root = v2(tmp_path, "/docker/abc/inner", {"inner/memory.max": GIB}, mount_root="/docker/abc")
    assert read_machine(root).cgroup_limit_bytes == GIB


def test_v1_own_and_inherited_limits(tmp_path: Path) -> None:
    files = {
        "jobs/memory.limit_in_bytes": 2 * GIB,
        "jobs/one/memory.limit_in_bytes": UNLIMITED_V1,
        "jobs/one/memory.usage_in_bytes": 10_000,
        "jobs/memory.usage_in_bytes": 30_000,
        "jobs/memory.stat": "total_inactive_file 5000\n",
    }
    machine = read_machine(v1(tmp_path, "/jobs/one", files))
    assert machine.cgroup_version == 1
    assert machine.cgroup_limit_bytes == 2 * GIB
    assert machine.cgroup_used_bytes == 25_000
    assert machine.cgroup_high_bytes is None


def test_v1_limits_above_what_a_container_sees(tmp_path: Path) -> None:
    files = {
        "memory.limit_in_bytes": UNLIMITED_V1,
        "memory.stat": f"cache 0\nhierarchical_memory_limit {GIB}\n",
    }
    machine = read_machine(v1(tmp_path, "/docker/abc", files, mount_root="/docker/abc"))
    assert machine.cgroup_limit_bytes == GIB


def test_v1_unlimited(tmp_path: Path) -> None:
    files = {
        "memory.limit_in_bytes": UNLIMITED_V1,
        "memory.stat": f"hierarchical_memory_limit {UNLIMITED_V1}",
    }
    machine = read_machine(v1(tmp_path, "/", files))
    assert (machine.cgroup_version, machine.cgroup_limit_bytes) == (1, None)


def test_hybrid_memory_belongs_to_version_1(tmp_path: Path) -> None:
    root = v1(tmp_path, "/job", {"job/memory.limit_in_bytes": GIB})
    write(root, {
        "proc/self/cgroup": "4:memory:/job\n1:name=systemd:/x\n0::/unified-job\n",
        "proc/self/mountinfo": "\n".join(
            [V2_MOUNT.format(root="/", at="/sys/fs/cgroup/unified"), V1_MOUNT.format(root="/")]
        ),
        "sys/fs/cgroup/unified/cgroup.controllers": "hugetlb\n",
    })  # fmt: skip
    machine = read_machine(root)
    assert (machine.cgroup_version, machine.cgroup_limit_bytes) == (1, GIB)


def test_version_2_without_the_memory_controller_is_no_memory_cgroup(tmp_path: Path) -> None:
    root = v2(tmp_path, "/", {"cgroup.controllers": "hugetlb\n"})
    assert find_memory_cgroup(root=root) is None
    assert read_machine(root).cgroup_version == 0


def test_without_mountinfo_the_usual_places_are_looked_at(tmp_path: Path) -> None:
    root = v2(tmp_path, "/app", {"app/memory.max": GIB})
    (root / "proc/self/mountinfo").unlink()
    assert read_machine(root).cgroup_limit_bytes == GIB


def test_blanks_in_a_mount_point(tmp_path: Path) -> None:
    root = v2(tmp_path, "/", {})
    write(root, {
        "proc/self/mountinfo": V2_MOUNT.format(root="/", at="/my\\040groups"),
        "my groups/cgroup.controllers": "memory",
        "my groups/memory.max": GIB,
    })  # fmt: skip
    assert read_machine(root).cgroup_limit_bytes == GIB


def test_usable_is_the_smallest_limit_and_says_which(tmp_path: Path) -> None:
    small, large = tmp_path / "small", tmp_path / "large"
    machine = read_machine(v2(small, "/", {"memory.max": 512 << 20}))
    assert machine.limited_by() == "cgroup"
    assert machine.usable_bytes() == 512 << 20
    machine = read_machine(v2(large, "/", {"memory.max": 64 * GIB}))
    assert machine.limited_by() in {"RAM", "RLIMIT_AS", "RLIMIT_DATA"}
    if not {"RLIMIT_AS", "RLIMIT_DATA"} & machine.limits().keys():
        assert machine.usable_bytes() == 16 * GIB


@linux_only
@pytest.mark.parametrize("name", ["AS", "DATA"])
def test_resource_limits_count(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import resource

    real = resource.getrlimit
    wanted = getattr(resource, f"RLIMIT_{name}")
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (4096, 8192) if kind == wanted else real(kind))
    machine = read_machine(write(tmp_path, {"proc/meminfo": MEMINFO}))
    assert (machine.usable_bytes(), machine.limited_by()) == (4096, f"RLIMIT_{name}")


def test_nothing_known_gives_no_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resource", None)
    machine = read_machine(tmp_path)
    assert machine.total_bytes is None
    assert machine.usable_bytes() is None
    assert machine.limited_by() == ""
    assert read_rlimit("AS") is None


def test_oom_counters_of_version_2(tmp_path: Path) -> None:
    files = {"app/memory.events": "low 0\nhigh 3\nmax 9\noom 2\noom_kill 1\noom_group_kill 0\n"}
    root = write(v2(tmp_path, "/app", files), {"proc/vmstat": "pgfault 5\noom_kill 12\n"})
    counters = read_oom_counters(root=root)
    assert (counters.cgroup_oom, counters.cgroup_oom_kill, counters.machine_oom_kill) == (2, 1, 12)


def test_oom_counters_of_version_1_of_another_process(tmp_path: Path) -> None:
    root = v1(
        tmp_path, "/", {"w/memory.limit_in_bytes": 1, "w/memory.oom_control": "under_oom 0\noom_kill 4\n"}
    )
    write(root, {"proc/7/cgroup": "4:memory:/w\n", "proc/7/mountinfo": V1_MOUNT.format(root="/")})
    counters = read_oom_counters(7, root=root)
    assert (counters.cgroup_oom, counters.cgroup_oom_kill, counters.machine_oom_kill) == (None, 4, None)
    assert read_oom_counters(8, root=root).cgroup_oom_kill is None
    place = find_memory_cgroup(7, root)
    assert isinstance(place, MemoryCgroup)
    assert read_oom_counters(8, cgroup=place, root=root) == counters


@pytest.mark.parametrize(
    ("files", "kind"),
    [
        ({}, ""),
        ({".dockerenv": ""}, "docker"),
        ({"run/.containerenv": ""}, "podman"),
        ({"run/systemd/container": "systemd-nspawn\n"}, "systemd-nspawn"),
        ({"proc/self/cgroup": "0::/kubepods/besteffort/pod1/abc\n"}, "kubepods"),
        ({"proc/self/cgroup": "4:memory:/docker/abc\n"}, "docker"),
    ],
)
def test_containers_are_recognised(tmp_path: Path, files: dict[str, object], kind: str) -> None:
    assert find_container(write(tmp_path, files)) == kind


GARBAGE = st.one_of(
    st.binary(max_size=200),
    st.sampled_from([b"max", b"-1", b"", b"9" * 5000, b"1 2 3", b"\xff", b"0::", b"4:memory:", b"0::/a\n"]),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)
@given(st.lists(GARBAGE, min_size=9, max_size=9))
def test_garbage_never_raises(tmp_path: Path, pieces: list[bytes]) -> None:
    names = [
        "proc/self/cgroup", "proc/self/mountinfo", "proc/meminfo", "proc/vmstat", "sys/fs/cgroup/memory.max",
        "sys/fs/cgroup/memory.stat", "sys/fs/cgroup/memory.events", "sys/fs/cgroup/memory.current",
        "sys/fs/cgroup/memory.high",
    ]  # fmt: skip
    root = write(tmp_path, dict(zip(names, pieces, strict=True)))
    write(root, {"sys/fs/cgroup/cgroup.controllers": "memory"})
    read_machine(root)
    read_oom_counters(root=root)
    # The same with a place in the tree that can be read, so that the rest is looked at.
    write(root, {"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": ""})
    machine = read_machine(root)
    assert machine.cgroup_version == 2
    read_oom_counters(root=root)


def test_a_folder_in_place_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "proc/meminfo").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").mkdir(parents=True)
    assert read_machine(tmp_path).total_bytes is None


@linux_only
def test_this_machine() -> None:
    machine = read_machine()
    usable = machine.usable_bytes()
    assert machine.total_bytes is not None
    assert usable is not None
    assert 0 < usable <= machine.total_bytes
    assert machine.total_bytes == pytest.approx(
        os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), rel=0.01
    )
