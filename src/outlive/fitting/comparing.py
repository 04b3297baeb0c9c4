"""What candidates lose, each against the original: its outputs are computed once and kept in files."""

from __future__ import annotations

import contextlib
import hashlib
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlive.cache import ResultCache
from outlive.errors import LimitReached, OutliveError, RunError
from outlive.fitting.adapting import Predictor
from outlive.fitting.building import Built
from outlive.fitting.losing import Incomparable, Judging, describe, output_kinds, scored
from outlive.fitting.nouns import Candidate, Loss
from outlive.fitting.reconverting import words_of
from outlive.fitting.sample_set import SampleSet
from outlive.fitting.scoring_child import score_model
from outlive.guarding.guarded import make_guarded
from outlive.interpreter.interpreter import WorkerInterpreter
from outlive.interpreter.options import ACCELERATORS
from outlive.model import Model

Metric = Callable[..., Any] | str
_KEPT = "original"
_MOST_WORDS = 300


class Unknown(Exception):
    """A loss that cannot be found out; the text says why."""


class TimeIsUp(Unknown):
    """A loss that is not known because the time was up."""

    def __init__(self) -> None:
        """In words."""
        super().__init__("the time was up")


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
            return describe(self._kinds)
        name = self._metric if isinstance(self._metric, str) else getattr(self._metric, "__name__", "metric")
        return f"{name}: the original's score less the candidate's"

    def prepare(self) -> None:
        """Run the original on all samples, or score it. `Unknown` if it does not run."""
        if self._ready:
            return
        if self._metric is not None:
            try:
                self.original_score = self._score(self._original, Candidate())
            except TimeIsUp:
                raise
            except Unknown as error:
                raise MetricFailed(f"with the original, {error}") from error
        elif not self._sample_set.count:
            raise Unknown(self._sample_set.problem or "there are no samples")
        else:
            self._run_original()
        self._ready = True

    def loss(self, built: Built, candidate: Candidate) -> Loss:
        """What it loses. `Unknown` if that cannot be found out."""
        if self._metric is not None:
            self.prepare()
            assert self.original_score is not None
            return scored(self.original_score, self._score(built, candidate))
        key = ("loss", self._model.sha256, *self._key(built, candidate), self._sample_set.digest)
        note = self._cache.recall(*key)
        if _is_loss(note):
            return Loss(**note, share=note["value"])
        self.prepare()
        found = self._judged(built, candidate)
        numbers = {"value": found.value, "agreement": found.agreement, "sqnr_db": found.sqnr_db}
        self._cache.keep(numbers, *key)
        return found

    def _key(self, built: Built, candidate: Candidate) -> tuple[object, ...]:
        return built.model.sha256, candidate.accelerator, candidate.threads

    def _judged(self, built: Built, candidate: Candidate) -> Loss:
        judging = Judging(self._kinds)
        try:
            with self._predictor(built, candidate) as predict:
                for number, sample in enumerate(self._sample_set):
                    judging.add(self._wanted(number), predict(sample))
        except Incomparable as error:
            raise Unknown(str(error)) from error
        except (OutliveError, RuntimeError, ValueError) as error:
            raise self._unknown("it does not run on the samples", error) from error
        return judging.loss()

    def _go_on(self) -> None:
        """`TimeIsUp` if it is."""
        if self._is_over():
            raise TimeIsUp

    def _unknown(self, what: str, error: Exception) -> Unknown:
        """Why there is no loss, in one line."""
        if self._is_over() and isinstance(error, LimitReached):
            return TimeIsUp()
        return Unknown(f"{what}: {words_of(error)}")

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
        problem = Unknown(f"the original does not run on {on}")
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
                values: dict[str, Any] = {str(place): value for place, value in enumerate(predict(sample))}
                np.savez(self._path(number), **values)

    def _wanted(self, number: int) -> list[NDArray[Any]]:
        with np.load(self._path(number), allow_pickle=False) as stored:
            return [stored[str(place)] for place in range(len(stored.files))]

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
        score = make_guarded(score_model, judge=judge, seconds=seconds, quiet=True, plain=(float, bool))
        assert self._metric is not None
        try:
            found, on_samples = score(built.path, settings, self._names, self._metric, list(self._sample_set))
        except OutliveError as error:
            raise self._unknown("the metric could not be worked out", error) from error
        except Exception as error:  # whatever the user's function raises
            said = " ".join(f"{type(error).__name__}: {error}".split())[:_MOST_WORDS]
            raise Unknown(f"the metric failed: {said}") from error
        self.is_on_samples = bool(on_samples)
        self._cache.keep({"score": found, "on_samples": self.is_on_samples}, *key)
        return float(found)


def _kernels(candidate: Candidate) -> str:
    """What a loss is measured with: for TensorFlow Lite Micro the kernels that its own were made from."""
    return "reference" if candidate.accelerator == "tflm" else candidate.accelerator


def _is_loss(note: dict[str, Any]) -> bool:
    numbers = {"value", "agreement", "sqnr_db"}
    return set(note) == numbers and isinstance(note["value"], float)


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
