"""The plan for TensorFlow Lite Micro: head, tail, and the smallest arena that allocates."""

import struct
from collections.abc import Sequence

from outlive.arena.plan import Plan, Question, Refusal
from outlive.arena.tflm import greedy
from outlive.arena.tflm.allocation import (
    StoppedError,
    keep_tensor_structures,
    lend_planning_room,
    prepare_model,
)
from outlive.arena.tflm.answer import AllocatedModel, HeadBuffer, Variable, granted, refused
from outlive.arena.tflm.greedy import BufferNeed, TooManyBuffersError
from outlive.arena.tflm.lifetimes import MicroLifetimes
from outlive.kernels.tflm.abi import ABIS, BUFFER_ALIGN_BYTES, KERNELS, align_up, size_of
from outlive.kernels.tflm.context import MicroAllocation, RefusedError
from outlive.model import Model, Tensor

# The largest arena the real TFLM was ever held against; no microcontroller comes near it.
MOST_ARENA_BYTES = 96 * 2**20
_MOST_BUFFER_BYTES = 2**31 - 1  # sizes are C ints in TFLM
_OFFLINE_PLAN = "OfflineMemoryAllocation"  # metadata with the offsets of a planner that ran before
_HEADER_WORDS = 3  # version, subgraph, number of tensors
ONLINE = -1
_LINEAR_BUFFERS = 1024  # LinearMemoryPlanner::kMaxBufferCount


def plan_tflm(model: Model, question: Question, *, benchmark: bool = False) -> Plan:
    """What TFLM will take of its arena for this model; what it refuses is in `refusals`.

    With `benchmark` it is what TFLM's generic benchmark reports: its allocator records every allocation, and
    room for 100 resource variables lies in the same arena.
    """
    if question.abi not in ABIS or question.kernels not in KERNELS:
        raise ValueError(
            f"abi {question.abi!r} with kernels {question.kernels!r}: "
            f"choose of {', '.join(ABIS)} and of {', '.join(KERNELS)}"
        )
    try:
        return _Planner(model, question, benchmark).plan()
    except StoppedError as stopped:
        return refused(model, question, stopped.refusals)
    except RefusedError as reason:
        refusal = Refusal(subgraph=0, op=None, type="", reason=str(reason))
        return refused(model, question, (refusal,))


