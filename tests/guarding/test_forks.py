"""What a guarded function forks never answers in its place, and ends where the function ends."""

from __future__ import annotations

import gc
import logging
import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import outlive
from tests.deaths.restrictions import linux_only
from tests.guarding.scenes import play

pytestmark = linux_only


def ended(child: int) -> int:
    """The exit code of a child."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def part(way: str) -> Any:
    """Fork; the child leaves in one of the ways that lead out of the function."""
    child = os.fork()
    if child:
        return ended(child)
    if way == "raise":
        raise ValueError("the child's own")
    if way == "exit":
        sys.exit(7)
    if way == "words":
        sys.exit("cannot go on")
    return "the child's value"


@pytest.mark.parametrize(
    ("way", "code", "said"),
    [
        ("raise", 1, "ValueError: the child's own"),
        ("exit", 7, ""),
        ("words", 1, "cannot go on"),
        ("return", 0, ""),
    ],
)
def test_a_forked_child_does_not_answer(
    way: str, code: int, said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    same = outlive.guard(lambda value: value)
    assert outlive.guard(part)(way) == code
    assert [same(number) for number in range(20)] == list(range(20))
    errors = capfd.readouterr().err
    assert said in errors
    assert "guard/server" not in errors
    assert bool(errors) == bool(said)


@pytest.mark.parametrize("place", ["first item", "second item", "finally"])
def test_a_child_of_a_generator_does_not_answer(place: str, capfd: pytest.CaptureFixture[str]) -> None:
    def numbers() -> Iterator[int]:
        try:
            if place == "first item":
                yield part("raise")
            yield 10
            if place == "second item":
                yield part("raise")
            yield 20
        finally:
            if place == "finally":
                part("raise")

    found = {"first item": [1, 10, 20], "second item": [10, 1, 20], "finally": [10]}
    stream = outlive.guard(numbers)()
    items = [next(stream)] if place == "finally" else list(stream)
    stream.close()
    assert items == found[place]
    assert outlive.guard(abs)(-3) == 3
    assert "the child's own" in capfd.readouterr().err


def test_a_child_that_is_forked_while_the_function_is_read_does_not_serve(tmp_path: Any) -> None:
    (tmp_path / "forks_at_import.py").write_text(
        "import os\nchild = os.fork()\nif not child: raise ValueError('early')\nos.waitpid(child, 0)\n"
        "def value(number): return number\n"
    )
    done = play(
        f"""
        sys.path.insert(0, {str(tmp_path)!r})
        sys.stdout.flush()
        pid = os.getpid()
        try:
            import forks_at_import
        except ValueError:
            os._exit(0)
        guarded = outlive.guard(forks_at_import.value)
        print([guarded(number) for number in range(5)])
        """
    )
    assert done.stdout.strip() == "[0, 1, 2, 3, 4]"
    assert "ValueError: early" in done.stderr


def test_a_child_logs_to_standard_error_and_asks_for_nothing(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    def log_and_ask(items: Iterator[int]) -> tuple[int, int]:
        child = os.fork()
        if child:
            return ended(child), sum(items)
        logging.getLogger("of.the.child").warning("said")
        next(items)
        return 0, 0

    with caplog.at_level(logging.INFO):
        assert outlive.guard(log_and_ask)(iter(range(5))) == (1, 10)
    assert not caplog.records
    errors = capfd.readouterr().err
    assert "WARNING:of.the.child:said" in errors
    assert "not to what it forked" in errors


def test_a_pool_of_processes_finds_functions_of_the_main_program() -> None:
    done = play(
        """
        import multiprocessing

        class Pair:
            def __init__(self, number):
                self.number = number

        def work(number):
            return Pair(2 * number)

        def spread(count):
            with multiprocessing.get_context("fork").Pool(2) as pool:
                return sum(pair.number for pair in pool.map(work, range(count)))

        guarded = outlive.guard(spread)
        print(guarded(4))

        def work(number):
            return Pair(3 * number)

        print(guarded(4))
        print(outlive.guard(lambda: hasattr(sys.modules["__main__"], "no_such_thing"))())
        """
    )
    assert done.stdout.split() == ["12", "18", "False"]


def test_an_answer_to_another_call_ends_the_worker() -> None:
    def count_wrong() -> int:
        server = next(one for one in gc.get_objects() if type(one).__name__ == "Server")
        server._calls -= 1
        return os.getpid()

    outlive.guard(abs)(-1)
    with pytest.raises(outlive.ModelDied):
        outlive.guard(count_wrong)()
    assert outlive.guard(abs)(-4) == 4
