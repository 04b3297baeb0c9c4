"""JUnit XML, GitLab code quality and Markdown: what services need is there, and no name breaks out of it."""

from __future__ import annotations

import json
import os
import re
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from junitparser import Failure, JUnitXml, TestSuite

from outlive import demo_models
from outlive.cli.main import main
from outlive.rendering.media import markdown
from outlive.rendering.media.markdown import escape

NASTY = "<img src=x onerror=alert(1)> | `a` \u202e]]> & **b**.tflite"
SEVERITIES = {"info", "minor", "major", "critical", "blocker"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Models below a folder: good, wasteful, deadly, one with a nasty name, one that is none."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "outlive.toml").write_text('ignore = {M105 = "<b>because</b>"}\n')
    (tmp_path / "models").mkdir()
    for name in ("healthy_int8", "wasteful", "deadly"):
        shutil.copy(demo_models.path(name), tmp_path / "models" / f"{name}.tflite")
    shutil.copy(demo_models.path("deadly"), tmp_path / NASTY)
    (tmp_path / "none.tflite").write_bytes(b"\x00\x01")
    return tmp_path


def told(capsys: pytest.CaptureFixture[str], name: str, *words: str) -> str:
    files = [*(f"models/{model}.tflite" for model in ("healthy_int8", "wasteful", "deadly")), NASTY]
    assert main(["check", *files, "none.tflite", "--format", name, *words]) == 1
    return capsys.readouterr().out


def test_junit_is_read_by_another_program(capsys: pytest.CaptureFixture[str]) -> None:
    read = JUnitXml.fromstring(told(capsys, "junit").encode())
    suites = {suite.name: suite for suite in read if isinstance(suite, TestSuite)}
    assert len(suites) == 5
    good, bad = suites["models/healthy_int8.tflite"], suites["models/deadly.tflite"]
    assert (good.tests, good.failures, [case.name for case in good]) == (1, 0, ["check"])
    assert bad.failures == bad.tests >= 1
    (first, *_) = bad
    assert isinstance(first.result[0], Failure)
    assert first.result[0].type == first.name.split()[0]
    assert "deadly.tflite" not in first.name
    assert "error[" in first.result[0].text


def test_junit_counts_agree_with_what_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    root = ET.fromstring(told(capsys, "junit"))
    assert root.tag == "testsuites"
    for suite in root:
        cases = suite.findall("testcase")
        assert int(suite.attrib["tests"]) == len(cases) > 0
        assert int(suite.attrib["failures"]) == len(suite.findall("testcase/failure"))
        assert {"errors", "skipped", "time", "name"} <= suite.attrib.keys()
        assert all({"name", "classname", "file", "time"} <= case.attrib.keys() for case in cases)
        # No case stands twice: services tell them apart by name.
        assert len({case.attrib["name"] for case in cases}) == len(cases)
    for name in ("tests", "failures", "errors"):
        assert int(root.attrib[name]) == sum(int(suite.attrib[name]) for suite in root)


def test_junit_fails_for_warnings_only_if_they_are_to(capsys: pytest.CaptureFixture[str]) -> None:
    tight = ("--ram", "420KB", "--accelerator", "builtin")
    loose = ET.fromstring(told(capsys, "junit", *tight))
    strict = ET.fromstring(told(capsys, "junit", "--strict", *tight))
    assert int(strict.attrib["failures"]) > int(loose.attrib["failures"])
    assert "warning[" in "".join(node.text or "" for node in loose.iter("system-out"))


def test_gitlab_has_the_fields_that_gitlab_needs(capsys: pytest.CaptureFixture[str]) -> None:
    issues = json.loads(told(capsys, "gitlab"))
    assert issues
    for issue in issues:
        assert {"description", "check_name", "fingerprint", "severity", "location"} <= issue.keys()
        assert issue["severity"] in SEVERITIES
        assert issue["location"]["lines"]["begin"] == 1
        assert not issue["location"]["path"].startswith(("/", "./"))
        assert re.fullmatch("[0-9a-f]+", issue["fingerprint"])
    marks = [issue["fingerprint"] for issue in issues]
    assert len(set(marks)) == len(marks)
    assert [issue["fingerprint"] for issue in json.loads(told(capsys, "gitlab"))] == marks


def test_gitlab_of_nothing_is_an_empty_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "models/healthy_int8.tflite", "--select", "Q", "--format", "gitlab"]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_markdown_has_a_row_for_each_model(capsys: pytest.CaptureFixture[str]) -> None:
    page = told(capsys, "markdown", "--ram", "1GB")
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    assert len(rows) == 2 + 5
    assert len({line.count("|") for line in rows}) == 1
    assert "5 models, 3 with errors" in page
    assert "fits" in page


def test_no_name_breaks_out_of_markdown(capsys: pytest.CaptureFixture[str]) -> None:
    page = told(capsys, "markdown")
    outside = re.sub(r"^(`{3,})text\n.*?^\1$", "", page, flags=re.MULTILINE | re.DOTALL)
    assert "<img" not in outside
    assert "<b>" not in outside
    assert "\u202e" not in page
    assert set(re.findall(r"<(/?\w+)", outside)) <= {"details", "/details", "summary", "/summary"}


def test_words_stay_words() -> None:
    assert escape("a|b<c>`d`") == "a&#124;b&#60;c&#62;&#96;d&#96;"
    assert escape("a_b __c__ *d* [e](f)") == "a_b &#95;&#95;c&#95;&#95; &#42;d&#42; &#91;e&#93;(f)"


def test_markdown_stays_below_what_github_takes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(markdown, "_MOST_BYTES", 3000)
    page = told(capsys, "markdown")
    assert len(page.encode()) < 3200
    assert "left out" in page


def test_several_formats_from_one_check(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--also", "junit=a.xml", "--also", "sarif=a.sarif", "--also", "text=a.txt")
    out = told(capsys, "github", *words)
    assert out.startswith("::")
    assert ET.parse(folder / "a.xml").getroot().tag == "testsuites"
    assert json.loads((folder / "a.sarif").read_text())["version"] == "2.1.0"
    assert "error[" in (folder / "a.txt").read_text()


@pytest.mark.parametrize("word", ["junit", "xml=a", "junit=", "=a"])
def test_a_format_that_there_is_not_is_usage(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "models/wasteful.tflite", "--also", word]) == 2
    assert "write FORMAT=FILE" in capsys.readouterr().err


def test_a_report_never_takes_the_place_of_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "models/wasteful.tflite", "--also", "json=models/wasteful.tflite"]) == 2
    assert "overwrite" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["text", "json", "sarif", "github", "gitlab", "junit", "markdown"])
def test_a_name_that_is_no_text_can_be_written(folder: Path, name: str) -> None:
    shutil.copy(demo_models.path("deadly"), os.fsencode(folder) + b"/b\xffd.tflite")
    odd = os.fsdecode(b"b\xffd.tflite")
    assert main(["check", odd, "--format", name, "--output", "one", "--also", f"{name}=two"]) == 1
    assert Path("one").read_bytes() == Path("two").read_bytes()
    assert "O109" in Path("one").read_text("utf-8")
