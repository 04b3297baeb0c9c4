"""`autopsy --model`: the model's file beside a log or a core, and what `diagnose` says of it."""

from __future__ import annotations

import json
import os
import resource
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

import outlive
from outlive.cli.main import main
from outlive.diagnosis.autopsy import read_remains
from outlive.process.flight import OpSeen
from tests.deaths.scenes import DEADLY, HEALTHY, TOO_BIG
from tests.model.small import build, tensor

CRASH = """\
Fatal Python error: Segmentation fault

  File "x/interpreter.py", line 9 in invoke
Segmentation fault
"""
FIXED = build(
    [tensor("pixels", shape=(1, 8, 8, 3)), tensor("b", shape=(1, 8, 8, 3))],
    operators=[{"opcode_index": 0, "inputs": [0], "outputs": [1]}],
)


@pytest.fixture
def fixed(tmp_path: Path) -> str:
    (tmp_path / "fixed.tflite").write_bytes(FIXED)
    return str(tmp_path / "fixed.tflite")


def test_the_fault_of_the_model_is_the_one_that_diagnose_names() -> None:
    told = outlive.autopsy(CRASH, model=DEADLY)
    diagnosis = outlive.diagnose(DEADLY)
    assert diagnosis.verdict is not None
    assert (told.code, told.cause, told.op) == (diagnosis.verdict.code, diagnosis.cause, diagnosis.op)
    assert told.finding is not None
    assert told.finding.code == "O109"
    assert outlive.autopsy(CRASH).code == "D504"


def test_a_crash_of_a_sound_model_stays_a_crash() -> None:
    told = outlive.autopsy(CRASH, model=HEALTHY)
    assert (told.code, told.model) == ("D504", HEALTHY)


@pytest.mark.parametrize(
    ("log", "says"),
    [
        ("with 768 bytes from a Java Buffer with 192 bytes", "about input pixels or output b"),
        ("with 602112 bytes from a Java Buffer with 192 bytes", "log is of another model"),
        ("with shape [1, 8, 8, 3] from a Java object with shape [8, 8, 3]", "about input pixels"),
        ("with shape [1, 9, 9, 3] from a Java object with shape [8, 8, 3]", "log is of another model"),
    ],
)
def test_sizes_in_the_message_are_held_against_inputs_and_outputs(log: str, says: str, fixed: str) -> None:
    line = f"java.lang.IllegalArgumentException: Cannot copy to a TensorFlowLite tensor (x) {log}."
    assert says in outlive.autopsy(line, model=fixed).meaning


def test_types_in_the_message_are_held_against_inputs_and_outputs(fixed: str) -> None:
    line = "Cannot set tensor: Got value of type FLOAT64 but expected type {} for input 0, name: pixels"
    assert "about input pixels" in outlive.autopsy(line.format("FLOAT32"), model=fixed).meaning
    assert "another model" in outlive.autopsy(line.format("INT8"), model=fixed).meaning


def test_an_operator_is_named_by_its_index(fixed: str) -> None:
    line = "RuntimeError: something is odd here\nNode number 0 (RELU) failed to invoke."
    told = outlive.autopsy(line, model=fixed)
    assert told.op == OpSeen(type="RELU", index=0)
    assert "operator 0 of 1, which makes b" in told.meaning
    other = outlive.autopsy(line.replace("RELU", "CONV_2D"), model=fixed)
    assert "the log is of another model" in other.meaning
    delegated = outlive.autopsy(line.replace("RELU", "TfLiteGpuDelegateV2"), model=fixed)
    assert "another model" not in delegated.meaning


def test_a_death_for_memory_is_told_with_the_plan() -> None:
    told = outlive.autopsy(
        "Out of memory: Killed process 42 (python3) total-vm:9kB, anon-rss:8kB", model=TOO_BIG
    )
    assert "According to the plan, the model needs" in told.meaning
    arena = "Failed to resize buffer. Requested: 135056, available 130752, missing: 4304"
    assert "an arena of" in outlive.autopsy(arena, model=HEALTHY).meaning


