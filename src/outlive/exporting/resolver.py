"""Which functions register the operators of a model with TensorFlow Lite Micro: a table from its source."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

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
    table = resolver_table()
    counts = Counter((op.is_custom, op.custom_name if op.is_custom else op.type) for op in model.operators())
    found, missing = [], []
    for (is_custom, name), count in counts.items():
        function = table["custom" if is_custom else "builtin"].get(name)
        if function is None:
            missing.append(name[:80])
        else:
            found.append(Adder(function=function, operator=name, count=count))
    if missing:
        raise ValueError(f"TensorFlow Lite Micro has no kernel for {', '.join(sorted(missing)[:5])}")
    return tuple(sorted(found, key=lambda adder: adder.function))


@cache
def resolver_table() -> Mapping[str, Any]:
    """The table, with the file and the commit it was taken from."""
    found: Mapping[str, Any] = json.loads((Path(__file__).parent / "resolver.json").read_text("utf-8"))
    return found
