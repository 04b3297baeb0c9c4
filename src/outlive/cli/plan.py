"""`outlive plan`: how much memory a model will need, part by part, before anything runs."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from outlive.arena.budget import Budget, Verdict, device_budget
from outlive.arena.devices import Device, find_device, known_devices
from outlive.arena.plan import Plan
from outlive.arena.questions import (
    ABIS,
    ACCELERATORS,
    KERNELS,
    Wish,
    choose_abi,
    input_shapes,
    parse_input,
    parse_setting,
    vary,
)
from outlive.cli import exits
from outlive.cli.formats import EXPORTS, check_plan_format, export_plan, tell_errors
from outlive.cli.output import (
    add_output_options,
    complain,
    progress,
    refuse_to_overwrite,
    write_json,
    write_text,
    writing,
)
from outlive.cli.pages import need_a_file, show_broken, show_plan
from outlive.errors import ModelError
from outlive.model import Model, read_source
from outlive.rules.catalogue import file_errors
from outlive.units import parse_bytes

if TYPE_CHECKING:
    from outlive.report.plan_tables import Row

EXAMPLES = """\
examples:
  outlive plan model.tflite                              with XNNPACK, LiteRT's default
  outlive plan model.tflite --accelerator tflm --device raspberry-pi-pico
  outlive plan model.tflite --ram 64MB                   does it fit?
  outlive plan model.tflite --here                       does it fit in what this process may use?
  outlive plan model.tflite --input image=1x512x512x3    what if
  outlive plan model.tflite --batch 8 --measure          planned beside measured
  outlive plan model.tflite --sweep batch=1,2,4 --sweep image=224,320,512
  outlive plan model.tflite --compare builtin,cpu,cpu+weight-cache,tflm
  outlive plan --devices                                 boards, phones, microcontrollers
  outlive plan model.tflite --format trace --output plan.json    to look at in ui.perfetto.dev
exit codes: 0 planned (and fits), 1 the file is broken or the runtime refuses the model,
2 impossible shapes or names, 4 does not fit, or is not known to
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument("file", nargs="?", metavar="FILE", help="a .tflite model")
    parser.add_argument(
        "--accelerator",
        choices=ACCELERATORS,
        help="cpu (default) is XNNPACK, builtin and reference are LiteRT's own kernels, tflm is Micro's",
    )
    parser.add_argument("--threads", type=int, metavar="N", help="threads the model may use")
    parser.add_argument("--preserve-all-tensors", action="store_true", help="keep every tensor to the end")
    parser.add_argument(
        "--weight-cache", action="store_true", help="cpu: keep XNNPACK's packed weights in a mapped file"
    )
    what_if = parser.add_argument_group("what if")
    what_if.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME=SHAPE",
        help="another shape of an input, such as image=1x512x512x3 or image=photo.npy "
        "(may be given several times)",
    )
    what_if.add_argument("--batch", type=int, metavar="N", help="another first dimension of every input")
    what_if.add_argument(
        "--sweep",
        action="append",
        default=[],
        metavar="NAME=A,B,C",
        help="one table over values of batch, threads or an input: batch=1,2,4 or image=224,320",
    )
    what_if.add_argument(
        "--compare",
        metavar="A,B,C",
        help="settings side by side: builtin,cpu,cpu+weight-cache,builtin+preserve-all-tensors+threads=4",
    )
    what_if.add_argument("--measure", action="store_true", help="run it in a worker, and compare")
    _configure_fit(parser)
    parser.add_argument("--plot", metavar="FILE", help="draw live bytes and the arena as .svg or .png")
    add_output_options(parser, "html", "csv", "trace", "overlay")


