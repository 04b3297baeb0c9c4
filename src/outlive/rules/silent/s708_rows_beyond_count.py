"""Stale rows after the last detection

What it checks
    In a model that ends with TFLite_Detection_PostProcess, the rows of scores and boxes after the
    number of detections are zero.

Why it matters
    The failure is silent: the operator writes only the rows of its detections (LiteRT,
    tflite/kernels/detection_postprocess.cc), and the other rows keep old values. A program that reads
    all rows sees detections that do not exist.

What to do
    Read the number of detections first, and only that many rows.

Limits
    Rows of zeros are not reported, although they are not detections either.
"""

from outlive.model import Model, Operator
from outlive.process.flight import Flight
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.wording import operator_place

_KERNEL = "TFLite_Detection_PostProcess"


@rule("S708", "rows-beyond-count", Severity.WARNING, since="0.1")
def rows_beyond_count(flight: Flight, model: Model) -> Sightings:
    if flight.died or not model.subgraphs:
        return
    for step in model.subgraphs[0].operators:
        if step.custom_name == _KERNEL and len(step.outputs) == 4:
            yield from _sight(flight, step)


def _sight(flight: Flight, step: Operator) -> Sightings:
    """Boxes, classes, scores and the count, in this order."""
    import numpy as np  # loaded here: loading the rules does not need it

    names = {output.index: output.name for output in flight.outputs}
    if any(output.untouched_bytes for output in flight.outputs):
        return  # memory was filled beforehand: S701 reports what still holds that
    if any(names.get(index) not in flight.values for index in (step.outputs[2], step.outputs[3])):
        return
    name, count_name = names[step.outputs[2]], names[step.outputs[3]]
    scores, counted = np.ravel(flight.values[name]), np.ravel(flight.values[count_name])
    count = int(counted[0]) if counted.size and np.isfinite(counted[0]) else scores.size
    left = np.flatnonzero(scores[max(0, count) :])
    if not left.size:
        return
    first = count + int(left[0])
    facts = (
        f'"{count_name}" says {count} of {scores.size}',
        f'"{name}" contains {scores[first]:.6g} in row {first}',
        f"{left.size} of the {scores.size - count} remaining rows are not zero",
    )
    yield Sighting(
        where=f'output "{name}", tensor {step.outputs[2]}',
        evidence=tuple(Evidence(fact, "run") for fact in facts),
        why="the operator writes only the rows of its detections; the others are old data",
        remedies=(
            Remedy(
                "read only as many rows as the count",
                Tag.SAME_RESULTS,
                command=f"interpreter.get_tensor({step.outputs[2]})[0, :count]",
                effect=f"count = int(interpreter.get_tensor({step.outputs[3]})[0])",
            ),
        ),
        fault=Fault.INPUT,
        op=operator_place(step),
    )
