"""XNNPACK's own graph of one run of operators: values and nodes, as its subgraph API would hold them."""

from dataclasses import dataclass, field
from typing import Literal

from outlive.kernels.xnnpack.checks import element_bits
from outlive.units import count_elements

Place = Literal["workspace", "external", "static"]


@dataclass(slots=True)
class Value:
    """A tensor inside XNNPACK. Only those placed in the workspace cost activations memory there."""

    id: int
    kind: str  # XNNPACK's datatype: fp32, qint8, qdint8 ...
    shape: tuple[int, ...]
    place: Place
    tensor: int = -1  # the model's tensor; -1 if XNNPACK's own
    is_output: bool = False
    is_open: bool = False  # the file leaves a dimension open
    batch_dimensions: int = 0  # qdint8: dimensions that have quantization parameters of their own

    @property
    def elements(self) -> int:
        """How many elements it has; 0 where its shape is not known."""
        return count_elements(self.shape) or 0

    @property
    def bytes(self) -> int:
        """Bytes of its elements."""
        return (self.elements * element_bits(self.kind) + 7) // 8


@dataclass(slots=True, eq=False)
class Node:
    """One XNNPACK operator. `type` is its xnn_node_type without the prefix."""

    type: str
    inputs: list[int]
    outputs: list[int]
    operator: int  # the model's operator it comes from
    numbers: dict[str, int] = field(default_factory=dict)  # strides, paddings and the like
    axes: tuple[int, ...] = ()  # a permutation, or paddings
    what: str = ""  # clamp, square, multiply ...
    scalar: bool = False  # a binary operation with a constant of one element
    gone: bool = False  # taken out, and dropped from the graph at the next `compact`


@dataclass(slots=True)
class Graph:
    """A run of operators as XNNPACK holds it; who reads and makes a value is known after `link`."""

    values: list[Value] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    _readers: dict[int, dict[int, Node]] = field(default_factory=dict)
    _makers: dict[int, Node] = field(default_factory=dict)

    def add(self, kind: str, shape: tuple[int, ...], place: Place = "workspace", tensor: int = -1) -> Value:
        """A new value."""
        value = Value(len(self.values), kind, shape, place, tensor)
        self.values.append(value)
        return value

    def link(self) -> None:
        """Find out who reads and who makes each value; changes below keep it true."""
        self._readers = {}
        self._makers = {}
        for node in self.nodes:
            for value in node.inputs:
                self._readers.setdefault(value, {})[id(node)] = node
            self._makers |= dict.fromkeys(node.outputs, node)

    def readers(self, value: int) -> list[Node]:
        """The nodes that read a value, each once."""
        return list(self._readers.get(value, {}).values())

    def maker(self, value: int) -> Node | None:
        """The node that makes a value; None if it comes from outside."""
        return self._makers.get(value)

    def sole_reader(self, value: int) -> Node | None:
        """The only node that reads a value, if there is one and nothing outside needs it."""
        nodes = self._readers.get(value, {})
        return next(iter(nodes.values())) if len(nodes) == 1 and not self.values[value].is_output else None

    def is_unread(self, value: int) -> bool:
        """True if neither a node nor anybody outside reads a value."""
        read = self._readers.get(value) or self.values[value].is_output
        return not read and self.values[value].place != "external"

    def feed(self, node: Node, inputs: list[int]) -> None:
        """Give a node other inputs."""
        for value in node.inputs:
            self._readers.get(value, {}).pop(id(node), None)
        node.inputs = inputs
        for value in inputs:
            self._readers.setdefault(value, {})[id(node)] = node

    def deliver(self, node: Node, old: int, new: int) -> None:
        """Let a node make another value in place of one."""
        node.outputs = [new if value == old else value for value in node.outputs]
        self._makers.pop(old, None)
        self._makers[new] = node

    def take_out(self, node: Node) -> None:
        """Take a node out."""
        node.gone = True
        for value in node.inputs:
            self._readers.get(value, {}).pop(id(node), None)
        for value in node.outputs:
            if self._makers.get(value) is node:
                del self._makers[value]

    def compact(self) -> None:
        """Drop what was taken out."""
        self.nodes = [node for node in self.nodes if not node.gone]
