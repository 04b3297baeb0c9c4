"""What a model says about itself: metadata buffers, attached files, control dependencies.

The FlatBuffers inside are made from slot numbers of the published schemas (tflite-support's
metadata_schema.fbs 1.5.0, TensorFlow's conversion_metadata.fbs), not from our data, so that they check it.
"""

from __future__ import annotations

import io
import zipfile
from typing import Any

import pytest

from outlive.model import Model, read_source
from outlive.surgery import write
from tests.model.flat_bytes import Numbers, Scalar, Slots, flatbuffer
from tests.model.small import build, read_clean, tensor, tree


def with_metadata(name: str, data: bytes, **fields: Any) -> bytes:
    return build(buffers=[{"data": data}], metadata=[{"name": name, "buffer": 1}], **fields)


def with_card(root: Slots) -> Model:
    return read_clean(with_metadata("TFLITE_METADATA", flatbuffer(root, b"M001")))


def flaw_kinds(data: bytes) -> list[str]:
    return [flaw.kind for flaw in read_source(data).flaws]


def test_entries_are_listed_with_their_bytes() -> None:
    data = build(
        buffers=[{"data": b"one"}, {}],
        metadata=[{"name": "a", "buffer": 1}, {"name": "b", "buffer": 2}, {"name": "größe", "buffer": 1}],
    )
    entries = read_clean(data).metadata
    assert [(entry.name, entry.buffer_index, entry.size_bytes) for entry in entries] == [
        ("a", 1, 3), ("b", 2, 0), ("größe", 1, 3),
    ]  # fmt: skip
    assert [entry.data for entry in entries] == [b"one", None, b"one"]


@pytest.mark.parametrize(
    ("data", "version"),
    [
        (b"1.14.0", "1.14.0"),
        (b"2.3.0" + bytes(11), "2.3.0"),
        (b"", ""),
        (b"\xff1", "\\xff1"),
        (b"9" * 99, "9" * 64),
    ],
)
def test_the_least_runtime_version(data: bytes, version: str) -> None:
    assert read_clean(with_metadata("min_runtime_version", data)).min_runtime_version == version


def test_a_model_without_metadata_says_nothing() -> None:
    model = read_clean(build())
    assert (model.metadata, model.min_runtime_version, model.card, model.conversion) == ((), "", None, None)
    assert (model.attached_files, model.subgraphs[0].control_dependencies) == ((), ())


LABELS: Slots = {0: "labels.txt", 1: "what it sees", 2: Scalar("Int8", 2), 3: "en", 4: "v7"}
NORMALIZATION: Slots = {
    0: Scalar("Uint8", 1),
    1: {0: Numbers("Float32", 4, [127.5]), 1: Numbers("Float32", 4, [1.5])},
}
IMAGE: Slots = {0: Scalar("Uint8", 2), 1: {0: Scalar("Int8", 1), 1: {0: Scalar("Uint32", 9)}}}


def test_a_card_with_all_its_fields() -> None:
    photo: Slots = {
        0: "photo",
        1: "what to look at",
        2: ["height", "width"],
        3: IMAGE,
        4: [NORMALIZATION],
        5: {0: Numbers("Float32", 4, [255.0]), 1: Numbers("Float32", 4, [-1.0, 0.5])},
        6: [LABELS],
    }
    graph: Slots = {0: "main", 2: [photo], 3: [{0: "scores"}, {0: "boxes"}], 4: [{0: "vocabulary.txt"}]}
    root: Slots = {
        0: "Namer",
        1: "names it",
        2: "v2",
        3: [graph],
        4: "me",
        5: "free",
        6: [LABELS],
        7: "1.5.0",
    }
    card = with_card(root).card
    assert card is not None
    assert (card.name, card.description, card.version, card.author) == ("Namer", "names it", "v2", "me")
    assert (card.license, card.min_parser_version) == ("free", "1.5.0")
    assert card.files == ("labels.txt", "vocabulary.txt")
    assert [entry.name for entry in card.outputs] == ["scores", "boxes"]
    (entry,) = card.inputs
    assert (entry.name, entry.description, entry.content) == ("photo", "what to look at", "image")
    assert (entry.dimension_names, entry.files) == (("height", "width"), ("labels.txt",))
    assert (entry.mean, entry.std) == ((127.5,), (1.5,))
    assert (entry.minimum, entry.maximum) == ((-1.0, 0.5), (255.0,))


