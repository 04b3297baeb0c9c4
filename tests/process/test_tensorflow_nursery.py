"""Workers with TensorFlow are forked like the others: TensorFlow has one thread after its import."""

from __future__ import annotations

import importlib.util

import pytest

from tests.deaths import scenes
from tests.deaths.restrictions import linux_only

pytestmark = [
    linux_only,
    pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None, reason="pip install tensorflow-cpu"),
]

PROGRAM = """
from outlive.process import factories
from outlive.platforms.posix.process import nursery_client
nursery_client._IDLE_S["tensorflow"] = 1.0
for _ in range(2):
    interpreter = outlive.Interpreter(DEADLY, runtime="tensorflow")
    try:
        scenes.run_whole(interpreter)
    except outlive.ModelDied as error:
        say(op=[error.flight.op.type, error.flight.op.index], untraced=error.flight.untraced)
interpreter.close()
[nursery] = factories._factories.values()
say(forked=type(nursery).__name__, threads=nursery.facts["threads"])
end = time.monotonic() + 300
while nursery.alive() and time.monotonic() < end:
    time.sleep(0.05)
say(idle_end=not nursery.alive(), left=len(scenes.children()))
"""


def test_they_are_forked_name_the_operator_and_their_maker_ends_when_idle() -> None:
    facts = scenes.play(PROGRAM, timeout_s=600, env={"PYTHONWARNINGS": "ignore"})
    assert facts == {
        "op": ["LOCAL_RESPONSE_NORMALIZATION", 3],
        "untraced": "",
        "forked": "Nursery",
        "threads": 1,
        "idle_end": True,
        "left": 0,
    }
