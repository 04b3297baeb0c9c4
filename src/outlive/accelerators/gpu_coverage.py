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
from outlive.accelerators.taken_ops import ELSEWHERE, from_partitions
from outlive.accelerators.trial import AcceleratorTrial, TrialSettings, run_trial
from outlive.arena.xnnpack.partition import Run, partition
from outlive.interpreter.ladder import NO_ADAPTER
from outlive.model import Model, Operator, Tensor
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
    complaints: tuple[str, ...] = ()
    dynamic_tensor: int | None = None


def read_words(text: str) -> GpuWords:
    """The accelerator's own words, taken apart; what is not understood is left out."""
    adapter = _ADAPTER.search(text)
    kind = adapter["kind"].strip() if adapter else ""
    dynamic = _DYNAMIC.search(text)
    fatal = [match["words"].strip() for match in _FATAL.finditer(text)]
    said = [match["words"].strip() for match in _COMPLAINT.finditer(text)]
    said = [words for words in said if not any(noise in words for noise in _NOISE)]
    return GpuWords(
        reports=tuple(_report(match) for match in _REPORT.finditer(text)),
        adapter=adapter["name"].strip() if adapter else "",
        is_software="CPU" in kind or "Software" in kind,
        no_adapter=adapter is None and _NO_ADAPTER.search(text) is not None,
        dynamic_tensor=int(dynamic["tensor"]) if dynamic else None,
        complaints=tuple(dict.fromkeys([*fatal, *said])),
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
    trials = SingleOpTrials(model, offer)
    for kind, reason in report.refused:
        of_kind = [operator for operator in subgraph.operators if kind in (operator.type, operator.name)]
        named = [operator for operator in of_kind if trials.mentions(reason, operator)]
        if reason == _WHOLE_TYPE or len(of_kind) == 1:
            named = of_kind
        for operator in named:
            settled.refused.setdefault(operator.index, (reason, OWN_REPORT))
        if not named and not _offer_each(trials, of_kind, settled, reason):
            settled.open.append((of_kind[0].name, reason))
    return settled


def offer_all(model: Model, offer: Offer) -> RefusedOps:
    """Offer every operator of the main subgraph by itself, where an accelerator has no report at all."""
    settled, trials = RefusedOps(), SingleOpTrials(model, offer)
    for operator in model.subgraphs[0].operators:
        if not _offer_each(trials, [operator], settled):
            settled.open.append((operator.name, ""))
    return settled


def _offer_each(
    trials: SingleOpTrials, operators: Sequence[Operator], settled: RefusedOps, reason: str = ""
) -> bool:
    """Offer operators one by one; False if one stays undecided. `reason` replaces the accelerator's own."""
    answers = [(operator.index, trials.ask(operator)) for operator in operators]
    for index, answer in answers:
        if answer:
            settled.refused.setdefault(index, (reason or answer, OFFERED))
    return all(answer is not None for _, answer in answers)


class SingleOpTrials:
    """Cuts operators out of a model and offers them; operators of one form are offered once."""

    def __init__(self, model: Model, offer: Offer) -> None:
        """Nothing is offered yet."""
        self._model, self._offer = model, offer
        self._tensors = model.subgraphs[0].tensors
        self._answers: dict[object, str | None] = {}
        self._end = time.monotonic() + _MOST_SECONDS

    def ask(self, operator: Operator) -> str | None:
        """Why this operator alone is refused; empty if it is taken, None if that cannot be told."""
        form = self._form(operator)
        if form not in self._answers:
            if len(self._answers) >= _MOST_OFFERS or time.monotonic() > self._end:
                return None
            self._answers[form] = self._try(operator)
        return self._answers[form]

    def mentions(self, reason: str, operator: Operator) -> bool:
        """True if the operator reads or writes a tensor whose name the reason ends with, or quotes."""
        names = self._names(operator)
        return any(reason.endswith(f" {name}") or f'"{name}"' in reason for name in names)

    def _names(self, operator: Operator) -> list[str]:
        touched = (*self._existing(operator.inputs), *self._existing(operator.outputs))
        return [tensor.name for tensor in touched if tensor.name]

    def _existing(self, indices: Sequence[int]) -> list[Tensor]:
        return [self._tensors[index] for index in indices if 0 <= index < len(self._tensors)]

    def _try(self, operator: Operator) -> str | None:
        try:
            part = cut_model(self._model, CutRequest(ops=operator.index))
        except ValueError:
            return None
        said = self._offer(part.model) if len(part.ops) == 1 else None
        if not said:
            return said
        # Without the name of this operator's tensor: the reason holds for others of the same form too.
        suffixes = (f" {name}" for name in self._names(operator))
        return said.removesuffix(next((suffix for suffix in suffixes if said.endswith(suffix)), ""))

    def _form(self, operator: Operator) -> object:
        """What two operators have in common that an accelerator cannot tell apart."""
        tensors = self._tensors
        ends = tuple(
            (tensors[i].shape, tensors[i].dtype, tensors[i].is_constant, tensors[i].quantization is not None)
            if 0 <= i < len(tensors)
            else None
            for i in (*operator.inputs, -1, *operator.outputs)
        )
        options = operator.options
        values = () if options is None else tuple(sorted((k, repr(v)) for k, v in options.values.items()))
        # Constants that steer (axes, paddings, shapes), not weights.
        small = tuple(
            bytes(tensor.data or b"")
            for tensor in self._existing(operator.inputs)
            if tensor.has_data and tensor.stored_bytes <= 64
        )
        return operator.name, operator.version, ends, values, small


_GROUPED = (ELSEWHERE, "its report and the runtime's way to group operators")
_DYNAMIC_REFUSED = "it takes no graph with tensors whose size is known only in a run"
_MAKES_DYNAMIC = "makes a tensor whose size is known only in a run"
_UNSURE = "its report counts {count} operators, and which they are is not certain"


def see_gpu(
    model: Model,
    seen: AcceleratorTrial,
    config: AcceleratorConfig,
    settings: TrialSettings,
    tell: Callable[[str], None],
) -> TakenOps:
    """What the GPU took of the main subgraph, and why not the rest."""
    words = read_words(seen.words)
    if words.no_adapter:
        return TakenOps(unavailable=NO_ADAPTER)
    offer = _offer_with(config, settings, tell)
    subgraph = model.subgraphs[0]
    total = len(subgraph.operators)
    report = report_for(words, total)
    if report is not None:
        taken = _from_report(model, report, offer)
    elif seen.fully_accelerated:
        ends = {"inputs": subgraph.input_indices, "outputs": subgraph.output_indices}
        taken = from_partitions(
            subgraph, [Run(operators=tuple(range(total)), delegated=True, **ends)], {}, _GROUPED
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
        return from_partitions(subgraph, (), settle(model, report, lambda _: "").refused, _GROUPED)
    refused = settle(model, report, offer).refused
    able = {operator.index for operator in subgraph.operators} - set(refused)
    groups = [run for run in partition(subgraph, frozenset(able)) if run.delegated]
    largest = max(groups, key=lambda run: len(run.operators), default=None)
    if largest is not None and len(largest.operators) == report.taken:
        return from_partitions(subgraph, [largest], refused, _GROUPED)
    by_type = [OpRefusal(op=None, type=kind, reason=why, source=OWN_REPORT) for kind, why in report.refused]
    note = _UNSURE.format(count=report.taken)
    return TakenOps(ops_taken=report.taken, partitions=1, refused=tuple(by_type), notes=(note,))


def _dynamic(model: Model, index: int) -> TakenOps:
    """It takes no graph with a tensor whose size depends on values; the runtime names the first of them."""
    subgraph = model.subgraphs[0]
    maker = subgraph.producers().get(index)
    refused: tuple[OpRefusal, ...] = ()
    if maker is not None:
        name = subgraph.operators[maker].name
        refused = (OpRefusal(op=maker, type=name, reason=_MAKES_DYNAMIC, source="the runtime's own words"),)
    return TakenOps(ops_taken=0, taken=(), partitions=0, refused=refused, error=_DYNAMIC_REFUSED)


def _without_report(model: Model, seen: AcceleratorTrial, offer: Offer) -> TakenOps:
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


def _offer_with(config: AcceleratorConfig, settings: TrialSettings, tell: Callable[[str], None]) -> Offer:
    """A function that offers a model of one operator to this accelerator, which never runs it."""

    def offer(model: bytes) -> str | None:
        tell(f"offering single operators to {config.name}")
        seen = run_trial(config, replace(settings, source=model, inputs=None), run=False)
        words = read_words(seen.words)
        if seen.death is not None:
            return f"crash: {seen.death.headline}"
        if not seen.compiles:
            return _complaint(words) or seen.error
        if seen.fully_accelerated:
            return ""
        reasons = [reason for report in words.reports for _, reason in report.refused]
        return reasons[0] if reasons else None

    return offer


def _complaint(words: GpuWords) -> str:
    return "; ".join(words.complaints[:3])
