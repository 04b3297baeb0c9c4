"""Everything that can be said about a model before it runs: its file, the budget, the values it is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from outlive.arena.budget import Budget, Verdict, device_budget
from outlive.arena.devices import Device, find_device
from outlive.arena.plan import Plan
from outlive.arena.questions import Wish, choose_abi, input_rows
from outlive.environment.surroundings import Surroundings, look_around
from outlive.errors import ModelError
from outlive.finding import Finding
from outlive.fitting.feeding import calls_of, make_feed
from outlive.fitting.planning import plan_model
from outlive.fitting.verdicts import here_budget, judge_fit
from outlive.model import Model, Reading
from outlive.model.file_bytes import FileChanged
from outlive.records import NOT_WRITTEN, ModelFile, in_document, written
from outlive.rules import Judgement, NotChecked, Rule, judge
from outlive.rules.catalogue import file_errors, of_change
from outlive.rules.choosing import choose_rules
from outlive.rules.engine import by_weight
from outlive.rules.quantization.expecting import Expectation, find_expectation
from outlive.units import parse_bytes
from outlive.worker.feeding import given_shapes
from outlive.worker.verdicts import Call

# What can be wrong with a value as it is set: its shape, layout, type and byte order.
SETTING_CODES = frozenset({"I201", "I202", "I203", "I204", "I205"})
# What is said of the sizes in place of open ones, which are not those of values that are given.
PLACEHOLDER_CODES = frozenset({"O132", "O133"})
# The findings that say "does not fit": RAM, flash.
FIT_CODES = frozenset({"M201", "M203"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be checked: against which memory, with which values, by which rules."""

    rules: tuple[Rule, ...]
    wish: Wish
    budget: Budget | None = None
    inputs: Any = None
    expectation: Expectation | None = None
    surroundings: Surroundings | None = None

    @property
    def plans(self) -> bool:
        """True if the memory is worked out: for a budget, and where the runtime is known to be another."""
        return self.budget is not None or self.wish.accelerator == "tflm"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A file, what the rules say about it, and the verdict on its memory if one was asked for."""

    kind: ClassVar[str] = "check"

    reading: Reading = field(metadata=NOT_WRITTEN)
    judgement: Judgement = field(metadata=NOT_WRITTEN)
    verdict: Verdict | None = None

    @property
    @in_document()
    def model(self) -> ModelFile:
        """The file that was checked."""
        model = self.reading.model
        sha256 = None if model is None else model.sha256
        return ModelFile(path=self.reading.path, sha256=sha256, file_bytes=self.reading.file_bytes)

    @property
    @in_document()
    def findings(self) -> tuple[Finding, ...]:
        """What the rules say about it, the worst first."""
        return self.judgement.findings

    @property
    @in_document()
    def not_checked(self) -> tuple[NotChecked, ...]:
        """The rules that could not look, and why."""
        return self.judgement.not_checked

    @property
    def only_too_big(self) -> bool:
        """True if the one thing wrong is that it does not fit."""
        codes = {finding.code for finding in self.judgement.errors}
        return bool(codes) and codes <= FIT_CODES


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedFiles:
    """Several files that were checked."""

    kind: ClassVar[str] = "check"

    files: tuple[Checked, ...] = field(metadata=written(document=True))


def make_order(
    *,
    device: str | Device | None = None,
    ram: str | int | None = None,
    here: bool = False,
    inputs: Any = None,
    accelerator: str | None = None,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    expect: str | None = None,
) -> Order:
    """The order in a user's words; ValueError for what there is not."""
    if sum((device is not None, ram is not None, here)) > 1:
        raise ValueError("give a device or an amount of RAM, not both")
    found = find_device(device) if isinstance(device, str) else device
    return Order(
        rules=choose_rules(select, ignore),
        wish=_wish(found, accelerator),
        budget=device_budget(found) if found is not None else here_budget() if here else _granted(ram),
        inputs=inputs,
        expectation=None if expect is None else find_expectation(expect),
        surroundings=look_around() if here else None,
    )


