"""`[tool.outlive]` and outlive.toml: found upwards, overruled by the command line, wrong ones told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from outlive import demo_models
from outlive.cli.main import main
from outlive.project.config import CheckSettings, Config, ConfigError, Override, find_config


def put(folder: Path, text: str, name: str = "pyproject.toml") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def told(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> list[str]:
    """The codes that `outlive check` finds in the wasteful model."""
    model = str(demo_models.path("wasteful"))
    assert main(["check", model, *words, "--format", "json"]) == code
    return [finding["code"] for finding in json.loads(capsys.readouterr().out)["findings"]]


def test_every_key_is_read(tmp_path: Path) -> None:
    text = """
[tool.outlive]
select = ["M"]
ram = "1MB"
strict = true
accelerator = "builtin"
expect = "int8"
exclude = "broken/"

[tool.outlive.ignore]
M101 = "weights are streamed"

[tool.outlive.tolerances]
peak = "5%"
latency = 0.5

[[tool.outlive.overrides]]
files = ["pico/*.tflite", "nano/**"]
device = ["raspberry-pi-pico", "esp32"]
ignore = ["M102"]
"""
    path = put(tmp_path, text)
    assert find_config(tmp_path) == Config(
        path=path,
        settings=CheckSettings(
            select=("M",),
            ignore=("M101",),
            ram="1MB",
            accelerator="builtin",
            expect="int8",
            reasons=(("M101", "weights are streamed"),),
        ),
        strict=True,
        exclude=("broken/",),
        tolerances={"peak": 0.05, "latency": 0.5},
        overrides=(
            Override(
                files=("pico/*.tflite", "nano/**"),
                settings=CheckSettings(devices=("raspberry-pi-pico", "esp32"), ignore=("M102",)),
            ),
        ),
    )


def test_the_nearest_that_says_something_about_us_counts(tmp_path: Path) -> None:
    above = put(tmp_path, '[tool.outlive]\ndevice = "rp2040"\n')
    below = tmp_path / "a" / "b"
    put(tmp_path / "a", "[tool.other]\nx = 1\n")
    below.mkdir()
    assert find_config(below).path == above
    near = put(below, "[tool.outlive]\n")
    assert find_config(below).path == near


def test_the_file_of_our_own_goes_first(tmp_path: Path) -> None:
    put(tmp_path, '[tool.outlive]\nram = "1MB"\n')
    own = put(tmp_path, 'ram = "2MB"\n', "outlive.toml")
    assert find_config(tmp_path) == Config(path=own, settings=CheckSettings(ram="2MB"))


def test_a_device_file_is_named_from_the_configuration(tmp_path: Path) -> None:
    put(tmp_path, '[tool.outlive]\ndevice = "boards/mine.toml"\n')
    (tmp_path / "deep").mkdir()
    assert find_config(tmp_path / "deep").settings.devices == (str(tmp_path / "boards" / "mine.toml"),)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("selct = ['M']", "there is no key 'selct'; did you mean select?"),
        ("colour = 1", "the keys are select, ignore"),
        ("select = 'M'", "select is a list of texts"),
        ("select = [1]", "select is a list of texts"),
        ("ignore = 3", "ignore is a list of texts"),
        ("ignore = {M101 = ''}", "ignore.M101 is the reason as a text"),
        ("ignore = {M101 = 1}", "ignore.M101 is the reason as a text"),
        ("device = [1]", "device is a text"),
        ("expect = 1", 'expect is a text such as "int8-io"'),
        ("exclude = [1]", "exclude is a pattern"),
        ("exclude = ['']", "exclude is a pattern"),
        ("tolerances = 1", "tolerances is a table of peak, latency, outputs"),
        ("tolerances = {peek = 1}", "did you mean peak?"),
        ("tolerances = {peak = 'much'}", 'tolerances.peak is a share such as 0.05 or "5%", not a text'),
        ("tolerances = {peak = -1}", "tolerances.peak is a share"),
        ("tolerances = {peak = true}", "tolerances.peak is a share"),
        ("tolerances = {peak = nan}", "tolerances.peak is a share"),
        ("overrides = 1", "overrides are tables"),
        ("overrides = [{ram = '1MB'}]", "overrides 1: says no files"),
        ("overrides = [{files = 'a', rom = '1MB'}]", "overrides 1: there is no key 'rom'; did you mean ram?"),
        ("overrides = [{files = 'a', ram = '1MB', device = 'b'}]", "overrides 1: has both device and ram"),
        ("device = 5", "device is a text"),
        ("ram = 64", 'ram is a text such as "64MB", not 64'),
        ("strict = 'yes'", "strict is true or false, not a text"),
        ("ram = '1MB'\ndevice = 'rp2040'", "both device and ram"),
        ("ram = ", "is not TOML"),
    ],
)
def test_what_is_wrong_is_told_with_its_file(tmp_path: Path, text: str, said: str) -> None:
    path = put(tmp_path, f"[tool.outlive]\n{text}\n")
    with pytest.raises(ConfigError) as caught:
        find_config(tmp_path)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_table_that_is_none_is_told(tmp_path: Path) -> None:
    put(tmp_path, "[tool]\noutlive = 3\n")
    with pytest.raises(ConfigError, match="is a table"):
        find_config(tmp_path)


def test_text_that_is_not_utf8_is_told(tmp_path: Path) -> None:
    (tmp_path / "outlive.toml").write_bytes(b"ram = '\xff'")
    with pytest.raises(ConfigError, match="is not TOML"):
        find_config(tmp_path)


def test_the_command_line_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    put(tmp_path, '[tool.outlive]\nselect = ["M101"]\nram = "1KB"\n')
    assert told(capsys) == ["M101"]
    assert told(capsys, "--select", "M102") == ["M102"]
    assert told(capsys, "--select", "M2", code=4) == ["M201"]
    assert "M201" not in told(capsys, "--select", "M2", "--ram", "1GB")
    assert "M201" not in told(capsys, "--select", "M2", "--device", "raspberry-pi-zero-2-w")
    assert len(told(capsys, "--no-config")) > 2


def test_a_wrong_configuration_is_usage_and_can_be_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    put(tmp_path, "[tool.outlive]\nselct = []\n")
    model = str(demo_models.path("wasteful"))
    assert main(["check", model]) == 2
    assert "did you mean select?" in capsys.readouterr().err
    assert main(["check", model, "--no-config"]) == 0
