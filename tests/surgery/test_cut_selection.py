"""Which operators, inputs and outputs a part has."""

from __future__ import annotations

import re
from typing import Any

import pytest

import outlive
from outlive.surgery import Cut, write
from tests.surgery import cut_models


def names(part: Cut) -> tuple[list[str], list[str]]:
    return [tensor.name for tensor in part.inputs], [tensor.name for tensor in part.outputs]


def cut(data: bytes, **wishes: Any) -> Cut:
    """The part; it reads without a flaw, and says of itself what its file says."""
    part = outlive.cut(data, **wishes)
    seen = outlive.read(part.model)
    assert not seen.flaws
    for told, read in ((part.inputs, seen.inputs), (part.outputs, seen.outputs)):
        assert [(t.index, t.name, t.shape, t.dtype) for t in told] == [
            (t.index, t.name, t.shape, t.dtype) for t in read
        ]
    whole = outlive.read(data).subgraphs[0]
    assert [op.name for op in seen.subgraphs[0].operators] == [whole.operators[old].name for old in part.ops]
    assert [t.name for t in seen.subgraphs[0].tensors] == [whole.tensors[old].name for old in part.tensors]
    return part


@pytest.mark.parametrize(
    ("wishes", "ops", "inputs", "outputs"),
    [
        ({"ops": 0}, (0,), ["x"], ["a"]),
        ({"ops": 3}, (3,), ["b", "c"], ["y"]),
        ({"ops": range(1, 4)}, (1, 2, 3), ["x", "a"], ["y"]),
        ({"ops": slice(-2, None)}, (3, 4), ["b", "c", "a"], ["y", "dead"]),
        ({"ops": [3, 0, 3]}, (0, 3), ["x", "b", "c"], ["y", "a"]),
        ({"ops": "1:3"}, (1, 2), ["x", "a"], ["b", "c"]),
        ({"ops": "0,2:"}, (0, 2, 3, 4), ["x", "b"], ["y", "a", "dead"]),
        ({"until": 1}, (0, 1), ["x"], ["a", "b"]),
        ({"outputs": "b"}, (0, 1), ["x"], ["b"]),
        ({"outputs": ["c", "#1"]}, (0, 2), ["x"], ["c", "a"]),
        ({"outputs": ["result"]}, (0, 1, 2, 3), ["x"], ["y"]),
        ({"outputs": 5}, (0, 4), ["x"], ["dead"]),
        ({"ops": "1:4", "outputs": ["b"]}, (1,), ["a"], ["b"]),
        ({"outputs": ["x", "y"]}, (0, 1, 2, 3), ["x"], ["x", "y"]),
        ({}, (0, 1, 2, 3), ["x"], ["y"]),
        ({"make_input": "a"}, (1, 2, 3), ["x", "a"], ["y"]),
        ({"ops": 4, "make_input": ["offset"]}, (4,), ["a", "offset"], ["dead"]),
        ({"make_constant": {"c": cut_models.FOUR}}, (0, 1, 3), ["x"], ["y"]),
        ({"make_constant": {"x": cut_models.FOUR}}, (0, 1, 2, 3), [], ["y"]),
        ({"ops": 3, "make_constant": {"b": cut_models.FOUR}}, (3,), ["c"], ["y"]),
    ],
)
def test_a_part_is_what_was_asked_for(
    wishes: dict[str, Any], ops: tuple[int, ...], inputs: list[str], outputs: list[str]
) -> None:
    part = cut(cut_models.branches(), **wishes)
    assert part.ops == ops
    assert names(part) == (inputs, outputs)
    assert part.came_along == ()
    assert part.state == ()


def test_the_original_of_each_tensor_is_known() -> None:
    part = cut(cut_models.branches(), ops=3)
    assert [(tensor.index, tensor.original) for tensor in part.inputs] == [(0, 2), (1, 3)]
    assert part.tensors == (2, 3, 4)


def test_unpacked_weights_come_along() -> None:
    part = cut(cut_models.halved(), ops=2)
    assert part.ops == (0, 2)
    assert part.came_along == (0,)
    assert names(part) == (["relu"], ["y"])
    assert part.state == ("operator 0 DEQUANTIZE came along: what is made there cannot be fed from outside",)


def test_weights_that_are_unpacked_twice_come_along_with_both_steps() -> None:
    part = cut(cut_models.halved_twice(), ops=2)
    assert (part.came_along, names(part)) == ((0, 1), (["x"], ["y"]))
    fed = cut(cut_models.halved_twice(), ops=2, make_input="weights")
    assert (fed.came_along, names(fed)) == ((), (["x", "weights"], ["y"]))


def test_an_output_that_is_left_out_is_no_tensor() -> None:
    tree = cut_models.tree_of_oddities()
    tree["subgraphs"][0]["operators"][1]["outputs"] = [7, -1]
    part = cut(write(tree), ops=1)
    assert names(part) == (["middle"], ["y"])
    assert outlive.read(part.model).subgraphs[0].operators[0].outputs == (6, -1)


