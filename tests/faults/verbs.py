"""What a trial calls: every verb, small enough to be called thousands of times.

Each gives a value that is the same after every call without a fault; `exact` ones must give the same value,
or raise, when a fault hits them. Those without may say less, for a result can tell that a part is missing.
"""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import outlive
from outlive import demo_models
from outlive.arena.devices import DeviceError
from outlive.arena.planners import CannotResize
from outlive.cli.main import main
from outlive.fleet.rows import EngineError
from outlive.project.config import UnreadableConfig

HEALTHY, INT8 = str(demo_models.path("healthy")), str(demo_models.path("healthy_int8"))
DEADLY = str(demo_models.path("deadly"))
SAMPLES = [np.full((1, 64, 64, 3), value, np.float32) for value in (0.25, 0.75)]
# What a call may end in. OSError only if it names the file: one of outlive's own tables or temporary files
# that the system refuses (any verb), or one that the caller named and the verb opens or writes itself.
# EngineError, which is a ValueError, where the processes of a scan cannot be had.
ALWAYS = (outlive.OutliveError, MemoryError)
WITH_FILES = (*ALWAYS, OSError, EngineError)
EXIT_CODES = range(5)
_PACKAGE = os.path.dirname(outlive.__file__) + os.sep


class CommandFailed(Exception):
    """A command ended as no command may."""


@dataclass(frozen=True, kw_only=True)
class Verb:
    """One call, and what may come of it."""

    call: Callable[[Path], Any]
    errors: tuple[type[BaseException], ...] = ALWAYS
    exact: bool = True
    cold: bool = False  # workers and nurseries are ended before each call
    slow: bool = False  # one trial in ten is enough


def is_documented(verb: Verb, error: BaseException) -> bool:
    """True if a call may end in this error: one of its kinds, with its finding or the file it is about."""
    if isinstance(error, outlive.OutliveError):
        return bool(error.finding)
    if type(error) is OSError or isinstance(error, (BlockingIOError, PermissionError)):
        names_ours = str(error.filename or "").startswith((_PACKAGE, tempfile.gettempdir()))
        return names_ours or (bool(error.filename) and isinstance(error, verb.errors))
    return isinstance(error, verb.errors)


def interpreter(folder: Path) -> Any:
    """Open, resize, allocate, set, invoke, get, signatures, details, close."""
    with outlive.Interpreter(HEALTHY, seconds=20) as one:
        one.allocate_tensors()
        [given] = one.get_input_details()
        one.set_tensor(given["index"], np.full(given["shape"], 0.5, np.float32))
        one.invoke()
        first = one.get_tensor(one.get_output_details()[0]["index"])
        one.resize_tensor_input(given["index"], [2, *given["shape"][1:]])
        one.allocate_tensors()
        one.set_tensor(given["index"], np.full([2, *given["shape"][1:]], 0.5, np.float32))
        one.invoke()
        one.reset_all_variables()
        one.get_tensor_details()
    return first.tobytes()


def signature(folder: Path) -> Any:
    with outlive.Interpreter(HEALTHY, seconds=20) as one:
        keys = one.get_signature_list()
        if not keys:
            return None
        runner = one.get_signature_runner()
        values = {
            name: np.full(row["shape"], 0.5, row["dtype"]) for name, row in runner.get_input_details().items()
        }
        return sorted((name, value.tobytes()) for name, value in runner(**values).items())


def compiled(folder: Path) -> Any:
    with contextlib.ExitStack() as stack:
        model = outlive.CompiledModel.from_file(HEALTHY)
        stack.callback(model.close)
        given = model.create_input_buffers(0)
        got = model.create_output_buffers(0)
        given[0].write(np.full((1, 64, 64, 3), 0.5, np.float32))
        model.run_by_index(0, given, got)
    return None


def bad_bytes(folder: Path) -> Any:
    try:
        outlive.Interpreter(model_content=b"not a model")
    except (outlive.ModelError, outlive.InputError):
        return "refused"


