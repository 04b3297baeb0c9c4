"""Tries each accelerator in a worker of its own and collects what it took and what it did.

Accelerators that are not here are judged by the operator tables of their documents (`documented/*.json`, each
with the document, its version and its date). A table says which operators may be taken; none is tried.
Accelerators without a readable table are unknown.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib import resources
from typing import Any

from msgspec import MsgspecError, convert

from outlive.accelerators import vela
from outlive.accelerators.bisection import find_faulty_part
from outlive.accelerators.configurations import ETHOS_U, AcceleratorConfig, choose_configurations
from outlive.accelerators.coverage import (
    Accelerator,
    Condition,
    Coverage,
    Difference,
    Documented,
    OpRefusal,
    TakenOps,
)
from outlive.accelerators.gpu_coverage import see_gpu
from outlive.accelerators.taken_ops import see_nodes, see_npu, see_plain, see_xnnpack, what_ifs
from outlive.accelerators.trial import Trial, TrialSettings, compare, run_trial, why_not_comparable
from outlive.cache import ResultCache, cache_folder, versions_and_machine
from outlive.interpreter.interpreter_options import Delegate
from outlive.interpreter.judge import Judge
from outlive.model import Model, Operator
from outlive.process.limits import Limits

# Of these no table of operators could be read: what is not known is not guessed.
UNKNOWN = ("nnapi", "edge-tpu", "qualcomm-npu", "mediatek-npu")
_NOT_LISTED = "not in its table"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    name: str
    title: str
    document: str
    version: str
    date: str
    dtypes: tuple[str, ...]
    most_rank: int | None
    operators: Mapping[str, str]
    note: str = ""


def documented_coverage(model: Model) -> tuple[Documented, ...]:
    """What the documents of accelerators say of this model's operators."""
    return tuple(_judge(table, model) for table in _tables())


@functools.cache
def _tables() -> tuple[_Table, ...]:
    folder = resources.files("outlive.accelerators") / "documented"
    files = sorted(
        (entry for entry in folder.iterdir() if entry.name.endswith(".json")), key=lambda e: e.name
    )
    return tuple(_table(json.loads(entry.read_text(encoding="utf-8"))) for entry in files)


def _table(body: Mapping[str, Any]) -> _Table:
    return _Table(**{**body, "dtypes": tuple(body["dtypes"])})


def _judge(table: _Table, model: Model) -> Documented:
    operators = model.subgraphs[0].operators
    refused = [
        OpRefusal(op=operator.index, type=operator.name, reason=reason, source=table.document)
        for operator in operators
        if (reason := _why_not(table, model, operator))
    ]
    stay = {refusal.op for refusal in refused}
    types = sorted({operator.type for operator in operators if operator.index not in stay})
    return Documented(
        name=table.name,
        title=table.title,
        document=table.document,
        version=table.version,
        date=table.date,
        ops_total=len(operators),
        ops_listed=len(operators) - len(refused),
        refused=tuple(refused),
        note=table.note,
        conditions=tuple(Condition(kind, table.operators[kind]) for kind in types if table.operators[kind]),
    )


def _why_not(table: _Table, model: Model, operator: Operator) -> str:
    """Why the document leaves this operator out; empty if it lists it."""
    if operator.type not in table.operators:
        return _NOT_LISTED
    tensors = model.subgraphs[0].tensors
    made = [tensors[index] for index in operator.outputs if 0 <= index < len(tensors)]
    if table.dtypes and any(tensor.dtype not in table.dtypes for tensor in made):
        return f"it makes {_first(made, table.dtypes)}, and only {', '.join(table.dtypes)} are taken"
    if table.most_rank is not None and any(len(tensor.shape) > table.most_rank for tensor in made):
        return f"it makes a tensor of more than {table.most_rank} dimensions"
    return ""


def _first(made: Sequence[Any], dtypes: Sequence[str]) -> str:
    return next(str(tensor.dtype) for tensor in made if tensor.dtype not in dtypes)


Tell = Callable[[str], None]
# Kernels of the CPU whose word counts where two disagree.
_WITNESSES = ("reference", "builtin", "xnnpack")
_PACKAGES = ("outlive", "ai-edge-litert", "tensorflow", "tensorflow-cpu", "openvino", "ethos-u-vela")
_QUANTIZED = ("int8", "uint8", "int16")


@dataclass(slots=True)
class ProbeRun:
    """One model on its way through the accelerators; the first that runs is what others are compared with."""

    model: Model
    order: TrialSettings
    tell: Tell
    cache: ResultCache
    baseline: str = ""
    attempts: dict[str, Trial] = field(default_factory=dict)
    runtime: dict[str, str] = field(default_factory=dict)


