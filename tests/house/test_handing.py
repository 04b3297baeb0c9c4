"""A module that keeps what it is given, and a worker without a judge, are found out."""

from __future__ import annotations

import pytest

from tests.house.conftest import Plant
from tests.house.handing import KEEPERS, kept_parameters, workers_without_judge

TIDY = """
    import sys
    from outlive.process import limits

    _known: dict[str, int] = {}
    _alive = []

    class Worker:
        def __init__(self, judge):
            self.judge = judge
            _alive.append(self)

    def died(flight, judge):
        found = [judge]
        found[:] = [judge]
        return found[0](flight)

    def size_of(path: str, known: int) -> int:
        _known[path] = known
        sys.argv = [path]
        return _known[path]
"""


def test_what_is_handed_on_is_fine(plant: Plant) -> None:
    assert kept_parameters(plant({"process/worker.py": TIDY})) == []


@pytest.mark.parametrize(
    "line",
    [
        "_judges[:] = [judge]",
        "_judges[:] = [] if judge is None else [judge]",
        "_judges[0] = judge",
        "_judges.append(judge)",
        "_judges.insert(0, judge)",
        "_state.judge = judge",
        "limits.judge = judge",
        "global _state\n        _state = judge",
    ],
)
@pytest.mark.parametrize("name", ["set_judge", "install", "open_worker"])
def test_a_hook_is_found_whatever_its_name(plant: Plant, name: str, line: str) -> None:
    head = "from outlive.process import limits\n_judges = []\n_state = object()\n"
    text = f"{head}def {name}(judge):\n    if judge:\n        {line}\n"
    (problem,) = kept_parameters(plant({"interpreter/judge.py": text}))
    assert f"judge.py:6: {name} keeps what it is given in" in problem


def test_those_who_may_keep_something_say_why(plant: Plant) -> None:
    hook = "_held = []\ndef set_held(held):\n    _held[:] = [held]\n"
    files = {f"{name.removeprefix('outlive.').replace('.', '/')}.py": hook for name in KEEPERS}
    assert kept_parameters(plant(files)) == []
    assert len(kept_parameters(plant({"verbs/progressing.py": hook}))) == 1
    assert all(KEEPERS.values())


def test_a_worker_without_a_judge_is_found(plant: Plant) -> None:
    opened = "WorkerInterpreter(model_path='m')\nWorkerInterpreter(model_path='m', _judge=judge)\n"
    text = f"{opened}WorkerInterpreter(**arguments)\n"
    (problem,) = workers_without_judge(plant({"quant/capture.py": text}))
    assert "capture.py:1: WorkerInterpreter(...) is not given _judge" in problem
