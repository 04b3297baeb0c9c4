"""`outlive guard`: scripts and modules with their streams, arguments and exit codes, and their deaths."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.deaths.restrictions import linux_only
from tests.guarding.scenes import gone

pytestmark = linux_only

MAIN = "import sys; from outlive.cli.main import main; sys.exit(main(sys.argv[1:]))"
SCRIPT = """
import atexit, os, sys, threading, time
def act(word):
    if word == "abort": os.abort()
    if word == "raise": raise ValueError("of its own")
    if word == "hang": time.sleep(1000)
    if word == "leave": os._exit(9)
    if word == "words": sys.exit("said at the end")
    if word == "hoard": return [bytearray(b"x" * 10_000_000) for _ in range(100)]
    return None
if __name__ == "__main__":
    atexit.register(print, "bye")
    threading.Thread(target=lambda: (time.sleep(0.2), print("thread"))).start()
    print(os.path.basename(sys.argv[0]), sys.argv[1:], sys.stdin.readline().strip())
    print("on stderr", file=sys.stderr)
    act(sys.argv[1])
    sys.exit(int(sys.argv[1]) if sys.argv[1].isdigit() else 0)
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(SCRIPT)
    return path


def guard(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", MAIN, "guard", *map(str, words)]
    return subprocess.run(command, input="a line\n", capture_output=True, text=True, timeout=120, check=False)


def test_it_runs_as_the_main_program_and_its_exit_code_is_passed_on(script: Path) -> None:
    done = guard("--memory", "1GB", script, 5, "--memory", "x")
    assert done.returncode == 5, done.stderr
    assert done.stdout == "program.py ['5', '--memory', 'x'] a line\nthread\nbye\n"
    said, end, memory, *_ = done.stderr.splitlines()
    assert said == "on stderr"
    assert end.endswith("program.py  ended with exit code 5")
    assert memory.startswith("  Peak memory ")


def test_a_module(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(script.parent)
    done = guard("-m", "program", 0)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("program.py ['0'] a line")


@pytest.mark.parametrize(
    ("word", "code", "said"),
    [
        ("raise", 1, "ValueError: of its own"),
        ("leave", 9, "on stderr"),
        ("words", 1, "said at the end"),
        ("abort", 3, "error[D505]"),
    ],
)
def test_other_ends(script: Path, word: str, code: int, said: str) -> None:
    done = guard(script, word)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert "runpy" not in done.stderr


@pytest.mark.parametrize(("way", "code"), [("sys.exit(7)", 7), ("raise ValueError('child')", 1), ("pass", 0)])
def test_what_a_script_forks_ends_with_a_code_of_its_own(tmp_path: Path, way: str, code: int) -> None:
    path = tmp_path / "forks.py"
    path.write_text(
        f"import os, sys\nchild = os.fork()\nif not child:\n    {way}\nelse:\n"
        "    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)\n    sys.exit(4)\n"
    )
    done = guard("--seconds", 60, path)
    assert (done.stdout, done.returncode) == (f"{code}\n", 4), done.stderr
    assert ("ValueError: child" in done.stderr) == ("child" in way)


def test_limits(script: Path, tmp_path: Path) -> None:
    late = guard("--seconds", 1, "--format", "json", "--output", tmp_path / "flight.json", script, "hang")
    assert late.returncode == 3, late.stderr
    flight = json.loads((tmp_path / "flight.json").read_text())
    assert (flight["kind"], flight["died"], flight["ended_by"]) == ("run", True, "deadline")
    assert flight["findings"][0]["code"] == "D503"
    assert "in act" in flight["fault_trace"]
    hoard = guard("--memory", "200MB", script, "hoard")
    assert hoard.returncode in (1, 3)
    assert "error[D502]: Memory limit exceeded: the limit is 200 MB" in hoard.stderr


@pytest.mark.parametrize("words", [["there_is_no_such_file.py"], [], ["--memory", "many", "x.py"]])
def test_mistakes_in_use(words: list[str]) -> None:
    assert guard(*words).returncode == 2


def test_an_output_that_cannot_be_written_is_known_before_the_work(script: Path, tmp_path: Path) -> None:
    done = guard("--format", "json", "--output", tmp_path / "no" / "flight.json", script, 0)
    assert done.returncode == 2
    assert "bye" not in done.stdout


def test_ctrl_c_ends_the_script_and_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "waits.py"
    path.write_text("import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(1000)\n")
    command = [sys.executable, "-c", MAIN, "guard", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(300) == 130
    assert gone(pid)
