"""Large tensors lie in the shared block itself: no second copy, and nobody writes on what is another's."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlive
from tests.deaths.restrictions import linux_only
from tests.interpreter.dropin_models import graph, model, op, unary
from tests.model.small import tensor

pytestmark = linux_only
F4 = np.float32
LARGE = 300_001  # numbers: over a megabyte, and neither a whole number of pages nor of cache lines


def opened(data: bytes, **arguments: Any) -> outlive.Interpreter:
    interpreter = outlive.Interpreter(model_content=data, **arguments)
    interpreter.allocate_tensors()
    return interpreter


def floor(size: int) -> bytes:
    return unary("FLOOR", "FLOAT32", [1, size])


def values(size: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).uniform(-9, 9, (1, size)).astype(F4)


def block_mappings(interpreter: outlive.Interpreter) -> int:
    """In how many places the worker sees the block; one is the block as such."""
    return Path(f"/proc/{interpreter.pid}/maps").read_text().count("outlive-block")


def check_round(interpreter: outlive.Interpreter, size: int, seed: int) -> None:
    given = values(size, seed)
    interpreter.set_tensor(0, given)
    interpreter.invoke()
    assert np.array_equal(interpreter.get_tensor(1), np.floor(given))
    assert np.array_equal(interpreter.get_tensor(0), given)


def test_large_tensors_lie_in_the_block() -> None:
    interpreter = opened(floor(LARGE))
    assert block_mappings(interpreter) == 3  # the block, the input, the output
    for seed in range(3):
        check_round(interpreter, LARGE, seed)


def test_small_ones_are_copied() -> None:
    assert block_mappings(opened(floor(100))) == 1


def test_what_lies_in_the_block_is_the_models_memory() -> None:
    interpreter = opened(floor(LARGE))
    check_round(interpreter, LARGE, 0)
    held = interpreter.story().timeline[-1].bytes
    assert 2 * 4 * LARGE < held < 2 * 4 * LARGE + (4 << 20)


@pytest.mark.parametrize("seed", range(3))
def test_memory_given_back_to_the_runtime_is_its_own(seed: int) -> None:
    """If a page of the block stayed in the heap, a later tensor or the runtime's own data would lie on it."""
    sizes = random.Random(seed)
    interpreter = opened(floor(LARGE))
    for turn in range(25):
        size = int(2 ** sizes.uniform(8, 20))
        interpreter.resize_tensor_input(0, [1, size])
        interpreter.allocate_tensors()
        for again in range(2):
            check_round(interpreter, size, turn + again)


def test_the_inputs_survive_an_allocation() -> None:
    interpreter = opened(floor(LARGE))
    given = values(LARGE)
    interpreter.set_tensor(0, given)
    interpreter.allocate_tensors()
    assert np.array_equal(interpreter.get_tensor(0), given)
    interpreter.invoke()
    assert np.array_equal(interpreter.get_tensor(1), np.floor(given))


def test_views_show_what_the_model_writes() -> None:
    interpreter = opened(floor(LARGE))
    given, seen = interpreter.tensor(0), interpreter.tensor(1)
    for number in (1.5, 2.5):
        given()[...] = number
        interpreter.invoke()
        assert np.all(seen() == np.floor(number))


def test_a_new_worker_has_what_the_old_one_had() -> None:
    interpreter = opened(floor(LARGE), on_death="restart")
    given = values(LARGE)
    interpreter.set_tensor(0, given)
    interpreter.invoke()
    import os
    import signal

    os.kill(interpreter.pid, signal.SIGKILL)
    with pytest.raises(outlive.ModelDied):
        interpreter.invoke()
    interpreter.invoke()
    assert np.array_equal(interpreter.get_tensor(1), np.floor(given))
    assert block_mappings(interpreter) == 3


def test_several_large_tensors_are_not_mixed() -> None:
    shape = [1, LARGE]
    tensors = [tensor(name, "FLOAT32", shape) for name in ("a", "b", "sum", "difference")]
    steps = op(0, [0, 1], [2], "Add"), op(1, [0, 1], [3], "Sub")
    interpreter = opened(model(["ADD", "SUB"], graph(tensors, [0, 1], [2, 3], *steps)))
    assert block_mappings(interpreter) == 5
    a, b = values(LARGE, 1), values(LARGE, 2)
    for _ in range(3):
        interpreter.set_tensor(0, a)
        interpreter.set_tensor(1, b)
        interpreter.invoke()
        assert np.array_equal(interpreter.get_tensor(2), a + b)
        assert np.array_equal(interpreter.get_tensor(3), a - b)
        a, b = b, a


def test_an_input_that_is_an_output_has_one_place() -> None:
    tensors = [tensor("x", "FLOAT32", [1, LARGE]), tensor("y", "FLOAT32", [1, LARGE])]
    interpreter = opened(model(["FLOOR"], graph(tensors, [0], [0, 1], op(0, [0], [1]))))
    assert block_mappings(interpreter) == 3
    check_round(interpreter, LARGE, 5)
