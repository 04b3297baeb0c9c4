"""Everything that can be said about a model before it runs: its file, the budget, the values it is given."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from outlive.arena.devices import Device, find_device
from outlive.arena.plan import WORDS, Budget, Plan, Verdict
from outlive.arena.questions import PlanRequest, input_rows
from outlive.environment.surroundings import Surroundings, look_around
from outlive.errors import ModelError
from outlive.finding import Finding
from outlive.fleet.file_discovery import find_files
from outlive.interpreter.feeds import given_shapes
from outlive.interpreter.judge import Call
from outlive.model import FileChanged, Model, Reading, Source
from outlive.planning.planner import calls_of, make_feed, plan_model
from outlive.planning.verdicts import find_budget, judge_fit, question_on
from outlive.project.changed import changed_models
from outlive.project.config import NOTHING, CheckSettings, Config, UnreadableConfig, find_config
from outlive.project.ignore_files import ignored_below
from outlive.rules import (
    Judgement,
    NotChecked,
    Rule,
    by_weight,
    choose_rules,
    file_errors,
    judge,
    load_rules,
    of_change,
    split_words,
)
from outlive.rules.checked import FIT_CODES, Checked, Checks, FixedFile
from outlive.rules.quantization.expectation import EXPECTATIONS, Expectation, find_expectation
from outlive.units import Step, plural
from outlive.verbs.fixing import fix_file
from outlive.verbs.read import parse_inputs, reading_of

# What callers of a check need besides: choices, and what can go wrong.
__all__ = ["EXPECTATIONS", "FIT_CODES", "UnreadableConfig", "check_reading", "make_criteria"]

# What can be wrong with a value as it is set: its shape, layout, type and byte criteria.
SETTING_CODES = frozenset({"I201", "I202", "I203", "I204", "I205"})
# What is said of the sizes in place of open ones, which are not those of values that are given.
PLACEHOLDER_CODES = frozenset({"O132", "O133"})
# The facts that a device makes a difference to.
_PLANNED = frozenset({"plan", "verdict"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Criteria:
    """What is to be checked: against which memory, with which values, by which rules."""

    rules: tuple[Rule, ...]
    wish: PlanRequest
    budget: Budget | None = None
    inputs: Any = None
    expectation: Expectation | None = None
    surroundings: Surroundings | None = None

    @property
    def plans(self) -> bool:
        """True if the memory is worked out: for a budget, and where the runtime is known to be another."""
        return self.budget is not None or self.wish.accelerator == "tflm"


def make_criteria(
    *,
    device: str | Device | None = None,
    ram: str | int | None = None,
    here: bool = False,
    inputs: Any = None,
    accelerator: str | None = None,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    expect: str | None = None,
) -> Criteria:
    """The criteria in a user's words; raises ValueError for unknown rules, devices and expectations."""
    found = find_device(device) if isinstance(device, str) else device
    return Criteria(
        rules=choose_rules(select, ignore),
        wish=device_wish(found, accelerator),
        budget=find_budget(ram, found, here),
        inputs=inputs,
        expectation=None if expect is None else find_expectation(expect),
        surroundings=look_around() if here else None,
    )


def check_reading(reading: Reading, criteria: Criteria) -> Checked:
    """What all rules say about a file that was opened; ValueError for values of inputs there are not."""
    try:
        return _check(reading, criteria)
    except (ModelError, FileChanged) as error:
        return Checked(reading=reading, judgement=Judgement(findings=of_change(error), not_checked=()))


def _check(reading: Reading, criteria: Criteria) -> Checked:
    facts: dict[str, object] = {"file": reading, "surroundings": criteria.surroundings}
    if file_errors(reading) or reading.model is None:
        # What a broken file seems to waste or need is no more to be trusted than the rest of it.
        return Checked(reading=reading, judgement=judge(facts, criteria.rules))
    facts["model"] = model = reading.model
    calls: list[Call] | None = None
    if criteria.inputs is not None:
        facts["inputs"] = feed = make_feed(model, criteria.inputs)
        calls = calls_of(feed)
        criteria = _with_shapes(criteria, model)
    plan, verdict, problem = _weigh(model, criteria)
    facts |= {"plan": plan, "verdict": verdict, "expectation": criteria.expectation}
    judgement = _also(judge(facts, criteria.rules), calls, criteria.rules, problem)
    return Checked(reading=reading, judgement=judgement, verdict=verdict)


