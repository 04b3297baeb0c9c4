"""WHAT IS WRONG, HOW DO WE KNOW?

    facts (file, model, ...) ──> judge ──> each rule whose facts are given ──> findings
                                   └─────> the others ─────────────────────> not checked

One file per rule, one folder per family: D deaths, E the machine and what is installed on it, F the file,
I inputs, M memory and waste, O operators, Q quantization, S silent failures. The parameters of a rule name
the facts it needs. `api.py` is what a rule's file imports. Nouns: `Rule`, `Judgement`, `NotChecked`.
"""

from outlive.rules.judgement import Judgement, NotChecked, judge
from outlive.rules.rule import Rule, rule

__all__ = ["Judgement", "NotChecked", "Rule", "judge", "rule"]
