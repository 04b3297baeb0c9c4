"""Where the bytes of a file are: constants by type, metadata, attached files, and the structure itself."""

from collections import defaultdict
from dataclasses import dataclass

from outlive.model.model import Model


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePart:
    """A share of the file."""

    what: str
    size_bytes: int
    count: int


def map_bytes(model: Model) -> tuple[FilePart, ...]:
    """Parts that add up to the file, the largest first; a buffer that many refer to counts once."""
    kinds: dict[int, str] = {}
    for tensor in model.tensors():
        kinds.setdefault(tensor.buffer_index, f"{tensor.dtype} constants")
    for entry in model.metadata:
        kinds[entry.buffer_index] = "metadata"
    sizes: dict[str, int] = defaultdict(int)
    counts: dict[str, int] = defaultdict(int)
    seen: set[int | None] = set()
    for buffer in model.buffers:
        if buffer.size_bytes and buffer.offset not in seen:
            seen.add(buffer.offset)
            what = kinds.get(buffer.index, "unused buffers")
            sizes[what] += buffer.size_bytes
            counts[what] += 1
    if model.attached_files:
        sizes["attached files"] = sum(file.stored_bytes for file in model.attached_files)
        counts["attached files"] = len(model.attached_files)
    # Overlapping buffers of a damaged file may claim more than there is.
    rest = max(0, model.file_bytes - sum(sizes.values()))
    parts = [FilePart(what=what, size_bytes=size, count=counts[what]) for what, size in sizes.items()]
    parts.append(FilePart(what="structure", size_bytes=rest, count=1))
    return tuple(sorted(parts, key=lambda part: -part.size_bytes))
