"""Help texts, topics, the manual page, complaints about wrong words; and every example, run."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from outlive import demo_models
from outlive.cli.commands.help import TOPICS, man_page
from outlive.cli.main import COMMANDS, GROUPS, build_parser, main, module_of, subcommands
from outlive.verbs.demo import copy_demo_models
from tests.cli.processes import run

HEALTHY = str(demo_models.path("healthy"))
Capture = pytest.CaptureFixture[str]
# Commands that print text and nothing else.
TEXT_ONLY = ("help", "completion")
# Examples that need something that a test has not, and what.
NOT_HERE = {
    "--changed": "a git repository",
    "dask://": "a cluster",
    "sudo": "a password",
}
NOT_RUN = {"convert": "it loads TensorFlow for half a minute; tests/verbs runs it"}
# Options whose value is a file that the command writes.
WRITTEN = ("-o", "--output", "--save", "--csv", "--report", "--plot", "--reduce", "--bundle", "--also",
           "--write-baseline")  # fmt: skip


def examples_of(command: str) -> list[list[str]]:
    text = module_of(command).EXAMPLES.partition("Examples:\n")[2]
    lines = [line for line in text.splitlines() if re.match(r"  (\w+ \| )?outlive ", line)]
    return [shlex.split(re.split(r"\s{2,}", line.strip())[0]) for line in lines]


def test_help_has_every_command_in_its_group_and_the_exit_codes(capsys: Capture) -> None:
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    for title, group in GROUPS.items():
        assert f"\n{title}:\n" in text
        for name, summary in group.items():
            assert f"  {name:<11} {summary}\n" in text
    assert "Exit codes: 0 clean, 1 findings of severity error, 2 usage" in " ".join(text.split())


def test_the_program_alone_asks_five_questions(capsys: Capture) -> None:
    assert main([]) == 2
    streams = capsys.readouterr()
    assert streams.out == ""
    questions = [line for line in streams.err.splitlines()[:5] if "?" in line]
    assert len(questions) == 5
    for line in questions:
        words = shlex.split(line.partition("?")[2])
        assert build_parser().parse_args(words[1:]).command in COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_helps_with_examples(command: str, capsys: Capture) -> None:
    assert main([command, "--help"]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"{COMMANDS[command]}.\n\nUsage: outlive {command} [OPTIONS]")
    assert "\nExamples:\n  " in text
    assert re.search(r"-o, --output (FILE|DIR|OUT)\b", text)
    if command not in TEXT_ONLY:
        assert "--format {text,json" in text
        assert "-q, --quiet" in text
        assert "-v, --verbose" in text
    assert ("--open" in text) == ("html" in text.partition("--format")[2].partition("}")[0])


@pytest.mark.parametrize("columns", [60, 80, 120])
@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_the_terminal(
    command: str, columns: int, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert main([*filter(None, [command]), "--help"]) == 0
    for line in capsys.readouterr().out.splitlines():
        # A word that has no space in it cannot be broken.
        assert len(line) <= columns or not line.strip().partition(" ")[2], line


@pytest.mark.parametrize("command", COMMANDS)
def test_every_example_can_be_parsed(command: str) -> None:
    examples = examples_of(command)
    assert examples
    for words in examples:
        start = words.index("outlive")
        if command != "completion" or words[start + 1] == command:
            assert words[start + 1] == command
            assert build_parser().parse_args(words[start + 1 :][: _end(words, start)]).command == command


def _end(words: list[str], start: int) -> int | None:
    return words.index("|", start) - start - 1 if "|" in words[start:] else None


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the demo models, images, a script and a log, in an environment of its own."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    for name, value in {
        "OUTLIVE_CACHE": "cache", "OUTLIVE_BLACKBOX_DIR": "records", "IPYTHONDIR": "ipython",
        "XDG_CONFIG_HOME": "config", "BROWSER": "true",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, str(tmp_path / value) if name != "BROWSER" else "true")
    list(copy_demo_models(here))
    (here / "images").mkdir()
    images = np.random.default_rng(0).random((2, 1, 64, 64, 3), dtype=np.float32)
    for number, image in enumerate(images):
        np.save(here / "images" / f"{number}.npy", image)
    (here / "train.py").write_text("def step():\n    return 1\n", encoding="utf-8")
    line = "Out of memory: Killed process 4242 (python3) total-vm:9000kB, anon-rss:8000kB\n"
    (here / "dmesg.log").write_text(line, encoding="utf-8")
    return here


def runs_here(words: list[str]) -> bool:
    """True if all that an example names is here."""
    if any(word.startswith(tuple(NOT_HERE)) for word in words) or "|" in words:
        return False
    for before, word in zip(["", *words], words, strict=False):
        name = word.partition("::")[0]
        is_file = re.search(r"\.(tflite|keras|py|npz|npy|json|jsonl|log|txt|so)$|\.\d{4}$|/$", name)
        is_read = is_file and before not in WRITTEN and not word.startswith("-")
        if is_read and not os.path.exists(name.rpartition("=")[2].partition(",")[0]):
            return False
    return True


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in NOT_RUN])
def test_examples_run_on_the_demo_models(
    command: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    done = 0
    for words in examples_of(command):
        if words[:2] != ["outlive", command] or not runs_here(words):
            continue
        code = main(words[1:])
        streams = capfd.readouterr()
        assert code not in (2, 70, 130), f"{shlex.join(words)}: {streams.err}"
        assert streams.out or streams.err or "-o" in words or "--output" in words
        done += 1
    assert done


@pytest.mark.parametrize("name", TOPICS)
@pytest.mark.parametrize("columns", [60, 100])
def test_a_topic_is_shown(name: str, columns: int, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert main(["help", name]) == 0
    text = capsys.readouterr().out
    assert text.startswith(TOPICS[name].partition("\n")[0] + "\n\n")
    wrapped = [line for line in text.splitlines() if not line.startswith("  ")]
    assert all(len(line) <= columns for line in wrapped)


def test_the_topic_on_formats_has_every_format() -> None:
    every = {
        choice
        for command in subcommands(build_parser()).values()
        for action in command._actions
        if action.dest == "format"
        for choice in action.choices or ()
    }
    rows = {line.split()[0] for line in TOPICS["formats"].splitlines() if line.startswith("    ")}
    assert rows == every


def test_the_topic_on_the_environment_has_every_variable() -> None:
    source = Path(demo_models.__file__).parent.parent
    files = [path for path in source.rglob("*.py") if "child" not in path.parts and path.name != "help.py"]
    used = {name for path in files for name in re.findall(r'"(OUTLIVE_[A-Z_]+)"', path.read_text("utf-8"))}
    used = {name for name in used if not name.startswith("OUTLIVE_KERNEL_")}  # from our server to its kernels
    ours = {"OUTLIVE_NVML"}  # for tests of the meter
    assert used - ours <= set(re.findall(r"OUTLIVE_[A-Z_]+", TOPICS["environment"]))


def test_help_on_a_command_is_its_help(capsys: Capture) -> None:
    assert main(["plan", "--help"]) == 0
    expected = capsys.readouterr().out
    assert main(["help", "plan"]) == 0
    assert capsys.readouterr().out == expected


def test_help_alone_lists_the_topics(capsys: Capture) -> None:
    assert main(["help"]) == 0
    text = capsys.readouterr().out
    assert [name for name in (*TOPICS, *COMMANDS) if f"\n  {name}" not in text] == []


def test_an_unknown_topic_gets_a_hint(capsys: Capture) -> None:
    assert main(["help", "formts"]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert first == "outlive help: unknown topic 'formts'; did you mean formats?"
    assert all(name in second for name in TOPICS)


def test_the_manual_page_has_every_command_option_and_topic(capsys: Capture) -> None:
    assert main(["help", "--man"]) == 0
    text = capsys.readouterr().out
    plain = text.replace("\\-", "-")
    for name, command in subcommands(build_parser()).items():
        assert f".SS outlive {name}\n" in text
        for action in command._actions:
            if action.help != argparse.SUPPRESS and action.dest != "help":
                assert all(option in plain for option in action.option_strings)
    for topic in TOPICS.values():
        assert f'.SH "{topic.partition(chr(10))[0].upper()}"' in plain


@pytest.mark.skipif(shutil.which("man") is None, reason="man is not installed here")
def test_man_accepts_the_manual_page(tmp_path: Path) -> None:
    page = tmp_path / "outlive.1"
    assert run("help", "--man", "--output", str(page)).returncode == 0
    done = subprocess.run(
        ["man", "--warnings", "-E", "ascii", "-l", str(page)],
        env={**os.environ, "MANWIDTH": "100", "PAGER": "cat"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stderr == ""
    assert "Plan the memory of a model" in done.stdout


def complaint(capsys: Capture, *words: str) -> list[str]:
    """The lines of a complaint about wrong words."""
    assert main(list(words)) == 2
    streams = capsys.readouterr()
    assert streams.out == ""
    return streams.err.splitlines()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("plan MODEL --rma 3MB", "outlive plan: unknown option --rma; did you mean --ram?"),
        ("plan MODEL --frmat=json", "outlive plan: unknown option --frmat; did you mean --format?"),
        ("plan MODEL --format jsn", "outlive plan: --format: unknown value 'jsn'; did you mean json?"),
        ("quantize MODEL --ouput x", "outlive quantize: unknown option --ouput; did you mean --output?"),
        ("read MODEL --nope", "outlive read: unknown option --nope"),
        ("read", "outlive read: missing FILE"),
        ("plan MODEL --batch x", "outlive plan: --batch: 'x' is not a whole number"),
        ("plan MODEL --ram", "outlive plan: --ram needs a value"),
        ("plan MODEL --ram 1MB --here", "outlive plan: --here cannot be combined with --ram"),
        ("plan MODEL other", "outlive plan: unexpected argument 'other'"),
        ("run MODEL --accelerator xnn", "outlive run: --accelerator: unknown value 'xnn'; choose from cpu, "),
        ("notebook instal", "outlive notebook: ACTION: unknown value 'instal'; did you mean install?"),
    ],
)
def test_wrong_words_take_three_lines_with_a_hint(words: str, said: str, capsys: Capture) -> None:
    *first, usage, more = complaint(capsys, *words.replace("MODEL", HEALTHY).split())
    command = words.split(maxsplit=1)[0]
    assert len(first) <= 2  # a long list of values takes a second line in 80 columns
    assert " ".join(map(str.strip, first)).startswith(said)
    assert usage.startswith(f"Usage: outlive {command} [OPTIONS]")
    assert more == f"Help: outlive {command} --help"


def test_a_wrong_word_cannot_write_to_the_terminal(capsys: Capture) -> None:
    first, *_ = complaint(capsys, "read", HEALTHY, "--\x1b[31mred")
    assert "\x1b" not in first


@pytest.mark.parametrize(
    ("word", "hint"), [("raed", "; did you mean read?"), ("chekc", "; did you mean check?"), ("qqqq", "")]
)
def test_an_unknown_command_gets_a_hint(word: str, hint: str, capsys: Capture) -> None:
    first, usage, more = complaint(capsys, word)
    assert first == f"outlive: unknown command '{word}'{hint}"
    assert (usage, more) == ("Usage: outlive [OPTIONS] COMMAND ...", "Help: outlive --help")


def test_the_wheel_holds_this_manual_page() -> None:
    root = Path(__file__).resolve().parents[2]
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    (page,) = re.findall(r'^"(.*)" = "share/man/man1/outlive\.1"$', text, re.MULTILINE)
    assert (root / page).read_text(encoding="utf-8") == man_page(build_parser())