def _configure_fit(parser: argparse.ArgumentParser) -> None:
    fit = parser.add_argument_group("does it fit?")
    one = fit.add_mutually_exclusive_group()
    one.add_argument("--ram", metavar="SIZE", help="memory granted to the model, such as 64MB")
    one.add_argument("--device", metavar="NAME", help="a device by name, or a .toml file that describes one")
    one.add_argument("--here", action="store_true", help="what this process may use: container, limits, RAM")
    fit.add_argument("--devices", action="store_true", help="list the devices and exit")
    micro = parser.add_argument_group("TensorFlow Lite Micro")
    micro.add_argument("--word", type=int, choices=(32, 64), help="word size (default 32)")
    micro.add_argument("--abi", choices=ABIS, help="layout of structures (default cortex-m)")
    micro.add_argument(
        "--kernels", choices=KERNELS, help="which kernels it is built with (default reference)"
    )


def run(args: argparse.Namespace) -> int:
    """Plan, judge and show; the exit code says whether it fits."""
    try:
        check_plan_format(args)
        need_a_file(args)
        if args.devices:
            return _list_devices(args)
        if args.file is None:
            raise ValueError("name a model, or ask for --devices")
        refuse_to_overwrite(args.output, [args.file])
        refuse_to_overwrite(args.plot, [args.file])
        return _plan(args)
    except ModelError:
        raise
    except ValueError as error:
        complain(f"outlive plan: {error}")
        return exits.USAGE


def _list_devices(args: argparse.Namespace) -> int:
    from outlive.report.plan_json import devices_json
    from outlive.report.plan_tables import devices_text

    devices = known_devices()
    if args.format == "json":
        write_json(args, devices_json(devices))
    else:
        write_text(args, devices_text(devices))
    return exits.CLEAN


def _plan(args: argparse.Namespace) -> int:
    from outlive.fitting.planning import plan_model
    from outlive.fitting.verdicts import judge_fit, judge_plan

    device = find_device(args.device) if args.device else None
    wish = _wish(args, device)
    budget = _budget(args, device)
    _check_plot(args)
    reading = read_source(args.file)
    errors = file_errors(reading)
    if errors or reading.model is None:
        return _broken(args, reading, errors)
    model = reading.model
    input_shapes(model, wish)  # what cannot be asked is told before anything is planned
    settings = _settings(args, model, wish)
    with progress("planning"):
        plan = _note_word(plan_model(model, wish, args.measure), device)
        verdict = judge_fit(model, wish, plan, budget) if budget else None
        rows = [_row(model, label, other, budget) for label, other in settings]
    findings = judge_plan(plan, verdict)
    _draw(args, plan)
    _show(args, plan, verdict, findings, rows)
    if verdict is not None and verdict.word in ("may not fit", "does not fit"):
        return exits.DOES_NOT_FIT
    return exits.FINDINGS if plan.refusals else exits.CLEAN


def _note_word(plan: Plan, device: Device | None) -> Plan:
    """The plan with a word on 32 bits, where the structures of LiteRT are smaller and tensors are not."""
    if device is None or device.is_micro or device.word == 64:
        return plan
    said = f"planned for 64 bits; on the 32 bits of {device.title} the interpreter's structures are smaller"
    return replace(plan, assumed=(*plan.assumed, said))


def _wish(args: argparse.Namespace, device: Device | None) -> Wish:
    micro = device is not None and device.is_micro
    accelerator = args.accelerator or ("tflm" if micro else "cpu")
    if device is not None and micro and accelerator != "tflm":
        raise ValueError(f"{device.title} runs TensorFlow Lite Micro: leave --accelerator {accelerator} out")
    compared = args.compare or ""
    if (args.word or args.abi or args.kernels) and accelerator != "tflm" and "tflm" not in compared:
        raise ValueError("--word, --abi and --kernels are for --accelerator tflm")
    abi, kernels = args.abi, args.kernels
    if device is not None and micro:
        abi = abi or (None if args.word else device.abi)
        kernels = kernels or device.kernels
    return Wish(
        accelerator=accelerator,
        inputs=dict(parse_input(word) for word in args.input),
        batch=args.batch,
        threads=args.threads,
        preserve_all_tensors=args.preserve_all_tensors,
        weight_cache=args.weight_cache,
        abi=choose_abi(args.word, abi),
        kernels=kernels or "reference",
    )