@pytest.mark.parametrize(
    ("member", "properties", "content"),
    [
        (0, {}, ""),
        (1, {}, "feature"),
        (2, {0: Scalar("Int8", 2)}, "image"),
        (3, {0: Numbers("Uint32", 4, [1, 0]), 1: Scalar("Int8", 3), 2: Scalar("Int8", 1)}, "boundingbox"),
        (4, {0: Scalar("Uint32", 16_000), 1: Scalar("Uint32", 1)}, "audio"),
    ],
)
def test_every_kind_of_content(member: int, properties: Slots, content: str) -> None:
    entry: Slots = {3: {0: Scalar("Uint8", member), 1: properties, 2: {0: Scalar("Int32", 1)}}}
    card = with_card({3: [{2: [entry]}]}).card
    assert card is not None
    assert card.inputs[0].content == content


@pytest.mark.parametrize(
    ("member", "options"),
    [
        (2, {0: Scalar("Int8", 2), 1: Scalar("Float32", 0.5)}),
        (3, {0: Scalar("Float32", 0.5)}),
        (4, {0: [LABELS]}),
        (5, {0: [LABELS], 1: [LABELS]}),
        (6, {0: "[^a-z]+", 1: [LABELS]}),
    ],
)
def test_every_process_unit_is_known_and_only_normalization_is_normalization(
    member: int, options: Slots
) -> None:
    other: Slots = {0: Scalar("Uint8", member), 1: options}
    card = with_card({3: [{2: [{4: [other]}, {4: [other, NORMALIZATION]}], 5: [other], 6: [other]}]}).card
    assert card is not None
    assert [entry.mean for entry in card.inputs] == [(), (127.5,)]


def test_tensor_groups_and_custom_metadata_are_known() -> None:
    groups = [{0: "boxes", 1: ["scores", "places"]}]
    custom = [{0: "mine", 1: Numbers("Uint8", 1, b"\1\2")}]
    assert with_card({3: [{7: groups, 8: groups, 9: custom}]}).card is not None


@pytest.mark.parametrize(
    ("root", "text"),
    [
        ({3: [{2: [{3: {0: Scalar("Uint8", 5), 1: {}}}]}]}, "union member 5"),
        ({3: [{2: [{4: [{0: Scalar("Uint8", 7), 1: {}}]}]}]}, "union member 7"),
        ({6: [{2: Scalar("Int8", 7)}]}, "AssociatedFileType 7"),
    ],
)
def test_a_newer_card_is_a_mild_flaw_and_the_rest_is_read(root: dict[int, Any], text: str) -> None:
    reading = read_source(with_metadata("TFLITE_METADATA", flatbuffer({0: "Namer", **root})))
    assert [flaw.kind for flaw in reading.flaws] == ["bad-metadata"]
    assert reading.flaws[0].detail == text
    assert reading.model is not None
    assert reading.model.card is not None
    assert reading.model.card.name == "Namer"


def test_the_byte_of_a_flaw_in_metadata_is_a_byte_of_the_file() -> None:
    inner = flatbuffer({3: [{2: [{3: {0: Scalar("Uint8", 99), 1: {}}}]}]})
    data = with_metadata("TFLITE_METADATA", inner)
    byte = read_source(data).flaws[0].byte
    assert byte is not None
    assert data[byte] == 99


@pytest.mark.parametrize("name", ["TFLITE_METADATA", "CONVERSION_METADATA", "model_control_dependencies"])
@pytest.mark.parametrize("data", [b"\xff", b"\xff" * 40, bytes(range(64, 120))], ids=len)
def test_nonsense_in_a_metadata_buffer_is_a_mild_flaw(name: str, data: bytes) -> None:
    kinds = flaw_kinds(with_metadata(name, data))
    assert kinds
    assert set(kinds) == {"bad-metadata"}


