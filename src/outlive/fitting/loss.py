"""What candidates lose: by the user's metric, or against the original's outputs, which are computed once."""

import contextlib
import hashlib
import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlive.cache import ResultCache
from outlive.errors import LimitReached, OutliveError, RunError
from outlive.fitting.candidate_builder import Built, words_of
from outlive.fitting.fit_result import Candidate, Loss
from outlive.fitting.predictor import Predictor, SampleSet, score_model
from outlive.guarding.guarded import Guarded
from outlive.interpreter.interpreter import WorkerInterpreter
from outlive.interpreter.interpreter_options import ACCELERATORS
from outlive.model import Model
from outlive.quant.drift import decibels
from outlive.quant.error_statistics import count_agreeing
from outlive.quant.samples import load_arrays

CHOICE, WHOLE, REAL = "choice", "whole", "real"
# What an output is passed through on its way out that does not change what it means.
_PASSING = frozenset({"DEQUANTIZE", "QUANTIZE", "RESHAPE", "SQUEEZE", "EXPAND_DIMS", "CAST"})
_CHOOSING = frozenset({"SOFTMAX", "LOG_SOFTMAX"})


def output_kinds(model: Model) -> tuple[str, ...]:
    """What each output is: a choice (the end is a softmax), whole numbers, or real ones."""
    main = model.subgraphs[0]
    makers = main.producers()
    found = []
    for tensor in main.outputs:
        index = tensor.index
        while index in makers and main.operators[makers[index]].type in _PASSING:
            index = main.operators[makers[index]].inputs[0]
        maker = main.operators[makers[index]].type if index in makers else ""
        quantized = tensor.quantization is not None and bool(tensor.quantization.scales)
        whole = not tensor.dtype.startswith(("float", "bfloat")) and not quantized
        found.append(CHOICE if maker in _CHOOSING else WHOLE if whole else REAL)
    return tuple(found)


@dataclass(slots=True)
class _OutputLoss:
    """One output, added up sample by sample."""

    kind: str
    values: int = 0
    different: int = 0
    rows: int = 0
    agreeing: int = 0
    signal: float = 0.0
    noise: float = 0.0
    odd: bool = False

    def add(self, wanted: NDArray[Any], found: NDArray[Any]) -> None:
        self.values += wanted.size
        self.different += int(np.count_nonzero(wanted != found))
        if wanted.dtype.kind not in "biuf" or found.dtype.kind not in "biuf":
            return
        agreeing, rows = count_agreeing(wanted, found)
        self.agreeing += agreeing
        self.rows += rows
        truth, seen = wanted.astype(np.float64), found.astype(np.float64)
        finite = np.isfinite(truth)
        self.odd |= not bool(np.isfinite(seen[finite]).all())
        if not self.odd:
            self.signal += float(np.square(truth[finite]).sum())
            self.noise += float(np.square(seen[finite] - truth[finite]).sum())

    @property
    def agreement(self) -> float | None:
        return self.agreeing / self.rows if self.rows else None

    @property
    def sqnr_db(self) -> float | None:
        return None if self.odd or not self.values else decibels(self.signal, self.noise)

    @property
    def loss(self) -> float:
        if self.odd:
            return 1.0
        if self.kind == CHOICE and self.rows:
            return 1 - self.agreeing / self.rows
        if self.kind == WHOLE:
            return self.different / self.values if self.values else 0.0
        if not self.noise:
            return 0.0
        return min(1.0, math.sqrt(self.noise / self.signal)) if self.signal else 1.0


class OutputsIncomparable(ValueError):
    """Outputs that cannot be held against each other; the text says why."""


class OutputComparison:
    """Compares a candidate's outputs with the original's."""

    def __init__(self, kinds: Sequence[str]) -> None:
        """Begin with nothing seen; `kinds` says what each output is."""
        self._sums = [_OutputLoss(kind) for kind in kinds]

    def add(self, wanted: Sequence[NDArray[Any]], found: Sequence[NDArray[Any]]) -> None:
        """One sample."""
        if len(wanted) != len(found):
            raise OutputsIncomparable(f"it has {len(found)} outputs, and the original {len(wanted)}")
        for sums, theirs, ours in zip(self._sums, wanted, found, strict=True):
            if theirs.shape != ours.shape:
                shapes = f"{_shape(ours)} instead of {_shape(theirs)}"
                raise OutputsIncomparable(
                    f"an output has the shape {shapes}: only a metric can say what that costs"
                )
            sums.add(theirs, ours)

    def loss(self) -> Loss:
        """What it comes to: the worst output."""
        sums = self._sums
        agreements = [one.agreement for one in sums if one.agreement is not None and one.kind == CHOICE]
        decibels = [one.sqnr_db for one in sums if one.sqnr_db is not None]
        worst = max((one.loss for one in sums), default=0.0)
        return Loss(
            loss=worst,
            loss_share=worst,
            agreement=min(agreements, default=None),
            sqnr_db=min(decibels, default=None),
        )


