"""Verdicts are pure: the same flights and findings give the same cause, and no process is touched."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from outlive.diagnosis.diagnosis_record import Trial
from outlive.diagnosis.error_diagnosis import diagnose_flight
from outlive.diagnosis.flight_cause import cause_of_end
from outlive.diagnosis.verdict import Seen, decide, decide_unhurt, refused_probes
from outlive.finding import Severity
from outlive.process.flight import Flight, OpSeen
from tests.diagnosis.made import RAN, finding, flight, refusal, trial
from tests.flights.replay import load, rebuild, recordings

LIMITED = {"memory_bytes": 1000, "data_bytes": 1000}


def told(end: Flight, *others: Trial, loops: tuple[OpSeen, ...] = ()) -> str:
    first = trial(end)
    return cause_of_end(first, (first, *others), loops).cause


@pytest.mark.parametrize(
    ("end", "cause"),
    [
        (flight(ended_by="memory", signal="SIGKILL"), "out-of-memory"),
        (flight(signal="SIGKILL", oom_kills=(3, 4)), "out-of-memory"),
        (flight(signal="SIGABRT", stderr_tail="std::bad_alloc"), "out-of-memory"),
        (
            flight(fault_address=0, last_memory={"data_bytes": 900}, limits=LIMITED),
            "unchecked-allocation",
        ),
        (refusal(""), "out-of-memory"),
        (
            flight(signal="SIGABRT", stderr_tail="Thread creation via pthread_create() failed."),
            "threads-refused",
        ),
        (flight(ended_by="deadline", signal="SIGABRT"), "hang"),
        (flight(ended_by="deadline", op=OpSeen(type="WHILE", index=0)), "infinite-loop"),
        (flight(signal="SIGFPE", op=OpSeen(type="FLOOR_MOD", index=0)), "int-min-divided-by-minus-one"),
        (flight(signal="SIGFPE", stage="allocate"), "option-out-of-range"),
        (flight(signal="SIGFPE", division=(-(2**63), -1)), "int-min-divided-by-minus-one"),
        (
            flight(signal="SIGFPE", op=OpSeen(type="DIV", index=0), division=(5, 0)),
            "constant-out-of-range",
        ),
        (flight(op=OpSeen(type="RANDOM_UNIFORM", index=0), fault_address=0), "runtime-shape-from-input"),
        (
            flight(signal="SIGABRT", frames=("abort", "tflite::QuantizeMultiplierSmallerThanOneExp")),
            "quant-scale-invalid",
        ),
        (
            flight(stage="call", frames=("tflite::calibration_wrapper::CalibrationWrapper::FeedTensor",)),
            "call-order",
        ),
        (refusal("Node number 0 (ONE_HOT) failed to invoke.", "invoke"), "out-of-memory"),
        (refusal("Node number 0 (ADD) failed to invoke.", "invoke"), "unknown"),
        (flight(), "unknown"),
        (refusal("Encountered unresolved custom op: MyOp."), "unresolved-custom-op"),
        (refusal("Select TensorFlow op(s), included in the given model, is(are) not supported"), "flex-op"),
        (refusal("tflite/kernels/slice.cc:171 NumOutputs(node) != 1 (0 != 1)"), "op-arity"),
        (refusal("gather index out of bounds", "invoke"), "data-dependent-index"),
        (refusal("words that nobody knows"), "unknown"),
    ],
)
def test_an_end_tells_its_cause(end: Flight, cause: str) -> None:
    assert told(end) == cause


def test_a_loop_in_the_model_makes_a_hang_an_infinite_loop() -> None:
    loop = OpSeen(type="WHILE", index=7)
    end = trial(flight(ended_by="deadline", op=OpSeen(type="ADD", subgraph=2, index=0)))
    found = cause_of_end(end, (end,), (loop,))
    assert (found.cause, found.op) == ("infinite-loop", loop)


def test_a_death_in_xnnpack_is_the_delegates_only_if_it_lives_without() -> None:
    end = flight(frames=("xnn_f32_gemm_minmax_ukernel",))
    assert told(end) == "unknown"
    assert told(end, trial(RAN, "without delegates")) == "delegate-crash"


def test_a_death_that_hangs_on_values_is_the_inputs() -> None:
    assert told(flight(), trial(RAN, "zeros")) == "data-dependent-index"
    sized = flight(op=OpSeen(type="RANDOM_UNIFORM", index=0))
    assert told(sized, trial(RAN, "zeros")) == "runtime-shape-from-input"


def test_sigbus_is_a_changed_file_unless_a_second_run_ends_so_too() -> None:
    end = flight(signal="SIGBUS", stage="get", op=None)
    assert told(end) == "file-changed-while-mapped"
    assert told(end, trial(RAN, "from bytes")) == "file-changed-while-mapped"
    assert told(end, trial(end, "from bytes")) == "unknown"


def test_a_delegate_that_alone_refuses_is_named() -> None:
    end = refusal("XNNPack delegate failed to reshape runtimeNode number 5 (TfLiteXNNPackDelegate) failed")
    assert told(end) == "bad-resize"  # words that were caught: nobody knows who resized what
    assert told(replace(end, resized={0: (2, 3)})) == "bad-resize"
    as_in_the_file = replace(end, resized={})
    assert told(as_in_the_file) == told(as_in_the_file, trial(end, "one thread")) == "unknown"
    assert told(as_in_the_file, trial(RAN, "without delegates")) == "delegate-refused"


def test_a_delegate_without_words_leaves_them_to_the_kernels() -> None:
    end = replace(refusal("XNNPack delegate failed to reshape runtime"), resized={})
    plain = refusal("tflite/kernels/conv.cc:337 NumDimensions(input) != 4 (3 != 4)Node number 2 (CONV_2D)")
    assert told(end, trial(plain, "without delegates")) == "rank-mismatch"


def test_a_size_that_no_values_mend_is_not_the_values() -> None:
    words = "./tflite/kernels/internal/reshape_utils.h num_input_elements != num_output_elements (6 != 1)"
    end = refusal(f"{words}Node number 0 (RESHAPE) failed to invoke.", "invoke")
    assert told(end, trial(RAN, "zeros"), trial(end, "ones")) == "runtime-shape-from-input"
    assert told(end, trial(end, "zeros"), trial(end, "ones")) == "shape-mismatch"


def test_only_silence_is_a_want_of_memory() -> None:
    assert told(refusal("Node number 0 (ONE_HOT) failed to invoke.", "invoke")) == "out-of-memory"
    assert told(refusal("who knowsNode number 0 (ONE_HOT) failed to invoke.", "invoke")) != "out-of-memory"


def test_a_resize_is_undone_only_where_somebody_resized() -> None:
    end = refusal("Attempting to resize a fixed-size tensor.")

    def advice(flown: Flight) -> str:
        first = trial(flown)
        return " ".join(item.action for item in cause_of_end(first, (first,)).remedies)

    assert "file's own shapes again" in advice(end)
    assert "file's own shapes again" in advice(replace(end, resized={0: (2, 3)}))
    assert "own shapes again" not in advice(replace(end, resized={}))
    assert told(replace(end, resized={})) == "shape-mismatch"


def seen(end: Flight, **fields: Any) -> Seen:
    first = trial(end)
    return Seen(**{"end": first, "trials": (first,), "findings": (), **fields})


def test_a_finding_about_the_dying_operator_decides() -> None:
    findings = (finding("rank-mismatch", (1, "SOFTMAX")), finding("op-arity", (3, "CONV_2D")))
    verdict = decide(seen(flight(), findings=findings))
    assert (verdict.cause, verdict.op) == ("op-arity", OpSeen(type="CONV_2D", index=3))
    assert verdict.finding.code == "O101"
    assert any("SIGSEGV" in item.fact for item in verdict.finding.evidence)


def test_the_most_basic_of_two_faults_at_one_operator_decides() -> None:
    at = (3, "CONV_2D")
    findings = (finding("shape-mismatch", at), finding("required-tensor-missing", at))
    assert decide(seen(flight(), findings=findings)).cause == "required-tensor-missing"


def test_a_fault_before_the_dying_operator_is_blamed_with_its_own_operator() -> None:
    verdict = decide(seen(flight(), findings=(finding("required-tensor-missing", (1, "VAR_HANDLE")),)))
    assert verdict.op == OpSeen(type="VAR_HANDLE", index=1)


def test_warnings_and_faults_further_on_decide_nothing() -> None:
    mild = finding("op-arity", (3, "CONV_2D"), severity=Severity.WARNING)
    later = (finding("op-arity", (8, "ADD")), finding("rank-mismatch", (9, "MUL")))
    verdict = decide(seen(flight(), findings=(mild, *later)))
    assert (verdict.cause, verdict.finding.code) == ("unknown", "D504")
    assert "a rule that knows this fault" in verdict.missing


def test_a_hang_is_a_hang_whatever_the_file_says() -> None:
    end = flight(ended_by="deadline", op=OpSeen(type="WHILE", index=0))
    findings = (finding("external-buffer-out-of-file"),)
    assert decide(seen(end, findings=findings)).cause == "infinite-loop"


def test_a_limit_of_memory_is_the_limits_whatever_the_file_says() -> None:
    end = flight(ended_by="memory", signal="SIGKILL", limits=LIMITED)
    assert decide(seen(end, findings=(finding("rank-mismatch", (3, "CONV_2D")),))).cause == "out-of-memory"


@pytest.mark.parametrize(
    ("end", "needed", "op"),
    [
        (flight(op=None, op_candidates=("CONV_2D", "ADD")), OpSeen(type="ADD", index=5), 5),
        (flight(op=OpSeen(type="ADD")), OpSeen(type="ADD", index=5), 5),
        (flight(), OpSeen(type="ADD", index=5), 3),
        (flight(op=None), OpSeen(type="ADD", index=5), 5),
    ],
)
def test_bisection_gives_the_index_that_frames_do_not(end: Flight, needed: OpSeen, op: int) -> None:
    found = decide(seen(end, needed=needed)).op
    assert found is not None
    assert found.index == op


def test_the_reader_of_a_broken_buffer_is_blamed() -> None:
    end = flight(op=None, op_candidates=("FULLY_CONNECTED", "CONV_2D"))
    owners = (OpSeen(type="FULLY_CONNECTED", index=4),)
    broken = (finding("external-buffer-out-of-file"),)
    verdict = decide(seen(end, findings=broken, owners=owners))
    assert (verdict.cause, verdict.op) == ("external-buffer-out-of-file", owners[0])


def test_what_works_becomes_the_first_remedy_and_what_fails_is_ruled_out() -> None:
    end = trial(flight())
    others = (trial(flight(), "without delegates"), trial(RAN, "reference kernels"), trial(flight(), "zeros"))
    verdict = decide(Seen(end=end, trials=(end, *others), findings=()))
    assert verdict.finding.remedies[0].command == "outlive run FILE --accelerator reference"
    assert [words.split(" (")[0] for words in verdict.ruled_out] == ["XNNPACK", "input values"]


def test_a_model_that_ran_in_spite_of_its_file_is_not_called_sound() -> None:
    ran = trial(RAN)
    verdict = decide_unhurt((finding("sparsity-metadata", (0, "FULLY_CONNECTED")),), (ran,), ())
    assert verdict is not None
    assert verdict.cause == "sparsity-metadata"
    assert "it ran here in 1 of 1 trials" in verdict.finding.evidence[-1].fact
    assert decide_unhurt((), (ran,), ()) is None


def test_a_zero_in_weights_is_behind_sizes_that_do_not_agree_further_on() -> None:
    found = (finding("shape-mismatch", (3, "ADD")),)
    empty = OpSeen(type="FULLY_CONNECTED", index=2)
    verdict = decide(seen(refusal("XNNPack delegate failed to reshape"), findings=found, hollow=(empty,)))
    assert (verdict.cause, verdict.op) == ("zero-size-dimension", empty)
    later = OpSeen(type="FULLY_CONNECTED", index=5)
    assert decide(seen(flight(), findings=found, hollow=(later,))).cause == "shape-mismatch"


def test_a_guarded_call_has_the_stage_that_its_frames_name() -> None:
    frames = ("litert::Model::GetSignature", "CompiledModelWrapper::GetSignatureByIndex", "cfunction_call")
    told = diagnose_flight(flight(stage="call", signal="SIGABRT", op=None, frames=frames))
    assert (told.cause, told.stage) == ("index-out-of-range", "load")
    assert diagnose_flight(flight(stage="call", op=None, frames=("numpy",))).stage == "call"


def test_zeros_that_are_refused_are_told_and_do_not_make_a_model_ill() -> None:
    words = (
        "tflite/kernels/div.cc:262 data[i] != zero_point was not true.Node number 1 (DIV) failed to invoke."
    )
    trials = [trial(RAN), trial(refusal(words, "invoke"), "inputs: zeros"), trial(RAN, "inputs: ones")]
    (told,) = refused_probes(trials, ())
    assert (told.code, told.cause, told.severity) == ("D521", "constant-out-of-range", Severity.WARNING)
    assert told.op is not None
    assert (told.op.index, told.op.type) == (1, "DIV")
    assert refused_probes([trial(RAN), trial(refusal(words), "inputs: negative")], ()) == ()


def test_what_works_is_not_advised_twice() -> None:
    end = refusal("failed to delegate RESIZE_BILINEAR node #63Node number 72 (TfLiteXNNPackDelegate) failed")
    first = trial(end)
    verdict = decide(Seen(end=first, trials=(first, trial(RAN, "without delegates")), findings=()))
    assert verdict.cause == "delegate-refused"
    said = [
        item for item in verdict.finding.remedies if "--accelerator builtin" in item.action + item.command
    ]
    assert len(said) == 1


# What each recorded flight comes to with nothing but its record: a verdict never changes unnoticed.
RECORDED = {
    "abort_while_allocating": "quant-scale-invalid",
    "abort_while_running": "unknown",
    "answer_of_60_megabytes": "unknown",
    "fault_in_xnnpack": "unknown",
    "fault_while_loading": "flatbuffer-corrupt",
    "file_cut_while_mapped": "file-changed-while-mapped",
    "killed_by_sigkill": "unknown",
    "killed_in_a_container": "out-of-memory",
    "left_with_exit_code": "unknown",
    "list_that_grows": "out-of-memory",
    "loop_without_end": "hang",  # recorded without a stack, and the record knows no model
    "maker_of_workers_gone": "unknown",
    "no_descriptors_left": "unknown",
    "memory_limit_in_words": "out-of-memory",
    "memory_limit_unchecked": "unchecked-allocation",
    "null_pointer_in_builtin_kernel": "unknown",
    "random_uniform_huge": "runtime-shape-from-input",
    "range_huge_machine": "out-of-memory",
    "resize_40gb": "out-of-memory",
    "smallest_integer_by_minus_one": "int-min-divided-by-minus-one",
    "unknown_custom_op": "unresolved-custom-op",
    "unusual_signal": "unknown",
    "check_inside_tensorflow": "tf-check-failed",
    "fork_after_tensorflow": "fork-after-threads",
    "queue_that_nobody_fills": "hang",
    "no_thread_for_builtin_kernels": "threads-refused",
    "no_thread_for_tensorflow": "threads-refused",
}


@pytest.mark.parametrize("path", recordings(), ids=lambda path: path.stem)
def test_a_recorded_flight_keeps_its_cause(path: Any) -> None:
    assert decide(seen(rebuild(load(path)[1]))).cause == RECORDED[path.stem]


def test_what_a_trial_has_ruled_out_is_not_advised() -> None:
    end = refusal("failed to create XNNPACK runtime")
    trials = (trial(end), trial(end, "without delegates"))
    verdict = decide(Seen(end=trials[0], trials=trials, findings=()))
    assert any("XNNPACK" in words for words in verdict.ruled_out)
    assert not any("--accelerator builtin" in item.action + item.command for item in verdict.finding.remedies)