def check_reading(reading: Reading, order: Order) -> Checked:
    """What all rules say about a file that was opened; ValueError for values of inputs there are not."""
    try:
        return _check(reading, order)
    except (ModelError, FileChanged) as error:
        return Checked(reading=reading, judgement=Judgement(findings=of_change(error), not_checked=()))


def _check(reading: Reading, order: Order) -> Checked:
    facts: dict[str, object] = {"file": reading, "surroundings": order.surroundings}
    if file_errors(reading) or reading.model is None:
        # What a broken file seems to waste or need is no more to be trusted than the rest of it.
        return Checked(reading=reading, judgement=judge(facts, order.rules))
    facts["model"] = model = reading.model
    calls: list[Call] | None = None
    if order.inputs is not None:
        facts["inputs"] = feed = make_feed(model, order.inputs)
        calls = calls_of(feed)
        order = _with_shapes(order, model)
    plan, verdict, problem = _weigh(model, order)
    facts |= {"plan": plan, "verdict": verdict, "expectation": order.expectation}
    judgement = _also(judge(facts, order.rules), calls, order.rules, problem)
    return Checked(reading=reading, judgement=judgement, verdict=verdict)


def _with_shapes(order: Order, model: Model) -> Order:
    """The order for a model with inputs of the shapes that are given, where the file allows them."""
    shapes = given_shapes(input_rows(model), order.inputs)
    if not shapes or order.wish.accelerator == "tflm":  # which cannot resize
        return order
    wanted = {tensor.name: shapes[tensor.index] for tensor in model.inputs if tensor.index in shapes}
    rules = tuple(rule for rule in order.rules if rule.code not in PLACEHOLDER_CODES)
    return replace(order, rules=rules, wish=replace(order.wish, inputs=wanted))


def _weigh(model: Model, order: Order) -> tuple[Plan | None, Verdict | None, str]:
    """Plan and verdict where they are asked for; and why there are none, if there should be."""
    if not order.plans:
        return None, None, ""
    try:
        plan = plan_model(model, order.wish)
        if order.budget is None:
            return plan, None, ""
        return plan, judge_fit(model, order.wish, plan, order.budget), ""
    except (ModelError, FileChanged):
        raise
    except Exception as error:
        # As with rules: what one part cannot do must not cost what all the others found, and is said.
        return None, None, f"it cannot be planned: {type(error).__name__}: {error}"[:300]


def _also(
    judgement: Judgement, calls: Sequence[Call] | None, rules: Sequence[Rule], problem: str
) -> Judgement:
    """The judgement with what is wrong with each value as it would be set, and why there is no plan."""
    on_calls = [rule for rule in rules if rule.facts == ("call",)]
    found: list[Finding] = list(judgement.findings)
    for call in calls or ():
        found += judge({"call": call}, on_calls).findings
    found.sort(key=by_weight)
    looked_at = SETTING_CODES if calls is not None else ()
    skipped = (_why(item, problem) for item in judgement.not_checked if item.code not in looked_at)
    return Judgement(findings=tuple(found), not_checked=tuple(skipped))


def _why(item: NotChecked, problem: str) -> NotChecked:
    """What a rule lacks in words of a check: the values, or the plan that could not be had."""
    if item.code in SETTING_CODES:
        return replace(item, reason="needs inputs")
    unplanned = problem and item.reason.startswith(("needs plan", "needs verdict"))
    return replace(item, reason=problem) if unplanned else item


def _wish(device: Device | None, accelerator: str | None) -> Wish:
    if device is None or not device.is_micro:
        return Wish(accelerator=accelerator or "cpu")
    if accelerator not in (None, "cpu", "tflm"):
        raise ValueError(f"{device.title} runs TensorFlow Lite Micro: leave {accelerator} out")
    return Wish(accelerator="tflm", abi=choose_abi(None, device.abi or None), kernels=device.kernels)


def _granted(ram: str | int | None) -> Budget | None:
    if ram is None:
        return None
    size = parse_bytes(ram) if isinstance(ram, str) else int(ram)
    if size <= 0:
        raise ValueError("a RAM of 0 bytes leaves no room at all")
    options = ("--ram", str(ram))
    return Budget(kind="ram", title="the RAM granted", ram_bytes=size, source="--ram", options=options)
