"""Kernels that keep a state: SVDF, UNIDIRECTIONAL_SEQUENCE_LSTM.

Sources: svdf_common.cc, unidirectional_sequence_lstm.cc and lstm_eval_common.cc of
tensorflow/lite/micro/kernels.

Control flow and resource variables.

Sources: if.cc, while.cc, call_once.cc, var_handle.cc, read_variable.cc, assign_variable.cc of
tensorflow/lite/micro/kernels; micro_resource_variable.cc.
"""

from outlive.kernels.tflm.checks import at
from outlive.kernels.tflm.context import TYPE_BYTES, MicroContext, MicroKernel, MicroTensor, count
from outlive.kernels.tflm.convolution import fc_params

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


# Places of an LSTM's 24 inputs: lstm_shared.h.
_INPUT_WEIGHTS = range(1, 5)
_RECURRENT_WEIGHTS = range(5, 9)
_BIASES = range(12, 16)
_HIDDEN, _CELL = 18, 19
_UNSUPPORTED = (*range(9, 12), *range(16, 18), *range(20, 24))


def svdf(k: MicroContext) -> None:
    """SVDF."""
    batch, filters, units, input_type = svdf_shapes(k)
    k.scratch(4 * batch * filters)
    if input_type == "int8":
        k.scratch(4 * batch * units)


def svdf_shapes(k: MicroContext) -> tuple[int, int, int, str]:
    """Batch, filters, units and input type of an SVDF whose tensors fit each other."""
    input, feature, time, bias, state = (k.input(0), k.input(1), k.input(2), k.maybe_input(3), k.input(4))
    k.one_of(input, "input", "float32", "int8")
    k.require(input.rank == feature.rank == time.rank == state.rank == 2, "a tensor has not 2 dimensions")
    k.require(len(k.operator.outputs) == 1, "it has not one output")
    output = k.output()
    rank = k.number("rank")
    batch, filters, memory = input.dims[0], feature.dims[0], time.dims[1]
    k.require(rank != 0 and filters % rank == 0, f"{filters} filters are not made of ranks of {rank}")
    units = filters // rank
    k.require(output.dims == (batch, units), "its output does not fit its filters")
    k.require(feature.dims[1] == input.dims[1], "its feature weights do not fit its input")
    k.require(time.dims[0] == filters, "its time weights do not fit its filters")
    if bias is None:
        k.refuse("it has no bias, which TFLM gives back all the same: it crashes")
    k.require(at(k, bias, 0) == units, "its bias does not fit its units")
    k.require(state.dims == (batch, memory * filters), "its state does not fit its memory")
    k.require(state.tensor.is_variable, "its state is not a variable")
    k.counts(5)
    if input.type == "int8":
        _int8_svdf(k, (feature, time, bias, state, output))
    else:
        for tensor in (feature, time, state, output, bias):
            k.one_of(tensor, "a tensor of a float SVDF", "float32")
    return batch, filters, units, input.type


def _int8_svdf(
    k: MicroContext, tensors: tuple[MicroTensor, MicroTensor, MicroTensor, MicroTensor, MicroTensor]
) -> None:
    feature, time, bias, state, output = tensors
    k.one_of(feature, "feature weights", "int8")
    k.one_of(time, "time weights", "int16", "int8")
    k.one_of(state, "state", "int16", "int8")
    k.one_of(output, "output", "int8")
    k.one_of(bias, "bias", "int32")
    k.require(abs(bias.scale - state.scale * time.scale) < 1e-5, "its bias scale does not fit its state's")


def lstm(k: MicroContext) -> None:
    """UNIDIRECTIONAL_SEQUENCE_LSTM: four buffers of the size of its state."""
    batch, state, cell_type = lstm_shapes(k)
    for _ in range(4):
        k.scratch(batch * state * TYPE_BYTES[cell_type])


def lstm_shapes(k: MicroContext) -> tuple[int, int, str]:
    """Batch, state size and cell type of an LSTM whose tensors fit each other."""
    k.counts(24)
    tensors = [k.maybe_input(position) for position in range(24)]
    output = k.output()
    input, hidden, cell = (_present(k, tensors[place], "a tensor") for place in (0, _HIDDEN, _CELL))
    k.require(hidden.tensor.is_variable and cell.tensor.is_variable, "its state is not a variable")
    k.same_type(input, hidden, "input and hidden state")
    k.same_type(input, output)
    for place in _UNSUPPORTED:
        k.require(
            tensors[place] is None, f"its input {place} (peephole, projection or norm) is not supported"
        )
    time_major = bool(k.number("time_major"))
    batch = at(k, input, 1 if time_major else 0)
    state = at(k, hidden, 1)
    _lstm_weights(k, tensors, at(k, input, 2), state)
    sizes = hidden.elements == cell.elements == batch * state
    k.require(sizes and output.dims == (*input.dims[:2], state), "its state or output does not fit its input")
    k.one_of(cell, "cell state", "float32", "int16")
    if cell.type == "int16":
        _integer_gates(k, tensors)
    return batch, state, cell.type


def _lstm_weights(k: MicroContext, tensors: list[MicroTensor | None], inputs: int, state: int) -> None:
    for places, dims in (
        (_INPUT_WEIGHTS, (state, inputs)),
        (_RECURRENT_WEIGHTS, (state, state)),
        (_BIASES, (state,)),
    ):
        first = _present(k, tensors[places[0]], f"input {places[0]}")
        for place in places:
            tensor = _present(k, tensors[place], f"input {place}")
            k.same_type(first, tensor, "weights or biases")
            k.require(tensor.dims == dims, f"its input {place} is {tensor.dims}, not {dims}")


def _integer_gates(k: MicroContext, tensors: list[MicroTensor | None]) -> None:
    # CreateGateParams: each gate's two products are prepared as a FULLY_CONNECTED with an int16 output.
    for place in (2, 1, 3, 4):
        for source, weights in ((0, place), (_HIDDEN, place + 4)):
            activations = _present(k, tensors[source], "a tensor")
            cell = k.tensor(k.operator.inputs[_CELL])
            output = MicroTensor(cell.tensor, cell.dims)
            output.scales, output.zero_points, output.axis = (2.0**-12,), (0,), 0
            fc_params(k, activations, _present(k, tensors[weights], "weights"), None, output, "NONE")


def _present(k: MicroContext, tensor: MicroTensor | None, role: str) -> MicroTensor:
    return tensor if tensor is not None else k.refuse(f"{role} is missing")


KERNELS = {
    "ASSIGN_VARIABLE": MicroKernel(assign_variable),
    "CALL_ONCE": MicroKernel(call_once),
    "IF": MicroKernel(if_),
    "READ_VARIABLE": MicroKernel(read_variable),
    "VAR_HANDLE": MicroKernel(var_handle),
    "WHILE": MicroKernel(while_),
    "SVDF": MicroKernel(svdf),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": MicroKernel(lstm),
}
