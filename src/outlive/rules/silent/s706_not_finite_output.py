"""Non-finite values in an output

What it checks
    The outputs of a run with finite inputs are finite. If not, outlive runs the model again with the
    builtin kernels and names the first operator that produces such a number.

Why it matters
    The failure is silent: the run succeeds, and code that compares or sorts the output goes wrong
    later.

What to do
    Check the weights and inputs of the operator. If only XNNPACK produces these values, run the model
    with the builtin kernels and report it.

Limits
    With random inputs, the rule ignores operators that are not defined for all numbers (logarithms,
    roots, divisions, exponents, custom operators): the random input may be the cause. Infinities in the
    file, such as masks, are taken as intended.
"""

from collections.abc import Mapping

from outlive.model import Model, Operator, Subgraph
from outlive.process.flight import Flight, OutputSeen
from outlive.rules.api import Evidence, Fault, Iterator, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.silent.plain_operators import PLAIN, constants
from outlive.rules.wording import operator_name, operator_place, tensor_name
from outlive.units import count_elements

_KERNELS = Remedy(
    "run the model with the builtin kernels, whose results are finite",
    Tag.SAME_RESULTS,
    command="outlive run FILE --accelerator builtin",
)
_WEIGHTS = Remedy(
    "convert the model again from finite weights; the training may have diverged",
    Tag.CHANGES_MODEL,
)


@rule("S706", "not-finite-output", Severity.WARNING, since="0.1")
def not_finite_output(flight: Flight, model: Model) -> Sightings:
    bad = [output for output in flight.outputs if output.not_finite]
    if not bad or flight.died or not model.subgraphs:
        return
    graph, inside = model.subgraphs[0], flight.inside
    held = {} if inside is None else {row.index: row.not_finite for row in inside.tensors}
    if any(held.get(index) for index in graph.input_indices):
        return  # the model was given such numbers: rules on inputs say so
    maker = next((step for step in graph.operators if _makes(step, held)), None)
    if inside is not None and maker is not None:
        if inside.chosen or maker.type in PLAIN:
            yield from _sight_maker(graph, maker, bad, held)
    elif _is_finite_there(flight, bad, held):
        fact = "the builtin kernels return finite numbers for the same inputs"
        why = "XNNPACK or another delegate produces them"
        yield _sighting(bad, why, (Evidence(fact, "second run"),), (_KERNELS,))
    elif all(step.type in PLAIN for step in graph.operators):
        yield _sighting(bad, "the source is unknown")


def _makes(step: Operator, held: Mapping[int, int]) -> bool:
    return any(map(held.get, step.outputs)) and not any(map(held.get, step.inputs))


def _is_finite_there(flight: Flight, bad: list[OutputSeen], held: Mapping[int, int]) -> bool:
    """True if a delegate was at work, and one run without it gave finite numbers, as this one did not."""
    once = sum(stage.startswith("invoke") for stage, _ in flight.stages) <= 1
    seen = all(output.index in held and not held[output.index] for output in bad)
    return flight.delegation is not None and flight.delegation.taken > 0 and once and seen


def _sight_maker(
    graph: Subgraph, maker: Operator, bad: list[OutputSeen], held: Mapping[int, int]
) -> Sightings:
    index = next(index for index in maker.outputs if held.get(index))
    size = count_elements(graph.tensors[index].shape) or 0
    made = f"{operator_name(maker)} produces the first: {held[index]:,} of {size:,} numbers"
    weights = list(_broken_weights(graph, maker))
    if weights and not any(nan for _, nan in weights):
        return  # infinities of the file itself: masks are made so
    first = Evidence(made, "second run, builtin kernels")
    if weights:
        facts = tuple(Evidence(fact, "file") for fact, _ in weights)
        yield _sighting(bad, "its weights already contain such numbers", (first, *facts), (_WEIGHTS,), maker)
        return
    alone = Remedy(
        "extract the operator and run it on its inputs",
        Tag.SAME_RESULTS,
        command=f"outlive cut FILE --ops {maker.index} -o part.tflite",
    )
    yield _sighting(bad, "all inputs of the operator are finite", (first,), (alone,), maker)


def _broken_weights(graph: Subgraph, maker: Operator) -> Iterator[tuple[str, bool]]:
    import numpy as np  # loaded here: loading the rules does not need it

    for tensor in constants(graph, maker):
        values = tensor.array()
        count = int(values.size - np.count_nonzero(np.isfinite(values)))
        if count:
            fact = f"{tensor_name(tensor)} contains {count:,} of {values.size:,} values that are not finite"
            yield fact, bool(np.isnan(values).any())


def _sighting(
    bad: list[OutputSeen],
    why: str,
    facts: tuple[Evidence, ...] = (),
    remedies: tuple[Remedy, ...] = (),
    maker: Operator | None = None,
) -> Sighting:
    first = bad[0]
    others = f" and {len(bad) - 1} more" if len(bad) > 1 else ""
    size = count_elements(first.shape) or 0
    seen = Evidence(f"{first.not_finite:,} of {size:,} numbers", "run")
    return Sighting(
        where=f'output "{first.name}", tensor {first.index}{others}',
        evidence=(seen, *facts),
        why=why,
        remedies=remedies,
        fault=Fault.RUNTIME if remedies == (_KERNELS,) else Fault.FILE,
        op=None if maker is None else operator_place(maker),
    )
