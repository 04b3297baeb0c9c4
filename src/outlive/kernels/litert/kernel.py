"""The record of a kernel of LiteRT, and the words its rules are written in.

A rule raises `Unprepared` where the runtime would refuse the operator, or where a value cannot be read.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from outlive.kernels.litert.tensor_table import PreparedOutput, Temporary, Where
from outlive.kernels.litert.view import PrepareView, Unprepared, require
from outlive.kernels.view import Shape
from outlive.units import tensor_bytes

# The outputs in their order; one alone stands for all of them.
PreparedOutputs = tuple[PreparedOutput, ...]
# Where all outputs live after Prepare, or each of them; None is where they start: in the arena.
Home = Where | None | tuple[Where | None, ...]

ShapeRule = Callable[[PrepareView], PreparedOutputs]
HomeRule = Callable[[PrepareView], Home]


@dataclass(frozen=True, slots=True, kw_only=True)
class Slots:
    """All slots a kernel adds, and which of them are this node's (in the order of `node->temporaries`).

    `at_init` are added when the node is made (Init, before any node is prepared), `at_prepare` when it is
    prepared. `order` gives the node's temporaries as indices into `at_init + at_prepare`; None is all.
    """

    at_init: tuple[Temporary, ...] = ()
    at_prepare: tuple[Temporary, ...] = ()
    order: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HeapUse:
    """Bytes a kernel takes from the heap by itself, beside its tensors."""

    kept: int = 0  # from its first run on
    once: int = 0  # while it runs for the first time
    each: int = 0  # whenever it runs
    with_small: bool = False  # it takes small pieces meanwhile, which malloc keeps behind its own


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixProduct:
    """Weights of `rows` x `depth` times `columns` of data, each `depth` deep, computed by a library.

    Eigen packs operands block by block; ruy packs all of them, as these types.
    """

    rows: int
    depth: int
    columns: int
    weights: str = "float32"
    data: str = "float32"
    eigen: bool = False


def in_arena(view: PrepareView) -> Home:
    """The outputs stay in the arena."""
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class LiteRTKernel:
    """What Prepare makes of an operator's outputs, and the memory its kernel takes.

    Without `shapes` the outputs' shapes are those of the file. `typed_by` is the input whose type Prepare
    gives the first output (`output->type =` in tflite/kernels), or the name of that type. `in_place` are the
    inputs that the first output may overwrite (`inplace_operator` of the registrations); with `unchanged` the
    bytes stay as they are.
    """

    shapes: ShapeRule | None = None
    home: HomeRule = in_arena
    typed_by: int | str | None = None
    temporaries: Callable[[PrepareView], Slots] | None = None
    heap: Callable[[PrepareView], HeapUse] | None = None
    product: Callable[[PrepareView], MatrixProduct | None] | None = None
    in_place: tuple[int, ...] = ()
    unchanged: bool = False
    persistent_inputs: Callable[[PrepareView], tuple[int, ...]] | None = None


def shaped(*shapes: Shape) -> PreparedOutputs:
    """Outputs of these shapes."""
    for shape in shapes:
        require(all(size >= 0 for size in shape))
    return tuple(PreparedOutput(shape=shape) for shape in shapes)


def as_first_input(view: PrepareView) -> PreparedOutputs:
    """Outputs of the first input's shape."""
    return shaped(view.shape(0))


def as_in_file(view: PrepareView) -> PreparedOutputs:
    """The kernel leaves the shapes of its outputs alone."""
    return (PreparedOutput(),)


def shape_from(position: int) -> ShapeRule:
    """The values of this input are the outputs' shape."""
    return lambda view: shaped(view.values(position))


def always(home: Home) -> HomeRule:
    """The outputs always live there."""
    return lambda view: home


def dynamic_unless_known(*positions: int) -> HomeRule:
    """On the heap, sized when the operator runs, unless the values of these inputs are known at Prepare."""
    return lambda view: None if view.known(*positions) else "dynamic"


def dynamic_unless_constant(position: int) -> HomeRule:
    """On the heap unless this input is a constant of the file; one computed at Prepare does not do."""
    return lambda view: None if view.constant(position) else "dynamic"


def folded(view: PrepareView) -> Home:
    """Computed at Prepare if everything it reads is known."""
    return "readonly" if view.all_known else None


def slot(
    shape: Sequence[int], dtype: str, where: Where = "arena", *, name: str = "", at_invoke: bool = False
) -> Temporary:
    """A slot filled with a tensor of this shape."""
    size = tensor_bytes(shape, dtype)
    if size is None:
        raise Unprepared(f"no size for {dtype} {tuple(shape)}")
    return Temporary(size_bytes=size, where=where, name=name, at_invoke=at_invoke)


def empty(name: str = "") -> Temporary:
    """A slot that is added and never filled: no shape, no bytes."""
    return Temporary(size_bytes=0, where="none", name=name)


def added_at_init(count: int, filled: Sequence[Temporary]) -> Slots:
    """So many slots from the start, of which the first are filled and are the node's."""
    spare = (empty(),) * (count - len(filled))
    return Slots(at_init=(*filled, *spare), order=tuple(range(len(filled))))
