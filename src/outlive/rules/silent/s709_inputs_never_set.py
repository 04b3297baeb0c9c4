"""Output computed from unset inputs

What it checks
    For an Interpreter: each input was set, or its view requested, before the run whose output is read.
    For a CompiledModel: each input buffer was written. For `run`: the mapping names all inputs.
    Signatures of an Interpreter set all inputs.

Why it matters
    LiteRT silently computes with uninitialized memory; outlive uses zeros, and `run` random numbers.
    The usual cause is a wrong index or a forgotten input.

What to do
    Set every input between allocate_tensors() and invoke(), by the indices of get_input_details(). If
    you mean zeros, set zeros. For `run`, pass "random" or "zeros" as the value of an input.

Limits
    Runs whose outputs are not read, such as warm-up runs, are not reported, nor are inputs that no
    operator reads. A requested view of an input counts as written.
"""

from outlive.model import Model
from outlive.process.flight import Flight
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.units import plural

_SHOWN = 5
# Who ran the model: why the result means nothing, and the remedy.
_MEANT = {
    "": (  # an Interpreter
        "LiteRT computes with uninitialized memory; outlive used zeros",
        "set each input after allocate_tensors() and before invoke()",
        "interpreter.set_tensor({index}, value)",
    ),
    "compiled_model": (
        "LiteRT computes with uninitialized memory; outlive used zeros",
        "write to the buffer of each input before the run",
        "buffers[{place}].write(value)",
    ),
    "run": (
        "outlive used random numbers",
        'pass a value for each input, or "random"',
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
    fact = f"{len(unset)} of {plural(len(graph.input_indices), 'input')}, {shown}"
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
