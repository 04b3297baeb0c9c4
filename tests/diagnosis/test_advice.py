"""No answer gives advice that it rules out itself, or that the model cannot follow."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path

import pytest

from outlive.diagnosis.advice import KnownLimits, has_fixed_shapes, remedies_that_hold, steps_that_hold
from outlive.diagnosis.autopsy import read_text
from outlive.diagnosis.diagnosis_case import file_findings
from outlive.diagnosis.diagnosis_record import AS_IT_IS, Conditions, Trial
from outlive.diagnosis.log_model import with_model
from outlive.diagnosis.messages import known_messages
from outlive.diagnosis.operator_names import hollow_in, loops_in, owners_of
from outlive.diagnosis.sized_operators import sized_by_inputs
from outlive.diagnosis.verdict import Seen, decide
from outlive.finding import Remedy, Tag
from outlive.model import read_source
from outlive.process.flight import Flight, OpSeen
from tests.deaths.scenes import HEALTHY
from tests.diagnosis.test_log_samples import SAMPLES
from tests.model.small import build, tensor

# What each failed trial rules out, in words of our own, and what no advice may say then.
RULED_OUT = {
    "without delegates": r"accelerator builtin|WITHOUT_DEFAULT_DELEGATES|without (?:the )?XNNPACK",
    "reference kernels": r"accelerator reference|BUILTIN_REF|reference kernels",
    "one thread": r"num_threads=1|one thread",
    "from bytes": r"model_content",
    "more memory": r"more memory",
}
FIXED = build(
    [tensor("a", shape=(1, 4)), tensor("b", shape=(1, 4))],
    operators=[{"opcode_index": 0, "inputs": [0], "outputs": [1]}],
)
RESIZE = r"(?<!not )(?:call|use) resize_tensor_input|resizeInput\("
NEWER = r"pip install --upgrade|newer runtime"


@pytest.mark.parametrize(
    ("step", "known", "left"),
    [
        (
            "run it without XNNPACK: outlive run FILE --accelerator builtin",
            {"failed": ("without delegates",)},
            "",
        ),
        (
            "run it without XNNPACK: outlive run FILE --accelerator builtin",
            {"failed": ("one thread",)},
            "all",
        ),
        (
            "scale the data, or call resize_tensor_input before allocate_tensors",
            {"fixed_shapes": True},
            "scale the data",
        ),
        ("give the input its size; do not resize it (resize_tensor_input)", {"fixed_shapes": True}, "all"),
        ("use a newer runtime: python -m pip install --upgrade ai-edge-litert", {"code": "O301"}, ""),
        ("use a newer runtime: python -m pip install --upgrade ai-edge-litert", {"code": "E421"}, "all"),
        ("use fewer threads: Interpreter(num_threads=1)", {"failed": ("one thread",)}, ""),
    ],
)
def test_what_is_ruled_out_is_left_out(step: str, known: dict[str, object], left: str) -> None:
    limits = KnownLimits(**known)  # type: ignore[arg-type]
    assert steps_that_hold([step], limits) == ((step if left == "all" else left,) if left else ())
    remedies = remedies_that_hold([Remedy(step, Tag.SAME_RESULTS)], limits)
    assert [item.action for item in remedies] == ([step if left == "all" else left] if left else [])


def test_shapes_are_fixed_unless_the_file_leaves_one_open() -> None:
    assert has_fixed_shapes(read_source(FIXED).model)
    assert not has_fixed_shapes(read_source(HEALTHY).model)  # of any batch


@pytest.mark.parametrize("message", known_messages(), ids=lambda message: message.id)
def test_no_message_advises_a_newer_runtime_for_what_tflm_lacks(message: object) -> None:
    told = read_text(str(message.sample))  # type: ignore[attr-defined]
    if told.code in ("O301", "O302"):
        assert not re.search(NEWER, "\n".join(told.do))


LOGS = [*(sample["log"] for sample in SAMPLES), *(message.sample for message in known_messages())]


def test_beside_a_model_of_fixed_shapes_no_log_advises_a_resize(tmp_path: Path) -> None:
    path = tmp_path / "fixed.tflite"
    path.write_bytes(FIXED)
    said = [step for log in LOGS for step in with_model(read_text(log), str(path)).do]
    assert [step for step in said if re.search(RESIZE, step)] == []
    assert [step for log in LOGS for step in read_text(log).do if re.search(RESIZE, step)]  # some do without


def seen_of(folder: Path, failed: tuple[str, ...]) -> Seen:
    """A crash model with its end as it was recorded, and trials that ended as badly."""
    case = json.loads((folder / "case.json").read_text())
    path = str(folder / "model.tflite")
    reading = read_source(path)
    named = case.get("op") or {}
    op = OpSeen(type=named["name"], index=named.get("index")) if named.get("name") else None
    died = str(case["outcome"]).startswith("SIG")
    flight = Flight(
        died=died,
        stage={"set_tensor": "set", "get_tensor": "get"}.get(case["stage"], case["stage"]),
        signal=case["outcome"] if died else None,
        op=op,
        frames=tuple(case.get("native_frames") or ()),
        error_type="" if died else "RuntimeError",
        error_text="" if died else str(case.get("stderr_tail", ""))[-400:],
    )
    trials = tuple(
        Trial(name=name, conditions=Conditions(source=path), flight=flight, seconds=0.1)
        for name in (AS_IT_IS, *failed)
    )
    return Seen(
        end=trials[0],
        trials=trials,
        findings=file_findings(reading, resized=False),
        owners=owners_of(reading),
        loops=loops_in(reading.model),
        sized=sized_by_inputs(reading.model),
        hollow=hollow_in(reading.model),
        fixed_shapes=has_fixed_shapes(reading.model),
    )


@pytest.mark.corpus
def test_no_verdict_on_a_crash_advises_what_it_rules_out(corpus: Path) -> None:
    folders = [path.parent for path in sorted(corpus.glob("crashes/*/model.tflite"))]
    if not folders:
        pytest.skip(f"there are no crash models in {corpus}")
    wrong = []
    for folder, count in itertools.product(folders, (1, len(RULED_OUT))):
        for failed in itertools.combinations(RULED_OUT, count):
            verdict = decide(seen_of(folder, failed))
            said = "\n".join(f"{item.action} {item.command}" for item in verdict.finding.remedies)
            wrong += [f"{folder.name}: {name}: {said}" for name in failed if re.search(RULED_OUT[name], said)]
            assert len(verdict.ruled_out) == len(failed)
    assert wrong == []