def describe_loss(kinds: Sequence[str]) -> str:
    """How loss is counted, in words."""
    words = {
        CHOICE: "share of samples with a different top-1",
        WHOLE: "the share of values that differ",
        REAL: "error relative to the signal",
    }
    return ", ".join(words[kind] for kind in dict.fromkeys(kinds)) + (
        ", the worst output" if len(kinds) > 1 else ""
    )


def loss_by_score(original: float, candidate: float) -> Loss:
    """The loss by a metric: what is missing to the original's score, and which part of it that is.

    Scores between 0 and 1 are shares themselves.
    """
    lost = max(0.0, original - candidate)
    is_share = 0 <= original <= 1
    share = lost if is_share else lost / abs(original)
    return Loss(loss=lost, loss_share=share, score=candidate)


def _shape(value: NDArray[Any]) -> str:
    return "x".join(map(str, value.shape)) or "scalar"


Metric = Callable[..., Any] | str
_KEPT = "original"
_MOST_WORDS = 300


class LossUnknown(Exception):
    """A loss that cannot be found out; the text says why."""


class TimeIsUp(LossUnknown):
    """A loss that is not known because time limit reached."""

    def __init__(self) -> None:
        """In words."""
        super().__init__("time limit reached")


class MetricFailed(ValueError):
    """A metric that does not even work with the original; the text says how it ended."""


