"""an output is larger than the file says

What it checks
    Whether a run gave an output of more elements than its shape in the file has.

Why it matters
    Where buffers are made from the shapes in the file, the result is cut short without a word, or the heap
    behind the buffer is overwritten: LiteRT's CompiledModel does the first, programs in C do either.

What to do
    Ask for the shape after each run, and size buffers by it. The interpreter of outlive does.

Limits
    What one run gave is looked at; with other values an output may be larger still.
"""

from outlive.model import Model, Subgraph
from outlive.process.flight import Flight, OutputSeen
from outlive.rules.api import Evidence, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.wording import operator_name, operator_place
from outlive.units import count_elements, format_shape

_ASK = Remedy(
    "ask for the shape after each run",
    Tag.SAME_RESULTS,
    command='interpreter.get_output_details()[0]["shape"]',
)


@rule("D520", "outgrown-output", Severity.WARNING, since="0.1", cause="runtime-shape-from-input")
def outgrown_output(flight: Flight, model: Model) -> Sightings:
    if flight.died or flight.error_type or not model.subgraphs:
        return
    graph = model.subgraphs[0]
    for output in flight.outputs:
        if output.index in graph.output_indices and 0 <= output.index < len(graph.tensors):
            yield from _sight(graph, output)


def _sight(graph: Subgraph, output: OutputSeen) -> Sightings:
    tensor = graph.tensors[output.index]
    held, given = count_elements(tensor.shape), count_elements(output.shape)
    if not tensor.has_rank and not tensor.shape:
        return  # the file does not say
    if not held or given is None or given <= held:
        return
    maker = next((step for step in graph.operators if tensor.index in step.outputs), None)
    made = () if maker is None else (Evidence(f"{operator_name(maker)} makes it", "file"),)
    yield Sighting(
        where=f'output "{tensor.name}", tensor {tensor.index}',
        evidence=(
            Evidence(f"the run gave {format_shape(output.shape)}", "run"),
            Evidence(f"the file says {format_shape(tensor.shape)}", "file"),
            *made,
        ),
        why="values that the model is given decide its size; it hurts where buffers are made before the run",
        remedies=(_ASK,),
        op=None if maker is None else operator_place(maker, graph.index),
    )
