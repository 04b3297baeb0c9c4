"""the file holds data that nothing refers to

What it checks
    Buffers of at least 256 bytes that no tensor and no metadata entry refers to.

Why it matters
    They are shipped and mapped with every copy of the model and never used.

What to do
    Remove them; converting the model again usually does.

Limits
    Models compiled for an NPU keep code for it in buffers that only their custom operators know; models
    with an operator DISPATCH_OP are left alone.
"""

from outlive.model import Model
from outlive.rules.api import Remedy, Severity, Sightings, Tag, rule
from outlive.rules.wording import sight_file
from outlive.units import format_bytes, plural

_MIN_BYTES = 256


@rule("M102", "unused-buffers", Severity.NOTE, since="0.1")
def unused_buffers(model: Model) -> Sightings:
    if any(code.custom_name == "DISPATCH_OP" for code in model.operator_codes):
        return
    used = {tensor.buffer_index for tensor in model.tensors()}
    used.update(entry.buffer_index for entry in model.metadata)
    unused = [
        buffer for buffer in model.buffers if buffer.size_bytes >= _MIN_BYTES and buffer.index not in used
    ]
    if not unused:
        return
    unused.sort(key=lambda buffer: -buffer.size_bytes)
    total = sum(buffer.size_bytes for buffer in unused)
    facts = [f"buffer {buffer.index}: {format_bytes(buffer.size_bytes)}" for buffer in unused[:5]]
    why = f"neither tensors nor metadata refer to {plural(len(unused), 'buffer')} of {len(model.buffers)}"
    effect = f"saves {format_bytes(total)} of the file"
    again = Remedy("convert the model again", Tag.SAME_RESULTS, effect=effect)
    yield sight_file(model.path, facts, "buffer list", why, again)
