"""Most stored weights are zero

What it checks
    Fewer than half of the elements of dense constants of at least 1 KiB are zero, or these zeros take
    less than 4 KiB or a tenth of the file.

Why it matters
    Pruning sets weights to zero but does not remove them. Each zero takes as many bytes as any other
    number, in the file, in flash and in memory, and kernels multiply by it.

What to do
    Compress the file for storage and transfer, or store the weights sparsely. To save memory, remove
    whole channels instead of single weights, or quantize.

Limits
    The rule skips a tensor if its first 4 KiB contain few zeros, and types smaller than a byte.
"""

from outlive.model import Model
from outlive.model.zeros import WeightZeros, count_zeros
from outlive.rules.api import Evidence, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.wording import command, file_name, tensor_name
from outlive.units import format_bytes, plural

_LEAST_SHARE = 0.5
_MIN_BYTES = 4096
_SHOWN = 3


@rule("M108", "stored-zeros", Severity.NOTE, since="0.1")
def stored_zeros(model: Model) -> Sightings:
    weights = [weight for weight in count_zeros(model, _LEAST_SHARE) if not weight.is_sparse]
    stored = sum(_zero_bytes(weight) for weight in weights)
    if stored < max(_MIN_BYTES, model.file_bytes // 10):
        return
    share = sum(weight.zeros for weight in weights) / sum(weight.elements for weight in weights)
    if share < _LEAST_SHARE:
        return
    weights.sort(key=lambda weight: -weight.zeros)
    facts = [f"{share:.0%} of {plural(len(weights), 'constant')}, {format_bytes(stored)}"]
    facts += [f"{tensor_name(weight.tensor)}: {weight.share:.0%} zeros" for weight in weights[:_SHOWN]]
    yield Sighting(
        where=file_name(model.path),
        evidence=tuple(Evidence(fact, "constants counted") for fact in facts),
        why="a zero needs as many bytes as any other number",
        remedies=(
            Remedy(
                "compress the file, or store its weights sparsely",
                Tag.SAME_RESULTS,
                effect=f"saves up to {format_bytes(stored)} of storage, and no memory",
                command=command("outlive read", model.path, "--sparsity"),
            ),
            Remedy(
                "remove whole channels instead of single weights",
                Tag.CHANGES_MODEL,
                effect="the file and the memory shrink",
            ),
        ),
    )


def _zero_bytes(weight: WeightZeros) -> int:
    return int(weight.share * weight.dense_bytes)
