"""After a death the interpreter says so again, or goes on in a new worker; after Ctrl-C it goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import outlive
from outlive.process.flight import Flight
from tests.deaths import moments
from tests.deaths.models import LEAST, dividing, endless
from tests.deaths.moments import Clock
from tests.interpreter.dropin_models import MODELS

I8 = np.int64

# A call that never comes back fails here; how long one takes on a busy machine is no matter of tests.
pytestmark = pytest.mark.timeout(240)


def divider(**options: object) -> outlive.Interpreter:
    interpreter = outlive.Interpreter(model_content=dividing(), **options)  # type: ignore[arg-type]
    interpreter.allocate_tensors()
    return interpreter


def feed(interpreter: outlive.Interpreter, left: int, right: int) -> None:
    interpreter.set_tensor(0, np.array([left], I8))
    interpreter.set_tensor(1, np.array([right], I8))


def test_after_a_death_each_call_raises_it_again() -> None:
    interpreter = divider()
    feed(interpreter, LEAST, -1)
    with pytest.raises(outlive.ModelDied) as first:
        interpreter.invoke()
    flight = first.value.flight
    assert (flight.signal, flight.stage) == ("SIGFPE", "invoke")
    assert interpreter.flight is flight
    for call in (interpreter.invoke, interpreter.allocate_tensors, interpreter.get_output_details):
        with pytest.raises(outlive.ModelDied) as again:
            call()
        assert again.value.flight is flight
        assert again.value.finding == first.value.finding
        assert isinstance(again.value, RuntimeError)


def test_restart_goes_on_with_the_inputs_that_were_set() -> None:
    interpreter = divider(on_death="restart")
    for round_number in range(3):
        feed(interpreter, LEAST, -1)
        dead = interpreter.pid
        with pytest.raises(outlive.ModelDied):
            interpreter.invoke()
        interpreter.set_tensor(1, np.array([7 + round_number], I8))
        assert interpreter.get_tensor(0).tolist() == [LEAST]
        interpreter.invoke()
        assert interpreter.get_tensor(2).tolist() == [LEAST % (7 + round_number)]
        assert interpreter.pid != dead
        assert interpreter.flight is None


def test_restart_keeps_shapes_and_inputs_of_every_kind() -> None:
    interpreter = outlive.Interpreter(model_content=MODELS["open"](), on_death="restart")
    interpreter.resize_tensor_input(0, [3, 4])
    interpreter.allocate_tensors()
    value = np.arange(12, dtype=np.float32).reshape(3, 4)
    interpreter.set_tensor(0, value)
    os.kill(interpreter.pid, signal.SIGKILL)
    with pytest.raises(outlive.ModelDied):
        interpreter.invoke()
    interpreter.invoke()
    assert np.array_equal(interpreter.get_tensor(1), value)


@pytest.mark.parametrize(
    ("model", "inputs", "output", "wanted"),
    [
        ("texts", {0: np.array([b"a", b"b", b"c", b"d"], dtype=object)}, 2, [b"c", b"a"]),
        ("ranged", {0: np.int32(1), 1: np.int32(4), 2: np.int32(1)}, 3, [1, 2, 3]),
        ("moving", {0: np.int32(3), 4: np.arange(4, dtype=np.int32)}, 5, [2, 3, 4, 5]),
    ],
)
def test_restart_keeps_inputs_that_are_not_in_the_block(
    model: str, inputs: dict[int, object], output: int, wanted: list[object]
) -> None:
    interpreter = outlive.Interpreter(model_content=MODELS[model](), on_death="restart")
    interpreter.allocate_tensors()
    for index, value in inputs.items():
        interpreter.set_tensor(index, value)
    os.kill(interpreter.pid, signal.SIGKILL)
    with pytest.raises(outlive.ModelDied):
        interpreter.invoke()
    interpreter.invoke()
    assert interpreter.get_tensor(output).tolist() == wanted


def test_restart_opens_a_relative_path_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "m.tflite").write_bytes(MODELS["relu"]())
    monkeypatch.chdir(tmp_path)
    interpreter = outlive.Interpreter("m.tflite", on_death="restart")
    interpreter.allocate_tensors()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    os.kill(interpreter.pid, signal.SIGKILL)
    with pytest.raises(outlive.ModelDied):
        interpreter.invoke()
    interpreter.invoke()


def test_on_death_is_raise_or_restart() -> None:
    with pytest.raises(ValueError, match="on_death"):
        outlive.Interpreter(model_content=MODELS["relu"](), on_death="ignore")


def test_a_deadline_ends_what_never_ends(clock: Clock) -> None:
    interpreter = outlive.Interpreter(model_content=endless(), seconds=300)
    interpreter.allocate_tensors()
    clock.advance_when(lambda: moments.a_worker_is_at("invoke"))
    with pytest.raises(outlive.LimitReached):
        interpreter.invoke()


def test_an_interrupt_in_the_middle_of_a_run_is_prompt_and_the_next_call_works() -> None:
    interpreter = outlive.Interpreter(model_content=endless())
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, np.array([3], np.int32))
    for _ in range(2):
        timer = moments.when(
            lambda: moments.a_worker_is_at("invoke"), lambda: os.kill(os.getpid(), signal.SIGINT)
        )
        with pytest.raises(KeyboardInterrupt):
            interpreter.invoke()
        timer.join()
        assert interpreter.get_tensor(0).tolist() == [3]
        assert interpreter.get_input_details()[0]["name"] == "start"


PROGRAM = """
import sys, numpy, outlive
interpreter = outlive.Interpreter(sys.argv[1])
interpreter.allocate_tensors()
try:
    print("pid", interpreter.pid, flush=True)
    interpreter.invoke()
except KeyboardInterrupt:
    print("interrupted", interpreter.get_tensor(0).tolist(), flush=True)
"""


def test_a_signal_from_the_terminal_is_the_programs_own(tmp_path: Path) -> None:
    path = tmp_path / "endless.tflite"
    path.write_bytes(endless())
    command = [sys.executable, "-c", PROGRAM, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        worker = int(program.stdout.readline().split()[1])
        program.send_signal(signal.SIGINT)
        out, complaints = program.communicate(timeout=300)
    assert out == "interrupted [0]\n"
    assert complaints == ""
    assert not Path(f"/proc/{worker}").exists()


def test_closing_one_that_was_ended_for_its_memory_raises_nothing_and_keeps_the_record() -> None:
    interpreter = divider()
    worker = interpreter._session.worker
    worker.stop = lambda: Flight(died=True, ended_by="memory", stage="idle", signal="SIGKILL")  # type: ignore[method-assign]
    interpreter.close()
    assert interpreter.flight.ended_by == "memory"
    worker.kill()
