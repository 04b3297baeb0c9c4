"""The plan as an answer: placements, loads, parts and words, from what the replay of TFLM found."""

from collections.abc import Sequence
from dataclasses import dataclass

from outlive.arena.plan import OpLoad, Part, Placement, Plan, Question, Refusal, make_plan
from outlive.arena.tflm.greedy import BufferNeed
from outlive.arena.tflm.lifetimes import MicroLifetimes
from outlive.kernels.tables import read_table
from outlive.kernels.tflm.abi import ABIS, SingleArena
from outlive.model import Model


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadBuffer:
    """One buffer of the head: a tensor, or scratch memory of an operator (`tensor` counts on behind them)."""

    tensor: int
    subgraph: int
    name: str
    need: BufferNeed


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """A variable tensor: it lies in the tail, `end_bytes` from the arena's end."""

    tensor: int
    subgraph: int
    name: str
    size_bytes: int
    end_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AllocatedModel:
    """What a whole AllocateTensors came to."""

    arena: SingleArena
    head_bytes: int
    least_bytes: int
    buffers: Sequence[HeadBuffer]
    offsets: Sequence[int]
    variables: Sequence[Variable]
    lifetimes: MicroLifetimes
    unknown: tuple[str, ...]


def granted(model: Model, question: Question, outcome: AllocatedModel) -> Plan:
    """The plan of a model TFLM takes."""
    arena = outcome.arena
    loads = _loads(outcome.buffers, outcome.lifetimes)
    source = f"TFLM {_commit()}, replayed for {question.abi}"
    parts = {"planned tensors": outcome.head_bytes} | arena.parts
    return make_plan(
        model,
        question,
        accelerator="tflm",
        arena_bytes=outcome.head_bytes,
        persistent_bytes=arena.tail_bytes,
        **dict.fromkeys(("packed_weights_bytes", "workspace_bytes", "dynamic_bytes", "runtime_bytes"), 0),
        mapped_bytes=model.file_bytes,
        peak_bytes=outcome.least_bytes,
        total_bytes=outcome.least_bytes + model.file_bytes,
        min_arena_bytes=outcome.least_bytes,
        placements=_placements(outcome.buffers, outcome.offsets) + _kept(outcome),
        ops=tuple(
            OpLoad(index=op.index, type=op.name, name=_output_name(model, op.outputs), live_bytes=load)
            for op, load in zip(model.subgraphs[0].operators, loads, strict=True)
        ),
        parts=tuple(Part(name=name, bytes=size, source=source) for name, size in parts.items()),
        lower_bound_bytes=max(loads, default=0),
        exact=not outcome.unknown,
        unknown=outcome.unknown,
        bound="upper",
        assumed=_assumed(question),
    )


def _loads(buffers: Sequence[HeadBuffer], lifetimes: MicroLifetimes) -> list[int]:
    """Bytes alive in each operator of the main subgraph, at the most of its scopes and its subgraphs'."""
    change = [0] * (lifetimes.scope + 3)
    for buffer in buffers:
        change[buffer.need.first + 1] += buffer.need.size_bytes
        change[buffer.need.last + 2] -= buffer.need.size_bytes
    alive = []
    total = 0
    for step in change:
        total += step
        alive.append(total)
    return [max(alive[first + 1 : last + 2]) for first, last in lifetimes.op_scopes]


def _placements(buffers: Sequence[HeadBuffer], offsets: Sequence[int]) -> tuple[Placement, ...]:
    # Scope 1 is operator 0: without control flow a scope is an operator and one.
    return tuple(
        Placement(
            tensor=buffer.tensor,
            name=buffer.name,
            offset_bytes=offset,
            size_bytes=buffer.need.size_bytes,
            first_op=buffer.need.first - 1,
            last_op=buffer.need.last - 1,
            subgraph=buffer.subgraph,
        )
        for buffer, offset in zip(buffers, offsets, strict=True)
    )


def _kept(outcome: AllocatedModel) -> tuple[Placement, ...]:
    # Offsets count from the tail's low end, as the other arena does from its own.
    return tuple(
        Placement(
            tensor=variable.tensor,
            name=variable.name,
            offset_bytes=outcome.arena.tail_bytes - variable.end_bytes,
            size_bytes=variable.size_bytes,
            first_op=-1,
            last_op=outcome.lifetimes.scope,
            persistent=True,
            subgraph=variable.subgraph,
        )
        for variable in outcome.variables
    )


def _output_name(model: Model, outputs: tuple[int, ...]) -> str:
    tensors = model.subgraphs[0].tensors
    return tensors[outputs[0]].name if outputs and 0 <= outputs[0] < len(tensors) else ""


def _commit() -> str:
    commit: str = read_table("tflm")["tflm_commit"]
    return commit[:12]


def _assumed(question: Question) -> tuple[str, ...]:
    abi = ABIS[question.abi]
    words = [
        f"ABI {abi.name}: {abi.compiler}",
        f"{question.kernels} kernels of tensorflow/tflite-micro {_commit()}",
        "arena aligned to 16 bytes at both ends, MicroInterpreter with its own arena",
    ]
    if question.kernels == "cmsis-nn":
        words.append(f"CMSIS-NN {read_table('tflm')['cmsis_nn_commit'][:12]}, Cortex-M4 with DSP, no MVE")
    if question.shapes:
        words.append("the file converted with these shapes: TFLM cannot resize")
    return tuple(words)


def refused(model: Model, question: Question, refusals: tuple[Refusal, ...]) -> Plan:
    """The plan of a model TFLM does not take: all sizes are None."""
    return make_plan(model, question, accelerator="tflm", assumed=_assumed(question), refusals=refusals)
