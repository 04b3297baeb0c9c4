"""Whatever the bytes, cutting ends in a part that reads without a flaw, or in a refusal in words."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import outlive
from outlive.surgery import CutRequest, cut_model, write
from tests.interpreter.dropin_models import graph, op
from tests.properties.mutations import Mutator
from tests.properties.specimens import specimens
from tests.surgery import cut_models

MUTANTS, BATCH = 1500, 150


@cache
def mutator() -> Mutator:
    ours = (cut_models.branches(), cut_models.counting(), cut_models.choosing(), cut_models.oddities())
    return Mutator((*specimens(), *ours))


def request_for(model: outlive.Model, chance: random.Random) -> CutRequest:
    """Operators, outputs or inputs that may well not make sense together."""
    main = model.subgraphs[0]
    tensors = [chance.randrange(len(main.tensors)) for _ in range(2)] if main.tensors else [0]
    kind = chance.choice(("whole", "ops", "until", "outputs", "inputs", "shape"))
    one = chance.randrange(max(1, len(main.operators)))
    match kind:
        case "ops":
            return CutRequest(ops=sorted({one, chance.randrange(max(1, len(main.operators)))}))
        case "until":
            return CutRequest(until=one)
        case "outputs":
            return CutRequest(outputs=tensors)
        case "inputs":
            return CutRequest(make_input=tensors[:1])
        case "shape":
            return CutRequest(ops=one, input_shapes={tensors[0]: (1, 2)})
        case _:
            return CutRequest()


@pytest.mark.parametrize("start", range(0, MUTANTS, BATCH))
def test_a_damaged_model_is_cut_or_refused(start: int) -> None:
    for seed in range(start, start + BATCH):
        mutant = mutator().mutant(seed)
        try:
            model = outlive.read(mutant.data)
            part = cut_model(model, request_for(model, random.Random(seed)))
        except ValueError:  # a ModelError is one as well
            continue
        assert not outlive.read(part.model).flaws or model.flaws, f"mutant {seed}: {mutant.how}"


def test_weights_far_behind_the_flatbuffer_are_brought_along(tmp_path: Path) -> None:
    # A file above 2 GB, all of it a hole but its ends.
    far = 3 << 30
    tensors = [
        {"name": "x", "shape": [1, 4]},
        {"name": "weights", "shape": [1, 4], "buffer": 1},
        {"name": "y", "shape": [1, 4]},
    ]
    tree = {
        "version": 3,
        "operator_codes": [{"builtin_code": "ADD"}],
        "buffers": [{}, {"offset": far, "size": 16}],
        "subgraphs": [graph(tensors, [0], [2], op(0, [0, 1], [2], "Add"))],
    }
    path = tmp_path / "large.tflite"
    with path.open("wb") as file:
        file.write(write(tree))
        file.seek(far)
        file.write(np.arange(4, dtype=np.float32).tobytes())
    part = outlive.cut(path, ops=0)
    assert part.file_bytes < 2000
    seen = outlive.read(part.model)
    assert seen.subgraphs[0].tensors[1].array().tolist() == [[0, 1, 2, 3]]
    assert seen.buffers[1].outside


def test_a_model_that_calls_itself_keeps_its_whole() -> None:
    names = ("which", "x", "y", "z")
    tensors = [
        {"name": name, "shape": [1], "type": "BOOL" if name == "which" else "FLOAT32"} for name in names
    ]
    pair = [{"name": "p", "shape": [1]}, {"name": "q", "shape": [1]}]
    loop = op(0, [0, 1], [2], "If", then_subgraph_index=1, else_subgraph_index=0)
    main = graph(tensors, [0, 1], [3], loop, op(1, [2], [3]))
    tree = {
        "version": 3,
        "operator_codes": [{"builtin_code": "IF"}, {"builtin_code": "NEG"}],
        "buffers": [{}],
        "subgraphs": [main, graph(pair, [0], [1], op(1, [0], [1]))],
    }
    part = outlive.cut(write(tree), ops=0)
    assert part.subgraphs == (0, 0, 1)
    seen = outlive.read(part.model)
    assert [len(subgraph.operators) for subgraph in seen.subgraphs] == [1, 2, 1]
    assert [subgraph.operators[0].subgraphs() for subgraph in seen.subgraphs[:2]] == [(2, 1), (2, 1)]
