"""What a part's file holds: everything that belongs to it, as it was, and nothing else."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest

import outlive
from outlive.surgery import tree_of, write
from tests.surgery import cut_models


@pytest.mark.parametrize("outside", [False, True], ids=["inside", "behind"])
def test_everything_an_operator_refers_to_survives(outside: bool) -> None:
    data = cut_models.oddities(outside)
    part = outlive.cut(data, ops=1)
    seen, whole = outlive.read(part.model), outlive.read(data)
    assert part.tensors == (1, 2, 3, 4, 5, 6, 7)
    for new, old in enumerate(part.tensors):
        mine, theirs = seen.subgraphs[0].tensors[new], whole.subgraphs[0].tensors[old]
        assert (mine.name, mine.dtype, mine.shape, mine.shape_signature) == (
            theirs.name,
            theirs.dtype,
            theirs.shape,
            theirs.shape_signature,
        )
        assert mine.data == theirs.data
        assert mine.external == theirs.external
    tensors = {tensor.name: tensor for tensor in seen.subgraphs[0].tensors}
    blockwise, sparse = tensors["blockwise"].quantization, tensors["sparse"].sparsity
    assert blockwise is not None
    assert (blockwise.scales_tensor, blockwise.zero_points_tensor, blockwise.block_size) == (0, -1, 4)
    assert sparse is not None
    assert bytes(sparse.dimensions[1].segments or b"") == b"\x00\x01\x02"
    assert sparse.dimensions[1].indices == (0, 1)
    [odd] = seen.subgraphs[0].operators
    assert (odd.name, odd.version, bytes(odd.custom_options or b"")) == ("Odd", 2, b"\x01\x02options")
    assert odd.inputs == (4, 1, 2, 3, -1)
    assert odd.intermediates == (5,)
    assert odd.mutating_inputs == (False, True, False, False, False)
    assert [buffer.outside for buffer in seen.buffers if buffer.data].count(outside) >= 3
    assert b"unused constant" not in part.model
    assert b"unused.bin" not in part.model


def test_the_order_of_operators_is_renumbered() -> None:
    seen = outlive.read(outlive.cut(cut_models.oddities(), ops=1).model)
    assert seen.subgraphs[0].control_dependencies == ()
    whole = outlive.read(outlive.cut(cut_models.oddities()).model)
    assert whole.subgraphs[0].control_dependencies == ((-1, 0), (0, 1))


def test_an_uncut_tree_is_written_as_it_was() -> None:
    data = cut_models.oddities()
    assert write(tree_of(memoryview(data))) == data


def test_metadata_and_signatures_are_kept_where_they_are_true() -> None:
    data = cut_models.branches()
    part = outlive.cut(data, ops=0)
    seen = outlive.read(part.model)
    assert [entry.name for entry in seen.metadata] == ["min_runtime_version"]
    assert (seen.min_runtime_version, seen.description) == ("1.5.0", "branches")
    assert seen.signatures == ()
    assert part.dropped == ("metadata 'OfflineMemoryAllocation'", "signature 'serving'")


def test_a_signature_follows_its_tensors() -> None:
    part = outlive.cut(cut_models.branches(), make_input="b")
    [signature] = outlive.read(part.model).signatures
    names = [tensor.name for tensor in outlive.read(part.model).subgraphs[0].tensors]
    assert [(name, names[index]) for name, index in signature.inputs] == [("given", "x"), ("b", "b")]
    assert [(name, names[index]) for name, index in signature.outputs] == [("result", "y")]


def test_names_that_are_no_text_survive() -> None:
    data = cut_models.branches().replace(b"offset", b"off\xff\xfe\xfd")
    part = outlive.cut(outlive.read(data), ops=4)
    assert b"off\xff\xfe\xfd" in part.model


def test_attached_files_stay_with_a_model_that_keeps_its_ends() -> None:
    file = io.BytesIO()
    file.write(cut_models.branches())
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("labels.txt", "cat\ndog\n")
        archive.writestr("empty.txt", "")
    whole = outlive.cut(file.getvalue())
    assert [item.name for item in outlive.read(whole.model).attached_files] == ["labels.txt", "empty.txt"]
    with zipfile.ZipFile(io.BytesIO(whole.model)) as archive:
        assert archive.testzip() is None
        assert archive.read("labels.txt") == b"cat\ndog\n"
    part = outlive.cut(file.getvalue(), ops=0)
    assert outlive.read(part.model).attached_files == ()
    assert "attached files" in part.dropped


def test_a_constant_is_what_was_given() -> None:
    value = np.array([[9, 8, 7, 6]], np.float32)
    part = outlive.cut(cut_models.branches(), make_constant={"x": value})
    seen = outlive.read(part.model)
    [given] = [tensor for tensor in seen.subgraphs[0].tensors if tensor.name == "x"]
    np.testing.assert_array_equal(given.array(), value)
    back = outlive.cut(part.model, make_input="x")
    assert [tensor.name for tensor in back.inputs] == ["x"]
    assert not outlive.read(back.model).inputs[0].is_constant


def test_plain_numbers_take_the_type_of_the_tensor() -> None:
    part = outlive.cut(cut_models.branches(), make_constant={"x": [[1, 2.5, 3, 4]]})
    [given] = [tensor for tensor in outlive.read(part.model).subgraphs[0].tensors if tensor.name == "x"]
    assert given.array().tolist() == [[1, 2.5, 3, 4]]


def test_many_parts_of_one_model_do_not_disturb_each_other() -> None:
    model = outlive.read(cut_models.oddities())
    first = outlive.cut(model, ops=1).model
    outlive.cut(model, make_constant={"middle": np.zeros((4, 4), np.float32)})
    outlive.cut(model, ops=0)
    assert outlive.cut(model, ops=1).model == first
    assert outlive.cut(bytes(model.content), ops=1).model == first
