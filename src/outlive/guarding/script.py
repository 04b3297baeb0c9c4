"""A whole script in a worker: it has the caller's streams and arguments, and ends as one flight."""

from __future__ import annotations

import dataclasses
import os
import time
from typing import ClassVar

from outlive.errors import RunError
from outlive.finding import Finding
from outlive.guarding.functions import SentFunction
from outlive.guarding.guard_process import GuardProcess
from outlive.guarding.guarded_call import GuardedCall, Terms, caller_state
from outlive.guarding.pool import alive
from outlive.guarding.worker_errors import findings_of, raised_flight
from outlive.interpreter.judge import Judge
from outlive.process.flight import Flight, RunWithFindings, StageSeconds
from outlive.process.limits import Limits
from outlive.process.worker_factory import CannotStartWorker
from outlive.records import ModelPath
from outlive.results import Result, file_name

# `outlive_child.guard.script_runner.run`, by the name it has in a worker: pickle's opcodes GLOBAL and STOP.
_RUN = b"coutlive_child.guard.script_runner\nrun\n."


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ScriptEnd(Result):
    """How a script ended: its exit code, or None if it died of something; the record, and the findings."""

    kind: ClassVar[str] = "guard"

    script: str
    exit_code: int | None
    flight: Flight
    findings: tuple[Finding, ...] = ()

    @property
    def as_document(self) -> RunWithFindings:
        """The document of a run: that of the script."""
        return RunWithFindings(model=ModelPath(path=self.script), flight=self.flight, findings=self.findings)

    def _summary(self) -> tuple[str, str]:
        """The script, and how it ended."""
        return file_name(self.script), "died" if self.exit_code is None else f"exit code {self.exit_code}"


def run_script(
    target: str, arguments: list[str], *, judge: Judge, as_module: bool, limits: Limits, sandbox: str = "off"
) -> ScriptEnd:
    """Run a script, or a module, as the main program of a worker that has this process's streams.

    `WorkerUnavailable` if no worker can be had.
    """
    try:
        folder = os.getcwd() if as_module else os.path.dirname(os.path.abspath(target))
        process = GuardProcess(stdin=0, raw=True, sandbox=sandbox, read=(folder,))
    except CannotStartWorker as error:
        raise judge.unavailable(str(error)) from error
    alive.add(process)
    caller_state.look()
    began = time.perf_counter()
    terms = Terms(limits=limits, judge=judge, give_back=lambda _: None, doing={"script": target})
    call = GuardedCall(process, terms)
    try:
        code, raised = call.run(SentFunction.by_name(_RUN), (target, arguments, as_module), {})
        flight = _timed(judge.attached(process.seen(limits)), began)
        found = findings_of(raised, flight, judge) if raised else ()
        flight = raised_flight(flight, raised) if raised else flight
        return ScriptEnd(script=target, exit_code=code, flight=flight, findings=found)
    except RunError as error:
        if error.flight is None:
            raise
        # os._exit is an end like another: what it says is passed on.
        left = error.flight.signal is None and not error.flight.ended_by
        return ScriptEnd(
            script=target,
            exit_code=error.flight.exit_code if left else None,
            flight=_timed(error.flight, began),
        )
    finally:
        process.end()


def _timed(flight: Flight, began: float) -> Flight:
    return dataclasses.replace(flight, stages=(StageSeconds("call", time.perf_counter() - began),))
