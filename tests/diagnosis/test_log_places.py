"""Where it happened, from stacks and words of others: the stage, the operator, and what an end belongs to."""

from __future__ import annotations

import pytest

from outlive.diagnosis.autopsy import read_text
from outlive.process.flight import OpSeen

DIED = "Segmentation fault (core dumped)\n"


@pytest.mark.parametrize(
    ("log", "stage"),
    [
        (">>> from ai_edge_litert.interpreter import Interpreter\nIllegal instruction\n", "import"),
        (">>> i = Interpreter('a.tflite')\nSegmentation fault\n", "load"),
        (
            ">>> i = Interpreter('a.tflite')\n>>> i.allocate_tensors()\n>>> i.invoke()\nSegmentation fault\n",
            "invoke",
        ),
        ("In [3]: it.set_tensor(0, x)\nSegmentation fault\n", "set"),
        ("pi@cam:~ $ python3 -c 'import tflite_runtime.interpreter'\nIllegal instruction\n", "import"),
        (
            "Fatal Python error: Illegal instruction\n\nCurrent thread 0x1 (most recent call first):\n"
            '  File "<frozen importlib._bootstrap_external>", line 1184 in create_module\n'
            '  File "/opt/app/see.py", line 2 in <module>\n',
            "import",
        ),
        (f"{DIED}#7 0x1 in tflite::impl::Interpreter::AllocateTensors() () from /x/libtfl.so\n", "allocate"),
        (
            f"{DIED}#1 0x1 in foo () from /x/a.so\n#2 0x1 in TfLiteInterpreterInvoke () from /x/libtfl.so\n",
            "invoke",
        ),
        (f"{DIED}#2 0x1 in tflite::InterpreterBuilder::operator()(int) () from /x/libtfl.so\n", "load"),
        (
            "Fatal signal 11 (SIGSEGV), code 1 in tid 77 (inference)\n"
            "      #00 pc 0012  /data/app/x/lib/arm64/libtfl_jni.so (tflite::Subgraph::InvokeImpl()+44)\n"
            "      #01 pc 0013  /data/app/x/lib/arm64/libtfl_jni.so "
            "(Java_org_tensorflow_lite_NativeInterpreterWrapper_run+8)\n",
            "invoke",
        ),
        (f"{DIED}#0 0x1 in xnn_qs8_gemm_minmax_ukernel_4x8c4__neondot () from /x/libtfl.so\n", "invoke"),
        (f"{DIED}#0 0x1 in tflite::ops::builtin::pad::Prepare(int*) () from /x/libtfl.so\n", "allocate"),
        ("Node 4 failed to prepare.\nERROR: Failed to allocate tensors.\n", "allocate"),
        ("Node SVDF (number 2f) failed to invoke with status 1\n", "invoke"),
        ("all is well\n", ""),
    ],
)
def test_the_stage_is_named(log: str, stage: str) -> None:
    assert read_text(log).stage == stage


@pytest.mark.parametrize(
    ("log", "op"),
    [
        (
            "tensorflow/lite/kernels/depthwise_conv.cc:99 a != b (1 != 2)\nNode 7 failed to prepare.\n",
            ("DEPTHWISE_CONV_2D", 7),
        ),
        (
            "Node SOFTMAX (number 11f) failed to prepare with status 1\nAllocateTensors() failed\n",
            ("SOFTMAX", 11),
        ),
        (
            "E/tflite: Op code 25 is currently not delegated to NNAPI\nE/tflite: Failed to build graph\n",
            ("SOFTMAX", None),
        ),
        ("ERROR: Node number 31 (TfLiteGpuDelegateV2) failed to prepare.\n", ("TfLiteGpuDelegateV2", 31)),
        (
            "ERROR: Node number 31 (TfLiteXNNPackDelegate) failed to prepare.\n"
            "ERROR: Node number 2 (CONV_2D) failed to prepare.\n",
            ("CONV_2D", 2),
        ),
        # Two kernels speak, and nothing tells which it was.
        ("lite/kernels/conv.cc:1 x\nlite/kernels/pad.cc:1 y\nRuntimeError: it failed\n", None),
        # A file of several kernels names none of them.
        ("lite/kernels/elementwise.cc:1 x\nRuntimeError: it failed\n", None),
    ],
)
def test_the_operator_is_named(log: str, op: tuple[str, int | None] | None) -> None:
    assert read_text(log).op == (None if op is None else OpSeen(type=op[0], index=op[1]))


