"""A worker that a model has taken over: it says what it likes, and its caller neither obeys nor waits."""

from __future__ import annotations

import ast
import contextlib
import logging
import os
import pickle
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlive
from outlive.guarding.connection import GuardConnection
from outlive.guarding.worker_errors import CannotReturn
from outlive.process.child.guard import message_frames as wire
from outlive.process.limits import DeadlineMissed
from outlive.quant import quantization
from outlive.verbs.guard import guarded
from tests.deaths.restrictions import linux_only
from tests.guarding.payloads import STREAMS, frame, head
from tests.guarding.scenes import gone
from tests.quant.networks import dense_float, weights

pytestmark = linux_only
SOURCE = Path(outlive.__file__).parent
_SIZES = (0, 0, 0)


class Marked:
    """Makes a folder where it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)

    def __reduce__(self) -> Any:
        return os.mkdir, (self.path,)


def saying(*pieces: bytes, unsealed: bool = False) -> Callable[..., None]:
    """A function that sends these bytes in the place of its answer, and memory that can be taken away."""

    def say(*_: Any) -> None:
        import gc

        link = next(one for one in gc.get_objects() if type(one).__name__ == "Link")
        if unsealed:
            block = os.memfd_create("unsealed", os.MFD_ALLOW_SEALING)
            os.ftruncate(block, 1 << 16)
            link._outbox._send_descriptor(block)
        for piece in pieces:
            link._send_all(piece)
        time.sleep(1000)

    return say


def ended_by(
    function: Callable[..., Any], *arguments: Any, plain: bool = True, form: Any = object, **terms: Any
) -> str:
    """What ended the worker of a function that does not answer."""
    with pytest.raises(outlive.RunError) as caught:
        guarded(function, fresh=True, plain=form if plain else None, **terms)(*arguments)
    assert caught.value.flight is not None
    return str(caught.value.flight.ended_by)


_LARGE = wire.pack(wire.VALUE, (*_SIZES, 1), b"", (1, 1 << 16, [(0, 100)], ()))


@pytest.mark.parametrize("name", ["a value", "an exception", "a random state"])
def test_no_pickle_is_read(name: str, tmp_path: Path) -> None:
    evil = pickle.dumps(Marked(tmp_path / "made"))
    said = {
        "a value": wire.pack(wire.VALUE, (*_SIZES, 1), evil),
        "an exception": wire.pack(wire.RAISED, (*_SIZES, 1), evil),
        "a random state": wire.pack(wire.VALUE, (*_SIZES, 1), b"1", rest=evil),
    }[name]
    assert ended_by(saying(said)) == "malformed"
    assert not (tmp_path / "made").exists()


def test_quantize_runs_no_code_of_its_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evil = pickle.dumps((Marked(tmp_path / "made"), 0))

    def taken_over(*_: Any) -> Any:
        import sys

        serving = sys.modules["outlive_child.guard.server"]
        serving.Server._pack = lambda self, kind, value: (kind, evil, ())
        return b"", 0

    monkeypatch.setattr(quantization, "quantize_content", taken_over)
    with pytest.raises(outlive.RunError) as caught:
        outlive.quantize(dense_float(weights(1, 8)))
    assert not (tmp_path / "made").exists()
    assert caught.value.finding.code == "D514"
    assert caught.value.flight is not None
    assert caught.value.flight.ended_by == "malformed"
    assert "cannot be read" in caught.value.flight.error_text


NONSENSE = {
    "head": STREAMS["an endless head"],
    "kind": STREAMS["an unknown kind"],
    "spans": STREAMS["spans that are not there"],
    "ask": wire.pack(wire.ASK, (0,)),
    "ready": wire.pack(wire.READY, _SIZES, rest=b"{}"),
    "yielded": wire.pack(wire.YIELDED, (*_SIZES, 1), b"1"),
    "other call": wire.pack(wire.VALUE, (*_SIZES, 2), b"1"),
    "log": wire.pack(wire.LOG, (), b"[]"),
    "no descriptor": _LARGE,
    "no parts": frame(head(segment=1, size=1 << 63)),
}


@pytest.mark.parametrize(
    ("name", "plain"), [*((name, True) for name in NONSENSE), ("ask", False), ("no descriptor", False)]
)
def test_what_makes_no_sense_ends_the_worker(name: str, plain: bool) -> None:
    assert ended_by(saying(NONSENSE[name]), plain=plain) == "malformed"


@pytest.mark.parametrize("plain", [True, False])
def test_memory_that_can_be_taken_away_is_refused(plain: bool) -> None:
    assert ended_by(saying(_LARGE, unsealed=True), plain=plain) == "malformed"


def test_a_plain_answer_is_never_late() -> None:
    assert ended_by(saying(wire.pack(wire.VALUE, (*_SIZES, 1), b"1", late=1))) == "malformed"


def _endless(piece: bytes) -> Callable[..., None]:
    def flood(*_: Any) -> None:
        import gc

        link = next(one for one in gc.get_objects() if type(one).__name__ == "Link")
        while True:
            link._send_all(piece)

    return flood


def _asking(samples: Any) -> None:
    while True:
        next(samples, None)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (_endless(b"\0" * 65_536), ()),
        (_endless(wire.pack(wire.LOG, (), b'["x", 1, "", 1, "", "", "", "", 1.5]') * 100), ()),
        (_asking, (iter([1]),)),
        (lambda: os.system("yes"), ()),
    ],
    ids=["zeros", "log", "ask", "print"],
)
def test_the_deadline_is_kept_while_it_talks(function: Any, arguments: tuple[Any, ...]) -> None:
    assert ended_by(function, *arguments, seconds=0.3, quiet=True) == "deadline"


@pytest.mark.parametrize("kind", [wire.ASK, wire.LOG])
def test_what_comes_before_an_answer_does_not_put_off_the_deadline(kind: int) -> None:
    wires = GuardConnection(lambda: None, lambda: False)
    wires._inlet.feed(wire.pack(kind, (0,) if kind == wire.ASK else ()))
    with pytest.raises(DeadlineMissed):
        wires.receive(time.monotonic() - 1)
    wires.handed_over()
    wires.close()


def test_one_who_takes_nothing_is_not_waited_for() -> None:
    wires = GuardConnection(lambda: None, lambda: False)

    def fill() -> None:
        while True:
            wires.pack(wire.ITEM, (), b"", [memoryview(bytes(10_000))])

    with pytest.raises(wire.Malformed, match="does not take"):
        fill()
    wires.handed_over()
    wires.close()


@pytest.mark.parametrize("seconds", [None, 500])
def test_a_death_is_seen_although_what_it_started_holds_all_it_had(
    seconds: float | None, tmp_path: Path
) -> None:
    """The child has every descriptor that can be inherited, leaves the worker's group, and prints on."""

    def start_and_die(path: str) -> None:
        import contextlib
        import ctypes
        import subprocess

        for name in os.listdir("/proc/self/fd"):
            with contextlib.suppress(OSError):
                os.set_inheritable(int(name), True)
        command = f"timeout 500 yes; touch {path}.ended"
        child = subprocess.Popen(["sh", "-c", command], close_fds=False, start_new_session=True)
        Path(path).write_text(str(child.pid))
        ctypes.string_at(0)

    path = tmp_path / "child"
    with pytest.raises(outlive.ModelDied) as caught:
        guarded(start_and_die, seconds=seconds, quiet=True)(str(path))
    assert not Path(f"{path}.ended").exists(), "its death was seen only when its child had ended too"
    assert caught.value.flight is not None
    assert caught.value.flight.signal == "SIGSEGV"
    with contextlib.suppress(ProcessLookupError):
        os.kill(int(path.read_text()), signal.SIGKILL)
    assert gone(int(path.read_text()))


