"""Completion in real shells: commands, options, values that have a name, and models."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
from pathlib import Path

import pytest

from outlive.cli.commands.completion import SHELLS, completion_script
from outlive.cli.main import COMMANDS, build_parser, main

CASES = [
    ("outlive re", ["read", "report"]),
    ("outlive read --fo", ["--format"]),
    ("outlive demo --co", ["--copy"]),
    ("outlive --ver", ["--version"]),
    ("outlive plan --device raspberry-pi-pico", ["raspberry-pi-pico", "raspberry-pi-pico-2"]),
    ("outlive check a.tflite --format sa", ["sarif"]),
    ("outlive quantize a.tflite --recipe static", ["static-int16x8", "static-int8"]),
    ("outlive check --select O10", [f"O10{n}" for n in range(1, 10)]),
    ("outlive explain Q10", None),
    ("outlive help exit", ["exit-codes"]),
    ("outlive blackbox cl", ["clear"]),
    ("outlive read mod", ["model.tflite"]),
]


def needs(shell: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(shell) is None, reason=f"{shell} is not installed here")


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    parser = build_parser()
    folder = tmp_path_factory.mktemp("scripts")
    found = {}
    for shell in SHELLS:
        path = folder / shell
        path.write_text(completion_script(shell, parser), encoding="utf-8")
        found[shell] = str(path)
    return found


def check_offer(offered: list[str], expected: list[str] | None) -> None:
    """What is expected is offered and nothing else; None stands for some code that begins so."""
    if expected is None:
        assert offered
        assert all(word.startswith("Q10") for word in offered)
    else:
        assert sorted(offered) == expected


def bash_offers(script: str, folder: Path, words: list[str]) -> list[str]:
    typed = " ".join(f"'{word}'" for word in words)
    lines = [
        f"source {script}",
        f"COMP_WORDS=({typed}) COMP_CWORD={len(words) - 1}",
        "$(complete -p outlive | sed 's/.* -F \\([^ ]*\\) .*/\\1/')",
        r'printf "%s\n" "${COMPREPLY[@]}"',
    ]
    command = ["bash", "--norc", "-c", "\n".join(lines)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return [line for line in done.stdout.splitlines() if line]


@needs("bash")
@pytest.mark.parametrize(("typed", "expected"), CASES)
def test_bash_completes(
    typed: str, expected: list[str] | None, scripts: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "model.tflite").touch()
    (tmp_path / "model.txt").touch()
    check_offer(bash_offers(scripts["bash"], tmp_path, typed.split()), expected)


@needs("bash")
def test_bash_completes_other_words(scripts: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "my model.tflite").touch()
    (tmp_path / "log.txt").touch()
    script = scripts["bash"]
    assert bash_offers(script, tmp_path, ["outlive", "read", "my"]) == ["my model.tflite"]
    # Any file, where no model matches.
    assert bash_offers(script, tmp_path, ["outlive", "autopsy", "lo"]) == ["log.txt"]
    # bash makes three words of --format=js.
    assert bash_offers(script, tmp_path, ["outlive", "plan", "--format", "=", "js"]) == ["json"]
    assert "json" in bash_offers(script, tmp_path, ["outlive", "plan", "--format", "="])


@needs("fish")
@pytest.mark.parametrize(("typed", "expected"), CASES)
def test_fish_completes(
    typed: str, expected: list[str] | None, scripts: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "model.tflite").touch()
    line = f"source {scripts['fish']}; complete -C '{typed}'"
    home = {**os.environ, "HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    done = subprocess.run(
        ["fish", "--no-config", "-c", line],
        cwd=tmp_path,
        env=home,
        capture_output=True,
        text=True,
        check=True,
    )
    offered = [row.split("\t")[0] for row in done.stdout.splitlines()]
    check_offer(offered, expected)


@needs("zsh")
@pytest.mark.parametrize(("typed", "expected"), CASES)
def test_zsh_completes(
    typed: str, expected: list[str] | None, scripts: dict[str, str], tmp_path: Path
) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / "model.tflite").touch()
    one = expected is not None and len(expected) == 1
    wanted = [f"{typed.rpartition(' ')[0]} {expected[0]}"] if expected and one else expected or ["Q101"]
    assert zsh_shows(scripts["zsh"], folder, typed, wanted)


def zsh_shows(script: str, folder: Path, typed: str, wanted: list[str]) -> bool:
    """True if a terminal with zsh shows all these words after the keys and a tab."""
    pid, terminal = pty.fork()
    if pid == 0:  # the shell
        os.chdir(folder)
        os.execvpe(
            "zsh", ["zsh", "-f", "-i"], {**os.environ, "TERM": "dumb", "COLUMNS": "200", "LINES": "60"}
        )
    try:
        options = "autoload -U compinit; compinit -D; setopt auto_list no_list_ambiguous"
        setup = f"{options}; source {script}; print load''ed\n"
        os.write(terminal, setup.encode())
        assert _seen(terminal, ["loaded"])
        os.write(terminal, f"{typed}\t".encode())
        return _seen(terminal, wanted)
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        os.close(terminal)


def _seen(terminal: int, words: list[str]) -> bool:
    """True as soon as the terminal has shown all these words; False if it falls silent before."""
    seen = ""
    while select.select([terminal], [], [], 20)[0]:
        seen += os.read(terminal, 65536).decode(errors="replace").replace("\r", "").replace("\x07", "")
        if all(word in seen for word in words):
            return True
    return False


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_printed_under_both_names(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    new = capsys.readouterr().out
    assert main(["--completion", shell]) == 0
    assert capsys.readouterr().out == new
    assert all(name in new for name in COMMANDS)


def test_an_unknown_shell_gets_a_hint(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "bsh"]) == 2
    assert "did you mean bash?" in capsys.readouterr().err
