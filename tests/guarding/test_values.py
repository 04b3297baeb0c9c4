"""What goes in and comes out of a guarded function: values, closures, exceptions, arrays."""

from __future__ import annotations

import functools
import os
import pickle
import threading
from typing import Any

import numpy as np
import pytest

import outlive
from outlive.guarding.worker_errors import CannotReturn, CannotSend, GuardedError, WorkerTraceback
from tests.deaths.restrictions import linux_only
from tests.guarding.scenes import shared_memory

pytestmark = linux_only


class Odd(Exception):
    """An exception that cannot be made from what it says."""

    def __init__(self, a: int, b: int) -> None:
        super().__init__("odd")
        self.sum = a + b


class Counter:
    """A class with a guarded method."""

    def __init__(self, start: int) -> None:
        self.start = start

    @outlive.guard
    def plus(self, more: int) -> int:
        """The sum."""
        return self.start + more


def test_a_value_comes_back_from_another_process() -> None:
    pid, value = outlive.guard(lambda a, b=1: (os.getpid(), a + b))(2, b=3)
    assert value == 5
    assert pid != os.getpid()


def test_the_same_worker_serves_the_next_call() -> None:
    pid = outlive.guard(os.getpid)
    assert pid() == pid()


def test_fresh_is_a_new_process_each_time() -> None:
    pid = outlive.guard(os.getpid, fresh=True)
    assert len({pid() for _ in range(3)}) == 3


def test_a_worker_is_replaced_after_so_many_calls() -> None:
    outlive.guard(os.getpid, recycle=1)()  # whatever was there is used up
    pid = outlive.guard(os.getpid, recycle=2)
    assert len({pid() for _ in range(4)}) >= 2


def test_a_worker_that_has_grown_is_replaced() -> None:
    kept: list[Any] = []

    def hoard(size: int) -> int:
        import builtins

        builtins.hoarded = bytearray(b"x" * size)  # type: ignore[attr-defined]
        return os.getpid()

    hoarding = outlive.guard(hoard, recycle="20MB")
    first = hoarding(40_000_000)
    assert outlive.guard(os.getpid)() != first
    assert not kept


