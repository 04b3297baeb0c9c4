"""What the GPU took: its own report first, then single operators tried on it, then its partitions.

The GPU takes one partition of each subgraph, the largest; operators that it could take elsewhere stay on the
CPU. So its count of operators, the operators it refuses and the way the runtime groups the others must agree:
only then are indices given.

The patterns are those of LiteRT, which reports on each subgraph that it does not take whole:

    ERROR: Following operations are not supported by GPU delegate:
    RESHAPE: Tensor dimensions must be less than 5. some/name            found by the tensor's name
    VAR_HANDLE: Operation is not supported.                              all operators of the type
    STRIDED_SLICE: Slice does not support shrink_axis_mask parameter.    each one cut out and tried
    67 operations will run on the GPU, and the remaining 140 operations will run on the CPU.

A line names a type and a reason, not an operator. A graph that is taken whole has no report. The text before
the reason's tensor name, and the sentence that counts, come from tflite/delegates/gpu/common/model_builder.cc
and the delegate that calls it; the accelerator itself is closed.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from outlive.accelerators.configurations import AcceleratorConfig
from outlive.accelerators.coverage import OpRefusal, TakenOps
from outlive.accelerators.taken_ops import ELSEWHERE, Partition, crossings_of
from outlive.accelerators.trial import Trial, TrialSettings, run_trial
from outlive.arena.xnnpack.partition import partition
from outlive.interpreter.compiled_accelerators import NO_ADAPTER
from outlive.model import Model, Operator, Subgraph
from outlive.surgery import CutRequest, cut_model

_REPORT = re.compile(
    r"Following operations are not supported by GPU delegate:\n(?P<rows>.*?)\n"
    r"(?P<taken>\d+|No) operations will run on the GPU, and (?:the remaining (?P<left>\d+)|all (?P<all>\d+))"
    r" operations will run on the CPU\.",
    re.DOTALL,
)
_ROW = re.compile(r"^(?P<type>[A-Za-z0-9_]+): (?P<reason>.*)$")
_ADAPTER = re.compile(r"Selected adapter: (?P<name>.*?), arch=.*?adapterType=(?P<kind>[^\n]*)")
_NO_ADAPTER = re.compile(r"No adapters found|Failed to initialize WebGPU environment|Found no drivers")
_FATAL = re.compile(r"^F\d{4} [^\]]*\] (?P<words>.*)$", re.MULTILINE)
# Complaints of the runtime beside the accelerator that say why a model was not loaded or compiled.
_COMPLAINT = re.compile(r"^(?:ERROR|E\d{4}[^\]]*\]):? *(?:\[[^\]]*\] *)?(?P<words>\S.*)$", re.MULTILINE)
_NOISE = ("Following operations", "libopenvino", "compiler_plugin", "litert/")
# tflite/core/subgraph.cc: said before a delegate that wants static shapes is refused; -1 is no tensor.
_DYNAMIC = re.compile(r"graph that has dynamic-sized tensors \(tensor#(?P<tensor>-?\d+)")
_INITIALISED = "Initializing WebGPU-based API from graph."


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuReport:
    """One subgraph's report: what was refused by type and reason, and how many operators run where."""

    refused: tuple[tuple[str, str], ...]
    taken: int
    left: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuWords:
    """All that could be read from what the accelerator printed."""

    reports: tuple[GpuReport, ...] = ()
    adapter: str = ""
    is_software: bool = False
    no_adapter: bool = False
    initialised: int = 0
    complaints: tuple[str, ...] = ()
    dynamic_tensor: int | None = None


def read_words(text: str) -> GpuWords:
    """The accelerator's own words, taken apart; what is not understood is left out."""
    adapter = _ADAPTER.search(text)
    kind = adapter["kind"].strip() if adapter else ""
    dynamic = _DYNAMIC.search(text)
    fatal = [match["words"].strip() for match in _FATAL.finditer(text)]
    said = [match["words"].strip() for match in _COMPLAINT.finditer(text)]
    return GpuWords(
        reports=tuple(_report(match) for match in _REPORT.finditer(text)),
        adapter=adapter["name"].strip() if adapter else "",
        is_software="CPU" in kind or "Software" in kind,
        no_adapter=adapter is None and _NO_ADAPTER.search(text) is not None,
        initialised=text.count(_INITIALISED),
        dynamic_tensor=int(dynamic["tensor"]) if dynamic else None,
        complaints=tuple(dict.fromkeys([*fatal, *(words for words in said if not _is_noise(words))])),
    )


def report_for(words: GpuWords, ops_total: int) -> GpuReport | None:
    """The report of the main subgraph, which has this many operators; None if it has none.

    Subgraphs are looked at in their order, so that the first that fits is meant.
    """
    return next((report for report in words.reports if report.taken + report.left == ops_total), None)