def run(folder: Path) -> Any:
    flight = outlive.run(HEALTHY, "ones", limits=outlive.Limits(seconds=20))
    return [output.sha256 for output in flight.outputs]


def run_deadly(folder: Path) -> Any:
    return outlive.run(DEADLY, "ones", limits=outlive.Limits(seconds=20)).signal


def guard_value(folder: Path) -> Any:
    return float(outlive.guard(_add, seconds=20)(np.ones(200_000), 1).sum())


def _add(values: Any, more: float) -> Any:
    return values + more


def guard_raise(folder: Path) -> Any:
    try:
        outlive.guard(_refuse, seconds=20)(3)
    except LookupError as error:
        return str(error)


def _refuse(value: int) -> None:
    raise LookupError(f"no {value}")


def guard_print(folder: Path) -> Any:
    with contextlib.redirect_stdout(io.StringIO()) as said:
        outlive.guard(_say, seconds=20)()
    return said.getvalue()


def _say() -> None:
    print("word " * 2000)


def guard_die(folder: Path) -> Any:
    try:
        outlive.guard(os.abort, seconds=20)()
    except outlive.ModelDied as error:
        return error.finding.code


def read(folder: Path) -> Any:
    return len(outlive.read(HEALTHY).subgraphs[0].operators)


def check(folder: Path) -> Any:
    return [finding.code for finding in outlive.check(HEALTHY, device="raspberry-pi-zero-2-w")]


def plan(folder: Path) -> Any:
    outlive.plan(HEALTHY, accelerator="tflm")
    return outlive.plan(HEALTHY, inputs={"image": (2, 64, 64, 3)}).arena_bytes


def cut(folder: Path) -> Any:
    return len(outlive.cut(HEALTHY, ops=1).model)


def diagnose(folder: Path) -> Any:
    return outlive.diagnose(DEADLY).cause


def probe(folder: Path) -> Any:
    coverage = outlive.delegates(HEALTHY, only=("builtin", "cpu"), cache=False)
    return [one.name for one in coverage.accelerators]


def compare(folder: Path) -> Any:
    return len(outlive.compare(HEALTHY, INT8, SAMPLES).tensors)


def quantize(folder: Path) -> Any:
    return len(outlive.quantize(HEALTHY, "static-int8", SAMPLES).model)


def fit(folder: Path) -> Any:
    return outlive.fit(HEALTHY, ram="64KB", samples=SAMPLES).chosen is not None


def leak(folder: Path) -> Any:
    return outlive.leak(HEALTHY, "invoke", 30).verdict


def scan(folder: Path) -> Any:
    models = folder / "models"
    if not models.exists():
        models.mkdir()
        (models / "a.tflite").write_bytes(Path(HEALTHY).read_bytes())
        (models / "b.tflite").write_bytes(Path(DEADLY).read_bytes())
        (models / "c.tflite").write_bytes(b"no model at all")
    rows = list(outlive.scan(models, run=True, cache=False, jobs=1, output=folder / "rows.jsonl"))
    (folder / "rows.jsonl").unlink(missing_ok=True)
    if any("bug of outlive" in str(row) for row in rows):
        raise CommandFailed(str(rows))
    return len(rows)


_NOWHERE = os.open(os.devnull, os.O_WRONLY)


class _Said(io.StringIO):
    """Where a command prints, opened before any fault; it may point the descriptor elsewhere."""

    def fileno(self) -> int:
        return _NOWHERE


def command(*words: str) -> Callable[[Path], Any]:
    """A command line, with FOLDER replaced; its exit code, which must be one of those that are documented."""

    def call(folder: Path) -> Any:
        errors = io.StringIO()
        with contextlib.redirect_stdout(_Said()), contextlib.redirect_stderr(errors):
            code = main([word.replace("FOLDER", str(folder)) for word in words])
        for name in ("written", "written.html"):
            written = folder / name
            if written.exists() and not written.is_dir():
                written.unlink()
        if code not in EXIT_CODES or "Traceback" in errors.getvalue():
            raise CommandFailed(f"exit code {code}: {errors.getvalue()[-3000:]}")
        return code

    return call


