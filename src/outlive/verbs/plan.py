"""`plan`: the memory a model will need, before anything runs; and whether that fits."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from outlive.arena.budget import arena_for, weigh
from outlive.arena.devices import Device, find_device
from outlive.arena.plan import Budget, Plan, PlannedSetting, Verdict
from outlive.arena.questions import PlanRequest, check_shape, input_shapes, parse_input, parse_setting, vary
from outlive.model import Model, Source, read_source
from outlive.planning.planner import plan_model
from outlive.planning.verdicts import find_budget, judge_fit, judge_plan, question_on
from outlive.rules import missing_kernels
from outlive.verbs.read import read

__all__ = ["Plan", "Verdict", "named_shapes", "plan"]

Inputs = Mapping[str, Sequence[int] | str]


def plan(
    source: Source | Model,
    accelerator: str | None = None,
    *,
    inputs: Inputs | None = None,
    batch: int | None = None,
    threads: int | None = None,
    preserve_all_tensors: bool = False,
    weight_cache: bool = False,
    word: int | None = None,
    abi: str | None = None,
    kernels: str | None = None,
    measure: bool = False,
    ram: str | int | None = None,
    device: str | Device | None = None,
    here: bool = False,
    sweep: Sequence[str] = (),
    compare: str | Sequence[str] = (),
) -> Plan:
    """Plan the memory of a model, part by part, without running it: `.peak_bytes`, `.verdict`, `.placements`.

    `accelerator` is "cpu" (XNNPACK, the default), "builtin", "reference" or "tflm" (TensorFlow Lite Micro,
    the default for a `device` that is a microcontroller; `word`, `abi` and `kernels` are for it). `inputs`
    are other shapes by name, `batch` is another first dimension of all inputs: a worker that never invokes
    the model asks the runtime for the other shapes. With `ram`, a `device` or `here` (this machine),
    `.verdict` says whether it fits. `sweep` (["batch=1,2,4"]) and `compare` ("builtin,cpu+weight-cache") plan
    other settings as well. `measure` runs the model in a worker and adds what it measured. Raises ValueError
    for impossible shapes and unknown names.

    >>> plan = outlive.plan("healthy.tflite", device="raspberry-pi-zero-2-w")
    >>> plan
    Plan(healthy.tflite: at most ... KiB, fits, cpu)
    >>> plan.verdict.word
    'fits'
    """
    board = find_device(device) if isinstance(device, str) else device
    compared = compare.split(",") if isinstance(compare, str) else list(compare)
    wish = question_on(
        board, accelerator, word, abi, kernels, batch=batch, threads=threads, weight_cache=weight_cache,
        preserve_all_tensors=preserve_all_tensors,
        inputs={name: check_shape(shape) for name, shape in (inputs or {}).items()},
    )  # fmt: skip
    if (word or abi or kernels) and not any("tflm" in one for one in (wish.accelerator, *compared)):
        raise ValueError("word, abi and kernels are for the accelerator tflm")
    budget = find_budget(ram, board, here)
    model = read(source)
    input_shapes(model, wish)  # what cannot be asked is refused before anything is planned
    settings = _settings(model, wish, sweep, compared)
    found = _note_word(plan_model(model, wish, measure), board)
    verdict = judge_fit(model, wish, found, budget) if budget else None
    findings = judge_plan(found, verdict)
    if found.accelerator != "tflm":
        findings = (*missing_kernels(read_source(model)), *findings)
    rows = tuple(_row(model, label, other, budget) for label, other in settings)
    found = replace(found, verdict=verdict, findings=findings, source=model)
    return replace(found, compare=rows) if any(compared) else replace(found, sweep=rows)


def named_shapes(words: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Shapes by name, of words such as `image=1x512x512x3`; the name is empty where there is none."""
    return dict(map(parse_input, words))


def _note_word(found: Plan, device: Device | None) -> Plan:
    """The plan with a note on 32 bits, where the structures of LiteRT are smaller and tensors are not."""
    if device is None or device.is_micro or device.word == 64:
        return found
    said = f"planned for 64 bits; on the 32 bits of {device.title} the interpreter's structures are smaller"
    return replace(found, assumed=(*found.assumed, said))


def _settings(
    model: Model, wish: PlanRequest, sweep: Sequence[str], compared: Sequence[str]
) -> list[tuple[dict[str, str], PlanRequest]]:
    """What is planned beside the plan itself: every combination of a sweep with every setting compared."""
    words = [word for word in compared if word.strip()]
    if not sweep and not words:
        return []
    found = []
    for word in words or [""]:
        base = parse_setting(word, wish) if word else wish
        for label, other in vary(model, base, sweep):
            found.append(({"setting": word, **label} if word else label, other))
    return found


def _row(model: Model, label: dict[str, str], wish: PlanRequest, budget: Budget | None) -> PlannedSetting:
    try:
        found = plan_model(model, wish)
    except ValueError as error:
        return PlannedSetting(setting=label, plan=None, problem=str(error))
    problem = "; ".join(f"refused: {item.type}: {item.reason}" for item in found.refusals[:2])
    same = budget is not None and (
        budget.device is None or budget.device.is_micro == (wish.accelerator == "tflm")
    )
    arena = arena_for(model, found, wish.abi)
    verdict = weigh(found, budget, arena=arena) if budget is not None and same else None
    return PlannedSetting(setting=label, plan=found, verdict=verdict, problem=problem)
