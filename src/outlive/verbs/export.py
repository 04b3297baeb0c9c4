"""`export`: a model as source code for a microcontroller, with the arena it needs."""

import os
from dataclasses import replace
from pathlib import Path

from outlive.arena.budget import arena_for, device_budget, weigh
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
    target: str = "tflm",
    force: bool = False,
    name: str | None = None,
    trim: bool = False,
    device: str | Device | None = None,
    word: int | None = None,
    abi: str | None = None,
    kernels: str | None = None,
    margin: str | None = None,
    tflm: bool = True,
) -> Export | NotExported:
    """Export a model as C++ source code for a microcontroller: `.files`, written to the folder `output`.

    `target` is "tflm", TensorFlow Lite Micro. `force` replaces existing files; `name` is the C++ namespace;
    `trim` leaves out what the model does not use. The arena is planned for a `device`, or for a `word` size,
    `abi` and `kernels`; `margin` ("10%", "2KB") is added to it. If the model cannot run there, no file is
    written, and `.findings` say why. Raises ValueError if the files cannot be written. `tflm` is the old name
    of `target`.

    >>> outlive.export("healthy_int8.tflite", "firmware")
    Export(5 files: model_data.h, model_data.cc, model_ops.h, main.cc, README.md)
    """
    if target != "tflm" or not tflm:
        raise ValueError(f"unknown target {target!r:.40}; the one that outlive exports for is tflm")
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
