"""Tries each accelerator in a worker of its own and collects what it took and what it did.

Accelerators that are not here are judged by the operator tables of their documents (`documented/*.json`, each
with the document, its version and its date). A table says which operators may be taken; none is tried.
Accelerators without a readable table are unknown.
"""

import functools
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib import resources
from typing import Any

import msgspec

from outlive.accelerators import vela
from outlive.accelerators.bisection import find_faulty_part
from outlive.accelerators.configurations import (
    ETHOS_U,
    WITNESSES,
    AcceleratorConfig,
    choose_configurations,
)
from outlive.accelerators.coverage import Accelerator, Condition, Coverage, Documented, OpRefusal, TakenOps
from outlive.accelerators.gpu_coverage import see_gpu
from outlive.accelerators.taken_ops import see_nodes, see_npu, see_plain, see_xnnpack, what_ifs
from outlive.accelerators.trial import AcceleratorTrial, TrialSettings, compare, run_trial, why_not_comparable
from outlive.cache import ResultCache, cache_folder, versions_and_machine
from outlive.interpreter.interpreter_options import Delegate
from outlive.interpreter.judge import Judge
from outlive.model import Model, Operator
from outlive.process.limits import Limits
from outlive.records import copy_fields
from outlive.units import Step

# Of these no table of operators could be read: what is not known is not guessed.
UNKNOWN = ("nnapi", "edge-tpu", "qualcomm-npu", "mediatek-npu")
# An accelerator that has not answered by then is not going to.
USUAL_SECONDS = 60.0
_PACKAGES = ("outlive", "ai-edge-litert", "tensorflow", "tensorflow-cpu", "openvino", "ethos-u-vela")
_QUANTIZED = ("int8", "uint8", "int16")
Tell = Callable[[str], None]


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


@functools.cache
def _tables() -> tuple[_Table, ...]:
    folder = resources.files("outlive.accelerators") / "documented"
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".json")), key=lambda f: f.name)
    return tuple(msgspec.json.decode(file.read_bytes(), type=_Table) for file in files)


def documented_coverage(model: Model) -> tuple[Documented, ...]:
    """What the documents of accelerators say of this model's operators."""
    return tuple(_by_table(table, model) for table in _tables())


def _by_table(table: _Table, model: Model) -> Documented:
    operators = model.subgraphs[0].operators
    refused = [
        OpRefusal(op=operator.index, type=operator.name, reason=reason, source=table.document)
        for operator in operators
        if (reason := _why_not(table, model, operator))
    ]
    stay = {refusal.op for refusal in refused}
    types = sorted({operator.type for operator in operators if operator.index not in stay})
    return copy_fields(
        Documented,
        table,
        ops_total=len(operators),
        ops_listed=len(operators) - len(refused),
        refused=tuple(refused),
        conditions=tuple(Condition(kind, table.operators[kind]) for kind in types if table.operators[kind]),
    )


def _why_not(table: _Table, model: Model, operator: Operator) -> str:
    """Why the document leaves this operator out; empty if it lists it."""
    if operator.type not in table.operators:
        return "not in its table"
    tensors = model.subgraphs[0].tensors
    made = [tensors[index] for index in operator.outputs if 0 <= index < len(tensors)]
    unlisted = [str(tensor.dtype) for tensor in made if table.dtypes and tensor.dtype not in table.dtypes]
    if unlisted:
        return f"it makes {unlisted[0]}, and only {', '.join(table.dtypes)} are taken"
    if table.most_rank is not None and any(len(tensor.shape) > table.most_rank for tensor in made):
        return f"it makes a tensor of more than {table.most_rank} dimensions"
    return ""


@dataclass(slots=True)
class ProbeRun:
    """One model on its way through the accelerators; the first that runs is what others are compared with."""

    model: Model
    settings: TrialSettings
    tell: Tell
    cache: ResultCache
    baseline: str = ""
    trials: dict[str, AcceleratorTrial] = field(default_factory=dict)
    runtime: dict[str, str] = field(default_factory=dict)


def probe_model(
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
    tell: Tell = lambda _: None,
) -> Coverage:
    """What accelerators take of this model, and do; ValueError for bad names and numbers.

    `cache` keeps results that were costly to get. With `bisect`, the part of the model that makes an
    accelerator die or differ is searched as well.
    """
    if threads is not None and threads < 1:
        raise ValueError(f"threads must be at least 1, not {threads}")
    if not model.subgraphs:
        raise ValueError("the model has no graph to run")
    known = limits or Limits()
    if known.seconds is None:
        known = Limits(memory=known.memory_bytes, seconds=USUAL_SECONDS)
    settings = TrialSettings(source=source, judge=judge, inputs=inputs, seed=seed, limits=known)
    configs = choose_configurations(only, delegates, threads, _has_flex(model))
    probe = ProbeRun(model=model, settings=settings, tell=tell, cache=result_cache(settings, cache))
    tried = []
    for number, config in enumerate(configs):
        probe.tell = _counting(tell, number, len(configs))
        tried.append((config, _try(probe, config)))
    found = []
    for config, alone in tried:
        one = _with_difference(probe, config, alone)
        # What was not here may come, and kernels of the CPU are what others are compared with.
        if _is_costly(config) and one.available and not one.from_cache:
            probe.cache.keep(asdict(replace(one, flight=None)), *_key(probe, config))
        if bisect and one.outcome in ("died", "differs"):
            one = replace(one, culprit=find_faulty_part(model, config, settings, one, tell))
        found.append(one)
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


def _has_flex(model: Model) -> bool:
    """True if only TensorFlow's interpreter has all of the model's operators."""
    return any(
        operator.is_custom and operator.custom_name.startswith("Flex") for operator in model.operators()
    )


