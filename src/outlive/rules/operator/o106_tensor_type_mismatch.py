"""an operator has a tensor of a type that its kernel does not take

What it checks
    The types of all inputs and outputs of each operator, against what its kernel takes in each place, and
    against each other.

Why it matters
    Kernels that check refuse the model. Others take the bytes for what they are not, and read or write
    past the end.

What to do
    Convert the model again, or quantize it otherwise: not every operator has a kernel for every type.

Limits
    Types that a kernel sets itself are left alone. What only XNNPACK takes counts as taken.
"""

from outlive.rules.api import Iterator, Severity, rule
from outlive.rules.operator.scene import Scene, operators_with, slot_words
from outlive.rules.operator.signatures import Signature


def _faults(scene: Scene) -> Iterator[str]:
    if scene.signature is None:
        return
    yield from _not_taken(scene, scene.signature)
    yield from _not_fitting(scene, scene.signature)
    yield from _not_alike(scene, scene.signature)


def _not_taken(scene: Scene, signature: Signature) -> Iterator[str]:
    for slot, allowed in signature.types.items():
        found = scene.dtype(slot)
        if found and found not in allowed:
            yield f"{slot_words(scene, slot)} is {found}; the kernel takes {_list(allowed)}"


def _not_fitting(scene: Scene, signature: Signature) -> Iterator[str]:
    for slot, (leader, table) in signature.follows.items():
        found, leading = scene.dtype(slot), scene.dtype(leader)
        allowed = table.get(leading)
        if found and allowed is not None and found not in allowed:
            words = slot_words(scene, slot)
            yield f"{words} is {found}; beside {leading} the kernel takes {_list(allowed)}"


def _not_alike(scene: Scene, signature: Signature) -> Iterator[str]:
    for group in signature.same:
        slots = [slot for word in group for slot in scene.slots(word) if scene.dtype(slot)]
        others = [slot for slot in slots[1:] if scene.dtype(slot) != scene.dtype(slots[0])]
        for slot in others[:3]:
            first = f"{slot_words(scene, slots[0])} is {scene.dtype(slots[0])}"
            yield f"{slot_words(scene, slot)} is {scene.dtype(slot)}, {first}; they must be of one type"


def _list(types: frozenset[str]) -> str:
    # More would bury the fact: then it is the odd one that matters.
    return ", ".join(sorted(types)) if len(types) <= 8 else "numbers only"


RULE = rule("O106", "tensor-type-mismatch", Severity.ERROR, since="0.1", cause="tensor-type-mismatch")(
    operators_with(
        _faults, "the type was changed without the rest, or there is no kernel for this combination"
    )
)
