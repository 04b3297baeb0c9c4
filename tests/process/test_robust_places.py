"""Places that are not like home: without privileges, system calls or file systems, with little of all."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlive
from outlive.process import factories
from tests.deaths import scenes
from tests.deaths.restrictions import as_nobody, as_root, in_own_mounts, linux_only, without_call
from tests.deaths.scenes import ROUND, assert_well, open_healthy, play, result

pytestmark = linux_only


def test_few_descriptors() -> None:
    facts = play(
        ROUND
        + """
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
go_round()
held = []
try:
    while len(held) < 64:
        held.append(open_healthy())
except OSError as error:
    say(text=str(error), held=len(held))
before = len(scenes.descriptors())
for _ in range(3):
    try:
        open_healthy()
    except OSError:
        pass
say(growth=len(scenes.descriptors()) - before)
held.clear()
scenes.gc.collect()
go_round()
"""
    )
    assert_well(facts)
    assert "error[D515]" in facts["text"]
    assert "Too many open files" in facts["text"]
    assert facts["held"] >= 5
    assert facts["growth"] == 0


@as_root
def test_few_processes() -> None:
    # Set by nobody itself: root is not bound by it.
    facts = play(
        ROUND
        + """
import resource
go_round()
for pid in (os.getpid(), *scenes.children()):
    resource.prlimit(pid, resource.RLIMIT_NPROC, (0, 0))
before = scenes.holdings()
for _ in range(3):
    try:
        open_healthy()
    except OSError as error:
        say(text=str(error))
say(same=scenes.holdings() == before)
for pid in scenes.children():
    os.kill(pid, signal.SIGKILL)
    scenes.wait_for_death({pid})
try:
    open_healthy()
except OSError as error:
    say(start=str(error))
""",
        before=as_nobody(),
    )
    assert "no new process can be made: Resource" in facts["text"]
    assert facts["same"]
    assert "cannot start " in facts["start"]


@as_root
def test_without_privileges() -> None:
    facts = play(ROUND + "say(uid=os.geteuid())\ngo_round()", before=as_nobody())
    assert_well(facts)
    assert facts["uid"] == 65534
    assert facts["limits"]["data_bytes"] > 0


@pytest.mark.parametrize("name", ["ptrace", "memfd_create", "pidfd_open"])
def test_without_a_system_call(name: str, tmp_path: Path) -> None:
    facts = play(without_call(name) + ROUND + "go_round()", env={"TMPDIR": str(tmp_path)})
    assert_well(facts)
    assert facts["traced"] == (name != "ptrace")
    assert ("ptrace" in facts["untraced"]) == (name == "ptrace")
    assert [*tmp_path.iterdir()] == []


@as_root
@pytest.mark.parametrize(
    "commands",
    [
        "mount -t tmpfs -o size=64m none /dev/shm",
        "mount -t tmpfs -o ro none /dev/shm",
        "mount -t tmpfs none /proc/sys",
        "mount -t tmpfs none /sys",
        "mount -o remount,bind,ro /proc",
        # Not a new /tmp over the old one: the tests themselves may live there.
        "mount -o bind,ro / / && mount -o bind /tmp /tmp && mount -o remount,bind,ro /tmp"
        " && mount -t tmpfs -o ro none /dev/shm",
    ],
    ids=["small-shm", "no-shm", "no-proc-sys", "no-sys", "read-only-proc", "read-only"],
)
def test_in_a_bare_file_system(commands: str) -> None:
    assert_well(play(ROUND + "go_round()", before=in_own_mounts(commands)))


@as_root
def test_without_proc() -> None:
    facts = play(ROUND + "go_round()", before=in_own_mounts("mount -t tmpfs none /proc"))
    assert facts["well"]
    assert (facts["signal"], facts["stage"]) == ("SIGSEGV", "invoke")
    assert "/proc" in facts["limits"]["refused"]


@as_root
def test_a_full_disk_where_there_is_no_memfd(tmp_path: Path) -> None:
    """Tensors that find no room in shared memory go through the pipe; nobody writes into a hole."""
    commands = f"mount -t tmpfs -o size=100k none {tmp_path}"
    facts = play(
        without_call("memfd_create")
        + """
