"""An operator as LiteRT's kernels see it: tensors as they are at Prepare, or when the operator runs."""

from collections.abc import Sequence

from outlive.kernels.litert.tensor_table import TensorTable, Values
from outlive.kernels.view import OperatorView, Shape
from outlive.model import Operator, Tensor
from outlive.units import count_elements, tensor_bytes


class Unprepared(Exception):
    """Prepare refuses this operator, or needs a value that cannot be read here."""


class PrepareView(OperatorView[Tensor]):
    """An operator when its kernel is prepared: types and shapes as they are then."""

    __slots__ = ("reference", "table", "threads")

    def __init__(
        self, operator: Operator, table: TensorTable, *, threads: int = 1, reference: bool = False
    ) -> None:
        super().__init__(operator, table.tensors)
        self.table = table
        self.threads = threads
        self.reference = reference  # the reference kernels, not the optimised ones

    def needed(self, position: int) -> Tensor:
        """The input at a position, which the kernel cannot do without."""
        inputs = self.operator.inputs
        index = inputs[position] if position < len(inputs) else -1
        if not 0 <= index < len(self.tensors):
            raise Unprepared(f"input {position} is left out")
        return self.tensors[index]

    def produced(self, position: int = 0) -> Tensor:
        """The output at a position."""
        tensor = self.output(position)
        if tensor is None:
            raise Unprepared(f"output {position} is left out")
        return tensor

    def index(self, position: int) -> int:
        """The index of the input at a position; -1 if it is left out."""
        tensor = self.input(position)
        return -1 if tensor is None else tensor.index

    def shape(self, position: int) -> Shape:
        """The shape of an input."""
        return self.table.shapes[self.needed(position).index]

    def shape_of(self, tensor: Tensor) -> Shape:
        """The shape of a tensor."""
        return self.table.shapes[tensor.index]

    def dims(self, tensor: Tensor, rank: int | None = None) -> Shape:
        """The shape of a tensor that must have this rank and no open dimensions."""
        shape = self.table.shapes[tensor.index]
        if (rank is not None and len(shape) != rank) or any(size < 0 for size in shape):
            raise Unprepared(f"tensor {tensor.index} has shape {shape}")
        return shape

    def bytes(self, tensor: Tensor) -> int:
        """The bytes of a tensor of the file's type; 0 where they are not fixed."""
        return tensor_bytes(self.table.shapes[tensor.index], tensor.dtype) or 0

    def dtype(self, position: int) -> str:
        """The type of an input."""
        return self.table.dtypes[self.needed(position).index]

    def output_dtype(self, position: int) -> str:
        """The type of an output."""
        tensor = self.output(position)
        return "" if tensor is None else self.table.dtypes[tensor.index]

    def constant(self, position: int) -> bool:
        """IsConstantTensor: an input is a constant of the file."""
        return self.table.constant(self.needed(position).index)

    def known(self, *positions: int) -> bool:
        """IsConstantOrPersistentTensor: the values of these inputs are there."""
        return all(self.table.known(self.needed(position).index) for position in positions)

    @property
    def all_known(self) -> bool:
        """True if the values of all inputs are there."""
        return self.known(*range(len(self.operator.inputs)))

    def values(self, position: int) -> Values:
        """The integers in an input that must be known."""
        found = self.table.values(self.needed(position).index)
        if found is None:
            raise Unprepared(f"the value of input {position} cannot be read")
        return found

    def readable(self, position: int) -> Values | None:
        """The integers in an input; None where they cannot be read."""
        return self.table.values(self.index(position))

    def open_dimension(self, tensor: Tensor | None) -> bool:
        """HasUnspecifiedDimension: the file's signature leaves a dimension open; a constant's is not read."""
        return tensor is not None and not self.table.constant(tensor.index) and tensor.is_dynamic


class InvokeView(PrepareView):
    """An operator when it runs: values that follow from shapes are there by then."""

    __slots__ = ()

    def known(self, *positions: int) -> bool:
        """True if the values of these inputs are there, or follow from what is."""
        indices = (self.needed(position).index for position in positions)
        return all(self.table.known(index) or index in self.table.foreseen for index in indices)

    def constant(self, position: int) -> bool:
        """As for any value that is known: kernels that insist on a constant wait for the others."""
        return self.known(position)

    def open_dimension(self, tensor: Tensor | None) -> bool:
        """When it runs, no dimension is open any more."""
        return False


def require(condition: bool) -> None:
    """What a kernel insists on at Prepare."""
    if not condition:
        raise Unprepared("the operator is not as its kernel wants it")


def axis_of(axis: int, rank: int) -> int:
    """An axis counted from the front."""
    axis = axis + rank if axis < 0 else axis
    require(0 <= axis < rank)
    return axis


def elements(shape: Sequence[int]) -> int:
    """The number of elements of a tensor of this shape."""
    return count_elements(shape) or 0
