"""The classes that a program opens itself in place of LiteRT's: workers, with the rules' judge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from outlive.verbs.judging import JUDGE
from outlive.worker.compiled_buffers import CheckedBuffer
from outlive.worker.compiled_model import HardwareAccelerator, WorkerCompiledModel
from outlive.worker.interpreter import WorkerInterpreter
from outlive.worker.options import Delegate, OpResolverType, load_delegate
from outlive.worker.signature import SignatureRunner

# What else LiteRT's module of the Interpreter has.
BESIDE = {
    "SignatureRunner": SignatureRunner,
    "OpResolverType": OpResolverType,
    "Delegate": Delegate,
    "load_delegate": load_delegate,
}
__all__ = ["CompiledModel", "HardwareAccelerator", "Interpreter", "InterpreterWithCustomOps", "TensorBuffer"]


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


class TensorBuffer(CheckedBuffer):
    """One input or output of a compiled model; methods as LiteRT's TensorBuffer has them."""

    _judge = JUDGE


class CompiledModel(WorkerCompiledModel):
    """Compiles and runs a model in a worker process; methods and results as LiteRT's own CompiledModel.

    More than LiteRT has: `memory` and `seconds` limit it; buffers check what is written and read; a death is
    `ModelDied` with a finding. `options` are LiteRT's own Options, or a mapping of groups to options.
    """

    _judge = JUDGE
    _buffer = TensorBuffer