def test_what_a_function_starts_inherits_nothing_of_ours() -> None:
    def inherited() -> str:
        import subprocess

        done = subprocess.run(
            ["ls", "-l", "/proc/self/fd"], close_fds=False, stdout=subprocess.PIPE, check=True
        )
        return done.stdout.decode()

    assert "socket" not in outlive.guard(inherited, fresh=True)()


def test_a_worker_that_runs_models_runs_nothing_else() -> None:
    plain, usual = guarded(os.getpid, plain=object), outlive.guard(os.getpid)
    first, second = plain(), usual()
    assert first != second
    assert [plain(), usual(), plain()] == [first, second, first]


def test_it_is_not_believed_how_much_it_holds() -> None:
    def lie() -> int:
        import gc
        import resource

        memory = next(one for one in gc.get_objects() if type(one).__name__ == "MemoryLimit")
        memory.sizes_now_and_then = lambda _: (1 << 62, 1 << 62, 1 << 62)
        memory.limit = lambda _: None
        resource.setrlimit(resource.RLIMIT_DATA, (-1, -1))
        return os.getpid()

    def take() -> None:
        held = [np.ones(4_000_000) for _ in range(20)]
        time.sleep(1000 * len(held))

    liar = guarded(lie, plain=object)()
    with pytest.raises(outlive.LimitReached) as caught:
        guarded(take, plain=object, memory="100MB")()
    assert caught.value.flight is not None
    assert caught.value.flight.pid == liar


