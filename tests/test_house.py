"""outlive keeps its rules: layers, judges, sizes, names, words, catalogue, a quick start.

The checks live in `tests/house/`, with tests that plant each fault and see it found.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.house import (
    clocks,
    handing,
    layers,
    naming,
    places,
    platforms,
    rulebook,
    sizes,
    startup,
    surfaces,
    versions,
    words,
)

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

# What is allowed for good. A small module may be worth its file: a table, or code that is loaded alone.
ALLOWED = {surfaces.small_modules_with_one_importer: 10}


def hold(problems: list[str], most: int = 0) -> None:
    """Fail with one problem per line if there are more than so many."""
    if len(problems) > most:
        head = [f"{len(problems)}, and at most {most} are allowed:"] if most else []
        pytest.fail("\n".join([*head, *problems]), pytrace=False)


@pytest.mark.parametrize(
    "check",
    [
        layers.unknown_packages,
        layers.imports_not_going_down,
        layers.import_cycles,
        handing.kept_parameters,
        handing.workers_without_judge,
        platforms.posix_names,
        platforms.imports_out_of_child,
        platforms.imports_past_the_choice,
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


@pytest.mark.parametrize(
    "check",
    [clocks.clock_assertions, clocks.short_patience, clocks.short_limits, clocks.stale_clock_exceptions],
    ids=lambda check: check.__name__,
)
def test_the_tests_have_no(check: Check) -> None:
    hold(check(TESTS))


@pytest.mark.parametrize("folder", CODE_FOLDERS, ids=lambda folder: folder.name)
@pytest.mark.parametrize(
    "check",
    [sizes.long_modules, sizes.long_functions, sizes.deep_functions, sizes.empty_names],
    ids=lambda check: check.__name__,
)
def test_no_code_has(check: Check, folder: Path) -> None:
    hold(check(folder))


@pytest.mark.parametrize(
    "check",
    [
        naming.class_names_used_twice,
        naming.docstrings_that_point_away,
        naming.file_names_used_twice,
        naming.homely_names,
        naming.homely_prose,
        surfaces.full_folders,
        surfaces.imports_past_the_surface,
        surfaces.small_modules_with_one_importer,
        surfaces.unknown_public_modules,
    ],
    ids=lambda check: check.__name__,
)
def test_the_package_has_few(check: Check) -> None:
    hold(check(PACKAGE), ALLOWED.get(check, 0))


def test_a_bound_holds_and_no_more() -> None:
    hold(["one", "two"], 2)
    with pytest.raises(pytest.fail.Exception, match="3, and at most 2 are allowed"):
        hold(["one", "two", "three"], 2)


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
