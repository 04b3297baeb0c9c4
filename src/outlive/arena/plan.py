"""The question and its answer: what is asked of a planner, and the memory a model will need, part by part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Literal, NamedTuple

from outlive.arena.devices import Device, known_devices
from outlive.finding import Finding
from outlive.model import Model
from outlive.records import NOT_WRITTEN, ModelFile, in_document, written
from outlive.results import Result, file_name
from outlive.units import format_bytes

# Shapes that replace the file's, by (subgraph, tensor): those of the runtime after a resize.
Shapes = Mapping[tuple[int, int], tuple[int, ...]]
# What the peak is beside the truth: at most, at least, or about.
Bound = Literal["upper", "lower", "estimate"]
SAID: dict[Bound, str] = {"upper": "at most", "lower": "at least", "estimate": "about"}
# From the best to the worst. "may not fit": nothing is known that speaks against it, and too little for it.
Word = Literal["fits", "tight", "may not fit", "does not fit", "refused"]
WORDS: tuple[Word, ...] = ("fits", "tight", "may not fit", "does not fit", "refused")
_RESERVED = "the arena is reserved, not yet touched"


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
    the number of operators is after the last (an output, which is never freed).
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


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanStage:
    """Private bytes expected after a stage (of a run, the most), and why they are there by then."""

    name: str
    bytes: int
    why: str


class PlannedInput(NamedTuple):
    """An input with the shape that it was planned for."""

    name: str
    shape: tuple[int, ...]
    dtype: str


class Unshared(NamedTuple):
    """A tensor that could not share memory, and why, in words."""

    tensor: int
    name: str
    size_bytes: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The memory a model may use, and who says so. `flash_bytes` is where a microcontroller keeps the file.

    `kind` is "ram" (a number), "device", "here" (this process) or "limit" (of a run). `free_bytes` is what
    happens to be free now; it may make a fit tight, and never more than that.
    """

    kind: Literal["ram", "device", "here", "limit"]
    title: str
    ram_bytes: int
    source: str
    options: tuple[str, ...] = field(default=(), metadata=NOT_WRITTEN)  # how to ask for it: `--ram`, `64MB`
    flash_bytes: int | None = None
    free_bytes: int | None = None
    device: Device | None = None

    @property
    @in_document("device", back=lambda name: {"device": _device(name)})
    def device_name(self) -> str | None:
        """The name of the device, where it is one's memory."""
        return None if self.device is None else self.device.name


