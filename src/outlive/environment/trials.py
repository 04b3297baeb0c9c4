"""What works here because it was tried: in a throwaway process, so that a trial harms no program."""

import contextlib
import json
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from outlive.meter import make_cgroup
from outlive.process.operating_system import CAPABILITY_TRIAL, SANDBOX_TRIAL
from outlive.process.worker_factory import START, signal_name

# What it does takes milliseconds; on a machine in trouble it may wait for its turn.
_PATIENCE_S = 30
_BARE_PYTHON = ("-I", "-S", "-B")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trials:
    """For each thing tried "" if it works, otherwise why it does not, in the system's words.

    `process` is whether a process can be started at all, without which there are no workers.
    """

    process: str
    fork: str
    memfd: str
    oom_score_adj: str
    ptrace: str


def run_trials() -> Trials:
    """Try everything in a throwaway process."""
    if not sys.executable:
        return _all("the path of this program's Python is unknown")
    try:
        ended = subprocess.run(
            [sys.executable, *_BARE_PYTHON, CAPABILITY_TRIAL],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return _all(f"no answer within {_PATIENCE_S} s")
    except OSError as error:
        return _all(f"no process can be started: {error.strerror}")
    return read_answers(ended.stdout.decode(errors="replace"), ended.returncode)


def read_answers(text: str, exit_code: int) -> Trials:
    """The trials' results, from what the throwaway process wrote and how it ended."""
    answers = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    if exit_code < 0:
        ending = f"the process was killed by {signal_name(-exit_code)}"
    else:
        ending = f"the test process ended with exit code {exit_code}"
    # An empty answer is the trial that the process died of; those after it were not reached.
    results = {
        name: "" if answers.get(name) == "ok" else answers.get(name) or ending
        for name in ("fork", "memfd", "oom_score_adj", "ptrace")
    }
    return Trials(process="" if answers else ending, **results)


def try_cgroup() -> str:
    """Make a memory cgroup and put a throwaway process in: "" if that works, otherwise why not."""
    cgroup = make_cgroup(1 << 30)
    if cgroup is None:
        return "not allowed, or no cgroup controls memory"
    try:
        waiting = subprocess.Popen(
            [sys.executable, *_BARE_PYTHON, "-c", "import sys; sys.stdin.read()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except OSError as error:
        cgroup.close()
        return f"no process can be started: {error.strerror}"
    taken = cgroup.add(waiting.pid)
    waiting.kill()
    with contextlib.suppress(OSError):
        waiting.communicate()
    cgroup.close()
    return "" if taken else "it can be created, but no process can be moved into it"


def try_sandbox() -> dict[str, Any]:
    """Enter the sandbox of workers in a throwaway process: its parts, why not more, and ways out of it."""
    try:
        ended = subprocess.run(
            [sys.executable, *_BARE_PYTHON, START, SANDBOX_TRIAL, '{"sys_path": []}'],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE_S,
            check=False,
        )
        answer: dict[str, Any] = json.loads(ended.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        return {"parts": "", "why": f"the test process did not answer ({type(error).__name__})"}
    return answer


def _all(reason: str) -> Trials:
    return Trials(process=reason, fork=reason, memfd=reason, oom_score_adj=reason, ptrace=reason)
