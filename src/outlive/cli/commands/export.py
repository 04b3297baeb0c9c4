"""`outlive export`: a model as source code for a microcontroller, with the arena it needs."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from outlive.arena.questions import ABIS, KERNELS
from outlive.cli import exits
from outlive.cli.output import complain, write_json, write_text, writing
from outlive.errors import OutliveError
from outlive.keeping import whole_file

if TYPE_CHECKING:
    from outlive.arena.budget import Verdict
    from outlive.arena.devices import Device
    from outlive.arena.plan import Plan
    from outlive.arena.questions import Wish
    from outlive.exporting.micro import Export
    from outlive.finding import Finding
    from outlive.model import Model

EXAMPLES = """\
examples:
  outlive export model.tflite --tflm -o firmware/model
  outlive export model.tflite --tflm --device raspberry-pi-pico -o firmware/model
  outlive export model.tflite --tflm --kernels cmsis-nn --margin 10% -o firmware/model
  outlive export model.tflite --tflm --trim -o firmware/model        without what it does not use
exit codes: 0 written, 1 the file is broken or TensorFlow Lite Micro refuses the model (nothing is written),
2 usage, 4 does not fit the device (nothing is written)
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument("file", metavar="MODEL", help="a .tflite model")
    parser.add_argument(
        "--tflm", action="store_true", help="for TensorFlow Lite Micro (the one target there is; say it)"
    )
    parser.add_argument("-o", "--output", metavar="DIR", required=True, help="the folder to write to")
    parser.add_argument("--force", action="store_true", help="replace files that are there already")
    parser.add_argument("--name", metavar="NAME", help="the C++ namespace (default: from the file's name)")
    parser.add_argument(
        "--trim", action="store_true", help="leave out what the model does not use; results stay the same"
    )
    micro = parser.add_argument_group("the arena")
    micro.add_argument("--device", metavar="NAME", help="a microcontroller by name, or a .toml file of one")
    micro.add_argument("--word", type=int, choices=(32, 64), help="word size (default 32)")
    micro.add_argument("--abi", choices=ABIS, help="layout of structures (default cortex-m)")
    micro.add_argument(
        "--kernels", choices=KERNELS, help="which kernels it is built with (default reference)"
    )
    micro.add_argument(
        "--margin",
        metavar="SHARE|SIZE",
        help="added to the plan: 10%% or 2KB (default 5%%, where the plan guessed 25%%, at least 256 bytes)",
    )
    parser.add_argument(
        "--format",
        choices=("text", "json"),
        default="text",
        help="how to tell what was written (default text)",
    )


def run(args: argparse.Namespace) -> int:
    """Plan, judge, write and tell; nothing is written for a model that cannot run there."""
    try:
        return _export(args)
    except OutliveError as error:
        complain(error)
        return exits.FINDINGS
    except (ValueError, OSError) as error:
        complain(f"outlive export: {error}")
        return exits.USAGE


def _export(args: argparse.Namespace) -> int:
    from outlive import verbs
    from outlive.exporting.micro import export_micro
    from outlive.fitting.planning import plan_model
    from outlive.fitting.verdicts import judge_plan
    from outlive.surgery.trimming import trim
    from outlive.verbs.opening import sound

    if not args.tflm:
        raise ValueError("say what for: --tflm is TensorFlow Lite Micro, the one target there is")
    folder = Path(args.output)
    _check_folder(folder, args.force)
    device = _device(args.device)
    wish = _wish(args, device)
    model = sound(args.file)
    trimmed = trim(model) if args.trim else None
    if trimmed is not None and trimmed.saved_bytes:
        model = _renamed(verbs.read(trimmed.data), model.path)
    plan = plan_model(model, wish)
    verdict = _verdict(model, plan, device, wish, args.margin)
    findings = judge_plan(plan, verdict)
    if plan.refusals or (verdict is not None and not verdict.fits):
        return _refuse(args, findings, verdict)
    made = export_micro(
        model, plan, abi=wish.abi, kernels=wish.kernels, margin=args.margin, name=args.name, verdict=verdict
    )
    _write(made, folder)
    _tell(args, made, plan, verdict, trimmed.removed if trimmed is not None else ())
    return exits.CLEAN


def _renamed(model: Model, path: str | None) -> Model:
    from dataclasses import replace

    return replace(model, path=path)


def _check_folder(folder: Path, force: bool) -> None:
    from outlive.exporting.micro import FILES

    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is no folder; name one to write the files to")
    there = [name for name in FILES if (folder / name).exists()]
    if there and not force:
        raise ValueError(f"{folder} has {', '.join(there)} already; name another folder, or give --force")


def _device(word: str | None) -> Device | None:
    from outlive.arena.devices import find_device

    device = find_device(word) if word else None
    if device is not None and not device.is_micro:
        raise ValueError(
            f"{device.title} does not run TensorFlow Lite Micro; `outlive plan --devices` lists those that do"
        )
    return device


def _wish(args: argparse.Namespace, device: Device | None) -> Wish:
    from outlive.arena.questions import Wish, choose_abi

    abi, kernels = args.abi, args.kernels
    if device is not None:
        abi = abi or (None if args.word else device.abi)
        kernels = kernels or device.kernels
    return Wish(accelerator="tflm", abi=choose_abi(args.word, abi), kernels=kernels or "reference")


def _verdict(
    model: Model, plan: Plan, device: Device | None, wish: Wish, margin: str | None
) -> Verdict | None:
    from outlive.arena.budget import device_budget, weigh
    from outlive.arena.room import arena_for

    if device is None:
        return None
    return weigh(plan, device_budget(device), arena=arena_for(model, plan, wish.abi, margin))


def _refuse(args: argparse.Namespace, findings: tuple[Finding, ...], verdict: Verdict | None) -> int:
    """Say why nothing is written."""
    from outlive.exporting.micro import NotExported
    from outlive.rendering.finding_text import rich_finding
    from outlive.rendering.media.json import document_of

    told = argparse.Namespace(output=None)
    if args.format == "json":
        write_json(told, document_of(NotExported(path=args.file, findings=findings)))
    else:
        write_text(told, (rich_finding(finding) for finding in findings))
        complain("outlive export: nothing was written")
    does_not_fit = verdict is not None and verdict.word == "does not fit"
    return exits.DOES_NOT_FIT if does_not_fit else exits.FINDINGS


def _write(made: Export, folder: Path) -> None:
    """Write every file before any takes its place: a full disk or Ctrl-C leaves what was there."""
    with writing(folder), ExitStack() as files:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in made.files:
            file = files.enter_context(whole_file(folder / name))
            file.write(text.encode())
            file.flush()


def _tell(
    args: argparse.Namespace, made: Export, plan: Plan, verdict: Verdict | None, removed: tuple[str, ...]
) -> None:
    from outlive.rendering.export_report import export_text
    from outlive.rendering.media.json import document_of

    told = argparse.Namespace(output=None)
    if args.format == "json":
        write_json(told, document_of(replace(made, path=args.output, verdict=verdict, removed=removed)))
    else:
        write_text(told, export_text(made, plan, verdict, args.output, removed))
