"""The options of the main session, as a worker's session takes them."""

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from outlive.pytest_plugin.worker_coverage import describe_coverage
from outlive.pytest_plugin.worker_session import SessionConfig

_PLAIN = (str, int, float, bool, type(None))
# What the main session does, and a worker must not do again: choose tests, stop, write files, start workers.
_OFF = (
    "collectonly", "distload", "failedfirst", "lf", "looponfail", "newfirst", "pyargs", "setupshow",
    "stepwise", "usepdb",
)  # fmt: skip
_NONE = (
    "deselect", "htmlpath", "log_cli_level", "maxprocesses", "numprocesses", "pastebin", "report_log",
    "xmlpath",
)  # fmt: skip
_OTHERWISE: dict[str, Any] = {
    **dict.fromkeys(_OFF, False),
    **dict.fromkeys(_NONE),
    **{"cov_source": [], "dist": "no", "keyword": "", "markexpr": "", "maxfail": 0, "tx": []},
    "log_file": os.devnull,
}


def make_session_config(config: pytest.Config, path: Path, folder: Path) -> SessionConfig:
    """What a worker's session is made of; `path` is the first file it will need."""
    plugins = [word for name in config.option.plugins for word in ("-p", str(name))]
    contexts = config.getoption("cov_context", None) == "test"
    return SessionConfig(
        options=_options(config, folder),
        objects=carried_objects(config),
        arguments=[*plugins, path_from_start(config, path)],
        start=str(config.invocation_params.dir),
        workerinput=_workerinput(config),
        folder=str(folder),
        coverage=describe_coverage(contexts),
    )


def carried_objects(config: pytest.Config) -> dict[str, bytes]:
    """Options that are no plain values, pickled; UsageError for one that cannot be carried to a worker.

    Those at their default are left out, because the worker's session has that itself; and so are open files,
    which the main session writes.
    """
    found = {}
    for key, name, usual in _known_options(config):
        value = getattr(config.option, key, None)
        if _is_plain(value) or value is usual or isinstance(value, io.IOBase) or key in _OTHERWISE:
            continue
        import cloudpickle

        try:
            found[key] = cloudpickle.dumps(value)
        except Exception as error:
            raise pytest.UsageError(
                f"the value of {name} cannot be carried to a worker, where guarded tests run: {error}; "
                "add --no-outlive, or mark those tests outlive(off=True)"
            ) from None
    return found


def _known_options(config: pytest.Config) -> Iterator[tuple[str, str, Any]]:
    """What options there are: where the value is kept, how it is written, and the default."""
    parser: Any = getattr(config, "_parser", None)
    groups = [*getattr(parser, "_groups", ()), getattr(parser, "_anonymous", None)]
    for group in groups:
        for option in getattr(group, "options", ()):
            yield option.dest, next(iter(option.names()), option.dest), getattr(option, "default", None)


def path_from_start(config: pytest.Config, path: Path) -> str:
    """A file as it is named where the session was started: brackets further up would mean parameters."""
    return os.path.relpath(path, config.invocation_params.dir)


def _options(config: pytest.Config, folder: Path) -> dict[str, Any]:
    given = {key: value for key, value in vars(config.option).items() if _is_plain(value)}
    given.pop("file_or_dir", None)  # it is among the arguments
    known = {key: value for key, value in _OTHERWISE.items() if hasattr(config.option, key)}
    return {
        **given,
        **known,
        "basetemp": str(folder / "tmp"),
        "color": "yes" if _has_colours(config) else "no",
        "inifilename": None if config.inipath is None else str(config.inipath),
        "rootdir": str(config.rootpath),
        "plugins": [],  # they stand among the arguments, where they are loaded in time
    }


def _is_plain(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(map(_is_plain, value)) and all(map(_is_plain, value.values()))
    return isinstance(value, (*_PLAIN, Path))


def _has_colours(config: pytest.Config) -> bool:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    return bool(getattr(reporter, "hasmarkup", False))


def _workerinput(config: pytest.Config) -> dict[str, Any]:
    """What tells plugins that theirs is not the session that writes reports: the word of pytest-xdist."""
    given = getattr(config, "workerinput", None)
    if given is None:
        given = {
            "workerid": "master",
            "workercount": 1,
            "testrunuid": f"outlive-{os.getpid()}",
            "mainargv": list(sys.argv),
        }
        # Let plugins add what they look for in a worker, as they do for one of pytest-xdist.
        node = SimpleNamespace(config=config, workerinput=given, gateway=SimpleNamespace(id="outlive"))
        hook = getattr(config.hook, "pytest_configure_node", None)
        for found in hook.get_hookimpls() if hook is not None else ():
            with contextlib.suppress(Exception):  # one that needs more of a node than there is
                found.function(*({"node": node}[name] for name in found.argnames))
    return {str(key): value for key, value in given.items() if _is_plain(value)}
