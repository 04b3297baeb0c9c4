"""All that is said about a file beyond reading it: checks and diagnoses, drawn and written."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np

import outlive
from outlive.diagnosis.diagnosis_case import open_case
from outlive.diagnosis.diagnosis_record import Conditions, Diagnosis, Trial
from outlive.diagnosis.input_probes import PROBES, feedable, probe, with_fitting_sizes
from outlive.diagnosis.operator_names import hollow_in, loops_in, owners_of, placed
from outlive.diagnosis.prefix_bisection import cut_or_none
from outlive.diagnosis.run_cause import with_cause
from outlive.diagnosis.sized_operators import sized_by_inputs
from outlive.diagnosis.verdict import Seen, decide, decide_unhurt
from outlive.finding import Finding
from outlive.model import Model, read_source
from outlive.process.flight import Flight, OpSeen, OutputSeen
from outlive.process.limits import Limits
from outlive.rendering import page_of
from outlive.rendering.media.github import workflow_commands
from outlive.rendering.media.json import document_of, dump
from outlive.rendering.media.sarif import sarif_log
from outlive.rendering.media.text import draw_text
from outlive.rules.checked import Checks
from outlive.rules.judgement import assess_run
from outlive.surgery import CutRequest
from outlive.verbs.checking import check_reading, make_criteria
from outlive.verbs.judging import JUDGE

# A mutant that does no harm must not take long, and one that does must not take all.
_LIMITS = Limits(memory=1 << 29, seconds=1.5)
_TEXTS = (
    "",
    "Node number 0 (ADD) failed to prepare.",
    "tflite/kernels/reshape.cc:92 num_input_elements != num_output_elements (4 != 0)",
    "XNNPack delegate failed to reshape runtime",
)


def values(model: Model | None) -> list[Any] | None:
    """Values for every input: the extremes, and what nothing should divide by."""
    if model is None or len(model.inputs) > 8:
        return None
    return [np.array([-(2**63), -1, 0, 2**63 - 1]) for _ in model.inputs]


def check_and_say(data: bytes) -> list[str]:
    """Check a file and say it in every way; the rules that failed."""
    reading = read_source(data)
    order = make_criteria(inputs=values(reading.model))
    checked = check_reading(reading, order)
    dump(document_of(checked))
    dump(sarif_log([checked], order.rules, Path.cwd()))
    broken = [line for line in workflow_commands([checked], Path.cwd()) if "\n" in line]
    list(draw_text(page_of(Checks(files=(checked,))), 2))
    failed = [str(item) for item in checked.judgement.not_checked if "failed" in item.reason]
    return [*failed, *broken]


def judge_ends(data: bytes, seed: int) -> None:
    """Every kind of end that this file may come to, judged and drawn; no process is started."""
    case = open_case(data, None, Limits(), judge=JUDGE)
    chance, model = random.Random(seed), case.model
    judged: list[tuple[Finding, Flight]] = []
    for flight in _ends(model, chance):
        conditions = Conditions(source=data)
        trial = placed(Trial(name="as it is", conditions=conditions, flight=flight, seconds=0.1), model)
        seen = Seen(
            end=trial,
            trials=(trial,),
            findings=case.findings,
            owners=owners_of(case.reading),
            loops=loops_in(model),
            sized=sized_by_inputs(model),
            hollow=hollow_in(model),
        )
        if trial.ran:
            decide_unhurt((*case.findings, *assess_run(flight, case.reading)), [trial], seen.owners)
        else:
            judged.append((decide(seen).finding, flight))
    with_cause(*chance.choice(judged), data)  # reads and checks the file anew: once is enough
    _prepare_experiments(model, chance)


def _prepare_experiments(model: Model | None, chance: random.Random) -> None:
    """What the experiments of a diagnosis are made from: other inputs, and parts."""
    if model is None or not model.subgraphs:
        return
    if feedable(model):
        for kind in PROBES:
            probe(model, kind)
        with_fitting_sizes(model)
    count = len(model.subgraphs[0].operators)
    if count and not model.flaws:
        cut_or_none(model, CutRequest(until=chance.randrange(count)))


def _ends(model: Model | None, chance: random.Random) -> list[Flight]:
    operators = list(model.operators()) if model is not None else []
    some = chance.choice(operators) if operators else None
    op = None if some is None else OpSeen(type=some.name, index=chance.choice((None, some.index)))
    signals = ("SIGSEGV", "SIGABRT", "SIGFPE", "SIGBUS", "SIGKILL")
    outputs = tuple(
        OutputSeen(name="", index=index, shape=(9, 9), dtype="int8", minimum=0, maximum=1, sha256="")
        for index in range(3)
    )
    return [
        *(Flight(died=True, stage="invoke", signal=signal, op=op) for signal in signals),
        *(
            Flight(died=False, stage="allocate", error_type="RuntimeError", error_text=text)
            for text in _TEXTS
        ),
        Flight(died=True, stage="invoke", signal="SIGABRT", ended_by="deadline", op=op),
        Flight(died=False, stage="done", outputs=outputs),
    ]


def diagnose_and_say(data: bytes) -> Diagnosis:
    """Diagnose a file for real, in workers with limits, and say it in every way."""
    diagnosis = outlive.diagnose(data, limits=_LIMITS)
    dump(document_of(diagnosis))
    list(draw_text(page_of(diagnosis), 2))
    return diagnosis
