"""Which rule says what an operator's kernel makes of its outputs."""

from __future__ import annotations

from dataclasses import replace

from outlive.kernels.litert.shapes import (
    arranging,
    convolving,
    custom,
    elementwise,
    picking,
    recurrent,
    special,
    strided,
)
from outlive.kernels.litert.shapes.foreseeing import Foresight, foreseen_values
from outlive.kernels.litert.shapes.outcome import Outcome, Outcomes, Rule, Unsure, View

RULES: dict[str, Rule] = {
    **elementwise.RULES,
    **convolving.RULES,
    **arranging.RULES,
    **picking.RULES,
    **strided.RULES,
    **recurrent.RULES,
    **custom.RULES,
    **special.RULES,
    "DELEGATE": lambda view: (Outcome(),) * len(view.operator.outputs),  # its shapes are given
}
# Operators without outputs, or whose outputs keep the file's shape whatever comes in.
_WITHOUT_OUTCOME = frozenset({"ASSIGN_VARIABLE", "HASHTABLE_IMPORT", "CALL_ONCE"})
# Kernels that give their first output an input's type, whatever the file says: `output->type =` in LiteRT,
# tflite/kernels/*.cc. The rules of other operators say so themselves, or the type stays as in the file.
_TYPED_BY_FIRST = """ADD_N BITWISE_XOR CEIL DYNAMIC_UPDATE_SLICE EXP EXPAND_DIMS FAKE_QUANT FLOOR FLOOR_DIV
FLOOR_MOD LOGICAL_AND LOGICAL_OR MATRIX_DIAG MATRIX_SET_DIAG MAXIMUM MINIMUM NEG POW PRELU RESIZE_BILINEAR
RESIZE_NEAREST_NEIGHBOR RIGHT_SHIFT ROUND STABLEHLO_SHIFT_LEFT TOPK_V2 ZEROS_LIKE"""
_TYPED_BY = {
    **dict.fromkeys(_TYPED_BY_FIRST.split(), 0),
    **dict.fromkeys(["ADD", "DIV", "SCATTER_ND", "SELECT", "SELECT_V2", "SQUARED_DIFFERENCE", "SUB"], 1),
    "SPARSE_TO_DENSE": 2,
}


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
    outcomes = outcomes * count if len(outcomes) == 1 else outcomes
    return _typed(view, outcomes) if len(outcomes) == count else None


def foresee(view: View) -> Outcomes | None:
    """What the outputs will be when the operator runs, values included; None where that is not to be told."""
    later = Foresight(view.operator, view.table)
    outcomes = outcomes_of(later)
    if not outcomes or outcomes[0].values is not None:
        return outcomes
    return (replace(outcomes[0], values=foreseen_values(later)), *outcomes[1:])


def _typed(view: View, outcomes: Outcomes) -> Outcomes:
    """The first output with the type that Prepare gives it."""
    source = _TYPED_BY.get(view.operator.name, -1)
    if not outcomes or source < 0 or not view.has(source):
        return outcomes
    return (replace(outcomes[0], dtype=view.dtype(source)), *outcomes[1:])