@pytest.mark.parametrize(
    ("memory", "seconds", "recycle"), [("-1MB", None, None), (None, 0, None), (None, None, 0)]
)
def test_limits_that_cannot_be_are_refused_at_once(memory: Any, seconds: Any, recycle: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        outlive.guard(len, memory=memory, seconds=seconds, recycle=recycle)


def test_closures_and_what_they_hold_now() -> None:
    factor = 2

    def scale(x: int) -> int:
        return x * factor

    scaled = outlive.guard(scale)
    assert scaled(5) == 10
    factor = 3
    assert scaled(5) == 15


def test_a_list_in_a_closure_is_sent_as_it_is_now() -> None:
    seen = [1]
    total = outlive.guard(lambda: sum(seen))
    assert total() == 1
    seen.append(5)
    assert total() == 6


def test_recursion_through_the_guard() -> None:
    @outlive.guard
    def depth(n: int) -> tuple[int, ...]:
        return (os.getpid(), *(depth(n - 1) if n else ()))

    assert len(set(depth(2))) == 3


def test_methods_classes_and_partials() -> None:
    assert Counter(4).plus(3) == 7
    assert outlive.guard(functools.partial(pow, 2))(5) == 32
    assert outlive.guard(Counter)(9).start == 9
    assert outlive.guard(Counter(1).__class__)(2).start == 2


def test_a_guarded_function_keeps_its_name_and_can_be_pickled() -> None:
    @outlive.guard(seconds=900)
    def named() -> int:
        """Its own words."""
        return 1

    assert (named.__name__, named.__doc__) == ("named", "Its own words.")
    copied = pickle.loads(pickle.dumps(outlive.guard(len, seconds=700)))
    assert copied.limits.seconds == 700
    assert copied("abc") == 3


def test_its_exception_with_the_workers_traceback() -> None:
    def fails(x: int) -> None:
        raise KeyError(x)

    with pytest.raises(KeyError) as caught:
        outlive.guard(fails)(7)
    assert caught.value.args == (7,)
    assert isinstance(caught.value.__cause__, WorkerTraceback)
    assert "raise KeyError(x)" in str(caught.value.__cause__)
    assert "guard/server" not in str(caught.value.__cause__)


def test_an_exception_with_an_init_of_its_own_is_itself() -> None:
    class Held(Odd):
        def __init__(self, a: int, b: int = 0) -> None:
            super().__init__(a, b)
            self.args = (f"held {a}{b}",)
            self.lock = threading.Lock()

    def fails(kind: Any) -> None:
        raise kind(1, 2)

    failing = outlive.guard(fails)
    with pytest.raises(Odd) as caught:
        failing(Odd)
    assert (caught.value.args, caught.value.sum) == (("odd",), 3)
    with pytest.raises(Held) as held:
        failing(Held)
    assert (str(held.value), held.value.sum) == ("held 12", 3)
    assert not hasattr(held.value, "lock")


class Leaving(SystemExit):
    """An exit with more to say than its code."""

    def __init__(self, code: int, why: str) -> None:
        super().__init__(code)
        self.why = why


class Missing(FileNotFoundError):
    """An error of the system's that says its text itself."""

    def __init__(self, *, path: str) -> None:
        super().__init__(2, "not there", path)


class Told(ValueError):
    """An exception that would say its text twice if it were made of it."""

    def __init__(self, value: object) -> None:
        super().__init__(f"bad value: {value}")


def test_what_exceptions_of_python_hold_comes_along() -> None:
    def fails(number: int) -> None:
        raise [
            Leaving(3, "done"),
            Missing(path="x"),
            Told(1),
            UnicodeDecodeError("utf-8", b"x", 0, 1, "bad"),
        ][number]

    failing = outlive.guard(fails)
    with pytest.raises(Leaving) as left:
        failing(0)
    assert (left.value.code, left.value.why) == (3, "done")
    with pytest.raises(Missing) as missing:
        failing(1)
    assert (missing.value.errno, missing.value.filename) == (2, "x")
    with pytest.raises(Told, match=r"^bad value: 1$"):
        failing(2)
    with pytest.raises(UnicodeDecodeError, match="bad"):
        failing(3)


def test_an_exception_whose_type_cannot_be_had_here_keeps_its_name() -> None:
    def fails() -> None:
        import sys
        import types

        library: Any = types.ModuleType("jax")
        library.Lost = type("Lost", (ValueError,), {"__module__": "jax"})
        sys.modules["jax"] = library
        raise library.Lost("gone")

    with pytest.raises(GuardedError, match="gone") as caught:
        outlive.guard(fails, fresh=True)()
    assert type(caught.value).__name__ == "Lost"
    assert caught.value.type_name == "jax.Lost"
    assert isinstance(caught.value, ValueError)


def test_an_exception_of_a_type_of_the_function_is_caught_by_its_base() -> None:
    def fails() -> None:
        class Local(ValueError):
            def __reduce__(self) -> Any:
                raise TypeError("not to be sent")

        raise Local("mine")

    with pytest.raises(ValueError, match="mine") as caught:
        outlive.guard(fails)()
    assert type(caught.value).__name__ == "Local"


def test_what_cannot_come_back_is_named() -> None:
    with pytest.raises(CannotReturn, match=r"\['locks'\]\[1\].*lock"):
        outlive.guard(lambda: {"fine": 1, "locks": [2, threading.Lock()]})()


def test_what_cannot_go_is_named() -> None:
    with pytest.raises(CannotSend, match=r"\[1\].*lock"):
        outlive.guard(print)(1, threading.Lock())
    lock = threading.Lock()
    with pytest.raises(CannotSend, match="function"):
        outlive.guard(lambda: lock)()
    assert outlive.guard(abs)(-1) == 1


def test_arrays_in_and_out_without_a_trace_in_shared_memory() -> None:
    before = shared_memory()
    x = np.arange(1_000_000, dtype=np.float32).reshape(1000, 1000)
    double = outlive.guard(lambda x: {"twice": x * 2, "mean": x.mean(), "turned": x.T})
    for _ in range(3):
        result = double(x)
        np.testing.assert_array_equal(result["twice"], x * 2)
        np.testing.assert_array_equal(result["turned"], x.T)
    assert shared_memory() == before


def test_results_that_are_kept_stay_as_they_are() -> None:
    fill = outlive.guard(lambda value: np.full(100_000, value))
    kept = [fill(number) for number in range(12)]
    assert [set(array.tolist()) for array in kept] == [{number} for number in range(12)]
    kept[3][:] = -1
    assert kept[4][0] == 4


def test_an_argument_that_the_function_keeps_stays_as_it_was() -> None:
    def keep(x: Any) -> float:
        import builtins

        builtins.kept_arrays = [*getattr(builtins, "kept_arrays", []), x]  # type: ignore[attr-defined]
        return sum(float(one[0]) for one in builtins.kept_arrays)  # type: ignore[attr-defined]

    keeping = outlive.guard(keep)
    totals = [keeping(np.full(100_000, float(number))) for number in range(4)]
    assert totals == [0.0, 1.0, 3.0, 6.0]


def test_one_of_two_arrays_is_kept_on_either_side() -> None:
    def keep_second(first: Any, second: Any) -> tuple[Any, Any]:
        import builtins

        kept = getattr(builtins, "kept_second", None)
        builtins.kept_second = second  # type: ignore[attr-defined]
        return np.full(50_000, first[0]), second + 0 if kept is None else kept + 0

    def drop() -> None:
        import builtins

        builtins.kept_second = None  # type: ignore[attr-defined]

    outlive.guard(drop)()
    keeping = outlive.guard(keep_second)
    kept = [keeping(np.zeros(50_000), np.full(50_000, float(number)))[1] for number in range(6)]
    assert [float(array[-1]) for array in kept] == [0.0, 0.0, 1.0, 2.0, 3.0, 4.0]


def test_changing_an_argument_does_not_change_the_callers() -> None:
    x = np.zeros(100_000)
    assert outlive.guard(lambda x: (x.__iadd__(1), x.sum())[1])(x) == 100_000
    assert x.sum() == 0


@pytest.mark.parametrize("size", [0, 1, 8191, 8192, 40_000, 3_000_000])
def test_sizes_around_every_border(size: int) -> None:
    same = outlive.guard(lambda value: value)
    assert same(b"x" * size) == b"x" * size
    np.testing.assert_array_equal(same(np.arange(size, dtype=np.uint8)), np.arange(size, dtype=np.uint8))


def test_odd_arrays() -> None:
    same = outlive.guard(lambda value: value)
    big = np.arange(60_000).reshape(100, 600)
    for array in (
        big[::2, ::3],
        np.asfortranarray(big),
        big.T,
        np.array(["a", None], dtype=object),
        np.array(3),
    ):
        back = same(array)
        assert back.dtype == array.dtype
        assert np.array_equal(back, array)


def test_a_native_library_is_not_loaded_here_for_a_result() -> None:
    def make_up() -> Any:
        import sys
        import types

        module = types.ModuleType("torch")
        sys.modules["torch"] = module
        module.Thing = type("Thing", (), {"__module__": "torch", "__qualname__": "Thing"})  # type: ignore[attr-defined]
        return module.Thing()

    with pytest.raises(CannotReturn, match="load torch into this process"):
        outlive.guard(make_up, fresh=True)()
