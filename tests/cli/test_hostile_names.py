"""Whatever a file is called and holds, no command sends a terminal, a log or a page a control character."""

from __future__ import annotations

import argparse
import shlex
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

import outlive
from outlive import demo_models
from outlive.cli.main import COMMANDS, build_parser, main
from outlive.surgery import write
from tests.rendering.stage import named, plain, unsafe
from tests.rules.small import dense

# OSC 52 writes to the clipboard, the next three clear, colour and go back; then bidirectional marks.
NAME = (
    "=a\x1b]52;c;aGk=\x07\x1b[2J\x9b95m\b\0\x7f\u202egnp\u2066x\u2069\u2028\nerror[F999]: forged\r</script>"
)
FILE = NAME.replace("\0", "").replace("/", "|")
# How each command is run; `stage` makes what the words in braces stand for.
WORDS = {
    "read": ("{bad} {well}", "{bad} --graph", "{bad} --tensors", "{bad} --ops", "{missing}", "{junk}"),
    "plan": ("{well}", "{well} --input {name}=2x4", "{well} --ram {name} --plot {out}.svg", "{missing}"),
    "check": ("{bad} {well}", "{junk} {missing}", "{well} --select {name}", "{well} --also github={out}"),
    "run": ("{well}", "{well} --input {name}=zeros", "{well} --input {name}", "{bad}", "{missing}"),
    "diagnose": ("{bad} --bundle {out}.zip", "{missing}", "{deadly} --reduce {out}.tflite"),
    "delegates": ("{well} --only reference,xnnpack", "{well} --only {name}", "{bad}", "{missing}"),
    "report": ("{well} -o {out}", "{bad} -o {out} --no-run", "{well} -o {missing}/x.html"),
    "autopsy": ("{log}", "{missing}"),
    "cut": (
        "{well} --ops 0 -o {out}.tflite", "{well} --ops 0 --make-input {name} -o {out}.tflite",
        "{well} --outputs {name} -o {out}", "{missing} -o {out}",
    ),
    "compare": ("{well} {well} --csv {out}.csv --node-data {out} --plot {out}.svg", "{well} {missing}"),
    "quantize": (
        "{well} --recipe dynamic-int8 -o {out}.tflite", "{well} --recipe {name} -o {out}", "{bad} -o {out}",
        "{missing} -o {out}",
    ),
    "convert": (
        "{steps}::scale --signature 4:float32 -o {out}.tflite", "{steps}::{name} -o {out}",
        "{missing} -o {out}", "{missing}.py::{name} -o {out}", "{well} -o {out} --setting {name}",
        "{well} -o {out} --signature {name}",
    ),
    "fit": ("{well} --ram 100MB --no-cache -o {fitted}", "{well} --ram {name}", "{missing} --ram 1MB"),
    "help": ("plan", "{name}", "--man"),
    "completion": ("bash", "{name}", "zsh", "fish"),
    "export": ("{well} --tflm -o {out}", "{well} --tflm --name {name} -o {out}", "{missing} --tflm -o {out}"),
    "snippet": (
        "{well}", "{well} --lang c++", "{well} --lang c", "{well} --lang java -o {out}.java",
        "{well} --signature x", "{missing}",
    ),
    "scan": ("{folder} -o {out}.csv -o {out}.html", "{missing}", "{folder} -o {name}.txt"),
    "leak": ("{well} --repeat 6 --cycle invoke", "{missing}", "{missing}.py::{name}"),
    "guard": ("{script} {name}", "{missing}"),
    "blackbox": ("last", "list", "show {name}"),
    "notebook": ("status --profile {name}",),
    "explain": ("{name}",),
    "devices": ("",),
    "doctor": ("",),
    "demo": ("--copy {folder}", "--copy {junk}"),
    "{name}": ("", "x", "--{name}"),
    "{well}": ("", "--{name}"),
}  # fmt: skip
_BINARY = (".tflite", ".npz", ".zip")
_NO_SUCH = ("{name}", "explain")


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Files whose names and contents are hostile, by the word that stands for each."""
    folder = tmp_path / f"{FILE}d"
    (folder / "out").mkdir(parents=True)
    signature = {"signature_key": NAME, "inputs": [{"name": NAME, "tensor_index": 0}]}
    well = dense(
        x={"name": NAME}, y={"name": f"{NAME}y"}, weights={"name": NAME}, description=NAME,
        signature_defs=[signature | {"outputs": [{"name": NAME, "tensor_index": 2}]}],
    )  # fmt: skip
    deadly = demo_models.path("deadly").read_bytes()
    log = f"Fatal Python error: Segmentation fault\n{NAME}\nRuntimeError: {NAME} ({NAME}) failed to invoke\n"
    script = f"import os, sys\nos.close(1); os.close(2)\n{NAME.splitlines()[0]!r}\nos.abort()\n"
    content = {"bad": named(NAME), "well": write(well), "junk": NAME.encode(), "log": log.encode(),
               "script": script.encode(), "deadly": deadly}  # fmt: skip
    for word, data in content.items():
        (folder / f"{FILE}{word}").write_bytes(data)
    steps = folder / f"{FILE}steps.py"
    steps.write_text("def scale(x):\n    return x * 2\n")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("OUTLIVE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OUTLIVE_BLACKBOX_DIR", str(tmp_path / "box"))
    paths = {word: str(folder / f"{FILE}{word}") for word in (*content, "missing")}
    return {**paths, "folder": str(folder), "out": str(folder / "out" / FILE), "name": FILE,
            "steps": str(steps), "fitted": str(folder / "out" / "fitted")}  # fmt: skip


def formats(command: str) -> tuple[str, ...]:
    """The formats a command offers, as its parser knows them; one that is no command has the default."""
    (commands,) = (item for item in build_parser()._actions if isinstance(item, argparse._SubParsersAction))
    parser = commands.choices.get(command)
    options = parser._option_string_actions if parser else {}
    return tuple(options["--format"].choices) if "--format" in options else ("",)


def lines(command: str, stage: dict[str, str]) -> Iterator[list[str]]:
    """Every line of words the command is run with: each case in each format."""
    quoted = {word: shlex.quote(text) for word, text in stage.items()}
    for case in WORDS[command]:
        for name in formats(command):
            chosen = f" --format {name}" if name else ""
            yield shlex.split(f"{command} {case}{chosen}".format(**quoted))


def written(folder: Path) -> str:
    """What the files hold that the command wrote."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.suffix not in _BINARY]
    return "".join(path.read_text(encoding="utf-8", errors="replace") for path in files)


