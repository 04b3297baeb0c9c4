"""The search: round by round, cheapest for the user first, until something fits that loses little.

    rounds ─► variants, side by side where cores allow ─► the settings of each, one after the other
           ─► the first round in which something fits and loses little is the last, unless all are asked for

Time that is up and Ctrl-C end it early; what is known by then is the result.

What is asked of a search, in a user's words: sizes, devices, shares; ValueError for what cannot be.
"""

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import partial
from itertools import count, groupby
from pathlib import Path
from typing import Any

from outlive.arena.budget import Budget, device_budget
from outlive.arena.devices import Device, find_device
from outlive.arena.questions import PlanRequest, check_shape, choose_abi, input_shapes, parse_input
from outlive.cache import ResultCache, cache_folder, versions_and_machine
from outlive.fitting.candidate_builder import CandidateBuilder, NotBuilt, Origin, is_quantized
from outlive.fitting.candidates import MIXED_FROM, SearchRound, SearchSpace, mixed, rounds_for, settings_for
from outlive.fitting.conclusions import best, find_refusal, find_shortage, notes_on, with_front
from outlive.fitting.evaluation import EvaluatedCandidate, Evaluation, LimitedRuns
from outlive.fitting.fit_result import Candidate, Fit, Outcome, Shape
from outlive.fitting.load_script import loading_snippet
from outlive.fitting.loss import LossMeter, Metric, TimeIsUp
from outlive.fitting.predictor import SampleSet
from outlive.guarding.guarded import Guarded
from outlive.interpreter.judge import Judge
from outlive.model import Model, read_source
from outlive.planning.reshaping import cut_part
from outlive.surgery import CutRequest
from outlive.threads import require_thread
from outlive.units import Step, parse_bytes

_MOST_JOBS = 4
# What was begun in time may still do this much.
_LEAST_S = 1.0
_TIME = "time limit reached"
# The loss that ends the search if the user sets no bound: another round may lose less.
_LITTLE_LOSS = 0.05
_PACKAGES = ("outlive", "ai-edge-litert", "ai-edge-quantizer", "tensorflow", "tensorflow-cpu")
Tell = Callable[[str], None]  # hears how far it is, in words


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """What is asked for: the memory there is, and what the search may use and lose."""

    budget: Budget
    wish: PlanRequest
    judge: Judge
    samples: Any = None
    metric: Metric | None = None
    max_loss: float | None = None
    accelerator: str | None = None
    every: bool = False
    seconds: float | None = None
    jobs: int | None = None
    cache: bool = True
    source: str = ""  # what the user calls the model, where the file searched is another
    tell: Tell = lambda _: None

    def result_cache(self) -> ResultCache:
        """What searches found out before, by model, samples, recipe, versions and machine."""
        return ResultCache(cache_folder("fit") if self.cache else None, *versions_and_machine(*_PACKAGES))


