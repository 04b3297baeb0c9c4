"""Zeros are counted as they are, and a sparse twin holds the same numbers in the runtime's own eyes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import outlive
from outlive import demo_models
from outlive.model.zeros import count_zeros
from outlive.surgery import tree_of, write
from outlive.surgery.trimmed import sparsify
from tests.interpreter.dropin_models import graph, model, op
from tests.model.small import tensor
from tests.rules.m109 import bad as sparse_case
from tests.surgery.test_trimmed import same_results


def pruned(name: str, share: float) -> bytes:
    """A demo model with that share of each weight set to zero, the smallest first."""
    whole = outlive.read(demo_models.path(name))
    tree = tree_of(whole.content)
    for weight in count_zeros(whole):
        values = np.array(weight.tensor.array())
        size = np.abs(values.astype(np.float32))
        values[size < np.quantile(size, share)] = 0
        tree["buffers"][weight.tensor.buffer_index] = {"data": values}
    return write(tree)


def one_weight(kind: str, values: Any, **fields: Any) -> bytes:
    """A model that reads one constant."""
    tensors = [
        tensor("x", "FLOAT32", [1, 4]),
        tensor("weights", kind, values.shape, buffer=1, **fields),
        tensor("y", "FLOAT32", [1, 4]),
    ]
    return model(["ADD"], graph(tensors, [0], [2], op(0, [0, 1], [2], "Add")), buffers=(values,))


@pytest.mark.parametrize(
    ("kind", "dtype", "zero_point", "expected"),
    [
        ("FLOAT32", np.float32, None, 1000),
        ("FLOAT16", np.float16, None, 1000),
        ("INT8", np.int8, None, 1000),
        ("INT8", np.int8, [5], 500),
        ("UINT8", np.uint8, [5], 500),
        ("INT8", np.int8, [0, 5], None),
        ("INT32", np.int32, None, None),
    ],
)
def test_zeros_are_counted_in_the_models_own_terms(
    kind: str, dtype: Any, zero_point: list[int] | None, expected: int | None
) -> None:
    values = np.ones(3000, dtype)
    values[:1000] = 0
    values[1000:1500] = 5
    if dtype in (np.float32, np.float16):
        values[:500] = -0.0
    fields = (
        {"quantization": {"scale": [0.5] * len(zero_point), "zero_point": zero_point}} if zero_point else {}
    )
    found = count_zeros(outlive.read(one_weight(kind, values, **fields)))
    assert [weight.zeros for weight in found] == ([] if expected is None else [expected])


def test_small_and_shared_constants_are_not_counted_twice() -> None:
    assert count_zeros(outlive.read(one_weight("INT8", np.zeros(1000, np.int8)))) == ()
    whole = tree_of(memoryview(one_weight("INT8", np.zeros(2000, np.int8))))
    main = whole["subgraphs"][0]
    main["tensors"].append({**main["tensors"][1], "name": "again"})
    main["operators"].append({**main["operators"][0], "inputs": [0, 3]})
    assert len(count_zeros(outlive.read(write(whole)))) == 1


def test_a_tensor_that_begins_dense_is_not_read_on() -> None:
    values = np.zeros(9000, np.int8)
    values[:4096] = 1
    whole = outlive.read(one_weight("INT8", values))
    assert count_zeros(whole, worth=0.5) == ()
    assert count_zeros(whole)[0].zeros == 9000 - 4096


def test_sparse_constants_count_what_they_leave_out(tmp_path: Any) -> None:
    [weight] = count_zeros(outlive.read(sparse_case.source(tmp_path)))
    assert (weight.is_sparse, weight.elements, weight.zeros) == (True, 64 * 128, 64 * 120)
    assert weight.stored_bytes == 512 + 512 + 2 * 65
    assert weight.dense_bytes == 64 * 128


@pytest.mark.parametrize(("name", "share"), [("healthy", 0.7), ("healthy_int8", 0.9)])
def test_a_sparse_twin_gives_the_same_bits(name: str, share: float) -> None:
    before = pruned(name, share)
    found = sparsify(outlive.read(before))
    assert found.data is not None
    assert found.weights >= 3
    twin = outlive.read(found.data)
    assert not twin.flaws
    assert sum(op.type == "DENSIFY" for op in twin.operators()) == found.weights
    assert len(found.data) < len(before) + 300 * found.weights
    same_results(before, found.data)


def test_a_model_without_zeros_has_no_sparse_twin() -> None:
    assert sparsify(outlive.read(demo_models.path("healthy"))).data is None


def test_an_order_of_operators_forbids_a_sparse_twin() -> None:
    tree = tree_of(memoryview(pruned("healthy", 0.9)))
    tree["buffers"].append({"data": bytes(16)})
    tree["metadata"] = [{"name": "OfflineMemoryAllocation", "buffer": len(tree["buffers"]) - 1}]
    assert sparsify(outlive.read(write(tree))).data is None
