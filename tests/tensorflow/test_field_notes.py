"""Programs that people write down as killers of kernels: each ends in an answer and costs its caller nothing.

The programs of the corpus are run as they stand; what their authors meant by them is written here.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Callable
from typing import Any

import psutil
import pytest

import outlive
from tests.conftest import CORPUS

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
