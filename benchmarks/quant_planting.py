"""Faults for quantized models: one layer made wrong, everything around it kept consistent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from outlive.model import Model, read_source
from outlive.surgery import tree_of, write

Tree = dict[str, Any]
WEIGHTED = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")


def layers(model: Model) -> list[int]:
    """Operators with weights whose int8 output only operators with weights read: they may have any scale."""
    graph = model.subgraphs[0]
    readers = graph.consumers()
    found = []
    for step in graph.operators:
        if step.type not in WEIGHTED or graph.tensors[step.outputs[0]].dtype != "int8":
            continue
        weights = graph.tensors[step.inputs[1]]
        after = [graph.operators[reader].type for reader in readers.get(step.outputs[0], ())]
        if (
            weights.data is not None
            and weights.dtype == "int8"
            and all(kind in (*WEIGHTED, "DEQUANTIZE") for kind in after)
        ):
            found.append(step.index)
    return found


def scale_times_4(content: bytes, op: int) -> bytes:
    """The output's scale, multiplied by 4: steps four times as coarse."""
    return _rescaled(content, op, 4.0)


def range_clipped(content: bytes, op: int) -> bytes:
    """The output's scale, a third of what it was: two thirds of the range are cut off."""
    return _rescaled(content, op, 1 / 3)


def zero_point_shifted(content: bytes, op: int) -> bytes:
    """The output's zero point, moved by 100 steps: what lies at one end is cut off."""

    def change(tree: Tree, model: Model) -> None:
        index = model.subgraphs[0].operators[op].outputs[0]
        row = tree["subgraphs"][0]["tensors"][index]
        old = int(row["quantization"]["zero_point"][0])
        new = old - 100 if old > 0 else old + 100
        row["quantization"] = {**row["quantization"], "zero_point": [new]}

    return _changed(content, change)