def _device(name: str | None) -> Device | None:
    """The device that a document names, if it is one of ours."""
    return next((device for device in known_devices() if device.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """Another way to run the model, planned, and how it is asked for: `--input`, `image=1x320x320x3`."""

    what: str
    options: tuple[str, ...]
    needed_bytes: int
    changes_results: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether a plan fits a budget, with the margin and the reasons; `ways` are those that would fit."""

    plan: Plan = field(default=None, repr=False, compare=False, metadata=NOT_WRITTEN)  # type: ignore[assignment]
    word: Word
    needed_bytes: int | None
    margin_bytes: int | None
    flash_margin_bytes: int | None
    reasons: tuple[str, ...]
    budget: Budget
    ways: tuple[Way, ...] = ()

    @property
    def fits(self) -> bool:
        """True if it is known to fit."""
        return self.word in ("fits", "tight")

    @property
    @in_document()
    def accelerator(self) -> str:
        """The kernels that the plan is for."""
        return self.plan.accelerator


@dataclass(frozen=True, kw_only=True, repr=False)
class Plan(Result):
    """The memory a model will need. Sizes are bytes; `unknown` says in words what is not known.

    `peak_bytes` is the most private memory the model adds; the mapped file is `mapped_bytes`, shared and
    reclaimable; `total_bytes` is both. If `refusals` is not empty the runtime will not run the model, and the
    sizes are None.
    """

    kind: ClassVar[str] = "plan"
    tables = (("placements", Placement), ("ops", OpLoad), ("parts", Part))

    path: str | None = field(metadata=NOT_WRITTEN)
    sha256: str = field(metadata=NOT_WRITTEN)
    file_bytes: int = field(metadata=NOT_WRITTEN)
    accelerator: str
    inputs: tuple[PlannedInput, ...]
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
    # The most bytes alive at one operator: no planner can do with less.
    lower_bound_bytes: int | None = None
    parts: tuple[Part, ...] = ()
    placements: tuple[Placement, ...] = field(repr=False)
    # Tensors of subgraphs that operators call: each has arenas of its own, not counted in `arena_bytes`.
    called_placements: tuple[Placement, ...] = field(default=(), repr=False)
    # Tensors inside a delegate, which live in its workspace and not in the arena.
    workspace_placements: tuple[Placement, ...] = field(default=(), repr=False)
    # In the order they run; `first_op` and `last_op` of placements count in that order.
    ops: tuple[OpLoad, ...] = field(repr=False)
    exact: bool
    # upper: nothing unknown feeds the peak; lower: memory of unknown size comes on top; estimate: either way.
    bound: Bound = "upper"
    unknown: tuple[str, ...]
    assumed: tuple[str, ...] = ()  # the instruction set, the ABI, the version of a table
    refusals: tuple[Refusal, ...] = ()
    unshared: tuple[Unshared, ...] = field(default=(), repr=False)
    measured: Mapping[str, Any] | None = None
    # Held only while tensors are allocated, on top of what stays: copies of weights that are being packed.
    transient_bytes: int = field(default=0, metadata=written(omit=True))
    # The file's shapes are not those the runtime will have: plan again with shapes from the runtime.
    needs_runtime_shapes: bool = field(default=False, metadata=written(omit=True))
    verdict: Verdict | None = None  # on the memory there is, where somebody asked
    # The same with other settings, where somebody asked.
    sweep: tuple[PlannedSetting, ...] = field(default=(), repr=False, metadata=written(omit=True))
    compare: tuple[PlannedSetting, ...] = field(default=(), repr=False, metadata=written(omit=True))
    findings: tuple[Finding, ...] = field(default=(), repr=False)
    # The model it was made for.
    source: Model | None = field(default=None, repr=False, compare=False, metadata=NOT_WRITTEN)

    def __post_init__(self) -> None:
        """A verdict that was read from a document is about this plan."""
        if getattr(self.verdict, "plan", self) is None:
            object.__setattr__(self.verdict, "plan", self)

    @property
    @in_document(back=lambda file: {"path": file.path, "sha256": file.sha256, "file_bytes": file.file_bytes})
    def model(self) -> ModelFile:
        """The file that was planned."""
        return ModelFile(path=self.path, sha256=self.sha256, file_bytes=self.file_bytes)

    @property
    def outcome(self) -> str:
        """What it comes to: "clean", "does not fit" (or is not known to), or "errors" if it is refused."""
        if self.verdict is not None and self.verdict.word in ("may not fit", "does not fit"):
            return "does not fit"
        refused = self.refusals or any(item.code[:1] in "FO" for item in self.findings)
        return "errors" if refused else "clean"

    def _summary(self) -> tuple[str, str]:
        """The file, what it needs, and whether that fits."""
        needed = self.min_arena_bytes if self.accelerator == "tflm" else self.peak_bytes
        need = "refused" if needed is None else f"{SAID[self.bound]} {format_bytes(needed)}"
        fits = "" if self.verdict is None else f", {self.verdict.word}"
        return file_name(self.path), f"{need}{fits}, {self.accelerator}"

    @property
    @in_document()
    def stages(self) -> tuple[PlanStage, ...]:
        """What is expected after load, allocate and invoke."""
        return predict_stages(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSizes:
    """The sizes of a plan among others; None where there is no plan."""

    accelerator: str | None = None
    arena_bytes: int | None = None
    persistent_bytes: int | None = None
    packed_weights_bytes: int | None = None
    workspace_bytes: int | None = None
    dynamic_bytes: int | None = None
    mapped_bytes: int | None = None
    runtime_bytes: int | None = None
    peak_bytes: int | None = None
    total_bytes: int | None = None
    min_arena_bytes: int | None = None
    lower_bound_bytes: int | None = None
    exact: bool | None = None
    bound: Bound | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedSetting:
    """One plan of a sweep or comparison: what it was asked with, and the plan or why there is none."""

    setting: Mapping[str, str]
    plan: Plan | None = field(metadata=NOT_WRITTEN)
    verdict: Verdict | None = None
    problem: str = ""

    @property
    @in_document(flat=True)
    def sizes(self) -> PlanSizes:
        """What the plan says."""
        return PlanSizes(**{item.name: getattr(self.plan, item.name, None) for item in fields(PlanSizes)})

    @property
    @in_document("verdict")
    def word(self) -> Word | None:
        """Whether it fits, in a word."""
        return None if self.verdict is None else self.verdict.word


def make_plan(model: Model, question: Question, **known: Any) -> Plan:
    """The plan of a model with what is known; sizes that are not given are None, as if it were refused."""
    blank: dict[str, Any] = {item.name: None for item in fields(PlanSizes)}
    blank |= {"accelerator": question.accelerator, "exact": False, "bound": "estimate"}
    blank |= {"placements": (), "ops": (), "unknown": ()}
    shapes = [question.shapes.get((0, tensor.index), tensor.shape) for tensor in model.inputs]
    rows = zip(model.inputs, shapes, strict=True)
    blank["inputs"] = tuple(PlannedInput(tensor.name, tuple(shape), tensor.dtype) for tensor, shape in rows)
    return Plan(path=model.path, sha256=model.sha256, file_bytes=model.file_bytes, **{**blank, **known})


def predict_stages(plan: Plan) -> tuple[PlanStage, ...]:
    """What is expected after load, allocate and invoke; nothing for a runtime that has one arena for all.

    Arena and heap are asked for when tensors are allocated, but the system gives the pages when they are
    first written, and that is when the model runs. XNNPACK packs weights and clears its workspace before.
    """
    if plan.peak_bytes is None or plan.accelerator == "tflm":
        return ()
    load = plan.runtime_bytes or 0
    early = [plan.persistent_bytes]
    if plan.accelerator == "cpu":  # the builtin kernels pack when they run
        early += [plan.packed_weights_bytes, plan.workspace_bytes]
    allocate = load + sum(size or 0 for size in early)
    return (
        PlanStage(name="load", bytes=load, why="the interpreter's own structures"),
        PlanStage(
            name="allocate",
            bytes=min(allocate, plan.peak_bytes),
            why=f"packed weights, workspace and variables{_moment(plan)}; {_RESERVED}"
            if plan.accelerator == "cpu"
            else f"variables; {_RESERVED}",
        ),
        PlanStage(
            name="invoke",
            bytes=plan.peak_bytes - plan.transient_bytes,
            why="all that stays: running touches the arena"
            if plan.transient_bytes
            else "all of it: running touches the arena",
        ),
    )


def _moment(plan: Plan) -> str:
    held = f" ({format_bytes(plan.transient_bytes)} more while they are packed)"
    return held if plan.transient_bytes else ""


def is_exact(plan: Plan) -> bool:
    """True if every part is known to the byte, so that nothing measured can exceed their sum."""
    return plan.exact and plan.bound == "upper" and all(part.exact for part in plan.parts)


def weakest(bounds: Iterable[Bound]) -> Bound:
    """What a sum is, given what is known of its parts."""
    found = frozenset(bounds)
    return "lower" if "lower" in found else "estimate" if "estimate" in found else "upper"