def probe_model(
    model: Model,
    ways: Sequence[AcceleratorConfig],
    order: TrialSettings,
    *,
    tell: Tell = lambda _: None,
    remember: bool = False,
    threads: int | None = None,
    bisect: bool = False,
) -> Coverage:
    """What each way takes of the model, and does; `remember` keeps results that were costly to get.

    With `bisect`, what of the model makes an accelerator die or differ is looked for as well.
    """
    probe = ProbeRun(model=model, order=order, tell=tell, cache=result_cache(order, remember))
    found = [_probe(probe, way) for way in ways]
    found = [_with_difference(probe, way, one) for way, one in zip(ways, found, strict=True)]
    for way, one in zip(ways, found, strict=True):
        # What was not here may come, and kernels of the CPU are what others are compared with.
        if _is_costly(way) and one.available and not one.from_cache:
            probe.cache.keep(asdict(replace(one, flight=None)), *_key(probe, way))
    if bisect:
        found = [_with_culprit(probe, way, one) for way, one in zip(ways, found, strict=True)]
    return Coverage(
        path=model.path,
        sha256=model.sha256,
        file_bytes=model.file_bytes,
        runtime=probe.runtime,
        accelerators=tuple(found),
        op_types=tuple(operator.name for operator in model.subgraphs[0].operators),
        documented=documented_coverage(model),
        unknown=UNKNOWN,
        processors=os.cpu_count(),
        threads=threads,
    )


def _with_culprit(probe: ProbeRun, way: AcceleratorConfig, one: Accelerator) -> Accelerator:
    if one.outcome not in ("died", "differs"):
        return one
    return replace(one, culprit=find_faulty_part(probe.model, way, probe.order, one, probe.tell))


def has_flex(model: Model) -> bool:
    """True if only TensorFlow's interpreter has all of the model's operators."""
    return any(
        operator.is_custom and operator.custom_name.startswith("Flex") for operator in model.operators()
    )


def result_cache(order: TrialSettings, remember: bool = True) -> ResultCache:
    """Results of former probes; none where they depend on arrays that somebody gave."""
    is_named = order.inputs is None or isinstance(order.inputs, str)
    folder = cache_folder("delegates") if remember and is_named else None
    return ResultCache(folder, *versions_and_machine(*_PACKAGES))


def _key(probe: ProbeRun, way: AcceleratorConfig) -> tuple[object, ...]:
    """What decides a result; a library of the user's by its time and size."""
    arguments = json.dumps(way.to_arguments(), sort_keys=True, default=repr)
    libraries = [_library(delegate.library) for delegate in way.arguments.get("experimental_delegates", ())]
    order = probe.order
    return (probe.model.sha256, order.inputs, order.seed, order.limits, way.name, arguments, *libraries)


def _library(path: str) -> str:
    try:
        status = os.stat(path)
    except OSError:
        return f"{path} absent"
    return f"{path} {status.st_mtime_ns} {status.st_size}"


def _recalled(probe: ProbeRun, way: AcceleratorConfig) -> Accelerator | None:
    try:
        found = convert(probe.cache.recall(*_key(probe, way)), Accelerator)
    except MsgspecError:
        return None
    return replace(found, from_cache=True)


def _is_costly(way: AcceleratorConfig) -> bool:
    """Kernels of the CPU are tried each time: others are compared with what they make."""
    return way.name not in _WITNESSES


def _probe(probe: ProbeRun, way: AcceleratorConfig) -> Accelerator:
    total = len(probe.model.subgraphs[0].operators)
    empty = Accelerator(
        name=way.name, title=way.title, available=False, ops_total=total, is_library=way.is_library
    )
    if way.missing:
        return replace(empty, unavailable=way.missing, install=way.install)
    known = _recalled(probe, way) if _is_costly(way) else None
    if known is not None:
        return known
    probe.tell(f"trying {way.name}: {way.title}")
    if way.name == ETHOS_U:
        return _compiled_only(probe, empty)
    seen = run_trial(way, probe.order)
    if seen.missing:
        return replace(empty, unavailable=seen.missing, install=way.install)
    if not probe.runtime and seen.runtime:
        probe.runtime = {name: str(seen.runtime.get(name, "")) for name in ("runtime", "version")}
    if seen.runs:
        probe.baseline = probe.baseline or way.name
        probe.attempts[way.name] = seen
    described = _describe(probe.model, way, seen, _taken(probe, way, seen))
    return replace(described, what_ifs=what_ifs(probe.model, described))


