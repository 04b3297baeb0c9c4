"""Which functions register the operators of a model with TensorFlow Lite Micro: a table from its source."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from outlive.kernels.tables import read_table
from outlive.model import Model
from outlive.records import written


@dataclass(frozen=True, slots=True, kw_only=True)
class Adder:
    """A function of MicroMutableOpResolver, the operator it registers, and how often the model has that."""

    operator: str = field(metadata=written("type"))
    function: str
    count: int


def adders_of(model: Model) -> tuple[Adder, ...]:
    """The functions a model needs, by name. ValueError for operators that there is none for."""
    table = read_table("tflm")
    counts = Counter((op.is_custom, op.custom_name if op.is_custom else op.type) for op in model.operators())
    found, missing = [], []
    for (is_custom, name), count in counts.items():
        row = table["custom" if is_custom else "builtin"].get(name)
        if row is None:
            missing.append(name[:80])
        else:
            found.append(Adder(function=row["add"], operator=name, count=count))
    if missing:
        raise ValueError(f"TensorFlow Lite Micro has no kernel for {', '.join(sorted(missing)[:5])}")
    return tuple(sorted(found, key=lambda adder: adder.function))
