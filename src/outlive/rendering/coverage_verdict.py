"""What the rules say of a coverage."""

from __future__ import annotations

from outlive.accelerators import Coverage
from outlive.rules import Judgement, judge
from outlive.rules.catalogue import RULES


def judge_coverage(coverage: Coverage) -> Judgement:
    """The findings on what accelerators take and do, the worst first."""
    return judge({"coverage": coverage}, [rule for rule in RULES if rule.facts == ("coverage",)])
