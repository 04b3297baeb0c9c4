"""Programs that people write down as killers of kernels: each ends in an answer and costs its caller nothing.

The programs of the corpus are run as they stand; what their authors meant by them is written here.
"""

from __future__ import annotations

import gc
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

import outlive
from tests.conftest import CORPUS
from tests.deaths import scenes
from tests.deaths.restrictions import linux_only

pytestmark = pytest.mark.filterwarnings("default")
MOST_GROWTH_BYTES = 5_000_000
# What each program ends in: D's second lacks an import, and its third catches its own error.
ENDS = {
    "C": ("ok", "ok", "ok"),
    "D": ("MemoryError", "NameError", "ok"),
}


def run_text(text: str) -> None:
    exec(compile(text, "note.py", "exec"), {"__name__": "__main__"})


def end_of(text: str, **limits: Any) -> BaseException | None:
    try:
        outlive.guard(run_text, **limits)(text)
    except Exception as error:
        return error
    return None


def rss() -> int:
    gc.collect()
    return int(psutil.Process().memory_info().rss)


@pytest.mark.corpus
@pytest.mark.parametrize("note", ["C", "D"])
def test_the_programs_of_a_note_as_they_stand(note: str) -> None:
    page = (CORPUS / "field-notes" / f"{note}.md").read_text(encoding="utf-8")
    programs = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert end_of("import tensorflow", seconds=200) is None
    before = rss()
    errors = [end_of(program, memory="2GB", seconds=300) for program in programs]
    grown = rss() - before
    assert tuple("ok" if error is None else type(error).__name__ for error in errors) == ENDS[note]
    assert all(str(error) for error in errors if error is not None)
    assert grown < MOST_GROWTH_BYTES


# What a notebook does with them; in two rounds TensorFlow and Keras have taken what they keep themselves.
ROUNDS = """
import gc, runpy
outlive.protect()
from tensorflow.lite.python import lite
here = []
own = lite._convert_saved_model
lite._convert_saved_model = lambda **named: (here.append(1), own(**named))[1]

def go_round():
    for path in sys.argv[1:]:
        runpy.run_path(path)
    gc.collect()
    with open("/proc/self/smaps_rollup") as file:  # clean pages are files, private or not as others map them
        sizes = [line.split()[1] for line in file if line.startswith(("Private_Dirty", "Swap:"))]
    return 1024 * sum(map(int, sizes))

say(private=[go_round() for _ in range(3)], here=len(here))
"""


@linux_only
@pytest.mark.corpus
def test_the_programs_of_note_c_leave_a_protected_kernel_flat(tmp_path: Path) -> None:
    page = (CORPUS / "field-notes" / "C.md").read_text(encoding="utf-8")
    programs = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    paths = [str(tmp_path / f"program_{number}.py") for number in range(len(programs))]
    for path, program in zip(paths, programs, strict=True):
        Path(path).write_text(program, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": scenes.PATH}
    command = [sys.executable, "-B", "-c", scenes.PREAMBLE + ROUNDS, *paths]
    end = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900, check=False)
    assert end.returncode == 0, end.stderr
    facts = json.loads(next(line for line in end.stdout.splitlines() if line.startswith('{"private"')))
    assert end.stdout.count("Model converted and allocated.") == 3 * 5
    assert end.stdout.count("Interpreter created successfully.") == 3 * 3
    assert "failed" not in end.stdout
    assert facts["here"] == 0, "a conversion was made in the kernel"
    *_, before, after = facts["private"]
    assert after - before < MOST_GROWTH_BYTES, facts


def multiply() -> float:
    import tensorflow as tf

    large = tf.random.normal([30_000, 30_000])
    return float(tf.reduce_sum(tf.matmul(large, large)))


def keep() -> None:
    import numpy as np
    import tensorflow as tf

    kept = []
    while True:
        kept.append(tf.constant(np.ones((1000, 1000))))


@pytest.mark.parametrize("function", [multiply, keep])
def test_more_than_the_memory_holds(function: Callable[[], Any]) -> None:
    before = rss()
    with pytest.raises(Exception, match=r"(?i)memory|alloc") as caught:
        outlive.guard(function, memory="1GB", seconds=120)()
    ends = ("LimitReached", "MemoryError", "_ArrayMemoryError", "ResourceExhaustedError", "ModelDied")
    assert type(caught.value).__name__ in ends
    assert rss() - before < MOST_GROWTH_BYTES


def test_shapes_that_do_not_fit_come_back_in_tensorflows_words() -> None:
    def add() -> None:
        import numpy as np
        import tensorflow as tf

        tf.add(tf.constant(np.ones((10, 10))), tf.constant(np.ones((20, 20))))

    with pytest.raises(RuntimeError, match="Incompatible shapes") as caught:
        outlive.guard(add, seconds=120)()
    assert type(caught.value).__name__ == "InvalidArgumentError"
    assert "in add" in str(caught.value.__cause__)
