"""What a program reads: valid JSON with the fields of the contract, whatever a file holds."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlive
from outlive import demo_models
from outlive.model import Model, read_source
from outlive.model.file_parts import FilePart, map_bytes
from outlive.planning.file_read import FileRead, FilesRead
from outlive.rendering.media.json import document_of, dump
from outlive.rules.judgement import assess
from outlive.surgery import write
from tests.rendering.stage import HOSTILE, named
from tests.rules.small import archive, dense, graph, ones, tensor, tree

DEMOS = pytest.mark.parametrize("name", demo_models.NAMES)
FINDING = {
    "code", "name", "severity", "headline", "where", "why", "evidence", "remedies", "confidence", "fault",
    "cause", "op",
}  # fmt: skip


def refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")


def strict(text: str) -> Any:
    """The document, read by the letter of the standard."""
    return json.loads(text, parse_constant=refuse)


def told(source: Any) -> Any:
    reading = read_source(source)
    return strict(dump(document_of(FileRead(reading=reading, judgement=assess(reading)))))


@DEMOS
def test_a_document_says_what_it_is_and_of_which_file(name: str) -> None:
    path = demo_models.path(name)
    data = path.read_bytes()
    found = told(path)
    assert (found["schema"], found["kind"]) == ("outlive/1", "read")
    assert found["model"] == {
        "path": str(path), "sha256": hashlib.sha256(data).hexdigest(), "file_bytes": len(data),
    }  # fmt: skip


@DEMOS
def test_a_document_holds_all_of_the_model(name: str) -> None:
    model, found = outlive.read(demo_models.path(name)), told(demo_models.path(name))
    (subgraph,) = found["subgraphs"]
    assert [row["name"] for row in subgraph["tensors"]] == [tensor.name for tensor in model.tensors()]
    assert [row["type"] for row in subgraph["operators"]] == [step.type for step in model.operators()]
    assert [row["index"] for row in found["inputs"]] == [end.index for end in model.inputs]
    for row, end in zip(found["outputs"], model.outputs, strict=True):
        assert (row["name"], row["shape"], row["dtype"]) == (end.name, list(end.shape), end.dtype)
    assert found["signatures"][0]["key"] == "serving_default"
    assert len(found["buffers"]) == len(model.buffers)
    assert found["min_runtime_version"] == "1.5.0"


def test_findings_have_all_fields_of_the_contract() -> None:
    findings = told(demo_models.path("wasteful"))["findings"]
    assert [row["code"] for row in findings] == [
        item.code for item in outlive.check(demo_models.path("wasteful"))
    ]
    for row in findings:
        assert set(row) == FINDING
        assert row["evidence"]
        assert all(set(item) == {"fact", "source"} for item in row["evidence"])
        assert all(set(item) == {"action", "effect", "command", "tag"} for item in row["remedies"])
        assert row["severity"] == "note"
        assert row["fault"] == "file"
        assert {item["tag"] for item in row["remedies"]} <= {"same-results", "changes-results"}


@pytest.mark.parametrize("content", [b"", b"some text", b"\0" * 64], ids=["empty", "text", "zeros"])
def test_a_file_that_is_no_model_has_a_document_too(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(content)
    found = told(path)
    assert (found["schema"], found["kind"]) == ("outlive/1", "read")
    assert found["model"]["path"] == str(path)
    assert found["model"]["file_bytes"] == len(content)
    assert [row["severity"] for row in found["findings"]] == ["error"]
    assert "subgraphs" not in found


def test_a_missing_file_has_a_document_too(tmp_path: Path) -> None:
    found = told(tmp_path / "missing.tflite")
    assert found["model"] == {"path": str(tmp_path / "missing.tflite"), "sha256": None, "file_bytes": 0}
    assert [row["code"] for row in found["findings"]] == ["F101"]


def test_a_model_given_as_bytes_has_no_path() -> None:
    assert told(write(dense()))["model"]["path"] is None


def test_a_broken_model_is_told_as_far_as_it_was_read() -> None:
    found = told(write(dense(op={"inputs": [0, 1, 99]})))
    assert [row["code"] for row in found["findings"]] == ["F112"]
    assert found["subgraphs"][0]["operators"][0]["inputs"] == [0, 1, 99]
    assert found["flaws"] == 1


def test_several_files_make_one_document() -> None:
    readings = [read_source(demo_models.path(name)) for name in ("healthy", "wasteful")]
    found = strict(
        dump(
            document_of(
                FilesRead(files=tuple(FileRead(reading=item, judgement=assess(item)) for item in readings))
            )
        )
    )
    assert (found["schema"], found["kind"]) == ("outlive/1", "read")
    assert [Path(item["model"]["path"]).stem for item in found["files"]] == ["healthy", "wasteful"]
    assert [item["kind"] for item in found["files"]] == ["read", "read"]


def test_scales_that_are_no_numbers_are_written_as_words() -> None:
    values = np.array([np.nan, np.inf, -np.inf, 0.5], np.float32)
    scales = {"scale": values, "zero_point": [0] * 4, "min": values, "max": values}
    found = told(write(dense(weights={"quantization": scales})))
    quantization = found["subgraphs"][0]["tensors"][1]["quantization"]
    words = ["NaN", "Infinity", "-Infinity", 0.5]
    assert (quantization["scales"], quantization["minimum"], quantization["maximum"]) == (words, words, words)


def test_options_that_are_no_numbers_are_written_as_words() -> None:
    step = {"builtin_options_type": "SoftmaxOptions", "builtin_options": {"beta": float("inf")}}
    found = told(write(dense(op=step)))
    assert found["subgraphs"][0]["operators"][0]["options"] == {"beta": "Infinity"}


def test_dump_writes_what_json_has_no_word_for() -> None:
    body = {"nested": [{"value": float("nan")}, (float("-inf"),)], "view": memoryview(b"abc")}
    found = strict(dump(body))
    assert found["nested"] == [{"value": "NaN"}, ["-Infinity"]]
    assert found["view"] == {"bytes": 3}


@pytest.mark.parametrize("name", [*HOSTILE.values(), "entrée 入力"], ids=[*HOSTILE, "letters"])
def test_names_come_through_whole_and_the_text_is_ascii(name: str) -> None:
    reading = read_source(named(name))
    text = dump(document_of(FileRead(reading=reading, judgement=assess(reading))))
    assert text.isascii()
    assert "\x1b" not in text
    assert strict(text)["subgraphs"][0]["tensors"][0]["name"] == name


def test_a_name_that_is_not_utf8_is_written_with_escapes() -> None:
    found = told(write(dense(x={"name": b"entr\xe9e"})))
    assert found["inputs"][0]["name"] == "entr\\xe9e"
    assert [row["code"] for row in found["findings"]] == ["F116"]


def sizes(model: Model) -> dict[str, tuple[int, int]]:
    return {part.what: (part.size_bytes, part.count) for part in map_bytes(model)}


@DEMOS
def test_the_parts_of_a_demo_model_add_up_to_its_file(name: str) -> None:
    model = outlive.read(demo_models.path(name))
    parts = map_bytes(model)
    assert sum(part.size_bytes for part in parts) == model.file_bytes
    assert parts == tuple(sorted(parts, key=lambda part: -part.size_bytes))
    assert min(part.size_bytes for part in parts) > 0


@pytest.mark.corpus
def test_the_parts_of_a_corpus_model_add_up_to_its_file(corpus_model: Path) -> None:
    model = read_source(corpus_model).model
    if model is not None:
        parts = map_bytes(model)
        assert sum(part.size_bytes for part in parts) == model.file_bytes
        assert min(part.size_bytes for part in parts) >= 0


def test_each_byte_is_counted_for_what_it_is() -> None:
    made = dense(
        buffers=[ones(2, 4), b"1.5.0", b"nobody's"], metadata=[{"name": "min_runtime_version", "buffer": 2}]
    )
    attached = archive("labels.txt")
    found = sizes(outlive.read(write(made) + attached))
    assert found.pop("structure")[1] == 1
    assert found == {
        "float32 constants": (32, 1), "metadata": (5, 1), "unused buffers": (8, 1), "attached files": (7, 1),
    }  # fmt: skip


@pytest.mark.parametrize("outside", [False, True])
def test_a_shared_buffer_counts_once(outside: bool) -> None:
    tensors = [tensor("a", [8], buffer=1), tensor("b", [8], buffer=1), tensor("c", [4], "INT32", buffer=2)]
    made = tree(graph(tensors, [], [0], [0]), buffers=[ones(8), np.arange(4, dtype=np.int32)])
    found = sizes(outlive.read(write(made, outside=outside)))
    assert found["float32 constants"] == (32, 1)
    assert found["int32 constants"] == (16, 1)


def test_two_buffers_in_one_place_count_once() -> None:
    made = dense()
    made["buffers"][1:] = [{"offset": 8, "size": 32}, {"offset": 8, "size": 32}]
    assert sizes(outlive.read(write(made)))["float32 constants"] == (32, 1)
    assert "unused buffers" not in sizes(outlive.read(write(made)))


def test_buffers_that_overlap_do_not_count_more_than_the_file() -> None:
    made = dense()
    made["buffers"][1:] = [
        {"offset": 8, "size": 200},
        {"offset": 9, "size": 200},
        {"offset": 10, "size": 200},
    ]
    parts = map_bytes(outlive.read(write(made)))
    assert FilePart(what="structure", size_bytes=0, count=1) in parts
