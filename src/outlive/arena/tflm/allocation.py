"""AllocateTensors step by step: what goes to the tail, in order, and what the planner is asked to place.

Sources: tensorflow/lite/micro/micro_interpreter.cc, micro_interpreter_graph.cc, micro_allocator.cc.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from outlive.arena.plan import Question, Refusal
from outlive.kernels.tflm.abi import ABIS, Abi, int_array_bytes, layout, size_of
from outlive.kernels.tflm.allocator import Arena
from outlive.kernels.tflm.preparation import INIT, MOST_SCRATCH_BUFFERS, Preparation, RefusedError, Workshop
from outlive.kernels.tflm.registry import Kernel, find_kernel
from outlive.kernels.tflm.tensors import EvalTensor, view
from outlive.model import Model, Operator, Tensor

OBJECTS = "allocator objects"
# kNumResourceVariable: tensorflow/lite/micro/tools/benchmarking/generic_model_benchmark.cc
BENCHMARK_VARIABLES = 100
STRUCTURES = "input and output structures"
_LIST_LIMITS = {"RESHAPE": "new_shape", "SQUEEZE": "squeeze_dims"}  # at most 8 numbers each
_UNVERIFIED = ("past-end", "malformed", "overlap")  # what the FlatBuffer verifier does not let pass
_LISTS = ("tensors", "buffers")  # read without a look whether they are there


class StoppedError(Exception):
    """TFLM does not get through AllocateTensors."""

    def __init__(self, *refusals: Refusal) -> None:
        super().__init__(refusals)
        self.refusals = refusals


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A model after Prepare: its tensors as they are then, and what its kernels asked for."""

    shop: Workshop

    @property
    def arena(self) -> Arena:
        """The arena so far."""
        return self.shop.arena


def prepare_model(model: Model, question: Question, *, benchmark: bool = False) -> Prepared:
    """Everything up to FinishModelAllocation; `benchmark` with the extra objects of TFLM's own benchmark."""
    _verify(model)
    shop = _open(model, question, _objects(question, ABIS[question.abi], benchmark))
    kernels = _parse(model, shop)
    _each(model, kernels, shop, _init)
    _each(model, kernels, shop, _prepare)
    return Prepared(shop=shop)


def keep_tensor_structures(model: Model, prepared: Prepared) -> None:
    """The last step: a TfLiteTensor for each input and output of the main subgraph."""
    arena, held = prepared.arena, prepared.shop.tensors[0]
    main = model.subgraphs[0]
    for indices in (main.input_indices, main.output_indices):
        arena.keep_buffer(arena.abi.pointer_bytes * len(indices), STRUCTURES)
        for index in indices:
            if not 0 <= index < len(held):
                raise RefusedError(f"tensor {index} does not exist")
            _keep_tensor(arena, held[index])


def _keep_tensor(arena: Arena, held: EvalTensor) -> None:
    arena.keep_struct("TfLiteTensor", STRUCTURES)
    scales = view(held).scales
    if scales:
        arena.keep_struct("TfLiteAffineQuantization", STRUCTURES)
        arena.keep(int_array_bytes(len(scales)), 4, STRUCTURES)


def _verify(model: Model) -> None:
    if not model.subgraphs:
        raise StoppedError(Refusal(subgraph=0, op=None, type="", reason="the file has no subgraph"))
    for flaw in model.flaws:
        if flaw.kind in _UNVERIFIED or (flaw.kind == "missing" and flaw.field in _LISTS):
            reason = f"the file does not pass verification: {flaw.detail}"
            raise StoppedError(Refusal(subgraph=0, op=None, type="", reason=reason))
    for subgraph in model.subgraphs:
        for tensor in subgraph.tensors:
            if tensor.buffer_index >= len(model.buffers):
                reason = f"tensor {tensor.index} lies in buffer {tensor.buffer_index}, which does not exist"
                raise StoppedError(Refusal(subgraph=subgraph.index, op=None, type="", reason=reason))


def _objects(question: Question, abi: Abi, benchmark: bool) -> Arena:
    arena = Arena(abi)
    recording = "Recording" if benchmark else ""
    arena.keep_struct(f"{recording}SingleArenaBufferAllocator", OBJECTS)
    planner = "LinearMemoryPlanner" if question.preserve_all_tensors else "GreedyMemoryPlanner"
    arena.keep_struct(planner, OBJECTS)
    arena.keep_struct(f"{recording}MicroAllocator", OBJECTS)
    if benchmark:
        arena.keep_buffer(size_of("MicroResourceVariables", abi), OBJECTS)
        arena.keep_buffer(size_of("MicroResourceVariable", abi) * BENCHMARK_VARIABLES, OBJECTS)
    return arena


