"""Growth with its findings: what leaks, and how it died if it did."""

from __future__ import annotations

from dataclasses import replace

from outlive.growth.growth import Growth
from outlive.rendering.verdict import judge_fact
from outlive.rules import judge
from outlive.rules.catalogue import RULES


def with_findings(growth: Growth) -> Growth:
    """The same growth, judged: one finding for each death, then what the rules on growth say."""
    source = growth.what if growth.what.endswith(".tflite") else None
    deaths = [
        judge_fact("flight", stage.flight, source)[0] for stage in growth.stages if stage.flight is not None
    ]
    found = judge({"growth": growth}, [rule for rule in RULES if rule.facts == ("growth",)])
    return replace(growth, findings=(*dict.fromkeys(deaths), *found))
