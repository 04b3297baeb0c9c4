"""`outlive plan`, as a user types it: real planners, real workers for what only the runtime knows."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import outlive
from outlive import demo_models
from outlive.cli.main import main
from tests.arena.builtin_models import waiting
from tests.cli.processes import run, run_on_terminal


def path(name: str) -> str:
    return str(demo_models.path(name))


def document(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict[str, Any]:
    """What the command prints as JSON."""
    assert main(["plan", *words, "--format", "json"]) == code
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize("accelerator", ["cpu", "builtin", "reference", "tflm"])
def test_every_accelerator_is_planned(accelerator: str, capsys: pytest.CaptureFixture[str]) -> None:
    plan = document(capsys, path("healthy_int8"), "--accelerator", accelerator)
    assert plan["accelerator"] == accelerator
    assert plan["arena_bytes"] > 0
    assert plan["peak_bytes"] > 0
    assert (plan["min_arena_bytes"] is not None) == (accelerator == "tflm")


def test_the_parts_make_the_peak(capsys: pytest.CaptureFixture[str]) -> None:
    plan = document(capsys, path("healthy"), "--accelerator", "builtin")
    names = ("arena", "persistent", "packed_weights", "workspace", "dynamic", "runtime")
    assert plan["peak_bytes"] == sum(plan[f"{name}_bytes"] for name in names)
    assert plan["total_bytes"] == plan["peak_bytes"] + plan["mapped_bytes"]


def test_what_if_follows_the_batch(capsys: pytest.CaptureFixture[str]) -> None:
    one = document(capsys, path("healthy"), "--accelerator", "builtin")
    four = document(capsys, path("healthy"), "--accelerator", "builtin", "--batch", "4")
    assert four["inputs"][0]["shape"] == [4, 64, 64, 3]
    assert four["arena_bytes"] == 4 * one["arena_bytes"]
    named = document(capsys, path("healthy"), "--accelerator", "builtin", "--input", "image=4x64x64x3")
    assert named["placements"] == four["placements"]


def test_micro_is_told_to_be_converted_anew(capsys: pytest.CaptureFixture[str]) -> None:
    one = document(capsys, path("healthy_int8"), "--accelerator", "tflm")
    two = document(capsys, path("healthy_int8"), "--accelerator", "tflm", "--batch", "2")
    assert two["arena_bytes"] > one["arena_bytes"]
    assert any("cannot resize" in said for said in two["assumed"])


def test_a_sweep_is_one_table(capsys: pytest.CaptureFixture[str]) -> None:
    words = (path("healthy"), "--accelerator", "builtin", "--sweep", "batch=1,2", "--sweep", "image=32,64")
    rows = document(capsys, *words, "--ram", "1MB")["sweep"]
    assert [row["setting"] for row in rows] == [
        {"batch": "1", "image": "32"},
        {"batch": "1", "image": "64"},
        {"batch": "2", "image": "32"},
        {"batch": "2", "image": "64"},
    ]
    assert rows[0]["arena_bytes"] < rows[1]["arena_bytes"] < rows[3]["arena_bytes"]
    assert {row["verdict"] for row in rows} <= {"fits", "tight", "may not fit", "does not fit"}
    assert main(["plan", *words]) == 0
    assert "batch  image" in capsys.readouterr().out


def test_an_impossible_size_in_a_sweep_costs_its_row_only(capsys: pytest.CaptureFixture[str]) -> None:
    rows = document(capsys, path("healthy"), "--sweep", "image=1x64x64x3,1x64x64x5")["sweep"]
    assert rows[0]["problem"] == ""
    assert "cannot be planned" in rows[1]["problem"]
    assert rows[1]["peak_bytes"] is None


def test_settings_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    compared = "builtin,builtin+preserve-all-tensors,cpu,tflm"
    rows = document(capsys, path("healthy"), "--compare", compared)["compare"]
    assert [row["setting"]["setting"] for row in rows] == compared.split(",")
    assert rows[1]["arena_bytes"] > rows[0]["arena_bytes"]


def test_measured_stands_beside_planned(capsys: pytest.CaptureFixture[str]) -> None:
    plan = document(capsys, path("too_big"), "--accelerator", "builtin", "--measure")
    measured = plan["measured"]
    assert [row["stage"] for row in measured["stages"]] == ["load", "allocate", "invoke"]
    assert measured["allocate_bytes"] < 0.1 * measured["invoke_bytes"]  # the arena comes with the run
    assert abs(measured["difference_bytes"]) < 0.1 * plan["peak_bytes"]
    assert measured["explanation"]
    assert "M204" in [finding["code"] for finding in plan["findings"]]


def test_a_run_that_dies_is_told_beside_the_plan(capsys: pytest.CaptureFixture[str]) -> None:
    measured = document(capsys, path("deadly"), "--accelerator", "builtin", "--measure")["measured"]
    assert "SIGSEGV" in measured["problem"]
    assert measured["invoke_bytes"] is None
    assert measured["allocate_bytes"] is not None


def test_too_much_does_not_fit_and_says_what_would(capsys: pytest.CaptureFixture[str]) -> None:
    words = (path("too_big"), "--accelerator", "builtin", "--ram", "64MB")
    plan = document(capsys, *words, code=4)
    assert plan["verdict"]["word"] == "does not fit"
    way = plan["verdict"]["ways"][-1]
    assert way["options"] == ["--accelerator", "builtin", "--input", "image=1x256x256x3"]
    assert way["needed_bytes"] < 64_000_000
    assert [finding["code"] for finding in plan["findings"]] == ["M201", "M204"]
    again = document(capsys, path("too_big"), *way["options"], "--ram", "64MB")
    assert again["verdict"]["needed_bytes"] == way["needed_bytes"]


def test_a_device_brings_its_runtime_and_its_flash(capsys: pytest.CaptureFixture[str]) -> None:
    plan = document(capsys, path("healthy_int8"), "--device", "rp2040")
    assert plan["accelerator"] == "tflm"
    assert plan["verdict"]["word"] == "fits"
    assert plan["verdict"]["budget"]["flash_bytes"] == 2 * 2**20
    nicla = document(capsys, path("healthy"), "--device", "nicla-sense-me", code=4)
    assert nicla["verdict"]["margin_bytes"] < 0
    pi = document(capsys, path("healthy"), "--device", "raspberry-pi-zero-2-w")
    assert (pi["accelerator"], pi["verdict"]["word"]) == ("cpu", "fits")


def test_a_users_device_is_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("runtime = 'tflm'\nram_bytes = 1_000_000\nflash_bytes = 20_000\n")
    plan = document(capsys, path("healthy_int8"), "--device", str(file), code=4)
    assert [finding["code"] for finding in plan["findings"]] == ["M203"]


def test_here_tells_the_limit_and_what_is_free(capsys: pytest.CaptureFixture[str]) -> None:
    plan = document(capsys, path("healthy"), "--here")
    budget = plan["verdict"]["budget"]
    assert budget["kind"] == "here"
    assert budget["ram_bytes"] > 0
    assert "limited by" in budget["source"]
    assert main(["plan", path("healthy"), "--here"]) == 0
    assert "free now" in capsys.readouterr().out


def test_what_micro_refuses_is_a_finding_and_no_number(capsys: pytest.CaptureFixture[str]) -> None:
    plan = document(capsys, path("deadly"), "--accelerator", "tflm", code=1)
    assert plan["arena_bytes"] is None
    assert plan["min_arena_bytes"] is None
    assert plan["findings"][0]["code"] == "O301"
    assert "LOCAL_RESPONSE_NORMALIZATION" in json.dumps(plan["findings"])


def test_a_broken_file_has_its_findings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    half = tmp_path / "half.tflite"
    half.write_bytes(demo_models.path("healthy").read_bytes()[:20_000])
    broken = document(capsys, str(half), code=1)
    assert (broken["kind"], broken["findings"][0]["code"]) == ("plan", "F110")
    assert main(["plan", str(half)]) == 1
    assert "error[F110]" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--input", "imgae=1x64x64x3"], "did you mean 'image'"),
        (["--input", "image=1x64x64"], "4 dimensions"),
        (["--input", "image=0x64x64x3"], "no possible shape"),
        (["--input", "image=1x-64x64x3"], "no possible shape"),
        (["--input", "image=1x99999999x99999999x3"], "more than 1,099,511,627,776 elements"),
        (["--input", "image=1x64x64x5"], "cannot be planned"),
        (["--input", "picture"], "is not a shape"),
        (["--batch", "0"], "batch is a number"),
        (["--threads", "0"], "threads is a number"),
        (["--device", "raspbery-pi-zero-2w"], "did you mean raspberry-pi-zero-2-w"),
        (["--device", "rp2040", "--accelerator", "cpu"], "runs TensorFlow Lite Micro"),
        (["--ram", "lots"], "is not a size"),
        (["--ram", "0"], "ram must be larger than 0 bytes"),
        (["--word", "64"], "are for the accelerator tflm"),
        (["--accelerator", "tflm", "--word", "64", "--abi", "cortex-m"], "no words of 64 bits"),
        (["--sweep", "batch"], "is no sweep"),
        (["--compare", "cpu,gpu"], "no accelerator 'gpu'"),
        (["--plot", "plan.pdf"], ".svg or .png"),
        (["--ram", "1MB", "--here"], "--here cannot be combined with --ram"),
    ],
)
def test_bad_words_are_usage(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", path("healthy"), *words]) == 2
    output = capsys.readouterr()
    assert said in output.err
    assert output.out == ""


def test_a_name_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan"]) == 2
    assert "name a model" in capsys.readouterr().err


def test_devices_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--devices"]) == 0
    assert "raspberry-pi-pico" in capsys.readouterr().out
    assert main(["plan", "--devices", "--format", "json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert listed["kind"] == "devices"
    assert len(listed["devices"]) >= 40


def test_a_picture_is_drawn(tmp_path: Path) -> None:
    drawn = tmp_path / "plan.svg"
    assert main(["plan", path("healthy"), "--accelerator", "builtin", "--plot", str(drawn)]) == 0
    text = ElementTree.parse(drawn).getroot()
    titles = [element.text or "" for element in text.iter() if element.tag.endswith("title")]
    assert any(title.startswith("image:") for title in titles)
    assert main(["plan", path("healthy"), "--plot", str(tmp_path / "no" / "plan.svg")]) == 2


def test_the_model_is_not_overwritten(tmp_path: Path) -> None:
    model = tmp_path / "m.svg"
    model.write_bytes(demo_models.path("healthy").read_bytes())
    assert main(["plan", str(model), "--plot", str(model)]) == 2
    assert main(["plan", str(model), "--output", str(model)]) == 2
    assert model.read_bytes() == demo_models.path("healthy").read_bytes()


@pytest.mark.parametrize("columns", [80, 120])
def test_a_terminal_gets_lines_that_fit(columns: int) -> None:
    code, shown = run_on_terminal(
        "plan", path("too_big"), "--accelerator", "builtin", "--ram", "64MB", columns=columns, NO_COLOR="1"
    )
    assert code == 4
    assert "does not fit" in shown
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    assert max(map(len, plain.splitlines())) <= columns


def test_a_pipe_gets_plain_text() -> None:
    done = run("plan", path("healthy"))
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert done.stderr == ""


def test_the_verb_gives_the_same_plan() -> None:
    plan = outlive.plan(demo_models.path("healthy"), accelerator="builtin", batch=2)
    assert plan.inputs == (("image", (2, 64, 64, 3), "float32"),)
    same = outlive.plan(
        outlive.read(demo_models.path("healthy").read_bytes()), "builtin", inputs={"image": "2x64x64x3"}
    )
    assert same.placements == plan.placements
    with pytest.raises(ValueError, match="did you mean 'image'"):
        outlive.plan(demo_models.path("healthy"), inputs={"imag": (1, 2, 3, 4)})
    with pytest.raises(outlive.ModelError):
        outlive.plan(b"no model")


def test_a_hopeless_run_is_not_started() -> None:
    limits = outlive.Limits(memory="100MB")
    with pytest.raises(outlive.LimitReached) as caught:
        outlive.run(demo_models.path("too_big"), accelerator="builtin", limits=limits)
    assert caught.value.finding.code == "M205"
    flight = outlive.run(demo_models.path("too_big"), accelerator="builtin", limits=limits, force=True)
    assert flight.died or flight.error_type


@pytest.mark.parametrize("accelerator", ["cpu", "builtin"])
def test_at_least_never_fits_without_a_word(
    accelerator: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "range.tflite"
    file.write_bytes(waiting())
    plan = document(capsys, str(file), "--accelerator", accelerator, "--ram", "64MB", code=4)
    assert (plan["bound"], plan["exact"], plan["verdict"]["word"]) == ("lower", False, "may not fit")
    assert [item["code"] for item in plan["findings"]] == ["M206"]
    checked = outlive.check(file, ram="64MB", accelerator=accelerator)
    assert "M206" in [finding.code for finding in checked]


def test_less_room_than_plans_are_off_by_is_no_clean_exit(capsys: pytest.CaptureFixture[str]) -> None:
    peak = document(capsys, path("healthy"))["peak_bytes"]
    assert (
        document(capsys, path("healthy"), "--ram", f"{peak - 1}B", code=4)["verdict"]["word"]
        == "does not fit"
    )
    assert document(capsys, path("healthy"), "--ram", f"{peak}B", code=4)["verdict"]["word"] == "may not fit"
    assert (
        document(capsys, path("healthy"), "--ram", f"{peak + 200_000}B")["verdict"]["word"] != "may not fit"
    )