class Search:
    """One search, and what it knows so far."""

    def __init__(self, model: Model, goal: Goal, folder: Path, origin: Origin | None = None) -> None:
        """Look at the samples; nothing is built yet."""
        self._model, self._goal = model, goal
        self._began = time.monotonic()
        self._known: dict[int, EvaluatedCandidate] = {}
        self._ranks = count()
        self._stopped = ""
        self._offered = 0  # candidates of the rounds so far
        cache = goal.result_cache()
        self._sample_set = SampleSet(goal.samples, model, folder / "samples", goal.judge)
        micro = goal.wish.accelerator == "tflm"
        self._builder = CandidateBuilder(
            model, self._sample_set, cache, folder, micro, origin, seconds_left=self._left
        )
        original = self._builder.build(Candidate())
        self._meter = LossMeter(
            model, original, self._sample_set, cache, folder, goal.metric, self._left, self._is_over
        )
        limited_runs = LimitedRuns(cache, goal.judge, self._left)
        self._evaluation = Evaluation(
            self._builder, limited_runs, self._meter, goal.budget, goal.wish, goal.max_loss
        )

    def run(self) -> Fit:
        """Go through the rounds, and say what it comes to."""
        try:
            for offered in self._rounds():
                self._evaluate_round(offered)
                if self._keeps_layers(offered):
                    self._evaluate_round(self._mixed_round(offered))
                if self._stopped or (self._is_settled() and not self._goal.every):
                    break
        except KeyboardInterrupt:
            self._stopped = "interrupted"
        except TimeIsUp:
            self._stopped = "seconds"
        return self._fit()

    def _rounds(self) -> Iterator[SearchRound]:
        goal = self._goal
        if goal.metric is not None:
            self._meter.prepare()  # a metric that does not work fails before anything is built
        waste = self._builder.waste()
        accelerator = goal.wish.accelerator if goal.wish.accelerator == "tflm" else goal.accelerator
        settings = settings_for(accelerator, goal.wish.threads)
        space = SearchSpace(settings=settings, trimmed=bool(waste), is_usable=self._is_usable)
        yield from rounds_for(self._model, space)

    @property
    def _outcomes(self) -> list[Outcome]:
        return [item.outcome for item in list(self._known.values())]

    def _is_usable(self, variant: Candidate) -> bool:
        """False if every try of a variant was refused or died."""
        words = [row.verdict for row in self._outcomes if row.candidate.variant == variant.variant]
        return not words or any(word not in ("refused", "died") for word in words)

    def _keeps_layers(self, offered: SearchRound) -> bool:
        """True if it is worth a try to leave the worst layers of a static recipe float."""
        static = [one for one in offered.candidates if _may_be_mixed(one)]
        if not static or self._stopped or is_quantized(self._model):
            return False
        known = self._outcomes
        chosen = best(known)
        costly = any(outcome.loss for outcome in known if outcome.candidate in static)
        return self._goal.every or (costly and (chosen is None or bool(chosen.loss)))

    def _mixed_round(self, offered: SearchRound) -> SearchRound:
        """The same recipe with its worst layers in float."""
        self._tell(f"the layers that lose most with {MIXED_FROM}")
        static = [one for one in offered.candidates if _may_be_mixed(one)]
        try:
            layers = self._builder.worst_layers(static[0].variant)
        except NotBuilt:
            layers = ()
        made = sorted(
            (other for one in static for other in mixed(one, layers)), key=lambda one: len(one.kept)
        )
        return SearchRound(title="smaller numbers, sensitive layers kept", candidates=tuple(made))

    def _evaluate_round(self, offered: SearchRound) -> None:
        """Weigh every candidate of a round, the variants side by side."""
        ranked = [(next(self._ranks), candidate) for candidate in offered.candidates]
        self._offered += len(ranked)
        groups = [tuple(group) for _, group in groupby(ranked, key=lambda item: item[1].variant)]
        jobs = self._goal.jobs or max(1, min(_MOST_JOBS, (os.cpu_count() or 1) // 2))
        if jobs == 1 or len(groups) == 1:
            for group in groups:
                self._evaluate_variant(group)
            return
        require_thread()
        with ThreadPoolExecutor(jobs, thread_name_prefix="outlive-fit") as pool:
            waiting = [pool.submit(self._evaluate_variant, group) for group in groups]
            try:
                done, _ = wait(waiting, return_when=FIRST_EXCEPTION)
            except BaseException:
                self._stopped = "interrupted"
                pool.shutdown(wait=False, cancel_futures=True)
                raise
            for future in done:
                future.result()

    def _evaluate_variant(self, group: Sequence[tuple[int, Candidate]]) -> None:
        """The settings of one variant; those behind the first that fits only if all are asked for."""
        fitting: Outcome | None = None
        for rank, candidate in group:
            if not self._stopped and self._is_over():
                self._stopped = "seconds"
            if self._stopped:
                words = _TIME if self._stopped == "seconds" else "it was interrupted"
                self._skip(rank, candidate, words)
            elif fitting is not None and not self._goal.every:
                self._skip(rank, candidate, f"{fitting.candidate.setting} already fits")
            else:
                self._tell(str(candidate))
                evaluated = self._evaluation.evaluate(candidate, rank)
                found = evaluated.outcome
                if (found.file_bytes is None or evaluated.late) and self._is_over():
                    self._stopped = "seconds"  # it was cut short, and not refused
                    self._skip(rank, candidate, _TIME)
                    continue
                self._known[rank] = evaluated
                fitting = found if found.fits else fitting

    def _skip(self, rank: int, candidate: Candidate, reason: str) -> None:
        outcome = Outcome(candidate=candidate, verdict="not tried", reason=reason, rank=rank)
        self._known[rank] = EvaluatedCandidate(outcome=outcome)

    def _is_settled(self) -> bool:
        """True if something fits and loses little, or if the model as it is runs in no way at all."""
        known = self._outcomes
        little = _LITTLE_LOSS if self._goal.max_loss is None else self._goal.max_loss
        found = any(row.fits and row.loss_share is not None and row.loss_share <= little for row in known)
        return found or bool(find_refusal(known))

    def _tell(self, name: str) -> None:
        fitting = sum(outcome.fits for outcome in self._outcomes)
        done = len(self._known)
        # Another round may follow: the total is that of the rounds so far.
        total = max(self._offered, done + 1)
        self._goal.tell(Step(f"{done} of {total} tried, {fitting} fit; {name}", done, total))

    def _is_over(self) -> bool:
        return self._goal.seconds is not None and time.monotonic() - self._began >= self._goal.seconds

    def _left(self) -> float | None:
        """Seconds that are left for a call, at least some; None without a limit."""
        if self._goal.seconds is None:
            return None
        return max(_LEAST_S, self._goal.seconds - (time.monotonic() - self._began))

    def _fit(self) -> Fit:
        evaluated = [self._known[rank] for rank in sorted(self._known)]
        outcomes = with_front([item.outcome for item in evaluated])
        chosen = best(outcomes)
        refusal = find_refusal(outcomes)
        built = None if chosen is None else self._builder.build(chosen.candidate.variant)
        goal, sample_set, on_samples = self._goal, self._sample_set, self._meter.is_on_samples
        return Fit(
            chosen=chosen,
            candidates=outcomes,
            budget=goal.budget,
            model=b"" if built is None else bytes(built.model.content),
            source=goal.source or self._model.path or "",
            original_bytes=self._model.file_bytes,
            original_score=self._meter.original_score,
            max_loss=goal.max_loss,
            loss_by=self._meter.by,
            samples=sample_set.count,
            is_indicative=sample_set.is_random and on_samples,
            shortage=None if chosen or refusal else find_shortage(evaluated, goal.budget),
            refusal=refusal,
            stopped=self._stopped,
            notes=tuple(notes_on(self._model, sample_set, goal.budget, goal.wish, outcomes, on_samples)),
            seconds=time.monotonic() - self._began,
            snippet="" if chosen is None else loading_snippet(chosen, goal.budget),
            every=goal.every,
        )


def _may_be_mixed(candidate: Candidate) -> bool:
    return candidate.recipe == MIXED_FROM and not candidate.inputs and not candidate.kept


def search(model: Model, goal: Goal, origin: Origin | None = None) -> Fit:
    """What fits, and all that was tried; files that were built on the way are removed."""
    folder = Path(tempfile.mkdtemp(prefix="outlive-fit-"))
    try:
        return Search(model, goal, folder, origin).run()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


_ACCELERATORS = ("cpu", "builtin", "reference", "tflm")


def make_goal(
    *,
    ram: str | int | None = None,
    device: str | Device | None = None,
    flash: str | int | None = None,
    accelerator: str | None = None,
    threads: int | None = None,
    max_loss: str | float | None = None,
    seconds: float | None = None,
    jobs: int | None = None,
    metric: Any = None,
    **others: Any,
) -> Goal:
    """The goal of a search from a user's words; `others` are fields of `Goal` as they are."""
    if (ram is None) == (device is None):
        raise ValueError("give the available memory: an amount of RAM or a device, not both")
    if accelerator is not None and accelerator not in _ACCELERATORS:
        raise ValueError(f"unknown accelerator {accelerator!r:.40}; choose from {', '.join(_ACCELERATORS)}")
    if seconds is not None and not seconds > 0:
        raise ValueError(f"{seconds:g} is not a time limit; give more than 0 seconds")
    if jobs is not None and jobs < 1:
        raise ValueError(f"{jobs} is not a number of candidates; give 1 or more")
    found = find_device(device) if isinstance(device, str) else device
    if found is not None and found.is_micro and accelerator not in (None, "tflm"):
        raise ValueError(f"{found.title} runs TensorFlow Lite Micro: leave {accelerator} out")
    budget = device_budget(found) if found is not None else _granted(ram)
    if flash is not None:
        budget = replace(budget, flash_bytes=_size(flash, "flash"))
    return Goal(
        budget=budget,
        wish=_wish(found, accelerator, threads),
        metric=check_metric(metric),
        max_loss=None if max_loss is None else parse_share(max_loss),
        accelerator=accelerator,
        seconds=seconds,
        jobs=jobs,
        **others,
    )


def fit_model(
    model: Model,
    goal: Goal,
    batch: int | None,
    inputs: Mapping[str, Sequence[int] | str] | Sequence[str],
    source: Any = None,
) -> Fit:
    """What fits of a model, with other inputs to begin with if they are asked for.

    `source` is what it was converted from, if it was: shapes that it does not take are made from that.
    """
    origin = None if source is None else Origin(source=source, model=model, judge=goal.judge)
    named = inputs if isinstance(inputs, Mapping) else dict(map(parse_input, inputs))
    wish = PlanRequest(batch=batch, inputs={name: check_shape(shape) for name, shape in named.items()})
    shapes = input_shapes(model, wish)
    if shapes:
        reshaped = read_source(_started(model, shapes, origin, goal)).model
        assert reshaped is not None, "a part that was cut can be read"
        goal = replace(goal, source=goal.source or model.path or "")
        model = reshaped
    return search(model, goal, origin)


def _started(model: Model, shapes: Mapping[int, Shape], origin: Origin | None, goal: Goal) -> bytes:
    """The file to start from; converted again where it does not take the shapes, and can be."""
    try:
        part = cut_part(model, CutRequest(input_shapes=dict(shapes.items())))
        if part.shapes_from != "runtime":
            raise ValueError("; ".join(part.state) or "the runtime rejects these shapes")
        return part.model
    except ValueError as error:
        if origin is None:
            raise
        wanted = [shapes.get(tensor.index, tensor.shape) for tensor in model.inputs]
        guard = partial(Guarded, judge=goal.judge, seconds=goal.seconds, quiet=True)
        try:
            return origin.convert(wanted, goal.result_cache(), guard)
        except ValueError as second:
            raise ValueError(f"{second}; nor does its .tflite: {error}") from second


def parse_share(given: str | float) -> float:
    """A share such as `1%` or 0.01; ValueError for what is none."""
    text = str(given).strip()
    try:
        value = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        raise ValueError(f"{text[:40]!r} is not a share; write 1% or 0.01") from None
    if not 0 <= value <= 1:
        raise ValueError(f"a loss is between 0% and 100%, not {text[:40]}")
    return value


def check_metric(metric: Any) -> Any:
    """A metric that can be used; ValueError for one that is neither a function nor `file.py:name`."""
    if metric is None or callable(metric):
        return metric
    path, colon, name = str(metric).rpartition(":")
    if not colon or not path.endswith(".py") or not name.isidentifier():
        raise ValueError(f"{str(metric)[:80]!r} is not a metric; write file.py:function")
    try:
        with open(path, "rb"):
            return str(metric)
    except OSError as error:
        raise ValueError(f"the metric's file {path[:200]!r} cannot be read: {error.strerror}") from error


def _wish(device: Device | None, accelerator: str | None, threads: int | None) -> PlanRequest:
    if device is not None and device.is_micro:
        return PlanRequest(
            accelerator="tflm", abi=choose_abi(None, device.abi or None), kernels=device.kernels
        )
    return PlanRequest(accelerator=accelerator or "cpu", threads=threads)


def _granted(ram: str | int | None) -> Budget:
    size = _size(ram, "RAM")
    options = ("--ram", str(ram))
    return Budget(kind="ram", title="the RAM limit", ram_bytes=size, source="--ram", options=options)


def _size(given: str | int | None, what: str) -> int:
    size = parse_bytes(given) if isinstance(given, str) else int(given or 0)
    if size <= 0:
        raise ValueError(f"{what} of {size} bytes leaves no memory")
    return size
