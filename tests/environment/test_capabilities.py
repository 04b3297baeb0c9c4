"""Each check says what it should for what was found, whatever machine the tests run on."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from outlive.environment.capabilities import (
    check_cgroup,
    check_faulthandler,
    check_gpu,
    check_isolation,
    check_memory,
    check_own_cgroup,
    check_ptrace,
    check_python,
    check_rlimits,
    check_sandbox,
    check_shared_memory,
    check_swap,
    survey,
)
from outlive.environment.machine_report import Check, Environment, State
from outlive.environment.packages import LITERT, check_package, check_packages, check_runtime, find_version
from outlive.environment.trials import Trials, read_answers, run_trials, try_cgroup, try_sandbox
from outlive.meter import MachineMemory

GIB = 1 << 30


def machine(**known: object) -> MachineMemory:
    facts: dict[str, object] = {
        "total_bytes": 8 * GIB, "available_bytes": 4 * GIB, "swap_total_bytes": 0, "swap_free_bytes": 0,
    }  # fmt: skip
    return MachineMemory(**{**facts, **known})  # type: ignore[arg-type]


def test_a_package_is_there_gone_or_damaged() -> None:
    rows = [
        check_package(LITERT, version, is_there)
        for version, is_there in (
            ("ai-edge-litert 2.3.0", True),
            (None, False),
            ("ai-edge-litert 2.3.0", False),
        )
    ]
    assert [row.state for row in rows] == [State.OK, State.MISSING, State.MISSING]
    assert rows[0].remedy == ""
    assert rows[1].remedy == "pip install ai-edge-litert"
    assert "files are missing" in rows[2].found
    assert rows[2].remedy == "pip install --force-reinstall ai-edge-litert"
    assert check_package(LITERT, None, True).state is State.LIMITED


def test_any_runtime_will_do_and_none_will_not() -> None:
    there, gone = check_package(LITERT, "x 1", True), check_package(LITERT, None, False)
    assert Environment(checks=(check_runtime((gone, there)),)).ready
    assert not Environment(checks=(check_runtime((gone, gone)),)).ready
    assert check_runtime((gone,)).remedy.startswith("pip install")


def test_packages_are_found_without_being_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    before = set(sys.modules)
    assert len(check_packages()) >= 6
    new = {name.partition(".")[0] for name in set(sys.modules) - before}
    assert not new & {"ai_edge_litert", "tensorflow", "tflite_runtime", "ai_edge_quantizer", "openvino"}


def test_damaged_metadata_is_not_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str) -> str:
        raise KeyError("Version")

    monkeypatch.setattr("importlib.metadata.version", fail)
    assert find_version(LITERT) is None


@pytest.mark.parametrize(
    ("known", "state", "found"),
    [
        ({}, State.OK, "8.00 GiB, 4.00 GiB available now"),
        ({"cgroup_limit_bytes": 2 * GIB}, State.LIMITED, "2.00 GiB of 8.00 GiB, by cgroup"),
        ({"rlimit_as_bytes": GIB}, State.LIMITED, "1.00 GiB of 8.00 GiB, by RLIMIT_AS"),
        ({"rlimit_data_bytes": GIB, "total_bytes": None}, State.LIMITED, "1.00 GiB, by RLIMIT_DATA"),
        ({"total_bytes": None}, State.LIMITED, "not known"),
    ],
)
def test_memory(known: dict[str, object], state: State, found: str) -> None:
    row = check_memory(machine(**known))
    assert (row.state, row.found) == (state, found)


def test_swap_and_cgroup() -> None:
    assert check_swap(machine()).found == "none"
    assert check_swap(machine(swap_total_bytes=GIB)).found == "1.00 GiB"
    assert check_swap(machine(swap_total_bytes=None)).found == "not known"
    assert check_cgroup(machine()).state is State.MISSING
    row = check_cgroup(machine(cgroup_version=2, cgroup_limit_bytes=GIB, cgroup_used_bytes=0))
    assert (row.state, row.found) == (State.OK, "version 2, limit 1.00 GiB, 0 B used")
    assert check_cgroup(machine(cgroup_version=2, cgroup_high_bytes=GIB)).state is State.LIMITED


def test_python_and_system() -> None:
    assert [row.state for row in check_python((3, 12, 1), "Linux", "x86_64")] == [State.OK, State.OK]
    old, system = check_python((3, 9, 0), "Darwin", "arm64")
    assert (old.state, old.needed, system.state) == (State.MISSING, True, State.LIMITED)
    assert check_python((3, 10, 0), "Linux", "armv7l")[1].state is State.LIMITED


def test_resource_limits() -> None:
    free = list(check_rlimits(dict.fromkeys(("AS", "DATA", "NPROC", "NOFILE", "CORE"))))
    assert {row.state for row in free} == {State.OK}
    tight = list(check_rlimits({"AS": 1 << 20, "DATA": 0, "NPROC": 3, "NOFILE": 16, "CORE": 0}))
    assert [row.state for row in tight] == [State.LIMITED] * 4 + [State.OK]
    assert all(row.remedy.startswith("ulimit") for row in tight[:4])


def trials(**failed: str) -> Trials:
    return Trials(**{**dict.fromkeys(("process", "fork", "memfd", "oom_score_adj", "ptrace"), ""), **failed})


def test_isolation() -> None:
    assert {row.state for row in check_isolation(trials(), None)} == {State.OK}
    rows = {row.name: row for row in check_isolation(trials(fork="no", memfd="no", oom_score_adj="no"), 1)}
    assert [rows[name].state for name in ("fork", "memfd", "oom_score_adj")] == [State.LIMITED] * 3
    assert rows["ptrace"].found == "works on child processes, Yama ptrace_scope 1"
    without = check_isolation(trials(process="Resource temporarily unavailable"), None)
    assert [row.name for row in without] == ["processes"]
    assert not Environment(checks=without).ready


@pytest.mark.parametrize(
    ("yama", "remedy"),
    [(None, "SYS_PTRACE"), (0, "SYS_PTRACE"), (1, "SYS_PTRACE"), (2, "sudo sysctl"), (3, "restart")],
)
def test_ptrace_remedies(yama: int | None, remedy: str) -> None:
    row = check_ptrace("Operation not permitted", yama)
    assert row.state is State.MISSING
    assert remedy in row.remedy


def test_shared_memory_faulthandler_and_cgroup() -> None:
    sizes = ((None, None), (64 << 20, 0), (GIB, GIB))
    assert [check_shared_memory(*size).state for size in sizes] == [State.LIMITED, State.LIMITED, State.OK]
    assert [check_faulthandler(there).state for there in (True, False)] == [State.OK, State.MISSING]
    assert [check_own_cgroup(reason).state for reason in ("", "no")] == [State.OK, State.MISSING]


def test_sandbox() -> None:
    whole = {"parts": "landlock 7, seccomp", "why": "", "escapes": []}
    states = [
        check_sandbox({**whole, **changed}).state
        for changed in ({}, {"why": "no landlock"}, {"escapes": ["fork"]}, {"parts": "", "why": "no Linux"})
    ]
    assert states == [State.OK, State.LIMITED, State.LIMITED, State.MISSING]
    tried = try_sandbox()
    assert not (tried["parts"] and tried.get("escapes") and not tried["why"])


GPU_FILES = {
    "device": "dev/dri/renderD128",
    "library": "usr/lib/x86_64-linux-gnu/libvulkan.so.1",
    "driver": "usr/share/vulkan/icd.d/radeon_icd.json",
    "software": "usr/lib/chromium/vk_swiftshader_icd.json",
}


@pytest.mark.parametrize(
    ("files", "state", "words"),
    [
        ((), State.MISSING, "no GPU"),
        (("device",), State.LIMITED, "but no Vulkan"),
        (("device", "library", "driver"), State.OK, "/dev/dri/renderD128"),
        (("library", "software"), State.LIMITED, "in software"),
        (("software",), State.MISSING, "no GPU"),
    ],
)
def test_gpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: tuple[str, ...], state: State, words: str
) -> None:
    monkeypatch.delenv("VK_ICD_FILENAMES", raising=False)
    monkeypatch.delenv("VK_DRIVER_FILES", raising=False)
    for name in files:
        path = tmp_path / GPU_FILES[name]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    row = check_gpu(tmp_path)
    assert row.state is state
    assert words in row.found


def test_a_driver_that_the_environment_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("library", "software"):
        path = tmp_path / GPU_FILES[name]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    monkeypatch.delenv("VK_DRIVER_FILES", raising=False)
    monkeypatch.setenv("VK_ICD_FILENAMES", "/" + GPU_FILES["software"])
    row = check_gpu(tmp_path)
    assert (row.state, row.remedy) == (State.LIMITED, "")


def test_answers_of_a_process_that_was_killed_in_the_middle() -> None:
    seen = read_answers("fork:ok\nmemfd:Function not implemented\noom_score_adj:ok\nptrace:", -31)
    assert (seen.process, seen.fork, seen.memfd, seen.oom_score_adj) == (
        "",
        "",
        "Function not implemented",
        "",
    )
    assert seen.ptrace == "the process was killed by SIGSYS"
    nothing = read_answers("", 1)
    assert nothing.process == "the test process ended with exit code 1"
    assert "signal 250" in read_answers("", -250).process


def test_without_an_interpreter_nothing_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert "No such file" in run_trials().process
    assert isinstance(try_cgroup(), str)
    monkeypatch.setattr(sys, "executable", "")
    assert run_trials().process


def test_the_survey_of_an_empty_root(tmp_path: Path) -> None:
    checks = survey(tmp_path)
    names = [check.name for check in checks]
    assert len(names) == len(set(names))
    assert all(check.found and check.meaning for check in checks)
    assert all(check.state is not State.OK or not check.remedy for check in checks)
    assert all(isinstance(check, Check) for check in checks)
