"""AllocateTensors step by step: what goes to the tail, in order, and what the planner is asked to place.

Sources: tensorflow/lite/micro/micro_interpreter.cc, micro_interpreter_graph.cc, micro_allocator.cc.
"""

from collections.abc import Callable

from outlive.arena.plan import Question, Refusal
from outlive.kernels.tflm.abi import ABIS, Abi, SingleArena, int_array_bytes, layout, size_of
from outlive.kernels.tflm.context import (
    INIT,
    MOST_SCRATCH_BUFFERS,
    MicroAllocation,
    MicroContext,
    MicroKernel,
    MicroTensor,
    RefusedError,
)
from outlive.kernels.tflm.registry import find_kernel
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


def prepare_model(model: Model, question: Question, *, benchmark: bool = False) -> MicroAllocation:
    """Everything up to FinishModelAllocation; `benchmark` with the extra objects of TFLM's own benchmark."""
    _verify(model)
    shared = _open(model, question, _objects(question, ABIS[question.abi], benchmark))
    kernels = _parse(model, shared)
    _each(model, kernels, shared, _init)
    _each(model, kernels, shared, _prepare)
    return shared


def keep_tensor_structures(model: Model, prepared: MicroAllocation) -> None:
    """The last step: a TfLiteTensor for each input and output of the main subgraph."""
    arena, held = prepared.arena, prepared.tensors[0]
    main = model.subgraphs[0]
    for indices in (main.input_indices, main.output_indices):
        arena.keep_buffer(arena.abi.pointer_bytes * len(indices), STRUCTURES)
        for index in indices:
            if not 0 <= index < len(held):
                raise RefusedError(f"tensor {index} does not exist")
            _keep_tensor(arena, held[index])


def _keep_tensor(arena: SingleArena, held: MicroTensor) -> None:
    arena.keep_struct("TfLiteTensor", STRUCTURES)
    scales = held.scales
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


def _objects(question: Question, abi: Abi, benchmark: bool) -> SingleArena:
    arena = SingleArena(abi)
    recording = "Recording" if benchmark else ""
    arena.keep_struct(f"{recording}SingleArenaBufferAllocator", OBJECTS)
    planner = "LinearMemoryPlanner" if question.preserve_all_tensors else "GreedyMemoryPlanner"
    arena.keep_struct(planner, OBJECTS)
    arena.keep_struct(f"{recording}MicroAllocator", OBJECTS)
    if benchmark:
        arena.keep_buffer(size_of("MicroResourceVariables", abi), OBJECTS)
        arena.keep_buffer(size_of("MicroResourceVariable", abi) * BENCHMARK_VARIABLES, OBJECTS)
    return arena


def _open(model: Model, question: Question, arena: SingleArena) -> MicroAllocation:
    abi = arena.abi
    arena.keep_struct("MicroBuiltinDataAllocator", OBJECTS)
    arena.resize_head(size_of("ScratchBufferRequest", abi) * MOST_SCRATCH_BUFFERS)
    arena.keep_struct("SubgraphAllocations", OBJECTS, len(model.subgraphs))
    for subgraph in model.subgraphs:
        arena.keep_struct("TfLiteEvalTensor", "evaluation tensors", len(subgraph.tensors))
    for subgraph in model.subgraphs:
        arena.keep_struct("NodeAndRegistration", "nodes", len(subgraph.operators))
    return MicroAllocation(
        abi=abi,
        kernels=question.kernels,
        arena=arena,
        tensors=[_held(question, subgraph.index, subgraph.tensors) for subgraph in model.subgraphs],
        subgraph_inputs=[len(subgraph.input_indices) for subgraph in model.subgraphs],
        subgraph_outputs=[len(subgraph.output_indices) for subgraph in model.subgraphs],
        scratch=[],
        resources={},
        assigned=set(),
    )


def _held(question: Question, subgraph: int, tensors: tuple[Tensor, ...]) -> list[MicroTensor]:
    shapes = question.shapes
    return [
        MicroTensor(tensor, tuple(shapes.get((subgraph, tensor.index), tensor.shape))) for tensor in tensors
    ]


def _parse(model: Model, shared: MicroAllocation) -> list[list[MicroKernel]]:
    # PrepareNodeAndRegistrationDataFromFlatbuffer; all operators TFLM lacks are named, not the first alone.
    found: list[list[MicroKernel]] = []
    missing: dict[str, Refusal] = {}
    for subgraph in model.subgraphs:
        found.append([])
        for op in subgraph.operators:
            kernel = find_kernel(op, shared.kernels)
            if kernel is None:
                refusal = _refusal(subgraph.index, op, f"TFLM has no kernel for {op.name}", missing=True)
                missing.setdefault(op.name, refusal)
                continue
            found[-1].append(kernel)
            _keep_options(shared, subgraph.index, op, kernel)
    if missing:
        raise StoppedError(*missing.values())
    return found


def _keep_options(shared: MicroAllocation, subgraph: int, op: Operator, kernel: MicroKernel) -> None:
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
        shared.arena.keep_struct(kernel.options, "builtin data")


def _each(
    model: Model,
    kernels: list[list[MicroKernel]],
    shared: MicroAllocation,
    step: Callable[[MicroContext, MicroKernel], None],
) -> None:
    for subgraph, row in zip(model.subgraphs, kernels, strict=True):
        for op, kernel in zip(subgraph.operators, row, strict=True):
            try:
                step(MicroContext(shared, subgraph.index, op), kernel)
            except RefusedError as refused:
                raise StoppedError(_refusal(subgraph.index, op, str(refused))) from refused


def _init(k: MicroContext, kernel: MicroKernel) -> None:
    k.part = INIT
    if kernel.init is not None:
        kernel.init(k)
    elif kernel.init_struct is not None:
        k.keep_struct(kernel.init_struct)


def _prepare(k: MicroContext, kernel: MicroKernel) -> None:
    asked = len(k.shared.scratch)
    if kernel.prepare is not None:
        kernel.prepare(k)
    k.require(
        len(k.shared.scratch) - asked <= MOST_SCRATCH_BUFFERS,
        f"it asks for more than {MOST_SCRATCH_BUFFERS} scratch buffers",
    )
    for index in k.operator.outputs:
        if index >= 0:
            dims = k.tensor(index).dims
            # CheckDynamicTensors; a list of one 0 is a scalar of old files.
            k.require(dims == (0,) or all(size > 0 for size in dims), f"tensor {index} has no fixed shape")
    arena = k.shared.arena
    arena.take_back()
    requests = len(k.shared.scratch) + MOST_SCRATCH_BUFFERS
    arena.resize_head(size_of("ScratchBufferRequest", arena.abi) * requests)


def _refusal(subgraph: int, op: Operator, reason: str, *, missing: bool = False) -> Refusal:
    return Refusal(subgraph=subgraph, op=op.index, type=op.name, reason=reason, missing=missing)


def lend_planning_room(prepared: MicroAllocation, subgraphs: int, tensors: int) -> None:
    """What CommitStaticMemoryPlan takes above the head before it plans."""
    arena = prepared.arena
    word = arena.abi.pointer_bytes
    arena.lend(word * subgraphs, word)
    info = layout("AllocationInfo", arena.abi)
    arena.lend(info.size_bytes * (tensors + len(prepared.scratch)), info.align_bytes)
