"""Logs of our own making for every class of failure: the right rule answers, with a cause and a remedy."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from outlive.diagnosis.autopsy import read_text

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SAMPLES: list[dict[str, str]] = tomllib.loads(
    Path(__file__).with_name("samples.toml").read_text(encoding="utf-8")
)["sample"]


def shown(value: Any) -> str:
    return value["class"] if isinstance(value, dict) else str(value)


@pytest.mark.parametrize("sample", SAMPLES, ids=shown)
def test_a_log_gets_its_rule_its_cause_and_its_remedy(sample: dict[str, str]) -> None:
    told = read_text(sample["log"])
    assert told.code == sample["code"]
    assert re.search(sample["says"], told.meaning)
    assert re.search(sample["do"], "\n".join(told.do))


def test_every_class_has_three_samples() -> None:
    assert min(Counter(sample["class"] for sample in SAMPLES).values()) >= 3


@pytest.mark.parametrize(
    "prefix",
    [
        "Mar 03 04:11:59 cam01 kernel: ",
        "2024-05-05T10:00:00.101223344Z stderr F ",
        "2024-01-02T03:04:05.0000000Z ",
        "web-1  | ",
        "[pod/infer-0/main] ",
        "[   12.345678] ",
        "10:01:22.101 -> ",
        "11-02 10:11:12.131  7000  7001 E DEBUG   : ",
        "2020-12-15 17:22:46.719 17395-17450/org.app A/libc: ",
        "\x1b[31m",
        "E       ",
    ],
)
def test_prefixes_of_loggers_are_taken_off(prefix: str) -> None:
    told = read_text(f"{prefix}Segmentation fault (core dumped)\x1b[0m\r\n")
    assert (told.signal, told.code) == ("SIGSEGV", "D504")
    assert told.clues[0].match.line == "Segmentation fault (core dumped)"


@pytest.mark.parametrize(
    ("line", "signal"),
    [
        ("Speicherzugriffsfehler (Speicherabzug geschrieben)", "SIGSEGV"),
        ("Erreur de segmentation (core dumped)", "SIGSEGV"),
        ("Violación de segmento (`core' generado)", "SIGSEGV"),
        ("Falha de segmentação (imagem do núcleo gravada)", "SIGSEGV"),
        ("Errore di segmentazione (core dump creato)", "SIGSEGV"),
        ("段错误 (核心已转储)", "SIGSEGV"),
        ("세그멘테이션 오류 (코어 덤프됨)", "SIGSEGV"),
        ("[1]    4242 segmentation fault  python a.py", "SIGSEGV"),
        ("fish: Job 1, 'python a.py' terminated by signal SIGSEGV (Address boundary error)", "SIGSEGV"),
        ("returned non-zero exit status 139", "SIGSEGV"),
        ("process exited with code 3221225477", "SIGSEGV"),
        ("Process finished with exit code -1073741819 (0xC0000005)", "SIGSEGV"),
        ("a.service: Main process exited, code=dumped, status=6/ABRT", "SIGABRT"),
        ("Abgebrochen (Speicherabzug geschrieben)", "SIGABRT"),
        ("中止 (コアダンプ)", "SIGABRT"),
        ("run.sh: line 3:  42 Killed                  python a.py", "SIGKILL"),
        ("Exited (137) 2 minutes ago", "SIGKILL"),
        ("exit status 247", "SIGKILL"),
        ("強制終了", "SIGKILL"),
        ("qemu: uncaught target signal 4 (Illegal instruction) - core dumped", "SIGILL"),
        ("Bus error: 10", "SIGBUS"),
        ("Excepción de coma flotante (`core' generado)", "SIGFPE"),
    ],
)
def test_endings_are_known_in_every_spelling(line: str, signal: str) -> None:
    assert read_text(f"loading\n{line}\n").signal == signal


@pytest.mark.parametrize(
    "line",
    ["exit code 0", "exit status 1", "the job was not killed", "returned 139 boxes", "Aborted: no such user"],
)
def test_what_is_no_ending_is_taken_for_none(line: str) -> None:
    assert not read_text(line).signal


def test_the_last_death_is_answered_and_the_others_are_listed() -> None:
    log = (
        "$ python a.py\nIllegal instruction (core dumped)\n"
        "$ python b.py\nINFO: Created TensorFlow Lite XNNPACK delegate for CPU.\nKilled\n"
    )
    told = read_text(log)
    assert (told.signal, told.code) == ("SIGKILL", "D508")
    assert [other.code for other in told.others] == ["E413"]


def test_lines_of_level_info_are_no_cause() -> None:
    told = read_text("INFO: Created TensorFlow Lite XNNPACK delegate for CPU.\nall is well\n")
    assert told.cause == ""
    assert told.clues == ()


def test_the_last_exception_counts_and_its_own_line_is_named() -> None:
    log = (
        "WARNING: Attempting to use a delegate that only supports static-sized tensors with a graph that has "
        "dynamic-sized tensors (tensor#3 is a dynamic-sized tensor).\n"
        'Traceback (most recent call last):\n  File "/srv/app.py", line 7, in serve\n'
        "  File \"/usr/lib/python3.11/socket.py\", line 12, in bind\nKeyError: 'x'\n"
    )
    told = read_text(log)
    assert "not by the TensorFlow Lite runtime" in told.meaning
    assert told.where == "your line /srv/app.py:7 (serve)"


@pytest.mark.parametrize(
    ("frame", "says"),
    [
        ("#1  0x1 in xnn_f32_igemm_ukernel_6x8__avx2 () from /x/libLiteRt.so", "convolution"),
        ("    frame #0: 0x1 libLiteRt.dylib`xnn_f32_dwconv_ukernel_9p8c__neon + 12", "convolution"),
        ("0   Espresso   0x0000000100000000 Espresso::run + 4", "Core ML"),
        ("#00 pc 0001  /data/lib/arm64/libneuralnetworks.so (ANeuralNetworksModel_finish+4)", "NNAPI"),
        ("    #0 0x55 in tflite::ops::builtin::add::Eval(int) (/x/app+0x55)", "kernels"),
        ("==7==    at 0x1: tflite::FlexDelegate::CopyFromBufferHandle(int) (in /x/tf.so)", "Flex"),
        ("C  [libedgetpu.so.1+0x1f]  platforms::darwinn::Driver::Open+0x2", "Edge TPU"),
        ("/x/libtensorflow_framework.so.2(_ZN3abcEv+0x1)[0x7f1]", "TensorFlow itself"),
    ],
)
def test_stacks_name_the_library(frame: str, says: str) -> None:
    assert says in read_text(f"Segmentation fault\n{frame}\n").meaning


@pytest.mark.parametrize(
    "log",
    [
        "Auto-merging app.py\nCONFLICT (content): Merge conflict in app.py\n",
        "npm ERR! code ENOENT\nnpm ERR! path /srv/web/package.json\n",
        '[error] 7#7: *3 connect() failed (111: Connection refused), request: "GET / HTTP/1.1"\n',
        'FATAL:  password authentication failed for user "shop"\n',
        "java.lang.IllegalStateException: cart is closed\n\tat com.shop.Cart.add(Cart.java:12)\n",
        "Traceback (most recent call last):\n  File \"report.py\", line 8, in total\nKeyError: 'price'\n",
    ],
)
def test_a_log_about_something_else_is_called_so(log: str) -> None:
    told = read_text(log)
    assert told.cause in ("", "unknown")
    assert re.search("not about a model|nothing in this log is about a model", told.meaning)
