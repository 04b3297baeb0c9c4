"""`outlive report` and `--format html`: what is written where, and the exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from outlive import demo_models
from outlive.cli.main import main

HEALTHY = str(demo_models.path("healthy"))
DEADLY = str(demo_models.path("deadly"))
TOO_BIG = str(demo_models.path("too_big"))


def embedded(path: Path) -> Any:
    """The document in a page."""
    text = path.read_text("utf-8").split('id="outlive-document">')[1]
    return json.loads(text.split("</script>")[0])


def test_a_healthy_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "report.html"
    assert main(["report", HEALTHY, "-o", str(page), "--repeat", "1"]) == 0
    assert "  runs" in capsys.readouterr().out
    found = embedded(page)
    assert (found["schema"], found["kind"]) == ("outlive/1", "report")
    assert found["verdict"]["word"] == "runs"
    assert found["run"]["died"] is False
    assert found["plan"]["arena_bytes"] is not None
    assert found["diagnose"] is None


def test_a_model_that_dies_is_explained(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    assert main(["report", DEADLY, "-o", str(page)]) == 3
    found = embedded(page)
    assert found["verdict"]["word"] == "crashes: SIGSEGV in invoke"
    assert found["diagnose"]["died"] is True
    assert found["diagnose"]["op"]["index"] == 3


def test_what_does_not_fit_is_said_and_is_exit_4(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    assert (
        main(["report", TOO_BIG, "-o", str(page), "--ram", "64MB", "--no-run", "--accelerator", "builtin"])
        == 4
    )
    found = embedded(page)
    assert found["verdict"]["word"] == "does not fit"
    assert found["run"] is None


def test_a_microcontroller_is_planned_for(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    model = str(demo_models.path("healthy_int8"))
    assert main(["report", model, "-o", str(page), "--device", "raspberry-pi-pico", "--no-run"]) in (0, 4)
    assert embedded(page)["plan"]["accelerator"] == "tflm"


def test_without_output_it_goes_beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["report", HEALTHY, "--no-run"]) == 0
    assert embedded(tmp_path / "healthy.html")["run"] is None


def test_a_reference_that_dies_does_not_cost_the_rest(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    assert main(["report", HEALTHY, "-o", str(page), "--reference", DEADLY, "--repeat", "1"]) == 1
    found = embedded(page)
    assert found["run"]["died"] is False
    assert found["compare"] is None
    assert any(item["code"] == "O109" for item in found["findings"])  # why the reference died


def test_json_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", HEALTHY, "--no-run", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["kind"] == "report"


def test_in_short(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", HEALTHY, "--no-run", "--format", "text"]) == 0
    text = capsys.readouterr().out
    assert "healthy.tflite  no error found\n" in text
    assert "Needs about" in text
    assert "note[M107]" in text


def test_a_file_that_is_no_model_has_a_page_too(tmp_path: Path) -> None:
    wrong, page = tmp_path / "page.tflite", tmp_path / "report.html"
    wrong.write_text("<!DOCTYPE html><html>404</html>")
    assert main(["report", str(wrong), "-o", str(page)]) == 1
    assert embedded(page)["check"]["findings"][0]["code"] == "F105"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--samples", "x.npz"], "--reference FLOAT"),
        (["--repeat", "0"], "at least 1"),
        (["--no-run", "--delegates"], "leave --no-run out"),
        (["--device", "no-such-board"], "no-such-board"),
        (["--ram", "much"], "is not a size"),
        (["--input", "nothing.npy"], "nothing.npy"),
    ],
)
def test_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str) -> None:
    page = tmp_path / "report.html"
    assert main(["report", HEALTHY, "-o", str(page), *words]) == 2
    assert said in capsys.readouterr().err
    assert not page.exists()


def test_the_model_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "m.tflite"
    model.write_bytes(Path(HEALTHY).read_bytes())
    assert main(["report", str(model), "-o", str(model)]) == 2
    assert "overwrite" in capsys.readouterr().err
    assert model.read_bytes() == Path(HEALTHY).read_bytes()


def test_a_place_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", HEALTHY, "--no-run", "-o", str(tmp_path / "no" / "such.html")]) == 2
    assert "cannot write" in capsys.readouterr().err


def test_a_broken_file_has_a_page_of_its_plan(tmp_path: Path) -> None:
    half, page = tmp_path / "half.tflite", tmp_path / "plan.html"
    data = Path(HEALTHY).read_bytes()
    half.write_bytes(data[: len(data) // 2])
    assert main(["plan", str(half), "--format", "html", "--output", str(page)]) == 1
    assert embedded(page)["findings"]


def test_a_run_that_is_not_started_has_a_page(tmp_path: Path) -> None:
    page = tmp_path / "run.html"
    words = [
        "run",
        TOO_BIG,
        "--accelerator",
        "builtin",
        "--memory",
        "8MB",
        "--format",
        "html",
        "--output",
        str(page),
    ]
    assert main(words) == 4
    assert embedded(page)["started"] is False


def test_a_page_goes_to_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", HEALTHY, "--format", "html"]) == 0
    assert capsys.readouterr().out.startswith("<!DOCTYPE html>")


def test_a_terminal_is_not_filled_with_a_page(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert main(["plan", HEALTHY, "--format", "html"]) == 2
    assert "-o page.html, or give --open" in capsys.readouterr().err


def test_a_sweep_is_a_table_in_the_page(tmp_path: Path) -> None:
    page = tmp_path / "plan.html"
    assert main(["plan", HEALTHY, "--compare", "builtin,cpu", "--format", "html", "--output", str(page)]) == 0
    assert [row["setting"]["setting"] for row in embedded(page)["compare"]] == ["builtin", "cpu"]
    assert "Settings side by side" in page.read_text("utf-8")


def test_the_whole_demo_leaves_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "demo.html"
    assert main(["demo", "--all", "--report", str(page)]) == 0
    text = capsys.readouterr().out
    for said in (
        "Why does it crash?",
        "What did quantization change?",
        "no leak",
        "F110",
        "How do I make it fit into 400 KB?",
        "got a MemoryError",
    ):
        assert said in text
    assert f"Open this page in a browser: {page}" in text
    assert embedded(page)["diagnose"]["died"] is True


@pytest.mark.corpus
def test_pages_of_all_corpus_models(corpus_models: tuple[Path, ...], tmp_path: Path) -> None:
    """Every file gives a page; what the run adds is tested on the models that ship with outlive."""
    sizes = {}
    for model in corpus_models:
        page = tmp_path / "report.html"
        code = main(["report", str(model), "--no-run", "-o", str(page)])
        assert code in (0, 1), model.name
        assert embedded(page)["model"]["path"] == str(model)
        sizes[model.name] = page.stat().st_size
    assert max(sizes.values()) < 10_000_000
