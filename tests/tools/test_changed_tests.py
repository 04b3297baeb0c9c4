"""`make check` runs the tests that a change concerns, nearest first, within its time."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tools import changed_tests
from tools.changed_tests import Project, base_of, changed_files, choose, concerned

FILES = {
    "src/outlive/__init__.py": "from outlive.verbs import read",
    "src/outlive/units.py": "",
    "src/outlive/verbs/__init__.py": "from outlive.verbs.read import read",
    "src/outlive/verbs/read.py": "from outlive.model.reader import read_source",
    "src/outlive/model/__init__.py": "",
    "src/outlive/model/flat.py": "def late():\n    from outlive import units",
    "src/outlive/model/reader.py": "from outlive.model.flat import Flat\nSCHEMA = 'schema.json'",
    "src/outlive/model/schema.json": "{}",
    "src/outlive/device_data/pico.toml": "",
    "src/outlive/model/boards.py": "FOLDER = 'device_data'",
    "tests/conftest.py": "",
    "tests/test_units.py": "from outlive import units",
    "tests/test_api.py": "import outlive\noutlive.read",
    "tests/test_house.py": "",
    "tests/model/conftest.py": "",
    "tests/model/small.py": "",
    "tests/model/test_flat_bytes.py": "",
    "tests/model/test_reader.py": "from outlive.model.reader import read_source",
    "tests/model/test_shapes.py": "from tests.model.small import small",
    "tests/model/test_boards.py": "",
    "tests/rules/test_rules.py": "",
    "tests/rules/f104/bad.py": "",
    "tests/rules/f104/expected.txt": "",
    "tests/documents/test_documents.py": "",
    "tests/tools/test_build_docs.py": "",
    "tools/build_docs.py": "",
    "benchmarks/speed.py": "",
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")
    return Project.read(tmp_path)


@pytest.mark.parametrize(
    ("path", "near", "far"),
    [
        ("tests/model/test_shapes.py", {"tests/model/test_shapes.py": 0}, set()),
        ("src/outlive/model/reader.py", {"tests/model/test_reader.py": 1}, {"tests/model/test_shapes.py"}),
        (
            "src/outlive/model/flat.py",
            {"tests/model/test_flat_bytes.py": 1, "tests/model/test_reader.py": 2},
            {"tests/model/test_boards.py"},
        ),
        ("src/outlive/model/gone.py", {}, {"tests/model/test_shapes.py"}),
        ("src/outlive/units.py", {"tests/test_units.py": 1, "tests/model/test_flat_bytes.py": 2}, set()),
        ("src/outlive/model/schema.json", {"tests/model/test_reader.py": 1}, {"tests/model/test_boards.py"}),
        ("src/outlive/device_data/pico.toml", {"tests/model/test_boards.py": 1}, set()),
        ("tests/model/small.py", {"tests/model/test_shapes.py": 1}, set()),
        (
            "tests/model/conftest.py",
            {"tests/model/test_shapes.py": 1, "tests/model/test_reader.py": 1},
            set(),
        ),
        ("tests/rules/f104/expected.txt", {"tests/rules/test_rules.py": 1}, set()),
        ("tests/rules/f104/bad.py", {"tests/rules/test_rules.py": 1}, set()),
        ("tools/build_docs.py", {"tests/tools/test_build_docs.py": 1}, set()),
        ("docs/index.md", {"tests/documents/test_documents.py": 1}, set()),
        ("tests/conftest.py", {}, set()),
        ("Makefile", {}, set()),
    ],
)
def test_a_changed_file_has_its_tests(
    project: Project, path: str, near: dict[str, int], far: set[str]
) -> None:
    found = concerned(project, [path])
    assert {test: found.get(test) for test in near} == near
    assert {found.get(test) for test in far} <= {3}
    assert bool(found) == bool(near or far)


def test_the_front_of_the_package_does_not_concern_everything(project: Project) -> None:
    assert "tests/test_api.py" not in concerned(project, ["src/outlive/model/flat.py"])
    assert "tests/test_api.py" not in concerned(project, ["src/outlive/verbs/read.py"])


def test_what_does_not_fit_is_left_out_farthest_first() -> None:
    distances = {"far": 2, "near": 1, "itself": 0, "long": 1, "unknown": 2}
    durations = {"far": 2.0, "near": 3.0, "itself": 4.0, "long": 100.0}
    assert choose(distances, durations, 4.5) == (["itself", "near", "far"], ["long", "unknown"])
    assert choose(distances, durations, 1000.0) == (["itself", "near", "long", "far", "unknown"], [])


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True)


@pytest.fixture
def repository(project: Project) -> Path:
    git(project.root, "init", "-q", "-b", "main")
    for message in ("first", "second"):
        (project.root / "README.md").write_text(message, encoding="utf-8")
        git(project.root, "add", "-A")
        git(project.root, "commit", "-q", "-m", message)
    return project.root


def test_commits_edits_and_new_files_of_a_branch_are_seen(repository: Path) -> None:
    git(repository, "checkout", "-q", "-b", "topic")
    git(repository, "mv", "src/outlive/units.py", "src/outlive/sizes.py")
    git(repository, "commit", "-q", "-m", "third")
    (repository / "tools" / "build_docs.py").write_text("x = 1\n", encoding="utf-8")
    (repository / "new.py").write_text("", encoding="utf-8")
    moved = {"src/outlive/sizes.py", "src/outlive/units.py"}
    assert set(changed_files(repository, base_of(repository))) == {*moved, "new.py", "tools/build_docs.py"}


def test_on_main_what_is_not_committed_counts_else_the_last_commit(repository: Path) -> None:
    assert changed_files(repository, base_of(repository)) == ["README.md"]
    (repository / "new.py").write_text("", encoding="utf-8")
    assert changed_files(repository, base_of(repository)) == ["new.py"]


def test_the_tool_prints_house_tests_and_those_of_the_change(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(changed_tests, "ROOT", repository)
    kept = repository / changed_tests.DURATIONS
    kept.parent.mkdir(parents=True)
    kept.write_text(json.dumps({"tests/model/test_shapes.py": 900.0}), encoding="utf-8")
    (repository / "src/outlive/model/reader.py").write_text("x = 1\n", encoding="utf-8")
    changed_tests.main(["--base", "HEAD"])
    said = capsys.readouterr()
    assert said.out.split()[:3] == ["tests/test_house.py", "tests/house", "tests/model/test_reader.py"]
    assert "left out: tests/model/test_shapes.py (900 s)" in said.err
    assert "tests/model/test_shapes.py" not in said.out
