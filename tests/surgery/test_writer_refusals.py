"""What the writer refuses, and that it says where in the tree that is."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from outlive.surgery import write

OPTIONS = "subgraphs[0].operators[1].builtin_options"
TENSOR = "subgraphs[0].tensors[0]"


def options(tag: Any, fields: Any) -> dict[str, Any]:
    return {"subgraphs": [{"operators": [{}, {"builtin_options_type": tag, "builtin_options": fields}]}]}


def conv(**fields: Any) -> dict[str, Any]:
    return options("Conv2DOptions", fields)


def tensor(**fields: Any) -> dict[str, Any]:
    return {"subgraphs": [{"tensors": [fields]}]}


def constant(data: Any) -> dict[str, Any]:
    return {"buffers": [{"data": data}]}


WRONG_VALUES = [
    (conv(paddin=1), f"{OPTIONS}.paddin: Conv2DOptions has no such field; did you mean 'padding'?"),
    (conv(padding="SANE"), f"{OPTIONS}.padding: 'SANE' is not a name it can take; did you mean 'SAME'?"),
    (conv(stride_w=2**31), f"{OPTIONS}.stride_w: 2147483648 does not fit int32"),
    (options("Conv2D", {}), f"{OPTIONS}_type: 'Conv2D' is not a name it can take"),
    (options(None, {"padding": 1}), f"{OPTIONS}_type: None names no table of BuiltinOptions"),
    (options(250, {}), f"{OPTIONS}_type: 250 names no table of BuiltinOptions"),
    (tensor(shape=[1, 2**40]), f"{TENSOR}.shape[1]: 1099511627776 does not fit int32"),
    (tensor(shape=np.ones((1, 2), int)), f"{TENSOR}.shape: a vector has one dimension, not 2"),
    (tensor(shape=b"abc"), f"{TENSOR}.shape: 3 bytes are no whole number of int32"),
    (tensor(is_variable=2), f"{TENSOR}.is_variable: 2 does not fit bool"),
    (tensor(quantization={"scale": [1e40]}), f"{TENSOR}.quantization.scale: a value does not fit float32"),
    (constant([256]), "buffers[0].data[0]: 256 does not fit uint8"),
]

WRONG_TYPES = [
    (conv(stride_w=1.5), f"{OPTIONS}.stride_w: int32 expected, not float 1.5"),
    (conv(stride_w="one"), f"{OPTIONS}.stride_w: int32 expected, not str 'one'"),
    (
        options("Conv2DOptions", [1]),
        f"{OPTIONS}: a mapping of the fields of Conv2DOptions expected, not list",
    ),
    (tensor(shape=[1, 0.5]), f"{TENSOR}.shape: a vector of int32 expected, not of float64"),
    (tensor(shape=[[1], [2, 3]]), f"{TENSOR}.shape: a vector of int32 expected, not list"),
    (tensor(shape=3), f"{TENSOR}.shape: a vector of int32 expected, not int 3"),
    (tensor(shape="1x3"), f"{TENSOR}.shape: a vector of int32 expected, not str '1x3'"),
    (tensor(name=3), f"{TENSOR}.name: a string expected, not int 3"),
    (constant(np.array(["a"])), "buffers[0].data: an array of numbers expected"),
    ({"subgraphs": {}}, "subgraphs: a list expected, not dict {}"),
    ({"buffers": [{}, 7]}, "buffers[1]: a mapping of"),
    ([], "Model: a mapping of its fields expected, not list []"),
]


@pytest.mark.parametrize("outside", [False, True])
@pytest.mark.parametrize(("tree", "words"), WRONG_VALUES)
def test_a_wrong_value_is_refused_with_its_path(tree: Any, words: str, outside: bool) -> None:
    with pytest.raises(ValueError, match="^" + re.escape(words)):
        write(tree, outside=outside)


@pytest.mark.parametrize("outside", [False, True])
@pytest.mark.parametrize(("tree", "words"), WRONG_TYPES)
def test_a_wrong_type_is_refused_with_its_path(tree: Any, words: str, outside: bool) -> None:
    with pytest.raises(TypeError, match="^" + re.escape(words)):
        write(tree, outside=outside)


def test_more_than_a_flatbuffer_holds_is_refused_with_the_way_out() -> None:
    huge = np.lib.stride_tricks.as_strided(np.zeros(1, np.uint8), (3 * 2**30,), (0,))
    with pytest.raises(ValueError, match=r"^buffers: 3221225472 bytes .* outside=True"):
        write(constant(huge))


def test_options_may_be_missing_beside_their_tag_because_damaged_files_have_that() -> None:
    assert write(options("Conv2DOptions", None))
