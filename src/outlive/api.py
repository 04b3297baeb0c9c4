"""The front desk: each public verb, short enough to read like a sentence."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from outlive.errors import LimitReached, ModelError
from outlive.model import Model, Source, Tensor, read_source
from outlive.worker.limits import Limits
from outlive.worker.verdicts import set_judge

if TYPE_CHECKING:
    from outlive.arena.devices import Device
    from outlive.arena.plan import Plan
    from outlive.diagnosis.nouns import Diagnosis
    from outlive.finding import Finding
    from outlive.rules import Judgement
    from outlive.surgery import Cut
    from outlive.surgery.naming import Ops, TensorName
    from outlive.worker.flight import Flight


def read(source: Source | Model, *, tolerant: bool = False) -> Model:
    """The model in a path, bytes or binary file, read without running it; weights stay in the file.

    A file that lies about itself raises `ModelError`, whose `.finding` says what is wrong and where. With
    `tolerant=True` as much as can be read comes back, and `check(model)` lists what is wrong with it; only
    a file that is no model at all still raises. A path is mapped, not read: give its bytes instead if
    another program may cut the file short while you use the model.
    """
    if isinstance(source, Model):
        return source
    reading = read_source(source)
    if reading.model is None or (reading.flaws and not tolerant):
        from outlive.rules.catalogue import file_errors

        errors = file_errors(reading)
        if errors:
            raise _refusal(errors)
    assert reading.model is not None, "a file without a model has at least one error"
    return reading.model


def check(
    source: Source | Model,
    *,
    device: str | Device | None = None,
    ram: str | int | None = None,
    inputs: Any = None,
    accelerator: str = "cpu",
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
) -> Judgement:
    """What is wrong with a model, and what it wastes, found without running it: iterate over the findings.

    With a `device` or an amount of `ram` also whether it fits; with `inputs` (arrays by name, or in the
    model's order) whether those values are right for it. `select` and `ignore` are codes, starts of codes
    ("Q", "Q1") or names of rules. ValueError for rules, devices and inputs that there are not.
    """
    from outlive.fitting.checking import check_reading, make_order

    order = make_order(
        device=device, ram=ram, inputs=inputs, accelerator=accelerator, select=select, ignore=ignore
    )
    return check_reading(read_source(source), order).judgement


def plan(
    source: Source | Model,
    accelerator: str = "cpu",
    *,
    inputs: Mapping[str, Sequence[int] | str] | None = None,
    batch: int | None = None,
    threads: int | None = None,
    preserve_all_tensors: bool = False,
    weight_cache: bool = False,
    word: int | None = None,
    abi: str | None = None,
    kernels: str = "reference",
    measure: bool = False,
) -> Plan:
    """The memory a model will need, part by part, before anything is run.

    `accelerator` is "cpu" (XNNPACK), "builtin", "reference" or "tflm" (TensorFlow Lite Micro; `word`, `abi`
    and `kernels` are for it). `inputs` are other shapes by name, `batch` another first dimension of all
    inputs: what the tensors in between become is asked of the runtime, in a worker that never invokes.
    `measure=True` runs the model in a worker as well and puts what it took beside the plan. ValueError for
    shapes and names that cannot be.
    """
    from outlive.arena.questions import Wish, check_shape, choose_abi
    from outlive.fitting.planning import plan_model

    wish = Wish(
        accelerator=accelerator,
        inputs={name: check_shape(shape) for name, shape in (inputs or {}).items()},
        batch=batch,
        threads=threads,
        preserve_all_tensors=preserve_all_tensors,
        weight_cache=weight_cache,
        abi=choose_abi(word, abi),
        kernels=kernels,
    )
    return plan_model(read(source), wish, measure)


def run(
    source: Source | Model,
    inputs: Any = None,
    *,
    limits: Limits | None = None,
    accelerator: str = "cpu",
    repeat: int = 1,
    seed: int = 0,
    force: bool = False,
    quantize: bool = False,
    dequantize: bool = False,
    **options: Any,
) -> Flight:
    """The record of a run in a worker: outputs, memory and time by stage, or how it died.

    `inputs` is a mapping of names to arrays, a list in the model's order, or "zeros", "ones", "random" (the
    default, seeded). `accelerator` is "cpu" (XNNPACK), "builtin" or "reference"; `options` go to
    `Interpreter`. Nothing is raised because a model dies, hangs or is refused: the flight says so. Only a run
    that cannot fit `limits.memory` for certain is not started: `LimitReached`, unless `force` is set.
    `quantize` turns floats for quantized inputs into their integers, `dequantize` gives quantized outputs as
    the real numbers they stand for.
    """
    from outlive.worker.options import ACCELERATORS
    from outlive.worker.running import fly

    limits = limits or Limits()
    if limits.memory_bytes is not None and not force:
        _refuse_hopeless(source, accelerator, limits.memory_bytes, options.get("num_threads"))
    given: dict[str, Any] = {
        "experimental_op_resolver_type": ACCELERATORS[accelerator],
        "memory": limits.memory_bytes,
        "seconds": limits.seconds,
    }
    if isinstance(source, (str, os.PathLike)):
        given["model_path"] = source
    else:
        given["model_content"] = _bytes(source)
    return fly(inputs, repeat, seed, quantize=quantize, dequantize=dequantize, **given, **options)


def diagnose(
    source: Source | Model | Flight,
    inputs: Any = None,
    *,
    limits: Limits | None = None,
    accelerator: str = "cpu",
    threads: int | None = None,
    reduce: str | os.PathLike[str] | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Diagnosis:
    """Why a model dies, hangs or is refused: the cause, the operator, and which configurations do work.

    It is run as it is and then, if it ended badly, with one thing changed at a time, each in a worker of its
    own; `inputs` and `accelerator` are as for `run`. Give a `Flight` to judge a run that is over. `reduce` is
    where to write the smallest model that ends the same way, with a script beside it that shows it. `tell`
    hears in words what is being tried.
    """
    from outlive.diagnosis.opening import diagnose_case, diagnose_flight, open_case
    from outlive.diagnosis.reducing import with_reproducer
    from outlive.worker.flight import Flight

    if isinstance(source, Flight):
        return diagnose_flight(source)
    case = open_case(source, inputs, limits or Limits(), accelerator, threads)
    diagnosis = diagnose_case(case, tell)
    return diagnosis if reduce is None else with_reproducer(diagnosis, case, os.fspath(reduce), tell)


def cut(
    source: Source | Model,
    ops: Ops | None = None,
    outputs: Sequence[TensorName] | TensorName | None = None,
    *,
    until: int | None = None,
    input_shapes: Mapping[TensorName, Sequence[int]] | None = None,
    make_input: Sequence[TensorName] | TensorName = (),
    make_constant: Mapping[TensorName, Any] | None = None,
) -> Cut:
    """A part of a model as a model of its own: `.model` is its bytes, `.save(path)` writes them.

    `ops` are operators of the main subgraph: 5, [3, 7, 9], range(10, 20) or "10:20"; `until=12` is every one
    up to 12. `outputs` are tensors by name or index; without `ops` the part is what they need. What operators
    that are left out would compute becomes an input. `make_input` turns constants and tensors in between into
    inputs, `make_constant` gives a tensor a value for good, `input_shapes` fixes shapes: a worker that never
    invokes finds out what the others become. ValueError for names and numbers that are not there.
    """
    from outlive.fitting.reshaping import cut_part
    from outlive.surgery import Request

    request = Request(
        ops=ops,
        until=until,
        outputs=outputs,
        input_shapes=input_shapes or {},
        make_input=make_input,
        make_constant=make_constant or {},
    )
    return cut_part(_sound(source), request)


def quantize_input(details: Mapping[str, Any] | Tensor, values: Any) -> Any:
    """Real numbers as the integers a quantized input takes, with the model's own scale and zero point.

    `details` is a row of `get_input_details()`, or a tensor of a model that was read. For an input that is
    not quantized, the values in its type. ValueError for NaN.
    """
    from outlive.fitting.feeding import affine_parameters
    from outlive.worker.affine import quantize

    return quantize(affine_parameters(details), values)


def dequantize_output(details: Mapping[str, Any] | Tensor, values: Any) -> Any:
    """The real numbers that values of a quantized output stand for; `details` as for `quantize_input`."""
    from outlive.fitting.feeding import affine_parameters
    from outlive.worker.affine import dequantize

    return dequantize(affine_parameters(details), values)


def explain(word: str) -> str:
    """The page of a rule, by its code or name: `explain("F104")`, `explain("git-lfs-pointer")`."""
    from outlive.report.pages import rule_page
    from outlive.rules.catalogue import find_rule, near_rules

    found = find_rule(word)
    if found is None:
        near = ", ".join(near_rules(word))
        raise LookupError(f"there is no rule {word!r}" + (f"; did you mean {near}?" if near else ""))
    return rule_page(found)


def _judge(kind: str, fact: Any, source: str | bytes | None) -> tuple[Finding, str, Any]:
    from outlive.report.verdict import judge_fact

    return judge_fact(kind, fact, source)


set_judge(_judge)


def _refuse_hopeless(source: Source | Model, accelerator: str, limit_bytes: int, threads: Any) -> None:
    """LimitReached if the plan says for certain that the limit is not enough."""
    from outlive.arena.questions import Wish
    from outlive.fitting.verdicts import hopeless
    from outlive.report.finding_text import plain_finding

    model = source if isinstance(source, Model) else read_source(source).model
    if model is None or model.flaws:
        return  # the runtime will say what it thinks of it
    finding = hopeless(model, Wish(accelerator=accelerator, threads=threads), limit_bytes)
    if finding is not None:
        raise LimitReached(finding, plain_finding(finding))


def _sound(source: Source | Model) -> Model:
    """The model, with nothing wrong in its file; one that was read with `tolerant` is looked at again."""
    model = read(source)
    if model.flaws:
        from outlive.rules.catalogue import file_errors

        errors = file_errors(read_source(model))
        if errors:
            raise _refusal(errors)
    return model


def _bytes(source: Any) -> bytes:
    return bytes(source.content if isinstance(source, Model) else source)


def _refusal(errors: tuple[Finding, ...]) -> ModelError:
    from outlive.report.finding_text import plain_finding

    return ModelError(errors[0], plain_finding(errors[0]), errors[1:])
