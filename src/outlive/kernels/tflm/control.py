"""Control flow and resource variables.

Sources: if.cc, while.cc, call_once.cc, var_handle.cc, read_variable.cc, assign_variable.cc of
tensorflow/lite/micro/kernels; micro_resource_variable.cc.
"""

from __future__ import annotations

from outlive.kernels.tflm.context import MicroContext, MicroKernel
from outlive.kernels.tflm.tensors import count

# The program that measured the truth gave MicroResourceVariables this much room or more.
MOST_RESOURCES = 10_000


def if_(k: MicroContext) -> None:
    """IF."""
    k.require(len(k.operator.inputs) > 0, "it has no inputs")
    condition = k.input(0)
    k.one_of(condition, "condition", "bool")
    k.require(condition.elements == 1, "its condition is not one value")
    then, otherwise = _subgraph(k, "then_subgraph_index"), _subgraph(k, "else_subgraph_index")
    del otherwise
    _fits(k, then, len(k.operator.inputs) - 1, len(k.operator.outputs))


def while_(k: MicroContext) -> None:
    """WHILE."""
    condition, body = _subgraph(k, "cond_subgraph_index"), _subgraph(k, "body_subgraph_index")
    inputs, outputs = len(k.operator.inputs), len(k.operator.outputs)
    _fits(k, condition, inputs, None)
    _fits(k, body, inputs, outputs)
    k.require(inputs == outputs, "it has not as many outputs as inputs")


def call_once(k: MicroContext) -> None:
    """CALL_ONCE."""
    k.counts(0, 0)
    _subgraph(k, "init_subgraph_index")


def _subgraph(k: MicroContext, name: str) -> int:
    which = k.number(name)
    k.require(0 <= which < len(k.shared.tensors), f"it calls subgraph {which}, which does not exist")
    return which


def _fits(k: MicroContext, which: int, inputs: int, outputs: int | None) -> None:
    k.require(k.shared.subgraph_inputs[which] == inputs, f"subgraph {which} takes another number of inputs")
    if outputs is not None:
        given = k.shared.subgraph_outputs[which]
        k.require(given == outputs, f"subgraph {which} gives {given} outputs, not {outputs}")


def var_handle(k: MicroContext) -> None:
    """VAR_HANDLE: its output's pointer is set here, so no room is planned for it."""
    key = (k.text("container"), k.text("shared_name"))
    resources = k.shared.resources
    k.require(len(resources) < MOST_RESOURCES, "it has too many resource variables")
    k.require(len(k.operator.outputs) > 0, "it has no output")
    held = k.tensor(k.operator.outputs[0])
    held.has_data = True
    held.resource = resources.setdefault(key, len(resources))


def read_variable(k: MicroContext) -> None:
    """READ_VARIABLE."""
    k.counts(1)
    handle = k.input(0)
    k.one_of(handle, "handle", "resource")
    k.require(handle.elements == 1, "its handle is not one value")


def assign_variable(k: MicroContext) -> None:
    """ASSIGN_VARIABLE: the first one for a variable takes its bytes of the tail."""
    k.counts(2, 0)
    handle = k.tensor(k.operator.inputs[0])
    k.require(handle.type in ("resource", "int32"), f"its handle is {handle.type}, not a resource")
    k.require(count(handle.dims) == 1, "its handle is not one value")
    value = k.input(1)
    resource = handle.resource
    if resource is not None and resource not in k.shared.assigned:
        k.shared.assigned.add(resource)
        k.keep(value.file_bytes)


KERNELS = {
    "ASSIGN_VARIABLE": MicroKernel(assign_variable),
    "CALL_ONCE": MicroKernel(call_once),
    "IF": MicroKernel(if_),
    "READ_VARIABLE": MicroKernel(read_variable),
    "VAR_HANDLE": MicroKernel(var_handle),
    "WHILE": MicroKernel(while_),
}
