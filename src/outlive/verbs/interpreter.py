"""The drop-in for LiteRT's Interpreter: the worker's, with the judge that knows the rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from outlive.interpreter.interpreter import WorkerInterpreter
from outlive.interpreter.interpreter_options import Delegate, OpResolverType, load_delegate
from outlive.interpreter.signature import SignatureRunner
from outlive.verbs.judging import JUDGE

# What else LiteRT's module of the Interpreter has.
BESIDE = {
    "SignatureRunner": SignatureRunner,
    "OpResolverType": OpResolverType,
    "Delegate": Delegate,
    "load_delegate": load_delegate,
}


class Interpreter(WorkerInterpreter):
    """Runs a model in a worker process; arguments, methods and results as LiteRT's own Interpreter.

    More than LiteRT has: `memory` and `seconds` limit what the model may use and how long a call may take,
    `sandbox` ("auto", "on", "off") what it may reach; `on_death="restart"` replaces a dead worker at the next
    call (variables start anew); `runtime` and `python` choose what runs it, `accelerator` ("gpu", "npu",
    "cpu", "builtin", "reference", or "auto" for the first of `ladder` that is fit) on what.
    """

    _judge = JUDGE


class InterpreterWithCustomOps(Interpreter):
    """An interpreter whose worker registers custom operators, named by the functions that do it."""

    def __init__(self, custom_op_registerers: Sequence[str] | None = None, **kwargs: Any) -> None:
        """As LiteRT's; functions cannot cross the process border, their names can."""
        super().__init__(_custom_ops=custom_op_registerers or (), **kwargs)
