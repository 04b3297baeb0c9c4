"""Operators that keep state or call subgraphs, and those whose outputs depend on data."""

from __future__ import annotations

from outlive.kernels.litert.kernel import (
    Home,
    LiteRTKernel,
    PreparedOutputs,
    always,
    as_in_file,
    dynamic_unless_known,
    shape_from,
    shaped,
)
from outlive.kernels.litert.tensor_table import PreparedOutput, Where
from outlive.kernels.litert.view import PrepareView, require

_HANDLE_BYTES = 4


def _var_handle(view: PrepareView) -> PreparedOutputs:
    """A number that stays: tflite/kernels/var_handle.cc."""
    return (PreparedOutput(size_bytes=_HANDLE_BYTES),)


def _read_variable_home(view: PrepareView) -> Home:
    """On the heap if the file gives it no rank: tflite/kernels/read_variable.cc."""
    return None if view.shape_of(view.produced()) else "dynamic"


def _hashtable(view: PrepareView) -> PreparedOutputs:
    """A handle, on the heap like every resource: tflite/kernels/hashtable.cc."""
    return (PreparedOutput(shape=(1,), size_bytes=_HANDLE_BYTES),)


def _hashtable_find(view: PrepareView) -> PreparedOutputs:
    """One answer for each key: tflite/kernels/hashtable_find.cc."""
    return shaped(view.shape(1))


def _hashtable_size(view: PrepareView) -> PreparedOutputs:
    """One number: tflite/kernels/hashtable_size.cc."""
    return shaped((1,))


def _hashtable_lookup(view: PrepareView) -> PreparedOutputs:
    """A row for each key, and whether it was found: tflite/kernels/hashtable_lookup.cc."""
    keys = view.shape(0)[0]
    return shaped((keys, *view.shape(2)[1:]), (keys,))


def _unique(view: PrepareView) -> PreparedOutputs:
    """How many there are is seen when it runs: tflite/kernels/unique.cc."""
    return (PreparedOutput(), PreparedOutput(shape=view.shape(0)))


def _multinomial(view: PrepareView) -> PreparedOutputs:
    """Batches by samples: tflite/kernels/random_ops.cc."""
    return shaped((view.shape(0)[0], view.values(1)[0]))


def _non_max_suppression(view: PrepareView) -> PreparedOutputs:
    """As many as are asked for, if that is known: tflite/kernels/non_max_suppression.cc."""
    chosen = PreparedOutput(shape=view.values(2)) if view.known(2) else PreparedOutput()
    require(chosen.shape is None or len(chosen.shape) == 1)
    return (chosen,) * (len(view.operator.outputs) - 1) + (PreparedOutput(shape=()),)


def _non_max_suppression_home(view: PrepareView) -> Home:
    """All outputs but the number of those selected have the greatest number as their length."""
    selected: Where | None = None if view.known(2) else "dynamic"
    return (selected,) * (len(view.operator.outputs) - 1) + (None,)


def _segments(view: PrepareView) -> PreparedOutputs:
    """As many rows as the last segment says: tflite/kernels/segment_sum.cc."""
    return shaped((view.values(1)[-1] + 1, *view.shape(0)[1:]))


def _unsorted_segments(view: PrepareView) -> PreparedOutputs:
    """As many rows as its third input says: tflite/kernels/unsorted_segment.cc."""
    return shaped((view.values(2)[0], *view.shape(0)[len(view.shape(1)) :]))


def _unsorted_segments_home(view: PrepareView) -> Home:
    moving = view.table.where[view.needed(0).index] == "dynamic"
    return None if view.known(1, 2) and not moving else "dynamic"


# Their outputs are as the subgraphs say that they call; of others nothing is known but the file's shapes.
_UNKNOWN = """IF WHILE STABLEHLO_CASE STABLEHLO_COMPOSITE STABLEHLO_GATHER STABLEHLO_PAD
STABLEHLO_RNG_BIT_GENERATOR LSH_PROJECTION SKIP_GRAM"""
_UNSORTED = ("UNSORTED_SEGMENT_MAX", "UNSORTED_SEGMENT_MIN", "UNSORTED_SEGMENT_PROD", "UNSORTED_SEGMENT_SUM")
_AS_IN_FILE = LiteRTKernel(shapes=as_in_file)
_RANDOM = LiteRTKernel(shapes=shape_from(0), home=dynamic_unless_known(0))  # tflite/kernels/random_ops.cc
_SUPPRESSION = LiteRTKernel(shapes=_non_max_suppression, home=_non_max_suppression_home)

KERNELS = {
    **dict.fromkeys(_UNKNOWN.split(), LiteRTKernel()),
    "DELEGATE": _AS_IN_FILE,  # what a delegate does; its shapes are given
    "ASSIGN_VARIABLE": _AS_IN_FILE,
    "CALL_ONCE": _AS_IN_FILE,
    "HASHTABLE_IMPORT": _AS_IN_FILE,
    "VAR_HANDLE": LiteRTKernel(shapes=_var_handle, home=always("persistent")),
    "READ_VARIABLE": LiteRTKernel(shapes=as_in_file, home=_read_variable_home),
    "HASHTABLE": LiteRTKernel(shapes=_hashtable),
    "HASHTABLE_FIND": LiteRTKernel(shapes=_hashtable_find),
    "HASHTABLE_SIZE": LiteRTKernel(shapes=_hashtable_size),
    "HASHTABLE_LOOKUP": LiteRTKernel(shapes=_hashtable_lookup),
    "RANDOM_UNIFORM": _RANDOM,
    "RANDOM_STANDARD_NORMAL": _RANDOM,
    "MULTINOMIAL": LiteRTKernel(shapes=_multinomial, home=dynamic_unless_known(0, 1)),
    "UNIQUE": LiteRTKernel(shapes=_unique, home=always(("dynamic", None))),
    "NON_MAX_SUPPRESSION_V4": _SUPPRESSION,
    "NON_MAX_SUPPRESSION_V5": _SUPPRESSION,
    "SEGMENT_SUM": LiteRTKernel(shapes=_segments, home=dynamic_unless_known(0, 1)),
    **dict.fromkeys(_UNSORTED, LiteRTKernel(shapes=_unsorted_segments, home=_unsorted_segments_home)),
}
