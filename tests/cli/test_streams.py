"""The command as real processes: pipes, terminals, readers that go away, interrupts, shells."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from outlive import demo_models
from outlive.rules.catalogue import load_rules
from outlive.surgery import write
from tests.cli.processes import COMMAND, environment, run, run_on_terminal, run_unread
from tests.rendering.stage import unsafe
from tests.rules.small import dense, graph, operator, tensor, tree

HEALTHY = str(demo_models.path("healthy"))
LONG = "layer/" * 6 + "end"

needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash, which is not here")


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model whose lines are far longer than 80 columns."""
    tensors = [tensor(f"{LONG}{index}", [1, 128]) for index in range(8)]
    step = operator("CONCATENATION", list(range(7)), [7], "ConcatenationOptions", axis=1)
    path = tmp_path_factory.mktemp("wide") / "wide.tflite"
    path.write_bytes(write(tree(graph(tensors, [step], list(range(7)), [7]))))
    return str(path)


@pytest.mark.parametrize("words", [["read", HEALTHY], ["read", HEALTHY, HEALTHY], ["explain"], ["demo"]])
def test_a_pipe_gets_plain_lines_without_spaces_at_their_ends(words: list[str]) -> None:
    done = run(*words)
    assert (done.returncode, done.stderr) == (0, "")
    assert unsafe(done.stdout) == set()
    assert [line for line in done.stdout.splitlines() if line != line.rstrip()] == []
    assert done.stdout.endswith("\n")


def test_a_pipe_gets_lines_that_are_neither_wrapped_nor_cut(wide: str) -> None:
    (line,) = [line for line in run("read", wide, "--graph").stdout.splitlines() if "CONCATENATION" in line]
    assert len(line) > 300
    assert line.endswith(f"-> {LONG}7 1x128")


def test_a_terminal_gets_colours() -> None:
    code, text = run_on_terminal("read", HEALTHY)
    assert code == 0
    assert "\x1b[1mOperators\x1b[0m" in text
    assert "\x1b[1;36m  note[M107]\x1b[0m" in text


def test_no_color_is_respected() -> None:
    code, text = run_on_terminal("read", HEALTHY, NO_COLOR="1", errors=False)
    assert code == 0
    assert "Operators" in text
    assert re.findall(r"\x1b\[[0-9;]*3[0-9][0-9;]*m", text) == []


def test_a_dumb_terminal_gets_no_escapes() -> None:
    assert "\x1b" not in run_on_terminal("read", HEALTHY, TERM="dumb")[1]


def test_a_narrow_terminal_gets_narrow_lines_and_whole_names(wide: str) -> None:
    _, text = run_on_terminal("read", wide, "--tensors", columns=60, errors=False)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines()
    assert max(map(len, lines)) <= 60
    assert any(f"name {LONG}0" in line for line in lines)


def test_json_is_the_same_on_a_terminal_and_in_a_pipe() -> None:
    code, text = run_on_terminal("read", HEALTHY, "--format", "json", errors=False)
    assert code == 0
    assert text == run("read", HEALTHY, "--format", "json").stdout
    assert json.loads(text)["kind"] == "read"


@pytest.mark.parametrize(
    "words", [["read", HEALTHY], ["read", HEALTHY, "--format", "json"], ["explain"], ["demo"]]
)
def test_a_reader_that_goes_away_gives_no_traceback(words: list[str]) -> None:
    assert run_unread(*words) == (141, "")


@pytest.mark.parametrize("words", [["--help"], ["read", "--help"], ["--completion", "bash"]])
def test_help_that_nobody_reads_gives_no_traceback(words: list[str]) -> None:
    assert run_unread(*words)[1] == ""


@needs_bash
def test_head_gets_its_line_and_nobody_complains() -> None:
    script = f'"{sys.executable}" -m outlive explain | head -1; echo "${{PIPESTATUS[0]}}"'
    done = subprocess.run(
        ["bash", "-c", script], env=environment(), capture_output=True, text=True, timeout=300, check=True
    )
    first, status = done.stdout.splitlines()
    assert first.split()[0] == load_rules()[0].code
    assert status in ("0", "141"), "141 if head was gone before all was written"
    assert done.stderr == ""


SLOW = """
import sys, time
import outlive.verbs.read
from outlive.cli import main as door

def slow(source):
    print("reading", flush=True)
    time.sleep(60)

sys.modules["outlive.verbs.read"].reading_of = slow
sys.exit(door.main(["read", "model.tflite"]))
"""


def test_an_interrupt_while_reading_ends_quietly_with_130() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "reading\n"
    process.send_signal(signal.SIGINT)
    rest, errors = process.communicate(timeout=300)
    assert (process.returncode, rest, errors) == (130, "", "")


def test_a_pipe_of_another_encoding_gets_what_it_can_hold() -> None:
    done = run("read", HEALTHY, env=environment(PYTHONIOENCODING="ascii"))
    assert done.returncode == 0, done.stderr
    assert "CONV_2D" in done.stdout


def test_a_file_gets_no_colours_even_if_they_are_forced(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    done = run("read", HEALTHY, "--output", str(target), env=environment(FORCE_COLOR="1"))
    assert done.returncode == 0
    assert "\x1b" not in target.read_text(encoding="utf-8")


def test_a_full_disk_is_no_bug_of_ours() -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("needs /dev/full, which only Linux has")
    with full.open("w") as stream:
        done = subprocess.run(
            [*COMMAND, "read", HEALTHY], stdout=stream, stderr=subprocess.PIPE, text=True, env=environment(),
            timeout=300, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_model_is_not_overwritten_with_its_own_description(tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(write(dense()))
    done = run("read", str(path), "--output", str(path))
    assert done.returncode == 2
    assert path.read_bytes() == write(dense())
