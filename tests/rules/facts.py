"""Facts that no file gives: flights that ended badly and calls that were refused, as the cases need them."""

from __future__ import annotations

from typing import Any

from outlive.interpreter.judge import Call
from outlive.process.flight import DelegationSeen, Flight, OpSeen, OutputSeen

MIB = 1 << 20
GIB = 1 << 30
LIMITS = {"memory_bytes": None, "seconds": None, "data_bytes": 20 * GIB}
CHATTER = "INFO: Created TensorFlow Lite XNNPACK delegate for CPU.\n"
PREPARE = ("tflite::ops::builtin::add::Prepare", "tflite::Subgraph::PrepareOpsStartingAt")
EVAL = ("tflite::ops::builtin::gather::Eval", "tflite::Subgraph::InvokeImpl")
OPTIMIZED = ("tflite::optimized_ops::Conv", "tflite::ops::builtin::conv::Eval", "tflite::Subgraph::Invoke")
XNNPACK = ("xnn_create_runtime_v4", "tflite::xnnpack::DelegatePrepare", "tflite::Subgraph::Invoke")


def death(signal: str | None = "SIGSEGV", **fields: Any) -> Flight:
    """A worker that died in operator 3 of a run, with nothing else out of the ordinary."""
    usual: dict[str, Any] = {
        "stage": "invoke",
        "op": OpSeen(type="CONV_2D", index=3),
        "frames": EVAL,
        "oom_kills": (0, 0),
        "limits": LIMITS,
        "peak_bytes": 7 * MIB,
        "stderr_tail": CHATTER,
        "last_memory": {"data_bytes": 96 * MIB},
    }
    return Flight(died=True, signal=signal, **{**usual, **fields})


def complaint(text: str = "", kind: str = "RuntimeError", **fields: Any) -> Flight:
    """A runtime that complained; nobody died."""
    usual: dict[str, Any] = {"stage": "allocate", "limits": LIMITS, "peak_bytes": 2 * MIB}
    return Flight(died=False, error_type=kind, error_text=text, **{**usual, **fields})


def landing(**fields: Any) -> Flight:
    """A run that went well."""
    return Flight(died=False, stage="done", limits=LIMITS, peak_bytes=7 * MIB, **fields)


def output(name: str, shape: tuple[int, ...], untouched: int | None, dtype: str = "float32") -> OutputSeen:
    """An output with the bytes of it that were never written."""
    return OutputSeen(
        name=name,
        index=9,
        shape=shape,
        dtype=dtype,
        minimum=0.0,
        maximum=1.0,
        sha256="",
        untouched_bytes=untouched,
    )


def delegation(taken: int, left: tuple[tuple[int, str], ...], asked: str = "XNNPACK") -> DelegationSeen:
    """What a delegate took of a model of 12 operators."""
    return DelegationSeen(asked=(asked,), operators=12, taken=taken, parts=min(taken, 1), left=left)


def call(
    problem: str,
    wanted: tuple[int, ...] = (1, 224, 224, 3),
    given: tuple[int, ...] = (1, 224, 224, 3),
    wanted_dtype: str = "float32",
    given_dtype: str = "float32",
) -> Call:
    """A call with an image that was refused."""
    return Call(
        problem=problem,
        index=5,
        name="image",
        wanted_shape=wanted,
        wanted_dtype=wanted_dtype,
        given_shape=given,
        given_dtype=given_dtype,
    )
