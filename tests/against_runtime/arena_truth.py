"""A plan held against the runtime's own arena."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from outlive.arena.plan import Placement, Plan
from outlive.model import Model

PROBE = Path(__file__).parent / "arena_probe.py"
ALIGNMENT = 64


@dataclass(frozen=True)
class Truth:
    """Addresses and sizes by subgraph and tensor; `error` if the runtime did not allocate."""

    places: dict[int, dict[int, tuple[int, int]]]
    tensors: tuple[int, ...]
    error: str = ""


class Runtime:
    """The probe, started when first asked, and again after a model has killed it."""

    def __init__(self, python: str = sys.executable) -> None:
        self._python = python
        self._child: subprocess.Popen[str] | None = None

    def __enter__(self) -> Runtime:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def allocate(
        self,
        source: Path | bytes,
        threads: int | None = None,
        preserve: bool = False,
        reference: bool = False,
        batch: int | None = None,
    ) -> Truth:
        """Where the runtime puts the tensors of a model."""
        content = base64.b64encode(source).decode() if isinstance(source, bytes) else None
        path = None if content else str(source)
        asked = {"threads": threads, "preserve": preserve, "reference": reference, "batch": batch}
        reply = self._ask({"path": path, "content": content, **asked})
        if reply is None:
            return Truth(places={}, tensors=(), error="the runtime died")
        if "error" in reply:
            return Truth(places={}, tensors=(), error=reply["error"])
        places = {
            int(graph): {int(tensor): (place[0], place[1]) for tensor, place in found.items()}
            for graph, found in reply["places"].items()
        }
        return Truth(places=places, tensors=tuple(reply["tensors"]))

    def _ask(self, question: dict[str, Any]) -> dict[str, Any] | None:
        if self._child is None:
            self._child = subprocess.Popen(
                [self._python, str(PROBE)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        try:
            self._child.stdin.write(json.dumps(question) + "\n")
            self._child.stdin.flush()
            line = self._child.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            self._end()
            return None
        reply: dict[str, Any] = json.loads(line)
        return reply

    def _end(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child.communicate()
            self._child = None


def differences(plan: Plan, model: Model, truth: Truth) -> list[str]:
    """How a plan differs from the runtime's arenas; empty if it is byte for byte the same."""
    found = []
    for graph, places in truth.places.items():
        placements = [p for p in (*plan.placements, *plan.called_placements) if p.subgraph == graph]
        tensors = model.subgraphs[graph].tensors
        real = {i: place for i, place in places.items() if i >= len(tensors) or not tensors[i].is_constant}
        if placements:
            found += [f"subgraph {graph}: {words}" for words in _compare(placements, real)]
    claimed = max((p.end_bytes for p in plan.placements if not p.persistent), default=0)
    if claimed != plan.arena_bytes:
        found.append(f"arena_bytes {plan.arena_bytes}, but placements end at {claimed}")
    return found


def _compare(placements: list[Placement], real: dict[int, tuple[int, int]]) -> list[str]:
    words = []
    ends = {}
    for persistent in (False, True):
        rows = {p.tensor: p for p in placements if p.persistent == persistent}
        bases = {real[i][0] - row.offset_bytes for i, row in rows.items() if i in real}
        if len(bases) > 1:
            words.append(f"persistent={persistent}: {len(bases)} different bases")
        if any(base % ALIGNMENT for base in bases):
            words.append(f"persistent={persistent}: a base is not aligned")
        size = max((row.end_bytes for row in rows.values()), default=0)
        ends[persistent] = [(base, base + size) for base in bases]
    by_tensor = {p.tensor: p for p in placements}
    sizes = [i for i, (_, size) in real.items() if i in by_tensor and by_tensor[i].size_bytes != size]
    if sizes:
        words.append(f"sizes of tensors {sizes[:5]}")
    spans = [span for both in ends.values() for span in both]
    lost = [i for i, (at, _) in real.items() if i not in by_tensor and any(a <= at < b for a, b in spans)]
    if lost:
        words.append(f"tensors {lost[:5]} are not in the plan")
    return words


def unplaced(plan: Plan, model: Model, truth: Truth) -> list[int]:
    """Tensors of the main graph that the plan places and the runtime has no memory for."""
    tensors = model.subgraphs[0].tensors
    real = truth.places.get(0, {})
    return [
        p.tensor
        for p in plan.placements
        if p.tensor < len(tensors) and p.tensor not in real and tensors[p.tensor].shape and p.size_bytes
    ]
