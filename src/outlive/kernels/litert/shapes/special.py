"""Operators that keep state, and those whose outputs depend on data."""

from __future__ import annotations

from outlive.kernels.litert.shapes.outcome import DYNAMIC, Outcome, Outcomes, Rule, View, need, shaped

_HANDLE_BYTES = 4


def var_handle(view: View) -> Outcomes:
    """A number that stays: tflite/kernels/var_handle.cc."""
    return (Outcome(where="persistent", size_bytes=_HANDLE_BYTES),)


def read_variable(view: View) -> Outcomes:
    """As the file says, on the heap if that has no rank: tflite/kernels/read_variable.cc."""
    target = view.operator.outputs[0]
    return (Outcome(),) if view.table.shapes[target] else DYNAMIC


def hashtable(view: View) -> Outcomes:
    """A handle, on the heap like every resource: tflite/kernels/hashtable.cc."""
    return (Outcome(shape=(1,), size_bytes=_HANDLE_BYTES),)


def hashtable_find(view: View) -> Outcomes:
    """One answer for each key: tflite/kernels/hashtable_find.cc."""
    return shaped(view.shape(1))


def hashtable_size(view: View) -> Outcomes:
    """One number: tflite/kernels/hashtable_size.cc."""
    return shaped((1,))


def as_first_input_says(view: View) -> Outcomes:
    """The first input is the shape: tflite/kernels/random_ops.cc."""
    return shaped(view.values(0)) if view.known(0) else DYNAMIC


def sparse_to_dense(view: View) -> Outcomes:
    """The second input is the shape: tflite/kernels/sparse_to_dense.cc."""
    return shaped(view.values(1)) if view.known(1) else DYNAMIC


def scatter_nd(view: View) -> Outcomes:
    """The third input is the shape: tflite/kernels/scatter_nd.cc."""
    return shaped(view.values(2)) if view.known(2) else DYNAMIC


def unique(view: View) -> Outcomes:
    """How many there are is seen when it runs: tflite/kernels/unique.cc."""
    return (Outcome(where="dynamic"), Outcome(shape=view.shape(0)))


def multinomial(view: View) -> Outcomes:
    """On the heap unless both inputs are known: tflite/kernels/random_ops.cc."""
    if not (view.known(0) and view.known(1)):
        return DYNAMIC
    return shaped((view.shape(0)[0], view.values(1)[0]))


def non_max_suppression(view: View) -> Outcomes:
    """As many as are asked for, if that is known: tflite/kernels/non_max_suppression.cc."""
    chosen = Outcome(shape=view.values(2)) if view.known(2) else Outcome(where="dynamic")
    need(not view.known(2) or len(view.values(2)) == 1)
    count = Outcome(shape=())
    return (chosen, chosen, count) if len(view.operator.outputs) == 3 else (chosen, count)


def segments(view: View) -> Outcomes:
    """As many rows as the last segment says: tflite/kernels/segment_sum.cc."""
    if not (view.known(0) and view.known(1)):
        return DYNAMIC
    return shaped((view.values(1)[-1] + 1, *view.shape(0)[1:]))


def unsorted_segments(view: View) -> Outcomes:
    """As many rows as its third input says: tflite/kernels/unsorted_segment.cc."""
    if not (view.known(1) and view.known(2)) or view.table.where[view.index(0)] == "dynamic":
        return DYNAMIC
    return shaped((view.values(2)[0], *view.shape(0)[len(view.shape(1)) :]))


def embedding_lookup_sparse(view: View) -> Outcomes:
    """On the heap, always: tflite/kernels/embedding_lookup_sparse.cc."""
    return DYNAMIC


def hashtable_lookup(view: View) -> Outcomes:
    """A row for each key, and whether it was found: tflite/kernels/hashtable_lookup.cc."""
    keys = view.shape(0)[0]
    return shaped((keys, *view.shape(2)[1:]), (keys,))


RULES: dict[str, Rule] = {
    "VAR_HANDLE": var_handle,
    "READ_VARIABLE": read_variable,
    "HASHTABLE": hashtable,
    "HASHTABLE_FIND": hashtable_find,
    "HASHTABLE_SIZE": hashtable_size,
    "RANDOM_UNIFORM": as_first_input_says,
    "RANDOM_STANDARD_NORMAL": as_first_input_says,
    "SPARSE_TO_DENSE": sparse_to_dense,
    "SCATTER_ND": scatter_nd,
    "UNIQUE": unique,
    "MULTINOMIAL": multinomial,
    "NON_MAX_SUPPRESSION_V4": non_max_suppression,
    "NON_MAX_SUPPRESSION_V5": non_max_suppression,
    "SEGMENT_SUM": segments,
    "UNSORTED_SEGMENT_MAX": unsorted_segments,
    "UNSORTED_SEGMENT_MIN": unsorted_segments,
    "UNSORTED_SEGMENT_PROD": unsorted_segments,
    "UNSORTED_SEGMENT_SUM": unsorted_segments,
    "EMBEDDING_LOOKUP_SPARSE": embedding_lookup_sparse,
    "HASHTABLE_LOOKUP": hashtable_lookup,
}