def test_a_plain_call_gives_values_errors_and_streams() -> None:
    def row(count: int) -> Any:
        for number in range(count):
            yield {"number": number, "held": b"x" * 100_000}
        raise KeyError("the end")

    stream = guarded(row, plain=object)(5)
    assert [next(stream)["number"] for _ in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(KeyError, match="the end"):
        next(stream)
    given = (b"m" * 10_000_000, 5, np.arange(5))
    content, count, numbers = guarded(lambda: given, plain=object)()
    assert (content, count) == given[:2]
    np.testing.assert_array_equal(numbers, given[2])
    with pytest.raises(CannotReturn, match=r"it is a builtins\.object"):
        guarded(object, plain=object)()


def test_what_its_callers_iterator_raises_comes_back_itself() -> None:
    class Refused(Exception):
        """A type that workers have no name for."""

    def samples() -> Any:
        yield 1
        raise Refused("the second one")

    with pytest.raises(Refused, match="the second one") as caught:
        guarded(list, plain=object)(samples())
    assert "Refused" in str(caught.value.__cause__)


def test_a_plain_call_leaves_randomness_alone() -> None:
    def drawn() -> float:
        return random.random()

    draw = guarded(drawn, plain=object)
    before = random.getstate()
    assert draw() == draw()
    assert random.getstate() == before


def test_a_plain_call_logs_here(caplog: pytest.LogCaptureFixture) -> None:
    def tell() -> None:
        logging.getLogger("outlive.test").error("long %s", "\N{ELEPHANT}" * 500_000)

    guarded(tell, plain=object)()
    assert "long \N{ELEPHANT}" in caplog.text


def test_an_answer_of_another_form_is_none() -> None:
    def answer(*_: Any) -> Any:
        return "no model", 1

    assert ended_by(answer, form=(bytes, int)) == "malformed"


def _calls_of_guards(text: str) -> list[ast.Call]:
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    return [call for call in calls if ast.unparse(call.func).endswith(("Guarded", "guard"))]


def test_outlive_itself_reads_only_plain_answers() -> None:
    """Whatever runs a model for us says in which form it answers; the demo and `guard` need not."""
    own = {"guarding/guarded.py", "verbs/guard.py", "cli/commands/demo.py", "cli/commands/guard.py"}
    texts = {path.relative_to(SOURCE).as_posix(): path.read_text("utf-8") for path in SOURCE.rglob("*.py")}
    texts = {name: text for name, text in texts.items() if name not in own and "guard" in text}
    calls = [(name, call) for name, text in texts.items() for call in _calls_of_guards(text)]
    assert len(calls) > 5
    assert [name for name, call in calls if "plain" not in [one.arg for one in call.keywords]] == []
