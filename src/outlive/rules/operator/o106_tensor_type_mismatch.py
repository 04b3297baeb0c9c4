"""Unsupported tensor type for this operator

What it checks
    The kernel of each operator supports the types of its inputs and outputs, alone and in combination.

Why it matters
    Some kernels refuse the model. Others misinterpret the bytes, and read or write past the end.

What to do
    Convert the model again, or quantize it differently: not every operator has a kernel for every type.

Limits
    Types that a kernel sets itself are exempt. A type that only XNNPACK supports counts as supported.
"""

from outlive.kernels.litert.kernel_signatures import KernelSignature
from outlive.rules.api import Iterator, Severity, rule
from outlive.rules.operator.prepared import PreparedOperator, operators_with


def _faults(op: PreparedOperator) -> Iterator[str]:
    if op.signature is None:
        return
    yield from _not_taken(op, op.signature)
    yield from _not_fitting(op, op.signature)
    yield from _not_alike(op, op.signature)


def _not_taken(op: PreparedOperator, signature: KernelSignature) -> Iterator[str]:
    for slot, allowed in signature.types.items():
        found = op.dtype(slot)
        if found and found not in allowed:
            yield f"{op.describe(slot)} is {found}; the kernel supports {_list(allowed)}"


def _not_fitting(op: PreparedOperator, signature: KernelSignature) -> Iterator[str]:
    for slot, (leader, table) in signature.follows.items():
        found, leading = op.dtype(slot), op.dtype(leader)
        allowed = table.get(leading)
        if found and allowed is not None and found not in allowed:
            words = op.describe(slot)
            yield f"{words} is {found}; with {leading} the kernel supports {_list(allowed)}"


def _not_alike(op: PreparedOperator, signature: KernelSignature) -> Iterator[str]:
    for group in signature.same:
        slots = [slot for word in group for slot in op.slots(word) if op.dtype(slot)]
        others = [slot for slot in slots[1:] if op.dtype(slot) != op.dtype(slots[0])]
        for slot in others[:3]:
            first = f"{op.describe(slots[0])} is {op.dtype(slots[0])}"
            yield f"{op.describe(slot)} is {op.dtype(slot)}, {first}; the types must be equal"


def _list(types: frozenset[str]) -> str:
    # More would bury the fact: then it is the odd one that matters.
    return ", ".join(sorted(types)) if len(types) <= 8 else "numbers only"


RULE = rule("O106", "tensor-type-mismatch", Severity.ERROR, since="0.1", cause="tensor-type-mismatch")(
    operators_with(_faults, "a tool changed the type, or no kernel supports this combination")
)
