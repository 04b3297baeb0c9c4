"""`outlive completion`: scripts that complete commands, options, values and models in bash, zsh and fish.

They are made from the parser and from what outlive knows by name, so that they cannot go stale.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping

from outlive.cli import exits
from outlive.cli.arguments import option
from outlive.cli.terminal import write_plain

EXAMPLES = """\
Examples:
  outlive completion bash                   print the script
  eval "$(outlive completion bash)"         in ~/.bashrc: complete in every new shell
  eval "$(outlive completion zsh)"          in ~/.zshrc, after compinit
  outlive completion fish | source          in ~/.config/fish/config.fish
"""
SHELLS = ("bash", "zsh", "fish")
_BASH = """\
# bash completion for outlive: eval "$(outlive completion bash)"
_outlive() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}"
    local command="" options="" values="" name at
    # bash makes three words of --option=value.
    if [[ $current == "=" ]]; then current=""
    elif [[ $previous == "=" ]]; then previous="${{COMP_WORDS[COMP_CWORD-2]}}"; fi
    for ((at = 1; at < COMP_CWORD; at++)); do
        if [[ ${{COMP_WORDS[at]}} != -* ]]; then command="${{COMP_WORDS[at]}}"; break; fi
    done
    case "$command" in
{cases}
    esac
    COMPREPLY=()
    case "$command $previous" in
{values}
    esac
    if [[ -n $values ]]; then COMPREPLY=($(compgen -W "$values" -- "$current")); fi
    if [[ ${{#COMPREPLY[@]}} -eq 0 && ( $current == -* || -z $command ) ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$current"))
    fi
    # Models and folders; any file where there is none.
    if [[ ${{#COMPREPLY[@]}} -eq 0 || -z $command ]]; then
        while IFS= read -r name; do COMPREPLY+=("$name"); done < <(
            compgen -f -X '!*.tflite' -- "$current"; compgen -d -- "$current")
    fi
    if [[ ${{#COMPREPLY[@]}} -eq 0 ]]; then
        while IFS= read -r name; do COMPREPLY+=("$name"); done < <(compgen -f -- "$current")
    fi
}}
complete -o filenames -F _outlive outlive
"""
_ZSH = """\
#compdef outlive
# zsh completion for outlive: eval "$(outlive completion zsh)"
_outlive() {{
    local current="$words[CURRENT]" previous="$words[CURRENT-1]" command="" at
    local -a options values
    if [[ $current == --*=* ]]; then previous="${{current%%=*}}"; compset -P '*='; fi
    for ((at = 2; at < CURRENT; at++)); do
        if [[ $words[at] != -* ]]; then command="$words[at]"; break; fi
    done
    case "$command" in
{cases}
    esac
    case "$command $previous" in
{values}
    esac
    if (( $#values )); then compadd -a values && return; fi
    if [[ -z $command || $PREFIX == -* ]]; then _describe outlive options && return; fi
    _files -g '*.tflite(-.)' || _files
}}
compdef _outlive outlive
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    option(parser, "shell", "the shell that you use", choices=SHELLS, metavar="{bash,zsh,fish}")
    option(parser, "-o", "--output", "write to FILE instead of standard output", metavar="FILE")


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    from outlive.cli.main import build_parser

    write_plain(args, completion_script(args.shell, build_parser()))
    return exits.CLEAN


def completion_script(shell: str, parser: argparse.ArgumentParser) -> str:
    """A script that completes commands, options, values and file names."""
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](parser)


def _known_values() -> Mapping[str, tuple[str, ...]]:
    """What has a name, by the option or argument that takes it."""
    from outlive.cli.commands.help import TOPICS
    from outlive.cli.main import COMMANDS
    from outlive.verbs.devices import devices
    from outlive.verbs.explain import explain
    from outlive.verbs.quantize import recipe_names

    codes = tuple(rule.code for rule in explain().rules)
    return {
        "--device": tuple(device.name for device in devices().devices),
        "--recipe": recipe_names(),
        "--select": codes,
        "--ignore": codes,
        "codes": codes,
        "topic": (*TOPICS, *COMMANDS),
    }


def _bash(parser: argparse.ArgumentParser) -> str:
    commands = _commands(parser)
    cases = (f'        "{name}") options="{" ".join(_options(sub))}" ;;' for name, sub in commands.items())
    values = (
        f'        {patterns}) values="{" ".join(words)}" ;;' for patterns, words in _value_cases(commands)
    )
    return _BASH.format(cases="\n".join(cases), values="\n".join(values))


def _zsh(parser: argparse.ArgumentParser) -> str:
    commands = _commands(parser)
    cases = (f'        "{name}") options=({" ".join(_described(sub))}) ;;' for name, sub in commands.items())
    values = (
        f"        {patterns}) values=({' '.join(words)}) ;;" for patterns, words in _value_cases(commands)
    )
    return _ZSH.format(cases="\n".join(cases), values="\n".join(values))


def _commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parser of each command; that of the program itself has the empty name."""
    from outlive.cli.main import subcommands

    return {"": parser, **subcommands(parser)}


def _options(parser: argparse.ArgumentParser) -> list[str]:
    """The options, long ones only where there are both; commands first."""
    from outlive.cli.main import subcommands

    return [*subcommands(parser), *(_long(action) for action in _shown(parser) if action.option_strings)]


def _described(parser: argparse.ArgumentParser) -> Iterator[str]:
    """The same for zsh: `word:description`, quoted."""
    from outlive.cli.main import subcommands

    for name, sub in subcommands(parser).items():
        yield _zsh_word(name, str(sub.description))
    for action in _shown(parser):
        if action.option_strings:
            yield _zsh_word(_long(action), _help(action))


def _zsh_word(word: str, text: str) -> str:
    quoted = text.replace("'", "'\\''").replace("%", "%%") if text else ""
    return f"'{word}:{quoted}'"


def _shown(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return [action for action in parser._actions if action.help != argparse.SUPPRESS]


def _long(action: argparse.Action) -> str:
    return max(action.option_strings, key=len)


def _help(action: argparse.Action) -> str:
    return str(action.help or "").replace("%%", "%")


def _value_cases(commands: Mapping[str, argparse.ArgumentParser]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What may stand after which words, as patterns of `COMMAND PREVIOUS` in a case of a shell."""
    known = _known_values()
    found: dict[tuple[str, ...], list[str]] = {}
    for name, parser in commands.items():
        for action in _shown(parser):
            words = _values(action, known)
            # An argument follows the command itself.
            places = action.option_strings or [name]
            if words and name:
                found.setdefault(words, []).extend(f'"{name} {place}"' for place in places)
    for words, places in found.items():
        yield "|".join(places), words


def _values(action: argparse.Action, known: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    if isinstance(action, argparse._SubParsersAction):
        return ()
    named = known.get(_long(action) if action.option_strings else action.dest, ())
    return tuple(map(str, action.choices or named))


def _fish(parser: argparse.ArgumentParser) -> str:
    known = _known_values()
    lines = ["# fish completion for outlive: outlive completion fish | source"]
    for name, sub in _commands(parser).items():
        where = f"-n '__fish_seen_subcommand_from {name}'" if name else "-n __fish_use_subcommand"
        if name:
            said = _fish_text(str(sub.description))
            lines.append(f"complete -c outlive -n __fish_use_subcommand -a {name} -d '{said}'")
        for action in _shown(sub):
            words = _values(action, known)
            value = f" -a '{' '.join(words)}'" if words else ""
            if action.option_strings:
                needs = "" if action.nargs == 0 else " -x" if words else " -r"
                flags = " ".join(map(_fish_flag, action.option_strings))
                lines.append(
                    f"complete -c outlive {where} {flags}{needs}{value} -d '{_fish_text(_help(action))}'"
                )
            elif words:
                lines.append(f"complete -c outlive {where} -f{value}")
    return "\n".join(lines) + "\n"


def _fish_flag(word: str) -> str:
    return f"-l {word[2:]}" if word.startswith("--") else f"-s {word[1:]}"


def _fish_text(text: str) -> str:
    """What stands between single quotes in fish, where a backslash escapes them."""
    return text.replace("\\", "\\\\").replace("'", "\\'")
