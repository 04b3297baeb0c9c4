"""What a search is about: candidates, what became of each, and what it all comes to."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import ClassVar, Literal, NamedTuple

from outlive.arena.budget import Budget
from outlive.atomic_files import write_whole
from outlive.finding import Tag
from outlive.names import safe
from outlive.records import NOT_WRITTEN, FileSize, in_document, written
from outlive.results import Listed, Summary, file_name
from outlive.units import format_shape, plural

Shape = tuple[int, ...]
VerdictWord = Literal[
    "fits", "tight", "may not fit", "does not fit", "loses too much", "refused", "died", "not tried"
]


class NamedShape(NamedTuple):
    """An input or output, and its shape."""

    name: str
    shape: Shape


Inputs = tuple[NamedShape, ...]

FITTING: tuple[VerdictWord, ...] = ("fits", "tight")
# Of all that can be lost; by a metric, of the original's score.
_ALL_LOST, _MUCH_LOST = 0.9, 0.5
# Other kernels add up in another order: what differs by no more than this is the same to the user.
_ROUNDING = 0.001
_SETTINGS = {
    "cpu": "XNNPACK",
    "builtin": "builtin kernels",
    "reference": "reference kernels",
    "tflm": "TensorFlow Lite Micro",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One way to run a model: a changed file, and the settings it is run with.

    `recipe` is empty where nothing is quantized; `kept` are the layers that a mixed recipe leaves float.
    `batch` and `inputs` are other shapes, written into the file.
    """

    accelerator: str = "cpu"
    weight_cache: bool = False
    threads: int | None = None
    trimmed: bool = field(default=False, metadata=written("waste_removed"))
    batch: int | None = None
    inputs: Inputs = field(default=(), metadata=NOT_WRITTEN)
    recipe: str = field(default="", metadata=NOT_WRITTEN)
    kept: tuple[str, ...] = field(default=(), metadata=written("float_layers"))

    @property
    def variant(self) -> Candidate:
        """The changed file alone: candidates of one variant differ in settings only."""
        return Candidate(
            trimmed=self.trimmed, batch=self.batch, inputs=self.inputs, recipe=self.recipe, kept=self.kept
        )

    @property
    def is_reshaped(self) -> bool:
        """True if inputs have other shapes than the original's."""
        return self.batch is not None or bool(self.inputs)

    @property
    def tag(self) -> Tag:
        """What it changes for the user, as far as that is known before it is run."""
        if self.recipe:
            return Tag.CHANGES_MODEL
        return Tag.CHANGES_RESULTS if self.is_reshaped else Tag.SAME_RESULTS

    @property
    def recipe_name(self) -> str:
        """The recipe in words: `static-int8, 2 layers float`; `none` where nothing is quantized."""
        kept = f", {plural(len(self.kept), 'layer')} float" if self.kept else ""
        return f"{self.recipe}{kept}" if self.recipe else "none"

    @property
    def steps(self) -> tuple[str, ...]:
        """What is done to the model, in words; empty if nothing is."""
        said = ["waste removed"] if self.trimmed else []
        if self.batch is not None:
            said.append(f"batch {self.batch}")
        said += [f"{format_shape(shape[1:3])} images" for _, shape in self.inputs]
        return (*said, self.recipe_name) if self.recipe else tuple(said)

    @property
    def setting(self) -> str:
        """What runs it, in words."""
        cache = ", weight cache" if self.weight_cache else ""
        threads = "" if self.threads is None else f", {plural(self.threads, 'thread')}"
        return f"{_SETTINGS[self.accelerator]}{cache}{threads}"

    def __str__(self) -> str:
        """In one line."""
        return safe(f"{', '.join(self.steps) or 'unchanged'}; {self.setting}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """What a candidate costs: 0 is nothing lost.

    With a metric it is the original's score less the candidate's, and never below 0. Without one it is that
    of the worst output: the share of samples with another winner where the output is a choice, the share of
    values that differ where they are whole numbers, and error relative to the signal everywhere else.
    `loss_share` is what bounds apply to: the same, but a part of the original's score where that is not
    between 0 and 1.
    """

    loss: float
    loss_share: float
    score: float | None = None
    agreement: float | None = None
    sqnr_db: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Outcome(Summary):
    """A candidate, and what became of it. Sizes are bytes; None is what was not found out.

    `peak_bytes` is planned, `measured_peak_bytes` what a worker added at most; on a microcontroller the first
    is the smallest arena with its resource variables, `arena_bytes` that with a margin, and nothing is
    measured. `loss_share` is the loss as a part of the original's score where a metric's is not between 0
    and 1, and the loss itself elsewhere.
    """

    rank: int = 0
    candidate: Candidate = field(metadata=written(flat=True))
    verdict: VerdictWord
    reason: str = ""
    inputs: Inputs = ()
    outputs: Inputs = ()
    peak_bytes: int | None = None
    measured_peak_bytes: int | None = None
    arena_bytes: int | None = None
    file_bytes: int | None = None
    milliseconds: float | None = None
    loss: float | None = None
    loss_share: float | None = None
    score: float | None = None
    agreement: float | None = None
    sqnr_db: float | None = None
    on_front: bool = False
    notes: tuple[str, ...] = ()

    def _summary(self) -> tuple[str, str]:
        """The candidate, and what came of it."""
        return str(self.candidate), self.verdict

    @property
    def fits(self) -> bool:
        """True if it ran within the budget and loses no more than it may."""
        return self.verdict in FITTING

    @property
    @in_document()
    def tag(self) -> Tag:
        """What it changes for the user: other kernels whose results were seen to differ change results."""
        known = self.candidate.tag
        is_other = known is Tag.SAME_RESULTS and (self.loss_share or 0.0) > _ROUNDING
        return Tag.CHANGES_RESULTS if is_other else known

    @property
    @in_document()
    def name(self) -> str:
        """The candidate in one line."""
        return str(self.candidate)

    @property
    @in_document()
    def recipe(self) -> str:
        """The recipe in words; `none` where nothing is quantized."""
        return self.candidate.recipe_name

    @property
    def needed_bytes(self) -> int | None:
        """What it needs: as measured, or as planned where it was not run."""
        return self.peak_bytes if self.measured_peak_bytes is None else self.measured_peak_bytes

    def __str__(self) -> str:
        """In one line."""
        return safe(f"{self.candidate}: {self.verdict}{f' ({self.reason})' if self.reason else ''}")


class NamedSize(NamedTuple):
    """A tensor, and how large it is."""

    name: str
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LargestOperator:
    """The operator that needs most memory."""

    index: int
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortage:
    """Why nothing fits: the smallest that was tried, what none of them can go below, and who is to blame.

    The operator and the tensors are those of the smallest.
    """

    smallest: Outcome
    lower_bound_bytes: int | None = None
    op: int | None = field(default=None, metadata=NOT_WRITTEN)
    op_type: str = field(default="", metadata=NOT_WRITTEN)
    tensors: tuple[NamedSize, ...] = ()
    needed_changes: tuple[str, ...] = ()

    @property
    @in_document("op")
    def largest(self) -> LargestOperator | None:
        """The operator that needs most."""
        return None if self.op is None else LargestOperator(index=self.op, type=self.op_type)


@dataclass(frozen=True, slots=True, kw_only=True)
class Caution:
    """What to say of a loss, and how loud."""

    words: str
    tone: Literal["warn", "bad"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Fit(Listed[Outcome]):
    """The candidates that fit: `.chosen` of all `.candidates`, and its file.

    `model` is the chosen file's bytes, accepted wherever a source is (empty if nothing fits); `snippet` is
    Python that loads it as it was measured: from a file, which is mapped (an interpreter that is given bytes
    keeps them in memory of its own). `refusal` is why the model runs in no way at all, `shortage` why nothing
    fits. `stopped` is "seconds" or "interrupted" if not all was tried. `written` is where
    `outlive fit -o` wrote the model, and `written_files` are all files it wrote.
    """

    kind: ClassVar[str] = "fit"
    tables = (("candidates", Outcome),)
    row_names = ("name", "recipe")

    model: bytes = field(default=b"", repr=False, metadata=NOT_WRITTEN)
    source: str = field(default="", metadata=NOT_WRITTEN)
    original_bytes: int = field(default=0, metadata=NOT_WRITTEN)
    budget: Budget
    chosen: Outcome | None
    candidates: tuple[Outcome, ...]
    max_loss: float | None = None
    loss_by: str = ""
    is_indicative: bool = field(default=False, metadata=written("loss_is_indicative"))
    original_score: float | None = None
    samples: int = 0
    shortage: Shortage | None = None
    refusal: str = field(default="", metadata=written(null=True))
    stopped: str = field(default="", metadata=written(null=True))
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    snippet: str = field(default="", repr=False, metadata=NOT_WRITTEN)
    every: bool = field(default=False, metadata=NOT_WRITTEN)
    written: str | None = None  # where the chosen model was written
    written_files: tuple[str, ...] = field(default=(), metadata=NOT_WRITTEN)

    @property
    @in_document("model")
    def original(self) -> FileSize:
        """The model that was to fit."""
        return FileSize(path=self.source or None, file_bytes=self.original_bytes)

    @property
    @in_document("seconds")
    def rounded_seconds(self) -> float:
        """How long it took, to the millisecond."""
        return round(self.seconds, 3)

    @property
    @in_document("front")
    def front_ranks(self) -> tuple[int, ...]:
        """The ranks of those that no other beats."""
        return tuple(outcome.rank for outcome in self.front)

    @property
    def outcome(self) -> str:
        """What it comes to: "clean" if something fits, "does not fit", or why the model runs in no way."""
        if self.refusal:
            died = any(row.verdict == "died" for row in self.candidates)
            return "died" if died else "errors"
        return "clean" if self.chosen is not None else "does not fit"

    def _summary(self) -> tuple[str, str]:
        """The model, and what would fit."""
        found = "nothing that was tried fits" if self.chosen is None else f"{self.chosen.candidate} fits"
        return file_name(self.source), found

    @property
    def caution(self) -> Caution | None:
        """What is to be said of the loss of what was chosen; None if it is small, or not known."""
        share = self._lost_share()
        if share is None or share < _MUCH_LOST:
            return None
        how = "no longer" if share >= _ALL_LOST else "far from"
        words = f"its outputs are {how} the original's"
        if self.is_indicative:  # on random inputs a model may have no opinion to lose
            return Caution(words=f"on random inputs {words}: give samples to know", tone="warn")
        return Caution(words=words, tone="bad" if share >= _ALL_LOST else "warn")

    def _lost_share(self) -> float | None:
        if self.chosen is None or self.chosen.loss is None:
            return None
        if self.original_score is None:
            return self.chosen.loss
        return self.chosen.loss / self.original_score if self.original_score > 0 else None

    @property
    def front(self) -> tuple[Outcome, ...]:
        """The candidates that no other beats in memory, file, time and loss at once."""
        return tuple(outcome for outcome in self.candidates if outcome.on_front)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the chosen model to a file; ValueError if nothing fits."""
        if self.chosen is None:
            raise ValueError("no candidate fits, so no model is written")
        write_whole(path, self.model)

    @property
    def loss_is_share(self) -> bool:
        """False if losses are in units of a metric whose scores are not between 0 and 1."""
        return self.original_score is None or 0 <= self.original_score <= 1
