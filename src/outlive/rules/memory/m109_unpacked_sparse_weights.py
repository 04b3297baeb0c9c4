"""Sparse weights are unpacked at load time

What it checks
    No constant is stored sparsely, unless it takes less than 4 KiB unpacked.

Why it matters
    The file is smaller, the memory is not: LiteRT unpacks sparse weights (DENSIFY) into extra memory,
    and XNNPACK packs them once more. Dense weights stay in the mapped file.

What to do
    If memory is short, store the weights densely, and compress the file for transfer.

Limits
    XNNPACK has kernels for sparse weights. The model decides which layers use them.
"""

from outlive.model import Model
from outlive.model.zeros import count_zeros
from outlive.rules.api import Evidence, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.wording import command, file_name
from outlive.units import format_bytes, plural

_MIN_BYTES = 4096


@rule("M109", "unpacked-sparse-weights", Severity.NOTE, since="0.1")
def unpacked_sparse_weights(model: Model) -> Sightings:
    weights = [weight for weight in count_zeros(model, 1.0) if weight.is_sparse]
    dense = sum(weight.dense_bytes for weight in weights)
    if dense < _MIN_BYTES:
        return
    stored = sum(weight.stored_bytes for weight in weights)
    many = plural(len(weights), "constant")
    fact = f"{many}, {format_bytes(stored)} in the file, {format_bytes(dense)} unpacked"
    yield Sighting(
        where=file_name(model.path),
        evidence=(Evidence(fact, "sparsity of the constants"),),
        why="the runtime unpacks them into extra memory",
        remedies=(
            Remedy(
                "store the weights densely if memory is short",
                Tag.SAME_RESULTS,
                effect=f"saves up to {format_bytes(dense)} of memory, and the file grows",
                command=command("outlive plan", model.path, "--measure"),
            ),
        ),
    )
