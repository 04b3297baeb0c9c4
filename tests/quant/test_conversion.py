"""What is asked of TensorFlow's converter, in words; its own work is tested where TensorFlow is installed."""

from __future__ import annotations

from typing import Any

import pytest

import outlive
from outlive.quant.conversion import _in_words, _spec, parse_settings
from outlive.verbs.judging import JUDGE


def test_settings_may_be_words() -> None:
    given = {"optimizations": "DEFAULT", "supported_ops": "A, B", "allow_custom_ops": "true", "steps": "3"}
    assert parse_settings(given) == {
        "optimizations": ["DEFAULT"], "supported_ops": ["A", "B"], "allow_custom_ops": True, "steps": 3,
    }  # fmt: skip
    assert parse_settings({"optimizations": ["DEFAULT"], "other": None}) == {
        "optimizations": ["DEFAULT"],
        "other": None,
    }


def test_a_signature_may_be_words() -> None:
    assert _spec("1x?x3:int8") == _spec(((1, None, 3), "int8")) == ([1, None, 3], "int8")
    assert _spec(":float32") == ([], "float32")
    for wrong in ("1x4", "axb:float32", "-1:int8"):
        with pytest.raises(ValueError, match="1x4:float32"):
            _spec(wrong)


def test_a_converter_that_is_not_installed_is_told() -> None:
    def convert(*arguments: Any) -> bytes:
        raise ModuleNotFoundError("No module named 'tensorflow'")

    with pytest.raises(outlive.RuntimeMissing) as caught:
        _in_words(convert, JUDGE)()
    assert caught.value.finding.code == "E401"
    assert "pip install tensorflow" in str(caught.value)
