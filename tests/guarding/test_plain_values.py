"""What is read of a worker that ran a model: plain values, or `Malformed`, in little time and memory."""

from __future__ import annotations

import json
import os
import resource
from typing import Any

import numpy as np
import pytest

from outlive.guarding import worker_output as outputs
from outlive.guarding.connection import SegmentReader
from outlive.guarding.guard_process import read_applied
from outlive.guarding.guarded_call import check_form
from outlive.guarding.worker_errors import GuardedError, rebuild_plain
from outlive.platforms.posix.child import segment_memory
from outlive.process.child.guard import exceptions, plain_values, segments
from outlive.process.child.guard.message_frames import FrameReader, Malformed
from outlive.process.child.leak.targets import CannotRepeat
from outlive.process.flight import Flight
from outlive.verbs.judging import JUDGE
from tests.deaths.restrictions import linux_only
from tests.guarding.payloads import BODIES, ERROR, ERRORS, LOGS, STREAMS

pytestmark = linux_only
SEEN = Flight(died=False, stage="call")
_MOST_GROWTH_KIB = 200_000


@pytest.fixture(autouse=True)
def _bounded() -> Any:
    """Nothing here takes more memory than what was sent, and some more."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < _MOST_GROWTH_KIB


VALUES: list[Any] = [
    None,
    True,
    -7,
    2**70,
    0.1,
    float("inf"),
    "ü\udc80\0",
    b"",
    b"\0\xff" * 9,
    b"model" * 100_000,
    (b"m" * 5000, 3),
    [1, (2, [3, ()])],
    {"a": {"b": (1, None)}, "t": [], "": {}},
]
ARRAYS = [
    np.arange(12, dtype=np.float32).reshape(3, 4),
    np.zeros((0, 4), np.int8),
    np.array(5.5),
    np.array([[True, False]]),
    np.arange(100_000, dtype=">i4")[::2],
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: repr(value)[:30])
def test_plain_values_come_back_as_they_are(value: Any) -> None:
    body, apart = plain_values.dumps(value)
    found = plain_values.loads(body, [bytearray(one) for one in apart])
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("value", ARRAYS, ids=lambda value: f"{value.dtype.str}{value.shape}")
def test_arrays_come_back_as_they_are(value: Any) -> None:
    body, apart = plain_values.dumps(value)
    found = plain_values.loads(body, [bytearray(one) for one in apart])
    np.testing.assert_array_equal(found, value)
    assert found.dtype == value.dtype.newbyteorder("<")
    assert found.flags.writeable


def test_numbers_of_numpy_are_numbers() -> None:
    assert plain_values.loads(plain_values.dumps([np.float32(0.5), np.int64(3), np.bool_(True)])[0]) == [
        0.5,
        3,
        1,
    ]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (object(), "it is a builtins.object"),
        ({"x": [1, {2}]}, r"its part \['x'\]\[1\] is a builtins.set"),
        ({1: 2}, "it is a builtins.dict"),
        (np.array([object()]), "numpy.ndarray"),
        ("x" * (2 << 20), "too long"),
    ],
)
def test_what_is_not_plain_is_not_sent(value: Any, words: str) -> None:
    with pytest.raises(plain_values.NotPlain, match=words):
        plain_values.dumps(value)


_NAMED = [{"name": str, "size": int | None}]


@pytest.mark.parametrize(
    ("form", "good", "bad"),
    [
        (bytes, b"x", "x"),
        (int, 5, -1),
        (int, 0, 2**63),
        (int, 1, True),
        (float, 1, float("nan")),
        (float, 0.5, True),
        (bytes | None, None, 0),
        ((bytes, int), (b"", 1), (b"", 1, 1)),
        ((bytes, int), (b"", 1), [b"", 1]),
        (_NAMED, [{"name": "x", "size": None}], [{"name": "x"}]),
        (_NAMED, [], [{"name": "x", "size": 1, "more": 1}]),
        (_NAMED, [{"name": "x", "size": 1}], ({"name": "x", "size": 1},)),
        (object, [1, ()], ...),
    ],
)
def test_an_answer_has_the_form_of_its_question(form: Any, good: Any, bad: Any) -> None:
    assert check_form(good, form) is good
    if bad is not ...:
        with pytest.raises(Malformed):
            check_form(bad, form)


@pytest.mark.parametrize("name", BODIES)
def test_a_body_that_is_no_value(name: str) -> None:
    with pytest.raises(Malformed):
        plain_values.loads(BODIES[name])


def test_a_buffer_is_used_once_and_each_is_used() -> None:
    held = bytearray(1 << 20)
    assert plain_values.loads(b'[{"b": 0}]', [held]) == [bytes(held)]
    with pytest.raises(Malformed):
        plain_values.loads(b"[" + b'{"b": 0},' * 10_000 + b'{"b": 0}]', [held])
    with pytest.raises(Malformed):
        plain_values.loads(b"[]", [held])


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("step", [7, 1 << 16])
def test_a_stream_that_is_no_frame(name: str, step: int) -> None:
    def fed() -> None:
        inlet = FrameReader()
        for start in range(0, len(STREAMS[name]), step):
            inlet.feed(STREAMS[name][start : start + step])
            assert inlet.take() is None

    with pytest.raises(Malformed):
        fed()


def test_zero_bytes_are_no_frame_and_take_no_room() -> None:
    inlet = FrameReader()
    for _ in range(2000):
        inlet.feed(b"\0" * 65_536)
        assert inlet.take() is None
    assert len(inlet._rest) < 12


@pytest.mark.parametrize("name", LOGS)
def test_a_log_record_that_is_none(name: str) -> None:
    with pytest.raises(Malformed):
        outputs.deliver_log(LOGS[name], is_plain=True)


@pytest.mark.parametrize("text", [b"", b"[]", b'{"a": {}}', b'{"sandbox": 1}', b"[" * 100_000, b"\xff"])
def test_limits_that_are_none(text: bytes) -> None:
    with pytest.raises(Malformed):
        read_applied(text)


@pytest.mark.parametrize("name", ERRORS)
def test_an_exception_that_is_none(name: str) -> None:
    with pytest.raises(Malformed):
        rebuild_plain(plain_values.dumps(ERRORS[name])[0], SEEN, JUDGE)


def _crossed(error: BaseException) -> BaseException:
    return rebuild_plain(exceptions.describe_plainly(error), SEEN, JUDGE)


@pytest.mark.parametrize(
    "error",
    [
        ValueError("words"),
        KeyError("first"),
        FileNotFoundError(2, "No such file", "there.txt"),
        ZeroDivisionError(),
        UnicodeDecodeError("utf-8", b"x", 0, 1, "why"),
        CannotRepeat("not this one"),
        MemoryError("so much"),
    ],
    ids=repr,
)
def test_an_exception_of_python_or_ours_comes_back(error: Exception) -> None:
    found = _crossed(error)
    assert str(found) == str(error)
    assert type(found) is type(error)
    assert "WorkerTraceback" in type(found.__cause__).__name__


def test_an_exception_of_others_has_its_name_and_its_words() -> None:
    class ConverterError(ValueError):
        def __reduce__(self) -> Any:
            return exec, ("raise SystemExit('code of the worker ran')",)

    found = _crossed(ConverterError("ops are missing"))
    assert isinstance(found, GuardedError)
    assert isinstance(found, ValueError)
    assert type(found).__name__ == "ConverterError"
    assert str(found) == "ops are missing"


def test_an_exception_whose_words_cannot_be_given_to_it_has_them_all_the_same() -> None:
    error = UnicodeDecodeError("utf-8", b"x" * 5000, 0, 1, "why")
    assert str(_crossed(error)) == str(error)


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), GeneratorExit()])
def test_what_ends_a_program_ends_only_the_worker(error: BaseException) -> None:
    assert isinstance(_crossed(error), GuardedError)


def test_a_type_of_no_name_is_nothing_more() -> None:
    odd = {**ERROR, "module": "x", "type": "no\0name", "name": "__import__", "bases": ["eval", "exit"]}
    found = rebuild_plain(plain_values.dumps(odd)[0], SEEN, JUDGE)
    assert type(found).__mro__[1] is GuardedError


def test_long_words_are_cut_in_their_middle() -> None:
    found = _crossed(ValueError("begin" + "\N{ELEPHANT}" * 2_000_000 + "end"))
    assert str(found).startswith("begin")
    assert str(found).endswith("end")
    assert len(str(found)) < 100_000


def _sealed(size: int) -> int:
    return segment_memory.new_segment(size)


def _unsealed(size: int) -> int:
    descriptor = os.memfd_create("unsealed", os.MFD_ALLOW_SEALING)
    os.ftruncate(descriptor, size)
    return descriptor


def _pipe(_: int) -> int:
    reading, writing = os.pipe()
    os.close(writing)
    return reading


@pytest.mark.parametrize("box", [segments.Inbox, SegmentReader])
@pytest.mark.parametrize(
    ("make", "held", "said"),
    [
        (_unsealed, 8192, 8192),
        (_sealed, 4096, 8192),
        (_sealed, 4096, 1 << 60),
        (_sealed, 8192, 0),
        (_pipe, 0, 8192),
        (lambda _: os.open("/dev/zero", os.O_RDWR), 0, 8192),
        (lambda _: os.open(__file__, os.O_RDONLY), 0, 1),
    ],
)
def test_memory_that_can_be_taken_away_is_not_read(box: Any, make: Any, held: int, said: int) -> None:
    with pytest.raises((ValueError, OSError)):
        box(lambda: make(held)).leases(1, said, [(0, min(said, 4096))])


@pytest.mark.parametrize("box", [segments.Inbox, SegmentReader])
def test_memory_that_stays_is_read(box: Any) -> None:
    descriptor = _sealed(8192)
    os.pwrite(descriptor, b"held", 100)
    inbox = box(lambda: descriptor)
    (lease,) = inbox.leases(1, 8192, [(100, 4)])
    assert bytes(lease) == b"held"
    inbox.drop([1])


def test_of_a_worker_that_runs_models_nothing_is_mapped() -> None:
    descriptor = _sealed(4096)
    reader = SegmentReader(lambda: os.dup(descriptor))
    (lease,) = reader.leases(1, 4096, [(0, 4)])
    os.pwrite(descriptor, b"else", 0)
    assert bytes(lease) == b"\0\0\0\0"
    for number in range(2, 40):
        try:
            reader.leases(number, 4096, [(0, 1)])
        except ValueError as error:
            assert "exceed the protocol's limit" in str(error)
            break
    else:
        pytest.fail("it takes segments without end")
    with pytest.raises(ValueError, match="exceed the protocol's limit"):
        reader.leases(1, 4096, [(0, 5 << 30)])
    reader.close()
    os.close(descriptor)


def test_a_log_record_makes_no_logger_of_a_model(caplog: pytest.LogCaptureFixture) -> None:
    import logging

    record = ["of.no.module.here", 40, "path", 1, "some words", "function", "", "", 1.5]
    outputs.deliver_log(json.dumps(record).encode(), is_plain=True)
    assert "some words" in caplog.text
    assert "of.no.module.here" not in logging.root.manager.loggerDict
