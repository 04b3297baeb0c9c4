"""Runs a changed model on samples made for the original, and scores it by the user's metric in a worker.

    sample ─► parts of the batch ─► images scaled ─► quantized ─► invoke ─► dequantized ─► joined again

The engine is LiteRT's Interpreter or the drop-in for it: what is used here is the same in both.

    metric(predict)            a function of its own samples: predict(sample) gives the candidate's outputs
    metric(outputs, samples)   the candidate's outputs for the samples that `fit` was given, and those samples

The samples of a search: checked and written down once, read as often as candidates need them.
"""

import hashlib
import importlib.util
import inspect
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlive.interpreter.affine import affine_of, dequantize, quantize
from outlive.interpreter.judge import Judge
from outlive.model import Model
from outlive.quant.samples import Samples, load_arrays, random_samples

# Enough to tell candidates apart; what they cost needs samples of the user's.
_RANDOM_SAMPLES = 8


class SampleSet:
    """Samples in a folder; `digest` is theirs, `problem` says why there are none."""

    def __init__(self, given: Any, model: Model, folder: Path, judge: Judge) -> None:
        """Go through the samples once; `InputError` for one that cannot be used."""
        self._model, self._folder, self.judge = model, folder, judge
        self.is_random, self.problem, self.count = given is None, "", 0
        self._largest: dict[int, tuple[int, ...]] = {}
        folder.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256()
        try:
            source = random_samples(model, _RANDOM_SAMPLES) if given is None else given
            with Samples(source, model, judge, keep=False) as stream:
                for feed in stream:
                    self._store(feed, digest)
        except ValueError as error:
            if given is not None:
                raise
            self.problem = f"no samples given, and random inputs are not possible: {error}"
        self.digest = digest.hexdigest() if self.count else "none"

    def __iter__(self) -> Iterator[list[NDArray[Any]]]:
        """Every sample, a value for each input in the original's order."""
        for number in range(self.count):
            yield list(load_arrays(self._path(number)))

    def largest(self, place: int) -> tuple[int, ...]:
        """The largest shape in which the samples give an input; empty if there are none."""
        return self._largest.get(place, ())

    def for_quantizer(self, model: Model | None = None) -> Samples | None:
        """The samples as the quantizer takes them; None if there are none.

        For a `model` with other shapes, in portions of its batch and in the size of its pictures.
        """
        if not self.count:
            return None
        shapes = [tensor.shape for tensor in (model or self._model).inputs]
        if model is None or shapes == [tensor.shape for tensor in self._model.inputs]:
            return Samples(lambda: iter(self), self._model, self.judge)
        pieces = lambda: (piece for feed in self for piece in in_portions(feed, shapes))  # noqa: E731
        return Samples(pieces, model, self.judge)

    def _store(self, feed: tuple[NDArray[Any], ...], digest: Any) -> None:
        for place, value in enumerate(feed):
            if value.dtype.kind == "O":
                raise ValueError("samples of text cannot be kept for a search")
            self._largest[place] = max(self._largest.get(place, ()), value.shape, key=_elements)
            digest.update(f"{value.dtype.str}{value.shape}".encode())
            digest.update(np.ascontiguousarray(value).tobytes())
        np.savez(self._path(self.count), *feed)
        self.count += 1

    def _path(self, number: int) -> Path:
        return self._folder / f"sample-{number}.npz"


def _elements(shape: tuple[int, ...]) -> int:
    """How many values a shape holds; less than any for none at all."""
    return math.prod(shape) if shape else -1


Values = list[NDArray[Any]]