def _report(match: re.Match[str]) -> GpuReport:
    rows = [_ROW.match(line) for line in match["rows"].splitlines()]
    refused = tuple((row["type"], row["reason"].strip()) for row in rows if row is not None)
    taken = 0 if match["taken"] == "No" else int(match["taken"])
    return GpuReport(refused=refused, taken=taken, left=int(match["left"] or match["all"]))


def _is_noise(words: str) -> bool:
    return any(noise in words for noise in _NOISE)


# Offering takes a third of a second: operators of one form are offered once, and not more forms than this.
_MOST_OFFERS, _MOST_SECONDS = 40, 20.0
_WHOLE_TYPE = "Operation is not supported."
OWN_REPORT, OFFERED = "its own report", "the operator alone, offered to it"

# Why the accelerator refuses a model of one operator; empty if it takes it, None if that cannot be told.
Offer = Callable[[bytes], str | None]


@dataclass(slots=True)
class RefusedOps:
    """What is known of each operator: why it is refused and who says so; `open` are types left undecided."""

    refused: dict[int, tuple[str, str]] = field(default_factory=dict)
    open: list[tuple[str, str]] = field(default_factory=list)


def settle(model: Model, report: GpuReport, offer: Offer) -> RefusedOps:
    """Find the operators that a report of the main subgraph means."""
    subgraph = model.subgraphs[0]
    settled = RefusedOps()
    offering = SingleOpTrials(model, offer)
    for kind, reason in report.refused:
        of_kind = [operator for operator in subgraph.operators if kind in (operator.type, operator.name)]
        named = _named(subgraph, of_kind, reason)
        if reason == _WHOLE_TYPE or len(of_kind) == 1:
            named = of_kind
        for operator in named:
            settled.refused.setdefault(operator.index, (reason, OWN_REPORT))
        if not named:
            _offer_each(offering, of_kind, reason, settled)
    return settled


def offer_all(model: Model, offer: Offer) -> RefusedOps:
    """Offer every operator of the main subgraph by itself, where an accelerator has no report at all."""
    settled, offering = RefusedOps(), SingleOpTrials(model, offer)
    for operator in model.subgraphs[0].operators:
        said = offering.ask(operator)
        if said is None:
            settled.open.append((operator.name, ""))
        elif said:
            settled.refused[operator.index] = (said, OFFERED)
    return settled


def _offer_each(
    offering: SingleOpTrials, of_kind: Sequence[Operator], reason: str, settled: RefusedOps
) -> None:
    undecided = False
    for operator in of_kind:
        said = offering.ask(operator)
        undecided = undecided or said is None
        if said:
            settled.refused.setdefault(operator.index, (reason, OFFERED))
    if undecided and of_kind:
        settled.open.append((of_kind[0].name, reason))


def _named(subgraph: Subgraph, operators: Sequence[Operator], reason: str) -> list[Operator]:
    """The operators that read or write a tensor whose name the reason ends with, or quotes."""
    return [
        operator
        for operator in operators
        if any(
            _mentions(reason, subgraph.tensors[index].name)
            for index in (*operator.inputs, *operator.outputs)
            if 0 <= index < len(subgraph.tensors)
        )
    ]


def _mentions(reason: str, name: str) -> bool:
    return bool(name) and (reason.endswith(f" {name}") or f'"{name}"' in reason)


class SingleOpTrials:
    """Cuts operators out of a model and offers them; operators of one form are offered once."""

    def __init__(self, model: Model, offer: Offer) -> None:
        """Nothing is offered yet."""
        self._model, self._offer = model, offer
        self._answers: dict[object, str | None] = {}
        self._end = time.monotonic() + _MOST_SECONDS

    def ask(self, operator: Operator) -> str | None:
        """Why this operator alone is refused; empty if it is taken, None if that cannot be told."""
        form = self._form(operator)
        if form not in self._answers:
            if len(self._answers) >= _MOST_OFFERS or time.monotonic() > self._end:
                return None
            self._answers[form] = self._try(operator.index)
        return self._answers[form]

    def _try(self, index: int) -> str | None:
        try:
            part = cut_model(self._model, CutRequest(ops=index))
        except ValueError:
            return None
        said = self._offer(part.model) if len(part.ops) == 1 else None
        return self._nameless(said, index) if said else said

    def _nameless(self, said: str, index: int) -> str:
        """A reason without the name of this operator's tensor: it is told of others of the same form too."""
        subgraph = self._model.subgraphs[0]
        operator = subgraph.operators[index]
        for tensor in (*operator.inputs, *operator.outputs):
            name = subgraph.tensors[tensor].name if 0 <= tensor < len(subgraph.tensors) else ""
            if name and said.endswith(f" {name}"):
                return said.removesuffix(f" {name}")
        return said

    def _form(self, operator: Operator) -> object:
        """What two operators have in common that an accelerator cannot tell apart."""
        tensors = self._model.subgraphs[0].tensors
        ends = tuple(
            (tensors[i].shape, tensors[i].dtype, tensors[i].is_constant, tensors[i].quantization is not None)
            if 0 <= i < len(tensors)
            else None
            for i in (*operator.inputs, -1, *operator.outputs)
        )
        options = operator.options
        values = () if options is None else tuple(sorted((k, repr(v)) for k, v in options.values.items()))
        return operator.name, operator.version, ends, values, self._small_constants(operator)

    def _small_constants(self, operator: Operator) -> tuple[bytes, ...]:
        """Constants that steer (axes, paddings, shapes), not weights."""
        tensors = self._model.subgraphs[0].tensors
        given = [tensors[i] for i in operator.inputs if 0 <= i < len(tensors)]
        return tuple(
            bytes(tensor.data or b"") for tensor in given if tensor.has_data and tensor.stored_bytes <= 64
        )