def _with_shapes(criteria: Criteria, model: Model) -> Criteria:
    """The criteria for a model with inputs of the shapes that are given, where the file allows them."""
    shapes = given_shapes(input_rows(model), criteria.inputs)
    if not shapes or criteria.wish.accelerator == "tflm":  # which cannot resize
        return criteria
    wanted = {tensor.name: shapes[tensor.index] for tensor in model.inputs if tensor.index in shapes}
    rules = tuple(rule for rule in criteria.rules if rule.code not in PLACEHOLDER_CODES)
    return replace(criteria, rules=rules, wish=replace(criteria.wish, inputs=wanted))


def _weigh(model: Model, criteria: Criteria) -> tuple[Plan | None, Verdict | None, str]:
    """Plan and verdict where they are asked for; and why there are none, if there should be."""
    if not criteria.plans:
        return None, None, ""
    try:
        plan = plan_model(model, criteria.wish)
        if criteria.budget is None:
            return plan, None, ""
        return plan, judge_fit(model, criteria.wish, plan, criteria.budget), ""
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


def device_wish(device: Device | None, accelerator: str | None) -> PlanRequest:
    """The question for a plan on a device; a microcontroller has no CPU kernels to choose."""
    micro = device is not None and device.is_micro
    return question_on(device, None if micro and accelerator == "cpu" else accelerator)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """What is to be checked, and what is left out of it."""

    named: object
    changed: str | bool | None = None
    force_exclude: bool = False
    ignore_files: bool = True


def check_sources(
    sources: Sources,
    *,
    config: bool,
    strict: bool | None,
    fix: bool,
    said: CallerSettings,
    tell: Callable[[str], None],
) -> Checks:
    """Check what is named, as the project says for each file unless the caller does."""
    project = find_config(Path.cwd()) if config else NOTHING
    questions = _CriteriaByFile(said, project)
    found = _sources(sources, project)
    files, fixed = [], []
    for number, one in enumerate(found, 1):
        tell(Step(f"{number:,} of {len(found):,}", number - 1, len(found)))
        checked = _check_file(reading_of(one), questions.of(one))
        change = _fix(checked) if fix else None
        if change is not None:
            fixed.append(change)
            checked = _check_file(reading_of(one), questions.of(one))
        files.append(checked)
    return Checks(
        files=tuple(files),
        rules=questions.rules(),
        reasons=questions.reasons(),
        strict=project.strict if strict is None else strict,
        fixed=tuple(fixed),
    )


def _fix(checked: Checked) -> FixedFile | None:
    model = checked.reading.model
    codes = frozenset(finding.code for finding in checked.judgement.findings)
    return None if model is None or checked.judgement.errors else fix_file(model, codes)


def _sources(sources: Sources, project: Config) -> list[Source | Model]:
    """What is meant: files, folders and patterns, what git says has changed; bytes and models as they are."""
    changed, given = sources.changed, sources.named
    named: list[Any] = list(given) if isinstance(given, (list, tuple)) else [given]
    if changed is not None and changed is not False:
        words = [os.fspath(one) for one in named]
        return [
            one
            for one in changed_models("HEAD" if changed is True else changed, words)
            if not project.is_excluded(one)
        ]
    found: dict[object, Source | Model] = {}
    for one in named or ["."]:
        for file, exclude in _meant(one, sources):
            if not (exclude and project.is_excluded(file)):
                found.setdefault(file if isinstance(file, str) else id(file), file)
    return list(found.values())


def _meant(one: Any, sources: Sources) -> Iterable[tuple[Any, bool]]:
    """The files that something stands for, each with whether the project may leave it out."""
    if not isinstance(one, (str, os.PathLike)):
        return [(one, False)]
    word = os.fspath(one)
    force_exclude = sources.force_exclude
    if os.path.isfile(word):
        is_out = force_exclude and sources.ignore_files and ignored_below(os.path.dirname(word) or ".")
        return [] if is_out and is_out(word, False) else [(word, force_exclude)]
    found = [item.path for item in find_files([word], ignored_below if sources.ignore_files else None)]
    if not found:
        ignored = len(find_files([word])) if sources.ignore_files and os.path.isdir(word) else 0
        if ignored:
            hint = f"{plural(ignored, 'model')} in {word} are left out by ignore files"
            raise ValueError(f"{hint}; --no-ignore-files checks them")
        return [(word, False)]  # F103 says that a folder has no models
    return [(_short(path), path != word or force_exclude) for path in found]


