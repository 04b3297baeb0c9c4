"""Unreferenced data in the file

What it checks
    A tensor or a metadata entry refers to every buffer of at least 256 bytes.

Why it matters
    Every copy of the model contains and maps this data without using it.

What to do
    Remove the data. Converting the model again usually does.

Limits
    Models compiled for an NPU keep code in buffers that only their custom operators know. Models with a
    DISPATCH_OP operator are exempt.
"""

from outlive.model import Model
from outlive.rules.api import Remedy, Severity, Sightings, Tag, rule
from outlive.rules.wording import command, sight_file
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
    why = f"{plural(len(unused), 'buffer')} of {len(model.buffers)} without a reference"
    effect = f"saves {format_bytes(total)} of the file"
    fix = command("outlive check --fix", model.path)
    remove = Remedy("remove the data", Tag.SAME_RESULTS, effect=effect, command=fix)
    again = Remedy("convert the model again", Tag.SAME_RESULTS)
    yield sight_file(model.path, facts, "buffer list", why, remove, again)
