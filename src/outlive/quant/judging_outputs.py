"""What is asked of outputs beside the metrics of every tensor: the same winner, and the user's metrics."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlive.model import Tensor
from outlive.quant.nouns import OutputDrift
from outlive.quant.tallying import ErrorTally, Grid

# The reference's and the candidate's output of one sample, as real numbers -> a number; they are averaged.
# Who takes three arguments also gets which sample it is, from 0: labels can be looked up by it.
UserMetric = Callable[..., float]


class OutputTally:
    """One output, sample by sample."""

    def __init__(
        self, candidate: int, reference: int, grid: Grid | None, metrics: Mapping[str, UserMetric]
    ) -> None:
        """Begin with nothing seen."""
        self.candidate, self.reference = candidate, reference
        self._tally = ErrorTally(grid=grid)
        self._metrics = {name: _numbered(metric) for name, metric in metrics.items()}
        self._why = ""
        self._sums = dict.fromkeys(metrics, 0.0)
        self._rows = self._agreeing = self._samples = 0

    def add(self, wanted: NDArray[Any], found: NDArray[Any], raw: NDArray[Any]) -> None:
        """One sample, as real numbers and as it was written."""
        for name, metric in self._metrics.items():
            self._sums[name] += float(metric(wanted, found, self._samples))
        self._samples += 1
        if wanted.size != found.size or not wanted.size:
            self._why = f"it has {_values(found.shape)}, the reference's {_values(wanted.shape)}"
            return
        self._tally.add(wanted, found, raw if self._tally.grid is not None else None)
        width = wanted.shape[-1] if wanted.ndim else 1
        if width > 1:
            theirs, ours = wanted.reshape(-1, width).argmax(1), found.reshape(-1, width).argmax(1)
            self._rows += len(theirs)
            self._agreeing += int(np.count_nonzero(theirs == ours))

    def drift(self, candidate: Sequence[Tensor], reference: Sequence[Tensor]) -> OutputDrift:
        """What it comes to."""
        return OutputDrift(
            name=candidate[self.candidate].name,
            index=self.candidate,
            reference_name=reference[self.reference].name,
            metrics=self._tally.metrics(),
            why=self._why,
            argmax_agreement=self._agreeing / self._rows if self._rows else None,
            user_metrics={name: total / max(self._samples, 1) for name, total in self._sums.items()},
        )


def left_out(tensor: Tensor, why: str) -> OutputDrift:
    """An output that nothing can be held against, and why."""
    return OutputDrift(
        name=tensor.name, index=tensor.index, reference_name="", metrics=None, argmax_agreement=None, why=why
    )


def _numbered(metric: UserMetric) -> UserMetric:
    """The metric as a function of both outputs and the sample's number."""
    try:
        inspect.signature(metric).bind(None, None, 0)
    except (TypeError, ValueError):  # two arguments, or a library's function that does not say
        return lambda wanted, found, number: metric(wanted, found)
    return metric


def _values(shape: tuple[int, ...]) -> str:
    sizes = "x".join(map(str, shape)) or "1"
    return f"{int(np.prod(shape)):,} values ({sizes})"
