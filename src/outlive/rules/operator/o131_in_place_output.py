"""an operator writes over its own input

What it checks
    Operators that work element by element and have one tensor as input and output.

Why it matters
    LiteRT's kernels can do that. A delegate may not, and whoever else reads the tensor gets the new
    value.

What to do
    Convert the model again; if a tool edited it, look there.

Limits
    It hurts if another operator needs the old value, or a delegate takes the operator.
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Severity, Sighting
from outlive.model import Model
from outlive.rules.engine import rule
from outlive.rules.operator.graph_demands import shared_ends, works_in_place
from outlive.rules.operator.scene import Scene, scenes, sight_some, slot_words


@rule("O131", "in-place-output", Severity.WARNING, since="0.1", cause="tensor-aliased")
def in_place_output(model: Model) -> Iterator[Sighting]:
    """See the module."""
    rows = (scene for scene in scenes(model) if works_in_place(scene))
    yield from sight_some(model, rows, _faults, "it hurts if anything else needs the old value")


def _faults(scene: Scene) -> Iterator[str]:
    yield from (f"{slot_words(scene, slot)} is one of its inputs too" for slot in shared_ends(scene))