def channel_scale_wrong(content: bytes, op: int) -> bytes:
    """The scale of a quarter of the weights' channels, multiplied by 4."""

    def change(tree: Tree, model: Model) -> None:
        index = model.subgraphs[0].operators[op].inputs[1]
        row = tree["subgraphs"][0]["tensors"][index]
        scales = np.array(row["quantization"]["scale"], np.float32)
        scales[: max(1, len(scales) // 4)] *= 4
        row["quantization"] = {**row["quantization"], "scale": scales}

    return _changed(content, change)


FAULTS: dict[str, Callable[[bytes, int], bytes]] = {
    "scale times 4": scale_times_4,
    "range clipped": range_clipped,
    "zero point shifted": zero_point_shifted,
    "channel scale wrong": channel_scale_wrong,
}


def _changed(content: bytes, change: Callable[[Tree, Model], None]) -> bytes:
    model = read_source(content).model
    assert model is not None
    tree = tree_of(memoryview(content))
    change(tree, model)
    return write(tree)


def _rescaled(content: bytes, op: int, factor: float) -> bytes:
    """Another scale of the output; biases of the layers behind it are written anew for it."""

    def change(tree: Tree, model: Model) -> None:
        graph = model.subgraphs[0]
        index = graph.operators[op].outputs[0]
        rows = tree["subgraphs"][0]["tensors"]
        row = rows[index]
        row["quantization"] = {
            **row["quantization"],
            "scale": np.array(row["quantization"]["scale"], np.float32) * np.float32(factor),
        }
        for reader in graph.consumers().get(index, ()):
            step = graph.operators[reader]
            if step.type in WEIGHTED and len(step.inputs) > 2 and step.inputs[2] >= 0:
                _rescale_bias(tree, model, step.inputs[2], factor)

    return _changed(content, change)


def _rescale_bias(tree: Tree, model: Model, index: int, factor: float) -> None:
    bias = model.subgraphs[0].tensors[index]
    row = tree["subgraphs"][0]["tensors"][index]
    tree["buffers"].append(
        {"data": np.round(bias.array().astype(np.float64) / factor).astype(bias.dtype).tobytes()}
    )
    row["buffer"] = len(tree["buffers"]) - 1
    old = row["quantization"]
    row["quantization"] = {**old, "scale": np.array(old["scale"], np.float32) * np.float32(factor)}


def dense_network(seed: int) -> bytes:
    """A network of dense layers, a RELU behind every second one; its depth and width depend on the seed."""
    chance = np.random.default_rng(seed)
    size, depth = 32 + 16 * (seed % 4), 5 + seed % 5
    rows: list[Tree] = [{"name": "x", "type": "FLOAT32", "shape": [1, size]}]
    buffers: list[Tree] = [{}]
    steps: list[Tree] = []
    for place in range(depth):
        matrix = chance.standard_normal((size, size)) * np.sqrt(2 / size)
        buffers.append({"data": matrix.astype(np.float32)})
        before = 0 if place == 0 else len(rows) - 1
        rows.append({"name": f"w{place}", "type": "FLOAT32", "shape": [size, size], "buffer": place + 1})
        rows.append({"name": f"layer{place}", "type": "FLOAT32", "shape": [1, size]})
        fused = {"fused_activation_function": "RELU"} if place % 2 else {}
        steps.append(
            {
                "opcode_index": 0,
                "inputs": [before, len(rows) - 2, -1],
                "outputs": [len(rows) - 1],
                "builtin_options_type": "FullyConnectedOptions",
                "builtin_options": fused,
            }
        )
    main = {"tensors": rows, "inputs": [0], "outputs": [len(rows) - 1], "operators": steps}
    codes = [{"builtin_code": "FULLY_CONNECTED", "version": 1}]
    return write({"version": 3, "operator_codes": codes, "buffers": buffers, "subgraphs": [main]})


def conv_network(seed: int) -> bytes:
    """Blocks of a pointwise, a depthwise and a pointwise convolution, around each a shortcut; then a mean."""
    chance = np.random.default_rng(1000 + seed)
    side, wide, blocks = 12 + 4 * (seed % 3), 8 + 4 * (seed % 4), 2 + seed % 3
    draft = _Draft([1, side, side, wide])
    for _ in range(blocks):
        shortcut = draft.last
        draft.conv(chance, wide, 2 * wide, relu=True)
        draft.depthwise(chance, 2 * wide)
        draft.conv(chance, 2 * wide, wide, relu=False)
        draft.add(shortcut)
    draft.conv(chance, wide, 2 * wide, relu=True)
    return draft.file()


class _Draft:
    """A network of convolutions that grows at its end; weights keep values at about the size they have."""

    def __init__(self, shape: list[int]) -> None:
        self.tensors: list[Tree] = [{"name": "image", "type": "FLOAT32", "shape": shape}]
        self.buffers: list[Tree] = [{}]
        self.steps: list[Tree] = []
        self.shape, self.last = shape, 0

    def conv(self, chance: np.random.Generator, given: int, made: int, *, relu: bool) -> None:
        weights = chance.standard_normal((made, 1, 1, given)) * np.sqrt((2 if relu else 1) / given)
        options = {"padding": "SAME", "stride_w": 1, "stride_h": 1}
        options |= {"fused_activation_function": "RELU"} if relu else {}
        self._weighted(0, weights, chance.standard_normal(made) / 10, "Conv2DOptions", options, made)

    def depthwise(self, chance: np.random.Generator, wide: int) -> None:
        # Channels of different size: that is what depthwise layers of trained networks are like.
        weights = chance.standard_normal((1, 3, 3, wide)) * np.exp(chance.normal(0, 0.4, wide)) / 3
        options = {"padding": "SAME", "stride_w": 1, "stride_h": 1, "depth_multiplier": 1}
        options |= {"fused_activation_function": "RELU6"}
        self._weighted(1, weights, chance.standard_normal(wide) / 10, "DepthwiseConv2DOptions", options, wide)

    def add(self, other: int) -> None:
        self._step(2, [self.last, other], "AddOptions", {}, self.shape[-1])

    def _weighted(self, code: int, weights: Any, bias: Any, kind: str, options: Tree, made: int) -> None:
        places = [self.last]
        for name, values in (("weights", weights), ("bias", bias)):
            self.buffers.append({"data": values.astype(np.float32)})
            row = {"type": "FLOAT32", "shape": list(values.shape), "buffer": len(self.buffers) - 1}
            self.tensors.append({"name": f"{name}{len(self.steps)}", **row})
            places.append(len(self.tensors) - 1)
        self._step(code, places, kind, options, made)

    def _step(self, code: int, inputs: list[int], kind: str, options: Tree, made: int) -> None:
        self.shape = [*self.shape[:-1], made]
        self.tensors.append({"name": f"layer{len(self.steps)}", "type": "FLOAT32", "shape": self.shape})
        self.last = len(self.tensors) - 1
        row = {"opcode_index": code, "inputs": inputs, "outputs": [self.last]}
        self.steps.append({**row, "builtin_options_type": kind, "builtin_options": options})

    def file(self) -> bytes:
        main = {"tensors": self.tensors, "inputs": [0], "outputs": [self.last], "operators": self.steps}
        codes = [{"builtin_code": code, "version": 1} for code in ("CONV_2D", "DEPTHWISE_CONV_2D", "ADD")]
        return write({"version": 3, "operator_codes": codes, "buffers": self.buffers, "subgraphs": [main]})
