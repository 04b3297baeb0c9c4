"""The drop-in for tf.lite.experimental.QuantizationDebugger: its names and results, outside of the caller.

converter      TensorFlow converts in a worker; its debug model is run in another
debug model    run in a worker
float model    quantized here by ai-edge-quantizer, compared operator by operator: no TensorFlow at all
both models    compared operator by operator
"""

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, ClassVar

from numpy.typing import NDArray

from outlive.model import Model, read_source
from outlive.quant.carried_converter import run_carried
from outlive.quant.comparison_plan import CompareTask
from outlive.quant.debugger_runs import (
    DEFAULTS,
    LayerError,
    LayerStatistics,
    Metric,
    RunningMeans,
    compare_run,
    feed_model,
    is_debug_model,
    outputs_of,
    verify_run,
)
from outlive.quant.quantization import QuantizeTask, quantize_model
from outlive.quant.rebuilt_converter import calibrated_carried
from outlive.quant.recipes import RECIPES, narrowed
from outlive.quant.samples import Samples
from outlive.quant.worker_functions import calibrated_models, quantized_model
from outlive.results import Result
from outlive.units import plural
from outlive.verbs.convert import carried_or_here
from outlive.verbs.guard import guarded
from outlive.verbs.interpreter import Interpreter
from outlive.verbs.judging import JUDGE

__all__ = ["QuantizationDebugOptions", "QuantizationDebugger"]

_CALIBRATED = (bytes, bytes | None, bool)
Dataset = Callable[[], Iterable[Sequence[NDArray[Any]]]]


@dataclass(eq=False)
class QuantizationDebugOptions:
    """The metrics and filters of a debugger; arguments as TensorFlow's."""

    layer_debug_metrics: Mapping[str, Metric] | None = None
    model_debug_metrics: Mapping[str, Metric] | None = None
    layer_direct_compare_metrics: Mapping[str, Metric] | None = None
    denylisted_ops: list[str] | None = None
    denylisted_nodes: list[str] | None = None
    fully_quantize: bool = False

    def __post_init__(self) -> None:
        """ValueError if two metrics have one name."""
        given = (self.layer_debug_metrics, self.model_debug_metrics, self.layer_direct_compare_metrics)
        names = [name for metrics in given for name in metrics or ()]
        if len(names) != len(set(names)):
            raise ValueError("Provided metrics have duplicate keys.")


