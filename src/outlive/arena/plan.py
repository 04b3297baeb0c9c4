"""The question and its answer: what is asked of a planner, and the memory a model will need, part by part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

# Shapes that replace the file's, by (subgraph, tensor): those of the runtime after a resize.
Shapes = Mapping[tuple[int, int], tuple[int, ...]]
# What the peak is beside the truth: at most, at least, or about.
Bound = Literal["upper", "lower", "estimate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a plan is asked for: the accelerator and the settings that change memory."""

    accelerator: str = "cpu"  # cpu (XNNPACK), builtin, reference, tflm
    threads: int | None = None
    preserve_all_tensors: bool = False
    weight_cache: bool = False  # XNNPACK's packed weights in a mapped file
    shapes: Shapes = field(default_factory=dict)
    abi: str = "cortex-m"  # TFLM: cortex-m, int-enum, wasm32, host64
    kernels: str = "reference"  # TFLM: reference, cmsis-nn


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """A tensor's place: `tensor` is the index the interpreter uses, kernel temporaries included.

    It is alive from `first_op` to `last_op`, both included; -1 is before the first operator (an input), and
    the number of operators is after the last (an output nobody frees).
    """

    tensor: int
    name: str
    offset_bytes: int
    size_bytes: int
    first_op: int
    last_op: int
    persistent: bool = False
    subgraph: int = 0

    @property
    def end_bytes(self) -> int:
        """The first byte after it."""
        return self.offset_bytes + self.size_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class OpLoad:
    """What is alive in the arena while an operator of the main subgraph runs."""

    index: int
    type: str
    name: str
    live_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of the memory, and where the number comes from: `arena`, 6,623,232, "the planner"."""

    name: str
    bytes: int
    source: str
    exact: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a runtime will not prepare this model: an operator it lacks, or one it refuses in Prepare."""

    subgraph: int
    op: int | None
    type: str
    reason: str
    missing: bool = False  # the runtime has no kernel for it at all


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The memory a model will need. Sizes are bytes; `unknown` says in words what is not known.

    `peak_bytes` is the most private memory the model adds; the mapped file is `mapped_bytes`, shared and
    reclaimable; `total_bytes` is both. If `refusals` is not empty the runtime will not run the model, and the
    sizes are None.
    """

    path: str | None
    sha256: str
    file_bytes: int
    accelerator: str
    inputs: tuple[tuple[str, tuple[int, ...], str], ...]  # name, shape, dtype
    arena_bytes: int | None
    persistent_bytes: int | None
    packed_weights_bytes: int | None
    workspace_bytes: int | None
    dynamic_bytes: int | None  # tensors the runtime keeps on the heap
    mapped_bytes: int | None
    runtime_bytes: int | None
    peak_bytes: int | None
    total_bytes: int | None
    min_arena_bytes: int | None  # TFLM: the smallest arena that allocates
    placements: tuple[Placement, ...] = field(repr=False)
    # In the order they run; `first_op` and `last_op` of placements count in that order.
    ops: tuple[OpLoad, ...] = field(repr=False)
    exact: bool
    unknown: tuple[str, ...]
    # upper: nothing unknown feeds the peak; lower: memory of unknown size comes on top; estimate: either way.
    bound: Bound = "upper"
    assumed: tuple[str, ...] = ()  # the instruction set, the ABI, the version of a table
    refusals: tuple[Refusal, ...] = ()
    parts: tuple[Part, ...] = ()
    # Tensors that could not share memory, and why, in words: (tensor, name, bytes, reason).
    unshared: tuple[tuple[int, str, int, str], ...] = field(default=(), repr=False)
    # The most bytes alive at one operator: no planner can do with less.
    lower_bound_bytes: int | None = None
    measured: Mapping[str, Any] | None = None
    # Tensors inside a delegate, which live in its workspace and not in the arena.
    workspace_placements: tuple[Placement, ...] = field(default=(), repr=False)
    # Held only while tensors are allocated, on top of what stays: copies of weights that are being packed.
    transient_bytes: int = 0
    # The file's shapes are not those the runtime will have: plan again with shapes from the runtime.
    needs_runtime_shapes: bool = False
    # Tensors of subgraphs that operators call: each has arenas of its own, not counted in `arena_bytes`.
    called_placements: tuple[Placement, ...] = field(default=(), repr=False)


def is_exact(plan: Plan) -> bool:
    """True if every part is known to the byte, so that nothing measured can exceed their sum."""
    return plan.exact and plan.bound == "upper" and all(part.exact for part in plan.parts)


def weakest(bounds: Iterable[Bound]) -> Bound:
    """What a sum is, given what is known of its parts."""
    found = frozenset(bounds)
    return "lower" if "lower" in found else "estimate" if "estimate" in found else "upper"
