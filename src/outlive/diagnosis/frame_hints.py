"""What native frames say about a cause by themselves, whatever was running."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from outlive.diagnosis.messages import Match, matches
from outlive.process.child import kernel_names as opnames
from outlive.process.flight import OpSeen

# Functions that die of one kind of fault only: LiteRT, tflite/kernels/internal/quantization_util.cc aborts on
# multipliers that no scale should give.
_HINTS = (
    ("QuantizeMultiplier", frozenset({"quant-scale-invalid", "quant-params-missing"})),
    ("PopulateConvolutionQuantizationParams", frozenset({"quant-params-missing", "quant-scale-invalid"})),
)
_INNERMOST = 8
# What is said of a node that fails: LiteRT (tflite/core/subgraph.cc), the TensorFlow Lite of before 2019, and
# TensorFlow Lite Micro (micro_interpreter_graph.cc), which writes an f behind the number.
_NODE = re.compile(
    r"Node(?: number)? (?P<node>\d+)(?: \((?P<op>[^)]*)\))? failed to (?P<doing>prepare|invoke)|"
    r"Node (?P<kind>\w+) \(number (?P<number>\d+)f?\) failed to (?P<done>prepare|invoke)"
)
# The kernel's file in front of what it checks, and the number of an operator that a delegate refuses.
_KERNEL_FILE = re.compile(r"\blite/(?:micro/)?kernels/(?P<kernel>\w+)\.(?:cc|h):\d+")
_OPERATOR_NUMBER = re.compile(r"\b[Oo]p(?:erator)? ?code (?P<code>\d{1,3})\b")
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
    # The same by their names in C++, C and Java's native half.
    (
        re.compile(
            r"\b(?:Interpreter|Subgraph)::(?:AllocateTensors|ModifyGraphWithDelegate)\b|"
            r"TfLiteInterpreter(?:AllocateTensors|ModifyGraphWithDelegate)|NativeInterpreterWrapper_allocateTensors"
        ),
        "allocate",
    ),
    (
        re.compile(
            r"\b(?:Micro)?(?:Interpreter|Subgraph|InterpreterGraph)::Invoke(?:Impl|Subgraph)?\b|"
            r"TfLiteInterpreterInvoke|NativeInterpreterWrapper_run\b"
        ),
        "invoke",
    ),
    (
        re.compile(
            r"\bInterpreterBuilder::operator\(\)|FlatBufferModel::(?:Verify)?(?:And)?BuildFrom|TfLiteModelCreate|"
            r"NativeInterpreterWrapper_create(?:Model|Interpreter)"
        ),
        "load",
    ),
)
# Where no caller is seen: what a kernel was doing by its own name.
_OWN_STAGES = (
    (
        re.compile(
            r"\btflite::(?:ops|reference_ops|optimized_ops)\S*::Eval|\bxnn_\w+_ukernel|\bxnn_run_operator"
        ),
        "invoke",
    ),
    (re.compile(r"\btflite::ops\S*::Prepare\b|\bxnn_(?:create|reshape|setup)_\w+"), "allocate"),
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
    named = list(frames)
    found = [stage for frame in named for pattern, stage in _STAGES if pattern.search(frame)]
    own = (stage for frame in named for pattern, stage in _OWN_STAGES if pattern.search(frame))
    return found[-1] if found else next(own, "")


def stage_said(text: str) -> str:
    """The stage by LiteRT's words on a node, a delegate's included; empty if there are none.

    The last words are the outermost node's: what a loop prepares while it runs is part of the run.
    """
    said = [found["doing"] or found["done"] for found in _NODE.finditer(text)]
    return {"prepare": "allocate", "invoke": "invoke"}[said[-1]] if said else ""


def operator_said(lines: Iterable[str]) -> OpSeen | None:
    """The operator by what was said of a node, the file of its kernel or its number; None if not one alone.

    A delegate's own node is named where nothing better is.
    """
    text = "\n".join(lines)
    nodes = [
        (found["op"] or found["kind"] or "", int(found["node"] or found["number"]))
        for found in _NODE.finditer(text)
    ]
    named = [OpSeen(type=kind, index=index) for kind, index in nodes if kind and "Delegate" not in kind]
    if named:
        return named[0]
    index = nodes[0][1] if nodes and not nodes[0][0] else None
    files, numbers = _KERNEL_FILE.findall(text), _OPERATOR_NUMBER.findall(text)
    kinds = {*map(_of_file, files), *map(_of_number, numbers)}
    if len(kinds) == 1 and (kind := kinds.pop()):
        return OpSeen(type=kind, index=index)
    return OpSeen(type=nodes[0][0], index=nodes[0][1]) if nodes and nodes[0][0] else None


def _of_file(kernel: str) -> str:
    found = opnames.candidates(f"tflite::ops::builtin::{kernel}::Prepare", (), "")
    return found.ops[0] if found is not None and len(found.ops) == 1 else ""


def _of_number(code: str) -> str:
    return opnames.OPERATORS[int(code)] if int(code) < len(opnames.OPERATORS) else ""


def operator_of(frames: Iterable[str]) -> str | None:
    """The operator whose kernel is the innermost one in a stack of names; None if none or several."""
    return next(_operators(frames), None)


def _operators(frames: Iterable[str]) -> Iterator[str]:
    for frame in frames:
        named = _KERNEL.search(frame)
        kernel = opnames.candidates(named.group(), (), "") if named else None
        if kernel is not None and len(kernel.ops) == 1:
            yield kernel.ops[0]
