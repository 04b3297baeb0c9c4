"""`outlive.leak` on models: the real runtime's cycles do not leak, and a bad model does no harm."""

from __future__ import annotations

from pathlib import Path

import pytest

import outlive
from outlive import demo_models
from outlive.growth.growth import NO_LEAK, UNCLEAR

HEALTHY = demo_models.path("healthy")


def test_the_runtime_is_flat_in_every_cycle() -> None:
    growth = outlive.leak(HEALTHY)
    assert [stage.cycle for stage in growth.stages] == ["load", "invoke", "resize"]
    assert [stage.verdict for stage in growth.stages] == [NO_LEAK] * 3
    assert growth.findings == ()
    assert growth.above <= 4096


def test_one_cycle_of_a_model_given_as_bytes() -> None:
    growth = outlive.leak(HEALTHY.read_bytes(), "invoke", 40, accelerator="builtin", threads=1)
    (stage,) = growth.stages
    assert (stage.cycle, stage.calls, stage.problem) == ("invoke", 40, "")


def test_a_model_that_kills_is_told_as_one() -> None:
    growth = outlive.leak(demo_models.path("deadly"))
    assert growth.died
    assert growth.verdict == UNCLEAR
    assert growth.findings[0].code == "O109"


def test_a_file_that_is_no_model_is_told_as_that(tmp_path: Path) -> None:
    page = tmp_path / "m.tflite"
    page.write_text("<!DOCTYPE html><html></html>")
    with pytest.raises(outlive.ModelError):
        outlive.leak(page)
    with pytest.raises(FileNotFoundError):
        outlive.leak(tmp_path / "none.tflite")


@pytest.mark.corpus
def test_a_model_that_is_refused_is_told_in_the_runtimes_words(corpus: Path) -> None:
    (path,) = (corpus / "models").glob("16e7447c_*.tflite")
    growth = outlive.leak(path)
    assert not growth.died
    assert "Select TensorFlow op" in growth.stages[0].problem
    assert [finding.code for finding in growth.findings] == ["O121"]


@pytest.mark.corpus
def test_a_real_model_is_flat(corpus: Path) -> None:
    (path,) = (corpus / "models").glob("2fcbfbb1_*.tflite")
    growth = outlive.leak(path)
    assert growth.verdict == NO_LEAK
    assert growth.stages[2].problem.startswith("no other input size is accepted: "), "it cannot be resized"
