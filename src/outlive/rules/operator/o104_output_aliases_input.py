"""an operator writes to the tensor it reads from

What it checks
    Operators with one tensor among both their inputs and outputs, unless they work element by element on
    one shape.

Why it matters
    The kernel gives the output another shape or place and so loses its input, or reads what it has just
    written: wrong results, or writes past the end of memory.

What to do
    Convert the model again. If a tool edited it, look for the mistake there.

Limits
    What works element by element is told by O131.
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Severity, Sighting
from outlive.model import Model
from outlive.rules.engine import rule
from outlive.rules.operator.graph_demands import shared_ends, works_in_place
from outlive.rules.operator.scene import Scene, scenes, sight_some, slot_words


@rule("O104", "output-aliases-input", Severity.ERROR, since="0.1", cause="tensor-aliased")
def output_aliases_input(model: Model) -> Iterator[Sighting]:
    """See the module."""
    rows = (scene for scene in scenes(model) if scene.signature is not None and not works_in_place(scene))
    yield from sight_some(model, rows, _faults, "input and output need memory of their own")


def _faults(scene: Scene) -> Iterator[str]:
    yield from (f"{slot_words(scene, slot)} is one of its inputs too" for slot in shared_ends(scene))
