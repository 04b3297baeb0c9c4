"""SARIF: valid by the standard, complete, and the same for the same findings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from outlive import demo_models
from outlive.model import Source, read_source
from outlive.rendering.media.json import dump
from outlive.rendering.media.sarif import sarif_log
from outlive.rules import Judgement, NotChecked
from outlive.rules.catalogue import load_rules
from outlive.rules.checked import Checked
from outlive.surgery import write
from outlive.verbs.checking import check_reading, make_criteria
from tests.rendering.sarif_schema import official_schema
from tests.rendering.sarif_shape import LOG
from tests.rules.feeds import lookup, small
from tests.rules.small import dense

HOSTILE = 'we\n"ird\x1b[31m\u202e, ::error::%0A'


def log(folder: Path, *sources: Source, **words: Any) -> dict[str, Any]:
    """The log of a check of these, as a program would read it."""
    order = make_criteria(**words)
    rows = [check_reading(read_source(source), order) for source in sources]
    made: dict[str, Any] = json.loads(dump(sarif_log(rows, order.rules, folder)))
    return made


def results(made: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = made["runs"][0]["results"]
    return found


def hold(made: dict[str, Any]) -> None:
    """The log is valid: by the schema of OASIS, and by ours, which asks for more."""
    jsonschema.Draft7Validator(official_schema()).validate(made)
    jsonschema.Draft202012Validator(LOG).validate(made)


def broken(tmp_path: Path, name: str) -> Path:
    path = tmp_path / name
    path.write_bytes(demo_models.path("healthy").read_bytes()[:20_000])
    return path


def test_the_schema_can_fail() -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(LOG).validate({"version": "2.1.0", "runs": [{}]})
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(LOG).validate({"version": "2.0.0", "runs": []})
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft7Validator(official_schema()).validate({"version": "2.1.0", "runs": [{}]})


def test_every_demo_model_and_a_broken_file_make_a_valid_log(tmp_path: Path) -> None:
    files = [demo_models.path(model.name) for model in demo_models.DEMO_MODELS]
    made = log(tmp_path, *files, broken(tmp_path, "half.tflite"), ram="1MB")
    hold(made)
    assert {"F110", "M201", "M101"} <= {result["ruleId"] for result in results(made)}
    assert len(made["runs"][0]["artifacts"]) == len(files) + 1


def test_every_rule_is_described_and_results_point_at_theirs(tmp_path: Path) -> None:
    made = log(tmp_path, demo_models.path("wasteful"))
    rules = made["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [rule.code for rule in load_rules()]
    for rule in rules:
        assert "What to do" in rule["help"]["markdown"]
        assert rule["defaultConfiguration"]["level"] in ("error", "warning", "note")
    for result in results(made):
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]


def test_only_rules_that_were_asked_are_described(tmp_path: Path) -> None:
    made = log(tmp_path, demo_models.path("wasteful"), select=["M101"])
    hold(made)
    assert [result["ruleId"] for result in results(made)] == ["M101"]
    codes = {rule["id"] for rule in made["runs"][0]["tool"]["driver"]["rules"]}
    assert {code for code in codes if code[0] != "F"} == {"M101"}


def test_severities_are_levels(tmp_path: Path) -> None:
    zeros = np.zeros((1, 4, 4, 3), np.int8)
    nan = np.full((1, 4, 4, 3), np.nan, np.float32)
    levels = {
        result["ruleId"]: result["level"]
        for value in (zeros, nan)
        for result in results(log(tmp_path, write(small()), inputs={"image": value}, select=["I"]))
    }
    assert levels["I301"] == levels["I305"] == "error"
    assert levels["I307"] == "warning"
    assert results(log(tmp_path, demo_models.path("wasteful"), select=["M101"]))[0]["level"] == "note"


def test_an_operator_and_a_tensor_are_logical_locations(tmp_path: Path) -> None:
    tokens = np.array([[0, 1, 2, 99]], np.int32)
    made = log(tmp_path, write(lookup()), inputs={"tokens": tokens}, select=["I308"])
    hold(made)
    (result,) = results(made)
    (place,) = result["locations"][0]["logicalLocations"]
    assert place == {"name": "GATHER", "fullyQualifiedName": "subgraph 0/op 1 GATHER", "kind": "function"}
    image = np.zeros((1, 4, 4, 3), np.float32)
    (result,) = results(log(tmp_path, write(small()), inputs={"image": image}, select=["I301"]))
    (place,) = result["locations"][0]["logicalLocations"]
    assert place == {"name": "tensor 0", "fullyQualifiedName": 'input "image", tensor 0', "kind": "variable"}


def test_a_model_of_bytes_has_no_address(tmp_path: Path) -> None:
    made = log(tmp_path, write(dense(op={"inputs": [0, 99, -1]})))
    hold(made)
    (result,) = results(made)
    assert "physicalLocation" not in result["locations"][0]


def test_addresses_are_relative_below_the_folder_and_whole_elsewhere(tmp_path: Path) -> None:
    inside = tmp_path / "models"
    inside.mkdir()
    path = broken(inside, "a b%,#é.tflite")
    place = results(log(tmp_path, path))[0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "models/a%20b%25%2C%23%C3%A9.tflite"
    away = results(log(tmp_path / "other", path))[0]["locations"][0]["physicalLocation"]
    assert away["artifactLocation"]["uri"].startswith("file:///")
    assert away["artifactLocation"]["uri"].endswith("/models/a%20b%25%2C%23%C3%A9.tflite")


def test_names_of_a_hostile_model_are_escaped(tmp_path: Path) -> None:
    tree = small()
    tree["subgraphs"][0]["tensors"][0]["name"] = HOSTILE
    image = np.zeros((1, 4, 4, 3), np.float32)
    made = log(tmp_path, write(tree), inputs=[image], select=["I"])
    hold(made)
    text = json.dumps(results(made), ensure_ascii=False)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\\u202e" in results(made)[0]["message"]["text"]


def test_fingerprints_survive_a_move_and_tell_findings_apart(tmp_path: Path) -> None:
    first, second = broken(tmp_path, "one.tflite"), broken(tmp_path, "two.tflite")
    prints = [results(log(tmp_path, path))[0]["partialFingerprints"] for path in (first, second)]
    assert prints[0] == prints[1]
    found = [result["partialFingerprints"]["outliveFinding/v1"] for result in results(
        log(tmp_path, demo_models.path("wasteful"))
    )]  # fmt: skip
    assert len(found) == len(set(found)) > 3


def test_rules_that_failed_are_notifications(tmp_path: Path) -> None:
    reading = read_source(demo_models.path("healthy"))
    skipped = (
        NotChecked(code="M101", name="duplicate-buffers", reason="the rule failed: IndexError: 3"),
        NotChecked(code="M201", name="plan-does-not-fit", reason="needs verdict"),
    )
    row = Checked(reading=reading, judgement=Judgement(findings=(), not_checked=skipped))
    made = json.loads(dump(sarif_log([row], load_rules(), tmp_path)))
    hold(made)
    (note,) = made["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert "M101" in note["message"]["text"]
    assert load_rules()[note["associatedRule"]["index"]].code == "M101"
