"""What native frames say about a cause by themselves, whatever was running."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from outlive.diagnosis.messages import Match, matches
from outlive.process.child.tracing import kernel_names as opnames

# Functions that die of one kind of fault only: LiteRT, tflite/kernels/internal/quantization_util.cc aborts on
# multipliers that no scale should give.
_HINTS = (
    ("QuantizeMultiplier", frozenset({"quant-scale-invalid", "quant-params-missing"})),
    ("PopulateConvolutionQuantizationParams", frozenset({"quant-params-missing", "quant-scale-invalid"})),
)
_INNERMOST = 8
# LiteRT, tflite/core/subgraph.cc: what it says of a node that fails.
_SAID = re.compile(r"Node number \d+ \([^)]*\) failed to (prepare|invoke)")
# What the Python wrappers (tflite/python/interpreter_wrapper, litert/python) call in the name of each stage.
_STAGES = (
    (re.compile(r"Wrapper::(?:AllocateTensors|ResizeInputTensor)"), "allocate"),
    (re.compile(r"Wrapper::(?:Invoke|Run\w*)\b|LiteRtCompiledModelT::Run|Wrapper::FeedTensor"), "invoke"),
    (re.compile(r"Wrapper::SetTensor\w*|TensorBufferWrapper::Write"), "set"),
    (
        re.compile(r"Wrapper::(?:GetTensor|tensor|Tensor\w+|OutputIndices|InputIndices)|BufferWrapper::Read"),
        "get",
    ),
    (re.compile(r"Wrapper::Create\w*|ModifyModelInterface|Wrapper::GetSignature\w*"), "load"),
    (re.compile(r"::~(?:Interpreter|CompiledModel)\w*Wrapper|::~Interpreter\b"), "free"),
)
# A kernel as debuggers and our own stacks write it, with or without arguments.
_KERNEL = re.compile(r"\btflite::ops::(?:builtin|custom)::[\w:]+")


def hinted_causes(frames: Iterable[str]) -> frozenset[str]:
    """Causes that the innermost frames speak for, where findings leave a choice."""
    for frame in list(frames)[:_INNERMOST]:
        for part, causes in _HINTS:
            if part in frame:
                return causes
    return frozenset()


def said_by(frames: Iterable[str]) -> Match | None:
    """The most telling message that a frame is: functions that only one mistake leads into."""
    found = [match for frame in frames for match in matches(frame) if match.message.weight > 0]
    return max(found, key=lambda match: match.message.weight, default=None)


def stage_in(frames: Iterable[str]) -> str:
    """The stage that was running, by the outermost wrapper in a stack; empty if there is none."""
    found = [stage for frame in frames for pattern, stage in _STAGES if pattern.search(frame)]
    return found[-1] if found else ""


def stage_said(text: str) -> str:
    """The stage by LiteRT's words on a node, a delegate's included; empty if there are none.

    The last words are the outermost node's: what a loop prepares while it runs is part of the run.
    """
    said = _SAID.findall(text)
    return {"prepare": "allocate", "invoke": "invoke"}[said[-1]] if said else ""


def operator_of(frames: Iterable[str]) -> str | None:
    """The operator whose kernel is the innermost one in a stack of names; None if none or several."""
    return next(_operators(frames), None)


def _operators(frames: Iterable[str]) -> Iterator[str]:
    for frame in frames:
        named = _KERNEL.search(frame)
        kernel = opnames.candidates(named.group(), (), "") if named else None
        if kernel is not None and len(kernel.ops) == 1:
            yield kernel.ops[0]
