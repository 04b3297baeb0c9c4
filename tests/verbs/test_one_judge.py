"""The same fault has the same code at every entry point, and a fault of a file is found without a worker.

A row is a fault (`FAULTS`), a column an entry point (`ENTRY_POINTS`): what a user does there with the model.
"""

from __future__ import annotations

import dataclasses
import functools
import io
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import outlive
from tests.deaths import models
from tests.deaths.scenes import DEADLY, HEALTHY, PATH, TOO_BIG
from tests.jupyter.kernel import Kernel, started
from tests.model.small import build, tensor

SOUND = Path(HEALTHY).read_bytes()


def zipped() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("model.tflite", SOUND)
    return content.getvalue()


def one_op(kind: str | int, options: str = "", version: int = 1, custom: str = "", **fields: Any) -> bytes:
    """A model of one operator on one float tensor."""
    chosen = {"builtin_options_type": options, "builtin_options": fields} if options else {}
    return build(
        [tensor("a", shape=(1, 4)), tensor("b", shape=(1, 4))],
        operators=[{"opcode_index": 0, "inputs": [0], "outputs": [1], **chosen}],
        codes=[{"builtin_code": kind, "version": version, **({"custom_code": custom} if custom else {})}],
    )


def wrong_types() -> bytes:
    """SOFTMAX of integers, which no kernel computes."""
    return build(
        [tensor("a", "INT32", (1, 4)), tensor("b", "INT32", (1, 4))],
        operators=[
            {
                "opcode_index": 0,
                "inputs": [0],
                "outputs": [1],
                "builtin_options_type": "SoftmaxOptions",
                "builtin_options": {"beta": 1.0},
            }
        ],
        codes=[{"builtin_code": "SOFTMAX"}],
    )


def without_inputs() -> bytes:
    """An ADD with one input."""
    return one_op("ADD", "AddOptions")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Fault:
    """A fault: its code, the model's file, and what is done with it.

    `content` is the file (None: there is none; "folder" for one). `given` is NumPy code for the input's
    array.
    """

    code: str
    content: bytes | str | None
    given: str = "np.ones(row['shape'], row['dtype'])"