def result_cache(settings: TrialSettings, remember: bool = True) -> ResultCache:
    """Results of former probes; none where they depend on arrays that the user gave."""
    is_named = settings.inputs is None or isinstance(settings.inputs, str)
    folder = cache_folder("delegates") if remember and is_named else None
    return ResultCache(folder, *versions_and_machine(*_PACKAGES))


def _key(probe: ProbeRun, config: AcceleratorConfig) -> tuple[object, ...]:
    """What decides a result; a library of the user's by its time and size."""
    arguments = json.dumps(config.to_arguments(), sort_keys=True, default=repr)
    delegates = config.arguments.get("experimental_delegates", ())
    libraries = [_library(delegate.library) for delegate in delegates]
    given = probe.settings
    return (probe.model.sha256, given.inputs, given.seed, given.limits, config.name, arguments, *libraries)


def _library(path: str) -> str:
    try:
        status = os.stat(path)
    except OSError:
        return f"{path} absent"
    return f"{path} {status.st_mtime_ns} {status.st_size}"


def _recalled(probe: ProbeRun, config: AcceleratorConfig) -> Accelerator | None:
    try:
        found = msgspec.convert(probe.cache.recall(*_key(probe, config)), Accelerator)
    except msgspec.MsgspecError:
        return None
    return replace(found, from_cache=True)


def _is_costly(config: AcceleratorConfig) -> bool:
    """Kernels of the CPU are tried each time: others are compared with what they make."""
    return config.name not in WITNESSES


def _counting(tell: Tell, done: int, total: int) -> Tell:
    """The same, which also says how many accelerators are done."""
    return lambda words: tell(Step(words, done, total))


def _try(probe: ProbeRun, config: AcceleratorConfig) -> Accelerator:
    total = len(probe.model.subgraphs[0].operators)
    empty = Accelerator(
        name=config.name, title=config.title, available=False, ops_total=total, is_library=config.is_library
    )
    if config.missing:
        return replace(empty, unavailable=config.missing, install=config.install)
    known = _recalled(probe, config) if _is_costly(config) else None
    if known is not None:
        return known
    probe.tell(f"trying {config.name}: {config.title}")
    if config.name == ETHOS_U:
        return _compiled_only(probe, empty)
    seen = run_trial(config, probe.settings)
    if seen.missing:
        return replace(empty, unavailable=seen.missing, install=config.install)
    if not probe.runtime and seen.runtime:
        probe.runtime = {name: str(seen.runtime.get(name, "")) for name in ("runtime", "version")}
    if seen.runs:
        probe.baseline = probe.baseline or config.name
        probe.trials[config.name] = seen
    taken = _taken(probe, config, seen)
    if taken.unavailable:
        nothing = {"compiles": None, "runs": None, "error": "", "install": config.install}
        return copy_fields(Accelerator, taken, seen, empty, available=False, **nothing)
    error = taken.error or seen.error
    found = copy_fields(Accelerator, taken, seen, empty, available=True, error=error)
    return replace(found, what_ifs=what_ifs(probe.model, found))


def _compiled_only(probe: ProbeRun, empty: Accelerator) -> Accelerator:
    """An accelerator of which only the compiler is here."""
    limits = probe.settings.limits
    compiled = vela.compile_model(probe.settings.source, limits.seconds, limits.effective_memory_bytes())
    compiles = compiled.model is not None
    taken = vela.see_vela(probe.model, compiled)
    runs = None if compiles else False
    return copy_fields(Accelerator, taken, empty, available=True, compiles=compiles, runs=runs)


def _taken(probe: ProbeRun, config: AcceleratorConfig, seen: AcceleratorTrial) -> TakenOps:
    """Which operators it took, from whatever tells that of this kind of accelerator."""
    if config.compiled is None and not seen.compiles:
        return TakenOps()
    if config.name in ("reference", "builtin"):
        return see_plain(probe.model)
    if config.compiled is None:
        see = see_xnnpack if config.name.startswith("xnnpack") else see_nodes
        return see(probe.model, seen)
    if config.name.startswith("gpu"):
        return see_gpu(probe.model, seen, config, probe.settings, probe.tell)
    if config.name == "npu":
        return see_npu(probe.model, seen, config)
    return TakenOps(notes=("a compiled model does not say which operators XNNPACK took of it",))


def _with_difference(probe: ProbeRun, config: AcceleratorConfig, one: Accelerator) -> Accelerator:
    """The accelerator with how far its outputs are from the baseline's, or why that is not known."""
    seen = probe.trials.get(config.name)
    if seen is None or config.name == probe.baseline:
        return one
    silent = why_not_comparable([operator.type for operator in probe.model.operators()])
    if silent:
        return replace(one, not_compared=silent)
    quantized = _is_quantized(probe.model)
    found = {
        name: compare(name, probe.trials[name], seen, config.arithmetic, quantized)
        for name in (probe.baseline, *WITNESSES)
        if name in probe.trials and name != config.name
    }
    difference = found.pop(probe.baseline)
    agreeing = tuple(name for name, other in found.items() if other.is_normal)
    return replace(one, difference=difference, agrees_with=() if difference.is_normal else agreeing)


def _is_quantized(model: Model) -> bool:
    """True if operators hand quantized values to each other."""
    tensors = model.subgraphs[0].tensors
    made = {index for operator in model.subgraphs[0].operators for index in operator.outputs}
    return any(
        tensors[index].dtype in _QUANTIZED and tensors[index].quantization is not None
        for index in made
        if 0 <= index < len(tensors)
    )