def _short(path: str) -> str:
    """The path without `./`, unless it would then look like an option."""
    name = path.removeprefix(f".{os.sep}")
    return path if name.startswith("-") else name


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerSettings:
    """What the caller says, and so takes the place of what the project says; None where nothing is said."""

    select: Sequence[str] | None
    ignore: Sequence[str] | None
    devices: tuple[str | Device, ...]
    ram: str | int | None
    here: bool
    accelerator: str | None
    expect: str | None
    inputs: Any

    def over(self, asked: CheckSettings) -> CheckSettings:
        """What is asked of a file, where the project asks `asked` of it."""
        words: dict[str, Any] = {
            "select": _words(self.select),
            "ignore": _words(self.ignore),
            "accelerator": self.accelerator,
            "expect": self.expect,
        }
        said = {key: value for key, value in words.items() if value is not None}
        if self.devices or self.ram is not None or self.here:
            said |= {"devices": self.devices, "ram": self.ram}
        return replace(asked, **said)


class _CriteriaByFile:
    """The criteria for each file: one for all that is asked of it, and one more for each further device."""

    def __init__(self, said: CallerSettings, project: Config) -> None:
        self._said, self._project = said, project
        self._known: dict[CheckSettings, tuple[Criteria, ...]] = {}
        # An unknown word is refused even if no file is checked.
        self._criteria(project.settings)

    def of(self, source: object) -> tuple[Criteria, ...]:
        """The criteria for a file; ValueError for words that mean nothing."""
        path: Any = getattr(source, "path", source)
        named = isinstance(path, (str, os.PathLike))
        return self._criteria(self._project.settings_of(os.fspath(path)) if named else self._project.settings)

    def rules(self) -> tuple[Rule, ...]:
        """All rules that any file was asked for, in the order of the catalogue."""
        asked = {rule.code for known in self._known.values() for one in known for rule in one.rules}
        return tuple(rule for rule in load_rules() if rule.code in asked)

    def reasons(self) -> tuple[tuple[str, str], ...]:
        """Why rules are ignored, where the project says so and the caller says nothing else."""
        if self._said.ignore is not None:
            return ()
        return tuple(dict.fromkeys(reason for asked in self._known for reason in asked.reasons))

    def _criteria(self, asked: CheckSettings) -> tuple[Criteria, ...]:
        if asked not in self._known:
            self._known[asked] = tuple(self._make(self._said.over(asked)))
        return self._known[asked]

    def _make(self, asked: CheckSettings) -> Iterable[Criteria]:
        for number, device in enumerate(asked.devices or (None,)):
            made = make_criteria(
                device=device,
                ram=asked.ram,
                here=self._said.here,
                inputs=self._said.inputs,
                accelerator=asked.accelerator,
                expect=asked.expect,
                select=asked.select,
                ignore=asked.ignore,
            )
            # What no device makes a difference to is asked once.
            yield made if not number else replace(made, rules=_planned_only(made.rules))


def _check_file(reading: Reading, criteria: Sequence[Criteria]) -> Checked:
    """What is found by all criteria in one file; the verdict is the worst."""
    first, *others = (check_reading(reading, one) for one in criteria)
    if not others:
        return first
    found = [item for row in (first, *others) for item in row.judgement.findings]
    skipped = [item for row in others for item in row.judgement.not_checked if "planned" in item.reason]
    verdicts = [row.verdict for row in (first, *others) if row.verdict is not None]
    return replace(
        first,
        judgement=Judgement(
            findings=tuple(sorted(found, key=by_weight)),
            not_checked=(*first.judgement.not_checked, *skipped),
        ),
        verdict=max(verdicts, key=lambda one: WORDS.index(one.word), default=None),
    )


def _planned_only(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    return tuple(rule for rule in rules if _PLANNED.intersection(rule.facts))


def _words(given: Sequence[str] | None) -> tuple[str, ...] | None:
    texts = [given] if isinstance(given, str) else given
    return None if texts is None else tuple(word for text in texts for word in split_words(text))


def load_inputs(given: Any) -> Any:
    """The values for inputs: arrays as they are, or what files hold that words such as NAME=FILE.npy name."""
    words = [given] if isinstance(given, str) else given
    if not isinstance(words, (list, tuple)) or not words or not all(isinstance(one, str) for one in words):
        return given
    for word in words:
        if Path(word.rpartition("=")[2]).suffix.lower() not in (".npy", ".npz"):
            raise ValueError(f"{word!r} holds no values: give an .npz file, or NAME=FILE.npy")
    return parse_inputs(words)
