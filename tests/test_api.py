"""The verbs of the front desk."""

from __future__ import annotations

import io
import pickle
from pathlib import Path

import pytest

import outlive
from outlive import demo_models
from outlive.finding import Severity
from outlive.surgery import write
from tests.rules.small import dense, save

HEALTHY = demo_models.path("healthy")
BROKEN = write(dense(op={"inputs": [0, 1, 99]}, x={"shape": [-2, 4]}))


@pytest.mark.parametrize("source", [HEALTHY, str(HEALTHY)])
def test_a_path_is_read(source: Path | str) -> None:
    model = outlive.read(source)
    assert model.path == str(HEALTHY)
    assert [tensor.name for tensor in model.inputs] == ["image"]


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, io.BytesIO])
def test_bytes_and_files_are_read(kind: type) -> None:
    model = outlive.read(kind(HEALTHY.read_bytes()))
    assert model.path is None
    assert model.sha256 == outlive.read(HEALTHY).sha256


def test_an_open_file_is_read_and_named() -> None:
    with HEALTHY.open("rb") as file:
        assert outlive.read(file).path == str(HEALTHY)


def test_what_is_no_source_is_refused() -> None:
    with pytest.raises(TypeError, match="give a path, bytes or a binary file"):
        outlive.read(42)  # type: ignore[arg-type]
    with HEALTHY.open(encoding="latin-1") as file, pytest.raises(TypeError, match="text mode"):
        outlive.read(file)  # type: ignore[arg-type]


@pytest.mark.parametrize("tolerant", [False, True])
def test_a_model_is_returned_as_it_is(tolerant: bool) -> None:
    model = outlive.read(HEALTHY)
    assert outlive.read(model, tolerant=tolerant) is model


def test_a_model_that_was_read_tolerantly_is_returned_as_it_is() -> None:
    model = outlive.read(BROKEN, tolerant=True)
    assert outlive.read(model) is model


def test_a_broken_file_raises_a_model_error_with_all_findings() -> None:
    with pytest.raises(outlive.ModelError) as caught:
        outlive.read(BROKEN)
    error = caught.value
    assert isinstance(error, ValueError)
    assert isinstance(error, outlive.OutliveError)
    assert [finding.code for finding in error.findings] == ["F112", "F117"]
    assert error.finding is error.findings[0]
    assert error.finding.severity is outlive.Severity.ERROR


def test_the_message_of_a_model_error_is_the_drawn_finding() -> None:
    with pytest.raises(outlive.ModelError) as caught:
        outlive.read(BROKEN)
    lines = str(caught.value).splitlines()
    assert lines[0] == "error[F112]: Index out of range in the model: tensor 99 of 3"
    assert lines[-1] == "  Confidence: certain · Details: outlive explain F112"


def test_tolerant_reading_gives_what_there_is_and_check_says_what_is_wrong() -> None:
    model = outlive.read(BROKEN, tolerant=True)
    assert model.inputs[0].shape == (-2, 4)
    assert {"F112", "F117"} <= {finding.code for finding in outlive.check(model)}


@pytest.mark.parametrize("content", [b"", b"text", b"\0\0\0\0TFL3"])
def test_what_is_no_model_raises_even_if_tolerant(content: bytes) -> None:
    with pytest.raises(outlive.ModelError, match=r"error\[F1"):
        outlive.read(content, tolerant=True)


def test_a_missing_file_raises_a_model_error_too(tmp_path: Path) -> None:
    with pytest.raises(outlive.ModelError, match=r"error\[F101\]"):
        outlive.read(tmp_path / "gone.tflite")


def test_warnings_do_not_keep_a_model_from_being_read() -> None:
    source = write(dense(x={"name": b"entr\xe9e"}))
    model = outlive.read(source)
    assert model.inputs[0].name == "entr\\xe9e"
    assert [finding.severity for finding in outlive.check(model)] == [Severity.WARNING]


def test_check_is_iterated_and_counted() -> None:
    judgement = outlive.check(demo_models.path("wasteful"))
    assert len(judgement) == len(list(judgement)) == len(judgement.findings) > 0
    assert judgement.errors == ()
    assert [item for item in judgement.not_checked if item.code[:2] in ("F1", "M1")] == []


@pytest.mark.parametrize("name", demo_models.NAMES)
def test_check_says_the_same_of_a_path_its_bytes_and_its_model(name: str) -> None:
    path = demo_models.path(name)
    said = [
        [finding.code for finding in outlive.check(source)]
        for source in (path, path.read_bytes(), outlive.read(path))
    ]
    assert said[0] == said[1] == said[2]


def test_check_does_not_raise_for_a_file_that_is_no_model(tmp_path: Path) -> None:
    judgement = outlive.check(save(tmp_path, "not a model"))
    assert [finding.code for finding in judgement.errors] == ["F107"]
    assert {item.reason for item in judgement.not_checked if item.code[:2] == "M1"} == {"needs model"}


def test_explain_gives_the_page_by_code_and_by_name() -> None:
    assert outlive.explain("f104") == outlive.explain("git-lfs-pointer")
    assert outlive.explain("F104").startswith("F104 git-lfs-pointer")


def test_explain_guesses_what_was_meant() -> None:
    with pytest.raises(LookupError, match="unknown rule 'git-lsf-pointer'; did you mean git-lfs-pointer"):
        outlive.explain("git-lsf-pointer")


def test_explain_does_not_guess_from_nonsense() -> None:
    with pytest.raises(LookupError, match=r"unknown rule 'qqqqqq'$"):
        outlive.explain("qqqqqq")


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'outlive' has no attribute 'raed'"):
        outlive.raed  # noqa: B018


def test_findings_can_be_sent_to_another_process() -> None:
    finding = outlive.check(demo_models.path("wasteful")).findings[0]
    assert pickle.loads(pickle.dumps(finding)) == finding


def test_a_model_error_can_be_sent_to_another_process() -> None:
    with pytest.raises(outlive.ModelError) as caught:
        outlive.read(BROKEN)
    copied = pickle.loads(pickle.dumps(caught.value))
    assert (copied.findings, str(copied)) == (caught.value.findings, str(caught.value))
