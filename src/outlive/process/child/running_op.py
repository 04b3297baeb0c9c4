"""The op that was running when a thread stopped, from its frames: by the interpreter's memory, else by names.

    innermost frame ... kernel frame | interpreter frame (tflite::Subgraph::...) ... outermost frame

The kernel is the function that the innermost interpreter frame called. Wrong is worse than unknown: names
beyond a gap in the stack are not used, and only memory distinguishes ops that share a function.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from . import kernel_names
from .operating_system import backtrace, op_nodes, symbols, tracee

_CUSTOM = kernel_names.OPERATORS.index("CUSTOM")
_DELEGATE = kernel_names.OPERATORS.index("DELEGATE")
_XNNPACK = "TfLiteXNNPackDelegate"  # the name of its node: xnnpack_delegate.cc, kSubgraphRegistration


class RunningOp(NamedTuple):
    """What is known of the op; `candidates` are the ops it may be where that is all that is known.

    `position` is the operator's index in the subgraph that ran, as in the file. Where that subgraph was run
    by another op (WHILE, IF, CALL_ONCE), it is `nested`, and the outermost op has its type and index here.
    """

    type: str | None = None
    phase: str | None = None
    position: int | None = None
    custom_name: str = ""
    delegate: str = ""
    candidates: tuple[str, ...] = ()
    nested: bool = False
    outer_type: str | None = None
    outer_position: int | None = None

    def to_evidence(self) -> dict[str, Any]:
        """The fields as evidence has them."""
        return {
            "op_type": self.type,
            "op_phase": self.phase,
            "op_index": self.position,
            "op_custom_name": self.custom_name,
            "op_candidates": list(self.candidates),
            "op_nested": self.nested,
            "outer_op_type": self.outer_type,
            "outer_op_index": self.outer_position,
            "delegate": self.delegate,
        }


def identify(process: tracee.Tracee | None, frames: list[backtrace.NamedFrame]) -> dict[str, Any]:
    """The op that these frames of a process run, as evidence has it; empty fields if we cannot tell."""
    return (_find(process, frames) if process else RunningOp()).to_evidence()


def _find(process: tracee.Tracee, frames: list[backtrace.NamedFrame]) -> RunningOp:
    inside: RunningOp | None = None  # what a delegate was doing, before we know that it is one
    for at in range(len(frames) - 1):
        kernel, caller = frames[at], frames[at + 1]
        inside = _inside_delegate(process, frames, at, inside)
        if caller.symbol.name and not kernel_names.is_interpreter(caller.symbol.name):
            continue
        found = _called(process, kernel, caller)
        if found is not None:
            return _nest(process, frames[at + 1 :], _choose(process, _merge(inside, found), caller))
        if inside is not None and kernel_names.is_interpreter(caller.symbol.name):
            return _choose(process, inside, caller)
    return inside or RunningOp()


def _nest(process: tracee.Tracee, outside: list[backtrace.NamedFrame], op: RunningOp) -> RunningOp:
    """Say which op of the outermost subgraph ran the subgraph of this one, if one did."""
    for kernel, caller in zip(outside[-2::-1], outside[:0:-1]):
        outer = _called(process, kernel, caller) if kernel_names.is_interpreter(caller.symbol.name) else None
        if outer is not None:
            return op._replace(nested=True, outer_type=outer.type, outer_position=outer.position)
    return op


def _called(
    process: tracee.Tracee, kernel: backtrace.NamedFrame, caller: backtrace.NamedFrame
) -> RunningOp | None:
    """The op whose kernel the interpreter called; None if this is no such call."""
    node = op_nodes.running(process, kernel.frame, caller.frame)
    if node is not None:
        return _from_node(node)
    symbol = kernel.symbol
    found = kernel_names.candidates(symbol.name, symbol.raw, symbol.source) if symbol.name else None
    named = None if found is None or found.delegated else found
    jumped = _jumped(process, kernel, caller)
    if jumped is not None and (named is None or jumped.type in named.ops):
        return jumped
    if named is None or not kernel.frame.exact or not kernel_names.is_interpreter(caller.symbol.name):
        return None
    return _choose(process, RunningOp(phase=named.phase, candidates=named.ops), caller)


def _jumped(
    process: tracee.Tracee, kernel: backtrace.NamedFrame, caller: backtrace.NamedFrame
) -> RunningOp | None:
    """The op whose kernel ended in a jump to this function, and so is not on the stack itself."""
    phase = kernel_names.loop_phase(caller.symbol.name, kernel.symbol.name)
    if phase is None or not kernel.frame.exact or not _calls_kernels(process, caller.frame):
        return None
    node = op_nodes.at_hand(process, caller.frame)
    return None if node is None else _from_node(node)._replace(phase=phase)


def _calls_kernels(process: tracee.Tracee, frame: backtrace.NativeFrame) -> bool:
    """Whether the frame's call goes where a pointer says, or to the function that does just that."""
    target = backtrace.call_target(process, frame)
    if target is None or frame.start is None or frame.entry is None:
        return False
    if not target:
        return True
    called = symbols.lookup(frame.path, target - (frame.entry - frame.start))
    return called is not None and called.name in kernel_names.CALLERS


def _from_node(node: op_nodes.OpNode) -> RunningOp:
    if node.code == _DELEGATE:
        return RunningOp(phase=node.phase or None, delegate=node.custom_name or "unnamed")
    known = node.code < len(kernel_names.OPERATORS)
    return RunningOp(
        type=kernel_names.OPERATORS[node.code] if known else None,
        phase=node.phase or None,
        position=node.position,
        custom_name=node.custom_name if node.code == _CUSTOM else "",
    )


def _inside_delegate(
    process: tracee.Tracee, frames: list[backtrace.NamedFrame], at: int, known: RunningOp | None
) -> RunningOp | None:
    """What XNNPACK's delegate was doing in this frame or further in: visiting a node, making an operator."""
    frame, symbol = frames[at]
    if not frame.exact or not symbol.name:
        return known
    if symbol.name == kernel_names.VISIT_NODE:
        node = op_nodes.visited(process, [frame, frames[at + 1].frame])
        visited = (
            RunningOp() if node is None else _from_node(node)._replace(phase="Prepare", delegate=_XNNPACK)
        )
        agreed = visited.type is not None and (known is None or visited.type in known.candidates)
        return visited if agreed else known
    found = kernel_names.candidates(symbol.name, symbol.raw, symbol.source)
    if known is not None or found is None or not found.delegated:
        return known
    return RunningOp(phase=found.phase, candidates=found.ops, delegate=_XNNPACK)


def _merge(inside: RunningOp | None, found: RunningOp) -> RunningOp:
    """A delegate's kernel was called: what went on inside says more about the op."""
    if inside is None or found.delegate != inside.delegate:
        return found
    return inside._replace(phase=inside.phase or found.phase)


def _choose(process: tracee.Tracee, op: RunningOp, interpreter: backtrace.NamedFrame) -> RunningOp:
    """Settle on the one candidate that the subgraph has a node for, if there is just one."""
    if op.type is not None or not op.candidates:
        return op
    codes = op_nodes.codes(process, interpreter.frame)
    present = [kernel_names.OPERATORS[code] if code < len(kernel_names.OPERATORS) else "" for code in codes]
    left = tuple(name for name in op.candidates if name in present) if present else op.candidates
    if len(left) != 1:
        return op._replace(candidates=left or op.candidates)
    position = present.index(left[0]) if present.count(left[0]) == 1 else None
    return op._replace(type=left[0], candidates=(), position=position)
