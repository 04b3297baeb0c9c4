"""External buffer lies outside the file

What it checks
    Every buffer and custom option that is stored after the FlatBuffer, as in models over 2 GB, lies
    inside the file.

Why it matters
    The runtime adds offset and size without an overflow check and reads from there: a segmentation
    fault.

What to do
    Compare the size with the source, and download the file again.

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
    why = f"the file has {file.file_bytes:,} bytes, and the data lies beyond them"
    again = Remedy("compare the size with the source, and download the file again", Tag.SAME_RESULTS)
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
