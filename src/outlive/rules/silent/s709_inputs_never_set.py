"""an output was computed from inputs that were never set

What it checks
    Of an Interpreter: whether each input was set, or its view asked for, before the run whose output is read.
    Of a CompiledModel: whether each input buffer was written to. Of `run`: whether a mapping of inputs names
    all of them. Signatures of an Interpreter set all of them.

Why it matters
    LiteRT computes with whatever lies in that memory, and says nothing; outlive puts zeros there, and `run`
    random numbers. The output has nothing to do with what was meant, most often because of a wrong index or
    an input that was forgotten.

What to do
    Set every input between allocate_tensors() and invoke(), by the indices of get_input_details(). If zeros
    are meant, set zeros. For `run`, give "random" or "zeros" as the value of an input that may be anything.

Limits
    A run whose outputs are not read, such as one to warm up, is not reported, nor are inputs that no operator
    reads. A program that has asked for a view of an input is taken to have written to it.
"""

from outlive.model import Model
from outlive.process.flight import Flight
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.units import plural

_SHOWN = 5
# Who ran the model: why the result means nothing, and the remedy.
_MEANT = {
    "": (  # an Interpreter
        "LiteRT computes with what lies in memory there; here they were zeros",
        "set each input after allocate_tensors() and before invoke()",
        "interpreter.set_tensor({index}, value)",
    ),
    "compiled_model": (
        "LiteRT computes with what lies in memory there; here they were zeros",
        "write to the buffer of each input before the run",
        "buffers[{place}].write(value)",
    ),
    "run": (
        "they were filled with random numbers",
        "give a value for each input; if random numbers are meant, say so",
        'outlive.run(model, {{..., {name!r}: "random"}})',
    ),
}


@rule("S709", "inputs-never-set", Severity.WARNING, since="0.1", cause="uninitialised-input")
def inputs_never_set(flight: Flight, model: Model) -> Sightings:
    if not flight.unset_inputs or not model.subgraphs:
        return
    graph = model.subgraphs[0]
    read = {index for step in graph.operators for index in step.inputs} | set(graph.output_indices)
    named = {item.name: item.tensor for signature in model.signatures for item in signature.inputs}
    asked = [(named.get(name, -1) if index < 0 else index, name) for index, name in flight.unset_inputs]
    unset = [(index, name) for index, name in asked if index in read]
    if not unset:
        return
    first, name = unset[0]
    more = f" and {len(unset) - 1} more" if len(unset) > 1 else ""
    shown = ", ".join(f'"{one}" (tensor {index})' for index, one in unset[:_SHOWN])
    fact = f"{len(unset)} of {plural(len(graph.input_indices), 'input')} never set: {shown}"
    why, action, command = _MEANT[flight.unset_by]
    place = list(graph.input_indices).index(first) if first in graph.input_indices else 0
    yield Sighting(
        where=f'input "{name}", tensor {first}{more}',
        evidence=(Evidence(fact, "order of calls"),),
        why=why,
        remedies=(
            Remedy(action, Tag.CHANGES_RESULTS, command=command.format(index=first, place=place, name=name)),
        ),
        fault=Fault.INPUT,
    )
