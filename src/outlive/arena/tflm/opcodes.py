"""Which operator codes a file gives in the newer of its two fields; TFLM's control flow knows only that one.

Source: tensorflow/lite/micro/micro_allocation_info.cc (MarkSubgraphLifetimesIfNecessary), which reads
`builtin_code`, while operators are looked up by the larger of it and `deprecated_builtin_code`. In files from
before the newer field the subgraphs of IF, WHILE and CALL_ONCE are therefore prepared, but not planned within
their callers.
"""

from __future__ import annotations

from outlive.model import Model

_CONTROL_FLOW = frozenset({"IF", "WHILE", "CALL_ONCE"})


def recognised_control_flow(model: Model) -> frozenset[str]:
    """Those of IF, WHILE and CALL_ONCE whose code the newer field of the file gives."""
    return _CONTROL_FLOW & {code.newer_field for code in model.operator_codes}
