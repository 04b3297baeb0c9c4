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
}


def cause_of(case: dict[str, Any]) -> str:
    """The cause that a case file names, in the words of the taxonomy."""
    word = str(case["root_cause"])
    return _OTHERWISE.get(word, word.replace("_", "-"))
