"""What a quantization comes to: plain data.

Quantizes as much as a target allows: the layers that hurt most stay in float, step by step.

quantize all ─► compare ─► rank layers by the harm that the error born in them does
└─ target missed ─► leave the worst 1, 2, 3, 5, 8 ... out ─► quantize ─► compare ─┐
▲                                                            │
└────────────────── target missed ───────────────────────────┘
"""

import math
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from outlive.atomic_files import write_whole
from outlive.finding import Finding
from outlive.quant.drift import Drift, InputRange, OutputDrift
from outlive.quant.tensor_graph import CONVERSIONS
from outlive.records import NOT_WRITTEN, FileSize, in_document
from outlive.results import Result
from outlive.units import format_bytes, plural

Recipe = tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerResult:
    """What became of one operator: `how` is int8, int16, int8 weights, float ...; `why` it is float."""

    op: int
    type: str
    name: str
    how: str
    why: str = ""

    @property
    @in_document("quantized")
    def is_quantized(self) -> bool:
        """True if anything of it is no longer float32."""
        return self.how not in ("float", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class MixedStep:
    """One try on the way to a target: the layers that stayed float, and what it came to."""

    kept: tuple[str, ...]
    file_bytes: int
    sqnr_db: float | None
    agreement: float | None
    met: bool
    user_metrics: Mapping[str, float] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Quantized(Result):
    """A quantized model: `.model` is its bytes, accepted wherever a source is; `.save(path)` writes them.

    `layers` says what became of each operator of the float model, and `findings` what is to be said of it.
    `refusal` is what the runtime says if it does not take the model; `steps` are the tries, where there was
    a target to meet.
    """

    kind: ClassVar[str] = "quantize"
    tables = (("layers", LayerResult), ("steps", MixedStep))

    model: bytes = field(repr=False, metadata=NOT_WRITTEN)
    recipe: str
    samples: int
    float_bytes: int = field(metadata=NOT_WRITTEN)
    seconds: float
    layers: tuple[LayerResult, ...]
    input_ranges: tuple[InputRange, ...] = field(default=(), metadata=NOT_WRITTEN)
    refusal: str = field(default="", metadata=NOT_WRITTEN)
    steps: tuple[MixedStep, ...] = ()
    source_path: str | None = field(default=None, metadata=NOT_WRITTEN)
    output_path: str | None = field(default=None, metadata=NOT_WRITTEN)
    findings: tuple[Finding, ...] = ()

    @property
    @in_document("model")
    def source(self) -> FileSize:
        """The float model that it was made of."""
        return FileSize(path=self.source_path, file_bytes=self.float_bytes)

    @property
    @in_document()
    def output(self) -> FileSize:
        """The file that was written."""
        return FileSize(path=self.output_path, file_bytes=self.file_bytes)

    def _summary(self) -> tuple[str, str]:
        """The recipe, and how much it made of the model."""
        share = f"{len(self.quantized_layers)} of {plural(len(self.layers), 'operator')}"
        return self.recipe, f"{share}, {format_bytes(self.file_bytes)}"

    @property
    def file_bytes(self) -> int:
        """The size of the quantized file."""
        return len(self.model)

    @property
    def quantized_layers(self) -> tuple[LayerResult, ...]:
        """The operators that are no longer float."""
        return tuple(layer for layer in self.layers if layer.is_quantized)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, whole or not at all."""
        write_whole(path, self.model)


Target = Mapping[str, float] | Callable[[Drift], bool]
_NAMES = ("sqnr", "agreement")


def check_target(target: Any, metrics: tuple[str, ...] = ()) -> Target:
    """The target; ValueError if it is none. `metrics` are the names of the user's own."""
    if callable(target):
        return target  # type: ignore[no-any-return]
    if isinstance(target, Mapping) and target and set(target) <= {*_NAMES, *metrics}:
        return {str(name): float(value) for name, value in target.items()}
    own = "".join(f", {{{name!r}: least}}" for name in metrics)
    raise ValueError(f"until= is {{'sqnr': decibels}}, {{'agreement': share}}{own}, or a function of a Drift")


def select(
    make: Callable[[tuple[str, ...]], Quantized], compare: Callable[[bytes], Drift], target: Target
) -> Quantized:
    """The first model that meets the target, the worst layers in float; the best one, if none does.

    `make` quantizes the model but for some layers, and `compare` holds the result against the float one.
    """
    steps: list[MixedStep] = []
    best: tuple[float, Quantized] | None = None
    ranking: list[str] = []
    for count in _counts():
        kept = tuple(ranking[:count])
        made = make(kept)
        drift = compare(made.model)
        if not ranking:
            ranking = _ranked(drift)
        step = MixedStep(
            kept=kept,
            file_bytes=made.file_bytes,
            sqnr_db=sqnr(drift),
            agreement=agreement(drift),
            met=is_met(target, drift),
            user_metrics=_users(drift),
        )
        steps.append(step)
        score = -math.inf if step.sqnr_db is None else step.sqnr_db
        if best is None or score > best[0]:
            best = (score, made)
        if step.met:
            return replace(made, steps=tuple(steps))
        if count >= len(ranking):
            break
    assert best is not None
    return replace(best[1], steps=tuple(steps))


def _ranked(drift: Drift) -> list[str]:
    """Layers of the float model, the ones that hurt most first; conversions have no layer there."""
    rows = [row for row in drift.tensors if row.harm > 0 and row.op_type not in ("INPUT", *CONVERSIONS)]
    rows.sort(key=lambda row: -row.harm)
    return list(dict.fromkeys(row.reference_name for row in rows if row.reference_name))


def _counts() -> Iterator[int]:
    """How many layers stay in float: 0, 1, 2, 3, 5, 8 ..."""
    now, following = 1, 2
    yield 0
    while True:
        yield now
        now, following = following, now + following


def is_met(target: Target, drift: Drift) -> bool:
    """True if the outputs are as near to the reference's as is wanted."""
    if not isinstance(target, Mapping):
        return bool(target(drift))
    wanted = {**_users(drift), "sqnr": sqnr(drift), "agreement": agreement(drift)}
    return all((found := wanted.get(name)) is not None and found >= least for name, least in target.items())


def _users(drift: Drift) -> dict[str, float]:
    """The user's metrics, each by the worst output that has it."""
    found: dict[str, float] = {}
    for row in drift.outputs:
        for name, value in row.user_metrics.items():
            found[name] = _worse(value, found.get(name, value))
    return found


def sqnr(drift: Drift) -> float | None:
    """The worst signal to noise of the outputs; no number is as bad as values that are not finite."""
    known = [_sqnr(row) for row in drift.outputs if row.metrics is not None or row.why]
    return min(known, default=None)


def _sqnr(row: OutputDrift) -> float:
    found = row.metrics
    if found is None or row.why or found.not_finite or math.isnan(found.sqnr_db):
        return -math.inf
    return found.sqnr_db


def _worse(one: float, other: float) -> float:
    """The lesser; not a number, if either is none, for nothing meets a target so."""
    return math.nan if math.isnan(one) or math.isnan(other) else min(one, other)


def agreement(drift: Drift) -> float | None:
    """The worst agreement of winners of the outputs that have any."""
    known = [row.argmax_agreement for row in drift.outputs if row.argmax_agreement is not None]
    return min(known, default=None)
