"""Words that rules on a comparison share."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Sequence
from itertools import islice

from outlive.finding import Evidence, Remedy, Sighting, Tag
from outlive.quant import Drift, TensorDrift
from outlive.units import plural

SHOWN = 4
# A name that is longer is cut short in findings, and cannot be part of a command.
_LONG = 40
# The ends of each type's integers.
ENDS = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-32768, 32767)}
# Their outputs have steps that the runtime prescribes (tflite/kernels/activations.cc, l2norm.cc).
FIXED = ("SOFTMAX", "LOGISTIC", "TANH", "L2_NORMALIZATION", "LOG_SOFTMAX")
# These must keep the scale of what they are given.
HANDING_ON = (
    "RESHAPE", "MAX_POOL_2D", "AVERAGE_POOL_2D", "PAD", "PADV2", "SLICE", "STRIDED_SLICE", "SPLIT", "GATHER",
    "TRANSPOSE", "SQUEEZE", "EXPAND_DIMS", "CONCATENATION", "RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR",
    "PACK", "UNPACK", "RELU", "RELU6", "MEAN", "REDUCE_MAX", "REDUCE_MIN", "TILE", "BATCH_TO_SPACE_ND",
    "SPACE_TO_BATCH_ND", "DEPTH_TO_SPACE", "SPACE_TO_DEPTH", "MAXIMUM", "MINIMUM",
)  # fmt: skip


def layer_name(row: TensorDrift) -> str:
    """A layer as `operator 12 CONV_2D "stage/conv"`."""
    place = "" if row.op is None else f"operator {row.op} "
    return f'{place}{row.op_type} "{row.name}"'


def sight_layers(
    bad: Sequence[TensorDrift],
    facts: Iterable[str],
    why: str,
    *remedies: Remedy,
    source: str = "comparison",
    confidence: str = "certain",
) -> Sighting:
    """One sighting of all layers with a fault, the worst first; `facts` has a line for each."""
    lines = list(islice(facts, SHOWN))
    if len(bad) > SHOWN:
        what = "more tensor" if source == "comparison" else "more operator"
        lines.append(f"{plural(len(bad) - SHOWN, what)} ")
    return Sighting(
        where=layer_name(bad[0]),
        evidence=tuple(Evidence(line, source) for line in lines),
        why=why,
        remedies=remedies,
        confidence=confidence,
        op=bad[0].place,
    )


def certainty(drift: Drift, enough: int = 10) -> str:
    """How sure a finding is that a few samples could have caused."""
    return "likely" if drift.samples < enough else "certain"


def keep_float(rows: Iterable[TensorDrift], effect: str = "") -> Remedy:
    """The remedy that leaves these layers out of quantization."""
    names = " ".join(f"--skip {_word(row)}" for row in list(rows)[:SHOWN])
    return Remedy(
        "keep these layers in float, and compare again",
        Tag.CHANGES_MODEL,
        effect=effect,
        command=f"outlive quantize FLOAT --recipe static-int8 --samples samples.npz {names} -o OUT",
    )


def _word(row: TensorDrift) -> str:
    """The operator of the float model in a command: its name, or its number where that is long."""
    if len(row.reference_name) <= _LONG or row.reference_op is None:
        return shlex.quote(row.reference_name)
    return str(row.reference_op)


def wider() -> Remedy:
    """The remedy that gives activations more bits."""
    return Remedy(
        "use 16-bit activations",
        Tag.CHANGES_MODEL,
        effect="256 times as many steps for the same range, 48 dB less rounding noise",
        command="outlive quantize FLOAT --recipe static-int16x8 --samples samples.npz -o OUT",
    )


def calibrate_again(effect: str = "") -> Remedy:
    """The remedy that measures ranges anew."""
    return Remedy(
        "calibrate again with realistic samples",
        Tag.CHANGES_MODEL,
        effect=effect,
        command="outlive quantize FLOAT --recipe static-int8 --samples samples.npz -o OUT",
    )


def share_of_error(drift: Drift, rows: Sequence[TensorDrift]) -> str:
    """How much of the error born in all layers, as its square in steps, is born in these."""
    total = sum(row.blame**2 for row in drift.tensors)
    share = sum(row.blame**2 for row in rows) / total if total > 0 else 0.0
    return f"removes {share:.0%} of the squared error of all layers" if share else ""


def needed_share(row: TensorDrift) -> float:
    """The part of the type's range that the values seen, and 0 with them, would need; 1 if it is unknown."""
    metrics = row.metrics
    if metrics is None or not row.scale or not metrics.num_elements or row.dtype not in ENDS:
        return 1.0
    least, most = ENDS[row.dtype]
    needed = max(metrics.reference_max, 0.0) - min(metrics.reference_min, 0.0)
    return needed / ((most - least) * row.scale)


def finer(times: float) -> str:
    """What steps that are so many times finer gain."""
    return f"steps {times:.1f} times finer, {20 * math.log10(times):.0f} dB less rounding noise"
