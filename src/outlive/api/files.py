"""What is in a file, what is wrong with it, what it needs: verbs that run nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from outlive.errors import ModelError
from outlive.model import Identity, Model, Reading, Source, read_source
from outlive.model.file_bytes import FileChanged

if TYPE_CHECKING:
    from outlive.arena.devices import Device
    from outlive.arena.plan import Plan
    from outlive.finding import Finding
    from outlive.rules import Judgement
    from outlive.surgery import Cut
    from outlive.surgery.naming import Ops, TensorName


def read(source: Source | Model, *, tolerant: bool = False) -> Model:
    """The model in a path, bytes or binary file, read without running it; weights stay in the file.

    A file that lies about itself raises `ModelError`, whose `.finding` says what is wrong and where. With
    `tolerant=True` as much as can be read comes back, and `check(model)` lists what is wrong with it; only
    a file that is no model at all still raises. Weights are read when they are asked for (`tensor.data`):
    `ModelError` then, if the file has changed meanwhile; give its bytes if it may.
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
    expect: str | None = None,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
) -> Judgement:
    """What is wrong with a model, and what it wastes, found without running it: iterate over the findings.

    With a `device` or an amount of `ram` also whether it fits; with `inputs` (arrays by name, or in the
    model's order) whether those values are right for it; with `expect` ("int8", "int8-io", "uint8-io",
    "int16", "int16-io", "dynamic", "float16") whether it was quantized as it was to be. `select` and
    `ignore` are codes, starts of codes ("Q", "Q1") or names of rules. ValueError for rules, devices, inputs
    and expectations that there are not.
    """
    from outlive.fitting.checking import check_reading, make_order

    order = make_order(
        device=device,
        ram=ram,
        inputs=inputs,
        accelerator=accelerator,
        expect=expect,
        select=select,
        ignore=ignore,
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
    invokes finds out what the others become. ValueError for names and numbers that are not there,
    `ModelError` for parts of a kind that the schema does not know.
    """
    from outlive.fitting.reshaping import cut_part
    from outlive.surgery import Request
    from outlive.surgery.tree import UnknownOptions

    request = Request(
        ops=ops,
        until=until,
        outputs=outputs,
        input_shapes=input_shapes or {},
        make_input=make_input,
        make_constant=make_constant or {},
    )
    model = sound(source)
    try:
        return cut_part(model, request)
    except UnknownOptions as error:
        raise _uncopied(model, error) from error


def explain(word: str) -> str:
    """The page of a rule, by its code or name: `explain("F104")`, `explain("git-lfs-pointer")`."""
    from outlive.report.pages import rule_page
    from outlive.rules.catalogue import find_rule, near_rules

    found = find_rule(word)
    if found is None:
        near = ", ".join(near_rules(word))
        raise LookupError(f"there is no rule {word!r}" + (f"; did you mean {near}?" if near else ""))
    return rule_page(found)


def sound(source: Source | Model) -> Model:
    """The model, with nothing wrong in its file; one that was read with `tolerant` is looked at again."""
    model = read(source)
    if model.flaws:
        from outlive.rules.catalogue import file_errors

        errors = file_errors(read_source(model))
        if errors:
            raise _refusal(errors)
    return model


def content_of(source: Any) -> bytes:
    """The bytes of a model, or of what was given in its place."""
    return bytes(source.content if isinstance(source, Model) else source)


def changed_file(change: FileChanged) -> ModelError:
    """The error for a file that is no longer what was read, where its weights are asked for later."""
    from outlive.rules.catalogue import file_errors

    identity = Identity(kind="changed", detail=change.detail)
    return _refusal(file_errors(Reading(path=change.path, file_bytes=0, identity=identity, model=None)))


def _uncopied(model: Model, error: Exception) -> ModelError:
    """The error for a part of the file that nobody can copy, since nobody knows its kind."""
    from outlive.report.finding_text import plain_finding
    from outlive.rules.catalogue import assess

    findings = assess(read_source(model)).findings
    finding = next((item for item in findings if item.code == "F115"), findings[0])
    return ModelError(finding, f"{error}\n{plain_finding(finding)}")


def _refusal(errors: tuple[Finding, ...]) -> ModelError:
    from outlive.report.finding_text import plain_finding

    return ModelError(errors[0], plain_finding(errors[0]), errors[1:])
