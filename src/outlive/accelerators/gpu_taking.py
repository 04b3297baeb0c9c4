"""What the GPU took: its own report first, then single operators offered to it, then its partitions.

The GPU takes one partition of each subgraph, the largest; operators that it could take elsewhere stay on the
CPU. So its count of operators, the operators it refuses and the way the runtime groups the others must agree:
only then are indices given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from outlive.accelerators.gpu_report import GpuReport, GpuWords, read_words, report_for
from outlive.accelerators.nouns import Refusal
from outlive.accelerators.offering import Offer, Settled, offer_all, settle
from outlive.accelerators.seen import Taken
from outlive.accelerators.taking import Partition, crossings_of
from outlive.accelerators.trying import Attempt, Order, attempt
from outlive.accelerators.ways import Way
from outlive.arena.xnnpack.partition import partition
from outlive.interpreter.compiled_accelerators import NO_ADAPTER
from outlive.model import Model

ELSEWHERE = "it could take this one, but takes only the largest partition of a graph"
_SOURCE = "its report and the runtime's way to group operators"
_OWN = "its own report"
_DYNAMIC = "it takes no graph with tensors whose size is known only in a run"
_MAKES_DYNAMIC = "makes a tensor whose size is known only in a run"
_UNSURE = "its report counts {count} operators, and which they are could not be told for certain"


def see_gpu(model: Model, seen: Attempt, way: Way, order: Order, tell: Callable[[str], None]) -> Taken:
    """What the GPU took of the main subgraph, and why not the rest."""
    words = read_words(seen.words)
    if words.no_adapter:
        return Taken(absent=NO_ADAPTER)
    offer = _offer_with(way, order, tell)
    total = len(model.subgraphs[0].operators)
    report = report_for(words, total)
    if report is not None:
        taken = _from_report(model, report, offer)
    elif seen.fully_accelerated:
        whole = Partition(operators=tuple(range(total)), inputs=model.subgraphs[0].input_indices, outputs=())
        taken = _from_partition(model, replace(whole, outputs=model.subgraphs[0].output_indices), Settled())
    elif words.dynamic_tensor is not None and not seen.compiles:
        taken = _dynamic(model, words.dynamic_tensor)
    else:
        taken = _without_report(model, seen, offer)
    return replace(
        taken,
        device=words.adapter,
        is_software=words.is_software,
        error=taken.error or _complaint(words) if not seen.runs and seen.death is None else "",
    )


def _from_report(model: Model, report: GpuReport, offer: Offer) -> Taken:
    subgraph = model.subgraphs[0]
    if report.taken == 0:
        return _from_partition(model, None, settle(model, report, lambda _: ""))
    settled = settle(model, report, offer)
    able = {operator.index for operator in subgraph.operators} - set(settled.refused)
    groups = [run for run in partition(subgraph, frozenset(able)) if run.delegated]
    largest = max(groups, key=lambda run: len(run.operators), default=None)
    if largest is not None and len(largest.operators) == report.taken:
        whole = Partition(operators=largest.operators, inputs=largest.inputs, outputs=largest.outputs)
        return _from_partition(model, whole, settled)
    by_type = tuple(
        Refusal(op=None, type=kind, reason=reason, source=_OWN) for kind, reason in report.refused
    )
    return Taken(
        count=report.taken,
        partitions=1,
        refused=by_type,
        notes=(_UNSURE.format(count=report.taken),),
    )


def _from_partition(model: Model, taken: Partition | None, settled: Settled) -> Taken:
    """The answer where every operator is accounted for."""
    subgraph = model.subgraphs[0]
    inside = set() if taken is None else set(taken.operators)
    refused = tuple(
        Refusal(
            op=operator.index,
            type=operator.name,
            reason=settled.refused.get(operator.index, (ELSEWHERE, _SOURCE))[0],
            source=settled.refused.get(operator.index, (ELSEWHERE, _SOURCE))[1],
        )
        for operator in subgraph.operators
        if operator.index not in inside
    )
    partitions = () if taken is None else (taken,)
    return Taken(
        count=len(inside),
        operators=tuple(sorted(inside)),
        partitions=len(partitions),
        refused=refused,
        crossings=crossings_of(subgraph, partitions),
    )


def _dynamic(model: Model, index: int) -> Taken:
    """It takes no graph with a tensor whose size depends on values; the runtime names the first of them."""
    subgraph = model.subgraphs[0]
    maker = subgraph.producers().get(index)
    refused: tuple[Refusal, ...] = ()
    if maker is not None:
        name = subgraph.operators[maker].name
        refused = (Refusal(op=maker, type=name, reason=_MAKES_DYNAMIC, source="the runtime's own words"),)
    return Taken(count=0, operators=(), partitions=0, refused=refused, error=_DYNAMIC)


def _without_report(model: Model, seen: Attempt, offer: Offer) -> Taken:
    """It died or gave up before it could report: what single operators tell is all there is."""
    if seen.compiles:
        return Taken(notes=("it did not take all of the model, and does not say what it left",))
    settled = offer_all(model, offer)
    refused = tuple(
        Refusal(op=index, type=model.subgraphs[0].operators[index].name, reason=reason, source=source)
        for index, (reason, source) in sorted(settled.refused.items())
    )
    notes = () if refused else ("each operator by itself is taken: it is their combination that it refuses",)
    return Taken(refused=refused, notes=notes if not settled.open else ())


def _offer_with(way: Way, order: Order, tell: Callable[[str], None]) -> Offer:
    """A function that offers a model of one operator to this accelerator, which never runs it."""

    def offer(model: bytes) -> str | None:
        tell(f"offering single operators to {way.name}")
        seen = attempt(way, replace(order, source=model, inputs=None), run=False)
        words = read_words(seen.words)
        if seen.death is not None:
            return f"it dies: {seen.death.headline}"
        if not seen.compiles:
            return _complaint(words) or seen.error
        if seen.fully_accelerated:
            return ""
        reasons = [reason for report in words.reports for _, reason in report.refused]
        return reasons[0] if reasons else None

    return offer


def _complaint(words: GpuWords) -> str:
    return "; ".join(words.complaints[:3])
