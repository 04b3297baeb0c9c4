"""`check`: what is wrong with models, found without running them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from outlive.arena.devices import Device
from outlive.model import Model, Source
from outlive.rules.checked import Checks
from outlive.verbs.checking import CallerSettings, check_sources, load_inputs


def check(
    source: Source | Model | Sequence[Source | Model] = (),
    *,
    changed: str | bool | None = None,
    force_exclude: bool = False,
    inputs: Any = None,
    expect: str | None = None,
    select: Sequence[str] | str | None = None,
    ignore: Sequence[str] | str | None = None,
    strict: bool | None = None,
    config: bool = True,
    ram: str | int | None = None,
    device: str | Device | Sequence[str | Device] | None = None,
    here: bool = False,
    accelerator: str | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Checks:
    """What is wrong with models, and what they waste, found without running them: iterate for the findings.

    `source` is a model, a file, a folder, a pattern, or several of these; with `changed` (a revision, or True
    for the last commit) the models among them that git says have changed. With a `device`, an amount of `ram`
    or `here` (this machine) also whether they fit; with `inputs` (arrays by name or in the model's order, or
    "NAME=FILE.npy") whether those values are right; with `expect` ("int8", "int8-io", "uint8-io", "int16",
    "int16-io", "dynamic", "float16") whether they were quantized as they were to be. `select` and `ignore`
    are codes, starts of codes ("Q", "Q1") or names of rules. What is not said is as `[tool.outlive]` in the
    nearest pyproject.toml has it, unless `config` is False; files it excludes are left out of folders, and
    with `force_exclude` always. ValueError for unknown rules, devices, inputs and expectations.
    """
    devices: Any = () if device is None else device if isinstance(device, (list, tuple)) else [device]
    said = CallerSettings(
        select=select,
        ignore=ignore,
        devices=tuple(devices),
        ram=ram,
        here=here,
        accelerator=accelerator,
        expect=expect,
        inputs=load_inputs(inputs),
    )
    return check_sources(
        source,
        changed=changed,
        force_exclude=force_exclude,
        config=config,
        strict=strict,
        said=said,
        tell=tell,
    )
