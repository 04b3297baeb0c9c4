"""What runs in the worker for a debugger that is given a converter: TensorFlow's own conversions."""

from __future__ import annotations

from typing import Any


def calibrated_models(converter: Any, with_float: bool) -> tuple[bytes, bytes | None, bool]:
    """The calibrated model, the float one if it is wanted, and whether channels share a scale."""
    floating = None
    if with_float:
        optimizations, converter.optimizations = converter.optimizations, []
        floating = bytes(converter.convert())
        converter.optimizations = optimizations
    # The private names are those that tf.lite.experimental.QuantizationDebugger sets itself.
    converter.experimental_mlir_quantizer = True
    converter._experimental_calibrate_only = True
    calibrated = bytes(converter.convert())
    return calibrated, floating, bool(converter._experimental_disable_per_channel)


def quantized_model(
    calibrated: bytes,
    share_scales: bool,
    denied_ops: list[str] | None,
    denied_nodes: list[str] | None,
    fully: bool,
    debug: bool,
) -> bytes:
    """The quantized model; with `debug`, operators that compare each layer with its float twin are in it."""
    from tensorflow.lite.python import convert

    made = convert.mlir_quantize(
        calibrated,
        disable_per_channel=share_scales,
        fully_quantize=fully,
        enable_numeric_verify=debug,
        denylisted_ops=denied_ops,
        denylisted_nodes=denied_nodes,
    )
    return bytes(made)
