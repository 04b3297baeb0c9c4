"""`outlive help`: help on commands and topics, and the manual page, which is made from the parser."""

from __future__ import annotations

import argparse
import re
import shutil
import textwrap
from collections.abc import Iterator

from outlive.cli import exits
from outlive.cli.arguments import option
from outlive.cli.parser import near
from outlive.cli.terminal import complain, write_plain
from outlive.version import __version__

EXAMPLES = """\
Examples:
  outlive help plan              all options of a command, with examples
  outlive help exit-codes        a topic
  outlive help --man             the manual page; outlive help --man | man -l - shows it
"""
# Paragraphs are wrapped to the terminal; lines that are indented stay as they are.
TOPICS = {
    "exit-codes": """\
Exit codes
Every command ends with one of these exit codes:

    0    clean: nothing is wrong, or what you asked for is done
    1    findings of severity error, or the model was refused
    2    usage: an option, a value or an output file is wrong
    3    the model died, or reached a limit while it ran
    4    the model does not fit the memory
    70   a bug in outlive
    130  interrupted with Ctrl-C or SIGTERM
    141  the reader of a pipe closed it

`outlive check --strict` also ends with 1 if there are warnings. `outlive guard` ends with the exit code of
the script, unless the script died.
""",
    "formats": """\
Output formats
`--format` chooses how a result is written, `--output FILE` where. Without them a command writes text to
standard output.

    text      for people; -v shows more, -vv shows everything, -q one line for each file
    json      for programs; the schemas are in the documentation under reference/json
    html      one page that works offline; --open shows it in your browser
    csv       tables, for spreadsheets
    sarif     findings, for GitHub code scanning and editors
    github    findings, as annotations of a GitHub workflow
    gitlab    findings, for GitLab code quality
    junit     findings, for CI services that show test reports
    markdown  findings, for a job summary
    trace     a timeline, for ui.perfetto.dev
    overlay   node data, for Model Explorer

`outlive COMMAND --help` lists the formats of a command. In a pipe, text has no colors and is never cut.
""",
    "configuration": """\
Configuration
`outlive check` and `outlive scan` read `[tool.outlive]` in the nearest pyproject.toml, or the same keys in
outlive.toml. Options on the command line go first.

    [tool.outlive]
    device = "raspberry-pi-pico"        # or ram = "64MB"
    select = ["F", "O", "Q1"]           # only these rules
    ignore = { M107 = "float on purpose" }
    strict = true                       # warnings end with exit code 1
    exclude = ["models/old/"]           # as in a .gitignore
    tolerances = { latency = "10%" }    # for outlive scan --against

    [[tool.outlive.overrides]]
    files = "models/pico/*.tflite"
    expect = "int8-io"

Folders also respect .gitignore and .outliveignore files. `outlive help ignoring` says how to keep known
findings out of the way.
""",
    "ignoring": """\
Ignore files and findings
Files: `outlive check FOLDER` leaves out what .gitignore and .outliveignore name, in the folder and in those
above and below it, and what `exclude` in the configuration names. A file that you name is always checked;
--force-exclude leaves it out too.

Rules: --ignore CODES, or `ignore` in the configuration, where each rule can have a reason.

Findings that you know already: write them to a baseline once, and later checks report new ones only.

    outlive check models/ --write-baseline outlive-baseline.json
    outlive check models/ --baseline outlive-baseline.json
""",
    "device-files": """\
Devices of your own
`--device NAME` stands for the memory of a board, a phone or a microcontroller. `outlive devices` lists the
names. NAME can also be a .toml file that describes a device of your own:

    name = "my-board"
    title = "My board"
    kind = "microcontroller"            # or board, phone
    runtime = "tflm"                    # or litert
    ram_bytes = 262144
    flash_bytes = 1048576
    word = 32
    document = "https://example.com/datasheet"

Put it into ~/.config/outlive/devices, and its name works everywhere.
""",
    "memory": """\
Memory
The peak is the private memory that a model adds to its process: the arena, packed weights, the workspace of
the accelerator and the structures of the interpreter. The model file is mapped: the system can drop its
pages and read them again.

    --ram SIZE      the memory that you grant the model; the verdict is against this
    --device NAME   the same, for the memory of a device
    --memory SIZE   the limit for a run: the process ends if the model adds more
    --here          the memory that this machine or container has left

A model does not fit if its peak is more than the RAM. It is tight if only the peak together with the mapped
file is more. On a microcontroller the arena must fit the RAM, and the file must fit the flash.

Sizes are written 512KB, 8MB or 2GiB. KB, MB and GB are powers of 1000; KiB, MiB and GiB are powers of 1024.
""",
    "environment": """\
Environment variables
    NO_COLOR              no colors
    COLUMNS               the width of the text
    BROWSER               the program that --open starts
    OUTLIVE_CACHE         the folder for what is kept between runs (default ~/.cache/outlive)
    OUTLIVE_CACHE_BYTES   the most it may take, such as 2GB (default 512MB)
    OUTLIVE_SANDBOX       auto, on or off: the sandbox for runs (default auto)
    OUTLIVE_BLACKBOX      off: record no kernel deaths
    OUTLIVE_PROTECT       0: %load_ext outlive does not protect tf.lite and LiteRT
    OUTLIVE_BLACKBOX_DIR  the folder for records of kernel deaths
    OUTLIVE_TRACE_KERNELS off: trace no kernels, so that a debugger can attach to them
    IPYTHONDIR            where outlive notebook install puts its startup file
""",
    "accelerators": """\
Accelerators
`--accelerator` chooses the kernels that a model is planned for or runs on:

    cpu        XNNPACK, the default of LiteRT
    builtin    the optimized kernels of LiteRT, without XNNPACK
    reference  the reference kernels of LiteRT: slow, and the yardstick for the others
    tflm       TensorFlow Lite Micro, for plans only
    gpu, npu   the GPU, or an NPU through OpenVINO, for runs only
    auto       the first of gpu, cpu and builtin that works, for runs only

`outlive delegates MODEL` tries each one, and says which operators it takes.
""",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    option(parser, "topic", f"a command, or one of: {', '.join(TOPICS)}", nargs="?", metavar="TOPIC")
    option(parser, "--man", "print the manual page")
    option(parser, "-o", "--output", "write to FILE instead of standard output", metavar="FILE")


def run(args: argparse.Namespace) -> int:
    """Show the help asked for."""
    from outlive.cli.main import COMMANDS, build_parser, subcommands

    if args.man:
        write_plain(args, man_page(build_parser()))
    elif args.topic is None:
        write_plain(args, f"{build_parser('help').format_help()}\n{_topic_list()}")
    elif args.topic in COMMANDS:
        write_plain(args, subcommands(build_parser(args.topic))[args.topic].format_help())
    elif args.topic in TOPICS:
        write_plain(args, topic_text(args.topic))
    else:
        hint = near(args.topic, [*COMMANDS, *TOPICS])
        complain(f"outlive help: unknown topic {args.topic[:80]!r}{hint}")
        complain(f"Topics: {', '.join(TOPICS)}, and every command")
        return exits.USAGE
    return exits.CLEAN


def topic_text(name: str) -> str:
    """A topic, its paragraphs wrapped to the width of the terminal."""
    width = min(100, shutil.get_terminal_size().columns - 2)
    title, _, text = TOPICS[name].partition("\n")
    return (
        f"{title}\n\n" + "\n\n".join(_wrapped(part, width) for part in text.strip("\n").split("\n\n")) + "\n"
    )


def _wrapped(part: str, width: int) -> str:
    lines = part.splitlines()
    if any(line.startswith("    ") for line in lines):
        return "\n".join(line[2:] if line.startswith("    ") else line for line in lines)
    return textwrap.fill(" ".join(lines), width, break_long_words=False, break_on_hyphens=False)


def _topic_list() -> str:
    rows = (f"  {name:<14} {text.partition(chr(10))[0]}" for name, text in TOPICS.items())
    return "\n".join(["Topics:", *rows, "", "outlive help TOPIC shows one of them."]) + "\n"


def man_page(parser: argparse.ArgumentParser) -> str:
    """The manual page of the program, in the language of man(7)."""
    from outlive.cli.main import GROUPS, subcommands

    lines = [f'.TH OUTLIVE 1 "" "outlive {__version__}" "User commands"', ".SH NAME"]
    lines += [
        _roff(f"outlive - {str(parser.description)[0].lower()}{str(parser.description)[1:].rstrip('.')}")
    ]
    lines += [".SH SYNOPSIS", ".B outlive", ".I COMMAND", "[OPTIONS] ...", ".br", ".B outlive", ".I MODEL"]
    lines += [".SH DESCRIPTION", *_roff(str(parser.epilog)).splitlines()]
    commands = subcommands(parser)
    for title, group in GROUPS.items():
        lines.append(f'.SH "{_roff(title.upper())}"')
        for name in group:
            lines += _man_command(name, commands[name])
    for text in TOPICS.values():
        title, _, body = text.partition("\n")
        lines += [f'.SH "{_roff(title.upper())}"', *_man_text(body)]
    return "\n".join(lines) + "\n"


def _man_command(name: str, command: argparse.ArgumentParser) -> Iterator[str]:
    yield f".SS outlive {name}"
    yield _roff(str(command.description))
    for action in command._actions:
        if action.dest != "help" and action.help != argparse.SUPPRESS:
            yield ".TP"
            yield f"\\fB{_roff(_invocation(action))}\\fR"
            yield _roff(str(action.help or "").replace("%%", "%"))
    yield ".PP"
    yield from _literal(str(command.epilog).rstrip().splitlines())


def _invocation(action: argparse.Action) -> str:
    if not action.option_strings:
        return str(action.metavar or action.dest)
    value = "|".join(map(str, action.choices)) if action.choices else str(action.metavar or "")
    return f"{', '.join(action.option_strings)} {value if action.nargs != 0 else ''}".rstrip()


def _man_text(body: str) -> Iterator[str]:
    for part in body.strip("\n").split("\n\n"):
        yield ".PP"
        lines = part.splitlines()
        yield from _literal(lines) if any(line.startswith("    ") for line in lines) else map(_roff, lines)


def _literal(lines: list[str]) -> list[str]:
    return [".nf", *map(_roff, lines), ".fi"]


def _roff(text: str) -> str:
    """Text that roff shows as it is: backslashes and dashes escaped, no line taken for a request."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", escaped, flags=re.MULTILINE)