class _Planner:
    def __init__(self, model: Model, question: Question, benchmark: bool) -> None:
        self._model = model
        self._question = question
        self._prepared = prepare_model(model, question, benchmark=benchmark)
        self._unknown: list[str] = []
        self._variables: list[Variable] = []

    def plan(self) -> Plan:
        """Finish the allocation and put the plan together."""
        arena = self._prepared.arena
        handles = len(self._prepared.scratch)
        if handles:
            arena.keep_struct("ScratchBufferHandle", "scratch handles", handles)
        tensors = sum(len(subgraph.tensors) for subgraph in self._model.subgraphs)
        lend_planning_room(self._prepared, len(self._model.subgraphs), tensors)
        offline = _offline_offsets(self._model)
        self._keep_variables(offline)
        lifetimes = MicroLifetimes(self._model, self._prepared.scratch)
        buffers = self._buffers(lifetimes, offline)
        if buffers and not self._question.preserve_all_tensors:
            arena.room(_per_buffer_bytes(self._prepared) * len(buffers))
        offsets = self._place([buffer.need for buffer in buffers])
        head = greedy.height([buffer.need for buffer in buffers], offsets)
        arena.take_back()
        arena.resize_head(0)
        arena.resize_head(head)
        keep_tensor_structures(self._model, self._prepared)
        outcome = AllocatedModel(
            arena=arena,
            head_bytes=head,
            least_bytes=self._least_bytes(),
            buffers=buffers,
            offsets=offsets,
            variables=self._variables,
            lifetimes=lifetimes,
            unknown=tuple(self._unknown),
        )
        return granted(self._model, self._question, outcome)

    def _keep_variables(self, offline: Sequence[int] | None) -> None:
        arena = self._prepared.arena
        for subgraph in self._model.subgraphs:
            held = self._prepared.tensors[subgraph.index]
            for tensor in subgraph.tensors:
                # The offsets are counted from 0 in every subgraph here (AllocateVariables).
                planned = offline is not None and offline[tensor.index] != ONLINE
                if not tensor.is_variable or planned:
                    continue
                size = self._bytes(subgraph.index, tensor.index)
                arena.keep_buffer(max(size, 0), "variables")
                held[tensor.index].has_data = True
                self._variables.append(
                    Variable(
                        tensor=tensor.index,
                        subgraph=subgraph.index,
                        name=tensor.name,
                        size_bytes=size,
                        end_bytes=arena.tail_bytes,
                    )
                )

    def _bytes(self, subgraph: int, index: int) -> int:
        held = self._prepared.tensors[subgraph][index]
        size = held.size_bytes
        if size is None:
            raise RefusedError(
                f"tensor {index} of subgraph {subgraph} is {held.type}, a type TFLM has no size for"
            )
        # A size just below 0, of an open dimension, is rounded up to 0 (AlignSizeUp wraps around).
        if not (held.has_data or -BUFFER_ALIGN_BYTES < size <= _MOST_BUFFER_BYTES):
            raise RefusedError(f"tensor {index} of subgraph {subgraph} has no size TFLM can hold")
        return size

    def _buffers(self, lifetimes: MicroLifetimes, offline: Sequence[int] | None) -> list[HeadBuffer]:
        found = []
        place = 0
        for subgraph in self._model.subgraphs:
            self._no_intermediates(subgraph.index)
            for tensor in subgraph.tensors:
                fixed = ONLINE if offline is None else offline[place]
                place += 1
                size = self._wanted_bytes(subgraph.index, tensor, fixed)
                if size is not None:
                    need = _need(size, lifetimes.tensors[subgraph.index][tensor.index], fixed)
                    found.append(
                        HeadBuffer(tensor=tensor.index, subgraph=subgraph.index, name=tensor.name, need=need)
                    )
        return found + self._scratch(lifetimes)

    def _wanted_bytes(self, subgraph: int, tensor: Tensor, fixed: int) -> int | None:
        # needs_allocating: InitializeAllocationInfo, micro_allocation_info.cc
        size = self._bytes(subgraph, tensor.index)
        has_data = self._prepared.tensors[subgraph][tensor.index].has_data
        if not tensor.is_variable:
            return None if has_data or size == 0 else size
        if fixed == ONLINE and not has_data and size:
            # Offsets of variables are looked up from 0 in every subgraph, those of the plan are not.
            raise RefusedError(
                f"its offline plan leaves variable {tensor.index} without memory: TFLM crashes"
            )
        return None if fixed == ONLINE else size

    def _no_intermediates(self, subgraph: int) -> None:
        for op in self._model.subgraphs[subgraph].operators:
            for index in op.intermediates:
                if 0 <= index < len(self._prepared.tensors[subgraph]) and self._bytes(subgraph, index):
                    reason = f"its intermediate tensor {index} is not empty"
                    raise StoppedError(Refusal(subgraph=subgraph, op=op.index, type=op.name, reason=reason))

    def _scratch(self, lifetimes: MicroLifetimes) -> list[HeadBuffer]:
        found = []
        behind = [len(subgraph.tensors) for subgraph in self._model.subgraphs]
        for request, life in zip(self._prepared.scratch, lifetimes.scratch, strict=True):
            if not 0 <= request.size_bytes <= _MOST_BUFFER_BYTES:
                raise RefusedError(f"operator {request.op} asks for a scratch buffer TFLM cannot hold")
            op = self._model.subgraphs[request.subgraph].operators[request.op]
            name = f"scratch of {op.name} {request.op}"
            found.append(
                HeadBuffer(
                    tensor=behind[request.subgraph],
                    subgraph=request.subgraph,
                    name=name,
                    need=_need(request.size_bytes if life[1] >= 0 else 0, life, ONLINE),
                )
            )
            behind[request.subgraph] += 1
        return found

    def _place(self, needs: list[BufferNeed]) -> list[int]:
        if self._question.preserve_all_tensors:
            if len(needs) > _LINEAR_BUFFERS:
                raise RefusedError(f"{len(needs)} buffers: a linear plan holds {_LINEAR_BUFFERS}")
            return greedy.place_in_line(needs)
        try:
            return greedy.place(needs)
        except TooManyBuffersError:
            self._unknown.append(
                f"{len(needs)} buffers were laid in line: too many are alive at once to be placed"
            )
            return greedy.place_in_line(needs)

    def _least_bytes(self) -> int:
        least = align_up(self._prepared.arena.least_bytes, BUFFER_ALIGN_BYTES)
        if least > MOST_ARENA_BYTES:
            raise RefusedError(
                f"it needs an arena of {least:,} bytes; no microcontroller has more than {MOST_ARENA_BYTES:,}"
            )
        return least


def _need(size: int, life: Sequence[int], offset: int) -> BufferNeed:
    return BufferNeed(
        size_bytes=align_up(max(size, 0), BUFFER_ALIGN_BYTES),
        first=life[0],
        last=life[1],
        offline_offset=None if offset == ONLINE else offset,
    )


def _per_buffer_bytes(prepared: MicroAllocation) -> int:
    # GreedyMemoryPlanner::per_buffer_size: a requirement, a list entry, and three numbers.
    abi = prepared.arena.abi
    return size_of("BufferRequirements", abi) + size_of("PlannerListEntry", abi) + 3 * 4


def _offline_offsets(model: Model) -> tuple[int, ...] | None:
    """One offset for each tensor of all subgraphs, -1 where the planner is to choose; None without a plan.

    GetOfflinePlannedOffsets: tensorflow/lite/micro/micro_allocation_info.cc.
    """
    found = None
    for entry in model.metadata:
        if entry.name == _OFFLINE_PLAN:
            if entry.data is None or entry.data.nbytes < 4 * _HEADER_WORDS:
                raise RefusedError(f"its metadata {_OFFLINE_PLAN} has no plan in it")
            tensors = sum(len(subgraph.tensors) for subgraph in model.subgraphs)
            (planned,) = struct.unpack_from("<i", entry.data, 8)
            if planned != tensors:
                raise RefusedError(f"its offline plan is for {planned} tensors, the model has {tensors}")
            if entry.data.nbytes < 4 * (_HEADER_WORDS + tensors):
                raise RefusedError("its offline plan is cut short")
            found = struct.unpack_from(f"<{tensors}i", entry.data, 4 * _HEADER_WORDS)
    return found
