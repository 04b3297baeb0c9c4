"""sparse weights are unpacked when the model is loaded

What it checks
    Constants that are stored sparsely, if unpacked they take at least 4 KiB.

Why it matters
    The file is smaller, the memory is not: LiteRT unpacks sparse weights (DENSIFY) into memory of their own
    before it computes with them, and with XNNPACK packs them once more. Dense weights are read where they
    lie in the mapped file.

What to do
    Store the weights densely where memory is what is short, and compress the file where it is sent.

Limits
    XNNPACK has kernels that compute with sparse weights; which layers they take depends on the model.
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
    fact = f"{many} stored sparsely: {format_bytes(stored)} in the file, {format_bytes(dense)} unpacked"
    yield Sighting(
        where=file_name(model.path),
        evidence=(Evidence(fact, "sparsity of the constants"),),
        why="the runtime unpacks them into memory of their own",
        remedies=(
            Remedy(
                "store them densely, if memory is what is short",
                Tag.SAME_RESULTS,
                effect=f"saves up to {format_bytes(dense)} of memory, and the file grows",
                command=command("outlive plan", model.path, "--measure"),
            ),
        ),
    )