OF_FILES = {
    "missing": Fault(code="F101", content=None),
    "empty": Fault(code="F102", content=b""),
    "folder": Fault(code="F103", content="folder"),
    "git lfs": Fault(
        code="F104",
        content=b"version https://git-lfs.github.com/spec/v1\noid sha256:00aa\nsize 1234567\n",
    ),
    "web page": Fault(code="F105", content=b"<!DOCTYPE html><html><body>Not found</body></html>"),
    "zip": Fault(code="F106", content=zipped()),
    "text": Fault(code="F107", content=b"label one\nlabel two\n"),
    "Keras": Fault(code="F108", content=b"\x89HDF\r\n\x1a\n" + bytes(200)),
    "truncated": Fault(code="F110", content=SOUND[: len(SOUND) // 2]),
    "other schema": Fault(code="F122", content=build(version=4)),
}
TOO_NEW = {
    "unknown operator": Fault(code="F114", content=one_op(300)),
    "no kernel": Fault(code="O122", content=one_op("STABLEHLO_ABS")),
    "newer version": Fault(code="O123", content=one_op("RELU", version=99)),
}
# The operator is wrong: the runtime dies of it or refuses it.
OF_OPERATORS = {
    "option": Fault(code="O109", content=Path(DEADLY).read_bytes()),
    "arity": Fault(code="O101", content=without_inputs()),
    "type": Fault(code="O106", content=wrong_types()),
    "custom": Fault(code="O120", content=one_op("CUSTOM", custom="MyOwn")),
    "flex": Fault(code="O121", content=one_op("CUSTOM", custom="FlexErf")),
    "scale": Fault(code="Q102", content=models.aborting()),
}
# `check` and `diagnose` are given the same array; reading the file alone shows nothing.
OF_INPUTS = {
    "dtype": Fault(code="I204", content=SOUND, given="np.zeros(row['shape'], np.float64)"),
    "shape": Fault(code="I203", content=SOUND, given="np.zeros((7, 3), np.float32)"),
    "division": Fault(
        code="I309",
        content=models.dividing(),
        given="np.full(row['shape'], -1 if row['index'] else np.iinfo(row['dtype']).min, row['dtype'])",
    ),
    "index": Fault(code="I308", content=models.looking_up(), given="np.full(row['shape'], 10, np.int32)"),
    "divisor": Fault(
        code="I310",
        content=models.dividing(),
        given="np.full(row['shape'], 0 if row['index'] else 7, row['dtype'])",
    ),
    "sizes": Fault(code="I311", content=models.filling(), given="np.array([-3, 4], np.int32)"),
    "unchecked sizes": Fault(
        code="I311", content=models.filling("RANDOM_UNIFORM"), given="np.array([-3, 4], np.int32)"
    ),
    "batch": Fault(code="I201", content=SOUND, given="np.zeros(tuple(row['shape'])[1:], np.float32)"),
}

DRIVE = """\
import numpy as np
interpreter = Interpreter({path!r})
interpreter.allocate_tensors()
for row in interpreter.get_input_details():
    interpreter.set_tensor(row['index'], {given})
interpreter.invoke()
"""
LITERT = "from ai_edge_litert.interpreter import Interpreter\n"
OURS = "from outlive import Interpreter\n"


def program(fault: Fault, path: str, head: str = LITERT) -> str:
    return head + DRIVE.format(path=path, given=fault.given)


def array_of(fault: Fault, path: str) -> dict[str, Any] | None:
    """What `run`, `check` and `diagnose` are given for it; None for the usual inputs."""
    if fault not in OF_INPUTS.values():
        return None
    import numpy as np

    rows = [
        {"shape": item.shape, "dtype": np.dtype(item.dtype), "index": item.index, "name": item.name}
        for item in outlive.read(path).inputs
    ]
    return {row["name"]: eval(fault.given, {"np": np, "row": row}) for row in rows}


def with_litert(code: str) -> None:
    """A guarded function: it runs the model with LiteRT itself."""
    exec(code, {})


@functools.cache
def printed(code: str) -> str:
    """What a plain process prints, with what the shell says of its end."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "plain.py")
        script.write_text(code)
        done = subprocess.run(
            ["bash", "-c", f"{sys.executable} -X faulthandler {script}; exit $?"],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
    assert done.returncode
    return done.stderr


RUNNING: list[Kernel] = []


@pytest.fixture(scope="module", autouse=True)
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A Jupyter kernel, for the columns of notebooks."""
    with started(OUTLIVE_BLACKBOX_DIR=str(tmp_path_factory.mktemp("box"))) as running:
        assert running.run("%load_ext outlive\nimport sys").error == ""
        RUNNING.append(running)
        yield
        RUNNING.clear()


def in_notebook(code: str) -> str:
    """The code of the finding that a cell's error bears; what the cell shows has it too."""
    RUNNING[0].run("globals().pop('interpreter', None)")  # one of another cell need not go to a worker
    cell = RUNNING[0].run(code)
    assert cell.error
    found = RUNNING[0].run("sys.last_value.finding.code").plain().strip("'")
    assert f"[{found}]" in f"{cell.text}{cell.shown}"
    return found


def raises(call: Callable[..., Any]) -> str:
    """The code of the finding that the error of a call bears."""
    with pytest.raises(Exception) as caught:  # noqa: PT011 - the finding says which
        call()
    return str(getattr(caught.value, "finding", caught.value).code)


def first_error(findings: Any) -> str:
    """The code of the first finding: the worst one."""
    return next((item.code for item in findings), "nothing")


def by_run(fault: Fault, path: str) -> str:
    try:
        return first_error(outlive.run(path, array_of(fault, path)).findings)
    except outlive.OutliveError as error:
        return error.finding.code


def by_script(fault: Fault, path: str, **limits: str) -> str:
    return script_code(program(fault, path), **limits)


def script_code(code: str, **limits: Any) -> str:
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "script.py")
        script.write_text(code)
        return first_error(outlive.guard(str(script), **limits)().findings)


def by_command(fault: Fault, path: str) -> str:
    """`outlive guard script.py`, as a user types it."""
    with tempfile.TemporaryDirectory() as folder:
        script, record = Path(folder, "script.py"), Path(folder, "record.json")
        script.write_text(program(fault, path))
        command = [sys.executable, "-m", "outlive", "guard", "--format", "json", "--output", str(record)]
        subprocess.run([*command, str(script)], capture_output=True, check=False, timeout=120)
        return str(json.loads(record.read_text())["findings"][0]["code"])


def by_plan(path: str) -> str:
    """A model that outlive reads can be planned, whether or not this LiteRT runs it: the plan says so."""
    try:
        return first_error(outlive.plan(path).findings)
    except outlive.OutliveError as error:
        return error.finding.code


ENTRY_POINTS: dict[str, Callable[[Fault, str], str]] = {
    "Interpreter": lambda fault, path: raises(lambda: exec(program(fault, path, OURS), {})),
    "run": by_run,
    "check": lambda fault, path: first_error(outlive.check(path, inputs=array_of(fault, path))),
    "diagnose": lambda fault, path: str(
        getattr(outlive.diagnose(path, array_of(fault, path)).verdict, "code", "")
    ),
    "guard": lambda fault, path: raises(lambda: outlive.guard(with_litert)(program(fault, path))),
    "guard script": by_script,
    "outlive guard": by_command,
    "autopsy": lambda fault, path: outlive.autopsy(printed(program(fault, path)), model=path).code,
    "notebook": lambda fault, path: in_notebook(program(fault, path, OURS)),
    "%%outlive": lambda fault, path: in_notebook("%%outlive\n" + program(fault, path)),
}


def with_bytes(content: bytes, given: str) -> None:
    """A guarded function: it is given the model's bytes, so that no file names it."""
    code = LITERT + DRIVE.replace("Interpreter({path!r})", "Interpreter(model_content=content)")
    exec(code.format(given=given), {"content": content})


OF_BYTES: dict[str, Callable[[Fault, bytes, Any], str]] = {
    "Interpreter": lambda fault, content, _: raises(
        lambda: exec(
            (OURS + DRIVE.replace("{path!r}", "model_content=content")).format(given=fault.given),
            {"content": content},
        )
    ),
    "run": lambda fault, content, given: first_error(outlive.run(content, given).findings),
    "check": lambda fault, content, given: first_error(outlive.check(content, inputs=given)),
    "diagnose": lambda fault, content, given: str(
        getattr(outlive.diagnose(content, given).verdict, "code", "")
    ),
    "guard": lambda fault, content, _: raises(lambda: outlive.guard(with_bytes)(content, fault.given)),
}
# Where a file is opened and no interpreter is asked for.
OPENERS: dict[str, Callable[[str], str]] = {
    "Interpreter with a limit": lambda path: raises(lambda: outlive.Interpreter(path, memory="512MB")),
    "CompiledModel": lambda path: raises(lambda: outlive.CompiledModel.from_file(path)),
    "plan": by_plan,
    "autopsy of the log alone": lambda path: (
        outlive.autopsy(printed(program(Fault(code="", content=b""), path))).code
    ),
}


def placed(fault: Fault, folder: Path) -> str:
    """The file of a fault."""
    path = folder / "model.tflite"
    if isinstance(fault.content, bytes):
        path.write_bytes(fault.content)
    elif fault.content == "folder":
        path.mkdir()
    return str(path)


@pytest.mark.parametrize("column", ENTRY_POINTS)
@pytest.mark.parametrize("row", [*OF_FILES, *TOO_NEW, *OF_OPERATORS, *OF_INPUTS])
def test_a_fault_has_one_code(row: str, column: str, tmp_path: Path) -> None:
    fault = {**OF_FILES, **TOO_NEW, **OF_OPERATORS, **OF_INPUTS}[row]
    assert ENTRY_POINTS[column](fault, placed(fault, tmp_path)) == fault.code


@pytest.mark.parametrize("column", OF_BYTES)
@pytest.mark.parametrize(
    "row", ["option", "type", "flex", "scale", "index", "divisor", "sizes", "unchecked sizes"]
)
def test_a_fault_of_a_model_given_as_bytes_has_the_same_code(row: str, column: str, tmp_path: Path) -> None:
    fault = {**OF_OPERATORS, **OF_INPUTS}[row]
    assert isinstance(fault.content, bytes)
    given = array_of(fault, placed(fault, tmp_path))
    assert OF_BYTES[column](fault, fault.content, given) == fault.code


@pytest.mark.parametrize("column", OPENERS)
@pytest.mark.parametrize("row", [*OF_FILES, *TOO_NEW])
def test_a_fault_of_a_file_has_one_code_wherever_it_is_opened(row: str, column: str, tmp_path: Path) -> None:
    fault = {**OF_FILES, **TOO_NEW}[row]
    path = placed(fault, tmp_path)
    assert OPENERS[column](path) == fault.code


LIMIT = "20MB"
AT_A_LIMIT: dict[str, Callable[[Fault, str], str]] = {
    "Interpreter": lambda fault, path: raises(
        lambda: exec(program(fault, path, OURS).replace(")\n", f", memory={LIMIT!r})\n", 1), {})
    ),
    "run": lambda fault, path: first_error(outlive.run(path, memory=LIMIT, force=True).findings),
    "diagnose": lambda fault, path: str(getattr(outlive.diagnose(path, memory=LIMIT).verdict, "code", "")),
    "guard": lambda fault, path: raises(
        lambda: outlive.guard(with_litert, memory=LIMIT)(program(fault, path))
    ),
    "guard script": lambda fault, path: by_script(fault, path, memory=LIMIT),
    "%%outlive": lambda fault, path: in_notebook(f"%%outlive --memory {LIMIT}\n" + program(fault, path)),
    "notebook": lambda fault, path: in_notebook(
        program(fault, path, OURS).replace(")\n", f", memory={LIMIT!r})\n", 1)
    ),
}


@pytest.mark.parametrize("column", AT_A_LIMIT)
def test_a_memory_limit_has_one_code(column: str) -> None:
    """`check` and a log of another process have no limit to look at."""
    fault = Fault(code="D502", content=b"")
    assert AT_A_LIMIT[column](fault, TOO_BIG) == fault.code


# Deaths that no model is to blame for: the signal is all there is.
SIGNALS = {
    "D504": "import faulthandler\nfaulthandler._sigsegv()\n",
    "D505": "import os\nos.abort()\n",
    "D506": "import faulthandler\nfaulthandler._sigfpe()\n",
    "D507": "import os, signal\nos.kill(os.getpid(), signal.SIGSYS)\n",
}
OF_CODE: dict[str, Callable[[str], str]] = {
    "guard": lambda code: raises(lambda: outlive.guard(with_litert)(code)),
    "guard script": script_code,
    "autopsy": lambda code: outlive.autopsy(printed(code)).code,
    "%%outlive": lambda code: in_notebook("%%outlive\n" + code),
}


@pytest.mark.parametrize("column", OF_CODE)
@pytest.mark.parametrize("code", SIGNALS)
def test_a_signal_has_one_code(code: str, column: str) -> None:
    assert OF_CODE[column](SIGNALS[code]) == code


NO_WORKER = """
import json, sys
import psutil
import outlive
calls = {
    "Interpreter": lambda path: outlive.Interpreter(path),
    "Interpreter with a limit": lambda path: outlive.Interpreter(path, memory="512MB"),
    "CompiledModel": lambda path: outlive.CompiledModel.from_file(path),
    "run": lambda path: outlive.run(path),
    "plan": lambda path: outlive.plan(path),
    "check": lambda path: outlive.check(path),
    "diagnose": lambda path: outlive.diagnose(path),
}
started = []
for path in sys.argv[1:]:
    for name, call in calls.items():
        try:
            call(path)
        except outlive.OutliveError:
            pass
        if psutil.Process().children(recursive=True):  # the nursery stays once there is a worker
            started.append((name, path))
            break
print(json.dumps(started))
"""


def test_no_worker_is_started_for_what_the_reader_can_know(tmp_path: Path) -> None:
    paths = []
    for number, fault in enumerate([*OF_FILES.values(), *TOO_NEW.values()]):
        (tmp_path / str(number)).mkdir()
        paths.append(placed(fault, tmp_path / str(number)))
    assert started_by(paths) == []


def test_a_worker_that_is_started_is_seen() -> None:
    assert started_by([HEALTHY]) == [["Interpreter", HEALTHY]]


def started_by(paths: list[str]) -> Any:
    """Which calls have started a process, and with which model."""
    done = subprocess.run(
        [sys.executable, "-c", NO_WORKER, *paths],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": PATH},
    )
    return json.loads(done.stdout)
