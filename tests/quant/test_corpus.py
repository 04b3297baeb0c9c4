"""Real models: every recipe quantizes them or says why not, and what comes out can be compared."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import outlive

# Small ones of different kinds: convolutions, recurrent, control flow, an operator nobody quantizes.
NAMES = ("mnist_dw_f", "kws_ref_model_float32", "mnist_lstm", "while_dynamic", "simple_atan2_op")
WORDS = ("Q213", "Q214", "Q217")


@pytest.fixture
def chosen(corpus_models: tuple[Path, ...]) -> list[Path]:
    return [path for path in corpus_models if any(name in path.name for name in NAMES)]


def samples(model: outlive.Model) -> list[list[object]]:
    chance = np.random.default_rng(0)
    return [[chance.random(one.shape).astype(one.dtype) for one in model.inputs] for _ in range(2)]


@pytest.mark.corpus
@pytest.mark.parametrize("recipe", ["static-int8", "fp16"])
def test_real_models_are_quantized_or_refused_with_the_reason(recipe: str, chosen: list[Path]) -> None:
    compared = 0
    for path in chosen:
        model = outlive.read(path)
        if not any("float" in one.dtype for one in model.inputs):
            continue
        given = samples(model)
        try:
            made = outlive.quantize(model, recipe, given, seconds=120)
        except outlive.ModelError as error:
            assert error.finding.code == "Q213", path.name
            continue
        if any(finding.code in WORDS for finding in made.findings):
            continue
        drift = outlive.compare(model, made.model, given)
        assert drift.samples == 2, path.name
        assert drift.tensors, path.name
        compared += 1
    assert compared >= 2
