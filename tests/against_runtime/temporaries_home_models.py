"""Operators whose outputs may leave the arena; what they read is known, fed, or computed at Prepare."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tests.against_runtime.temporaries_models import (
    Case,
    Given,
    constant,
    given,
    graph,
    model,
    numbers,
    scalar,
    single,
    sparse,
    step,
)


@dataclass(frozen=True)
class Form:
    """An operator with all its controlling inputs constant."""

    code: str
    inputs: Sequence[Given]
    outputs: Sequence[Given]
    options: str = ""
    fields: dict[str, Any] = field(default_factory=dict)


F = "FLOAT32"
UNITS = {"padding": "SAME", "stride_h": 1, "stride_w": 1}
FORMS = [
    Form("ARG_MAX", [given(F, 3, 4), scalar(1)], [given("INT64", 3)], "ArgMax", {"output_type": "INT64"}),
    Form("ARG_MIN", [given(F, 3, 4), scalar(1)], [given("INT64", 3)], "ArgMin", {"output_type": "INT64"}),
    Form(
        "BATCH_TO_SPACE_ND",
        [given(F, 4, 2, 2, 1), numbers(2, 2), constant("INT32", 2, 2)],
        [given(F, 1, 4, 4, 1)],
    ),
    Form("BROADCAST_ARGS", [numbers(1, 3), numbers(2, 1)], [given("INT32", 2)]),
    Form("BROADCAST_TO", [given(F, 1, 3), numbers(2, 3)], [given(F, 2, 3)]),
    Form("CAST", [given(F, 3)], [given("INT32", 3)], "Cast"),
    Form("CONCATENATION", [numbers(1, 2), numbers(3)], [given("INT32", 3)], "Concatenation"),
    Form("CUMSUM", [given(F, 3, 4), scalar(1)], [given(F, 3, 4)], "Cumsum"),
    Form("DEQUANTIZE", [given("INT8", 3, scales=(1.0,))], [given(F, 3)], "Dequantize"),
    Form("DYNAMIC_UPDATE_SLICE", [given(F, 3, 4), given(F, 1, 4), numbers(1, 0)], [given(F, 3, 4)]),
    Form("EXPAND_DIMS", [given(F, 3, 4), scalar(1)], [given(F, 3, 1, 4)], "ExpandDims"),
    Form("FILL", [numbers(2, 3), constant(F)], [given(F, 2, 3)], "Fill"),
    Form("GATHER", [given("INT32", 5), numbers(1, 2)], [given("INT32", 2)], "Gather"),
    Form("GATHER_ND", [given(F, 5, 3), constant("INT32", 2, 1)], [given(F, 2, 3)], "GatherNd"),
    Form("MATRIX_DIAG", [given(F, 2, 3)], [given(F, 2, 3, 3)], "MatrixDiag"),
    Form("MIRROR_PAD", [given(F, 3, 4), constant("INT32", 2, 2)], [given(F, 3, 4)], "MirrorPad"),
    Form("MUL", [given("INT32", 4), numbers(1, 2, 3, 4)], [given("INT32", 4)], "Mul"),
    Form("ADD", [given("INT32", 4), numbers(1, 2, 3, 4)], [given("INT32", 4)], "Add"),
    Form("MULTINOMIAL", [constant(F, 2, 3), scalar(5)], [given("INT64", 2, 5)], "Random"),
    Form(
        "NON_MAX_SUPPRESSION_V4",
        [given(F, 6, 4), given(F, 6), scalar(3), constant(F), constant(F)],
        [given("INT32", 3), given("INT32")],
        "NonMaxSuppressionV4",
    ),
    Form(
        "NON_MAX_SUPPRESSION_V5",
        [given(F, 6, 4), given(F, 6), scalar(3), constant(F), constant(F), constant(F)],
        [given("INT32", 3), given(F, 3), given("INT32")],
        "NonMaxSuppressionV5",
    ),
    Form(
        "ONE_HOT",
        [given("INT32", 3), scalar(4), constant(F), constant(F)],
        [given(F, 3, 4)],
        "OneHot",
        {"axis": -1},
    ),
    Form("PACK", [numbers(1, 2), numbers(3, 4)], [given("INT32", 2, 2)], "Pack", {"values_count": 2}),
    Form("PAD", [given(F, 3, 4), constant("INT32", 2, 2)], [given(F, 3, 4)], "Pad"),
    Form("PADV2", [given(F, 3, 4), constant("INT32", 2, 2), constant(F, 1)], [given(F, 3, 4)], "PadV2"),
    Form("RANDOM_STANDARD_NORMAL", [numbers(2, 3)], [given(F, 2, 3)], "Random"),
    Form("RANDOM_UNIFORM", [numbers(2, 3)], [given(F, 2, 3)], "Random"),
    Form("RANGE", [scalar(0), scalar(6), scalar(1)], [given("INT32", 6)], "Range"),
    Form("RANK", [given(F, 2, 3)], [given("INT32")], "Rank"),
    Form(
        "REDUCE_PROD", [numbers(2, 3, 4, 5), numbers(0)], [given("INT32", 1)], "Reducer", {"keep_dims": True}
    ),
    Form("RESHAPE", [given(F, 2, 6), numbers(3, 4)], [given(F, 3, 4)], "Reshape"),
    Form("RESIZE_BILINEAR", [given(F, 1, 3, 3, 2), numbers(6, 6)], [given(F, 1, 6, 6, 2)], "ResizeBilinear"),
    Form(
        "RESIZE_NEAREST_NEIGHBOR",
        [given(F, 1, 3, 3, 2), numbers(6, 6)],
        [given(F, 1, 6, 6, 2)],
        "ResizeNearestNeighbor",
    ),
    Form("REVERSE_V2", [given(F, 3, 4), numbers(1)], [given(F, 3, 4)], "ReverseV2"),
    Form(
        "SCATTER_ND", [constant("INT32", 2, 1), given(F, 2, 3), numbers(4, 3)], [given(F, 4, 3)], "ScatterNd"
    ),
    Form("SEGMENT_SUM", [constant(F, 3, 2), numbers(0, 0, 1)], [given(F, 2, 2)], "SegmentSum"),
    Form("SHAPE", [given(F, 2, 3)], [given("INT32", 2)], "Shape", {"out_type": "INT32"}),
    Form("SLICE", [given(F, 4, 4), numbers(1, 1), numbers(2, 2)], [given(F, 2, 2)], "Slice"),
    Form(
        "SLICE", [given(F, 4, 4), numbers(1, 1), numbers(2, 2)], [given(F, 2, 2, signature=(-1, 2))], "Slice"
    ),
    Form(
        "SPACE_TO_BATCH_ND",
        [given(F, 1, 4, 4, 1), numbers(2, 2), constant("INT32", 2, 2)],
        [given(F, 4, 2, 2, 1)],
    ),
    Form(
        "SPARSE_TO_DENSE",
        [constant("INT32", 2, 1), numbers(5), given(F, 2), constant(F)],
        [given(F, 5)],
        "SparseToDense",
    ),
    Form("SPLIT", [scalar(1), given(F, 2, 6)], [given(F, 2, 3), given(F, 2, 3)], "Split", {"num_splits": 2}),
    Form(
        "SPLIT_V",
        [given(F, 2, 6), numbers(2, 4), scalar(1)],
        [given(F, 2, 2), given(F, 2, 4)],
        "SplitV",
        {"num_splits": 2},
    ),
    Form(
        "STRIDED_SLICE",
        [given("INT32", 6), numbers(1), numbers(4), numbers(1)],
        [given("INT32", 3)],
        "StridedSlice",
    ),
    Form("TILE", [given(F, 2, 3), numbers(2, 2)], [given(F, 4, 6)], "Tile"),
    Form("TOPK_V2", [given(F, 2, 6), scalar(3)], [given(F, 2, 3), given("INT32", 2, 3)], "TopKV2"),
    Form(
        "TOPK_V2",
        [given(F, 2, 6, signature=(-1, 6)), scalar(3)],
        [given(F, 2, 3), given("INT32", 2, 3)],
        "TopKV2",
    ),
    Form("TRANSPOSE", [given(F, 2, 3), numbers(1, 0)], [given(F, 3, 2)], "Transpose"),
    Form(
        "TRANSPOSE_CONV",
        [numbers(1, 4, 4, 2), constant(F, 2, 3, 3, 3), given(F, 1, 4, 4, 3)],
        [given(F, 1, 4, 4, 2)],
        "TransposeConv",
        UNITS,
    ),
    Form("UNIQUE", [given("INT32", 5)], [given("INT32", 5), given("INT32", 5)], "Unique"),
    *(
        Form(f"UNSORTED_SEGMENT_{what}", [given(F, 3, 2), numbers(0, 1, 1), scalar(2)], [given(F, 2, 2)])
        for what in ("MAX", "MIN", "PROD", "SUM")
    ),
    Form("WHERE", [constant("BOOL", 4, values=(1, 0, 1, 1))], [given("INT64", 3, 1)], "Where"),
    Form("ZEROS_LIKE", [given(F, 3)], [given(F, 3)], "ZerosLike"),
]


def variants() -> Iterator[Case]:
    """Each form as it is, with every input constant, and with each constant fed or computed by a SHAPE."""
    for number, form in enumerate(FORMS):
        name = f"{number}_{form.code}"
        yield f"{name}_known", _built(form, form.inputs)
        folded = [each if each.constant else replace(each, constant=True) for each in form.inputs]
        yield f"{name}_all_known", _built(form, folded)
        for position, each in enumerate(form.inputs):
            if each.constant:
                fed = [
                    replace(one, constant=i != position and one.constant) for i, one in enumerate(form.inputs)
                ]
                yield f"{name}_fed_{position}", _built(form, fed)
            if each.constant and each.kind == "INT32" and len(each.shape) == 1 and all(each.values or (0,)):
                yield f"{name}_computed_{position}", _computed(form, position)


def _built(form: Form, inputs: Sequence[Given]) -> bytes:
    return single(form.code, inputs, form.outputs, form.options, **form.fields)


def _computed(form: Form, position: int) -> bytes:
    """The input at this position is the shape of another."""
    asked = form.inputs[position]
    inputs = [
        replace(one, constant=False, computed=True) if i == position else one
        for i, one in enumerate(form.inputs)
    ]
    tensors = [*inputs, *form.outputs, given(F, *(asked.values or ()))]
    results = range(len(inputs), len(inputs) + len(form.outputs))
    steps = [
        step(0, [len(tensors) - 1], [position], "Shape", out_type="INT32"),
        step(1, range(len(inputs)), results, form.options, **form.fields),
    ]
    return model(["SHAPE", form.code], [graph(tensors, steps, list(results))], [tensors])


def others() -> Iterator[Case]:
    thin = constant(F, 6, 16, sparsity=sparse(6, 16), stored=6)
    yield "densify", single("DENSIFY", [thin], [given(F, 6, 16)], "Densify")
    handled = [given("RESOURCE", computed=True), given(F, 2, 3), given(F, 2, 3)]
    for name, output in (("ranked", given(F, 2, 3)), ("unranked", given(F))):
        tensors = [*handled[:2], output]
        steps = [
            step(0, [], [0], "VarHandle", shared_name="v", container=""),
            step(1, [0, 1], [], "AssignVariable"),
            step(2, [0], [2], "ReadVariable"),
        ]
        codes = ["VAR_HANDLE", "ASSIGN_VARIABLE", "READ_VARIABLE"]
        yield f"variable_{name}", model(codes, [graph(tensors, steps, [2])], [tensors])
    looked_up = [
        given("INT32", 2),
        given("INT32", 2, 2),
        given("INT32", 2),
        given(F, 2),
        given(F, 5, 3),
    ]
    yield (
        "embedding_sparse",
        single("EMBEDDING_LOOKUP_SPARSE", looked_up, [given(F, 2, 3)], "EmbeddingLookupSparse"),
    )
    offset = [given(F, 6), given("INT32", 1), numbers(3), numbers(1)]
    yield "slice_by_offset", single("STRIDED_SLICE", offset, [given(F, 3)], "StridedSlice", offset=True)


def all_cases() -> Iterator[Case]:
    """Every model here, with its name."""
    yield from variants()
    yield from others()
