"""Snippets: Python is run, C, C++ and Java are compiled; hostile names do nothing in any of them."""

from __future__ import annotations

import hashlib
import io
import json
import re
import subprocess
import sys
import tokenize
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlive
from outlive import demo_models
from outlive.exporting.snippets import LANGUAGES, RUNTIMES, make_snippet
from tests.exporting import port_models
from tests.exporting.compilers import compile_c, compile_cpp, compile_java, needs

# Runs each file in turn as a program of its own would be run; a line of JSON tells what came out.
_RUNNER = """
import json, runpy, sys
for path in sys.argv[1:]:
    sys.argv = [path]
    try:
        seen = runpy.run_path(path, run_name="__main__")["results"]
        print("\\x1e" + json.dumps({name: list(value.shape) for name, value in seen.items()}))
    except BaseException as error:
        print("\\x1e" + json.dumps({"error": repr(error)[:300]}))
"""


def save(folder: Path, name: str, content: bytes) -> Path:
    path = folder / f"{name}.tflite"
    path.write_bytes(content)
    return path


def run_python(folder: Path, models: dict[str, Path]) -> dict[str, Any]:
    """What the Python snippet of each model printed, all in one process with the real LiteRT."""
    paths = []
    for name, path in models.items():
        paths.append(folder / f"{name}.py")
        paths[-1].write_text(make_snippet(outlive.read(path), "python").text, "utf-8")
    command = [sys.executable, "-W", "ignore", "-c", _RUNNER, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    rows = [json.loads(line[1:]) for line in done.stdout.split("\n") if line.startswith("\x1e")]
    return dict(zip(models, rows, strict=True))


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    return {name: save(folder, name, content) for name, content in port_models.several().items()}


def fits(path: Path, language: str) -> bool:
    try:
        make_snippet(outlive.read(path), language)
    except ValueError:
        return False
    return True


def test_python_runs_on_every_kind_of_tensor(several: dict[str, Path], tmp_path: Path) -> None:
    # Zeros are no step to count in, and no shape for what has elements.
    chosen = {
        name: path for name, path in several.items() if name not in ("ranged", "reshaped", "reshaped_open")
    }
    seen = run_python(tmp_path, chosen)
    assert {name: row["error"] for name, row in seen.items() if "error" in row} == {}
    assert len(seen["hostile"]) == len(port_models.HOSTILE)


@pytest.mark.corpus
def test_python_runs_on_corpus_models(
    corpus_models: tuple[Path, ...], corpus_manifest: Any, tmp_path: Path
) -> None:
    ok = [path for path in corpus_models if corpus_manifest[path.name]["outcome"] == "ok"]
    chosen = {path.stem: path for path in ok if path.stat().st_size < 1_000_000}
    assert len(chosen) > 40
    seen = run_python(tmp_path, chosen)
    assert {name: row["error"] for name, row in seen.items() if "error" in row} == {}


def test_python_gives_what_the_interpreter_gives(tmp_path: Path) -> None:
    """Real numbers in, real numbers out, quantized as outlive does it."""
    path = demo_models.path("healthy_int8")
    code = make_snippet(outlive.read(path), "python", runtime="outlive").text
    found: dict[str, Any] = {"__name__": "snippet"}
    exec(compile(code, "snippet.py", "exec"), found)
    image = np.random.default_rng(1).uniform(0, 1, outlive.read(path).inputs[0].shape).astype(np.float32)
    interpreter = found["load"]()
    [seen] = found["run"](interpreter, image).values()
    interpreter.close()
    flight = outlive.run(path, [image], quantize=True, dequantize=True)
    assert flight.outputs
    assert hashlib.sha256(seen.tobytes()).hexdigest() == flight.outputs[0].sha256


@pytest.mark.parametrize(
    ("kind", "scale", "zero", "given", "stored"),
    [
        ("INT8", 0.5, 3, [0.25, -0.25, 1000.0], [4, 2, 127]),
        ("UINT8", 0.25, 128, [0.0, -1000.0, 0.374], [128, 0, 129]),
        ("INT16", 0.125, 0, [1.0, -1.0, 0.0625], [8, -8, 1]),
    ],
)
def test_python_rounds_as_the_kernels_do(
    kind: str, scale: float, zero: int, given: list[float], stored: list[int]
) -> None:
    code = make_snippet(outlive.read(port_models.quantized(kind, scale, zero)), "python", runtime="outlive")
    found: dict[str, Any] = {"__name__": "snippet"}
    exec(compile(code.text, "snippet.py", "exec"), found)
    seen = found["quantize"](given, scale, zero, np.dtype(kind.lower()).type)
    assert seen.tolist() == stored
    with pytest.raises(ValueError, match="NaN"):
        found["quantize"]([float("nan")], scale, zero, np.int8)


def test_python_refuses_what_the_model_does_not_take(tmp_path: Path) -> None:
    path = save(tmp_path, "opened", port_models.opened())
    code = make_snippet(outlive.read(path), "python", runtime="outlive").text
    found: dict[str, Any] = {"__name__": "snippet"}
    exec(compile(code, "snippet.py", "exec"), found)
    with found["load"]() as interpreter:
        seen = found["run"](interpreter, np.full((5, 2), -1, np.float32))
        assert seen["result"].shape == (5, 2)
        with pytest.raises(ValueError, match=r"rows must have the shape \(-1, 2\), not \(5, 3\)"):
            found["run"](interpreter, np.zeros((5, 3), np.float32))
        with pytest.raises(TypeError, match="rows must be float32, not int32"):
            found["run"](interpreter, np.zeros((5, 2), np.int32))
    other = save(tmp_path, "other", port_models.quantized("INT8", 1, 0))
    with pytest.raises(ValueError, match="other inputs than this code was written for"):
        found["load"](str(other))


@needs("gcc")
def test_c_compiles(several: dict[str, Path], tmp_path: Path) -> None:
    for name, path in several.items():
        if fits(path, "c"):
            source = tmp_path / f"{name}.c"
            source.write_text(make_snippet(outlive.read(path), "c").text, "utf-8")
            compile_c(source)


@needs("g++")
def test_cpp_compiles(several: dict[str, Path], tmp_path: Path) -> None:
    # One translation unit: each snippet in a namespace of its own, with its includes before it.
    includes: dict[str, None] = {}
    parts = []
    for name, path in several.items():
        if not fits(path, "c++"):
            continue
        lines = make_snippet(outlive.read(path), "c++").text.splitlines()
        includes |= dict.fromkeys(line for line in lines if line.startswith("#include"))
        body = "\n".join(line for line in lines if not line.startswith("#include"))
        parts.append(f"namespace case_{name} {{\n{body.replace('int main(', 'int Main(')}\n}}")
    source = tmp_path / "all.cc"
    source.write_text("\n".join([*includes, *parts]), "utf-8")
    compile_cpp(source)


@needs("javac")
def test_java_compiles(several: dict[str, Path], tmp_path: Path) -> None:
    sources = []
    for path in several.values():
        if fits(path, "java"):
            made = make_snippet(outlive.read(path), "java")
            sources.append(tmp_path / made.file_name)
            sources[-1].write_text(made.text, "utf-8")
    assert len(sources) > 10
    compile_java(tmp_path / "classes", *sources)


@needs("gcc", "g++", "javac")
@pytest.mark.corpus
def test_corpus_snippets_compile(
    corpus_models: tuple[Path, ...], corpus_manifest: Any, tmp_path: Path
) -> None:
    """Some of each; the Java ones all at once."""
    java = []
    for place, path in enumerate(corpus_models):
        if corpus_manifest[path.name]["outcome"] != "ok":
            continue
        model = outlive.read(path)
        if fits(path, "java"):
            made = make_snippet(model, "java")
            java.append(tmp_path / made.file_name)
            java[-1].write_text(made.text, "utf-8")
        if place % 20 == 0 and fits(path, "c"):
            (tmp_path / "a.c").write_text(make_snippet(model, "c").text, "utf-8")
            compile_c(tmp_path / "a.c")
        if place % 20 == 5 and fits(path, "c++"):
            (tmp_path / "a.cc").write_text(make_snippet(model, "c++").text, "utf-8")
            compile_cpp(tmp_path / "a.cc")
    compile_java(tmp_path / "classes", *java)


def bare(text: str, language: str) -> str:
    """The code without its comments and strings."""
    if language == "python":
        dropped = {tokenize.STRING, tokenize.COMMENT}
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        return " ".join(token.string for token in tokens if token.type not in dropped)
    return re.sub(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', "", text, flags=re.DOTALL)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("build", [port_models.hostile, port_models.hostile_signatures])
def test_hostile_names_stay_in_strings_and_comments(build: Callable[[], bytes], language: str) -> None:
    text = make_snippet(outlive.read(build()), language).text
    assert text.isascii()
    code = bare(text, language)
    for planted in ("int injected", "os.abort", "os . abort", "exit(1)", "exit ( 1 )", "7 * 7"):
        assert planted not in code
    assert "\\" not in code


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_python_imports_the_runtime_that_was_asked_for(runtime: str) -> None:
    text = make_snippet(outlive.read(port_models.opened()), "python", runtime=runtime).text
    assert RUNTIMES[runtime] in text


def test_signatures_are_called_by_name() -> None:
    model = outlive.read(port_models.hostile_signatures())
    key = port_models.HOSTILE[3]
    assert f"SIGNATURE = {key!a}" in make_snippet(model, "python", signature=key).text
    with pytest.raises(ValueError, match="unknown signature 'absent'; there is"):
        make_snippet(model, "python", signature="absent")


def test_types_that_a_language_lacks_are_refused() -> None:
    from tests.interpreter.dropin_models import unary

    model = outlive.read(unary("CAST", "FLOAT32", [2], given="UINT32"))
    assert make_snippet(model, "c").text
    with pytest.raises(ValueError, match="uint32: LiteRT's Java interface has no such type"):
        make_snippet(model, "java")
    with pytest.raises(ValueError, match="not a supported language; choose from python"):
        make_snippet(model, "cobol")