interpreter = open_healthy()
row = interpreter.get_input_details()[0]
rows = [600, *row["shape"][1:]]
interpreter.resize_tensor_input(row["index"], rows)
interpreter.allocate_tensors()
say(bytes=int(np.prod(rows)) * 4, size=int(result(interpreter).size))
""",
        before=in_own_mounts(commands),
        env={"TMPDIR": str(tmp_path)},
    )
    assert facts["bytes"] > 100_000
    assert facts["size"] > 0


def test_a_python_that_starts_threads_is_not_forked(tmp_path: Path) -> None:
    lines = "import threading, time\nthreading.Thread(target=time.sleep, args=(100,), daemon=True).start()"
    facts = play(ROUND + "go_round()", env=scenes.without(tmp_path, lines))
    assert_well(facts)
    assert facts["untraced"] == "the worker was not forked"


def test_workers_started_afresh() -> None:
    facts = play(
        ROUND
        + """
from outlive.process import factories
factories.can_fork = lambda kind: False
go_round()
interpreter = open_healthy()
say(version=interpreter.story().runtime.get("version"), children=len(scenes.children()))
interpreter.close()
say(left=len(scenes.children()))
"""
    )
    assert_well(facts)
    assert facts["version"]
    assert (facts["children"], facts["left"]) == (1, 0)


def test_a_runtime_that_is_not_there(tmp_path: Path) -> None:
    lines = "import sys\nsys.modules['ai_edge_litert'] = None"
    facts = play(
        """
    from outlive.process import factories
    for way in ("forked", "fresh"):
        try:
            open_healthy()
        except outlive.RuntimeMissing as error:
            say(**{way: str(error.finding)})
        factories.can_fork = lambda kind: False
    say(left=len(scenes.children() - {h.pid for h in factories._factories.values() if hasattr(h, "pid")}))
    """,
        env=scenes.without(tmp_path, lines),
    )
    assert facts["forked"]
    assert facts["fresh"]
    assert facts["left"] == 0


# --- many at once -----------------------------------------------------------------------------------


def test_thirty_two_at_once() -> None:
    expected = result(open_healthy())
    held = [open_healthy() for _ in range(32)]
    try:
        assert len({interpreter.pid for interpreter in held}) == 32
        for interpreter in held:
            assert np.array_equal(result(interpreter), expected)
        assert_apart(held)
    finally:
        for interpreter in held:
            interpreter.close()


def assert_apart(held: list[Any]) -> None:
    """No worker holds the pipes of another, or anything of the nursery's."""
    pipes: dict[str, int] = {}
    for interpreter in held:
        links = [os.readlink(entry) for entry in Path(f"/proc/{interpreter.pid}/fd").iterdir()]
        assert not [link for link in links if "socket" in link or "pidfd" in link]
        assert len([link for link in links if link.startswith("pipe:")]) == 2
        for link in links:
            pipes[link] = pipes.get(link, 0) + link.startswith("pipe:")
    assert max(pipes.values()) == 1


def test_the_nursery_has_one_thread_and_few_descriptors() -> None:
    held = [open_healthy() for _ in range(3)]
    [nursery] = [h for h in factories._factories.values() if isinstance(h, factories.Nursery)]
    assert nursery.facts["threads"] == 1
    assert os.listdir(f"/proc/{nursery.pid}/task") == [str(nursery.pid)]
    links = [os.readlink(entry) for entry in Path(f"/proc/{nursery.pid}/fd").iterdir()]
    assert len([link for link in links if link.startswith("pipe:")]) == 2
    assert not [link for link in links if "outlive-block" in link]
    assert len(held) == 3


def test_nothing_is_said_when_nothing_is_wrong(capfd: pytest.CaptureFixture[str]) -> None:
    with open_healthy() as interpreter:
        result(interpreter)
    assert capfd.readouterr() == ("", "")
    assert isinstance(interpreter, outlive.Interpreter)
