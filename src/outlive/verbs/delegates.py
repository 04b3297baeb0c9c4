"""`delegates`: what each accelerator here takes of a model, and does."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from outlive.accelerators import Coverage
from outlive.accelerators.probe import probe_model
from outlive.atomic_files import write_whole
from outlive.finding import Finding
from outlive.interpreter.interpreter_options import Delegate, load_delegate
from outlive.model import Model, Source
from outlive.process.limits import Limits
from outlive.rules import judge
from outlive.verbs.judging import JUDGE
from outlive.verbs.progress import heard
from outlive.verbs.read import content_of, parse_inputs, sound


@heard
def delegates(
    source: Source | Model,
    *,
    only: Sequence[str] | str = (),
    delegates: Sequence[str | Delegate] = (),
    delegate_options: Sequence[str] = (),
    inputs: Any = None,
    seed: int = 0,
    threads: int | None = None,
    memory: str | int | None = None,
    seconds: float = 60.0,
    bisect: bool = False,
    reduce: str | os.PathLike[str] | None = None,
    cache: bool = True,
    limits: Limits | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Coverage:
    """Try a model on each accelerator of this machine, each in its own worker: `.accelerators`.

    `only` names accelerators, as a list or separated by commas (default: the usual ones). `delegates` are
    libraries to try as well, by path or from `load_delegate`; `delegate_options` are "KEY=VALUE" for those
    given by path. Outputs are compared with those of the reference kernels on the same `inputs`, which are as
    for `run`, as are `memory`, `seconds` and `limits`. An accelerator that dies, refuses or is absent raises
    nothing: the coverage says so. `bisect` finds the operators that make one die or differ (`.culprit`), and
    `reduce` is the file for the smallest model that does so. `cache` keeps results that took long; `tell`
    hears what is being tried. Raises ValueError for unknown accelerators. `probe` is its old name.

    >>> coverage = outlive.delegates("healthy.tflite", only="xnnpack")
    >>> coverage
    Coverage(healthy.tflite: reference runs, builtin runs, xnnpack runs)
    >>> coverage["xnnpack"].ops_taken, "gpu" in coverage
    (16, False)
    """
    model = sound(source)
    coverage = probe_model(
        model,
        os.fspath(source) if isinstance(source, (str, os.PathLike)) else content_of(model),
        [name.strip() for name in only.split(",") if name.strip()] if isinstance(only, str) else only,
        parse_delegates(delegates, delegate_options),
        parse_inputs(inputs),
        limits or Limits(memory=memory, seconds=seconds),
        judge=JUDGE,
        threads=threads,
        seed=seed,
        cache=cache,
        bisect=bisect or reduce is not None,
        tell=tell,
    )
    culprit = next((one.culprit for one in coverage.accelerators if one.culprit is not None), None)
    if reduce is not None and culprit is not None:
        write_whole(reduce, culprit.model)
    return replace(coverage, findings=judge_coverage(coverage), source=model)


probe = delegates


def judge_coverage(coverage: Coverage) -> tuple[Finding, ...]:
    """The findings on what accelerators take and do, the worst first."""
    return judge({"coverage": coverage}).findings


def parse_delegates(libraries: Sequence[str | Delegate], options: Sequence[str]) -> tuple[Delegate, ...]:
    """The delegates; libraries given by path share the options that are given."""
    named: dict[str, str] = {}
    for option in options:
        key, found, value = option.partition("=")
        if not found or not key:
            raise ValueError(f"the delegate's option {option!r} is no KEY=VALUE")
        if key in named and named[key] != value:
            raise ValueError(f"the delegate's option {key} is given as {named[key]!r} and as {value!r}")
        named[key] = value
    if options and not libraries:
        raise ValueError("an option of a delegate is for a delegate, and none is given")
    return tuple(load_delegate(item, dict(named)) if isinstance(item, str) else item for item in libraries)