class Predictor:
    """Runs an engine on samples that were made for the original model; outputs come as real numbers."""

    def __init__(self, engine: Any, names: Sequence[str], before: Callable[[], None] = lambda: None) -> None:
        """Tensors are allocated here; `names` are those of the original's inputs, in its order.

        `before` is called before each run, and may raise.
        """
        self._engine, self._before = engine, before
        engine.allocate_tensors()
        self._rows = _in_order(engine.get_input_details(), names)
        self._names = list(names)
        self._outputs = engine.get_output_details()

    def __call__(self, sample: Any) -> Values:
        """The outputs for one sample, in the model's order."""
        values = self._by_input(sample)
        portions = self._portions(values)
        found = [self._run([value[part] if value.ndim else value for value in values]) for part in portions]
        if len(found) == 1:
            return found[0]
        return [np.concatenate([outputs[place] for outputs in found]) for place in range(len(self._outputs))]

    def _by_input(self, sample: Any) -> Values:
        if isinstance(sample, Mapping):
            missing = [name for name in self._names if name not in sample]
            if missing:
                raise ValueError(f"a sample has no value for input {missing[0][:80]!r}")
            return [np.asarray(sample[name]) for name in self._names]
        several = isinstance(sample, (list, tuple)) and len(sample) == len(self._rows)
        values = [np.asarray(value) for value in (sample if several else [sample])]
        if len(values) != len(self._rows):
            raise ValueError(f"the model has {len(self._rows)} inputs: give a value for each")
        # A single picture or row is a batch of one.
        pairs = zip(values, self._rows, strict=True)
        return [value[None] if value.ndim + 1 == len(row["shape"]) else value for value, row in pairs]

    def _portions(self, values: Values) -> list[slice]:
        """The parts of the batch that fit the model's; all of it at once where nothing has to be divided."""
        given, taken = _batches(values, [tuple(row["shape"]) for row in self._rows])
        if given <= taken or given % max(taken, 1):
            return [slice(None)]
        return [slice(start, start + taken) for start in range(0, given, taken)]

    def _run(self, values: Values) -> Values:
        self._before()
        for value, row in zip(values, self._rows, strict=True):
            shape = tuple(int(size) for size in row["shape"])
            self._engine.set_tensor(row["index"], _as_taken(scaled(value, shape), row))
        self._engine.invoke()
        return [_real(row, self._engine.get_tensor(row["index"])) for row in self._outputs]


def in_portions(values: Values, shapes: Sequence[tuple[int, ...]]) -> Iterator[Values]:
    """A sample as inputs of these shapes take it; what is left of a batch that cannot be divided is not."""
    given, taken = _batches(values, shapes)
    for start in range(0, max(given - taken, 0) + 1, max(taken, 1)):
        part = slice(start, start + taken) if given > taken else slice(None)
        pieces = (value[part] if value.ndim else value for value in values)
        yield [scaled(piece, shape) for piece, shape in zip(pieces, shapes, strict=True)]


def _batches(values: Values, shapes: Sequence[tuple[int, ...]]) -> tuple[int, int]:
    """The batch that is given, and the one that is taken; 1 and 1 where inputs do not share one."""
    sizes = {
        (value.shape[0], int(shape[0]))
        for value, shape in zip(values, shapes, strict=True)
        if value.ndim and len(shape) == value.ndim
    }
    return sizes.pop() if len(sizes) == 1 else (1, 1)


def scaled(value: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Pictures in another size: each new dot is the mean of what it covers. Others stay as they are."""
    if value.ndim != 4 or len(shape) != 4 or value.shape[1:3] == shape[1:3]:
        return value
    rows, columns = (_cover(value.shape[axis], shape[axis]) for axis in (1, 2))
    made = np.einsum("ih,bhwc,jw->bijc", rows, value.astype(np.float64), columns, optimize=True)
    found: NDArray[Any] = (np.rint(made) if value.dtype.kind in "iu" else made).astype(value.dtype)
    return found


def _cover(old: int, new: int) -> NDArray[Any]:
    """How much of each old dot each new one takes; rows sum to 1."""
    edges = np.arange(new + 1) * (old / new)
    low, high = edges[:-1, None], edges[1:, None]
    dots = np.arange(old)[None, :]
    shared = np.clip(np.minimum(high, dots + 1) - np.maximum(low, dots), 0, None)
    found: NDArray[Any] = shared / shared.sum(axis=1, keepdims=True)
    return found


def _as_taken(value: NDArray[Any], row: Mapping[str, Any]) -> NDArray[Any]:
    affine = affine_of(row)
    if affine.is_quantized and value.dtype.kind == "f":
        return quantize(affine, value)
    wanted = np.dtype(row["dtype"])
    return value if value.dtype == wanted or wanted.kind in "OSU" else value.astype(wanted)


def _real(row: Mapping[str, Any], value: Any) -> NDArray[Any]:
    """The real numbers of a quantized output; whole numbers and the rest as they are."""
    affine = affine_of(row)
    found: NDArray[Any] = dequantize(affine, value) if affine.is_quantized else np.asarray(value)
    return found


def _in_order(rows: list[dict[str, Any]], names: Sequence[str]) -> list[dict[str, Any]]:
    """The model's inputs as the original has them: by name where all are there, else as they come."""
    by_name = {str(row["name"]): row for row in rows}
    if len(by_name) == len(names) and all(name in by_name for name in names):
        return [by_name[name] for name in names]
    return list(rows)


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
        raise ValueError(f"Python file not found: {path!r}")
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
