"""The fixtures: an interpreter whose death is the test's, does a model fit, does something grow."""

from __future__ import annotations

from pathlib import Path

from outlive import demo_models
from tests.pytest_plugin.sessions import run_session

TESTS = """\
import outlive, pytest
from outlive import demo_models

HEALTHY, DEADLY, BIG = (str(demo_models.path(name)) for name in ("healthy", "deadly", "too_big"))

def test_runs(guarded_interpreter):
    interpreter = guarded_interpreter(HEALTHY)
    interpreter.allocate_tensors()
    interpreter.invoke()

def test_takes_bytes(guarded_interpreter):
    with open(HEALTHY, "rb") as file:
        guarded_interpreter(file.read(), memory="100MB").allocate_tensors()

def test_dies(guarded_interpreter):
    interpreter = guarded_interpreter(DEADLY)
    with pytest.raises(outlive.ModelDied):
        interpreter.allocate_tensors()
        interpreter.invoke()

@pytest.mark.outlive
def test_runs_in_a_worker_too(guarded_interpreter):
    guarded_interpreter(HEALTHY).allocate_tensors()

def test_fits(assert_fits):
    assert assert_fits(HEALTHY, ram="64MB").margin_bytes > 0
    assert_fits(HEALTHY, device="raspberry-pi-zero-2-w")

def test_does_not_fit(assert_fits):
    assert_fits(BIG, ram="1MB", accelerator="builtin")

def test_is_no_model(assert_fits):
    assert_fits(b"nothing", ram="1MB")

def test_says_nothing_to_fit(assert_fits):
    with pytest.raises(TypeError, match="device= or ram="):
        assert_fits(HEALTHY)

def test_does_not_grow(assert_no_leak):
    assert assert_no_leak(lambda: sum(range(100)), seconds=60).verdict == "no leak"

kept = []
def grow():
    kept.append(bytearray(300_000))

def test_grows(assert_no_leak):
    assert_no_leak(grow, seconds=60)
"""


def test_fixtures(tmp_path: Path) -> None:
    ran = run_session(tmp_path, files={"test_a.py": TESTS})
    bad = {name: end for name, end in ran.outcomes().items() if end != "passed"}
    assert bad == dict.fromkeys(("test_does_not_fit", "test_is_no_model", "test_grows"), "failed"), ran.out
    assert "error[M201]" in ran.failure("test_does_not_fit")["text"]
    assert "error[F" in ran.failure("test_is_no_model")["text"]
    assert "leaks" in ran.failure("test_grows")["text"]
    assert "pytest_plugin/__init__.py" not in ran.failure("test_does_not_fit")["text"]
    assert demo_models.path("healthy").exists()
