"""Whatever was seen of a run that did not end well, exactly one rule has something to say about it.

The judge of a worker raises `InternalError` where none has: no user may ever meet that.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from outlive.interpreter.judge import Call
from outlive.process.child.wire import STAGES
from outlive.process.flight import Flight, OpSeen
from outlive.rules import judge
from outlive.rules.catalogue import load_rules
from outlive.verbs.judging import JUDGE
from tests.repetition import repeats, rounds

pytestmark = repeats

SIGNALS = (
    "SIGABRT", "SIGBUS", "SIGFPE", "SIGHUP", "SIGILL", "SIGINT", "SIGKILL", "SIGSEGV", "SIGSYS", "SIGTERM",
    "SIGTRAP", "SIGXCPU", "signal 37",
)  # fmt: skip
WORDS = (
    "", "\n", "std::bad_alloc", "free(): invalid pointer", "terminate called", "INFO: Created delegate",
    "Encountered unresolved custom op: X", "Select TensorFlow op(s)", "failed to allocate",
)  # fmt: skip
FRAMES = (
    "None",
    "libc.so.6",
    "abort",
    "xnn_run",
    "tflite::ops::builtin::add::Eval",
    "tflite::optimized_ops::X",
)
PROBLEMS = (
    "byte-order", "constant", "missing-batch", "not-computed", "unset-string", "wrong-dtype", "wrong-layout",
    "wrong-shape",
)  # fmt: skip
DTYPES = (
    "bool",
    "complex64",
    "float32",
    "float64, bytes swapped",
    "int64",
    "int8",
    "object",
    "string",
    "uint8",
)

texts = st.sampled_from(WORDS) | st.text(max_size=30)
sizes = st.none() | st.integers(0, 1 << 40)
addresses = st.none() | st.integers(0, 1 << 12) | st.integers(0, (1 << 64) - 1)
shapes = st.lists(st.integers(0, 300), max_size=5).map(tuple)


def flights() -> st.SearchStrategy[Flight]:
    """Every flight that could be recorded, and many that could not."""
    return st.builds(
        Flight,
        died=st.booleans(),
        stage=st.sampled_from((*STAGES, "done")),
        signal=st.none() | st.sampled_from(SIGNALS),
        exit_code=st.none() | st.integers(0, 255),
        ended_by=st.sampled_from(("", "deadline", "memory", "interrupt")) | st.text(max_size=5),
        op=st.none() | st.builds(OpSeen, type=texts, index=st.none() | st.integers(0, 9)),
        frames=st.lists(st.sampled_from(FRAMES), max_size=4).map(tuple),
        fault_address=addresses,
        error_type=st.sampled_from(("", "RuntimeError", "ValueError", "MemoryError")),
        error_text=texts,
        peak_bytes=sizes,
        stderr_tail=texts,
        limits=st.fixed_dictionaries(
            {},
            optional={"memory_bytes": sizes, "data_bytes": sizes, "seconds": st.none() | st.floats(0.1, 1e9)},
        ),
        oom_kills=st.none() | st.tuples(st.integers(0, 3), st.integers(0, 3)),
        last_memory=st.fixed_dictionaries({}, optional={"data_bytes": st.integers(0, 1 << 40)}),
        untraced=st.sampled_from(("", "ptrace is forbidden")),
    )


def told(kind: str, fact: Any) -> list[str]:
    """The codes of all findings; no rule may fail on the way."""
    judgement = judge({kind: fact}, [rule for rule in load_rules() if rule.facts == (kind,)])
    assert [item.reason for item in judgement.not_checked] == []
    return [finding.code for finding in judgement]


@settings(max_examples=rounds(500, soak=20_000), deadline=None)
@given(flights())
def test_a_flight_that_ended_badly_has_one_finding_and_another_none(flight: Flight) -> None:
    assert len(told("flight", flight)) == (1 if flight.died or flight.error_type else 0)


@settings(max_examples=rounds(200, soak=5000), deadline=None)
@given(flights().filter(lambda flight: flight.died or bool(flight.error_type)))
def test_the_judge_always_has_words_that_can_be_shown(flight: Flight) -> None:
    finding, text, _ = JUDGE.find("flight", flight, None)
    assert text.startswith(f"error[{finding.code}]")
    assert all(line.isprintable() for line in text.split("\n"))


@settings(max_examples=rounds(200, soak=5000), deadline=None)
@given(
    st.builds(
        Call,
        problem=st.sampled_from(PROBLEMS),
        index=st.none() | st.integers(0, 99),
        name=texts,
        wanted_shape=shapes,
        given_shape=shapes,
        wanted_dtype=st.sampled_from(DTYPES),
        given_dtype=st.sampled_from(DTYPES),
    )
)
def test_a_refused_call_has_one_finding(call: Call) -> None:
    assert len(told("call", call)) == 1


@given(texts)
def test_an_absence_has_one_finding(absence: str) -> None:
    assert told("absence", absence) == ["E401"]
