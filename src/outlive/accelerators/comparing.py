"""The difference between an accelerator and the kernels it is compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from outlive.accelerators.nouns import Difference
from outlive.interpreter.agreement import Values, furthest_apart

__all__ = ["Values", "compare", "why_not_comparable"]

# What these make is another thing at each run, whoever runs them.
_RANDOM = frozenset({"RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL", "MULTINOMIAL"})


def why_not_comparable(op_types: Sequence[str]) -> str:
    """Why outputs of this model cannot be compared; empty if they can."""
    drawn = sorted(_RANDOM.intersection(op_types))
    return f"{', '.join(drawn)} makes other values at each run" if drawn else ""


def compare(
    against: str,
    rows: Sequence[Mapping[str, Any]],
    reference: Values,
    values: Values,
    *,
    arithmetic: str,
    quantized: bool = False,
) -> Difference:
    """The output that is furthest from what is normal; `rows` are the details of the outputs."""
    apart = furthest_apart(rows, reference, values, arithmetic=arithmetic, quantized=quantized)
    return Difference(
        against=against,
        largest=apart.largest,
        mean=apart.mean,
        allowed=apart.allowed,
        output=apart.output,
    )
