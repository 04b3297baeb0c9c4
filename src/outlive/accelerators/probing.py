"""Tries each accelerator in a worker of its own and puts together what it took and what it did."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace

from msgspec import MsgspecError, convert

from outlive.accelerators import vela
from outlive.accelerators.bisecting import find_culprit
from outlive.accelerators.comparing import compare, why_not_comparable
from outlive.accelerators.documented import UNKNOWN, documented_coverage
from outlive.accelerators.gpu_taking import see_gpu
from outlive.accelerators.nouns import Accelerator, Coverage, Difference
from outlive.accelerators.openvino_taking import see_npu
from outlive.accelerators.seen import Taken
from outlive.accelerators.trying import Attempt, Order, attempt
from outlive.accelerators.ways import ETHOS_U, Way
from outlive.accelerators.what_if import what_ifs
from outlive.accelerators.xnnpack_taking import see_nodes, see_plain, see_xnnpack
from outlive.cache import ResultCache, cache_folder, versions_and_machine
from outlive.model import Model

Tell = Callable[[str], None]
# Kernels of the CPU whose word counts where two disagree.
_WITNESSES = ("reference", "builtin", "xnnpack")
_PACKAGES = ("outlive", "ai-edge-litert", "tensorflow", "tensorflow-cpu", "openvino", "ethos-u-vela")
_QUANTIZED = ("int8", "uint8", "int16")


@dataclass(slots=True)
class Probe:
    """One model on its way through the accelerators; the first that runs is what others are compared with."""

    model: Model
    order: Order
    tell: Tell
    cache: ResultCache
    baseline: str = ""
    attempts: dict[str, Attempt] = field(default_factory=dict)
    runtime: dict[str, str] = field(default_factory=dict)


def probe_model(
    model: Model,
    ways: Sequence[Way],
    order: Order,
    *,
    tell: Tell = lambda _: None,
    remember: bool = False,
    threads: int | None = None,
    bisect: bool = False,
) -> Coverage:
    """What each way takes of the model, and does; `remember` keeps results that were costly to get.

    With `bisect`, what of the model makes an accelerator die or differ is looked for as well.
    """
    probe = Probe(model=model, order=order, tell=tell, cache=result_cache(order, remember))
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


def _with_culprit(probe: Probe, way: Way, one: Accelerator) -> Accelerator:
    if one.outcome not in ("died", "differs"):
        return one
    return replace(one, culprit=find_culprit(probe.model, way, probe.order, one, probe.tell))


def has_flex(model: Model) -> bool:
    """True if only TensorFlow's interpreter has all of the model's operators."""
    return any(
        operator.is_custom and operator.custom_name.startswith("Flex") for operator in model.operators()
    )


def result_cache(order: Order, remember: bool = True) -> ResultCache:
    """Results of former probes; none where they depend on arrays that somebody gave."""
    is_named = order.inputs is None or isinstance(order.inputs, str)
    folder = cache_folder("delegates") if remember and is_named else None
    return ResultCache(folder, *versions_and_machine(*_PACKAGES))


def _key(probe: Probe, way: Way) -> tuple[object, ...]:
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


def _recalled(probe: Probe, way: Way) -> Accelerator | None:
    try:
        found = convert(probe.cache.recall(*_key(probe, way)), Accelerator)
    except MsgspecError:
        return None
    return replace(found, from_cache=True)


def _is_costly(way: Way) -> bool:
    """Kernels of the CPU are tried each time: others are compared with what they make."""
    return way.name not in _WITNESSES


def _probe(probe: Probe, way: Way) -> Accelerator:
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
    seen = attempt(way, probe.order)
    if seen.missing:
        return replace(empty, unavailable=seen.missing, install=way.install)
    if not probe.runtime and seen.runtime:
        probe.runtime = {name: str(seen.runtime.get(name, "")) for name in ("runtime", "version")}
    if seen.runs:
        probe.baseline = probe.baseline or way.name
        probe.attempts[way.name] = seen
    described = _describe(probe.model, way, seen, _taken(probe, way, seen))
    return replace(described, what_ifs=what_ifs(probe.model, described))


def _compiled_only(probe: Probe, empty: Accelerator) -> Accelerator:
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


def _describe(model: Model, way: Way, seen: Attempt, taken: Taken) -> Accelerator:
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


def _taken(probe: Probe, way: Way, seen: Attempt) -> Taken:
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
    return Taken(notes=("a compiled model does not say which operators XNNPACK took of it",))


def _with_difference(probe: Probe, way: Way, one: Accelerator) -> Accelerator:
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


def _compare(probe: Probe, way: Way, seen: Attempt, against: str) -> Difference:
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
