"""`check`: what is wrong with models, found without running them."""

import os
from collections.abc import Callable, Sequence
from typing import Any

from outlive.arena.devices import Device
from outlive.model import Model, Source
from outlive.rules.baseline import without_known, write_known
from outlive.rules.checked import Checks
from outlive.verbs.checking import CallerSettings, Sources, check_sources, load_inputs


def check(
    source: Source | Model | Sequence[Source | Model] = (),
    *,
    changed: str | bool | None = None,
    ignore_files: bool = True,
    force_exclude: bool = False,
    inputs: Any = None,
    expect: str | None = None,
    select: Sequence[str] | str | None = None,
    ignore: Sequence[str] | str | None = None,
    baseline: str | os.PathLike[str] | None = None,
    write_baseline: str | os.PathLike[str] | None = None,
    fix: bool = False,
    strict: bool | None = None,
    config: bool = True,
    ram: str | int | None = None,
    device: str | Device | Sequence[str | Device] | None = None,
    here: bool = False,
    accelerator: str | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Checks:
    """Check models for errors and waste, without running them. Iterate over the result for the findings.

    `source` is a model, a file, a folder (default: this one), a pattern, or several of these; with `changed`
    (a revision, or True for the last commit) the models among them that differ in git. Folders leave out what
    .gitignore and .outliveignore files name, unless `ignore_files` is False. With a `device`, an amount of
    `ram` or `here` (this machine), the check includes whether the models fit; with `inputs` (arrays by name
    or in the model's order, or "NAME=FILE.npy"), whether these values are right; with `expect` ("int8",
    "int8-io", "uint8-io", "int16", "int16-io", "dynamic", "float16"), whether the models are quantized.

    `select` and `ignore` are codes, prefixes of codes ("Q", "Q1") or names of rules. `baseline` is a file of
    known findings, which are left out; `write_baseline` writes one. `fix` removes waste from the files:
    results stay the same, and the old file is kept beside the new one (`.fixed`). Defaults come from
    `[tool.outlive]` in the nearest pyproject.toml, unless `config` is False; the files that it excludes are
    left out of folders, and with `force_exclude` always. Raises ValueError for unknown rules, devices, inputs
    and expectations.

    >>> checks = outlive.check("deadly.tflite")
    >>> checks[0]
    Finding(error[O109]: Invalid operator option: radius = -16)
    >>> len(checks), "O109" in checks, "Q103" in checks
    (2, True, False)
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
    sources = Sources(named=source, changed=changed, force_exclude=force_exclude, ignore_files=ignore_files)
    found = check_sources(sources, config=config, strict=strict, fix=fix, said=said, tell=tell)
    if write_baseline is not None:
        write_known(found, write_baseline)
        baseline = write_baseline
    return found if baseline is None else without_known(found, baseline)
