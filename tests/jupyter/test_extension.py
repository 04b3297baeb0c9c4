"""`%load_ext outlive` in a real kernel: cards for things and errors, the command line, and the way back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deaths.restrictions import linux_only
from tests.jupyter.kernel import Kernel, started

pytestmark = linux_only

PROTECTED = "outlive: models of this kernel run in workers from now on; outlive.unprotect() takes it back\n"
BEGIN = """
import outlive
from outlive import demo_models
def opened(name):
    interpreter = outlive.Interpreter(demo_models.path(name))
    interpreter.allocate_tensors()
    return interpreter
"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with started(OUTLIVE_BLACKBOX_DIR=str(tmp_path_factory.mktemp("box"))) as running:
        begun = running.run("%load_ext outlive\n" + BEGIN)
        assert (begun.error, begun.text, begun.shown) == ("", PROTECTED, ())
        yield running


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("outlive.read(demo_models.path('healthy'))", ("input", "probabilities")),
        ("outlive.plan(demo_models.path('healthy'))", ("workspace", "packed weights")),
        ("outlive.check(demo_models.path('wasteful'))", ("6 notes", "M101")),
        ("outlive.check(demo_models.path('wasteful')).findings[0]", ("note[M101]",)),
        ("outlive.run(demo_models.path('healthy'))", ("Outputs", "probabilities")),
        ("outlive.run(demo_models.path('deadly'))", ("O109", "SIGSEGV")),
        (
            "outlive.diagnose(demo_models.path('deadly'))",
            ("option-out-of-range", "Works with reference kernels"),
        ),
    ],
)
def test_a_thing_is_shown_as_a_card_and_as_text(kernel: Kernel, code: str, words: tuple[str, ...]) -> None:
    cell = kernel.run(code)
    assert cell.error == ""
    *_, shown = cell.shown  # what takes longer has shown its progress before
    for word in words:
        assert word in shown["text/html"]
        assert word in shown["text/plain"]
    assert shown["text/html"].startswith('<div class="outlive')


def test_inside_of_a_list_a_thing_stays_small(kernel: Kernel) -> None:
    cell = kernel.run("{'a': outlive.plan(demo_models.path('healthy'))}")
    assert "{'a': Plan(healthy.tflite: " in cell.plain()


def test_an_error_is_a_card_and_the_traceback_stays(kernel: Kernel) -> None:
    cell = kernel.run("interpreter = opened('deadly')\ninterpreter.invoke()")
    assert cell.error == "ModelDied"
    (shown,) = cell.shown
    assert "error[O109]" in shown["text/html"]
    assert "<polyline" in shown["text/html"]
    assert "Traceback (most recent call last)" in shown["text/html"]
    assert "error[O109]" in shown["text/plain"]
    assert "line 2: interpreter.invoke()" in cell.text
    assert "site-packages" not in cell.text
    assert "Traceback (most recent call last)" in kernel.run("%outlive traceback").text
    assert kernel.run("import sys; type(sys.last_value).__name__").plain() == "'ModelDied'"


def test_an_error_that_is_raised_again_is_shown_again(kernel: Kernel) -> None:
    kernel.run("try:\n    opened('deadly').invoke()\nexcept outlive.ModelDied as error:\n    kept = error")
    assert len(kernel.run("raise kept").shown) == len(kernel.run("raise kept").shown) == 1


def test_other_errors_are_shown_as_ever(kernel: Kernel) -> None:
    cell = kernel.run("1 / 0")
    assert cell.error == "ZeroDivisionError"
    assert cell.shown == ()
    assert "Traceback" in cell.text


def test_the_command_line_is_a_magic(kernel: Kernel) -> None:
    cell = kernel.run("path = demo_models.path('healthy')\n%outlive plan {path}")
    assert cell.error == ""
    assert "packed weights" in cell.text
    assert kernel.run("_exit_code").plain() == "0"
    kernel.run("%outlive read nothing.tflite")
    assert kernel.run("_exit_code").plain() != "0"
    assert "usage" in kernel.run("%outlive").text


def test_unloading_leaves_everything_as_it_was(kernel: Kernel) -> None:
    assert not kernel.run("%unload_ext outlive").error
    cell = kernel.run("outlive.read(demo_models.path('healthy'))")
    assert cell.html().startswith('<div class="outlive')  # a card is the result's own
    assert cell.plain().startswith("Model(healthy.tflite: ")
    died = kernel.run("opened('deadly').invoke()")
    assert (died.error, died.shown) == ("ModelDied", ())
    assert "Traceback" in died.text
    assert kernel.run("import os; os._exit.__module__").plain() == "'posix'"
    assert kernel.run("%load_ext outlive").error == ""


def test_in_a_terminal_the_finding_is_in_words(tmp_path: Path) -> None:
    import os
    import subprocess
    import sys

    from tests.deaths.scenes import PATH

    code = "\n".join(["%load_ext outlive", BEGIN, "opened('deadly').invoke()"])
    script = tmp_path / "lines.ipy"
    script.write_text(code)
    environment = {**os.environ, "PYTHONPATH": PATH, "OUTLIVE_BLACKBOX_DIR": str(tmp_path / "box"),
                   "IPYTHONDIR": str(tmp_path / "ipython")}  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "IPython", "--no-banner", "--colors=NoColor", str(script)],
        env=environment, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert "error[O109]" in done.stdout + done.stderr, done
    assert "Traceback" not in done.stdout + done.stderr
    assert list((tmp_path / "box").iterdir()) == []  # an IPython that ends is no death


WHOSE = "import ai_edge_litert.interpreter as theirs\nprint(theirs.Interpreter.__mro__[1].__module__)"


@pytest.mark.parametrize(
    ("environment", "after", "guarded"),
    [
        ({}, "", True),
        ({"OUTLIVE_PROTECT": "0"}, "", False),
        ({}, "import outlive; outlive.unprotect()", False),
        ({}, "%unload_ext outlive", False),
    ],
)
def test_loading_protects_unless_it_is_taken_back(
    tmp_path: Path, environment: dict[str, str], after: str, guarded: bool
) -> None:
    with started(OUTLIVE_BLACKBOX="off", **environment) as kernel:
        begun = kernel.run("%load_ext outlive")
        assert begun.text == ("" if environment else PROTECTED)
        kernel.run(after)
        assert kernel.run(WHOSE).text.startswith("outlive.") is guarded
