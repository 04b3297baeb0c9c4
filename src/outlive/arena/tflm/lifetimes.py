"""When each tensor and scratch buffer is alive, in TFLM's allocation scopes.

Source: tensorflow/lite/micro/micro_allocation_info.cc (MarkAllocationLifetimes). Scope 0 is before the first
operator; every operator, and every subgraph a control flow operator calls, opens the next. So an operator's
inputs and outputs always overlap, and nothing is computed in place.
"""

from collections.abc import Sequence

from outlive.kernels.tflm.context import RefusedError, Scratch
from outlive.model import Model, Operator

UNSET = -1
# A hostile file may let subgraphs call each other many times over; the walk stops at this many operators and
# tensors that they name, which takes less than a second.
MOST_STEPS = 500_000
_MOST_DEPTH = 64

# Which options name the subgraphs an operator calls, in the order they are walked.
CALLS = {
    "IF": ("then_subgraph_index", "else_subgraph_index"),
    "WHILE": ("cond_subgraph_index", "body_subgraph_index"),
    "CALL_ONCE": ("init_subgraph_index",),
}


def _recognised_control_flow(model: Model) -> set[str]:
    """Those of IF, WHILE and CALL_ONCE whose code the newer field of the file gives.

    MarkSubgraphLifetimesIfNecessary reads `builtin_code`, while operators are looked up by the larger of it
    and `deprecated_builtin_code`. In files from before the newer field the subgraphs of these operators are
    therefore prepared, but not planned within their callers.
    """
    return CALLS.keys() & {code.newer_field for code in model.operator_codes}


class MicroLifetimes:
    """First and last scope of every tensor, by subgraph, and of every scratch buffer."""

    __slots__ = (
        "_known",
        "_model",
        "_requests",
        "_sizes",
        "_steps",
        "op_scopes",
        "scope",
        "scratch",
        "tensors",
    )

    def __init__(self, model: Model, scratch: Sequence[Scratch]) -> None:
        self._model = model
        self._known = _recognised_control_flow(model)
        self._requests: dict[tuple[int, int], list[int]] = {}
        for which, request in enumerate(scratch):
            self._requests.setdefault((request.subgraph, request.op), []).append(which)
        self.tensors = [[[UNSET, UNSET] for _ in subgraph.tensors] for subgraph in model.subgraphs]
        self.scratch = [[UNSET, UNSET] for _ in scratch]
        self.op_scopes: list[tuple[int, int]] = []  # of the main subgraph's operators: first and last
        self.scope = 0
        self._steps, self._sizes = 0, dict[int, int]()
        self._walk(0, 0)

    def _walk(self, which: int, depth: int) -> None:
        subgraph = self._model.subgraphs[which]
        lives = self.tensors[which]
        self._born(lives, subgraph.input_indices)
        self._used(lives, subgraph.input_indices)
        for op in subgraph.operators:
            self.scope += 1
            start = self.scope
            self._born(lives, op.outputs)
            for called in self._called(op):
                self.scope += 1
                self._descend(called, depth)
            self._used(lives, op.inputs)
            self._used(lives, op.outputs)
            self._scratch(which, op.index, start)
            if which == 0 and depth == 0:
                self.op_scopes.append((start, self.scope))
        self._born(lives, subgraph.output_indices)
        self._used(lives, subgraph.output_indices)

    def _descend(self, called: int, depth: int) -> None:
        self._steps += self._size(called) if self._exists(called) else 1
        if not self._exists(called) or depth >= _MOST_DEPTH or self._steps > MOST_STEPS:
            raise RefusedError(f"subgraph {called} is called by itself, too often, or does not exist")
        self._walk(called, depth + 1)

    def _size(self, which: int) -> int:
        """What walking a subgraph costs, without those it calls."""
        if which not in self._sizes:
            graph = self._model.subgraphs[which]
            names = sum(1 + len(op.inputs) + len(op.outputs) for op in graph.operators)
            self._sizes[which] = 1 + names + len(graph.input_indices) + len(graph.output_indices)
        return self._sizes[which]

    def _exists(self, called: int) -> bool:
        return 0 <= called < len(self._model.subgraphs)

    def _born(self, lives: list[list[int]], indices: Sequence[int]) -> None:
        for index in indices:
            if 0 <= index < len(lives) and lives[index][0] == UNSET:
                lives[index][0] = self.scope

    def _used(self, lives: list[list[int]], indices: Sequence[int]) -> None:
        for index in indices:
            if 0 <= index < len(lives):
                lives[index][1] = self.scope

    def _scratch(self, which: int, op: int, start: int) -> None:
        for request in self._requests.get((which, op), ()):
            life = self.scratch[request]
            life[0] = start if life[0] == UNSET else life[0]
            life[1] = self.scope

    def _called(self, op: Operator) -> tuple[int, ...]:
        if op.type not in self._known:
            return ()
        values = (op.options.get(name) if op.options is not None else None for name in CALLS[op.type])
        return tuple(value for value in values if isinstance(value, int) and value != -1)