DUMPED = """\
Fatal Python error: Segmentation fault

Thread 0x00007f1 (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 320 in wait
  File "/srv/feeder.py", line 5 in feed

Current thread 0x00007f2 (most recent call first):
  File "/usr/lib/python3/dist-packages/tflite_runtime/interpreter.py", line 941 in invoke
  File "/srv/gate.py", line 31 in look
  File "/srv/main.py", line 7 in <module>

Extension modules: numpy.core._multiarray_umath (total: 1)
"""


@pytest.mark.parametrize(
    ("log", "line"),
    [
        (DUMPED, "/srv/gate.py:31 (look)"),
        (
            DUMPED.replace("Current thread", "Thread").replace("Thread 0x00007f1", "Current thread 0x1"),
            "/srv/feeder.py:5 (feed)",
        ),
        (
            "RuntimeError                    Traceback (most recent call last)\n"
            "<ipython-input-4-1f2e> in <module>\n----> 2 interpreter.invoke()\n"
            "/usr/lib/python3.8/site-packages/tflite_runtime/interpreter.py in invoke(self)\n"
            "RuntimeError: Node number 3 (CONV_2D) failed to invoke.\n",
            "<ipython-input-4-1f2e> (<module>)",
        ),
        (
            "Cell In[7], line 14\n     12 # load\nFile ~/venv/lib/python3.11/site-packages/ai_edge_litert/"
            "interpreter.py:166, in Interpreter.invoke(self)\n"
            "RuntimeError: Node number 3 (CONV_2D) failed to invoke.\n",
            "Cell In[7]:14",
        ),
    ],
)
def test_the_line_of_ones_own_is_the_one_nearest_to_the_death(log: str, line: str) -> None:
    assert f"your line {line}" in read_text(log).where


UNCAUGHT = """\
Traceback (most recent call last):
  File "/srv/gate.py", line 21, in <module>
    engine.allocate_tensors()
  File "/usr/lib/python3/dist-packages/tflite_runtime/interpreter.py", line 513, in allocate_tensors
    return self._interpreter.AllocateTensors()
RuntimeError: lite/kernels/conv.cc:343 input->type != filter->type (FLOAT32 != INT8)
Node number 3 (CONV_2D) failed to prepare.
gate closed
waiting for the door thread
"""
OF_PROGRAM = """\
Traceback (most recent call last):
  File "/srv/gate.py", line 21, in <module>
    open_gate(plates["car"])
KeyError: 'car'
gate closed
waiting for the door thread
"""


def test_an_abort_without_a_word_belongs_to_the_exception_before_it() -> None:
    told = read_text(f"{UNCAUGHT}Aborted (core dumped)\n")
    assert (told.code, told.signal, told.op) == ("O106", "SIGABRT", OpSeen(type="CONV_2D", index=3))
    assert told.others == ()
    told = read_text(f"{OF_PROGRAM}Aborted\n")
    assert "KeyError" in told.meaning
    assert told.signal == "SIGABRT"


def test_an_abort_with_words_of_its_own_is_a_death_of_its_own() -> None:
    thrown = "terminate called after throwing an instance of 'std::bad_alloc'\nAborted\n"
    told = read_text(f"{OF_PROGRAM}{thrown}")
    assert (told.code, told.cause) == ("D502", "unknown")  # a size read from garbage ends so too
    assert "out of memory" in told.meaning
    assert len(told.others) == 1


def test_an_abort_long_after_an_exception_has_nothing_to_do_with_it() -> None:
    told = read_text(UNCAUGHT + "one more picture\n" * 40 + "Aborted\n")
    assert told.code == "D505"
    assert [other.code for other in told.others] == ["O106"]
