"""Is a plan sound? No two live tensors on the same bytes, nothing outside its arena.

Written without the planner: it knows a plan, and the graph if it is given, and sweeps over the operators.

    plan ──> by arena ──> sweep: who is alive at each operator ──> pairs that may not overlap ──> faults
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable
from dataclasses import dataclass

from outlive.arena.plan import Placement, Plan
from outlive.model import Model, Operator

# Operators that may write their first output over an input that nobody needs any more, and those that may
# leave the bytes where they are.
_OVERWRITING = frozenset({"ADD", "SUB", "MUL", "DIV", "SOFTMAX", "DYNAMIC_UPDATE_SLICE"})
_LEAVING = frozenset({"RESHAPE", "EXPAND_DIMS", "SQUEEZE", "BITCAST"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementFault:
    """Two tensors on the same bytes at the same time, or one outside its arena; `words` says which."""

    words: str
    tensors: tuple[int, ...]


def overlaps(plan: Plan, model: Model | None = None) -> list[PlacementFault]:
    """What is wrong with a plan's placements; with the model, tensors that share bytes must also be akin."""
    faults: list[PlacementFault] = []
    arenas: dict[tuple[int, bool], list[Placement]] = {}
    for placement in (*plan.placements, *plan.called_placements):
        if placement.size_bytes:
            arenas.setdefault((placement.subgraph, placement.persistent), []).append(placement)
    limits = {(0, False): plan.arena_bytes, (0, True): plan.persistent_bytes}
    for arena, placements in arenas.items():
        faults += _outside(placements, limits.get(arena))
        makers = _makers(model.subgraphs[arena[0]].operators) if model is not None else None
        types = dict(enumerate(load.type for load in plan.ops)) if arena[0] == 0 else {}
        places = {placement.tensor: placement.offset_bytes for placement in placements}
        faults += _sweep(placements, _Family(makers, types, places))
    return faults


def _makers(operators: Iterable[Operator]) -> dict[int, Operator]:
    """The operator that made a tensor, where it is one that works in place."""
    working = (operator for operator in operators if operator.type in _OVERWRITING | _LEAVING)
    return {operator.outputs[0]: operator for operator in working if operator.outputs}


def _outside(placements: Iterable[Placement], limit: int | None) -> Iterable[PlacementFault]:
    for placement in placements:
        end = placement.offset_bytes + placement.size_bytes
        if placement.offset_bytes < 0 or placement.size_bytes < 0 or (limit is not None and end > limit):
            words = f"tensor {placement.tensor} ends at {end}, outside an arena of {limit} bytes"
            yield PlacementFault(words=words, tensors=(placement.tensor,))


@dataclass(frozen=True, slots=True)
class _Family:
    """Who may lie on whom: a tensor and those it was made from in place, or that were made so from it."""

    makers: dict[int, Operator] | None  # None: the graph was not given
    types: dict[int, str]
    places: dict[int, int]

    def may_share(self, one: Placement, other: Placement) -> bool:
        """True if the later one was made in place of the earlier, or both in place of the same."""
        if one.offset_bytes != other.offset_bytes:
            return False
        first, second = sorted((one, other), key=lambda placement: placement.first_op)
        if self.makers is None:
            return first.last_op <= second.first_op or self.types.get(second.first_op) in (None, *_LEAVING)
        line = self._line(second.tensor)
        if not ({first.tensor, *self._elders(first.tensor)} & {second.tensor, *self._elders(second.tensor)}):
            return False
        # Side by side they may only be read while nobody has changed the bytes.
        return not any(
            operator.type in _OVERWRITING and first.first_op < operator.index < first.last_op
            for operator in line
        )

    def _elders(self, tensor: int) -> set[int]:
        return {source for operator in self._line(tensor) for source in self._beneath(operator)}

    def _beneath(self, operator: Operator) -> list[int]:
        """The inputs on whose bytes an operator's output lies."""
        place = self.places.get(operator.outputs[0])
        return [source for source in operator.inputs[:2] if self.places.get(source, -1) == place]

    def _line(self, tensor: int) -> list[Operator]:
        """The operators that work in place from which a tensor comes."""
        found: dict[int, Operator] = {}
        todo = [tensor]
        while todo:
            operator = (self.makers or {}).get(todo.pop())
            if operator is not None and operator.index not in found:
                found[operator.index] = operator
                todo += self._beneath(operator)
        return list(found.values())


def _sweep(placements: list[Placement], family: _Family) -> Iterable[PlacementFault]:
    """Walk through the operators with the tensors that are alive, ordered by offset."""
    starts: dict[int, list[Placement]] = {}
    ends: dict[int, list[Placement]] = {}
    for placement in placements:
        starts.setdefault(placement.first_op, []).append(placement)
        ends.setdefault(placement.last_op + 1, []).append(placement)
    alive: list[tuple[int, int, int, Placement]] = []
    for moment in sorted({*starts, *ends}):
        for placement in ends.get(moment, ()):
            key = _key(placement)
            position = bisect_left(alive, key, key=lambda entry: entry[:3])
            if position < len(alive) and alive[position][3] is placement:
                del alive[position]
        for placement in starts.get(moment, ()):
            yield from _against(placement, alive, family)
            insort(alive, (*_key(placement), placement), key=lambda entry: entry[:3])


def _key(placement: Placement) -> tuple[int, int, int]:
    return placement.offset_bytes, placement.offset_bytes + placement.size_bytes, placement.tensor


def _against(
    new: Placement, alive: list[tuple[int, int, int, Placement]], family: _Family
) -> Iterable[PlacementFault]:
    """Faults between a tensor that comes and those that are there."""
    end = new.offset_bytes + new.size_bytes
    for start, stop, _, other in alive:
        if start >= end:
            break
        if stop > new.offset_bytes and not family.may_share(new, other):
            words = (
                f"tensors {other.tensor} and {new.tensor} lie on the same bytes: "
                f"[{start}, {stop}) and [{new.offset_bytes}, {end}) from op {new.first_op} on"
            )
            yield PlacementFault(words=words, tensors=(other.tensor, new.tensor))
