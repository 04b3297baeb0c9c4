"""What a candidate loses on the samples: by the user's metric, or held against the original's outputs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlive.fitting.nouns import Loss
from outlive.model import Model

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
class _Sums:
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
        width = wanted.shape[-1] if wanted.ndim else 1
        if width > 1 and wanted.size:
            theirs, ours = wanted.reshape(-1, width).argmax(1), found.reshape(-1, width).argmax(1)
            self.rows += len(theirs)
            self.agreeing += int(np.count_nonzero(theirs == ours))
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
        if self.odd or not self.values:
            return None
        if not self.noise:
            return math.inf
        return 10 * math.log10(self.signal / self.noise) if self.signal else -math.inf

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


class Incomparable(ValueError):
    """Outputs that cannot be held against each other; the text says why."""


@dataclass(slots=True)
class Judging:
    """Holds a candidate's outputs against the original's."""

    kinds: tuple[str, ...]
    _sums: list[_Sums] = field(default_factory=list)

    def add(self, wanted: Sequence[NDArray[Any]], found: Sequence[NDArray[Any]]) -> None:
        """One sample."""
        if not self._sums:
            self._sums = [_Sums(kind) for kind in self.kinds]
        if len(wanted) != len(found):
            raise Incomparable(f"it has {len(found)} outputs, and the original {len(wanted)}")
        for sums, theirs, ours in zip(self._sums, wanted, found, strict=True):
            if theirs.shape != ours.shape:
                raise Incomparable(
                    f"an output has the shape {_shape(ours)} instead of {_shape(theirs)}: only a metric can "
                    "say what that costs"
                )
            sums.add(theirs, ours)

    def loss(self) -> Loss:
        """What it comes to: the worst output."""
        sums = self._sums
        agreements = [one.agreement for one in sums if one.agreement is not None and one.kind == CHOICE]
        decibels = [one.sqnr_db for one in sums if one.sqnr_db is not None]
        worst = max((one.loss for one in sums), default=0.0)
        return Loss(
            value=worst,
            share=worst,
            agreement=min(agreements, default=None),
            sqnr_db=min(decibels, default=None),
        )


def describe(kinds: Sequence[str]) -> str:
    """How loss is counted, in words."""
    words = {
        CHOICE: "the share of samples with another winner",
        WHOLE: "the share of values that differ",
        REAL: "the error's part of the signal",
    }
    return ", ".join(words[kind] for kind in dict.fromkeys(kinds)) + (
        ", the worst output" if len(kinds) > 1 else ""
    )


def scored(original: float, candidate: float) -> Loss:
    """The loss by a metric: what is missing to the original's score, and which part of it that is.

    Scores between 0 and 1 are shares themselves.
    """
    lost = max(0.0, original - candidate)
    is_share = 0 <= original <= 1
    return Loss(value=lost, share=lost if is_share else lost / abs(original), score=candidate)


def _shape(value: NDArray[Any]) -> str:
    return "x".join(map(str, value.shape)) or "scalar"
