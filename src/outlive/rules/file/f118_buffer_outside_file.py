"""data kept after the model's tables does not lie in the file

What it checks
    Offset and size of every buffer and of custom options that are stored behind the FlatBuffer, as
    large models do.

Why it matters
    The runtime adds offset and size without a check for overflow and reads wherever they point: a
    segmentation fault.

What to do
    Compare the size with the source and fetch the file again.

Limits
    None known.
"""

from dataclasses import replace

from outlive.model import Reading
from outlive.rules.api import OpPlace, Remedy, Severity, Sightings, Tag, rule
from outlive.rules.file.flaws import sight_flaws
from outlive.rules.wording import operator_place


@rule("F118", "buffer-outside-file", Severity.ERROR, since="0.1", cause="external-buffer-out-of-file")
def buffer_outside_file(file: Reading) -> Sightings:
    why = f"the file has {file.file_bytes:,} bytes; the data would lie beyond them"
    again = Remedy("compare its size with the source and fetch it again", Tag.SAME_RESULTS)
    reader = _first_reader(file)
    yield from (replace(seen, op=reader) for seen in sight_flaws(file, "outside-buffer", why, (again,)))


def _first_reader(file: Reading) -> OpPlace | None:
    """The first operator that would read the bytes that are not there."""
    if file.model is None:
        return None
    lost = {buffer.index for buffer in file.model.buffers if buffer.outside and not buffer.has_data}
    for subgraph in file.model.subgraphs:
        tensors = {tensor.index for tensor in subgraph.tensors if tensor.buffer_index in lost}
        for operator in subgraph.operators:
            if not tensors.isdisjoint(operator.inputs) or not tensors.isdisjoint(operator.outputs):
                return operator_place(operator, subgraph.index)
    return None
