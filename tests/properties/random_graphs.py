"""Models made at random: branches, residuals, in-place chains, several outputs, shared constants, state.

graphs() draws a model: a pool of values, and operators that take some of them and put back others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st

from outlive.surgery import write
from tests.model.small import Tree, tensor

Shape = tuple[int, ...]
_MOST_ELEMENTS = 4096


@dataclass
class Sketch:
    """A model that grows: `values` are tensors an operator may read."""

    draw: st.DrawFn
    kind: str = "FLOAT32"  # or INT8, with a scale of one everywhere
    tensors: list[Tree] = field(default_factory=list)
    buffers: list[Tree] = field(default_factory=lambda: [{}])
    codes: list[str] = field(default_factory=list)
    operators: list[Tree] = field(default_factory=list)
    values: list[int] = field(default_factory=list)
    constants: dict[bytes, int] = field(default_factory=dict)

    def shape(self, index: int) -> Shape:
        return tuple(self.tensors[index]["shape"])

    def add(self, shape: Shape, kind: str = "", **fields: Any) -> int:
        kind = kind or self.kind
        if self.kind == "INT8":
            fields["quantization"] = {"scale": [1.0], "zero_point": [0]}
        self.tensors.append(tensor(f"t{len(self.tensors)}", kind, shape, **fields))
        return len(self.tensors) - 1

    def constant(self, values: Any, kind: str = "INT32", **fields: Any) -> int:
        """A constant; one that is there already is used again."""
        array = np.asarray(values)
        key = array.tobytes() + str((array.shape, kind)).encode()
        if key not in self.constants or fields:
            self.buffers.append({"data": array})
            found = self.add(array.shape, kind, buffer=len(self.buffers) - 1, **fields)
            self.constants[key] = found
        return self.constants[key]

    def weights(self, shape: Shape) -> int:
        return self.constant(np.ones(shape, np.float32 if self.kind == "FLOAT32" else np.int8), self.kind)

    def bias(self, size: int) -> int:
        kind = "FLOAT32" if self.kind == "FLOAT32" else "INT32"
        return self.constant(np.ones(size, np.float32 if kind == "FLOAT32" else np.int32), kind)

    def put(
        self, code: str, inputs: list[int], shapes: list[Shape], options: str = "", **fields: Any
    ) -> None:
        """An operator with outputs of these shapes, which others may read."""
        outputs = [self.add(shape) for shape in shapes]
        if code not in self.codes:
            self.codes.append(code)
        step: Tree = {"opcode_index": self.codes.index(code), "inputs": inputs, "outputs": outputs}
        if options:
            step |= {"builtin_options_type": f"{options}Options", "builtin_options": fields}
        self.operators.append(step)
        self.values += outputs

    def value(self, *ranks: int) -> int | None:
        """One of the values with one of these ranks."""
        fitting = [v for v in self.values if not ranks or len(self.shape(v)) in ranks]
        return self.draw(st.sampled_from(fitting)) if fitting else None

    def choose(self, *choices: Any) -> Any:
        return self.draw(st.sampled_from(choices))

    def bytes(self) -> bytes:
        """The model: values nobody reads may be outputs or not, and others too."""
        read = {index for step in self.operators for index in step["inputs"]}
        made = [index for step in self.operators for index in step["outputs"]]
        loose = [index for index in made if index not in read]
        chosen = self.draw(st.lists(st.sampled_from(made), unique=True, max_size=3))
        outputs = list(dict.fromkeys(loose[-1:] + [i for i in loose if self.draw(st.booleans())] + chosen))
        inputs = [
            i
            for i, t in enumerate(self.tensors)
            if i not in made and not t.get("buffer") and not t.get("is_variable")
        ]
        graph = {"tensors": self.tensors, "inputs": inputs, "outputs": outputs, "operators": self.operators}
        codes = [{"builtin_code": code} for code in self.codes]
        return write({"version": 3, "operator_codes": codes, "buffers": self.buffers, "subgraphs": [graph]})


def unary(sketch: Sketch, x: int) -> None:
    floats = ("LOGISTIC", "TANH", "NEG", "FLOOR") if sketch.kind == "FLOAT32" else ()
    code = sketch.choose("RELU", "ABS", *floats)
    sketch.put(code, [x], [sketch.shape(x)])


def softmax(sketch: Sketch, x: int) -> None:
    if sketch.kind == "FLOAT32":
        sketch.put("SOFTMAX", [x], [sketch.shape(x)], "Softmax", beta=1.0)


def residual(sketch: Sketch, x: int) -> None:
    """With another value of this shape, itself, or a constant that is stretched."""
    code = sketch.choose("ADD", "SUB", "MUL", *(("DIV",) if sketch.kind == "FLOAT32" else ()))
    shape = sketch.shape(x)
    like = [v for v in sketch.values if sketch.shape(v) == shape]
    other = sketch.choose(*like, sketch.weights(shape[-1:] if shape else ()))
    pair = [x, other] if sketch.draw(st.booleans()) else [other, x]
    sketch.put(code, pair, [shape], code.capitalize())


def reshape(sketch: Sketch, x: int) -> None:
    count = math.prod(sketch.shape(x))
    new = sketch.choose(
        (count,), (1, count), (1, 1, count), (2, count // 2) if count % 2 == 0 else (count, 1)
    )
    sketch.put(
        "RESHAPE", [x, sketch.constant(np.array(new, np.int32))], [new], "Reshape", new_shape=list(new)
    )


def reshape_like(sketch: Sketch, x: int) -> None:
    """To the shape of another value, which is known when kernels are prepared."""
    count = math.prod(sketch.shape(x))
    alike = [v for v in sketch.values if math.prod(sketch.shape(v)) == count]
    model = sketch.choose(*alike)
    rank = len(sketch.shape(model))
    shape = sketch.add((rank,), "INT32")
    if "SHAPE" not in sketch.codes:
        sketch.codes.append("SHAPE")
    step = {"opcode_index": sketch.codes.index("SHAPE"), "inputs": [model], "outputs": [shape]}
    sketch.operators.append(
        {**step, "builtin_options_type": "ShapeOptions", "builtin_options": {"out_type": "INT32"}}
    )
    sketch.put("RESHAPE", [x, shape], [sketch.shape(model)], "Reshape")


def expand(sketch: Sketch, x: int) -> None:
    shape = sketch.shape(x)
    if len(shape) < 5:
        axis = sketch.draw(st.integers(0, len(shape)))
        new = (*shape[:axis], 1, *shape[axis:])
        sketch.put("EXPAND_DIMS", [x, sketch.constant(np.array(axis, np.int32))], [new], "ExpandDims")


def squeeze(sketch: Sketch, x: int) -> None:
    shape = sketch.shape(x)
    if 1 in shape and len(shape) > 1:
        axis = shape.index(1)
        sketch.put("SQUEEZE", [x], [shape[:axis] + shape[axis + 1 :]], "Squeeze", squeeze_dims=[axis])


def transpose(sketch: Sketch, x: int) -> None:
    shape = sketch.shape(x)
    order = sketch.draw(st.permutations(range(len(shape))))
    turned = tuple(shape[axis] for axis in order)
    sketch.put("TRANSPOSE", [x, sketch.constant(np.array(order, np.int32))], [turned], "Transpose")


def concatenate(sketch: Sketch, x: int) -> None:
    shape = sketch.shape(x)
    alike = [
        v for v in sketch.values if sketch.shape(v)[1:] == shape[1:] and len(sketch.shape(v)) == len(shape)
    ]
    parts = sketch.draw(st.lists(st.sampled_from(alike), min_size=1, max_size=4))
    total = sum(sketch.shape(v)[0] for v in parts)
    if total * math.prod(shape[1:]) <= _MOST_ELEMENTS:
        sketch.put("CONCATENATION", parts, [(total, *shape[1:])], "Concatenation", axis=0)


def split(sketch: Sketch, x: int) -> None:
    shape = sketch.shape(x)
    axis = sketch.draw(st.integers(0, len(shape) - 1))
    ways = [n for n in (2, 3, 4, 8, 16) if shape[axis] % n == 0]
    if ways:
        count = sketch.choose(*ways)
        part = (*shape[:axis], shape[axis] // count, *shape[axis + 1 :])
        where = sketch.constant(np.array(axis, np.int32))
        sketch.put("SPLIT", [where, x], [part] * count, "Split", num_splits=count)


def unpack(sketch: Sketch, x: int) -> None:
    shape = sketch.shape(x)
    if len(shape) > 1 and 1 <= shape[0] <= 20:
        sketch.put("UNPACK", [x], [shape[1:]] * shape[0], "Unpack", num=shape[0], axis=0)


def pack(sketch: Sketch, x: int) -> None:
    shape = sketch.shape(x)
    alike = [v for v in sketch.values if sketch.shape(v) == shape]
    parts = sketch.draw(st.lists(st.sampled_from(alike), min_size=1, max_size=3))
    if len(shape) < 5 and math.prod(shape) * len(parts) <= _MOST_ELEMENTS:
        new = (len(parts), *shape)
        sketch.put("PACK", parts, [new], "Pack", values_count=len(parts), axis=0)


def reduce(sketch: Sketch, x: int) -> None:
    shape = sketch.shape(x)
    axes = sorted(sketch.draw(st.sets(st.integers(0, len(shape) - 1), min_size=1)))
    keep = sketch.draw(st.booleans())
    kept = tuple(1 if i in axes else size for i, size in enumerate(shape))
    left = kept if keep else tuple(size for i, size in enumerate(shape) if i not in axes)
    code = sketch.choose("MEAN", "SUM", "REDUCE_MAX")
    sketch.put(code, [x, sketch.constant(np.array(axes, np.int32))], [left], "Reducer", keep_dims=keep)


def convolve(sketch: Sketch, x: int) -> None:
    batch, rows, columns, depth = sketch.shape(x)
    side, stride, filters = sketch.choose(1, 3), sketch.choose(1, 2), sketch.choose(1, 4, 8)
    size = (batch, -(-rows // stride), -(-columns // stride), filters)
    fields = {"padding": "SAME", "stride_w": stride, "stride_h": stride}
    fields |= {"dilation_w_factor": 1, "dilation_h_factor": 1}
    given = [x, sketch.weights((filters, side, side, depth)), sketch.bias(filters)]
    sketch.put("CONV_2D", given, [size], "Conv2D", **fields)


def convolve_depthwise(sketch: Sketch, x: int) -> None:
    batch, rows, columns, depth = sketch.shape(x)
    fields = {"padding": "SAME", "stride_w": 1, "stride_h": 1, "depth_multiplier": 1}
    fields |= {"dilation_w_factor": 1, "dilation_h_factor": 1}
    given = [x, sketch.weights((1, 3, 3, depth)), sketch.bias(depth)]
    sketch.put("DEPTHWISE_CONV_2D", given, [(batch, rows, columns, depth)], "DepthwiseConv2D", **fields)


def pool(sketch: Sketch, x: int) -> None:
    batch, rows, columns, depth = sketch.shape(x)
    window = {"filter_width": 2, "filter_height": 2, "stride_w": 2, "stride_h": 2}
    size = (batch, -(-rows // 2), -(-columns // 2), depth)
    code = sketch.choose("MAX_POOL_2D", "AVERAGE_POOL_2D")
    sketch.put(code, [x], [size], "Pool2D", padding="SAME", **window)


def connect(sketch: Sketch, x: int) -> None:
    rows, depth = sketch.shape(x)
    units = sketch.choose(1, 5, 16)
    given = [x, sketch.weights((units, depth)), sketch.choose(-1, sketch.bias(units))]
    sketch.put("FULLY_CONNECTED", given, [(rows, units)], "FullyConnected")


def multiply(sketch: Sketch, x: int) -> None:
    shape = sketch.shape(x)
    other = sketch.weights((*shape[:-2], shape[-1], 6))
    sketch.put("BATCH_MATMUL", [x, other], [(*shape[:-1], 6)], "BatchMatMul")


def remember(sketch: Sketch, x: int) -> None:
    """A recurrent layer, whose state is a variable."""
    if sketch.kind != "FLOAT32":
        return
    rows, depth = sketch.shape(x)
    units = 4
    state = sketch.add((rows, units), is_variable=True)
    given = [
        x,
        sketch.weights((units, depth)),
        sketch.weights((units, units)),
        sketch.weights((units,)),
        state,
    ]
    sketch.put("RNN", given, [(rows, units)], "RNN", fused_activation_function="RELU")


def pad(sketch: Sketch, x: int) -> None:
    shape = sketch.shape(x)
    ends = np.ones((len(shape), 2), np.int32)
    new = tuple(size + 2 for size in shape)
    if len(shape) <= 4 and math.prod(new) <= _MOST_ELEMENTS:
        sketch.put("PAD", [x, sketch.constant(ends)], [new], "Pad")


def cut(sketch: Sketch, x: int) -> None:
    shape = sketch.shape(x)
    step = sketch.choose(1, 2)
    new = tuple(-(-size // step) for size in shape)
    bounds = [np.zeros(len(shape), np.int32), np.array(shape, np.int32), np.full(len(shape), step, np.int32)]
    if len(shape) <= 5:
        indices = [sketch.constant(bound) for bound in bounds]
        sketch.put("STRIDED_SLICE", [x, *indices], [new], "StridedSlice")


Step = Callable[[Sketch, int], None]
# With the ranks of the value each takes; none means any.
STEPS: tuple[tuple[Step, tuple[int, ...]], ...] = (
    (unary, ()),
    (residual, ()),
    (residual, ()),
    (softmax, (1, 2, 3, 4)),
    (reshape, ()),
    (reshape_like, ()),
    (expand, ()),
    (squeeze, ()),
    (transpose, (1, 2, 3, 4)),
    (concatenate, (1, 2, 3, 4)),
    (split, (1, 2, 3, 4)),
    (unpack, (2, 3, 4)),
    (pack, ()),
    (reduce, (1, 2, 3, 4)),
    (convolve, (4,)),
    (convolve_depthwise, (4,)),
    (pool, (4,)),
    (connect, (2,)),
    (multiply, (2, 3, 4)),
    (remember, (2,)),
    (pad, (1, 2, 3, 4)),
    (cut, (1, 2, 3, 4)),
)


@st.composite
def graphs(draw: st.DrawFn, most_steps: int = 25) -> bytes:
    """A model the runtime accepts."""
    sketch = Sketch(draw, draw(st.sampled_from(["FLOAT32", "FLOAT32", "INT8"])))
    shapes = st.sampled_from([(1, 8, 8, 4), (1, 16), (4, 6), (2, 3, 8), (24,), (1, 5, 7, 3)])
    for shape in draw(st.lists(shapes, min_size=1, max_size=3)):
        sketch.values.append(sketch.add(shape))
    for _ in range(draw(st.integers(1, most_steps))):
        step, ranks = draw(st.sampled_from(STEPS))
        value = sketch.value(*ranks)
        if value is not None:
            step(sketch, value)
    if not sketch.operators:
        unary(sketch, sketch.values[0])
    return sketch.bytes()
