"""Nothing in the model is for XNNPACK."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from outlive.model import Model, read_source
from tests.rules.facts import delegation, landing
from tests.rules.small import graph, operator, save, tensor, tree


def chain(tmp_path: Path, kind: str, dtype: str) -> Model:
    """Twelve operators of one kind, one behind the other."""
    tensors = [tensor(f"t{at}", [1, 4], dtype) for at in range(13)]
    steps = [operator(kind, [at], [at + 1]) for at in range(12)]
    model = read_source(save(tmp_path, tree(graph(tensors, steps, [0], [12])))).model
    assert model is not None
    return model


def facts(tmp_path: Path) -> dict[str, Any]:
    flight = landing(delegation=delegation(0, tuple((at, "LOGICAL_NOT") for at in range(12))))
    return {"flight": flight, "model": chain(tmp_path, "LOGICAL_NOT", "BOOL")}
