"""Which kernel prepares which operator: those of MicroMutableOpResolver, all of them registered."""

from functools import cache

from outlive.kernels.tables import read_table
from outlive.kernels.tflm import (
    arithmetic,
    convolution,
    custom,
    elementwise,
    recurrent,
    shaping,
    signal,
    slicing,
)
from outlive.kernels.tflm.context import MicroKernel
from outlive.model import Operator

_BUILTIN = {
    **arithmetic.KERNELS,
    **convolution.KERNELS,
    **elementwise.KERNELS,
    **recurrent.KERNELS,
    **shaping.KERNELS,
    **slicing.KERNELS,
}
_CUSTOM = {**custom.KERNELS, **signal.KERNELS}


def find_kernel(op: Operator, library: str) -> MicroKernel | None:
    """The kernel of an operator in a library ("reference", "cmsis-nn"); None if TFLM has none."""
    return _kernel(op.is_custom, op.custom_name if op.is_custom else op.type, library)


@cache
def _kernel(is_custom: bool, name: str, library: str) -> MicroKernel | None:
    row = read_table("tflm")["custom" if is_custom else "builtin"].get(name)
    if row is None:
        return None
    kernel = (_CUSTOM if is_custom else _BUILTIN).get(name, MicroKernel())
    struct = row.get("init")
    if library == "cmsis-nn" and not is_custom:
        from outlive.kernels.tflm.cmsis_nn import KERNELS

        kernel, struct = KERNELS.get(name, kernel), row.get("cmsis_nn_init", struct)
    return MicroKernel(kernel.prepare, init=kernel.init, options=row.get("options"), init_struct=struct)