def export(folder: Path) -> Any:
    code = command("export", HEALTHY, "--tflm", "--output", "FOLDER/exported")(folder)
    for path in sorted((folder / "exported").glob("*")):
        path.unlink()
    with contextlib.suppress(OSError):
        (folder / "exported").rmdir()
    return code


def autopsy(folder: Path) -> Any:
    log = folder / "log.txt"
    if not log.exists():
        log.write_text("Out of memory: Killed process 4242 (python3) total-vm:100kB, anon-rss:90kB\n")
    return command("autopsy", "FOLDER/log.txt")(folder)


def convert(folder: Path) -> Any:
    """A SavedModel that is made once, in a guarded call of its own."""
    saved = folder / "saved"
    if not saved.exists():
        outlive.guard(_save)(str(saved))
    return len(outlive.convert(saved).model)


def _save(path: str) -> None:
    import tensorflow as tf

    class Module(tf.Module):  # type: ignore[misc]
        @tf.function(input_signature=[tf.TensorSpec([1, 4])])  # type: ignore[untyped-decorator]
        def __call__(self, values: Any) -> Any:
            return values * 2.0

    module = Module()
    tf.saved_model.save(module, path, signatures=module.__call__.get_concrete_function())


def blackbox(folder: Path) -> Any:
    return command("blackbox", "list")(folder)


VERBS: dict[str, Verb] = {
    "interpreter": Verb(call=interpreter),
    "interpreter-cold": Verb(call=interpreter, cold=True),
    "signature": Verb(call=signature),
    "compiled": Verb(call=compiled),
    "bad-bytes": Verb(call=bad_bytes),
    "run": Verb(call=run, exact=False),
    "run-deadly": Verb(call=run_deadly, exact=False),
    "guard": Verb(call=guard_value),
    "guard-cold": Verb(call=guard_value, cold=True),
    "guard-raise": Verb(call=guard_raise),
    "guard-print": Verb(call=guard_print),
    "guard-die": Verb(call=guard_die, exact=False),
    "read": Verb(call=read),
    "check": Verb(call=check, exact=False, errors=(*ALWAYS, DeviceError, UnreadableConfig)),
    "plan": Verb(call=plan, errors=(*ALWAYS, CannotResize)),
    "cut": Verb(call=cut),
    "diagnose": Verb(call=diagnose, exact=False),
    "delegates": Verb(call=probe, exact=False),
    "devices": Verb(call=lambda folder: len(outlive.devices()), errors=(*ALWAYS, DeviceError)),
    "doctor": Verb(call=lambda folder: outlive.doctor().ready, exact=False, slow=True),
    "snippet": Verb(call=lambda folder: len(str(outlive.snippet(HEALTHY)))),
    "compare": Verb(call=compare),
    "quantize": Verb(call=quantize),
    "fit": Verb(call=fit, exact=False, slow=True),
    "leak": Verb(call=leak, exact=False, errors=WITH_FILES),
    "scan": Verb(call=scan, exact=False, errors=WITH_FILES),
    "export": Verb(call=export, exact=False),
    "report": Verb(call=command("report", HEALTHY, "-o", "FOLDER/written.html"), exact=False),
    "autopsy": Verb(call=autopsy, exact=False),
    "blackbox": Verb(call=blackbox, exact=False),
    "command-read": Verb(
        call=command("read", HEALTHY, "--format", "json", "-o", "FOLDER/written"), exact=False
    ),
    "command-run": Verb(call=command("run", HEALTHY), exact=False),
    "command-cut": Verb(call=command("cut", HEALTHY, "--ops", "1", "-o", "FOLDER/written"), exact=False),
    "convert": Verb(call=convert, exact=False, slow=True),
}
