"""Words that rules on a comparison share."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from outlive.finding import Evidence, OpPlace, Remedy, Tag
from outlive.quant.nouns import TensorDrift

SHOWN = 4


def layer_name(row: TensorDrift) -> str:
    """A layer as `op 12 CONV_2D "stage/conv"`."""
    place = "" if row.op is None else f"op {row.op} "
    return f'{place}{row.op_type} "{row.name}"'


def op_place(row: TensorDrift) -> OpPlace | None:
    """The operator of a row."""
    return None if row.op is None else OpPlace(subgraph=0, index=row.op, type=row.op_type)


def keep_float(rows: Iterable[TensorDrift], effect: str = "") -> Remedy:
    """The remedy that leaves these layers out of quantization."""
    names = " ".join(f"--skip {shlex.quote(row.reference_name)}" for row in list(rows)[:SHOWN])
    return Remedy(
        action="keep what is named here in float, and compare again",
        tag=Tag.CHANGES_MODEL,
        effect=effect,
        command=f"outlive quantize FLOAT --recipe static-int8 --samples samples.npz {names} -o OUT",
    )


def wider() -> Remedy:
    """The remedy that gives activations more bits."""
    return Remedy(
        action="give activations 16 bits: 256 times as many steps for the same range",
        tag=Tag.CHANGES_MODEL,
        command="outlive quantize FLOAT --recipe static-int16x8 --samples samples.npz -o OUT",
    )


def calibrate_again() -> Remedy:
    """The remedy that measures ranges anew."""
    return Remedy(
        action="calibrate again with samples that cover what the model will meet",
        tag=Tag.CHANGES_MODEL,
        command="outlive quantize FLOAT --recipe static-int8 --samples samples.npz -o OUT",
    )


def seen(fact: str, source: str = "comparison") -> Evidence:
    """One fact of a comparison."""
    return Evidence(fact=fact, source=source)
