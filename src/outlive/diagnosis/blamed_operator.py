"""Which operator, and which of several findings, is to blame. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from outlive.finding import Finding
from outlive.process.flight import Flight, OpSeen

# Where several faults are seen at one operator, the one that makes the others: most basic first.
_BASIC_FIRST = (
    "flatbuffer-corrupt", "external-buffer-out-of-file", "op-arity", "required-tensor-missing",
    "graph-io-index", "tensor-aliased", "buffer-aliased", "variable-flag", "options-missing",
    "sparsity-metadata", "unresolved-custom-op", "flex-op", "unsupported-op", "tensor-type-mismatch",
    "quant-params-missing", "quant-scale-invalid", "quant-zero-point-out-of-range", "zero-size-dimension",
    "rank-mismatch", "constant-out-of-range", "option-out-of-range", "shape-mismatch",
)  # fmt: skip
# Faults that an operator may have inherited from one before it.
_TRAVELLING = frozenset({"shape-mismatch", "rank-mismatch", "zero-size-dimension", "required-tensor-missing"})
_RANK = {cause: rank for rank, cause in enumerate(_BASIC_FIRST)}


def pick(
    findings: Sequence[Finding], op: OpSeen | None, hints: frozenset[str] = frozenset()
) -> Finding | None:
    """The finding that explains an end at this operator: one about it, or else the only cause there is.

    `hints` are causes that the native stack speaks for: where there is a choice, they come first.
    """
    ordered = sorted(findings, key=lambda item: (item.cause not in hints, _RANK.get(item.cause, len(_RANK))))
    if op is not None:
        for about in (_same, _same_type):
            found = next((item for item in ordered if about(item, op)), None)
            if found is not None:
                return _what_led_to(found, ordered, op)
    unplaced = [item for item in ordered if item.op is None]
    if unplaced:
        return unplaced[0]
    before = [item for item in ordered if _comes_before(item, op)]
    if before:
        return before[0]
    # A fault further on in the graph has hardly struck yet; if there is no other, it is the best there is.
    return ordered[0] if len({item.cause for item in ordered}) == 1 else None


def _what_led_to(found: Finding, ordered: Sequence[Finding], op: OpSeen) -> Finding:
    """A more basic fault of an operator before it, if there is one: an impossible shape travels on."""
    if found.cause not in _TRAVELLING:
        return found
    earlier = (item for item in ordered if item.op is not None and _comes_before(item, op))
    return next(earlier, found)


def _same(finding: Finding, op: OpSeen) -> bool:
    where = finding.op
    return where is not None and (where.subgraph, where.index) == (op.subgraph, op.index)


def _same_type(finding: Finding, op: OpSeen) -> bool:
    return op.index is None and finding.op is not None and finding.op.type == op.type


def _comes_before(finding: Finding, op: OpSeen | None) -> bool:
    if op is None or op.index is None or finding.op is None or finding.op.subgraph != op.subgraph:
        return True
    return finding.op.index <= op.index


def blamed_op(
    flight: Flight | None, finding: Finding | None, needed: OpSeen | None, owners: Sequence[OpSeen]
) -> OpSeen | None:
    """The operator to name: the finding's, the one native frames name, or the one bisection needs."""
    if finding is not None and finding.op is not None:
        return OpSeen(type=finding.op.type, subgraph=finding.op.subgraph, index=finding.op.index)
    running = None if flight is None else flight.op
    if running is not None and running.index is not None:
        return running
    candidates = _candidates(flight)
    if needed is not None and (not candidates or needed.type in candidates):
        return needed
    reading = [owner for owner in owners if not candidates or owner.type in candidates]
    if len({(owner.subgraph, owner.index) for owner in reading}) == 1:
        return reading[0]
    return running or needed or (reading[0] if reading else None)


def _candidates(flight: Flight | None) -> frozenset[str]:
    if flight is None:
        return frozenset()
    return frozenset({flight.op.type}) if flight.op is not None else frozenset(flight.op_candidates)
