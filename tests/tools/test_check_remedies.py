"""The tool that tries what advice says: it finds what it shall try, and notices what does not hold."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "check_remedies.py"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_remedies", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["check_remedies"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("step", "found"),
    [
        ("update: python -m pip install --upgrade tensorflow keras (both)", {"tensorflow", "keras"}),
        ("python -m pip install 'numpy<2' in a fresh environment", {"numpy<2"}),
        ("pip install 'tensorflow==VERSION', or pip install PACKAGE", set()),
        ("pip install --extra-index-url https://a.b/c/ pycoral~=2.0", {"pycoral~=2.0"}),
        ("pip install --only-binary :all: 'tensorflow[and-cuda]'", {"tensorflow[and-cuda]"}),
    ],
)
def test_requirements_are_found_in_advice(tool: ModuleType, step: str, found: set[str]) -> None:
    assert tool.requirements([step]) == found


def test_code_in_advice_compiles_and_its_names_exist(tool: ModuleType) -> None:
    assert list(tool.broken_code(tool.advice())) == []
    names = [
        step.replace("tf.", "").replace("keras.", "") for step in tool.advice()
    ]  # TensorFlow is slow to load
    assert list(tool.unknown_names(names)) == []


def test_what_does_not_hold_is_noticed(tool: ModuleType) -> None:
    assert list(tool.broken_code(["see it: python -c 'print(('"])) != []
    assert list(tool.broken_code(["do: converter.optimizations = [1,; then go on"])) != []
    assert list(tool.unknown_names(["np.expand_dimensions(x, 0)"])) == ["np.expand_dimensions"]


def test_a_requirement_without_a_release_is_noticed(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {"numpy": ("1.26.4", "2.1.0")}
    monkeypatch.setattr(tool, "_releases", lambda name, python: tuple(map(tool.Version, known.get(name, ()))))
    assert tool.missing("numpy<2") == ""
    assert "no release" in tool.missing("numpy<1")
    assert "no release" in tool.missing("nump")
