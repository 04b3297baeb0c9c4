"""No test depends on how busy the machine is: none compares a clock with a bound that load can pass.

What a clock decides is a benchmark. A test may give up waiting for something that must come, if it is
patient; `tests.deaths.moments` lets a deadline come when something has happened.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.house.modules import Module, read_modules

# What a busy machine may take for what an idle one does at once.
PATIENT_S = 120.0
CLOCKS = frozenset(
    f"time.{name}{unit}"
    for name in ("monotonic", "perf_counter", "time", "process_time", "thread_time")
    for unit in ("", "_ns")
)
# Keywords, parameters and methods that say how long to wait for something.
PATIENCE_WORDS = frozenset({"timeout", "timeout_s"})
WAITING = frozenset({"wait", "join", "communicate"})
# What takes a limit of time for the user's work, and what a test says that wants the limit to be reached.
LIMITED = frozenset({"Interpreter", "Limits", "from_buffer", "from_file", "guard", "guarded", "run"})
REACHED = re.compile(r"LimitReached|D503|[Dd]eadline|endless")
# Where the end of a patience is the very thing that is tested, or the bound is far away.
EXCEPTIONS = {
    "against_runtime/test_small_models_equal_runtime.py": "a probe that hangs is given up: that is the test",
    "fleet/test_idle_workers.py": "waits in vain for what must not come: load cannot make it come",
    "test_cache.py": "a day",
    "faults/verbs.py": "a limit that is reached is an answer too",
    "properties/attempts.py": "a limit that is reached is an answer too",
    "properties/judging.py": "a limit that is reached is judged too",
}


def clock_assertions(tests: Path) -> list[str]:
    """Assertions about how long something took."""
    return [
        f"{module.at(node.lineno)}: asserts on a clock: {ast.unparse(node.test)}"
        for module in _judged(tests)
        for node in _clock_assertions(module)
    ]


def short_patience(tests: Path) -> list[str]:
    """Waits for something that must come, with so little patience that a busy machine ends them."""
    return [
        f"{module.at(line)}: gives up after {seconds:g} s"
        for module in _judged(tests)
        for line, seconds in _patience(module)
        if 0 < seconds < PATIENT_S
    ]


def short_limits(tests: Path) -> list[str]:
    """Limits of work that is to end by itself, which a busy machine passes."""
    return [
        f"{module.at(line)}: a limit of {seconds:g} s, where nothing says that it is to be reached"
        for module in _judged(tests)
        for line, seconds in _limits(module)
    ]


def _limits(module: Module) -> Iterator[tuple[int, float]]:
    numbers = _numbers(module)
    for part in module.tree.body:
        if not REACHED.search(ast.unparse(part)):
            calls = (node for node in ast.walk(part) if isinstance(node, ast.Call))
            yield from ((call.lineno, one) for call in calls for one in _limit(call, numbers))


def _limit(call: ast.Call, numbers: dict[str, float]) -> Iterator[float]:
    if ast.unparse(call.func).rpartition(".")[2] in LIMITED:
        given = (word.value for word in call.keywords if word.arg == "seconds")
        yield from (one for value in given for one in _value(value, numbers) if 0 < one < PATIENT_S)


def stale_clock_exceptions(tests: Path) -> list[str]:
    """Exceptions that nothing needs any more."""
    needed = {
        _path(module, tests)
        for module in read_modules(tests)
        if any(_clock_assertions(module))
        or any(0 < one < PATIENT_S for _, one in _patience(module))
        or any(_limits(module))
    }
    return sorted(EXCEPTIONS.keys() - needed)


def _judged(tests: Path) -> Iterator[Module]:
    return (module for module in read_modules(tests) if _path(module, tests) not in EXCEPTIONS)


def _path(module: Module, tests: Path) -> str:
    return module.path.relative_to(tests).as_posix()


def _clock_assertions(module: Module) -> Iterator[ast.Assert]:
    """Those that compare a clock, or what was computed from one."""
    numbers = _numbers(module)
    for function in module.nodes:
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from _measurements(function, numbers)


def _measurements(function: ast.AST, numbers: dict[str, float]) -> Iterator[ast.Assert]:
    timed: set[str] = set()
    for node in _own_nodes(function):
        if isinstance(node, ast.Assert) and _is_measurement(node.test, timed):
            yield node
        elif isinstance(node, ast.Assign) and _is_timed(node.value, timed):
            is_far = min(_deadlines(node.value, numbers), default=0.0) >= PATIENT_S
            timed.update(() if is_far else (name.id for name in _names(node.targets)))


def _is_measurement(test: ast.AST, timed: set[str]) -> bool:
    """Not `time.monotonic() < end`, where `end` is far away."""
    waits = (
        isinstance(test, ast.Compare)
        and _is_clock(test.left)
        and all(isinstance(one, ast.Name) and one.id not in timed for one in test.comparators)
    )
    return _is_timed(test, timed) and not waits


def _patience(module: Module) -> Iterator[tuple[int, float]]:
    numbers = _numbers(module)
    for node in module.nodes:
        if isinstance(node, (ast.BinOp, ast.Call)):
            found = _deadline(node, numbers) if isinstance(node, ast.BinOp) else _timeouts(node, numbers)
            yield from ((node.lineno, seconds) for seconds in found)
        elif isinstance(node, ast.arguments):
            patient = [pair for pair in _defaults(node) if pair[0].arg in PATIENCE_WORDS]
            yield from (
                (name.lineno, seconds) for name, value in patient for seconds in _value(value, numbers)
            )


def _defaults(signature: ast.arguments) -> Iterator[tuple[ast.arg, ast.expr]]:
    last = [*signature.posonlyargs, *signature.args][-len(signature.defaults) or None :]
    yield from zip(last, signature.defaults, strict=False)
    for argument, default in zip(signature.kwonlyargs, signature.kw_defaults, strict=True):
        if default is not None:
            yield argument, default


def _timeouts(call: ast.Call, numbers: dict[str, float]) -> Iterator[float]:
    for keyword in call.keywords:
        if keyword.arg in PATIENCE_WORDS:
            yield from _value(keyword.value, numbers)
    if isinstance(call.func, ast.Attribute) and call.func.attr in WAITING and len(call.args) == 1:
        yield from _value(call.args[0], numbers)


def _deadlines(node: ast.AST, numbers: dict[str, float]) -> list[float]:
    sums = (part for part in ast.walk(node) if isinstance(part, ast.BinOp))
    return [seconds for part in sums for seconds in _deadline(part, numbers)]


def _deadline(node: ast.BinOp, numbers: dict[str, float]) -> Iterator[float]:
    """The seconds in `time.monotonic() + seconds`; endless if they are not known."""
    if isinstance(node.op, ast.Add) and _is_clock(node.left):
        yield next(_value(node.right, numbers), float("inf"))


def _is_timed(node: ast.AST, timed: set[str]) -> bool:
    """True if it is computed from a clock; what a function makes of one is its own business."""
    if isinstance(node, ast.Call):
        return _is_clock(node)
    if isinstance(node, ast.Name):
        return node.id in timed
    return any(_is_timed(part, timed) for part in ast.iter_child_nodes(node))


def _is_clock(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) in CLOCKS


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function in the order of its lines, without those of functions inside of it."""
    for node in ast.iter_child_nodes(function):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node
            yield from _own_nodes(node)


def _names(nodes: Iterable[ast.AST]) -> Iterator[ast.Name]:
    return (part for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name))


def _numbers(module: Module) -> dict[str, float]:
    """Names of the module that stand for a number."""
    return {
        target.id: value
        for node in module.tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
        for value in _value(node.value, {})
    }


def _value(node: ast.AST, numbers: dict[str, float]) -> Iterator[float]:
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        yield float(node.value)
    elif isinstance(node, ast.Name) and node.id in numbers:
        yield numbers[node.id]