class QuantizationDebugger(Result):
    """TensorFlow's QuantizationDebugger, call for call, in processes that are thrown away.

    With a converter it costs TensorFlow's conversion, in a worker. With a debug model, with a float and a
    quantized model, or with a float model alone (which is quantized here) it needs no TensorFlow.
    `worst()` is ours: the layers that lose most.
    """

    kind: ClassVar[str] = "debugger"

    def __init__(
        self,
        quant_debug_model_path: str | None = None,
        quant_debug_model_content: bytes | None = None,
        float_model_path: str | None = None,
        float_model_content: bytes | None = None,
        debug_dataset: Dataset | None = None,
        debug_options: QuantizationDebugOptions | None = None,
        converter: Any = None,
    ) -> None:
        """Quantize, if there is a converter or a float model only; ValueError if there is neither."""
        self._data_gen = debug_dataset
        self._debug_options = debug_options or QuantizationDebugOptions()
        self.converter = converter
        self.calibrated_model: bytes | None = None
        self._share_scales = False
        self.layer_statistics: dict[str, dict[str, float]] | None = None
        self.model_statistics: dict[str, float] | None = None
        self._found = LayerStatistics()
        self.float_model = _content(float_model_path, float_model_content)
        self.quant_model = _content(quant_debug_model_path, quant_debug_model_content)
        if converter is not None:
            self._convert()
        elif self.quant_model is None and self.float_model is None:
            raise ValueError("give a converter, a debug model, or a float model")
        self._quantize()

    def _summary(self) -> tuple[str, str]:
        if self.layer_statistics is None:
            return "", "not run yet"
        return "", plural(len(self.layer_statistics), "layer")

    @property
    def options(self) -> QuantizationDebugOptions:
        """The options; setting them quantizes anew, without calibrating again where that can be."""
        return self._debug_options

    @options.setter
    def options(self, options: QuantizationDebugOptions) -> None:
        """Quantize anew with other options."""
        self._debug_options = options
        self.layer_statistics = self.model_statistics = None
        self._quantize()

    def run(self) -> None:
        """Run the models on the dataset: fills `layer_statistics` and `model_statistics`."""
        metrics = {**DEFAULTS, **(self._debug_options.layer_debug_metrics or {})}
        direct = dict(self._debug_options.layer_direct_compare_metrics or {})
        assert self.quant_model is not None
        model = _read(self.quant_model)
        if is_debug_model(model):
            self._found = verify_run(self.quant_model, iter(self._dataset()), metrics, direct, guarded, JUDGE)
        else:
            task = CompareTask(reference=_read(self.float_model), candidate=model, judge=JUDGE)
            with Samples(self._data_gen, task.reference, JUDGE) as samples:
                self._found = compare_run(task, samples, metrics, direct)
        self.layer_statistics = {name: means.means() for name, means in self._found.layers.items()}
        if self._debug_options.model_debug_metrics:
            self.model_statistics = self._model_statistics(self._debug_options.model_debug_metrics)

    def worst(self, count: int = 10) -> tuple[LayerError, ...]:
        """The layers that lose most by quantization, the worst first; none before `run()`."""
        return () if self.layer_statistics is None else self._found.worst(count)

    def layer_statistics_dump(self, file: IO[str]) -> None:
        """Write the statistics of layers as CSV, in TensorFlow's columns."""
        names = [*DEFAULTS]
        for more in (
            self._debug_options.layer_debug_metrics,
            self._debug_options.layer_direct_compare_metrics,
        ):
            names += [name for name in more or () if name not in names]
        fields = ["op_name", "tensor_idx", *names, "scale", "zero_point", "tensor_name"]
        writer = csv.DictWriter(file, fields)
        writer.writeheader()
        for layer, metrics in (self.layer_statistics or {}).items():
            info = self._found.info[layer]
            facts = {name: getattr(info, name) for name in info.__slots__}
            writer.writerow({**metrics, **facts})

    def get_nondebug_quantized_model(self) -> bytes:
        """The quantized model without operators for debugging."""
        made = self.quant_model
        if self.calibrated_model is None and made is not None and not is_debug_model(_read(made)):
            return made
        return self._from_calibrated(debug=False)

    def get_debug_quantized_model(self) -> bytes:
        """The quantized model with TensorFlow's operators for debugging."""
        return self._from_calibrated(debug=True)

    def _dataset(self) -> Iterable[Sequence[NDArray[Any]]]:
        if self._data_gen is None:
            raise ValueError("give a debug_dataset: a function that gives the samples")
        return self._data_gen()

    def _convert(self) -> None:
        converter = self.converter
        if not converter.optimizations:
            raise ValueError("converter object must set optimizations to lite.Optimize.DEFAULT")
        if not converter.representative_dataset:
            raise ValueError("converter object must set representative_dataset")
        wanted = bool(self._debug_options.model_debug_metrics)
        work = guarded(calibrated_carried, plain=_CALIBRATED)
        made = carried_or_here(
            lambda: run_carried(converter, work, JUDGE, wanted), lambda: calibrated_models(converter, wanted)
        )
        self.calibrated_model, self.float_model, self._share_scales = made

    def _quantize(self) -> None:
        if self.calibrated_model is not None:
            self.quant_model = self._from_calibrated(debug=True)
            return
        if self.quant_model is None or getattr(self, "_made_here", False):
            self._made_here = True
            self.quant_model = self._from_float()
        model = _read(self.quant_model)
        if not is_debug_model(model) and self.float_model is None:
            raise ValueError("Please check if the quantized model is in debug mode")

    def _from_float(self) -> bytes:
        """The float model quantized by ai-edge-quantizer, without what the options leave out."""
        model, options = _read(self.float_model), self._debug_options
        known = {step.name for step in model.operators()}
        skip = [name for name in options.denylisted_ops or () if name in known]
        skip += list(options.denylisted_nodes or ())
        recipe = narrowed(
            RECIPES["static-int8"], model, skip, (), "int8" if options.fully_quantize else "float"
        )
        order = QuantizeTask(model=model, name="static-int8", recipe=recipe, judge=JUDGE, skip=tuple(skip))
        with Samples(self._data_gen, model, JUDGE) as samples:
            return quantize_model(order, samples, guarded, lambda _: None).model

    def _from_calibrated(self, *, debug: bool) -> bytes:
        if self.calibrated_model is None:
            raise ValueError(
                "No converter found, use this function with the converter option in the constructor."
            )
        options = self._debug_options
        made: bytes = guarded(quantized_model, plain=bytes)(
            self.calibrated_model,
            self._share_scales,
            options.denylisted_ops,
            options.denylisted_nodes,
            options.fully_quantize,
            debug,
        )
        return made

    def _model_statistics(self, metrics: Mapping[str, Metric]) -> dict[str, float]:
        means = RunningMeans()
        assert self.quant_model is not None
        if self.float_model is None:
            raise ValueError("metrics of the whole model need the float model as well")
        with (
            Interpreter(model_content=self.quant_model) as candidate,
            Interpreter(model_content=self.float_model) as reference,
        ):
            for number, feed in enumerate(self._dataset()):
                for engine in (candidate, reference):
                    feed_model(engine, feed, first=number == 0)
                    engine.invoke()
                means.add(metrics, outputs_of(reference), outputs_of(candidate))
        return means.means()


def _content(path: str | None, content: bytes | None) -> bytes | None:
    return Path(path).read_bytes() if path is not None else content


def _read(content: bytes | None) -> Model:
    found = None if content is None else read_source(content).model
    if found is None:
        raise ValueError("that is not a model")
    return found