def test_every_command_is_run() -> None:
    assert set(COMMANDS) <= set(WORDS), "say in WORDS how the new command is run"


@pytest.mark.parametrize("command", WORDS)
def test_no_command_lets_a_control_character_out(
    command: str, stage: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    codes = []
    for words in lines(command, stage):
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            codes.append(main(words))
        seen = capfd.readouterr()
        said = seen.out + seen.err + "".join(str(one.message) for one in warned)
        told = f"{shlex.join(words).replace(stage['folder'], '')}\n{said}"
        assert codes[-1] != 70, told
        assert unsafe(said) == set(), told
        assert not any(line.startswith("error[F999]") for line in said.splitlines()), told
        assert unsafe(written(Path(stage["folder"]) / "out")) == set(), told
    assert (codes[0] == 2) == (command in _NO_SUCH), "its first case is one that works"


def results(stage: dict[str, str]) -> Iterator[object]:
    """What the public verbs give, and the errors they raise."""
    well, bad = stage["well"], stage["bad"]
    model = outlive.read(well)
    yield from (model, *model.inputs, *model.operators(), *model.signatures, *model.subgraphs)
    for verb in (outlive.check, outlive.plan, outlive.run, outlive.diagnose):
        yield verb(well)
    yield from (finding for path in (well, bad, stage["junk"]) for finding in outlive.check(path))
    yield from (outlive.diagnose(bad), outlive.diagnose(stage["deadly"]), outlive.read(bad, tolerant=True))
    yield from (
        outlive.cut(well, ops=0),
        outlive.compare(well, well),
        outlive.probe(well, only=["reference"]),
    )
    yield from (outlive.scan(well), *outlive.scan(stage["folder"]))
    yield from (outlive.leak(well, cycle="invoke", repeat=6), outlive.Interpreter(well))
    yield outlive.Limits(memory="1MB", seconds=300)


def failures(stage: dict[str, str]) -> Iterator[Callable[[], object]]:
    """Calls that are refused."""
    well, bad, missing, junk = (stage[word] for word in ("well", "bad", "missing", "junk"))
    for path in (missing, junk, bad):
        yield from (partial(verb, path) for verb in (outlive.read, outlive.plan, outlive.Interpreter))
        yield from (partial(outlive.compare, well, path), partial(outlive.cut, path, ops=0))
    yield partial(outlive.run, bad, {NAME: 1})
    yield partial(outlive.plan, well, inputs={f"{NAME}z": (1, 4)})
    yield partial(outlive.plan, well, accelerator=NAME)
    yield partial(outlive.check, well, device=NAME)
    yield partial(outlive.cut, well, outputs=[f"{NAME}z"])
    yield partial(outlive.explain, NAME)
    yield partial(outlive.quantize, well, NAME)


def test_no_result_shows_a_control_character(stage: dict[str, str]) -> None:
    for result in results(stage):
        assert unsafe(f"{result}{result!r}") == set(), type(result)


def test_no_error_shows_a_control_character(stage: dict[str, str]) -> None:
    raised = []
    for call in failures(stage):
        try:
            call()
        except Exception as error:
            raised.append(error)
    assert {type(error).__name__ for error in raised} >= {"ModelError", "InputError", "ValueError"}
    for one in raised:
        assert unsafe(f"{one}{one!r}") == set(), type(one)
        assert not any(line.startswith("error[F999]") for line in str(one).splitlines())


def test_a_name_that_was_not_escaped_comes_no_further_than_the_console() -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table("head")
    table.add_row(NAME)
    assert unsafe(plain([NAME, Text(NAME), table])) == set()
