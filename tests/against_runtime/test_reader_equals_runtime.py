"""Our reader and LiteRT's interpreter agree on every corpus model that LiteRT loads."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from outlive.model import read_source
from tests.against_runtime.agreement import differences
from tests.against_runtime.conftest import Answers

# Two files of the corpus are text under a model's name: a symbolic link's target, and a joke.
TEXT_FILES = {
    "904c0a6b_person_detect_model.tflite": "../../../../../../../models/person_detect_model.tflite",
    "ec4a1403_bad_model.tflite": "I don't know what I'm doing!",
}

Change = Callable[[dict[str, Any]], None]


def test_reader_agrees_with_the_interpreter(corpus_model: Path, answers: dict[str, Answers]) -> None:
    answer = answers[corpus_model.name]
    assert answer.ended == ""
    assert answer.runtime is not None
    model = read_source(corpus_model).model
    if "refused" in answer.runtime:
        assert model is None
        return
    assert model is not None
    assert differences(model, answer.runtime) == []


def test_every_model_that_loads_was_compared(
    answers: dict[str, Answers], corpus_manifest: dict[str, dict[str, Any]]
) -> None:
    compared = {name for name, answer in answers.items() if answer.runtime and "tensors" in answer.runtime}
    runnable = {name for name, row in corpus_manifest.items() if row["outcome"] == "ok"}
    loadable = {name for name, row in corpus_manifest.items() if row["outcome"] != "load_fail"}
    assert len(runnable) == 71
    assert runnable <= compared
    assert compared == loadable
    assert len(compared) == 98


def test_every_file_is_read_without_a_flaw_or_refused_as_what_it_is(corpus_model: Path) -> None:
    reading = read_source(corpus_model)
    if corpus_model.name in TEXT_FILES:
        assert reading.model is None
        assert reading.identity.kind == "text"
        assert reading.identity.detail == TEXT_FILES[corpus_model.name]
    else:
        assert reading.identity.kind == "model"
        assert reading.model is not None
    assert [(flaw.kind, flaw.place, flaw.detail) for flaw in reading.flaws] == []


def test_all_of_the_corpus_is_there(corpus_models: tuple[Path, ...]) -> None:
    assert len(corpus_models) == 100


def _first(runtime: dict[str, Any], of: str) -> dict[str, Any]:
    tensors: list[dict[str, Any]] = runtime["tensors"][0]
    return next(tensor for tensor in tensors if tensor[of])


def _scale(tensor: dict[str, Any], by: float) -> None:
    tensor["quantization_parameters"]["scales"][0] *= by


@pytest.mark.parametrize(
    ("where", "change"),
    [
        ("inputs", lambda r: r["inputs"].reverse() or r["inputs"].append(0)),
        ("outputs[0]", lambda r: r["outputs"].__setitem__(0, 7)),
        ("subgraphs", lambda r: r["tensors"].append([])),
        ("operators[1].name", lambda r: r["operators"][1].update(name="CONV_3D")),
        ("operators[1].inputs[0]", lambda r: r["operators"][1]["inputs"].__setitem__(0, -1)),
        ("operators[1].outputs[0]", lambda r: r["operators"][1]["outputs"].__setitem__(0, 0)),
        ("operators", lambda r: r["operators"].pop()),
        ("signatures.serving", lambda r: r["signatures"].update(serving={"inputs": {}, "outputs": {}})),
        ("subgraph 0: ours has", lambda r: r["tensors"][0].pop()),
        ("subgraph 0: ours has", lambda r: r["tensors"][0].append({"name": "one more"})),
        (".name", lambda r: _first(r, "name").update(name="other")),
        (".shape[0]", lambda r: _first(r, "shape")["shape"].__setitem__(0, 99)),
        (".shape_signature[0]", lambda r: _first(r, "shape")["shape_signature"].__setitem__(0, 99)),
        (".dtype", lambda r: _first(r, "name").update(dtype="int3")),
        (".value", lambda r: _first(r, "value").update(value=None)),
        (".value.crc", lambda r: _first(r, "value")["value"].update(crc=1)),
        (".scales[0]", lambda r: _scale(r["tensors"][0][0], 1.0000001)),
        (".zero_points", lambda r: r["tensors"][0][0]["quantization_parameters"].update(zero_points=[])),
        (".block_size", lambda r: r["tensors"][0][0]["quantization_parameters"].update(block_size=32)),
        (".quantization[0]", lambda r: r["tensors"][0][0].update(quantization=[0.0, 0])),
    ],
)
def test_the_comparison_sees_what_is_changed(
    where: str, change: Change, corpus: Path, answers: dict[str, Answers]
) -> None:
    name = "9d992182_model_int8.tflite"
    model, runtime = read_source(corpus / "models" / name).model, answers[name].runtime
    assert model is not None
    assert runtime is not None
    changed = copy.deepcopy(runtime)
    change(changed)
    found = differences(model, changed)
    assert found
    assert where in found[0]
