"""Scripts for shell completion, made from the parser so that they cannot go stale."""

from __future__ import annotations

import argparse

_BASH = """\
# bash completion for outlive: eval "$(outlive --completion bash)"
_outlive() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" words="{top}"
    case "${{COMP_WORDS[1]}}" in
{cases}
    esac
    local name
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    while IFS= read -r name; do COMPREPLY+=("$name"); done < <(compgen -f -- "$current")
}}
complete -o filenames -F _outlive outlive"""

_ZSH = "autoload -U +X bashcompinit && bashcompinit\n"


def completion_script(shell: str, parser: argparse.ArgumentParser) -> str:
    """A script that completes commands, options and file names."""
    commands = subcommands(parser)
    if shell == "fish":
        return "\n".join(_fish_lines(commands))
    cases = "\n".join(
        f'        {name}) words="{" ".join(_options(sub))}" ;;' for name, sub in commands.items()
    )
    bash = _BASH.format(top=" ".join([*commands, *_options(parser)]), cases=cases)
    return _ZSH + bash if shell == "zsh" else bash


def _quoted(text: str | None) -> str:
    """What stands between single quotes in fish, where a backslash escapes them."""
    return (text or "").replace("\\", "\\\\").replace("'", "\\'")


def _fish_lines(commands: dict[str, argparse.ArgumentParser]) -> list[str]:
    lines = ["# fish completion for outlive: outlive --completion fish | source"]
    for name, sub in commands.items():
        lines.append(
            f"complete -c outlive -n __fish_use_subcommand -a {name} -d '{_quoted(sub.description)}'"
        )
        lines += [
            f"complete -c outlive -n '__fish_seen_subcommand_from {name}' -l {option.removeprefix('--')}"
            for option in _options(sub)
            if option.startswith("--")
        ]
    return lines


def subcommands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parser of each command."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def _options(parser: argparse.ArgumentParser) -> list[str]:
    return [option for action in parser._actions for option in action.option_strings]
