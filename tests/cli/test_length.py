"""What the main commands print without -v is at most 25 lines of 80 columns: a screen, not a page."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import outlive
from outlive.rendering import page_of
from outlive.rendering.media.text import draw_text
from outlive.verbs.demo import copy_demo_models

MOST_LINES, COLUMNS = 25, 80
DEMOS = ("deadly", "healthy", "healthy_int8", "too_big", "wasteful")
# The last two leave no candidate, and a tight one.
BUDGETS = {"deadly": "4MB", "healthy": "300KB", "wasteful": "64MB", "too_big": "1MB", "healthy_int8": "64KB"}
QUESTIONS: dict[str, Callable[..., Any]] = {
    "plan": lambda path: outlive.plan(path, device="raspberry-pi-zero-2-w"),
    "plan for a microcontroller": lambda path: outlive.plan(path, device="arduino-uno-r4-minima"),
    "check": outlive.check,
    "run": outlive.run,
    "diagnose": outlive.diagnose,
}


@pytest.fixture(autouse=True, scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the models, where commands are given: paths are as short as a user has them."""
    folder = tmp_path_factory.mktemp("models")
    list(copy_demo_models(folder))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("OUTLIVE_CACHE", str(folder / "cache"))
        yield folder


def lines_of(result: Any) -> list[str]:
    """The lines that a terminal shows of a result."""
    console = Console(file=io.StringIO(), width=COLUMNS, markup=False, highlight=False, no_color=True)
    with console.capture() as capture:
        for part in draw_text(page_of(result)):
            console.print(part)
    return capture.get().splitlines()


def short(result: Any) -> None:
    lines = lines_of(result)
    assert len(lines) <= MOST_LINES, "\n".join(lines)


@pytest.mark.parametrize("name", DEMOS)
@pytest.mark.parametrize("question", QUESTIONS)
def test_demo_models_fit_a_screen(name: str, question: str) -> None:
    short(QUESTIONS[question](f"{name}.tflite"))


@pytest.mark.parametrize("name", DEMOS)
def test_a_search_fits_a_screen(name: str) -> None:
    short(outlive.fit(f"{name}.tflite", ram=BUDGETS[name]))


def test_a_comparison_with_many_warnings_fits_a_screen() -> None:
    rng = np.random.default_rng(0)
    real = {"image": rng.random((8, 64, 64, 3), dtype=np.float32)}
    dark = {"image": real["image"] * np.float32(0.05)}
    outlive.quantize("healthy.tflite", recipe="static-int8", samples=dark).save("drifted.tflite")
    drift = outlive.compare("healthy.tflite", "drifted.tflite", samples=real)
    assert len(drift.findings) > 3
    short(drift)
    # The cause, and what to do, before anything else.
    first = " ".join(" ".join(lines_of(drift)[:3]).split())
    assert "Values are clipped" in first
    assert "Fix: calibrate again with realistic samples" in first


def make_mobilenet() -> Any:
    """MobileNetV2 as Keras has it, untrained."""
    import tensorflow as tf

    return tf.keras.applications.MobileNetV2(weights=None, alpha=0.35)


@pytest.fixture(scope="module")
def mobilenet(models: Path) -> str:
    outlive.convert(make_mobilenet).save(models / "mobilenet_v2.tflite")
    return "mobilenet_v2.tflite"


@pytest.mark.parametrize("question", QUESTIONS)
def test_mobilenet_fits_a_screen(question: str, mobilenet: str) -> None:
    short(QUESTIONS[question](mobilenet))


def test_mobilenet_is_compared_and_fitted_on_a_screen(mobilenet: str) -> None:
    short(outlive.compare(mobilenet, outlive.quantize(mobilenet).model))
    short(outlive.fit(mobilenet, ram="5MB"))
