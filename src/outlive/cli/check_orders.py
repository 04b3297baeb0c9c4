"""What is to be checked in each file: as the configuration says for it, unless the command line does."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outlive.arena.budget import WORDS
from outlive.cli.config import Asked, Config
from outlive.rules.choosing import split_words

if TYPE_CHECKING:
    from outlive.fitting.checking import Checked, Order
    from outlive.model import Reading
    from outlive.rules import Rule

_PLANNED = frozenset({"plan", "verdict"})


class Orders:
    """The orders for each file: one for all that is asked of it, and one more for each further device."""

    def __init__(self, args: argparse.Namespace, config: Config) -> None:
        """Look at what the command line says; the values of `--inputs` are read."""
        self._args, self._config = args, config
        self._inputs = load_inputs(args.inputs)
        self._known: dict[Asked, tuple[Order, ...]] = {}
        # What is asked of all files: an unknown word is told even if no file is checked.
        self._orders(config.asked)

    def of(self, file: str) -> tuple[Order, ...]:
        """The orders for a file; ValueError for words that mean nothing."""
        return self._orders(self._config.asked_of(file))

    def rules(self) -> tuple[Rule, ...]:
        """All rules that any file was asked for, in the order of the catalogue."""
        from outlive.rules.catalogue import RULES

        asked = {rule.code for orders in self._known.values() for order in orders for rule in order.rules}
        return tuple(rule for rule in RULES if rule.code in asked)

    def reasons(self) -> tuple[tuple[str, str], ...]:
        """Why rules are ignored, where the configuration says so and the command line says nothing else."""
        if self._args.ignore is not None:
            return ()
        return tuple(dict.fromkeys(reason for asked in self._known for reason in asked.reasons))

    def _orders(self, asked: Asked) -> tuple[Order, ...]:
        if asked not in self._known:
            self._known[asked] = tuple(self._make(replace(asked, **self._said())))
        return self._known[asked]

    def _said(self) -> dict[str, Any]:
        """What the command line says, and so takes the place of what the configuration says."""
        args = self._args
        words: dict[str, Any] = {
            "select": _words(args.select),
            "ignore": _words(args.ignore),
            "accelerator": args.accelerator,
            "expect": args.expect,
        }
        said = {key: value for key, value in words.items() if value is not None}
        if args.device is not None or args.ram is not None or args.here:
            said |= {"devices": tuple(args.device or ()), "ram": args.ram}
        return said

    def _make(self, asked: Asked) -> Iterable[Order]:
        from outlive.fitting.checking import make_order

        for number, device in enumerate(asked.devices or (None,)):
            order = make_order(
                device=device,
                ram=asked.ram,
                here=self._args.here,
                inputs=self._inputs,
                accelerator=asked.accelerator,
                expect=asked.expect,
                select=asked.select,
                ignore=asked.ignore,
            )
            yield order if not number else replace(order, rules=_planned_only(order.rules))


def check_file(reading: Reading, orders: Sequence[Order]) -> Checked:
    """What all orders find in one file; the verdict is the worst."""
    from outlive.fitting.checking import check_reading
    from outlive.rules import Judgement
    from outlive.rules.engine import by_weight

    first, *others = (check_reading(reading, order) for order in orders)
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
    """The rules that a device makes a difference to."""
    return tuple(rule for rule in rules if _PLANNED.intersection(rule.facts))


def _words(given: list[str] | None) -> tuple[str, ...] | None:
    return None if given is None else tuple(word for text in given for word in split_words(text))


def load_inputs(words: list[str]) -> Any:
    """The arrays that `--inputs` names: by input, or one for the only input; None if nothing is given."""
    if not words:
        return None
    from outlive.verbs.inputs import parse_inputs

    for word in words:
        if Path(word.rpartition("=")[2]).suffix.lower() not in (".npy", ".npz"):
            raise ValueError(f"{word!r} holds no values: give an .npz file, or NAME=FILE.npy")
    return parse_inputs(words)