class LossMeter:
    """Finds out what a candidate loses; `by` says how that is counted."""

    def __init__(
        self,
        model: Model,
        original: Built,
        sample_set: SampleSet,
        cache: ResultCache,
        folder: Path,
        metric: Metric | None = None,
        seconds_left: Callable[[], float | None] = lambda: None,
        is_over: Callable[[], bool] = lambda: False,
    ) -> None:
        """Nothing is run yet; `is_over` says whether the time is up."""
        self._model, self._original, self._sample_set, self._cache = model, original, sample_set, cache
        self._folder, self._metric, self._seconds_left = folder, metric, seconds_left
        self._names = [tensor.name for tensor in model.inputs]
        self._kinds = output_kinds(model)
        self._digest = "" if metric is None else digest_of(metric)
        self._ready, self._is_over = False, is_over
        self.original_score: float | None = None
        # Whether the metric is about the samples that were given; one of its own samples is not.
        self.is_on_samples = metric is None

    @property
    def by(self) -> str:
        """How loss is counted, in words."""
        if self._metric is None:
            return describe_loss(self._kinds)
        name = self._metric if isinstance(self._metric, str) else getattr(self._metric, "__name__", "metric")
        return f"{name}: the original's score less the candidate's"

    def prepare(self) -> None:
        """Run the original on all samples, or score it. `LossUnknown` if it does not run."""
        if self._ready:
            return
        if self._metric is not None:
            try:
                self.original_score = self._score(self._original, Candidate())
            except TimeIsUp:
                raise
            except LossUnknown as error:
                raise MetricFailed(f"with the original, {error}") from error
        elif not self._sample_set.count:
            raise LossUnknown(self._sample_set.problem or "there are no samples")
        else:
            self._run_original()
        self._ready = True

    def loss(self, built: Built, candidate: Candidate) -> Loss:
        """What it loses. `LossUnknown` if that cannot be found out."""
        if self._metric is not None:
            self.prepare()
            assert self.original_score is not None
            return loss_by_score(self.original_score, self._score(built, candidate))
        key = ("loss", self._model.sha256, *self._key(built, candidate), self._sample_set.digest)
        note = self._cache.recall(*key)
        if set(note) == {"loss", "agreement", "sqnr_db"} and isinstance(note["loss"], float):
            return Loss(**note, loss_share=note["loss"])
        self.prepare()
        found = self._judged(built, candidate)
        numbers = {"loss": found.loss, "agreement": found.agreement, "sqnr_db": found.sqnr_db}
        self._cache.keep(numbers, *key)
        return found

    def _key(self, built: Built, candidate: Candidate) -> tuple[object, ...]:
        return built.model.sha256, candidate.accelerator, candidate.threads

    def _judged(self, built: Built, candidate: Candidate) -> Loss:
        comparison = OutputComparison(self._kinds)
        try:
            with self._predictor(built, candidate) as predict:
                for number, sample in enumerate(self._sample_set):
                    comparison.add(load_arrays(self._path(number)), predict(sample))
        except OutputsIncomparable as error:
            raise LossUnknown(str(error)) from error
        except (OutliveError, RuntimeError, ValueError) as error:
            raise self._unknown("it does not run on the samples", error) from error
        return comparison.loss()

    def _go_on(self) -> None:
        """`TimeIsUp` if it is."""
        if self._is_over():
            raise TimeIsUp

    def _unknown(self, what: str, error: Exception) -> LossUnknown:
        """Why there is no loss, in one line."""
        if self._is_over() and isinstance(error, LimitReached):
            return TimeIsUp()
        return LossUnknown(f"{what}: {words_of(error)}")

    @contextlib.contextmanager
    def _predictor(self, built: Built, candidate: Candidate) -> Iterator[Predictor]:
        engine = WorkerInterpreter(
            model_path=built.path,
            experimental_op_resolver_type=ACCELERATORS[_kernels(candidate)],
            num_threads=candidate.threads,
            seconds=self._seconds_left(),
            _judge=self._sample_set.judge,
        )
        with contextlib.closing(engine):
            yield Predictor(engine, self._names, self._go_on)

    def _run_original(self) -> None:
        """The outputs of the original, in files; by LiteRT's own kernels where XNNPACK does not take it."""
        on = "seeded random inputs" if self._sample_set.is_random else "the samples"
        problem = LossUnknown(f"the original does not run on {on}")
        for kernels in ("cpu", "builtin"):
            try:
                return self._store_outputs(Candidate(accelerator=kernels))
            except (OutliveError, RuntimeError, ValueError) as error:
                problem = self._unknown(f"the original does not run on {on}", error)
                if not isinstance(error, RunError) or isinstance(problem, TimeIsUp):
                    break
        raise problem

    def _store_outputs(self, candidate: Candidate) -> None:
        with self._predictor(self._original, candidate) as predict:
            for number, sample in enumerate(self._sample_set):
                np.savez(self._path(number), *predict(sample))

    def _path(self, number: int) -> Path:
        return self._folder / f"{_KEPT}-{number}.npz"

    def _score(self, built: Built, candidate: Candidate) -> float:
        key = ("score", *self._key(built, candidate), self._digest, self._sample_set.digest)
        note = self._cache.recall(*key)
        if isinstance(note.get("score"), float) and isinstance(note.get("on_samples"), bool):
            self.is_on_samples = note["on_samples"]
            return float(note["score"])
        self._go_on()
        settings = {"resolver": ACCELERATORS[_kernels(candidate)].name, "threads": candidate.threads}
        judge, seconds = self._sample_set.judge, self._seconds_left()
        score = Guarded(score_model, judge=judge, seconds=seconds, quiet=True, plain=(float, bool))
        assert self._metric is not None
        try:
            found, on_samples = score(built.path, settings, self._names, self._metric, list(self._sample_set))
        except OutliveError as error:
            raise self._unknown("the metric could not be computed", error) from error
        except Exception as error:  # whatever the user's function raises
            said = " ".join(f"{type(error).__name__}: {error}".split())[:_MOST_WORDS]
            raise LossUnknown(f"the metric failed: {said}") from error
        self.is_on_samples = bool(on_samples)
        self._cache.keep({"score": found, "on_samples": self.is_on_samples}, *key)
        return float(found)


def _kernels(candidate: Candidate) -> str:
    """What a loss is measured with: for TensorFlow Lite Micro the kernels that its own were made from."""
    return "reference" if candidate.accelerator == "tflm" else candidate.accelerator


def digest_of(metric: Metric) -> str:
    """What tells a metric from another: its text and all it carries along."""
    digest = hashlib.sha256()
    if isinstance(metric, str):
        path, _, name = metric.rpartition(":")
        digest.update(name.encode())
        digest.update(Path(path).read_bytes())
        return digest.hexdigest()
    import cloudpickle

    digest.update(cloudpickle.dumps(metric))
    with contextlib.suppress(OSError, TypeError):
        digest.update(Path(inspect.getsourcefile(metric) or "").read_bytes())
    return digest.hexdigest()
