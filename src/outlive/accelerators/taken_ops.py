"""Which operators a delegate took, from the nodes that the runtime put in their place.

    the runtime's nodes:   0 CONV_2D   1 ADD   2 TOPK_V2 ...   n DELEGATE (inputs 0 3 4, outputs 7)
    operators that make 7, and what they need that is not 0, 3 or 4, are the ones that node n stands for

After delegates are applied the runtime lists its operators as before and, behind them, a DELEGATE node for
each partition, with all that goes in (constants too) and all that comes out (tflite/graph_info.cc). Why
XNNPACK left the others is known from its rules, which the planner replays (`arena.xnnpack`); a library of the
user's does not say why. The NPU's plugin says only how many operators it took.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from outlive.accelerators.configurations import AcceleratorConfig
from outlive.accelerators.coverage import Accelerator, Crossing, OpRefusal, TakenOps, WhatIf
from outlive.accelerators.trial import AcceleratorTrial
from outlive.arena.xnnpack.partition import Run, expected_of_xnnpack, partition
from outlive.model import Model, Subgraph
from outlive.units import tensor_bytes

DELEGATE = "DELEGATE"
# Why the GPU leaves an operator that is outside the one partition it takes.
ELSEWHERE = "supported, but only the largest partition of a graph is taken"
_UNKNOWN = ("not taken; reason unknown", "the runtime's nodes")
_RULES = "XNNPACK's own rules"
# litert/compiler/plugin/compiler_plugin.cc of LiteRT: a line for each subgraph, those called first.
_PARTITIONED = re.compile(
    r"Partitioned subgraph<0>, selected (?P<taken>\d+) ops, from a total of (?P<all>\d+) ops\. "
    r"resulted in (?P<partitions>\d+) partitions"
)
_NOT_LOADED = re.compile(r"Could not load shared library [^\n]*OpenVINO[^\n]*", re.IGNORECASE)
# Groups of refused operators that are looked at: the largest, and no more of them than a person reads.
_MOST_GROUPS = 6
# A graph beyond this is partitioned for real or not at all.
_MOST_OPERATORS = 20_000


def see_plain(model: Model) -> TakenOps:
    """Kernels without a delegate run everything."""
    total = len(model.subgraphs[0].operators)
    return TakenOps(ops_taken=total, taken=tuple(range(total)), partitions=0)


def see_xnnpack(model: Model, seen: AcceleratorTrial) -> TakenOps:
    """What XNNPACK took, and why it left the rest."""
    expected = expected_of_xnnpack(model)
    if expected is None:
        return see_nodes(model, seen)
    reasons = {index: (reason, _RULES) for index, reason in expected.refused.items()}
    return see_nodes(model, seen, expected.taken, reasons)


def see_nodes(
    model: Model,
    seen: AcceleratorTrial,
    expected: Collection[int] = (),
    reasons: Mapping[int, tuple[str, str]] = {},
) -> TakenOps:
    """What a delegate took; `reasons` say why it refused operators, and how that is known."""
    subgraph = model.subgraphs[0]
    return from_partitions(subgraph, partitions_of(subgraph, seen.nodes, expected), reasons, _UNKNOWN)


def from_partitions(
    subgraph: Subgraph,
    partitions: Sequence[Run],
    reasons: Mapping[int, tuple[str, str]],
    otherwise: tuple[str, str],
) -> TakenOps:
    """The answer where every operator is accounted for."""
    taken = {op for one in partitions for op in one.operators}
    refused = []
    for operator in subgraph.operators:
        if operator.index not in taken:
            reason, source = reasons.get(operator.index, otherwise)
            refused.append(OpRefusal(op=operator.index, type=operator.name, reason=reason, source=source))
    return TakenOps(
        ops_taken=len(taken),
        taken=tuple(sorted(taken)),
        partitions=len(partitions),
        refused=tuple(refused),
        crossings=_crossings(subgraph, partitions),
    )


def partitions_of(
    subgraph: Subgraph, nodes: Sequence[Sequence[Any]], expected: Collection[int] = ()
) -> tuple[Run, ...]:
    """The partitions that the runtime made of this subgraph; `nodes` are its own (`Interpreter.nodes`).

    `expected` are the operators that a delegate should take as far as is known: they settle the rare
    operator that nothing depends on, and that the borders of the partitions leave open.
    """
    taken: set[int] = set()
    found = []
    for kind, given, made in nodes[len(subgraph.operators) :]:
        if kind != DELEGATE:
            continue
        inputs, outputs = ({int(index) for index in side if int(index) >= 0} for side in (given, made))
        members = _inside(subgraph, inputs, outputs, taken)
        members = _with_hidden(subgraph, members, inputs, outputs, taken, expected)
        taken |= members
        sides = {"operators": members, "inputs": inputs, "outputs": outputs}
        found.append(Run(delegated=True, **{name: tuple(sorted(side)) for name, side in sides.items()}))
    return tuple(found)


def _crossings(subgraph: Subgraph, partitions: Sequence[Run]) -> tuple[Crossing, ...]:
    """The tensors that are handed over between partitions and everything else at each run."""
    found: dict[tuple[int, bool], Crossing] = {}
    sides = [(True, index) for one in partitions for index in one.inputs]
    sides += [(False, index) for one in partitions for index in one.outputs]
    for into, index in sides:
        tensor = subgraph.tensors[index] if index < len(subgraph.tensors) else None
        if tensor is not None and not tensor.is_constant:
            size = tensor_bytes(tensor.shape, tensor.dtype) or 0
            found[index, into] = Crossing(tensor=index, name=tensor.name, bytes=size, into=into)
    return tuple(found.values())


def _inside(subgraph: Subgraph, inputs: set[int], outputs: set[int], others: set[int]) -> set[int]:
    """The operators between these borders; `others` belong to other partitions already."""
    members: set[int] = set()
    producers = subgraph.producers()
    wanted = [tensor for tensor in outputs if tensor in producers]
    while wanted:
        operator = subgraph.operators[producers[wanted.pop()]]
        if operator.index in members or operator.index in others:
            continue
        members.add(operator.index)
        wanted += [tensor for tensor in operator.inputs if tensor not in inputs and tensor in producers]
    return members


def _with_hidden(
    subgraph: Subgraph,
    members: set[int],
    inputs: set[int],
    outputs: set[int],
    others: set[int],
    expected: Collection[int],
) -> set[int]:
    """The members, and operators that belong to them though nothing outside needs what they make.

    ASSIGN_VARIABLE makes nothing; a dead operator makes what nothing reads; so is what feeds only such. A
    hidden operator is inside if it reads what never leaves the partition, or is expected to be.
    """
    hidden = _hidden(subgraph, members, inputs, outputs, others)
    producers = subgraph.producers()
    inside = set(members)
    growing = True
    while growing:
        growing = False
        for index in sorted(hidden - inside):
            given = subgraph.operators[index].inputs
            if index in expected or any(producers.get(t) in inside and t not in outputs for t in given):
                inside.add(index)
                growing = True
    return inside


def _hidden(
    subgraph: Subgraph, members: set[int], inputs: set[int], outputs: set[int], others: set[int]
) -> set[int]:
    """All operators that could be inside without an effect outside."""
    producers, consumers = subgraph.producers(), subgraph.consumers()
    visible = outputs.union(subgraph.output_indices)
    hidden = {operator.index for operator in subgraph.operators} - members - others
    shrinking = True
    while shrinking:
        shrinking = False
        for index in sorted(hidden):
            operator = subgraph.operators[index]
            inner = members | hidden
            readers = {reader for tensor in operator.outputs for reader in consumers.get(tensor, ())}
            fed = all(t in inputs or producers.get(t) in inner for t in operator.inputs if t >= 0)
            if not readers <= inner or visible.intersection(operator.outputs) or not fed:
                hidden.discard(index)
                shrinking = True
    return hidden


def see_npu(model: Model, seen: AcceleratorTrial, config: AcceleratorConfig) -> TakenOps:
    """How many operators the plugin took of the main subgraph, as far as it says so, and where they run."""
    options = config.compiled.options if config.compiled is not None else {}
    if options.get("intel_openvino_options", {}).get("graph_backend") == "CPU":
        return replace(_count(model, seen), device="OpenVINO's CPU backend", is_software=True)
    return _count(model, seen)


def _count(model: Model, seen: AcceleratorTrial) -> TakenOps:
    total = len(model.subgraphs[0].operators)
    if _NOT_LOADED.search(seen.words):
        return TakenOps(unavailable="the OpenVINO library that the plugin wants was not found")
    row = _PARTITIONED.search(seen.words)
    if row is None or int(row["all"]) != total:  # composites are taken apart before they are counted
        return TakenOps(notes=("it does not report which operators it took",) if seen.compiles else ())
    count, partitions = int(row["taken"]), int(row["partitions"])
    if count in (0, total):
        return TakenOps(ops_taken=count, taken=tuple(range(count)), partitions=partitions)
    note = f"it took {count} of {total} operators, and does not report which"
    return TakenOps(ops_taken=count, partitions=partitions, notes=(note,))


def what_ifs(model: Model, one: Accelerator) -> tuple[WhatIf, ...]:
    """For each kind of refused operator: how much would be taken, in how many partitions, without it."""
    subgraph = model.subgraphs[0]
    known = [refusal.op for refusal in one.refused if refusal.op is not None]
    if one.taken is None or len(known) != len(one.refused) or len(subgraph.operators) > _MOST_OPERATORS:
        return ()
    groups: dict[tuple[str, str], list[int]] = {}
    for refusal, index in zip(one.refused, known, strict=True):
        if refusal.reason != ELSEWHERE:
            groups.setdefault((refusal.type, refusal.reason), []).append(index)
    able = {operator.index for operator in subgraph.operators}
    able -= {index for indices in groups.values() for index in indices}
    takes_one = one.name.startswith("gpu")
    largest = sorted(groups.items(), key=lambda item: -len(item[1]))[:_MOST_GROUPS]
    return tuple(
        _what_if(subgraph, kind, reason, able.union(indices), takes_one)
        for (kind, reason), indices in largest
    )


def _what_if(subgraph: Subgraph, kind: str, reason: str, wanted: Iterable[int], takes_one: bool) -> WhatIf:
    sizes = [len(run.operators) for run in partition(subgraph, frozenset(wanted)) if run.delegated]
    if takes_one:  # the GPU takes the largest partition only
        sizes = sorted(sizes)[-1:]
    return WhatIf(type=kind, reason=reason, ops_taken=sum(sizes), partitions=len(sizes))
