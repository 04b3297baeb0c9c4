"""The drop-in for LiteRT's Interpreter: the worker's, with the judge that knows the rules."""

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

    Additional arguments: `memory` and `seconds` limit memory and time of a call, `sandbox` ("auto", "on",
    "off") restricts access to files and network. `on_death="restart"` replaces a dead worker at the next
    call; variables start anew. `runtime` and `python` choose the runtime. `accelerator` is "gpu", "npu",
    "cpu", "builtin", "reference", or "auto" for the first of `ladder` that works.
    """

    _judge = JUDGE


class InterpreterWithCustomOps(Interpreter):
    """An interpreter whose worker registers custom operators, named by the functions that do it."""

    def __init__(self, custom_op_registerers: Sequence[str] | None = None, **kwargs: Any) -> None:
        """As LiteRT's; functions cannot cross the process border, their names can."""
        super().__init__(_custom_ops=custom_op_registerers or (), **kwargs)