def _budget(args: argparse.Namespace, device: Device | None) -> Budget | None:
    if device is not None:
        return device_budget(device)
    if args.here:
        from outlive.fitting.verdicts import here_budget

        return here_budget()
    if args.ram is None:
        return None
    size = parse_bytes(args.ram)
    if not size:
        raise ValueError("a RAM of 0 bytes leaves no room at all")
    options = ("--ram", args.ram)
    return Budget(kind="ram", title="the RAM granted", ram_bytes=size, source="--ram", options=options)


def _settings(args: argparse.Namespace, model: Model, wish: Wish) -> list[tuple[dict[str, str], Wish]]:
    """What is planned beside the plan itself: every combination of a sweep with every setting compared."""
    if not args.sweep and not args.compare:
        return []
    compared: Sequence[str] = [word for word in (args.compare or "").split(",") if word.strip()]
    found = []
    for word in compared or [""]:
        base = parse_setting(word, wish) if word else wish
        for label, other in vary(model, base, args.sweep):
            found.append(({"setting": word, **label} if word else label, other))
    return found


def _row(model: Model, label: dict[str, str], wish: Wish, budget: Budget | None) -> Row:
    from outlive.arena.budget import weigh
    from outlive.arena.room import arena_for
    from outlive.fitting.planning import plan_model
    from outlive.report.plan_tables import Row

    try:
        plan = plan_model(model, wish)
    except ValueError as error:
        return Row(setting=label, plan=None, problem=str(error))
    problem = "; ".join(f"refused: {item.type}: {item.reason}" for item in plan.refusals[:2])
    same = budget is not None and (
        budget.device is None or budget.device.is_micro == (wish.accelerator == "tflm")
    )
    arena = arena_for(model, plan, wish.abi)
    verdict = weigh(plan, budget, arena=arena) if budget is not None and same else None
    return Row(setting=label, plan=plan, verdict=verdict, problem=problem)


def _show(
    args: argparse.Namespace, plan: Plan, verdict: Verdict | None, findings: Any, rows: list[Row]
) -> None:
    title = "compare" if args.compare else "sweep"
    if args.format in EXPORTS:
        export_plan(args, plan, findings, rows)
        return
    if args.format in ("json", "html"):
        from outlive.report.plan_json import plan_json, row_json

        listed = [row_json(row.setting, row.plan, row.verdict, row.problem) for row in rows]
        document = plan_json(plan, verdict, findings, {title: listed} if listed else None)
        if args.format == "html":
            show_plan(args, plan, verdict, findings, rows, document)
        else:
            write_json(args, document)
        return
    write_text(args, _text(plan, verdict, findings, rows, title))


def _text(plan: Plan, verdict: Verdict | None, findings: Any, rows: list[Row], title: str) -> Iterator[Any]:
    from outlive.report.plan_tables import rows_text
    from outlive.report.plan_text import findings_text, headline, plan_text

    if not rows:
        yield from plan_text(plan, verdict, findings)
        return
    yield from headline(plan, verdict)
    yield from rows_text(title, rows)
    yield from findings_text(findings)


def _broken(args: argparse.Namespace, reading: Any, errors: Any) -> int:
    from outlive.report.document import document, finding_json
    from outlive.report.finding_text import rich_finding

    if args.format in EXPORTS:
        tell_errors(errors)
    elif args.format in ("json", "html"):
        body = {"model": {"path": reading.path}, "findings": [finding_json(item) for item in errors]}
        told = document("plan", body)
        if args.format == "html":
            show_broken(args, "plan", errors, told)
        else:
            write_json(args, told)
    else:
        write_text(args, (rich_finding(finding) for finding in errors))
    return exits.FINDINGS


def _check_plot(args: argparse.Namespace) -> None:
    """ValueError if the picture cannot be had, before anything is planned."""
    if args.plot:
        from outlive.report.plan_plot import check_plot

        check_plot(args.plot)


def _draw(args: argparse.Namespace, plan: Plan) -> None:
    if args.plot:
        from outlive.report.plan_plot import draw

        with writing(args.plot):
            draw(plan, args.plot)
