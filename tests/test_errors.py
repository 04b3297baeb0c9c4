"""What outlive raises on purpose carries a finding."""

from __future__ import annotations

import pytest

from outlive.errors import InternalError, ModelError, OutliveError
from outlive.finding import Evidence, Fault, Finding, Severity


def finding(code: str = "X901", where: str = "m.tflite") -> Finding:
    evidence = (Evidence(fact="it is so", source="eyes"),)
    return Finding(
        code=code, name="planted", severity=Severity.ERROR, headline="something is wrong", where=where,
        why="", evidence=evidence, remedies=(), confidence="certain", fault=Fault.FILE,
    )  # fmt: skip


def test_an_error_says_its_finding_in_one_line() -> None:
    assert str(OutliveError(finding())) == "error[X901]: something is wrong (m.tflite)"


def test_a_finding_without_a_place_has_no_brackets() -> None:
    assert str(finding(where="")) == "error[X901]: something is wrong"


def test_an_error_can_say_more_than_one_line() -> None:
    assert str(OutliveError(finding(), "drawn\nat length")) == "drawn\nat length"


def test_an_error_keeps_what_else_was_found() -> None:
    error = ModelError(finding(), others=(finding("X902"), finding("X903")))
    assert error.finding.code == "X901"
    assert [item.code for item in error.findings] == ["X901", "X902", "X903"]


def test_a_single_finding_is_all_there_is() -> None:
    error = ModelError(finding())
    assert error.findings == (error.finding,)


def test_code_that_expects_what_litert_raises_goes_on_working() -> None:
    with pytest.raises(ValueError, match="something is wrong"):
        raise ModelError(finding())
    assert issubclass(ModelError, OutliveError)


def test_a_bug_of_our_own_is_not_caught_with_the_models_faults() -> None:
    assert not issubclass(InternalError, (OutliveError, ValueError))


def test_a_finding_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        finding().code = "X902"  # type: ignore[misc]
