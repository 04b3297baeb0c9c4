"""Growth with its findings: what leaks, and how it died if it did."""

from __future__ import annotations

from dataclasses import replace

from outlive.growth.growth import Growth
from outlive.rules import judge
from outlive.rules.catalogue import RULES
from outlive.worker.verdicts import Judge


def with_findings(growth: Growth, by: Judge) -> Growth:
    """The same growth, judged: one finding for each death, then what the rules on growth say."""
    source = growth.what if growth.what.endswith(".tflite") else None
    ends = [stage.flight for stage in growth.stages if stage.flight is not None]
    deaths = [by.find("flight", flight, source)[0] for flight in ends]
    found = judge({"growth": growth}, [rule for rule in RULES if rule.facts == ("growth",)])
    return replace(growth, findings=(*dict.fromkeys(deaths), *found))
