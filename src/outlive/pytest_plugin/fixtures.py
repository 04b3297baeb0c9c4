"""Fixtures: an interpreter that cannot take the session with it, does it fit, does it leak."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from outlive.verbs.interpreter import Interpreter
    from outlive.verbs.plan import Verdict


@pytest.fixture
def guarded_interpreter() -> Iterator[Callable[..., Interpreter]]:
    """Makes interpreters whose model runs in a worker, and closes them at the end of the test.

    `guarded_interpreter("m.tflite", memory="64MB")`: a path or the bytes of a model, and whatever
    `outlive.Interpreter` takes.
    """
    from outlive.verbs.interpreter import Interpreter

    with contextlib.ExitStack() as made:

        def make(model: Any = None, **options: Any) -> Interpreter:
            if isinstance(model, (bytes, bytearray, memoryview)):
                options["model_content"] = bytes(model)
            elif model is not None:
                options["model_path"] = model
            return made.enter_context(Interpreter(**options))

        yield make


@pytest.fixture
def assert_fits() -> Callable[..., Verdict]:
    """Fails the test if a model does not fit: `assert_fits("m.tflite", device="raspberry-pi-pico")`.

    Or with `ram="64MB"`; `accelerator` is what it will run on. The verdict comes back, with its margin.
    """

    return _check_fit


def _check_fit(
    model: Any, *, device: Any = None, ram: str | int | None = None, accelerator: str | None = None
) -> Verdict:
    __tracebackhide__ = True
    from outlive.errors import ModelError
    from outlive.rendering.finding_text import plain_finding
    from outlive.verbs import plan

    if device is None and ram is None:
        raise TypeError("assert_fits needs device= or ram=: what is the model to fit?")
    try:
        found = plan(model, accelerator, device=device, ram=ram)
    except ModelError as error:  # a file that cannot be trusted has no plan
        raise AssertionError("\n".join(map(plain_finding, error.findings))) from None
    verdict = found.verdict
    assert verdict is not None, "a plan for a device or a size has a verdict"
    if not verdict.fits:
        told = "\n".join(map(plain_finding, found.findings))
        raise AssertionError(told or "; ".join(verdict.reasons))
    return verdict


@pytest.fixture
def assert_no_leak() -> Callable[..., Any]:
    """Fails the test if something grows when it is repeated: `assert_no_leak(function)`, or a model.

    Takes whatever `outlive.leak` takes; a verdict that is not clear in the time there is fails as well,
    unless `unclear=True`. The growth comes back.
    """

    return _check_leak


def _check_leak(function_or_model: Any, *, unclear: bool = False, **options: Any) -> Any:
    __tracebackhide__ = True
    from outlive.rendering.finding_text import plain_finding
    from outlive.verbs import leak

    growth = leak(function_or_model, **options)
    if growth.verdict != "no leak" and not (unclear and growth.verdict == "not enough evidence"):
        raise AssertionError("\n".join((f"{growth}", *map(plain_finding, growth.findings))))
    return growth