def test_where_the_converter_says_the_model_came_from() -> None:
    environment: Slots = {
        0: "2.21.0",
        1: Scalar("Uint32", 2),
        2: Scalar("Int32", 7),
        3: Scalar("Uint64", 2**60),
    }
    options: Slots = {
        0: Numbers("Int32", 4, [1003, 2000]),
        1: Scalar("Bool", True),
        2: Scalar("Bool", True),
        3: Scalar("Bool", False),
        4: [{0: Numbers("Uint32", 4, [1, 4])}],
    }
    model = read_clean(with_metadata("CONVERSION_METADATA", flatbuffer({0: environment, 1: options})))
    found = model.conversion
    assert found is not None
    assert (found.tensorflow_version, found.api_version, found.model_type) == ("2.21.0", 2, "PYTORCH")
    assert found.optimizations == ("PTQ_FULL_INTEGER", "QUANTIZATION_AWARE_TRAINING")
    assert (found.allows_custom_ops, found.allows_tensorflow_ops) == (True, True)


def with_zip(data: bytes, files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO(data)
    with zipfile.ZipFile(stream, "a", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def test_attached_files_are_listed_with_their_sizes() -> None:
    model = read_clean(with_zip(build(), {"labels.txt": b"cat\n" * 100, "größe.txt": b"x"}))
    assert [(file.name, file.size_bytes) for file in model.attached_files] == [
        ("labels.txt", 400),
        ("größe.txt", 1),
    ]
    assert model.attached_files[0].stored_bytes < 50


def test_an_attached_zip_that_cannot_be_read_is_a_mild_flaw() -> None:
    whole = with_zip(build(), {"labels.txt": b"cat\n"})
    directory = whole.rindex(b"PK\1\2")
    reading = read_source(whole[:directory] + b"QQ" + whole[directory + 2 :])
    assert [flaw.kind for flaw in reading.flaws] == ["bad-metadata"]
    assert "zip archive at the end of the file" in reading.flaws[0].detail
    assert reading.model is not None
    assert reading.model.attached_files == ()


def varints(*numbers: int) -> bytes:
    """Base-128 numbers, least significant part first, as LiteRT's remat/metadata_util.cc writes them."""
    data = bytearray()
    for given in numbers:
        number = given
        while number > 127:
            data.append(number & 127 | 128)
            number >>= 7
        data.append(number)
    return bytes(data)


def test_control_dependencies_go_to_their_subgraphs() -> None:
    # Version 1; two subgraphs; pairs in zigzag: 0 is 0, 1 is -1, 2 is 1, 600 is 300.
    data = varints(1, 2, 2, 0, 2, 600, 1, 1, 3, 4)
    whole = tree(buffers=[{"data": data}], metadata=[{"name": "model_control_dependencies", "buffer": 1}])
    whole["subgraphs"] += [{"tensors": [tensor()]}, {"tensors": [tensor()]}]
    model = read_clean(write(whole))
    assert [graph.control_dependencies for graph in model.subgraphs] == [((0, 1), (300, -1)), ((-2, 2),), ()]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (varints(2, 0), "not version 1"),
        (varints(1, 1, 5, 0), "5 pairs do not fit"),
        (varints(1, 2, 0), "a number does not end"),
        (varints(1) + b"\x80", "a number does not end"),
        (b"\x81\x80\x80\x80\x80\x80\x00", "a number does not end"),
    ],
)
def test_control_dependencies_that_cannot_be_read_are_a_mild_flaw(data: bytes, text: str) -> None:
    reading = read_source(with_metadata("model_control_dependencies", data))
    assert [flaw.kind for flaw in reading.flaws] == ["bad-metadata"]
    assert reading.flaws[0].detail == f"model_control_dependencies: {text}"
