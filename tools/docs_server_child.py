"""The process that docs_server starts: imports once, then forks for each line it is given."""

from __future__ import annotations

import atexit
import json
import os
import sys
import threading
import traceback
from typing import Any

import numpy  # noqa: F401
import rich.console
import rich.table
import rich.text  # noqa: F401

import outlive.cli.main
import outlive.verbs.judging
from outlive.rules.catalogue import load_rules

load_rules()
os.environ.pop("OPENBLAS_NUM_THREADS", None)  # it was for our own start: one thread, or a fork is not safe


def serve() -> None:
    """A line in, an exit code out."""
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _be(json.loads(line))
        _, status = os.waitpid(child, 0)
        print(json.dumps(os.waitstatus_to_exitcode(status)), flush=True)


def _be(asked: dict[str, Any]) -> None:
    """Become the command: its folder, its streams, its end."""
    os.chdir(asked["folder"])
    os.environ["OUTLIVE_CACHE"] = asked["cache"]
    for number, path in ((1, asked["output"]), (2, asked["errors"])):
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    sys.path[0] = ""
    code = 1
    try:
        code = _do(asked["kind"], asked["words"])
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _do(kind: str, words: list[str]) -> int:
    if kind == "python":
        exec(compile(words[0], "<page>", "exec"), {"__name__": "__main__"})
        return 0
    sys.argv = words
    return outlive.cli.main.main(words[1:])


if __name__ == "__main__":
    serve()
