"""Operators by kind, and who brings the kernels that LiteRT does not have."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from outlive.model import Model, Operator
from outlive.rules.operator.prepared import MOST_SIGHTINGS, PreparedOperator, operators_of

_FLEX = re.compile(r"Flex([A-Z]\w*)")
# Where custom operators come from that real models use; matched from the beginning of the name.
_KNOWN: tuple[tuple[str, str], ...] = (
    ("edgetpu-custom-op", "run it on an Edge TPU with the delegate of libedgetpu, for which it was compiled"),
    ("TFSentencepiece", "use the library of TensorFlow Text (tf_text.tflite_registrar) or MediaPipe"),
    ("TFText>", "register TensorFlow Text's operators: tensorflow_text.tflite_registrar.SELECT_TFTEXT_OPS"),
    ("tftext:", "register TensorFlow Text's operators: tensorflow_text.tflite_registrar.SELECT_TFTEXT_OPS"),
    ("PosenetDecoderOp", "run it with the library of Coral's project-posenet, which brings this operator"),
    ("RaggedTensorTo", "register TensorFlow Text's operators: tensorflow_text.tflite_registrar"),
    ("TransformTensorBilinear", "run it with MediaPipe, which brings this operator"),
    ("TransformLandmarks", "run it with MediaPipe, which brings this operator"),
    ("Landmarks2TransformMatrix", "run it with MediaPipe, which brings this operator"),
    ("Resampler", "run it with MediaPipe, which brings this operator"),
    ("odml.", "run it with the LiteRT runtime of the LLM API (LiteRT-LM or MediaPipe)"),
    ("ethos-u", "run it with TensorFlow Lite Micro and the Ethos-U driver, for which Vela compiled it"),
    ("Signal", "run it with TensorFlow Lite Micro, whose signal library has this operator"),
    ("XC_", "run it with the runtime of XMOS, for which it was compiled"),
    ("QNN", "run it on Qualcomm hardware with the QNN delegate, for which it was compiled"),
    ("DISPATCH_OP", "run it as a CompiledModel on the NPU it was compiled for"),
)
# Custom operators that XNNPACK, which runs by default, takes: tflite/delegates/xnnpack/xnnpack_delegate.cc.
IN_XNNPACK = frozenset(
    {
        "Convolution2DTransposeBias",
        "MaxPoolingWithArgmax2D",
        "MaxUnpooling2D",
        "odml.scaled_dot_product_attention",
    }
)


def flex_name(name: str) -> str:
    """The TensorFlow operator behind a Flex one; empty if it is none."""
    match = _FLEX.fullmatch(name)
    return match[1] if match else ""


def resolver_of(name: str) -> str:
    """What brings a custom operator's kernel, as something to do; empty if it is not known."""
    return next((action for start, action in _KNOWN if name.startswith(start)), "")


def kinds_of(model: Model, wanted: Callable[[Operator], bool]) -> Iterator[tuple[str, PreparedOperator, int]]:
    """Each kind of operator that is wanted: its name, the first of them, and how many there are."""
    first: dict[tuple[str, int], PreparedOperator] = {}
    counts: dict[tuple[str, int], int] = {}
    for op in operators_of(model):
        if wanted(op.operator):
            key = (op.operator.name, op.operator.version)
            first.setdefault(key, op)
            counts[key] = counts.get(key, 0) + 1
    for key in list(first)[:MOST_SIGHTINGS]:
        yield key[0], first[key], counts[key]
