"""The model as a whole: operators, options, signatures, buffers, and references that lead nowhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from outlive.model import Model, Operator, read_source
from outlive.model.schema import load_schema
from outlive.surgery import write
from tests.model.small import Tree, build, flaws, read_clean, tensor, tree

MINE = {"builtin_code": "CUSTOM", "custom_code": "Mine"}


def operator(code: Tree | None = None, **fields: Any) -> Operator:
    rows = [{"inputs": [0], "outputs": [1], **fields}]
    tensors = [tensor("x"), tensor("y"), tensor("z")]
    data = build(tensors, operators=rows, codes=[code or {"builtin_code": "RELU"}])
    return read_clean(data).subgraphs[0].operators[0]


def test_a_model_says_what_it_was_given() -> None:
    model = read_clean(build([tensor("in"), tensor("out")], description="größe"))
    assert (model.schema_version, model.description, model.path) == (3, "größe", None)
    assert [subject.name for subject in (*model.inputs, *model.outputs)] == ["in", "out"]
    assert model.subgraphs[0].input_indices == (0,)
    assert model.subgraphs[0].output_indices == (1,)
    assert model.file_bytes == len(build([tensor("in"), tensor("out")], description="größe"))


def test_a_models_digest_is_that_of_the_whole_file(tmp_path: Path) -> None:
    import hashlib

    path = tmp_path / "model.tflite"
    path.write_bytes(build() + b"behind")
    model = read_source(path).model
    assert model is not None
    assert model.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ({"builtin_code": "CONV_2D"}, ("CONV_2D", "", 1)),
        ({"deprecated_builtin_code": 3, "version": 5}, ("CONV_2D", "", 5)),
        ({"deprecated_builtin_code": 127, "builtin_code": "GELU", "version": 2}, ("GELU", "", 2)),
        ({"deprecated_builtin_code": 3, "builtin_code": "ADD"}, ("CONV_2D", "", 1)),
        ({"deprecated_builtin_code": 32, "custom_code": "Mine"}, ("CUSTOM", "Mine", 1)),
        ({"builtin_code": "RELU", "custom_code": "not its name"}, ("RELU", "not its name", 1)),
    ],
)
def test_the_operators_code_comes_from_the_new_or_the_old_field(
    code: Tree, expected: tuple[Any, ...]
) -> None:
    subject = operator(code)
    assert (subject.type, subject.custom_name, subject.version) == expected
    assert subject.name == ("Mine" if expected[0] == "CUSTOM" else expected[0])
    assert subject.is_custom is (expected[0] == "CUSTOM")


def test_an_operators_tensors() -> None:
    subject = operator(
        inputs=[0, -1], outputs=[1, 2], intermediates=[2, -1], mutating_variable_inputs=[False, True]
    )
    assert (subject.inputs, subject.outputs, subject.intermediates) == ((0, -1), (1, 2), (2, -1))
    assert subject.mutating_inputs == (False, True)
    bare = operator(inputs=None, outputs=None)
    assert (bare.inputs, bare.outputs, bare.intermediates, bare.mutating_inputs) == ((), (), (), ())


def test_options_have_their_names_and_defaults() -> None:
    given = {"padding": "VALID", "stride_w": 2, "fused_activation_function": "RELU6"}
    subject = operator(builtin_options_type="Conv2DOptions", builtin_options=given)
    assert subject.options is not None
    assert subject.options.table == "Conv2DOptions"
    assert dict(subject.options.values) == {
        "padding": "VALID", "stride_w": 2, "stride_h": 0, "fused_activation_function": "RELU6",
        "dilation_w_factor": 1, "dilation_h_factor": 1, "quantized_bias_type": "FLOAT32",
    }  # fmt: skip
    assert subject.options["stride_w"] == 2
    assert subject.options.get("nothing", 5) == 5
    with pytest.raises(TypeError):
        subject.options.values["stride_w"] = 3  # type: ignore[index]


def test_options_of_the_second_union_and_options_with_text_and_bytes() -> None:
    given = {"name": "my.composite", "composite_attributes": b"\1\2", "version": 4}
    fields = {"builtin_options_2_type": "StableHLOCompositeOptions", "builtin_options_2": given}
    options = operator({"builtin_code": "STABLEHLO_COMPOSITE"}, **fields).options
    assert options is not None
    assert (options["name"], options["version"]) == ("my.composite", 4)
    assert options["composite_attributes"] == b"\1\2"
    assert options["composite_attributes_format"] == "FLEXBUFFERS"
    vectors = {"builtin_options_type": "ReshapeOptions", "builtin_options": {"new_shape": [1, -1]}}
    reshape = operator(**vectors).options
    assert reshape is not None
    assert reshape["new_shape"] == (1, -1)
    assert operator().options is None


def test_floats_are_floats_also_where_they_are_absent() -> None:
    options = operator(builtin_options_type="LSTMOptions", builtin_options={"cell_clip": 1}).options
    assert options is not None
    assert (repr(options["cell_clip"]), repr(options["proj_clip"])) == ("1.0", "0.0")


def test_custom_options_inside_and_outside() -> None:
    assert operator(MINE, custom_options=b"abc").custom_options == b"abc"
    assert operator(MINE).custom_options is None
    # The bytes at 4 of every model are its identifier.
    far = operator(MINE, large_custom_options_offset=4, large_custom_options_size=4)
    assert far.custom_options == b"TFL3"
    both = operator(MINE, custom_options=b"in", large_custom_options_offset=4, large_custom_options_size=4)
    assert both.custom_options == b"in"


@pytest.mark.parametrize("outside", [False, True])
def test_buffers_are_spans_of_the_file(outside: bool) -> None:
    first, second = np.arange(5, dtype=np.int16), b"second constant"
    tensors = [tensor("a", "INT16", (5,), buffer=1), tensor("b", "UINT8", (15,), buffer=2)]
    data = build(tensors, [{"data": first}, {"data": second}, {}], outside=outside)
    model = read_clean(data)
    assert [buffer.size_bytes for buffer in model.buffers] == [0, 10, 15, 0]
    assert [buffer.outside for buffer in model.buffers] == [False, outside, outside, False]
    assert [buffer.data for buffer in model.buffers] == [None, first.tobytes(), second, None]
    for buffer in model.buffers[1:3]:
        assert buffer.offset is not None
        assert data[buffer.offset : buffer.offset + buffer.size_bytes] == buffer.data
    assert model.outputs[0].data == second


def test_offsets_0_and_1_are_no_place() -> None:
    for offset in (0, 1):
        model = read_clean(build([tensor(buffer=1)], [{"offset": offset, "size": 8}]))
        assert (model.buffers[1].data, model.buffers[1].offset) == (None, None)


def test_names_that_are_no_proper_text_are_flaws_and_are_shown() -> None:
    bad = read_source(build([tensor("caf\udce9")]))  # the writer keeps what is not UTF-8
    assert [(flaw.kind, flaw.field) for flaw in bad.flaws] == [("bad-text", "name")]
    assert bad.model is not None
    assert bad.model.inputs[0].name == "caf\\xe9"
    data = build([tensor("without an end")])
    open_end = read_source(data.replace(b"without an end\0", b"without an end!"))
    assert [(flaw.kind, flaw.detail) for flaw in open_end.flaws] == [
        ("malformed", "string without its zero byte")
    ]


def test_constants_in_another_file() -> None:
    subject = tensor("w", shape=(4,), external_buffer=7)
    groups = [{"name": "weights.bin"}]
    rows = [{"id": 7, "group": 0, "offset": 4096, "length": 16, "packing": "none"}]
    model = read_clean(build([subject], external_buffer_groups=groups, external_buffers=rows))
    external = model.inputs[0].external
    assert external is not None
    assert (external.id, external.group, external.packing) == (7, "weights.bin", "none")
    assert (external.offset, external.size_bytes) == (4096, 16)
    assert model.inputs[0].is_constant
    lost = read_source(
        build([subject], external_buffer_groups=groups, external_buffers=[{**rows[0], "group": 3}])
    )
    assert [flaw.detail for flaw in lost.flaws] == ["group 3 of 1"]
    assert [flaw.detail for flaw in read_source(build([subject])).flaws] == [
        "external buffer 7 does not exist"
    ]


SUBGRAPH_FIELDS = [
    (table, field.name, field.type)
    for table, fields in load_schema().tables.items()
    for field in fields
    if "subgraph" in field.name and table.endswith("Options")
]


def calling(table: str, field: str, value: int | list[int]) -> Tree:
    is_second = table in load_schema().unions["BuiltinOptions2"]
    union = "builtin_options_2" if is_second else "builtin_options"
    row = {"inputs": [0], "outputs": [0], f"{union}_type": table, union: {field: value}}
    whole = tree(operators=[row])
    return {**whole, "subgraphs": [*whole["subgraphs"], {"name": "body", "tensors": [tensor()]}]}


@pytest.mark.parametrize(("table", "field", "kind"), SUBGRAPH_FIELDS)
def test_every_option_that_calls_a_subgraph_is_followed(table: str, field: str, kind: str) -> None:
    good, bad = (1, 2) if not kind.startswith("[") else ([0, 1], [0, 2])
    model = read_clean(write(calling(table, field, good)))
    assert 1 in model.subgraphs[0].operators[0].subgraphs()
    reading = read_source(write(calling(table, field, bad)))
    assert [flaw.kind for flaw in reading.flaws] == ["dangling-index"]
    assert reading.flaws[0].detail == "RELU calls subgraph 2 of 2"


def test_control_flow_names_both_branches() -> None:
    given = {"then_subgraph_index": 1, "else_subgraph_index": 0}
    whole = calling("IfOptions", "then_subgraph_index", 1)
    whole["subgraphs"][0]["operators"][0]["builtin_options"] = given
    assert read_clean(write(whole)).subgraphs[0].operators[0].subgraphs() == (1, 0)
    assert operator().subgraphs() == ()


def test_signatures() -> None:
    rows = [
        {
            "signature_key": "serving_default",
            "inputs": [{"name": "a", "tensor_index": 1}, {"name": "b", "tensor_index": 0}],
            "outputs": [{"name": "c", "tensor_index": 1}],
        },
        {"signature_key": "other", "subgraph_index": 1},
    ]
    whole = tree([tensor("x"), tensor("y")], signature_defs=rows)
    whole["subgraphs"].append({"name": "second", "tensors": [tensor()]})
    model = read_clean(write(whole))
    first, second = model.signatures
    assert (first.key, first.subgraph_index, second.key, second.subgraph_index) == (
        "serving_default",
        0,
        "other",
        1,
    )
    assert first.inputs == (("a", 1), ("b", 0))
    assert first.outputs == (("c", 1),)
    assert model.subgraphs[1].name == "second"


def test_who_reads_and_who_writes_a_tensor() -> None:
    rows = [{"inputs": [0, 1], "outputs": [2]}, {"inputs": [2, 0], "outputs": [1]}]
    graph = read_clean(build([tensor(name) for name in "abc"], operators=rows)).subgraphs[0]
    assert graph.consumers() == {0: [0, 1], 1: [0], 2: [1]}
    assert graph.producers() == {2: 0, 1: 1}


DANGLING = {
    "tensor 9 of 1: SubGraph.inputs": {"inputs": [9]},
    "tensor -1 of 1: SubGraph.outputs": {"outputs": [-1]},
    "tensor 1 of 1: Operator.inputs": {"operators": [{"inputs": [1]}]},
    "tensor -2 of 1: Operator.outputs": {"operators": [{"outputs": [-2]}]},
    "tensor 5 of 1: Operator.intermediates": {"operators": [{"intermediates": [5]}]},
    "operator code 4 of 1: Operator.opcode_index": {"operators": [{"opcode_index": 4}]},
    "buffer 3 of 1: Tensor.buffer": {"tensors": [tensor(buffer=3)]},
}


@pytest.mark.parametrize("expected", DANGLING)
def test_an_index_that_leads_nowhere_is_a_flaw(expected: str) -> None:
    whole = tree()
    whole["subgraphs"][0] |= DANGLING[expected]
    reading = read_source(write(whole))
    detail, _, field = expected.partition(": ")
    assert [(flaw.kind, flaw.detail) for flaw in reading.flaws] == [("dangling-index", detail)]
    assert f"{reading.flaws[0].table}.{reading.flaws[0].field}" == field
    assert "subgraph 0" in reading.flaws[0].place
    assert isinstance(reading.model, Model)


@pytest.mark.parametrize(
    ("root", "expected"),
    [
        ({"version": 4}, "bad-version: Model.version: version 4; runtimes read version 3 only"),
        ({"buffers": None}, "missing: Model.buffers: no list of buffers"),
        (
            {"subgraphs": []},
            "missing: Model.subgraphs: no subgraph",
        ),
        ({"operator_codes": [{"builtin_code": "CUSTOM"}]}, "custom operator without a name"),
        ({"operator_codes": [{"builtin_code": 4000}]}, "BuiltinOperator 4000"),
        ({"signature_defs": [{}]}, "signature without a name"),
        (
            {"signature_defs": [{"signature_key": "a", "subgraph_index": 2}]},
            "subgraph 2 of 1",
        ),
        (
            {"signature_defs": [{"signature_key": "a", "inputs": [{"name": "p", "tensor_index": 6}]}]},
            "'p' names tensor 6 of 1",
        ),
        (
            {"metadata": [{"name": "m", "buffer": 9}]},
            "dangling-index: metadata 0, Metadata.buffer: buffer 9 of 1",
        ),
    ],
)
def test_what_is_wrong_with_the_whole_is_a_flaw(root: Tree, expected: str) -> None:
    reading = read_source(write(tree() | root))
    assert len(reading.flaws) == reading.flaw_count == 1
    assert expected in flaws(reading)[0]
    assert reading.model is not None
    assert reading.model.flaws == reading.flaws
