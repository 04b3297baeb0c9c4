"""A program in which eventlet has replaced system calls: what it does, done by hand, and nothing hangs."""

from __future__ import annotations

from tests.deaths import scenes

_PATCHED = """
import os, select
write, read = os.write, os.read
def write_for_ever(descriptor, data):
    while True:
        try:
            return write(descriptor, data)
        except BrokenPipeError:
            pass
def read_elsewhere(descriptor, count):
    assert os.get_blocking(descriptor), "it would wait without a time limit"
    return read(descriptor, count)
os.write, os.read = write_for_ever, read_elsewhere
del select.poll, select.epoll
"""


def test_nothing_hangs() -> None:
    facts = scenes.play(
        _PATCHED
        + """
interpreter = open_healthy()
say(size=int(result(interpreter).size))
os.kill(interpreter.pid, signal.SIGKILL)
scenes.wait_for_death({interpreter.pid})
try:
    interpreter.get_tensor_details()
except outlive.ModelDied as error:
    say(code=error.finding.code)
say(value=outlive.guard(lambda number: number + 1)(3))
os._exit(0)
"""
    )
    assert facts["size"] > 0
    assert facts["code"] == "D508"
    assert facts["value"] == 4