def test_what_unpacks_weights_can_be_cut_alone() -> None:
    assert names(cut(cut_models.halved(), ops=0)) == ([], ["weights"])


def test_a_variable_comes_with_its_handle_and_first_value() -> None:
    part = cut(cut_models.counting(), ops=2)
    assert part.ops == (0, 1, 2)
    assert part.came_along == (0, 1)
    assert names(part) == ([], ["before"])
    assert part.subgraphs == (0, 2)
    assert "variable 'counter'" in " ".join(part.state)
    assert "operators left out also write, and do not change it here" in " ".join(part.state)


def test_a_variable_that_was_assigned_is_assigned_before_it_is_read() -> None:
    part = cut(cut_models.counting(), ops=5)
    assert part.ops == (1, 4, 5)
    assert names(part) == (["sum"], ["after"])


def test_outputs_bring_all_that_a_variable_needs() -> None:
    assert cut(cut_models.counting(), outputs="y").ops == (0, 1, 2, 3, 4, 5, 6)
    assert cut(cut_models.counting(), outputs="before").ops == (0, 1, 2)


def test_an_assignment_alone_has_no_output() -> None:
    part = cut(cut_models.counting(), ops=4)
    assert part.ops == (1, 4)
    assert names(part) == (["sum"], [])


def test_the_whole_keeps_operators_that_only_change_variables() -> None:
    assert cut(cut_models.counting()).ops == tuple(range(7))


def test_subgraphs_that_are_called_stay_whole() -> None:
    part = cut(cut_models.choosing(), ops=1)
    assert part.subgraphs == (0, 1, 3)
    assert names(part) == (["which", "positive"], ["y"])
    seen = outlive.read(part.model)
    [chosen] = seen.subgraphs[0].operators
    assert chosen.options is not None
    assert (chosen.options["then_subgraph_index"], chosen.options["else_subgraph_index"]) == (1, 2)
    assert [op.name for graph in seen.subgraphs[1:] for op in graph.operators] == ["ADD", "MUL"]
    assert {code.type for code in seen.operator_codes} == {"IF", "ADD", "MUL"}


def test_subgraphs_that_are_not_called_are_left_out() -> None:
    assert cut(cut_models.choosing(), ops=0).subgraphs == (0,)


@pytest.mark.parametrize(
    ("wishes", "said"),
    [
        ({"ops": 5}, "unknown operator 5; the model has 5 operators, 0 to 4"),
        ({"ops": -1}, "unknown operator -1"),
        ({"ops": "3:9"}, "unknown operator 8"),
        ({"ops": range(10**12)}, "unknown operator"),
        ({"ops": "3:2"}, "an empty range"),
        ({"ops": []}, "no operator was chosen"),
        ({"ops": "three"}, "'three' names no operators; write 5, 3,7,9 or 10:20"),
        ({"ops": 1.5}, "an operator is a number"),
        ({"ops": 1, "until": 2}, "cannot be given together"),
        ({"until": 5}, "unknown operator 5"),
        ({"outputs": "ofset"}, "unknown tensor 'ofset'; did you mean 'offset'?"),
        ({"outputs": "#7"}, "unknown tensor 7; the model has 7 tensors"),
        ({"outputs": []}, "no output was chosen"),
        ({"outputs": "x"}, "nothing is left"),
        ({"outputs": "offset"}, "nothing is left"),
        ({"ops": 0, "outputs": "y"}, "cannot be an output of this part: operator 3 computes it"),
        ({"ops": 0, "make_input": "c"}, "tensor #3 'c' is not read by anything in this part"),
        ({"make_input": "a", "make_constant": {"a": cut_models.FOUR}}, "an input and a constant at once"),
        ({"make_constant": {"x": cut_models.FOUR[0]}}, "tensor #0 'x' is 1x4, and the array is 4"),
        ({"make_constant": {"x": cut_models.FOUR.astype("float64")}}, "is float32, and the array is float64"),
        ({"ops": 1, "input_shapes": {"x": (1, 8)}}, "is not an input of this part; inputs are 'a'"),
        ({"input_shapes": {"x": (8,)}}, "has another number of dimensions"),
        ({"input_shapes": {"x": (0, 4)}}, "a dimension is between 1"),
        ({"input_shapes": {"x": (2**30, 2**31 - 1)}}, "it has more than"),
        ({"input_shapes": {"x": "wide"}}, "is not a shape"),
    ],
)
def test_what_cannot_be_cut_is_told(wishes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        outlive.cut(cut_models.branches(), **wishes)


def test_a_file_with_flaws_is_refused() -> None:
    data = cut_models.branches()
    with pytest.raises(outlive.ModelError):
        outlive.cut(data[: len(data) // 2], ops=0)
    with pytest.raises(outlive.ModelError):
        outlive.cut(b"<html>", ops=0)
    broken = outlive.read(cut_models.oddities().replace(b"Odd\0", b"Odd!"), tolerant=True)
    with pytest.raises(outlive.ModelError):
        outlive.cut(broken, ops=0)
