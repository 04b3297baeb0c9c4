"""What others print is known: every message has a line that it is recognised by, and words that help."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

import outlive
from outlive.cli.main import main
from outlive.diagnosis.autopsy import read_remains, read_text
from outlive.diagnosis.messages import Message, known_messages, translate
from outlive.process.flight import OpSeen
from outlive.rules.catalogue import find_rule

SOURCES = {
    "LiteRT",
    "TensorFlow",
    "TensorFlow Lite Micro",
    "XNNPACK",
    "glibc",
    "Linux kernel",
    "Jupyter",
    "Docker",
}
# The taxonomy of causes, and nothing else, may stand in the table.
_WORDS = """
external-buffer-out-of-file op-arity required-tensor-missing option-out-of-range
tensor-type-mismatch quant-scale-invalid quant-params-missing quant-zero-point-out-of-range
zero-size-dimension rank-mismatch shape-mismatch flatbuffer-corrupt tensor-aliased buffer-aliased
graph-io-index variable-flag options-missing sparsity-metadata constant-out-of-range
unresolved-custom-op flex-op unsupported-op uninitialised-input runtime-shape-from-input
int-min-divided-by-minus-one string-tensor-unset write-to-constant wrong-shape wrong-dtype
wrong-layout not-quantized stale-view concurrent-use call-order index-out-of-range
data-dependent-index bad-resize representative-dataset out-of-memory unchecked-allocation
file-changed-while-mapped fork-after-threads threads-refused missing-runtime delegate-refused delegate-crash
infinite-loop hang tf-check-failed tf-out-of-bounds tf-size-overflow unknown
"""
CAUSES = frozenset(_WORDS.split())


@pytest.mark.parametrize("message", known_messages(), ids=lambda message: message.id)
def test_a_message_is_recognised_in_its_sample(message: Message) -> None:
    told = read_text(f"before\n{message.sample}\nafter")
    found = {clue.match.message.id: clue.match for clue in told.clues}
    if message.weight > 0:
        assert message.id in found
        assert "{" not in found[message.id].meaning
        assert found[message.id].advice
    assert message.seen
    assert message.cause in CAUSES | {""}
    assert not message.code or find_rule(message.code) is not None
    assert told.cause in CAUSES or message.weight <= 0


def test_at_least_forty_messages_of_all_the_usual_sources_are_known() -> None:
    messages = known_messages()
    assert len(messages) >= 40
    assert {message.source for message in messages} >= SOURCES
    assert len({message.id for message in messages}) == len(messages)


def test_numbers_and_names_come_back_out_of_the_line() -> None:
    line = "Failed to resize buffer. Requested: 135056, available 130752, missing: 4304"
    told = read_text(line)
    assert told.cause == "out-of-memory"
    assert "4304 are missing" in told.meaning
    assert told.do[0].startswith("make the arena at least 4304 bytes larger")


def test_the_most_telling_line_leads() -> None:
    log = (
        "AllocateTensors() failed\n"
        "python3[7]: segfault at 8 ip 00007f1c2b3a4d5e sp 00007ffd0a1b2c3d error 4\n"
        "Memory cgroup out of memory: Killed process 42 (python3) total-vm:9kB, anon-rss:8kB\n" * 2
    )
    told = read_text(log)
    assert told.cause == "out-of-memory"
    first = told.clues[0]
    assert (first.match.message.id, first.line_number, first.count) == ("kernel-oom-cgroup", 3, 2)


def test_an_empty_complaint_is_translated() -> None:
    found = translate("")
    assert found is not None
    assert found.message.cause == "out-of-memory"


def test_a_complaint_of_two_sentences_gives_the_operator_of_one_and_the_reason_of_the_other() -> None:
    found = translate(
        "tflite/kernels/slice.cc:170 NumInputs(node) != 3 (1 != 3)Node number 4 (SLICE) failed to prepare."
    )
    assert found is not None
    assert found.message.cause == "op-arity"
    assert (found.groups["node"], found.groups["op"], found.groups["wanted"]) == ("4", "SLICE", "3")


@pytest.mark.parametrize("data", [b"", b"\0\xff" * 50, b"all is well\n", b"\x7fELF" + b"\xff" * 100])
def test_what_holds_no_clue_says_so_and_never_fails(data: bytes) -> None:
    assert read_remains(data, None).found in ("text", "core")


def test_the_stage_and_the_operator_come_from_stacks_and_messages() -> None:
    dump = (
        'Fatal Python error: Aborted\n  File "ai_edge_litert/interpreter.py", line 575 in allocate_tensors\n'
    )
    assert read_text(dump).stage == "allocate"
    trace = 'File "interpreter.py", line 9, in invoke\nRuntimeError: Node number 3 (DIV) failed to invoke.'
    told = read_text(trace)
    assert (told.stage, told.op) == ("invoke", OpSeen(type="DIV", index=3))
    pasted = "Segmentation fault\n#1 0x1 in tflite::ops::builtin::floor_mod::Eval(TfLiteContext*) ()\n"
    assert read_text(pasted).op == OpSeen(type="FLOOR_MOD")


STACK = """\
[Current thread is 1 (LWP 7)]
#0  __memcpy_avx_unaligned_erms () at ../sysdeps/memmove.S:496
#0  __memcpy_avx_unaligned_erms () at ../sysdeps/memmove.S:496
#1  0x00007f91a0ed8a53 in tflite::calibration_wrapper::CalibrationWrapper::SetTensor(int) () from /liba.so
#2  0x00007f91a0ed86a0 in tflite::(anonymous namespace)::Feed(int) () from /x/liba.so
#3  main (argc=<optimized out>) at main.c:3
"""


def test_the_stack_of_a_core_file_tells_the_cause(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A debugger that prints this is put first on the path."""
    debugger = tmp_path / "gdb"
    debugger.write_text(f"#!/bin/sh\ncat <<'END'\n{STACK}END\n")
    debugger.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    told = read_remains(core(11, b"python3"), "core")
    assert told.core is not None
    assert told.core.frames == (
        "#0 __memcpy_avx_unaligned_erms",
        "#1 tflite::calibration_wrapper::CalibrationWrapper::SetTensor  liba.so",
        "#2 tflite::(anonymous namespace)::Feed  liba.so",
        "#3 main",
    )
    assert told.cause == "call-order"
    assert told.do[0].startswith("call Prepare before")


