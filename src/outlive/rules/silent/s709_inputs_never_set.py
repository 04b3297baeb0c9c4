"""an output was computed from inputs that were never set

What it checks
    Of an Interpreter: whether each input was set, or its view asked for, before the run whose output is read.
    `run` and signatures set all of them.

Why it matters
    LiteRT computes with whatever lies in that memory, and says nothing; outlive puts zeros there. The output
    has nothing to do with what was meant, most often because of a wrong index or an input that was forgotten.

What to do
    Set every input between allocate_tensors() and invoke(), by the indices of get_input_details(). If zeros
    are meant, set zeros.

Limits
    A run whose outputs nobody reads, such as one to warm up, is not told, nor are inputs that no operator
    reads. Who has asked for a view of an input is taken to have written to it.
"""

from outlive.model import Model
from outlive.process.flight import Flight
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.units import plural

_SHOWN = 5


@rule("S709", "inputs-never-set", Severity.WARNING, since="0.1", cause="uninitialised-input")
def inputs_never_set(flight: Flight, model: Model) -> Sightings:
    if not flight.unset_inputs or not model.subgraphs:
        return
    graph = model.subgraphs[0]
    read = {index for step in graph.operators for index in step.inputs} | set(graph.output_indices)
    unset = [(index, name) for index, name in flight.unset_inputs if index in read]
    if not unset:
        return
    first, name = unset[0]
    more = f" and {len(unset) - 1} more" if len(unset) > 1 else ""
    named = ", ".join(f'"{one}" (tensor {index})' for index, one in unset[:_SHOWN])
    fact = f"{len(unset)} of {plural(len(graph.input_indices), 'input')} never set: {named}"
    yield Sighting(
        where=f'input "{name}", tensor {first}{more}',
        evidence=(Evidence(fact, "order of calls"),),
        why="LiteRT computes with what lies in memory there; here they were zeros",
        remedies=(
            Remedy(
                "set each input after allocate_tensors() and before invoke()",
                Tag.CHANGES_RESULTS,
                command=f"interpreter.set_tensor({first}, value)",
            ),
        ),
        fault=Fault.INPUT,
    )
