"""Real models: every recipe quantizes them or says why not, and what comes out can be compared.

The whole matrix is benchmarks/quant_matrix.py; here are small models of different kinds.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import outlive
from outlive.quant.recipes import RECIPES
from outlive.quant.samples import random_samples

# Convolutions, recurrent, control flow, operators nobody quantizes, int8 inside already.
NAMES = (
    "mnist_dw_f", "kws_ref_model_float32", "mnist_lstm", "while_dynamic", "simple_atan2_op",
    "partly_quantized_mnist", "simple_l2_norm",
)  # fmt: skip
REFUSALS = ("Q213", "Q214", "Q217")


@pytest.fixture(scope="module")
def chosen(corpus_models: tuple[Path, ...]) -> list[Path]:
    return [path for path in corpus_models if any(name in path.name for name in NAMES)]


def tried(model: outlive.Model, recipe: str) -> str:
    """The code of the refusal, or what became of the model; anything else is raised."""
    given = list(random_samples(model, 2))
    try:
        made = outlive.quantize(model, recipe, given, seconds=120)
    except outlive.ModelError as error:
        assert error.finding.evidence[0].fact
        return error.finding.code
    codes = [finding.code for finding in made.findings if finding.code in REFUSALS]
    if codes:
        return codes[0]
    drift = outlive.compare(model, made.model, given)
    assert drift.samples == 2
    assert drift.tensors
    return "quantized"


@pytest.mark.corpus
@pytest.mark.parametrize("recipe", RECIPES)
def test_real_models_are_quantized_or_refused_with_the_reason(recipe: str, chosen: list[Path]) -> None:
    outcomes = Counter(tried(outlive.read(path), recipe) for path in chosen)
    assert set(outcomes) <= {"quantized", *REFUSALS}
    assert outcomes["quantized"] >= 3
    assert sum(outcomes.values()) == len(NAMES)


@pytest.mark.corpus
@pytest.mark.parametrize(("name", "least_db"), [("kws_ref_model_float32", 10), ("mnist_dw_f", 20)])
def test_trained_models_stay_what_they_are(
    name: str, least_db: float, corpus_models: tuple[Path, ...]
) -> None:
    [path] = [path for path in corpus_models if name in path.name]
    model = outlive.read(path)
    given = list(random_samples(model, 12))
    made = outlive.quantize(model, "static-int8", given)
    drift = outlive.compare(model, made.model, given)
    [output] = drift.outputs
    assert output.metrics is not None
    assert output.metrics.sqnr_db > least_db
    assert output.argmax_agreement is not None
    assert output.argmax_agreement >= 0.9
