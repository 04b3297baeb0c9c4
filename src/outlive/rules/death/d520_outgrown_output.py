"""Output is larger than in the file

What it checks
    No run returned an output with more elements than its shape in the file.

Why it matters
    If a program sizes its buffers by the file, the result is silently truncated, or it overwrites the
    heap behind the buffer. LiteRT's CompiledModel does the former, C programs either.

What to do
    Query the shape after each run, and size buffers by it. outlive's interpreter does.

Limits
    The rule sees one run. Other inputs may give a larger output.
"""

from outlive.model import Model, Subgraph
from outlive.process.flight import Flight, OutputSeen
from outlive.rules.api import Evidence, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.wording import operator_name, operator_place
from outlive.units import count_elements, format_shape

_ASK = Remedy(
    "query the shape after each run",
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
    made = () if maker is None else (Evidence(f"{operator_name(maker)} writes the output", "file"),)
    yield Sighting(
        where=f'output "{tensor.name}", tensor {tensor.index}',
        evidence=(
            Evidence(
                f"{format_shape(output.shape)} in the run, {format_shape(tensor.shape)} in the file", "run"
            ),
            Evidence(f"{format_shape(tensor.shape)} in the file", "file"),
            *made,
        ),
        why="the size depends on input values; buffers sized before the run are too small",
        remedies=(_ASK,),
        op=None if maker is None else operator_place(maker, graph.index),
    )
