"""From an exception that somebody caught to a diagnosis: its record, its finding, or only its words."""

from __future__ import annotations

import traceback
from dataclasses import replace

from outlive.diagnosis.diagnosis_record import AS_IT_IS, Conditions, Diagnosis, Trial
from outlive.diagnosis.frame_hints import stage_in, stage_said
from outlive.diagnosis.verdict import Seen, decide, with_call_cause
from outlive.errors import OutliveError
from outlive.finding import Finding
from outlive.interpreter.judge import Call
from outlive.process.flight import Flight, OpSeen
from outlive.rules import judge

# Methods of interpreters, LiteRT's and ours, and of what else takes a model: which stage a call is.
STAGE_OF_CALL = {
    "__init__": "load",
    "from_file": "load",
    "from_buffer": "load",
    "get_signature_by_index": "load",
    "get_signature_list": "load",
    "modify_model_interface": "load",
    "allocate_tensors": "allocate",
    "resize_tensor_input": "allocate",
    "set_tensor": "set",
    "write": "set",
    "invoke": "invoke",
    "run_by_index": "invoke",
    "run_by_name": "invoke",
    "get_tensor": "get",
    "get_input_details": "get",
    "get_output_details": "get",
    "get_tensor_details": "get",
    "read": "get",
    "__del__": "free",
    "close": "free",
}
_OWNERS = ("interpreter", "compiled_model", "tensor_buffer")
_MOST_CHARACTERS = 10_000


def diagnose_error(error: BaseException) -> Diagnosis:
    """The diagnosis of an exception: one that outlive raised, or the runtime's own.

    The record of a run decides where there is one; else the finding of a refused call; else the words.
    """
    flight = getattr(error, "flight", None)
    finding = error.finding if isinstance(error, OutliveError) else None
    if isinstance(flight, Flight):
        return diagnose_flight(flight, finding)
    stage = stage_of(error)
    if finding is not None and finding.code[:1] != "D":
        return _of_finding(with_call_cause(finding), stage)
    if type(error).__name__ == "ConverterError":  # TensorFlow's, wherever it was caught
        call = Call(problem="converter-refused", text=str(error))
        return _of_finding(judge({"call": call}).findings[0], "convert")
    kind = next((kind.__name__ for kind in (MemoryError, ValueError) if isinstance(error, kind)), "")
    words = str(error)[:_MOST_CHARACTERS]
    made = Flight(died=False, stage=stage, error_type=kind or "RuntimeError", error_text=words)
    return diagnose_flight(made, finding)


def stage_of(error: BaseException) -> str:
    """The stage that an exception came from, by the interpreter's method in its traceback, or its words."""
    for frame in traceback.extract_tb(error.__traceback__):
        owner = frame.filename.replace("\\", "/").rpartition("/")[2].partition(".")[0]
        if owner in _OWNERS and frame.name in STAGE_OF_CALL:
            return STAGE_OF_CALL[frame.name]
    return stage_said(str(error)) or "invoke"


def diagnose_flight(flight: Flight, finding: Finding | None = None) -> Diagnosis:
    """The diagnosis of a run that is over, from its record, and the finding it got at the time."""
    trial = Trial(name=AS_IT_IS, conditions=Conditions(source=""), flight=flight, seconds=0.0)
    if trial.ran:
        return replace(_NOTHING, stage=flight.stage, works_with=(AS_IT_IS,), trials=(trial,))
    verdict = decide(Seen(end=trial, trials=(trial,), findings=()))
    chosen, cause, op = verdict.finding, verdict.cause, verdict.op
    if finding is not None and finding.cause:
        # It was judged where the model was at hand, which the record alone is not.
        chosen, cause, op = finding, finding.cause, _seen(finding) or op
    return replace(
        _of_finding(chosen, _stage(flight)),
        cause=cause,
        signal=flight.signal,
        op=op,
        running=flight.op,
        trials=(trial,),
        end=trial,
    )


_NOTHING = Diagnosis(
    path=None,
    verdict=None,
    cause="",
    stage="done",
    signal=None,
    op=None,
    running=None,
    needed=None,
    works_with=(),
    trials=(),
    findings=(),
)


def _stage(flight: Flight) -> str:
    """The stage; of a function of the user's own, the one that native frames name."""
    return stage_in(flight.frames) or flight.stage if flight.stage == "call" else flight.stage


def _of_finding(finding: Finding, stage: str) -> Diagnosis:
    return replace(_NOTHING, verdict=finding, cause=finding.cause, stage=stage, op=_seen(finding))


def _seen(finding: Finding) -> OpSeen | None:
    place = finding.op
    return None if place is None else OpSeen(type=place.type, subgraph=place.subgraph, index=place.index)
