"""What runs in the worker: ai-edge-quantizer, fed one sample at a time.

This is the only module that imports it, and only inside the function: the caller's process never does.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_PLAIN = "min_max_uniform_quantize"


def quantize_content(
    content: bytes,
    recipe: Sequence[Mapping[str, Any]],
    signature: str | None,
    samples: Iterable[Mapping[str, Any]] | None,
    careful: bool,
) -> tuple[bytes, int]:
    """The quantized model, and how many samples it was calibrated with.

    Ranges are measured by the runtime itself as it runs, or, if that is to be done with care, by looking at
    every tensor after each run, which takes five times as long and knows more operators.
    """
    from ai_edge_quantizer import quantizer

    _silence_bars()
    warnings.simplefilter("ignore")  # that keeping all tensors takes memory: it is meant to
    engine = quantizer.Quantizer(content, list(recipe))
    ranges, count = None, 0
    if engine.need_calibration:
        ranges, count = _calibrated(content, recipe, signature, samples or (), careful)
        if not ranges:
            return content, count  # it has nothing for any operator, and would refuse to say so
    made = engine.quantize(ranges, enable_progress_bar=False, enable_progress_report=False)
    assert made.quantized_model is not None
    return bytes(made.quantized_model), count


def _silence_bars() -> None:
    """Progress is told by the caller: the quantizer's own bars are off, whatever the size of a model."""
    from ai_edge_quantizer.utils import progress_utils

    class Silent(progress_utils.ProgressBar):  # type: ignore[misc,unused-ignore]
        def __init__(self, *words: Any, **named: Any) -> None:
            super().__init__(*words, **{**named, "enable": False})

    if progress_utils.ProgressBar.__name__ != Silent.__name__:
        progress_utils.ProgressBar = Silent


def _calibrated(
    content: bytes,
    recipe: Sequence[Mapping[str, Any]],
    signature: str | None,
    samples: Iterable[Mapping[str, Any]],
    careful: bool,
) -> tuple[Any, int]:
    """The ranges of all tensors over the samples.

    Each sample is a data set of its own: given all at once, the calibrator would make a list of them first.
    Ranges are the least and greatest value of any sample, as TensorFlow's converter takes them; the moving
    average that the calibrator has by itself nearly forgets all but the first sample.
    """
    from ai_edge_quantizer import calibrator, recipe_manager
    from ai_edge_quantizer.utils import qsv_utils

    manager = recipe_manager.RecipeManager()
    manager.load_quantization_recipe(list(recipe))
    own = any(row["algorithm_key"] not in (_PLAIN, "no_quantize") for row in recipe)
    kinds = calibrator.CalibrationMode
    looking = own or careful
    options = {} if own else {"qsv_update_func": qsv_utils.min_max_update}
    options["mode"] = kinds.CALIBRATION_PRESERVE_ALL_TENSORS if looking else kinds.CALIBRATION_PROFILER_BASED
    watcher = calibrator.Calibrator(content, num_threads=os.cpu_count() or 1, **options)
    count = 0
    for sample in samples:
        watcher.calibrate({signature: [dict(sample)]}, manager)
        count += 1
    return watcher.get_model_qsvs(), count
