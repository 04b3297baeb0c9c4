"""outlive keeps its rules: layers, judges, sizes, names, words, catalogue, a quick start.

The checks live in `tests/house/`, with tests that plant each fault and see it found.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.house import handing, layers, places, platforms, rulebook, sizes, startup, versions, words

REPOSITORY = Path(__file__).parent.parent
SOURCE = REPOSITORY / "src"
PACKAGE = SOURCE / "outlive"
TESTS = REPOSITORY / "tests"
CODE_FOLDERS = tuple(
    REPOSITORY / name
    for name in ("src/outlive", "tests", "tools", "benchmarks")
    if any((REPOSITORY / name).glob("*.py"))
)

Check = Callable[[Path], list[str]]


def hold(problems: list[str]) -> None:
    """Fail with one problem per line."""
    if problems:
        pytest.fail("\n".join(problems), pytrace=False)


@pytest.mark.parametrize(
    "check",
    [
        layers.unknown_packages,
        layers.imports_not_going_down,
        layers.import_cycles,
        handing.kept_parameters,
        handing.workers_without_judge,
        platforms.posix_names,
        platforms.stale_exceptions,
        sizes.rule_sizes,
        versions.runtime_versions,
        words.missing_docstrings,
        words.packages_without_question,
        words.stray_prints,
        words.unsorted_or_incomplete_all,
    ],
    ids=lambda check: check.__name__,
)
def test_the_package_has_no(check: Check) -> None:
    hold(check(PACKAGE))


@pytest.mark.parametrize("folder", CODE_FOLDERS, ids=lambda folder: folder.name)
@pytest.mark.parametrize(
    "check",
    [sizes.long_modules, sizes.long_functions, sizes.deep_functions, sizes.empty_names],
    ids=lambda check: check.__name__,
)
def test_no_code_has(check: Check, folder: Path) -> None:
    hold(check(folder))


def test_no_file_names_a_machine_path() -> None:
    hold(places.machine_paths(REPOSITORY))


def test_every_rule_file_is_in_the_catalogue() -> None:
    from outlive.rules.catalogue import load_rules

    hold(rulebook.catalogue_gaps(PACKAGE, load_rules()))


def test_every_rule_explains_itself() -> None:
    from outlive.rules.catalogue import load_rules

    hold(rulebook.bad_explanations(load_rules()))


def test_every_rule_is_tested() -> None:
    from outlive.rules.catalogue import load_rules

    hold(rulebook.untested_rules(load_rules(), TESTS / "rules"))


def test_every_public_name_is_there_and_explained() -> None:
    hold(startup.names_not_to_be_had(SOURCE))


def test_import_outlive_is_light() -> None:
    hold(startup.loaded_by("import outlive", SOURCE))


def test_there_are_demo_models() -> None:
    assert list((PACKAGE / "demo_models").glob("*.tflite"))


@pytest.mark.parametrize(
    "model", sorted((PACKAGE / "demo_models").glob("*.tflite")), ids=lambda path: path.name
)
def test_reading_a_model_is_light(model: Path) -> None:
    hold(startup.loaded_by(f"import outlive; outlive.read({str(model)!r})", SOURCE))
