"""WHAT IS WRONG, HOW DO WE KNOW?

    facts (file, model, ...) ──> judge ──> each rule whose facts are given ──> findings
                                   └─────> the others ─────────────────────> not checked

One file per rule, one folder per family: D deaths, E the machine and what is installed on it, F the file,
I inputs, M memory and waste, O operators, Q quantization, S silent failures. The parameters of a rule name
the facts it needs. `api.py` is what a rule's file imports. Nouns: `Rule`, `Judgement`, `NotChecked`.
"""

from outlive.rules.catalogue import choose_rules, find_rule, load_rules, near_rules, split_words
from outlive.rules.judgement import (
    Judgement,
    NotChecked,
    assess,
    assess_run,
    by_weight,
    file_errors,
    judge,
    missing_kernels,
    of_change,
)
from outlive.rules.rule import Rule, RuleList, rule

PUBLIC_MODULES = (
    "baseline", "checked", "feed", "flight_end", "logged", "memory_verdict", "plan_facts",
    "quantization.expectation",
)  # fmt: skip

__all__ = [
    "Judgement",
    "NotChecked",
    "Rule",
    "RuleList",
    "assess",
    "assess_run",
    "by_weight",
    "choose_rules",
    "file_errors",
    "find_rule",
    "judge",
    "load_rules",
    "missing_kernels",
    "near_rules",
    "of_change",
    "rule",
    "split_words",
]
