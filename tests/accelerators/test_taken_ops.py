"""What XNNPACK takes is what the runtime's own execution plan shows, operator for operator."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import outlive
from outlive.accelerators import Accelerator
from outlive.accelerators.configurations import choose_configurations
from outlive.accelerators.taken_ops import partitions_of, see_xnnpack
from outlive.accelerators.trial import TrialSettings, run_trial
from outlive.verbs.judging import JUDGE
from tests.accelerators.small_library import build, needs_compiler
from tests.accelerators.small_models import dead_end, five_axes, line
from tests.interpreter.dropin_models import graph, model, op
from tests.model.small import tensor

PROGRAM = Path(__file__).with_name("execution_plan.py")


def plans(paths: list[Path]) -> list[dict[str, Any]]:
    """The truth for each model; a model that kills the program ends the list, which then fails."""
    done = subprocess.run(
        [sys.executable, str(PROGRAM), build()],
        input="\n".join(map(str, paths)),
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(row) for row in done.stdout.splitlines() if row.startswith("{")]


def seen(source: Any) -> Accelerator:
    return outlive.probe(source, only=["xnnpack"], cache=False)["xnnpack"]


@needs_compiler
@pytest.mark.parametrize(
    "made",
    [
        pytest.param(line("ADD", "MUL"), id="all"),
        pytest.param(line("ADD", "ATAN2", "MUL"), id="one-in-between"),
        pytest.param(line("ATAN2"), id="none"),
        pytest.param(dead_end(), id="dead-end"),
        pytest.param(five_axes(), id="reshapes"),
    ],
)
def test_small_models(made: bytes, tmp_path: Path) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(made)
    truth = plans([path])[0]["taken"]
    found = seen(path)
    assert found.taken == tuple(sorted(index for part in truth for index in part))
    assert found.partitions == len(truth)


def test_refused_operators_have_the_reason_of_xnnpacks_rules() -> None:
    found = seen(line("ADD", "ATAN2", "MUL"))
    assert [(item.op, item.type, item.source) for item in found.refused] == [
        (1, "ATAN2", "XNNPACK's own rules")
    ]
    assert "ATAN2" in found.refused[0].reason


def test_what_would_be_taken_without_a_refused_operator_is_computed() -> None:
    (would,) = seen(line("ADD", "ATAN2", "MUL")).what_ifs
    assert (would.type, would.ops_taken, would.partitions) == ("ATAN2", 3, 1)


def test_an_operator_that_makes_nothing_belongs_to_what_it_reads() -> None:
    """ASSIGN_VARIABLE, and what only feeds it, is inside though nobody outside needs it."""
    tensors = [tensor(name, "FLOAT32", [1]) for name in ("x", "y", "inner", "fed")]
    read = outlive.read(
        model(["ABS"], graph(tensors, [0], [1], op(0, [0], [2]), op(0, [2], [1]), op(0, [2], [3])))
    )
    nodes = [["ABS", [0], [2]], ["ABS", [2], [1]], ["ABS", [2], [3]], ["DELEGATE", [0], [1]]]
    assert partitions_of(read.subgraphs[0], nodes)[0].operators == (0, 1, 2)


def test_an_operator_behind_the_border_stays_outside() -> None:
    tensors = [tensor(name, "FLOAT32", [1]) for name in ("x", "y", "unread")]
    read = outlive.read(model(["ABS"], graph(tensors, [0], [1], op(0, [0], [1]), op(0, [1], [2]))))
    nodes = [["ABS", [0], [1]], ["ABS", [1], [2]], ["DELEGATE", [0], [1]]]
    assert partitions_of(read.subgraphs[0], nodes)[0].operators == (0,)


@needs_compiler
@pytest.mark.corpus
def test_every_runnable_corpus_model(corpus_manifest: dict[str, dict[str, Any]], corpus: Path) -> None:
    names = [name for name, row in corpus_manifest.items() if row["outcome"] == "ok"]
    paths = [corpus / "models" / name for name in names]
    truths = plans(paths)
    assert len(truths) == len(paths)
    xnnpack = choose_configurations(["xnnpack"])[-1]
    wrong: list[Any] = []
    for path, truth in zip(paths, truths, strict=True):
        if "error" in truth:
            continue
        compiled = run_trial(xnnpack, TrialSettings(source=str(path), judge=JUDGE), run=False)
        found = see_xnnpack(outlive.read(path, tolerant=True), compiled)
        if found.taken != tuple(sorted(index for part in truth["taken"] for index in part)):
            wrong.append((path.name, found.taken, truth["taken"]))
        elif found.partitions != len(truth["taken"]):
            wrong.append((path.name, found.partitions, len(truth["taken"])))
    assert wrong == []
    assert sum("error" in truth for truth in truths) < len(paths) // 10