def _compiled_only(probe: ProbeRun, empty: Accelerator) -> Accelerator:
    """An accelerator of which only the compiler is here."""
    limits = probe.order.limits
    compiled = vela.compile_model(probe.order.source, limits.seconds, limits.effective_memory_bytes())
    taken = vela.see_vela(probe.model, compiled)
    return replace(
        empty,
        available=True,
        compiles=compiled.model is not None,
        runs=None if compiled.model is not None else False,
        error=taken.error,
        ops_taken=taken.count,
        taken=taken.operators,
        partitions=taken.partitions,
        refused=taken.refused,
        notes=taken.notes,
    )


def _describe(model: Model, way: AcceleratorConfig, seen: Trial, taken: TakenOps) -> Accelerator:
    """The accelerator as it was seen, before it is compared."""
    return Accelerator(
        name=way.name,
        title=way.title,
        available=not taken.absent,
        unavailable=taken.absent,
        install=way.install if taken.absent else "",
        device=taken.device,
        is_software=taken.is_software,
        is_library=way.is_library,
        compiles=None if taken.absent else seen.compiles,
        runs=None if taken.absent else seen.runs,
        error="" if taken.absent else taken.error or seen.error,
        death=seen.death,
        ops_total=len(model.subgraphs[0].operators),
        ops_taken=taken.count,
        taken=taken.operators,
        partitions=taken.partitions,
        refused=taken.refused,
        crossings=taken.crossings,
        milliseconds=seen.milliseconds,
        compile_milliseconds=seen.compile_milliseconds,
        peak_bytes=seen.peak_bytes,
        notes=taken.notes,
        flight=seen.flight,
    )


def _taken(probe: ProbeRun, way: AcceleratorConfig, seen: Trial) -> TakenOps:
    """Which operators it took, from whatever tells that of this kind of accelerator."""
    if way.name in ("reference", "builtin"):
        return see_plain(probe.model, seen)
    if way.compiled is None:
        see = see_xnnpack if way.name.startswith("xnnpack") else see_nodes
        return see(probe.model, seen)
    if way.name.startswith("gpu"):
        return see_gpu(probe.model, seen, way, probe.order, probe.tell)
    if way.name == "npu":
        return see_npu(probe.model, seen, way)
    return TakenOps(notes=("a compiled model does not say which operators XNNPACK took of it",))


def _with_difference(probe: ProbeRun, way: AcceleratorConfig, one: Accelerator) -> Accelerator:
    """The accelerator with how far its outputs are from the baseline's, or why that is not known."""
    seen = probe.attempts.get(way.name)
    if seen is None or way.name == probe.baseline:
        return one
    silent = why_not_comparable([operator.type for operator in probe.model.operators()])
    if silent:
        return replace(one, not_compared=silent)
    difference = _compare(probe, way, seen, probe.baseline)
    if difference.is_normal:
        return replace(one, difference=difference)
    others = [
        name for name in _WITNESSES if name in probe.attempts and name not in (way.name, probe.baseline)
    ]
    agreeing = tuple(name for name in others if _compare(probe, way, seen, name).is_normal)
    return replace(one, difference=difference, agrees_with=agreeing)


def _compare(probe: ProbeRun, way: AcceleratorConfig, seen: Trial, against: str) -> Difference:
    other = probe.attempts[against]
    return compare(
        against,
        other.rows,
        other.values,
        seen.values,
        arithmetic=way.arithmetic,
        quantized=_is_quantized(probe.model),
    )


def _is_quantized(model: Model) -> bool:
    """True if operators hand quantized values to each other."""
    tensors = model.subgraphs[0].tensors
    made = {index for operator in model.subgraphs[0].operators for index in operator.outputs}
    return any(
        tensors[index].dtype in _QUANTIZED and tensors[index].quantization is not None
        for index in made
        if 0 <= index < len(tensors)
    )


# An accelerator that has not answered by then is not going to.
USUAL_SECONDS = 60.0


def probe_source(
    model: Model,
    source: str | bytes,
    only: Sequence[str],
    delegates: Sequence[Delegate],
    inputs: Any,
    limits: Limits | None,
    *,
    judge: Judge,
    threads: int | None = None,
    seed: int = 0,
    cache: bool = True,
    bisect: bool = False,
    tell: Callable[[str], None] = lambda _: None,
) -> Coverage:
    """What accelerators take of this model; ValueError for accelerators and numbers that cannot be."""
    if threads is not None and threads < 1:
        raise ValueError(f"a model runs with at least one thread, not {threads}")
    if not model.subgraphs:
        raise ValueError("the model has no graph that could be run")
    known = limits or Limits()
    if known.seconds is None:
        known = Limits(memory=known.memory_bytes, seconds=USUAL_SECONDS)
    order = TrialSettings(source=source, judge=judge, inputs=inputs, seed=seed, limits=known)
    ways = choose_configurations(only, delegates, threads, has_flex(model))
    return probe_model(model, ways, order, tell=tell, remember=cache, threads=threads, bisect=bisect)
