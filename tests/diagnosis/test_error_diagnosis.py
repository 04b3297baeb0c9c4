"""Exceptions of others, given to `outlive.diagnose`."""

from __future__ import annotations

import outlive


class ConverterError(Exception):
    """As TensorFlow's is called."""


def test_a_converter_that_gave_up_names_the_op() -> None:
    words = "<unknown>:0: error: failed while converting: 'main':\nCustom ops: Svd\nDetails:"
    diagnosis = outlive.diagnose(ConverterError(words))
    assert diagnosis.verdict is not None
    assert (diagnosis.cause, diagnosis.verdict.code, diagnosis.verdict.where) == (
        "unsupported-op",
        "O125",
        "Svd",
    )


def test_words_that_say_nothing_have_no_cause() -> None:
    diagnosis = outlive.diagnose(RuntimeError("no"))
    assert diagnosis.cause == "unknown"