_SOURCE = "its report and the runtime's way to group operators"
_OWN = "its own report"
_DYNAMIC_REFUSED = "it takes no graph with tensors whose size is known only in a run"
_MAKES_DYNAMIC = "makes a tensor whose size is known only in a run"
_UNSURE = "its report counts {count} operators, and which they are could not be told for certain"


def see_gpu(
    model: Model, seen: Trial, way: AcceleratorConfig, order: TrialSettings, tell: Callable[[str], None]
) -> TakenOps:
    """What the GPU took of the main subgraph, and why not the rest."""
    words = read_words(seen.words)
    if words.no_adapter:
        return TakenOps(absent=NO_ADAPTER)
    offer = _offer_with(way, order, tell)
    total = len(model.subgraphs[0].operators)
    report = report_for(words, total)
    if report is not None:
        taken = _from_report(model, report, offer)
    elif seen.fully_accelerated:
        whole = Partition(operators=tuple(range(total)), inputs=model.subgraphs[0].input_indices, outputs=())
        taken = _from_partition(
            model, replace(whole, outputs=model.subgraphs[0].output_indices), RefusedOps()
        )
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


def _from_report(model: Model, report: GpuReport, offer: Offer) -> TakenOps:
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
        OpRefusal(op=None, type=kind, reason=reason, source=_OWN) for kind, reason in report.refused
    )
    return TakenOps(
        count=report.taken,
        partitions=1,
        refused=by_type,
        notes=(_UNSURE.format(count=report.taken),),
    )


def _from_partition(model: Model, taken: Partition | None, settled: RefusedOps) -> TakenOps:
    """The answer where every operator is accounted for."""
    subgraph = model.subgraphs[0]
    inside = set() if taken is None else set(taken.operators)
    refused = tuple(
        OpRefusal(
            op=operator.index,
            type=operator.name,
            reason=settled.refused.get(operator.index, (ELSEWHERE, _SOURCE))[0],
            source=settled.refused.get(operator.index, (ELSEWHERE, _SOURCE))[1],
        )
        for operator in subgraph.operators
        if operator.index not in inside
    )
    partitions = () if taken is None else (taken,)
    return TakenOps(
        count=len(inside),
        operators=tuple(sorted(inside)),
        partitions=len(partitions),
        refused=refused,
        crossings=crossings_of(subgraph, partitions),
    )


def _dynamic(model: Model, index: int) -> TakenOps:
    """It takes no graph with a tensor whose size depends on values; the runtime names the first of them."""
    subgraph = model.subgraphs[0]
    maker = subgraph.producers().get(index)
    refused: tuple[OpRefusal, ...] = ()
    if maker is not None:
        name = subgraph.operators[maker].name
        refused = (OpRefusal(op=maker, type=name, reason=_MAKES_DYNAMIC, source="the runtime's own words"),)
    return TakenOps(count=0, operators=(), partitions=0, refused=refused, error=_DYNAMIC_REFUSED)


def _without_report(model: Model, seen: Trial, offer: Offer) -> TakenOps:
    """It died or gave up before it could report: what single operators tell is all there is."""
    if seen.compiles:
        return TakenOps(notes=("it did not take all of the model, and does not say what it left",))
    settled = offer_all(model, offer)
    refused = tuple(
        OpRefusal(op=index, type=model.subgraphs[0].operators[index].name, reason=reason, source=source)
        for index, (reason, source) in sorted(settled.refused.items())
    )
    notes = () if refused else ("each operator by itself is taken: it is their combination that it refuses",)
    return TakenOps(refused=refused, notes=notes if not settled.open else ())


def _offer_with(way: AcceleratorConfig, order: TrialSettings, tell: Callable[[str], None]) -> Offer:
    """A function that offers a model of one operator to this accelerator, which never runs it."""

    def offer(model: bytes) -> str | None:
        tell(f"offering single operators to {way.name}")
        seen = run_trial(way, replace(order, source=model, inputs=None), run=False)
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
