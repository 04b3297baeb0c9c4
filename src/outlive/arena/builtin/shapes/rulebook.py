"""Which rule says what an operator's kernel makes of its outputs."""

from __future__ import annotations

from outlive.arena.builtin.shapes import (
    arranging,
    convolving,
    custom,
    elementwise,
    picking,
    recurrent,
    special,
    strided,
)
from outlive.arena.builtin.shapes.outcome import Outcomes, Rule, Unsure, View

RULES: dict[str, Rule] = {
    **elementwise.RULES,
    **convolving.RULES,
    **arranging.RULES,
    **picking.RULES,
    **strided.RULES,
    **recurrent.RULES,
    **custom.RULES,
    **special.RULES,
}
# Operators without outputs, or whose outputs keep the file's shape whatever comes in.
_WITHOUT_OUTCOME = frozenset({"ASSIGN_VARIABLE", "HASHTABLE_IMPORT", "CALL_ONCE"})


def outcomes_of(view: View) -> Outcomes | None:
    """What Prepare makes of the outputs, one for each; None where it is not known."""
    name = view.operator.name
    if name in _WITHOUT_OUTCOME:
        return ()
    rule = RULES.get(name)
    if rule is None:
        return None
    try:
        outcomes = rule(view)
    except (Unsure, ValueError, IndexError, OverflowError):
        return None  # not as the kernel wants it: the runtime may refuse it, and no shape can be told
    count = len(view.operator.outputs)
    return outcomes * count if len(outcomes) == 1 else outcomes if len(outcomes) == count else None
