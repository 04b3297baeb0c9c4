"""Temporaries worked out by hand for a few operators, and operators that are not what a kernel expects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlive.kernels.litert import (
    convolution,
    custom,
    elementwise,
    matrices,
    recurrent,
    reshaping,
    slicing,
)
from outlive.kernels.litert.kernel import Slots
from outlive.kernels.litert.registry import KERNELS, prepared_outputs, temporaries_of, unshaped_outputs
from outlive.kernels.litert.tensor_table import TensorTable
from outlive.kernels.litert.view import PrepareView
from outlive.model import Operator, Options, Tensor
from outlive.model.schema import load_schema

Shape = tuple[int, ...]
FAMILIES = (convolution, custom, elementwise, matrices, recurrent, reshaping, slicing)


def tensor(index: int, dtype: str, shape: Shape) -> Tensor:
    return Tensor(
        index=index,
        name=f"t{index}",
        dtype=dtype,
        shape=shape,
        shape_signature=None,
        has_rank=True,
        is_variable=False,
        buffer_index=0,
        buffer=None,
        quantization=None,
        sparsity=None,
        variants=(),
        external=None,
    )


def view(
    name: str,
    inputs: Sequence[tuple[str, Shape]],
    output: tuple[str, Shape] = ("float32", (1,)),
    **changed: Any,
) -> PrepareView:
    """An operator of these inputs, all but the first constant, and one output."""
    tensors = [tensor(index, *each) for index, each in enumerate([*inputs, output])]
    custom = not name.isupper()
    options = changed.pop("options", None)
    operator = Operator(
        index=0,
        type="CUSTOM" if custom else name,
        custom_name=name if custom else "",
        version=1,
        inputs=tuple(range(len(inputs))),
        outputs=(len(inputs),),
        intermediates=(),
        options=None if options is None else Options(table="", values=options),
        custom_options=None,
        mutating_inputs=(),
    )
    known = changed.pop("known", frozenset(range(1, len(inputs))))
    table = TensorTable(
        tensors=tuple(tensors),
        shapes=[each.shape for each in tensors],
        dtypes=[each.dtype for each in tensors],
        bytes=[0] * len(tensors),
        where=["constant" if each.index in known else "arena" for each in tensors],
        names=[each.name for each in tensors],
        given={},
    )
    return PrepareView(operator, table, **changed)


CONV = {"padding": "SAME", "stride_h": 2, "stride_w": 2, "dilation_h_factor": 1, "dilation_w_factor": 1}
FILTERS = [("float32", (1, 8, 8, 3)), ("float32", (16, 3, 3, 3)), ("float32", (16,))]


def test_im2col() -> None:
    slots = temporaries_of(view("CONV_2D", FILTERS, options=CONV))
    assert slots is not None
    assert [(slot.size_bytes, slot.where) for slot in slots.at_prepare] == [(4 * 4 * 27 * 4, "arena")]


def test_transposed_weights_in_place_of_im2col() -> None:
    slots = temporaries_of(view("CONV_2D", FILTERS, options=CONV, threads=2))
    assert slots is not None
    assert [(slot.size_bytes, slot.where) for slot in slots.at_prepare] == [(16 * 27 * 4, "persistent")]


def test_reference_kernels_need_no_im2col() -> None:
    assert temporaries_of(view("CONV_2D", FILTERS, options=CONV, reference=True)) == Slots()


def test_six_slots_whatever_the_types() -> None:
    slots = temporaries_of(view("FULLY_CONNECTED", [("float32", (2, 4)), ("float32", (3, 4))]))
    assert slots is not None
    assert [slot.where for slot in slots.at_prepare] == ["none"] * 6
    assert slots.order == ()


def test_mean_over_known_axes() -> None:
    slots = temporaries_of(view("MEAN", [("int8", (2, 3, 4)), ("int32", (1,))], ("int8", (2, 4))))
    assert slots is not None
    found = [(slot.size_bytes, slot.where, slot.at_invoke) for slot in slots.at_prepare]
    assert found == [(12, "arena", False), (4, "arena", False), (32, "arena", False), (12, "dynamic", True)]


def test_an_operator_never_seen_is_not_known() -> None:
    assert temporaries_of(view("MyOwnOperator", [("float32", (1,))])) is None


def test_nothing_is_known_of_what_the_kernel_would_refuse() -> None:
    assert temporaries_of(view("CONV_2D", FILTERS)) is None  # no strides
    assert temporaries_of(view("CONV_2D", [("float32", (8, 8, 3)), *FILTERS[1:]], options=CONV)) is None


def test_every_operator_has_one_answer() -> None:
    """No operator is listed under a name the schema does not have, and none by two families."""
    assert len(KERNELS) == sum(len(family.KERNELS) for family in FAMILIES)
    builtin = set(load_schema().enums["BuiltinOperator"].names.values())
    assert {name for name in set(KERNELS) if name.isupper()} <= builtin


RESHAPED = [("float32", (2, 6)), ("int32", (2,))]


@pytest.mark.parametrize(
    ("name", "known", "where"),
    [
        ("SHAPE", (), "readonly"),
        ("RESHAPE", (1,), None),
        ("RESHAPE", (0, 1), "readonly"),
        ("TILE", (), "dynamic"),
        ("TILE", (0, 1), "readonly"),
        ("MUL", (1,), None),
        ("MUL", (0, 1), "readonly"),
        ("ADD", (0, 1), None),
    ],
)
def test_homes(name: str, known: tuple[int, ...], where: str | None) -> None:
    (output,) = unshaped_outputs(view(name, RESHAPED, known=frozenset(known)))
    assert output.where == where


def test_preparing_stops_behind_a_reshape_to_an_unknown_shape() -> None:
    outputs = prepared_outputs(view("RESHAPE", RESHAPED, known=frozenset()))
    assert outputs is not None
    assert outputs[0].undecided


def test_a_string_is_never_in_the_arena() -> None:
    (output,) = unshaped_outputs(view("GATHER", RESHAPED, ("string", (2,))))
    assert output.where == "dynamic"


OPERATORS = sorted(set(KERNELS))
SIZES = st.integers(min_value=-2, max_value=2**31 - 1) | st.integers(min_value=0, max_value=3)
SHAPES = st.lists(SIZES, max_size=6).map(tuple) | st.integers(9, 200).map(lambda rank: (2**31 - 1,) * rank)
TENSORS = st.tuples(
    st.sampled_from(["float32", "int8", "uint8", "int16", "int32", "int4", "string", "bool"]), SHAPES
)
OPTIONS = st.none() | st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys([*CONV, "rank", "keep_dims", "time_major"], st.integers(-1, 3)),
        "padding": st.sampled_from(["SAME", "VALID", ""]) | st.tuples(st.integers(-5, 5)),
        "base_dilations": st.tuples(st.integers(-1, 2)),
    },
)


@given(
    name=st.sampled_from(OPERATORS),
    inputs=st.lists(TENSORS, max_size=24),
    output=TENSORS,
    options=OPTIONS,
    known=st.frozensets(st.integers(0, 8)),
    reference=st.booleans(),
    threads=st.integers(1, 8),
)
def test_any_operator_gives_an_answer(
    name: str,
    inputs: list[tuple[str, Shape]],
    output: tuple[str, Shape],
    options: dict[str, Any] | None,
    known: frozenset[int],
    reference: bool,
    threads: int,
) -> None:
    """Whatever a file says of an operator, its temporaries are known or not known: nothing is raised."""
    asked = view(name, inputs, output, options=options, known=known, reference=reference, threads=threads)
    slots = temporaries_of(asked)
    assert slots is None or all(slot.size_bytes >= 0 for slot in slots.at_init + slots.at_prepare)
    (output,) = unshaped_outputs(asked)
    assert output.where in (None, "persistent", "readonly", "dynamic")
    prepared_outputs(asked)
