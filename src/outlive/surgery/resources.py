"""Which operators share state beside the tensors: variables and hash tables, by their names.

A resource cannot be fed from outside: its handle is made by VAR_HANDLE or HASHTABLE, it is filled by
ASSIGN_VARIABLE or HASHTABLE_IMPORT, or once by what CALL_ONCE calls. An operator that uses one without them
is refused by the runtime, or reads nothing.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from outlive.model import Model, Operator, Subgraph

# Values that can be neither set nor read from outside.
UNFEEDABLE = frozenset({"resource", "variant"})

# One resource has one name in the whole model: LiteRT, tflite/kernels/var_handle.cc and hashtable.cc
Resource = tuple[str, ...]

_MAKERS = frozenset({"VAR_HANDLE", "HASHTABLE"})
_WRITERS = frozenset({"ASSIGN_VARIABLE", "HASHTABLE_IMPORT"})
# It leaves nothing of what was there before; an import adds to it.
_OVERWRITER = "ASSIGN_VARIABLE"
_RUN_ONCE = "CALL_ONCE"
_NONE: frozenset[Resource] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Touch:
    """The resources an operator uses, and those among them that it may change."""

    used: frozenset[Resource]
    written: frozenset[Resource]


class Resources:
    """What each operator of the main subgraph has to do with variables and hash tables."""

    def __init__(self, model: Model) -> None:
        """Look through all subgraphs once."""
        self._operators = model.subgraphs[0].operators
        self._calls = Calls(model)
        self._inside = [_handled(subgraph) for subgraph in model.subgraphs]
        self._handles = _handles(model.subgraphs[0])
        self.touches = {
            operator.index: touch
            for operator in self._operators
            if operator.type not in _MAKERS and (touch := self._touch(operator)).used
        }
        self.writers: dict[Resource, list[int]] = {}
        for index, touch in self.touches.items():
            for resource in touch.written:
                self.writers.setdefault(resource, []).append(index)

    def _touch(self, operator: Operator) -> Touch:
        called = self._calls.reached_by(operator)
        held = frozenset(self._handles[tensor] for tensor in operator.inputs if tensor in self._handles)
        used = held.union(*(self._inside[index].used for index in called))
        # What a called subgraph does with a handle that it is given is not followed: it may write.
        may_write = held if called or operator.type in _WRITERS else _NONE
        return Touch(used=used, written=may_write.union(*(self._inside[index].written for index in called)))

    def fillers(self, operator: Operator, known: set[tuple[Resource, int]]) -> set[int]:
        """The operators before this one that give its resources their value; `known` ones are left out."""
        touch = self.touches.get(operator.index)
        if touch is None or operator.type in _WRITERS or operator.type == _RUN_ONCE:
            return set()
        found = set()
        for resource in touch.used:
            writers = self.writers.get(resource, [])
            for place in range(bisect_left(writers, operator.index) - 1, -1, -1):
                index = writers[place]
                if (resource, index) in known:
                    break
                known.add((resource, index))
                found.add(index)
                if self._operators[index].type == _OVERWRITER:
                    break
        return found

    def has_effect(self, operator: Operator) -> bool:
        """True if it does something that no tensor shows: it is needed though nothing reads its outputs."""
        touch = self.touches.get(operator.index)
        return not operator.outputs or (touch is not None and bool(touch.written))


class Calls:
    """Which subgraphs each operator reaches."""

    def __init__(self, model: Model) -> None:
        """Remember the model's calls."""
        count = len(model.subgraphs)
        self._called = [
            tuple({index for op in graph.operators for index in _called_by(op, count)})
            for graph in model.subgraphs
        ]
        self._known: dict[tuple[int, ...], frozenset[int]] = {(): frozenset()}

    def reached_by(self, operator: Operator) -> frozenset[int]:
        """The subgraphs an operator calls, and those that they call."""
        return self.reached_from(_called_by(operator, len(self._called)))

    def reached_from(self, indices: tuple[int, ...]) -> frozenset[int]:
        """These subgraphs, and those that they call."""
        if indices not in self._known:
            found: set[int] = set()
            waiting = list(indices)
            while waiting:
                index = waiting.pop()
                if index not in found:
                    found.add(index)
                    waiting += self._called[index]
            self._known[indices] = frozenset(found)
        return self._known[indices]


def _called_by(operator: Operator, count: int) -> tuple[int, ...]:
    named = operator.options.get("called_computations") if operator.options is not None else None
    more = named if isinstance(named, tuple) else ()
    return tuple(index for index in (*operator.subgraphs(), *more) if 0 <= index < count)


def resource_name(resource: Resource) -> str:
    """The resource in words."""
    kind, *names = resource
    return f"{kind} {'/'.join(name for name in names if name)!r}"


def _handles(subgraph: Subgraph) -> dict[int, Resource]:
    makers = (op for op in subgraph.operators if op.type in _MAKERS and op.outputs)
    return {operator.outputs[0]: _resource(operator) for operator in makers}


def _resource(operator: Operator) -> Resource:
    options = operator.options
    if operator.type == "HASHTABLE":
        return ("hash table", str(options.get("table_id", 0) if options else 0))
    names = ("container", "shared_name")
    return ("variable", *(str((options.get(name) if options else "") or "") for name in names))


def _handled(subgraph: Subgraph) -> Touch:
    """Resources a subgraph makes handles of, and those that it writes through them."""
    handles = _handles(subgraph)
    written = frozenset(
        handles[operator.inputs[0]]
        for operator in subgraph.operators
        if operator.type in _WRITERS and operator.inputs and operator.inputs[0] in handles
    )
    return Touch(used=frozenset(handles.values()), written=written)
