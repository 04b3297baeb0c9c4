"""The words of the crash corpus for causes, which was written before those of the taxonomy."""

from __future__ import annotations

from typing import Any

# All others differ only in having `_` where the taxonomy has `-`.
_OTHERWISE = {
    "external_buffer_oob": "external-buffer-out-of-file",
    "required_tensor_is_minus1": "required-tensor-missing",
    "quant_zero_point_range": "quant-zero-point-out-of-range",
    "zero_size_dim": "zero-size-dimension",
    "tensor_alias": "tensor-aliased",
    "buffer_alias": "buffer-aliased",
    "flatbuffer_corruption": "flatbuffer-corrupt",
    "constant_value_out_of_range": "constant-out-of-range",
    "custom_op": "unresolved-custom-op",
    "oom": "out-of-memory",
    "oom_unchecked_alloc": "unchecked-allocation",
    "int_min_div_minus_one": "int-min-divided-by-minus-one",
    "api_order": "call-order",
    "dangling_view": "stale-view",
    "dtype_mismatch": "wrong-dtype",
    "dynamic_output": "runtime-shape-from-input",
    "index_arg_oob": "index-out-of-range",
    "layout_ignored": "wrong-layout",
    "shape_mismatch_call": "wrong-shape",
    "string_input": "wrong-dtype",
    "write_readonly_memory": "write-to-constant",
}
# Words of the taxonomy that say what the case's own word says, for the same call.
_SAME = {
    # Both uninitialised inputs of the corpus are strings: one never set, one an output not yet computed.
    "uninitialised_input": ("string-tensor-unset", "call-order"),
    # The order of bytes is a part of a type for numpy, and of the layout for the corpus.
    "layout_ignored": ("wrong-dtype",),
}


def cause_of(case: dict[str, Any]) -> str:
    """The cause that a case file names, in the words of the taxonomy."""
    word = str(case["root_cause"])
    return _OTHERWISE.get(word, word.replace("_", "-"))


def says_so(case: dict[str, Any], cause: str) -> bool:
    """True if a cause of the taxonomy is the one that the case names."""
    return cause == cause_of(case) or cause in _SAME.get(str(case["root_cause"]), ())
