"""WHAT IS WRONG, HOW DO WE KNOW?

    facts (file, model, ...) ──> judge ──> each rule whose facts are at hand ──> findings
                                   └─────> the others ──────────────────────> not checked

One file per rule, one folder per family: D deaths, E the machine and what is installed on it, F the file,
I inputs, M memory and waste, O operators, Q quantization, S silent failures. The parameters of a rule name
the facts it needs. Nouns: `Rule`, `Judgement`, `NotChecked`.
"""

from outlive.rules.engine import Judgement, NotChecked, Rule, judge, rule

__all__ = ["Judgement", "NotChecked", "Rule", "judge", "rule"]