def test_the_model_is_found_from_the_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(DEADLY, tmp_path / "net.tflite")
    log = tmp_path / "run.log"
    log.write_text(f"loading net.tflite\n{CRASH}")
    assert outlive.autopsy(log).code == "O109"
    assert main(["autopsy", str(log), "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["code"], document["op"]["index"]) == ("O109", 3)


def test_the_command_takes_a_model_and_a_pipe(fixed: str) -> None:
    command = [sys.executable, "-m", "outlive", "autopsy", "-", "--model", DEADLY, "--format", "json"]
    done = subprocess.run(command, input=CRASH, capture_output=True, text=True, check=False, timeout=180)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["code"], document["path"], document["source"]) == ("O109", DEADLY, "standard input")


PROGRAM = """
import sys
from ai_edge_litert.interpreter import Interpreter
interpreter = Interpreter(sys.argv[-1])
interpreter.allocate_tensors()
interpreter.invoke()
"""


@pytest.mark.skipif(
    Path("/proc/sys/kernel/core_pattern").read_text()[:1] in ("|", "/")
    if Path("/proc/sys/kernel/core_pattern").exists()
    else True,
    reason="the system does not leave core files in the folder of the process",
)
def test_a_real_core_tells_its_command_and_its_model(tmp_path: Path) -> None:
    script = tmp_path / "run.py"
    script.write_text(PROGRAM)
    long = f"--{'x' * 200}"
    subprocess.run(
        [sys.executable, str(script), long, DEADLY],
        cwd=tmp_path,
        capture_output=True,
        check=False,
        timeout=120,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2),
    )
    cores = list(tmp_path.glob("core*"))
    if not cores:
        pytest.skip("the system left no core file: its limit is fixed")
    told = outlive.autopsy(cores[0])
    assert told.core is not None
    assert told.core.command == f"{sys.executable} {script} {long} {DEADLY}"
    assert os.path.realpath(DEADLY) in told.core.model_files
    assert told.model == os.path.realpath(DEADLY)
    assert (told.code, told.signal) == ("O109", "SIGSEGV")


def made_core(strings: bytes, files: tuple[bytes, ...] = (), said: bytes = b"python3 a.py") -> bytes:
    """A core with the notes that Linux writes, and a stack that ends with these strings."""
    status, info = bytearray(336), bytearray(136)
    struct.pack_into("<h", status, 12, 11)
    info[40:47], info[56 : 56 + len(said)] = b"python3", said
    address = 0x7FFD_0000_0000
    auxv = struct.pack("<QQQQ", 31, address + len(strings) - 2, 0, 0)
    names = b"".join(name + b"\0" for name in files)
    mapped = struct.pack("<QQ", len(files), 1) + bytes(24 * len(files)) + names
    notes = b"".join(
        struct.pack("<III", 5, len(body), kind) + b"CORE\0\0\0\0" + body + bytes(-len(body) % 4)
        for kind, body in ((1, bytes(status)), (3, bytes(info)), (6, auxv), (0x46494C45, mapped))
    )
    header = b"\x7fELF\x02\x01\x01" + bytes(9)
    header += struct.pack("<HHIQQQIHHHHHH", 4, 62, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    at = 64 + 2 * 56
    note = struct.pack("<IIQQQQQQ", 4, 0, at, 0, 0, len(notes), 0, 4)
    load = struct.pack("<IIQQQQQQ", 1, 6, at + len(notes), address, 0, len(strings), len(strings), 4096)
    return header + note + load + notes + strings


def test_the_command_is_cut_from_the_environment_and_bounded() -> None:
    told = read_remains(
        made_core(b"\0junk\0python3\0a.py\0--model\0net.tflite\0HOME=/home\0SECRET=1\0x\0"), None
    )
    assert told.core is not None
    assert told.core.command == "python3 a.py --model net.tflite"
    told = read_remains(made_core(b"python3\0a.py\0" + b"y" * 100_000 + b"\0HOME=/\0x\0"), None)
    assert told.core is not None
    assert len(told.core.command) <= 4000
    told = read_remains(made_core(b"nothing of the kind\0"), None)
    assert told.core is not None
    assert told.core.command == "python3 a.py"


def test_a_core_names_the_models_that_were_mapped() -> None:
    told = read_remains(made_core(b"x\0", (b"/lib/libc.so", b"/m/a.tflite", b"/m/a.tflite")), None)
    assert told.core is not None
    assert told.core.model_files == ("/m/a.tflite",)


def test_a_core_that_lies_about_its_strings_is_survived() -> None:
    good = made_core(b"python3\0a.py\0b\0HOME=/\0x\0", (b"/m/a.tflite",))
    for at in range(4, len(good), 3):
        read_remains(good[:at] + b"\xff\xff\xff\xff\xff\xff\xff\xff" + good[at + 8 :], None)
        read_remains(good[:at], None)
