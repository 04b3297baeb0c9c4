"""The arguments of an interpreter, checked as LiteRT checks them and turned into a request to the worker."""

import enum
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from outlive.interpreter.judge import Judge
from outlive.process.limits import Limits, choose_mode
from outlive.process.worker_factory import RUNTIMES, WorkerKind


@enum.unique
class OpResolverType(enum.Enum):
    """Which kernels run the operators: names and values as in LiteRT."""

    AUTO = 0
    BUILTIN = 1
    BUILTIN_REF = 2
    BUILTIN_WITHOUT_DEFAULT_DELEGATES = 3


# What users call the kernels that run a model.
ACCELERATORS = {
    "cpu": OpResolverType.AUTO,
    "builtin": OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
    "reference": OpResolverType.BUILTIN_REF,
}


@dataclass(frozen=True, slots=True)
class Delegate:
    """An accelerator library by path and options; it is loaded in the worker, never here."""

    library: str
    options: dict[str, str] = field(default_factory=dict)


def load_delegate(library: str | os.PathLike[str], options: dict[Any, Any] | None = None) -> Delegate:
    """Describe a delegate for `Interpreter(experimental_delegates=[...])`; the worker loads it."""
    words = {str(key): str(value) for key, value in (options or {}).items()}
    return Delegate(os.fspath(library), words)


@dataclass(frozen=True, slots=True, kw_only=True)
class InterpreterOptions:
    """How a worker opens the model, and who judges what becomes of it."""

    judge: Judge
    kind: WorkerKind
    limits: Limits
    arguments: dict[str, Any]
    content: bytes | None
    delegates: tuple[tuple[str, dict[str, str]], ...] = ()
    custom_ops: tuple[str, ...] | None = None
    watch: Callable[[int], None] | None = None
    compiled: dict[str, Any] | None = None
    sandbox: str = "auto"

    @property
    def source(self) -> str | bytes:
        """The model itself: its path, or its bytes."""
        return self.content if self.content is not None else str(self.arguments.get("model_path", ""))

    @property
    def threads(self) -> int | None:
        """The number of threads that was asked for."""
        options = (self.compiled or {}).get("options", {}).get("cpu_options", {})
        threads: int | None = self.arguments.get("num_threads") or options.get("num_threads")
        return threads

    @property
    def brings_xnnpack(self) -> bool:
        """True if the runtime uses XNNPACK unasked, with its default kernels, and nothing else."""
        kernels = self.arguments.get("experimental_op_resolver_type", "AUTO")
        return kernels in ("AUTO", "BUILTIN") and not self.delegates and self.compiled is None


def make_options(
    *,
    judge: Judge,
    limits: Limits,
    model_path: Any = None,
    model_content: Any = None,
    delegates: Sequence[Delegate] | None = None,
    num_threads: Any = None,
    resolver: Any = OpResolverType.AUTO,
    flags: Mapping[str, bool] | None = None,
    runtime: str = "litert",
    python: str | None = None,
    custom_ops: Sequence[str] | None = None,
    watch: Callable[[int], None] | None = None,
    environment: Mapping[str, str] | None = None,
    compiled: dict[str, Any] | None = None,
    sandbox: str | None = None,
) -> InterpreterOptions:
    """What a worker needs to open this model.

    ValueError in LiteRT's words for arguments it refuses, ModelError for a file that is no model.
    """
    if runtime not in RUNTIMES:
        raise ValueError(f"unknown runtime {runtime!r}; choose from {', '.join(RUNTIMES)}")
    arguments = _arguments(num_threads, resolver, flags or {})
    content = None
    if model_path and not model_content:
        arguments["model_path"] = os.fspath(model_path)
    elif model_content and not model_path:
        content = bytes(model_content)
    elif not model_content and not model_path:
        raise ValueError("`model_path` or `model_content` must be specified.")
    else:
        raise ValueError("Can't both provide `model_path` and `model_content`")
    source = arguments.get("model_path", content)
    if isinstance(source, (str, bytes)):
        judge.refuse_file(source, litert=runtime == "litert" and python in (None, sys.executable))
    return InterpreterOptions(
        judge=judge,
        kind=WorkerKind(
            runtime=runtime,
            python=python or sys.executable,
            environment=tuple(sorted((environment or {}).items())),
        ),
        limits=limits,
        arguments=arguments,
        content=content,
        delegates=tuple(_delegate(item) for item in delegates or ()),
        custom_ops=None if custom_ops is None else tuple(_name(item) for item in custom_ops),
        watch=watch,
        compiled=compiled,
        sandbox=choose_mode(sandbox),
    )


def _arguments(num_threads: Any, resolver: Any, flags: Mapping[str, bool]) -> dict[str, Any]:
    # Older runtimes do not know the newer flags, so only those that are asked for are passed on.
    arguments: dict[str, Any] = {name: True for name, wanted in flags.items() if wanted}
    name = getattr(resolver, "name", None)
    if name not in OpResolverType.__members__:
        raise ValueError(f"Unrecognized passed in op resolver type: {resolver}")
    if name != "AUTO":
        arguments["experimental_op_resolver_type"] = name
    if num_threads is not None:
        if not isinstance(num_threads, int):
            raise ValueError("type of num_threads should be int")
        if num_threads < 1:
            raise ValueError("num_threads should >= 1")
        arguments["num_threads"] = num_threads
    return arguments


def _delegate(item: Any) -> tuple[str, dict[str, str]]:
    if not isinstance(item, Delegate):
        raise TypeError(
            f"a delegate that is already loaded here ({type(item).__name__}) cannot move to the worker; "
            "describe it with outlive.load_delegate(library, options)"
        )
    return item.library, item.options


def _name(item: Any) -> str:
    if not isinstance(item, str):
        raise TypeError(
            "custom ops are registered in the worker, so name the function that does it, as a string"
        )
    return item
