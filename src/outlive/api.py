"""The front desk: each public verb, short enough to read like a sentence."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from outlive.errors import ModelError
from outlive.model import Model, Source, read_source
from outlive.worker.limits import Limits
from outlive.worker.verdicts import set_judge

if TYPE_CHECKING:
    from outlive.finding import Finding
    from outlive.rules import Judgement
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


def check(source: Source | Model) -> Judgement:
    """What is wrong with a model, and what it wastes, found without running it: iterate over the findings."""
    from outlive.rules.catalogue import assess

    return assess(read_source(source))


def run(
    source: Source | Model,
    inputs: Any = None,
    *,
    limits: Limits | None = None,
    accelerator: str = "cpu",
    repeat: int = 1,
    seed: int = 0,
    **options: Any,
) -> Flight:
    """The record of a run in a worker: outputs, memory and time by stage, or how it died.

    `inputs` is a mapping of names to arrays, a list in the model's order, or "zeros", "ones", "random" (the
    default, seeded). `accelerator` is "cpu" (XNNPACK), "builtin" or "reference"; `options` go to
    `Interpreter`. Nothing is raised because a model dies, hangs or is refused: the flight says so.
    """
    from outlive.worker.options import ACCELERATORS
    from outlive.worker.running import fly

    limits = limits or Limits()
    model = (
        {"model_path": source}
        if isinstance(source, (str, os.PathLike))
        else {"model_content": _bytes(source)}
    )
    resolver = {"experimental_op_resolver_type": ACCELERATORS[accelerator]}
    capped = {"memory": limits.memory_bytes, "seconds": limits.seconds}
    return fly(inputs, repeat, seed, **model, **resolver, **capped, **options)


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


def _bytes(source: Any) -> bytes:
    return bytes(source.content if isinstance(source, Model) else source)


def _refusal(errors: tuple[Finding, ...]) -> ModelError:
    from outlive.report.finding_text import plain_finding

    return ModelError(errors[0], plain_finding(errors[0]), errors[1:])