def core(signal: int, name: bytes) -> bytes:
    """A core file as Linux writes it on 64-bit machines, with its notes and nothing else."""
    status = bytearray(336)
    struct.pack_into("<h", status, 12, signal)
    info = bytearray(136)
    info[40 : 40 + len(name)] = name
    notes = b"".join(
        struct.pack("<III", 5, len(body), kind) + b"CORE\0\0\0\0" + bytes(body)
        for kind, body in ((1, status), (3, info))
    )
    header = (
        b"\x7fELF\x02\x01\x01"
        + bytes(9)
        + struct.pack("<HHIQQQIHHHHHH", 4, 62, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    )
    segment = struct.pack("<IIQQQQQQ", 4, 0, 120, 0, 0, len(notes), 0, 4)
    return header + segment + notes


def test_a_core_file_tells_its_signal_and_its_command() -> None:
    told = read_remains(core(11, b"python3"), None)
    assert told.found == "core"
    assert told.core is not None
    assert (told.core.signal, told.core.command) == ("SIGSEGV", "python3")
    assert told.meaning.startswith("python3 ended by SIGSEGV")
    assert any("gdb" in step for step in told.do)


def test_a_core_file_that_lies_is_survived() -> None:
    good = core(11, b"python3")
    for at in range(4, len(good), 7):
        read_remains(good[:at] + b"\xff\xff\xff\xff" + good[at + 4 :], None)
        read_remains(good[:at], None)


def test_the_command_reads_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "dmesg.txt"
    log.write_text("Out of memory: Killed process 42 (python3) total-vm:9kB, anon-rss:8kB\n")
    assert main(["autopsy", str(log)]) == 0
    shown = capsys.readouterr().out
    assert "out-of-memory" in shown
    assert "python3 (process 42, 8kB)" in shown
    assert main(["autopsy", str(log), "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["kind"], document["cause"]) == ("autopsy", "out-of-memory")
    assert document["clues"][0]["named"]["pid"] == "42"


def test_the_command_says_when_it_knows_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "log").write_text("all is well\n")
    assert main(["autopsy", str(tmp_path / "log")]) == 1
    assert "unknown cause" in capsys.readouterr().out
    assert main(["autopsy", str(tmp_path / "none")]) == 2


def test_python_takes_a_path_or_the_text(tmp_path: Path) -> None:
    line = "Out of memory: Killed process 42 (python3) total-vm:9kB, anon-rss:8kB"
    log = tmp_path / "dmesg.txt"
    log.write_text(line)
    for given in (log, str(log), line, f"{line}\nmore\n", line.encode()):
        told = outlive.autopsy(given)
        assert (told.cause, told.found) == ("out-of-memory", "text")
        assert len(repr(told)) < 400
    assert outlive.autopsy(log).source == str(log)
    assert outlive.autopsy("Killed").found == "text"
    for missing in ("gone.log", str(tmp_path / "core"), tmp_path / "core"):
        with pytest.raises(FileNotFoundError):
            outlive.autopsy(missing)
