"""What runs in the worker of a metric: the runtime, the candidate's model, and the user's function.

metric(predict)            a function of its own samples: predict(sample) gives the candidate's outputs
metric(outputs, samples)   what the candidate makes of the samples that `fit` was given, and those samples
"""

from __future__ import annotations

import importlib.util
import inspect
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from outlive.fitting.adapting import Predictor

Metric = Callable[..., Any]


def score_model(
    path: str,
    settings: Mapping[str, Any],
    names: Sequence[str],
    metric: Metric | str,
    samples: Iterable[Any] | None,
) -> tuple[float, bool]:
    """The metric's number for one model, and whether it is about `samples`; ValueError if it is no number."""
    function = load_metric(metric) if isinstance(metric, str) else metric
    predict = Predictor(_engine(path, settings), names)

    def plain(sample: Any) -> Any:
        found = predict(sample)
        return found[0] if len(found) == 1 else found

    on_samples = count_arguments(function) > 1
    if not on_samples:
        value = function(plain)
    else:
        given = [one[0] if len(one) == 1 else one for one in samples or ()]
        value = function([plain(one) for one in given], given)
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"the metric gave {value!r:.80}, and not a number") from None
    if not math.isfinite(number):
        raise ValueError(f"the metric gave {number}, which cannot be compared")
    return number, on_samples


def count_arguments(function: Metric) -> int:
    """How many values a metric takes: 1 (predict) or 2 (outputs, samples); ValueError for others."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 2
    needed = [one for one in parameters if one.kind in kinds and one.default is inspect.Parameter.empty]
    if len(needed) not in (1, 2):
        raise ValueError(
            f"a metric takes (predict) or (outputs, samples); this one needs {len(needed)} values"
        )
    return len(needed)


def load_metric(word: str) -> Metric:
    """The function that `file.py:name` names; ValueError if there is none."""
    path, _, name = word.rpartition(":")
    file = Path(path).resolve()
    spec = importlib.util.spec_from_file_location(f"outlive_metric_{file.stem}", file)
    if spec is None or spec.loader is None or not file.is_file():
        raise ValueError(f"there is no Python file {path!r}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.insert(0, str(file.parent))
    spec.loader.exec_module(module)
    found = getattr(module, name, None)
    if not callable(found):
        raise ValueError(f"{path} has no function {name!r}")
    return found  # type: ignore[no-any-return]


def _engine(path: str, settings: Mapping[str, Any]) -> Any:
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    resolver = OpResolverType[settings["resolver"]]
    return Interpreter(
        model_path=path, experimental_op_resolver_type=resolver, num_threads=settings["threads"]
    )
