"""`export`: a model as source code for a microcontroller, with the arena it needs."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from outlive.arena.arena_size import arena_for
from outlive.arena.budget import device_budget, weigh
from outlive.arena.devices import Device, find_device
from outlive.exporting.micro import FILES, Export, NotExported, export_micro
from outlive.model import Model, Source
from outlive.planning.planner import plan_model
from outlive.planning.verdicts import judge_plan, question_on
from outlive.surgery import trim as trim_model
from outlive.verbs.read import read, sound


def export(
    source: Source | Model,
    output: str | os.PathLike[str] | None = None,
    *,
    tflm: bool = False,
    force: bool = False,
    name: str | None = None,
    trim: bool = False,
    device: str | Device | None = None,
    word: int | None = None,
    abi: str | None = None,
    kernels: str | None = None,
    margin: str | None = None,
) -> Export | NotExported:
    """A model as source code for a microcontroller: `.files`, written to the folder `output` if one is given.

    `tflm` says what for: TensorFlow Lite Micro, the one target there is. `force` replaces files that are
    there; `name` is the C++ namespace; `trim` leaves out what the model does not use. The arena is planned
    for a `device`, or for a `word` size, `abi` and `kernels`; `margin` ("10%", "2KB") is added to it. Nothing
    is written for a model that cannot run there: `.findings` say why. ValueError for what cannot be written.
    """
    if not tflm:
        raise ValueError("say what for: --tflm is TensorFlow Lite Micro, the one target there is")
    if output is not None:
        _check_folder(Path(output), force)
    board = _find_device(device)
    wish = question_on(board, "tflm", word, abi, kernels)
    model = sound(source)
    trimmed = trim_model(model) if trim else None
    if trimmed is not None and trimmed.saved_bytes:
        model = replace(read(trimmed.data), path=model.path)
    plan = plan_model(model, wish)
    verdict = None
    if board is not None:
        verdict = weigh(plan, device_budget(board), arena=arena_for(model, plan, wish.abi, margin))
    if plan.refusals or (verdict is not None and not verdict.fits):
        return NotExported(path=model.path, findings=judge_plan(plan, verdict), verdict=verdict)
    made = export_micro(
        model, plan, abi=wish.abi, kernels=wish.kernels, margin=margin, name=name, verdict=verdict
    )
    made = replace(made, removed=() if trimmed is None else trimmed.removed)
    if output is None:
        return made
    made.save(output)
    return replace(made, path=os.fspath(output))


def _check_folder(folder: Path, force: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is no folder; name one to write the files to")
    there = [name for name in FILES if (folder / name).exists()]
    if there and not force:
        raise ValueError(f"{folder} has {', '.join(there)} already; name another folder, or give --force")


def _find_device(given: str | Device | None) -> Device | None:
    device = find_device(given) if isinstance(given, str) else given
    if device is not None and not device.is_micro:
        raise ValueError(
            f"{device.title} does not run TensorFlow Lite Micro; `outlive plan --devices` lists those that do"
        )
    return device
