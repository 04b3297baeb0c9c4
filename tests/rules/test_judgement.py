"""The judgement: which rules run, in which order, and what becomes of rules that cannot look."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest

from outlive.finding import Evidence, Fault, Remedy, Severity, Sighting, Tag
from outlive.rules import Judgement, Rule, judge, rule
from outlive.rules.catalogue import find_rule, load_rules, near_rules
from tests.diagnosis.test_autopsy import CAUSES

SEEN = Sighting(where="here", evidence=(Evidence(fact="it is so", source="eyes"),))


def make(code: str, severity: Severity = Severity.NOTE, *sightings: Sighting) -> Rule:
    """A rule that needs the fact `file` and sees these sightings."""

    @rule(code, f"name-of-{code.lower()}", severity, since="0.1")
    def see(file: object) -> Iterator[Sighting]:
        yield from sightings

    return see


def codes(judgement: Judgement) -> list[str]:
    return [finding.code for finding in judgement]


def test_a_sighting_without_evidence_is_refused() -> None:
    with pytest.raises(ValueError, match="evidence"):
        Sighting(where="here", evidence=())


def test_a_sighting_is_signed_with_the_code_severity_and_headline_of_its_rule() -> None:
    remedy = Remedy(action="do it", tag=Tag.CHANGES_MODEL, effect="saves 1 B", command="do it")
    sighting = Sighting(
        where="there", evidence=SEEN.evidence, why="so", remedies=(remedy,), confidence="likely",
        fault=Fault.RUNTIME,
    )  # fmt: skip
    signer = make("X901", Severity.WARNING, sighting)
    (finding,) = judge({"file": 1}, [signer])
    assert (finding.code, finding.name, finding.severity) == ("X901", "name-of-x901", Severity.WARNING)
    assert signer.summary == __doc__.splitlines()[0]
    assert finding.headline == f"{signer.summary}: it is so", "with the value that was seen"
    assert (finding.where, finding.why, finding.confidence) == ("there", "so", "likely")
    assert (finding.evidence, finding.remedies, finding.fault) == (SEEN.evidence, (remedy,), Fault.RUNTIME)


def test_the_page_of_a_rule_is_its_modules_docstring_and_its_facts_are_its_parameters() -> None:
    made = make("X901")
    assert made.doc == __doc__.strip()
    assert made.facts == ("file",)


@pytest.mark.parametrize("facts", [{}, {"file": None}])
def test_a_rule_without_its_facts_is_not_checked_and_says_what_it_needs(facts: dict[str, object]) -> None:
    judgement = judge(facts, [make("X901", Severity.ERROR, SEEN)])
    (skipped,) = judgement.not_checked
    assert codes(judgement) == []
    assert (skipped.code, skipped.name, skipped.reason) == ("X901", "name-of-x901", "needs file")


def test_all_missing_facts_are_named() -> None:
    @rule("X901", "greedy", Severity.NOTE, since="0.1")
    def greedy(file: object, plan: object, flight: object) -> Iterator[Sighting]:
        yield SEEN

    (skipped,) = judge({"file": 1}, [greedy]).not_checked
    assert skipped.reason == "needs plan and flight"


def test_a_fact_that_is_false_is_still_a_fact() -> None:
    assert codes(judge({"file": 0}, [make("X901", Severity.NOTE, SEEN)])) == ["X901"]


def test_a_rule_that_raises_costs_only_itself_and_is_named() -> None:
    @rule("X901", "broken", Severity.ERROR, since="0.1")
    def broken(file: object) -> Iterator[Sighting]:
        yield SEEN
        raise IndexError("tuple index out of range")

    judgement = judge(
        {"file": 1}, [make("X900", Severity.NOTE, SEEN), broken, make("X902", Severity.NOTE, SEEN)]
    )
    (skipped,) = judgement.not_checked
    assert codes(judgement) == ["X900", "X902"]
    assert skipped.code == "X901"
    assert skipped.reason == "the rule failed: IndexError: tuple index out of range"


def test_an_interrupt_is_not_swallowed() -> None:
    @rule("X901", "interrupted", Severity.ERROR, since="0.1")
    def interrupted(file: object) -> Iterator[Sighting]:
        raise KeyboardInterrupt
        yield SEEN

    with pytest.raises(KeyboardInterrupt):
        judge({"file": 1}, [interrupted])


def test_findings_come_by_severity_and_then_by_code() -> None:
    worst, second = make("X901", Severity.ERROR, SEEN, SEEN), make("X904", Severity.ERROR, SEEN)
    middle = make("X902", Severity.WARNING, SEEN)
    least, last = make("X903", Severity.NOTE, SEEN), make("X905", Severity.NOTE, SEEN)
    rules = [last, second, least, middle, worst]
    judgement = judge({"file": 1}, rules)
    assert codes(judgement) == ["X901", "X901", "X904", "X902", "X903", "X905"]
    assert [finding.code for finding in judgement.errors] == ["X901", "X901", "X904"]
    assert len(judgement) == 6


def test_a_rule_that_sees_nothing_is_neither_found_nor_not_checked() -> None:
    judgement = judge({"file": 1}, [make("X901", Severity.ERROR)])
    assert (judgement.findings, judgement.not_checked) == ((), ())


@pytest.mark.parametrize("word", ["F104", "f104", " F104 ", "git-lfs-pointer", "GIT-LFS-pointer"])
def test_a_rule_is_found_by_code_and_name(word: str) -> None:
    found = find_rule(word)
    assert found is not None
    assert found.code == "F104"


@pytest.mark.parametrize("word", ["", "F1", "F1044", "pointer", "git"])
def test_a_part_of_a_code_or_name_finds_nothing(word: str) -> None:
    assert find_rule(word) is None


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("f1044", "F104"),
        ("F1O4", "F104"),
        ("git-lfs", "git-lfs-pointer"),
        ("zip archive", "zip-archive"),
        ("Duplicate-Bufers", "duplicate-buffers"),
    ],
)
def test_what_was_meant_is_guessed(typed: str, meant: str) -> None:
    assert any(near.startswith(meant) for near in near_rules(typed))


def test_nothing_is_guessed_from_nonsense() -> None:
    assert near_rules("qqqqqq") == []


def test_the_catalogue_is_in_the_order_of_its_codes() -> None:
    listed = [item.code for item in load_rules()]
    assert listed == sorted(set(listed))


@pytest.mark.parametrize("item", load_rules(), ids=lambda item: item.code)
def test_every_rule_needs_a_fact(item: Rule) -> None:
    """A rule without one would speak whatever it is asked about."""
    assert item.facts


def test_the_cause_of_a_rule_is_a_word_of_the_taxonomy() -> None:
    assert {rule.code: rule.cause for rule in load_rules() if rule.cause and rule.cause not in CAUSES} == {}


def test_rules_on_refused_inputs_have_a_cause() -> None:
    assert [rule.code for rule in load_rules() if rule.code.startswith("I2") and not rule.cause] == []


def test_only_the_rules_that_are_asked_for_are_loaded() -> None:
    script = (
        "import sys\n"
        "from outlive.rules.catalogue import find_rule, load_rules, near_rules\n"
        "assert find_rule('git-lfs-pointer').code == 'F104' and near_rules('Q1033') and load_rules('D51')\n"
        "print(*sorted({name.rpartition('.')[2][:3] for name in sys.modules if '.rules.' in name}))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert [word for word in done.stdout.split() if word[1:].isdigit()] == ["d51", "f10"]


def test_a_declared_rule_has_the_text_and_the_facts_of_a_written_one() -> None:
    declared = find_rule("F113")
    assert declared is not None
    assert declared.doc.startswith(f"{declared.summary}\n\nWhat it checks\n")
    assert declared.facts == ("file",)


def test_a_headline_ends_with_the_value_at_fault() -> None:
    facts = (Evidence(fact="radius = -16; it reserves as many channels", source="file"),)
    seen = Sighting(where="here", evidence=facts)
    own, named = replace(seen, headline="File not found"), replace(seen, value="a.tflite")
    long = replace(seen, evidence=(Evidence(fact="x" * 200, source="file"),))
    for sighting, end in ((seen, ": radius = -16"), (named, ": a.tflite"), (long, "")):
        (finding,) = judge({"file": 1}, [signer := make("X901", Severity.ERROR, sighting)])
        assert finding.headline == f"{signer.summary}{end}"
    (finding,) = judge({"file": 1}, [make("X901", Severity.ERROR, own)])
    assert finding.headline == "File not found"
