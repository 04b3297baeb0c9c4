"""Runs of a debugger: layer by layer the metrics of every sample, kept as running means.

a debug model (it has NumericVerify operators) ──► run it, read what they found
a float and a quantized model ──► `Comparison`: each operator alone, on what the quantized one got
"""

import importlib
import math
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlive.interpreter.affine import affine_of, dequantize, quantize
from outlive.interpreter.interpreter import WorkerInterpreter
from outlive.interpreter.judge import Judge
from outlive.model import Model, Operator, read_source
from outlive.quant.comparison import ModelComparison
from outlive.quant.comparison_plan import CompareTask
from outlive.quant.quantization import Guard
from outlive.quant.samples import Samples
from outlive.quant.tensor_graph import TensorPair, grid

VERIFY = "NumericVerify"
Metric = Callable[..., float]
Metrics = Mapping[str, Metric]
DEFAULTS: dict[str, Metric] = {
    "num_elements": lambda diffs: diffs.size,
    "stddev": np.std,
    "mean_error": np.average,
    "max_abs_error": lambda diffs: np.max(np.abs(diffs)),
    "mean_squared_error": lambda diffs: np.average(diffs**2),
}


@dataclass(slots=True)
class RunningMeans:
    """Running means by name; what is NaN is left out, as numpy's nanmean does."""

    sums: dict[str, tuple[float, int]] = field(default_factory=dict)

    def add(self, metrics: Metrics, *values: Any) -> None:
        """The metrics of one more sample."""
        for name, metric in metrics.items():
            value = float(metric(*values))
            total, count = self.sums.get(name, (0.0, 0))
            self.sums[name] = (total, count) if math.isnan(value) else (total + value, count + 1)

    def means(self) -> dict[str, float]:
        """What they come to."""
        return {name: total / count if count else math.nan for name, (total, count) in self.sums.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerInfo:
    """What the table of layers says of one beside its metrics."""

    op_name: str
    tensor_idx: int
    tensor_name: str
    scale: float
    zero_point: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerError:
    """What a layer loses: the root of its mean squared error in steps of its scale; rounding gives 0.29."""

    op_name: str
    tensor_name: str
    tensor_idx: int
    rmse_over_scale: float


@dataclass(slots=True)
class LayerStatistics:
    """Statistics of layers by the names TensorFlow gives them, and what they are."""

    layers: dict[str, RunningMeans] = field(default_factory=dict)
    info: dict[str, LayerInfo] = field(default_factory=dict)

    def worst(self, count: int) -> tuple[LayerError, ...]:
        """The layers that lose most, the worst first; without those whose scale or error is no number."""
        rows = []
        for name, means in self.layers.items():
            info, squared = self.info[name], means.means().get("mean_squared_error", math.nan)
            steps = math.sqrt(squared) / info.scale if info.scale > 0 and squared >= 0 else math.nan
            if math.isfinite(steps):
                known = {key: getattr(info, key) for key in ("op_name", "tensor_name", "tensor_idx")}
                rows.append(LayerError(rmse_over_scale=steps, **known))
        return tuple(sorted(rows, key=lambda row: -row.rmse_over_scale)[:count])


def is_debug_model(model: Model) -> bool:
    """True if the model compares its layers with float twins by itself."""
    return any(step.name == VERIFY for step in model.operators())


def verify_run(
    content: bytes,
    samples: Iterator[Sequence[NDArray[Any]]],
    metrics: Metrics,
    direct: Metrics,
    guard: Guard,
    judge: Judge,
) -> LayerStatistics:
    """Run a debug model and take what its NumericVerify operators found.

    TensorFlow's own metrics are worked out where the model runs; others see the values here.
    """
    found, steps = _described(content)
    if dict(metrics) == DEFAULTS and not direct:
        loaded = "tensorflow" in sys.modules
        module = f"{'tensorflow.lite.python' if loaded else 'ai_edge_litert'}.interpreter"
        work = guard(verified_means, plain=[[float]], quiet=True)
        rows = work(content, samples, [step.outputs[0] for step in steps.values()], module)
        for name, row in zip(found.layers, rows, strict=True):
            found.layers[name] = RunningMeans(
                {key: (mean, 1) for key, mean in zip(DEFAULTS, row, strict=True)}
            )
        return found
    with WorkerInterpreter(
        model_content=content, experimental_preserve_all_tensors=bool(direct), _judge=judge
    ) as engine:
        for number, feed in enumerate(samples):
            feed_model(engine, feed, first=number == 0)
            engine.invoke()
            for name, step in steps.items():
                _measure(engine, step, found.info[name], found.layers[name], metrics, direct)
    return found


def verified_means(
    content: bytes, samples: Iterable[Sequence[Any]], indices: list[int], module: str
) -> list[list[float]]:
    """In a worker, a debug model's run: for each of these tensors the means of `DEFAULTS`, in their order."""
    means = [RunningMeans() for _ in indices]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # TensorFlow's interpreter says that it will go
        engine = importlib.import_module(module).Interpreter(model_content=content)
        for number, feed in enumerate(samples):
            feed_model(engine, feed, first=number == 0)
            engine.invoke()
            for index, found in zip(indices, means, strict=True):
                found.add(DEFAULTS, engine.get_tensor(index))
    return [[found.means().get(name, math.nan) for name in DEFAULTS] for found in means]


def _described(content: bytes) -> tuple[LayerStatistics, dict[str, Operator]]:
    """What the table of layers says of each NumericVerify operator, and those operators by their names."""
    model = read_source(content).model
    assert model is not None, "it is a debug model"
    graph, found = model.subgraphs[0], LayerStatistics()
    writers = {out: step.name for step in graph.operators for out in step.outputs}
    verify = [step for step in graph.operators if step.name == VERIFY]
    steps = {graph.tensors[step.outputs[0]].name: step for step in verify}
    for name, step in steps.items():
        given = graph.tensors[step.inputs[0]]
        span = given.quantization
        # The name in `NumericVerify/{name}:{index}`, without a digit at its end, as TensorFlow tells it.
        bare = name.rsplit(":", 1)[0].removeprefix(f"{VERIFY}/")
        found.layers[name] = RunningMeans()
        found.info[name] = LayerInfo(
            op_name=writers.get(given.index, ""),
            tensor_idx=given.index,
            tensor_name=bare[:-1] if bare[-1:].isdigit() else bare,
            scale=span.scales[0] if span is not None and span.scales else math.nan,
            zero_point=span.zero_points[0] if span is not None and span.zero_points else 0,
        )
    return found, steps


def _measure(
    engine: WorkerInterpreter,
    step: Operator,
    info: LayerInfo,
    means: RunningMeans,
    metrics: Metrics,
    direct: Metrics,
) -> None:
    means.add(metrics, engine.get_tensor(step.outputs[0]))
    if direct:
        integers, reals = (engine.get_tensor(place) for place in step.inputs)
        means.add(direct, reals, integers, info.scale, info.zero_point)


def compare_run(task: CompareTask, samples: Samples, metrics: Metrics, direct: Metrics) -> LayerStatistics:
    """Hold each operator of the candidate against the reference's, on what the candidate's got."""
    found = LayerStatistics()
    tensors, steps = task.candidate.subgraphs[0].tensors, task.candidate.subgraphs[0].operators

    def watch(pair: TensorPair, wanted: NDArray[Any], real: NDArray[Any], integers: NDArray[Any]) -> None:
        tensor = tensors[pair.candidate]
        span = grid(tensor)
        if span is None or pair.candidate_op is None:
            return
        name = f"{VERIFY}/{tensor.name}:{tensor.index}"
        means = found.layers.setdefault(name, RunningMeans())
        found.info[name] = LayerInfo(
            op_name=steps[pair.candidate_op].name,
            tensor_idx=tensor.index,
            tensor_name=tensor.name,
            scale=span.scale,
            zero_point=span.zero_point,
        )
        means.add(metrics, real - wanted)
        means.add(direct, wanted, integers, span.scale, span.zero_point)

    ModelComparison(replace(task, watch=watch)).run(samples)
    order = sorted(found.layers, key=lambda name: found.info[name].tensor_idx)
    found.layers = {name: found.layers[name] for name in order}
    return found


def feed_model(engine: WorkerInterpreter, feed: Sequence[NDArray[Any]], *, first: bool) -> None:
    """Set the inputs, in their order; real numbers are quantized for inputs that want integers."""
    rows = engine.get_input_details()
    if len(rows) != len(feed):
        known = f"does not match number of inputs to the model ({len(rows)})"
        raise ValueError(f"Number of inputs provided ({len(feed)}) {known}")
    if first:
        for row, value in zip(rows, feed, strict=True):
            engine.resize_tensor_input(row["index"], np.asarray(value).shape)
        engine.allocate_tensors()
    for row, value in zip(rows, feed, strict=True):
        array = np.asarray(value)
        parameters = affine_of(row)
        if array.dtype == np.float32 and parameters.is_quantized:
            array = quantize(parameters, array)
        engine.set_tensor(row["index"], array)


def outputs_of(engine: WorkerInterpreter) -> list[NDArray[Any]]:
    """The outputs, as real numbers."""
    rows = engine.get_output_details()
    return [dequantize(affine_of(row), engine.get_tensor(row["index"])) for row in rows]