def _open(model: Model, question: Question, arena: Arena) -> Workshop:
    abi = arena.abi
    arena.keep_struct("MicroBuiltinDataAllocator", OBJECTS)
    arena.resize_head(size_of("ScratchBufferRequest", abi) * MOST_SCRATCH_BUFFERS)
    arena.keep_struct("SubgraphAllocations", OBJECTS, len(model.subgraphs))
    for subgraph in model.subgraphs:
        arena.keep_struct("TfLiteEvalTensor", "evaluation tensors", len(subgraph.tensors))
    for subgraph in model.subgraphs:
        arena.keep_struct("NodeAndRegistration", "nodes", len(subgraph.operators))
    return Workshop(
        abi=abi,
        kernels=question.kernels,
        arena=arena,
        tensors=[_held(question, subgraph.index, subgraph.tensors) for subgraph in model.subgraphs],
        subgraph_inputs=[len(subgraph.input_indices) for subgraph in model.subgraphs],
        subgraph_outputs=[len(subgraph.output_indices) for subgraph in model.subgraphs],
        scratch=[],
        resources={},
        assigned=set(),
        guesses=[],
    )


def _held(question: Question, subgraph: int, tensors: tuple[Tensor, ...]) -> list[EvalTensor]:
    shapes = question.shapes
    return [
        EvalTensor(tensor, tuple(shapes.get((subgraph, tensor.index), tensor.shape))) for tensor in tensors
    ]


def _parse(model: Model, shop: Workshop) -> list[list[Kernel]]:
    # PrepareNodeAndRegistrationDataFromFlatbuffer; all operators TFLM lacks are named, not the first alone.
    found: list[list[Kernel]] = []
    missing: dict[str, Refusal] = {}
    for subgraph in model.subgraphs:
        found.append([])
        for op in subgraph.operators:
            kernel = find_kernel(op, shop.kernels)
            if kernel is None:
                refusal = _refusal(subgraph.index, op, f"TFLM has no kernel for {op.name}", missing=True)
                missing.setdefault(op.name, refusal)
                continue
            found[-1].append(kernel)
            _keep_options(shop, subgraph.index, op, kernel)
    if missing:
        raise StoppedError(*missing.values())
    return found


def _keep_options(shop: Workshop, subgraph: int, op: Operator, kernel: Kernel) -> None:
    if op.is_custom:
        return
    if op.custom_options is not None:
        raise StoppedError(_refusal(subgraph, op, "a builtin operator with custom options"))
    listed = _LIST_LIMITS.get(op.type)
    values = op.options.get(listed) if listed and op.options is not None else None
    if isinstance(values, tuple) and len(values) > 8:
        raise StoppedError(_refusal(subgraph, op, f"{listed} has more than 8 numbers"))
    format_ = op.options.get("weights_format", "") if op.options is not None else ""
    if not isinstance(format_, str):
        raise StoppedError(_refusal(subgraph, op, "its weights are in a format TFLM does not know"))
    if kernel.options is not None:
        shop.arena.keep_struct(kernel.options, "builtin data")


def _each(
    model: Model, kernels: list[list[Kernel]], shop: Workshop, step: Callable[[Preparation, Kernel], None]
) -> None:
    for subgraph, row in zip(model.subgraphs, kernels, strict=True):
        for op, kernel in zip(subgraph.operators, row, strict=True):
            try:
                step(Preparation(shop, subgraph.index, op), kernel)
            except RefusedError as refused:
                raise StoppedError(_refusal(subgraph.index, op, str(refused))) from refused


def _init(k: Preparation, kernel: Kernel) -> None:
    k.part = INIT
    if kernel.init is not None:
        kernel.init(k)
    elif kernel.init_struct is not None:
        k.keep_struct(kernel.init_struct)


def _prepare(k: Preparation, kernel: Kernel) -> None:
    asked = len(k.shop.scratch)
    if kernel.prepare is not None:
        kernel.prepare(k)
    k.require(
        len(k.shop.scratch) - asked <= MOST_SCRATCH_BUFFERS,
        f"it asks for more than {MOST_SCRATCH_BUFFERS} scratch buffers",
    )
    for index in k.op.outputs:
        if index >= 0:
            dims = k.held(index).dims
            # CheckDynamicTensors; a list of one 0 is a scalar of old files.
            k.require(dims == (0,) or all(size > 0 for size in dims), f"tensor {index} has no fixed shape")
    arena = k.shop.arena
    arena.take_back()
    requests = len(k.shop.scratch) + MOST_SCRATCH_BUFFERS
    arena.resize_head(size_of("ScratchBufferRequest", arena.abi) * requests)


def _refusal(subgraph: int, op: Operator, reason: str, *, missing: bool = False) -> Refusal:
    return Refusal(subgraph=subgraph, op=op.index, type=op.name, reason=reason, missing=missing)


def lend_planning_room(prepared: Prepared, subgraphs: int, tensors: int) -> None:
    """What CommitStaticMemoryPlan takes above the head before it plans."""
    arena = prepared.arena
    word = arena.abi.pointer_bytes
    arena.lend(word * subgraphs, word)
    info = layout("AllocationInfo", arena.abi)
    arena.lend(info.size_bytes * (tensors + len(prepared.shop.scratch)), info.align_bytes)
