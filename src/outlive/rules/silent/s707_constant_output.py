"""Output does not depend on the input

What it checks
    In diagnose, report and run --repeat, outlive runs the model on several random inputs, zeros, ones
    and large numbers. No output is the same every time; otherwise the finding names the operators after
    which nothing changes.

Why it matters
    The failure is silent: the model runs, and its result is unrelated to the input. Lost weights,
    saturated activations and values outside a quantized range cause this.

What to do
    Check the weights and the output range of the operator in the finding, and compare it with the model
    before conversion or quantization.

Limits
    Outputs that compare, select, round or squash (a class, a count, a mask, a probability) are exempt,
    as they are equal for many inputs by design. Outputs of fewer than 8 numbers are exempt unless all
    weights are zero. Other inputs may change the output.
"""

from collections.abc import Mapping

from outlive.model import Model, Operator, Subgraph, Tensor
from outlive.process.flight import Flight, OutputSeen, TensorSeen
from outlive.rules.api import Evidence, Iterator, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.silent.plain_operators import PLAIN, constants, makers
from outlive.rules.wording import operator_name, operator_place, tensor_name

_FEWEST_RUNS, _FEWEST_NUMBERS = 3, 8
_REAL = Remedy(
    "run the model on two real inputs, and compare the outputs",
    Tag.SAME_RESULTS,
    command="outlive run FILE --input NAME=values.npy --save outputs.npz",
)
_LOOK = Remedy(
    "compare this layer with the model before conversion",
    Tag.SAME_RESULTS,
    command="outlive compare FLOAT FILE",
)
_LIKELY = "likely; tested only with outlive's own inputs"


@rule("S707", "constant-output", Severity.WARNING, since="0.1")
def constant_output(flight: Flight, model: Model) -> Sightings:
    inside = flight.inside
    if flight.died or inside is None or inside.runs < _FEWEST_RUNS or not model.subgraphs:
        return
    rows = {row.index: row for row in inside.tensors}
    for output in flight.outputs:
        if output.index in rows and not rows[output.index].varies:
            yield from _sight(model.subgraphs[0], output, rows, inside.runs)


def _sight(graph: Subgraph, output: OutputSeen, rows: Mapping[int, TensorSeen], runs: int) -> Sightings:
    ends = list(_where_it_ends(graph, output.index, rows))
    if not ends or not all(_is_fault(graph, step, rows) for step in ends):
        return
    last = ends[0]
    row = rows[last.outputs[0]]
    span = f"all {row.minimum:.6g}" if row.minimum == row.maximum else "always the same"
    fact = f"{operator_name(last)} receives different numbers each time; its {row.size:,} results are {span}"
    zero = [f"{tensor_name(item)} is all zeros" for item in _zero_weights(graph, last)]
    facts = [Evidence(fact, f"{runs} runs"), *(Evidence(one, "file") for one in zero)]
    yield Sighting(
        where=f'output "{output.name}", tensor {output.index}',
        evidence=(Evidence(f"same for {runs} different inputs", f"{runs} runs"), *facts),
        why="its weights are zero" if zero else "the input does not reach this output",
        remedies=(_LOOK,) if zero else (_REAL, _LOOK),
        confidence="certain" if zero else _LIKELY,
        op=operator_place(last, graph.index),
    )


def _where_it_ends(graph: Subgraph, index: int, rows: Mapping[int, TensorSeen]) -> Iterator[Operator]:
    """The operators before a tensor that are given what changes, and give what does not; the last first."""
    made, seen, waiting = makers(graph), set(), [index]
    while waiting:
        step = made.get(waiting.pop(0))
        if step is None or step.index in seen:
            continue
        seen.add(step.index)
        if any(item in rows and rows[item].varies for item in step.inputs):
            yield step
        else:
            waiting += step.inputs


def _is_fault(graph: Subgraph, step: Operator, rows: Mapping[int, TensorSeen]) -> bool:
    row = rows.get(step.outputs[0])
    if step.type not in PLAIN or row is None:
        return False
    return row.size >= _FEWEST_NUMBERS or any(True for _ in _zero_weights(graph, step))


def _zero_weights(graph: Subgraph, step: Operator) -> Iterator[Tensor]:
    """Constants of a product that are all zero: those of a sum, such as a bias, may well be."""
    if step.type in ("ADD", "SUB"):
        return
    for tensor in constants(graph, step):
        if tensor.index == step.inputs[1] and not tensor.array().any():
            yield tensor
