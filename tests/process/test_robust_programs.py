"""Programs with ways of their own: that fork, thread, close their streams or handle signals."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import numpy as np
import pytest

from tests.deaths import scenes
from tests.deaths.restrictions import linux_only
from tests.deaths.scenes import ROUND, assert_well, open_healthy, play, result

pytestmark = linux_only


def test_parent_and_child_both_go_on_after_a_fork() -> None:
    facts = play("""
    interpreter = open_healthy()
    expected = result(interpreter, 0.25)
    before = len(scenes.descriptors())
    row = interpreter.get_input_details()[0]
    view = interpreter.tensor(row["index"])()
    told, tell = os.pipe()
    child = os.fork()
    if not child:
        view[...] = 9.0          # a child's inputs are not its parent's
        del view
        interpreter.set_tensor(row["index"], np.full(row["shape"], 9.0, row["dtype"]))
        os.write(tell, b"x")
        worked = np.array_equal(result(interpreter, 0.25), expected) and result(open_healthy()).size
        first = len(scenes.descriptors())
        scenes.gc.collect()
        interpreter.close()
        os._exit(0 if worked and first <= before + 20 else 1)
    os.read(told, 1)
    del view
    kept = float(interpreter.get_tensor(row["index"]).max())
    worker = interpreter.pid
    interpreter.invoke()
    same = np.array_equal(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]), expected)
    say(kept=kept, same=same, child=os.waitpid(child, 0)[1])
    interpreter.invoke()
    say(pid=worker == interpreter.pid)
    """)
    assert facts == {"kept": 0.25, "same": True, "child": 0, "pid": True}


def test_a_fork_while_workers_start_hides_no_death() -> None:
    """A forked child must not hold a worker's end of a pipe, or its parent would wait for ever."""
    facts = play(
        """
    open_healthy().close()
    done, forked = threading.Event(), []
    def fork():
        while not done.is_set() and len(forked) < 1000:
            child = os.fork()
            if not child:
                time.sleep(300)
                os._exit(0)
            forked.append(child)
            time.sleep(0.01)
    import warnings
    warnings.simplefilter("ignore")
    thread = threading.Thread(target=fork)
    thread.start()
    deaths = 0
    while deaths < 40:
        interpreter = open_healthy(seconds=30)
        os.kill(interpreter.pid, signal.SIGKILL)
        try:
            result(interpreter)
        except outlive.ModelDied as error:
            deaths += 1
    done.set()
    thread.join()
    for child in forked:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    say(deaths=deaths, forked=len(forked))
    """,
        timeout_s=240,
    )
    assert facts["deaths"] == 40
    assert facts["forked"] > 10


POOL = """
import multiprocessing, warnings
def work(value):
    return float(result(open_healthy(), value).sum())
if __name__ == "__main__":
    warnings.simplefilter("ignore")
    interpreter = open_healthy()
    result(interpreter)
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        sums = pool.map(work, [0.1, 0.2, 0.3, 0.4])
        pool.close()
        pool.join()
    say(equal=sums == [work(value) for value in (0.1, 0.2, 0.3, 0.4)], size=int(result(interpreter).size))
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(method: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(scenes.PREAMBLE + POOL)
    run = f"import runpy; sys.argv[1:] = [{method!r}]; runpy.run_path({str(program)!r}, run_name='__main__')"
    facts = play(run, env={"PYTHONWARNINGS": ""})
    assert facts["equal"]
    assert facts["size"] > 0


def test_threads_each_with_its_own() -> None:
    expected = {value: result(open_healthy(), value) for value in (0.1, 0.2, 0.3, 0.4)}
    problems: list[str] = []

    def work(value: float) -> None:
        for _ in range(5):
            with open_healthy() as interpreter:
                if not np.array_equal(result(interpreter, value), expected[value]):
                    problems.append("another's result")

    threads = [threading.Thread(target=work, args=(value,)) for value in expected]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []


def test_a_nursery_outlives_the_thread_that_started_it() -> None:
    facts = play("""
    thread = threading.Thread(target=lambda: result(open_healthy()))
    thread.start()
    thread.join()
    family = scenes.children()
    time.sleep(0.2)
    result(open_healthy())
    say(same=len(family) == 1 and family <= scenes.children())
    """)
    assert facts["same"]


def test_asyncio() -> None:
    facts = play("""
    import asyncio
    async def main():
        loop = asyncio.get_running_loop()
        interpreters = [open_healthy() for _ in range(4)]
        jobs = [loop.run_in_executor(None, result, one, 0.1 * n) for n, one in enumerate(interpreters)]
        results = await asyncio.gather(*jobs)
        child = await asyncio.create_subprocess_exec("true")
        assert await child.wait() == 0
        return [np.array_equal(got, result(interpreters[0], 0.1 * n)) for n, got in enumerate(results)]
    say(same=asyncio.run(main()))
    """)
    assert facts["same"] == [True] * 4


@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1), (0, 2), (0, 1, 2)], ids=str)
def test_a_daemon_without_streams(closed: tuple[int, ...], tmp_path: Path) -> None:
    told = tmp_path / "told"
    process = scenes.start(
        ROUND
        + f"""
for descriptor in {closed}:
    os.close(descriptor)
said = {{}}
scenes.say.__globals__["print"] = None
say = said.update
go_round()
ours = ("pipe:", "socket:", "/memfd:")
said["low"] = [link for name, link in scenes.descriptors().items() if int(name) < 3 and link.startswith(ours)]
with open({str(told)!r}, "w") as file:
    file.write(json.dumps(said))
os._exit(0)
"""
    )
    process.communicate(timeout=300)
    facts = json.loads(told.read_text())
    assert_well(facts)
    streams = 3 - len(closed)
    assert len(facts["low"]) <= streams - (0 not in closed)  # the test's own pipes, where they are still open


@pytest.mark.parametrize(
    "lines",
    [
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)",
        "signal.signal(signal.SIGCHLD, reap)",
        "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))",
        "os.nice(5); os.umask(0o777)",
        "os.environ.clear()",
        "sys.path.insert(0, scenes.REPOSITORY)",
    ],
    ids=["sigchld-ignored", "sigchld-handler", "signals-blocked", "nice-umask", "no-environment", "odd-path"],
)
def test_a_program_with_habits(lines: str) -> None:
    reaper = """
def reap(*_):
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
"""
    facts = play(ROUND + reaper + lines + "\ngo_round(seconds=20)\n")
    assert_well(facts)
    assert facts["traced"] or facts["untraced"]


def test_a_folder_that_is_gone(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    assert_well(play(ROUND + "os.rmdir(os.getcwd())\ngo_round()", cwd=folder))
